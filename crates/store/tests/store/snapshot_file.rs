//! A store that went through a snapshot file is the same store, and a file that is not whole makes none.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use paraffin_primitives::Network;
use paraffin_store::snapshot_file::{Imported, SnapshotFileError, SnapshotSummary, export, import, import_folder};
use paraffin_store::{ModuleSchema, Store, StoreError, StoreOptions};

use crate::model::{FIRST, Model, Operation, SECOND, check, options, schemas, tables, write_block};

/// Blocks that change rows of earlier ones, with rows long enough for more than one frame.
fn chain(blocks: u32) -> Model {
    let mut model = Model::starting_at(3);
    for number in 0..blocks {
        let mut operations = Vec::new();
        for (index, _) in tables().enumerate() {
            for key in 0..3_u8 {
                let key = vec![key, (number % 4) as u8];
                if number % 5 == 4 && key[0] == 1 {
                    operations.push(Operation::Delete { table: index, key });
                } else {
                    let value = vec![number as u8; if number == 2 { 120_000 } else { 40 }];
                    operations.push(Operation::Write { table: index, key, value });
                }
            }
        }
        model.push(operations);
    }
    model
}

fn write(store: &Store, model: &Model, from: usize) {
    let mut writer = store.writer().unwrap();
    for block in &model.blocks[from..] {
        write_block(&mut writer, block).unwrap();
        writer.commit(false).unwrap();
    }
}

struct Exported {
    folder: tempfile::TempDir,
    file: PathBuf,
    model: Model,
    summary: SnapshotSummary,
}

impl Exported {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("source"), &options(None), &schemas()).unwrap();
        let model = chain(12);
        write(&store, &model, 0);
        let file = folder.path().join("file");
        let mut last = None;
        let summary = export(&store, &file, &mut |progress| {
            last = Some(progress);
            ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(fs::metadata(&file).unwrap().len(), summary.bytes);
        assert_eq!(last.unwrap().bytes, summary.bytes);
        assert_eq!(summary.content, store.snapshot().content_digest().unwrap());
        Self { folder, file, model, summary }
    }

    fn target(&self) -> PathBuf {
        self.folder.path().join("target")
    }

    fn bytes(&self) -> Vec<u8> {
        fs::read(&self.file).unwrap()
    }

    /// Imports `bytes`, which must be refused without leaving anything.
    fn refuse(&self, bytes: &[u8]) -> SnapshotFileError {
        let file = self.folder.path().join("altered");
        fs::write(&file, bytes).unwrap();
        let Err(error) = run(&file, &self.target()) else { panic!("imported {} bytes", bytes.len()) };
        assert!(!self.target().exists() && !import_folder(&self.target()).exists(), "{error}");
        error
    }
}

fn run(file: &Path, folder: &Path) -> Result<Imported, SnapshotFileError> {
    import(file, folder, &options(None), &schemas(), &mut |_| {})
}

#[test]
fn an_imported_store_is_equal_and_goes_on_and_back_like_its_source() {
    let exported = Exported::new();
    let imported = run(&exported.file, &exported.target()).unwrap();
    assert!(!exported.target().exists(), "the target does not exist before the import is kept");
    assert_eq!(imported.snapshot().tip(), Some(&exported.summary.tip));
    assert_eq!(imported.keep().unwrap(), exported.summary);
    assert!(!import_folder(&exported.target()).exists());

    let store = Store::open(&exported.target(), &options(None), &schemas()).unwrap();
    let mut model = exported.model.clone();
    check(&store.snapshot(), &model);
    assert_eq!(store.snapshot().content_digest().unwrap(), exported.summary.content);
    // Back below the snapshot, and forward on another branch.
    let mut writer = store.writer().unwrap();
    for _ in 0..7 {
        writer.undo_block().unwrap();
        model.blocks.pop();
    }
    drop(writer);
    check(&store.snapshot(), &model);
    let from = model.blocks.len();
    for number in 0..9_u8 {
        let value = vec![0xaa, number];
        let tables = tables().count();
        model.push(
            (0..tables).map(|table| Operation::Write { table, key: vec![number], value: value.clone() }).collect(),
        );
    }
    write(&store, &model, from);
    check(&store.snapshot(), &model);
    // A second export of the same state is the same file.
    drop(store);
    let store = Store::open(&exported.target(), &options(None), &schemas()).unwrap();
    let (first, second) = (exported.folder.path().join("one"), exported.folder.path().join("two"));
    export(&store, &first, &mut |_| ControlFlow::Continue(())).unwrap();
    drop(store);
    let copy = exported.folder.path().join("copy");
    run(&first, &copy).unwrap().keep().unwrap();
    export(&Store::open(&copy, &options(None), &schemas()).unwrap(), &second, &mut |_| ControlFlow::Continue(()))
        .unwrap();
    assert!(fs::read(&first).unwrap() == fs::read(&second).unwrap());
}

#[test]
fn a_file_cut_anywhere_is_refused() {
    let exported = Exported::new();
    let bytes = exported.bytes();
    for len in [0, 7, 15, 16, 60, bytes.len() / 3, bytes.len() / 2, bytes.len() - 93, bytes.len() - 1] {
        let error = exported.refuse(&bytes[..len]);
        let cut = matches!(error, SnapshotFileError::Truncated { .. });
        assert!(cut || (len < 16 && matches!(error, SnapshotFileError::NotASnapshot(_))), "{len}: {error}");
    }
    let mut longer = bytes;
    longer.push(0);
    assert!(exported.refuse(&longer).to_string().contains("bytes follow the last frame"));
}

#[test]
fn a_file_with_one_changed_bit_is_refused_wherever_it_is() {
    let exported = Exported::new();
    let bytes = exported.bytes();
    let step = (bytes.len() / 12).max(1);
    let positions = (0..130).chain((130..bytes.len()).step_by(step)).chain((bytes.len() - 95..bytes.len()).step_by(9));
    for position in positions {
        let mut altered = bytes.clone();
        altered[position] ^= 1 << (position % 8);
        exported.refuse(&altered);
    }
    // The untouched file is accepted, so it was the bit.
    run(&exported.file, &exported.target()).unwrap().discard().unwrap();
    assert!(!import_folder(&exported.target()).exists());
}

#[test]
fn frames_that_are_missing_or_change_places_are_refused_though_each_is_whole() {
    let exported = Exported::new();
    let bytes = exported.bytes();
    let mut frames = Vec::new();
    let four = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let header = 16 + four(12) + 4;
    let mut at = header;
    while at < bytes.len() {
        let end = at + 21 + four(at + 13);
        frames.push(bytes[at..end].to_vec());
        at = end;
    }
    assert!(frames.len() > 7, "{}", frames.len());
    let file = |frames: &[Vec<u8>]| [bytes[..header].to_vec(), frames.concat()].concat();
    for index in 0..frames.len() - 1 {
        let mut without = frames.clone();
        without.remove(index);
        assert!(exported.refuse(&file(&without)).to_string().contains("missing or repeated"));
        let mut swapped = frames.clone();
        swapped.swap(index, index + 1);
        exported.refuse(&file(&swapped));
    }
}

#[test]
fn another_network_another_module_and_a_used_folder_are_refused_by_name() {
    let exported = Exported::new();
    let message = |options: &StoreOptions, modules: &[ModuleSchema]| {
        let Err(error) = import(&exported.file, &exported.target(), options, modules, &mut |_| {}) else {
            panic!("imported")
        };
        assert!(!exported.target().exists() && !import_folder(&exported.target()).exists());
        error.to_string()
    };
    let signet = StoreOptions { network: Network::Signet, ..options(None) };
    let text = message(&signet, &schemas());
    assert!(text.contains("holds regtest") && text.contains("asks for signet"), "{text}");
    let text = message(&options(None), &[FIRST, ModuleSchema { version: 4, ..SECOND }]);
    assert!(text.contains("module `second` in version 3, this program writes version 4"), "{text}");
    let text = message(&options(None), &[FIRST]);
    assert!(text.contains("module `second`, which this program does not have"), "{text}");
    let text = message(&StoreOptions { memory_bytes: 1, ..options(None) }, &schemas());
    assert!(text.contains("256 MiB"), "{text}");

    fs::create_dir(exported.target()).unwrap();
    fs::write(exported.target().join("something"), b"precious").unwrap();
    let Err(error) = run(&exported.file, &exported.target()) else { panic!("imported over a folder") };
    assert!(matches!(error, SnapshotFileError::FolderUsed(_)), "{error}");
    assert_eq!(fs::read(exported.target().join("something")).unwrap(), b"precious");
    fs::remove_file(exported.target().join("something")).unwrap();
    // An empty folder is as good as none.
    run(&exported.file, &exported.target()).unwrap().keep().unwrap();
}

#[test]
fn other_formats_and_other_files_are_refused() {
    let exported = Exported::new();
    assert!(matches!(exported.refuse(&[b'x'; 100]), SnapshotFileError::NotASnapshot(_)));
    let mut newer = exported.bytes();
    newer[11] = 9;
    assert!(exported.refuse(&newer).to_string().contains("has format 9, this program reads format 2"));
    let mut store = exported.bytes();
    store[19] = 7;
    let end = 16 + u32::from_be_bytes(store[12..16].try_into().unwrap()) as usize;
    let checksum = crc32fast::hash(&store[..end]).to_be_bytes();
    store[end..end + 4].copy_from_slice(&checksum);
    assert!(matches!(exported.refuse(&store), SnapshotFileError::StoreFormat { found: 7, .. }));
    // A header that promises another tip than the rows have.
    let mut tip = exported.bytes();
    tip[end - 60] ^= 1;
    let checksum = crc32fast::hash(&tip[..end]).to_be_bytes();
    tip[end..end + 4].copy_from_slice(&checksum);
    let error = exported.refuse(&tip);
    assert!(matches!(error, SnapshotFileError::Inconsistent(_)), "{error}");
}

#[test]
fn an_import_that_was_broken_off_is_no_empty_store_and_the_next_one_replaces_it() {
    let exported = Exported::new();
    // What a kill leaves: a store that was made and not moved.
    drop(run(&exported.file, &exported.target()).unwrap());
    assert!(import_folder(&exported.target()).exists());
    let Err(error) = Store::open(&exported.target(), &options(None), &schemas()) else { panic!("opened") };
    assert!(matches!(error, StoreError::ImportBrokenOff { .. }), "{error}");
    assert!(error.to_string().contains("run `paraffin snapshot import` again"), "{error}");
    assert!(!exported.target().exists());
    // A concurrent import does not touch its folder.
    let first = run(&exported.file, &exported.target()).unwrap();
    let Err(error) = run(&exported.file, &exported.target()) else { panic!("imported twice") };
    assert!(matches!(error, SnapshotFileError::Store(StoreError::Locked { .. })), "{error}");
    first.keep().unwrap();
    check(&Store::open(&exported.target(), &options(None), &schemas()).unwrap().snapshot(), &exported.model);
}

#[test]
fn an_export_takes_a_whole_store_and_never_replaces_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("store"), &options(None), &schemas()).unwrap();
    let file = folder.path().join("file");
    assert!(matches!(export(&store, &file, &mut |_| ControlFlow::Continue(())), Err(SnapshotFileError::Empty)));
    fs::write(&file, b"mine").unwrap();
    let model = chain(3);
    write(&store, &model, 0);
    assert!(matches!(export(&store, &file, &mut |_| ControlFlow::Continue(())), Err(SnapshotFileError::FileExists(_))));
    assert_eq!(fs::read(&file).unwrap(), b"mine");
    let mut writer = store.writer().unwrap();
    writer.rewind_module(SECOND.id, Some(4)).unwrap();
    let other = folder.path().join("other");
    let Err(error) = export(&store, &other, &mut |_| ControlFlow::Continue(())) else { panic!("exported") };
    assert!(matches!(error, SnapshotFileError::Store(StoreError::ModuleBehind { .. })), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no part of a file is left");
}

#[test]
fn blocks_that_come_and_go_during_an_export_are_not_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("source"), &options(None), &schemas()).unwrap();
    let model = chain(12);
    write(&store, &model, 0);
    let before = (store.snapshot().tip().unwrap().clone(), store.snapshot().content_digest().unwrap());
    let longer = chain(20);
    let mut writer = store.writer().unwrap();
    let mut frames = 0;
    let file = folder.path().join("file");
    let summary = export(&store, &file, &mut |_| {
        // Three blocks leave, others come, after the first frame and again after the third.
        if frames == 0 || frames == 2 {
            for _ in 0..3 {
                writer.undo_block().unwrap();
            }
            let next = writer.tip().unwrap().id.height as usize - 2;
            for block in &longer.blocks[next..next + 4] {
                write_block(&mut writer, block).unwrap();
                writer.commit(false).unwrap();
            }
        }
        frames += 1;
        ControlFlow::Continue(())
    });
    let summary = summary.unwrap();
    assert!(frames > 3, "{frames} frames");
    assert_eq!((summary.tip.clone(), summary.content), before);
    assert_ne!(store.snapshot().tip().unwrap().id, before.0.id);
    run(&file, &folder.path().join("target")).unwrap().keep().unwrap();
    check(&Store::open(&folder.path().join("target"), &options(None), &schemas()).unwrap().snapshot(), &model);
}

#[test]
fn an_export_that_is_given_up_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("store"), &options(None), &schemas()).unwrap();
    write(&store, &chain(12), 0);
    let file = folder.path().join("file");
    let mut seen_part = false;
    let given_up = export(&store, &file, &mut |now| {
        seen_part |= folder.path().join("file.part").exists();
        if now.rows > 20 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(matches!(given_up, Err(SnapshotFileError::GivenUp)), "{given_up:?}");
    assert!(seen_part);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no part of a file is left");
}
