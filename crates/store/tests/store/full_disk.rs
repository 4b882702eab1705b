//! A full disk stops the writer with a clear error; what was committed stays readable.

use std::path::Path;
use std::process::Command;

use paraffin_store::{Store, StoreError};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::crash::Random;
use crate::model::{Model, Operation, check, options, schemas, write_block};

fn push(model: &mut Model, len: usize) -> crate::model::ModelBlock {
    let number = model.tip_height().unwrap_or(0);
    // What does not compress, so that the journal is as long as the rows.
    let mixed = |byte: u64| {
        let product = (byte + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (product ^ product >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    };
    let value: Vec<u8> = (0..len as u64).map(|byte| (mixed(byte) >> 32) as u8).collect();
    let operations = [0, 1, 3, 9]
        .map(|table| Operation::Write { table, key: number.to_be_bytes().to_vec(), value: value.clone() })
        .to_vec();
    model.push(operations).clone()
}

fn limit_files_to(bytes: u64) {
    let limit = getrlimit(Resource::Fsize);
    setrlimit(Resource::Fsize, Rlimit { current: Some(bytes), maximum: limit.maximum }).unwrap();
}

/// The rest of the test runs in a process of its own, which ignores SIGXFSZ and gets a limit on the size of files.
#[test]
#[ignore = "run by the test below as a process of its own"]
fn child() {
    let (Ok(folder), Ok(way)) = (std::env::var("STORE_FULL_FOLDER"), std::env::var("STORE_FULL_WAY")) else { return };
    let folder = Path::new(&folder);
    let mut model = Model::default();
    let store = Store::open(folder, &options(None), &schemas()).unwrap();
    let mut writer = store.writer().unwrap();
    for _ in 0..20 {
        let block = push(&mut model, 30_000);
        write_block(&mut writer, &block).unwrap();
        writer.commit(false).unwrap();
    }
    limit_files_to(if way == "journal" { 4 * 1024 * 1024 } else { 64 * 1024 });
    let failure = if way == "journal" {
        // The journal grows until it hits the limit.
        loop {
            let block = push(&mut model, 100_000);
            if let Err(error) = write_block(&mut writer, &block).and_then(|()| writer.commit(false)) {
                model.blocks.pop();
                break error;
            }
            assert!(model.blocks.len() < 200, "the limit was never hit");
        }
    } else {
        // A thread of the engine fails to write a table, and a later commit finds out.
        let first = store.flush().unwrap_err();
        assert!(matches!(first, StoreError::DiskFull { .. }), "{first:?}");
        let block = push(&mut model, 10);
        write_block(&mut writer, &block).unwrap();
        model.blocks.pop();
        writer.commit(true).unwrap_err()
    };
    assert!(matches!(failure, StoreError::DiskFull { .. }), "{failure:?}");
    assert!(failure.to_string().contains("the disk is full"), "{failure}");
    // Nothing more is written, and it says why.
    let block = model.clone().push(Vec::new()).clone();
    for refused in [
        writer.begin_block(block.id, block.previous, 0).unwrap_err(),
        writer.undo_block().unwrap_err(),
        writer.commit(true).unwrap_err(),
    ] {
        assert!(matches!(refused, StoreError::WriterFailed { .. }), "{refused:?}");
        assert!(refused.to_string().contains("the disk is full"), "{refused}");
    }
    drop(writer);
    assert!(matches!(store.writer(), Err(StoreError::WriterFailed { .. })));
    // Reads go on, in this process and in one that starts on the full disk.
    check(&store.snapshot(), &model);
    drop(store);
    if way == "table" {
        let store = Store::open(folder, &options(None), &schemas()).unwrap();
        check(&store.snapshot(), &model);
    }
    println!("blocks={}", model.blocks.len());
}

/// What a test of this file prints that runs as a process of its own, with files limited in size; it must succeed.
fn printed_by(child: &str, folder: &Path, way: &str) -> String {
    let output = Command::new("sh")
        .args(["-c", r#"trap "" XFSZ; exec "$0" --exact "full_disk::$1" --ignored --nocapture"#])
        .arg(std::env::current_exe().unwrap())
        .arg(child)
        .env("STORE_FULL_FOLDER", folder)
        .env("STORE_FULL_WAY", way)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{way}: {text}\n{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[test]
fn a_full_disk_stops_the_writer_and_reads_go_on() {
    for way in ["journal", "table"] {
        let folder = tempfile::tempdir().unwrap();
        let text = printed_by("child", folder.path(), way);
        let blocks: usize = text.split("blocks=").nth(1).unwrap().lines().next().unwrap().parse().unwrap();
        assert!(blocks >= 20, "{blocks}");
        // With free space again the store opens on the same whole block and goes on.
        let mut model = Model::default();
        for number in 0..blocks {
            push(&mut model, if number < 20 { 30_000 } else { 100_000 });
        }
        let store = Store::open(folder.path(), &options(None), &schemas()).unwrap();
        check(&store.snapshot(), &model);
        let mut writer = store.writer().unwrap();
        let block = push(&mut model, 10);
        write_block(&mut writer, &block).unwrap();
        writer.commit(true).unwrap();
        store.flush().unwrap();
        check(&store.snapshot(), &model);
    }
}

/// A run that meets the full disk: before it is decided nothing of it is there, afterwards all of it.
#[test]
#[ignore = "run by the test below as a process of its own"]
fn run_child() {
    let (Ok(folder), Ok(way)) = (std::env::var("STORE_FULL_FOLDER"), std::env::var("STORE_FULL_WAY")) else { return };
    let mut model = Model::default();
    let store = Store::open(Path::new(&folder), &options(None), &schemas()).unwrap();
    let mut writer = store.writer().unwrap();
    for _ in 0..5 {
        let block = push(&mut model, 30_000);
        write_block(&mut writer, &block).unwrap();
        writer.commit_sorted().unwrap();
    }
    writer.settle().unwrap();
    limit_files_to(256 * 1024);
    let block = if way == "redo" { push_noise(&mut model) } else { push_zeros(&mut model) };
    write_block(&mut writer, &block).unwrap();
    writer.commit_sorted().unwrap();
    let failure = writer.settle().unwrap_err();
    assert!(matches!(failure, StoreError::DiskFull { .. }), "{failure:?}");
    assert!(failure.to_string().contains("the disk is full"), "{failure}");
    assert_eq!(Path::new(&folder).join("run").exists(), way == "tables");
    assert!(!Path::new(&folder).join("run.part").exists(), "the space is freed");
    let refused = writer.begin_block(block.id, block.previous, 0).unwrap_err();
    assert!(matches!(refused, StoreError::WriterFailed { .. }), "{refused:?}");
    model.blocks.pop();
    check(&store.snapshot(), &model);
    drop(writer);
    drop(store);
    let again = Store::open(Path::new(&folder), &options(None), &schemas());
    if way == "redo" {
        check(&again.unwrap().snapshot(), &model);
    } else {
        // The commit is decided, and there is no space yet to finish it.
        assert!(matches!(again.err(), Some(StoreError::DiskFull { .. })));
    }
    println!("done");
}

/// A value that cannot be packed.
fn push_noise(model: &mut Model) -> crate::model::ModelBlock {
    let mut random = Random(1);
    let value = (0..1 << 20).map(|_| random.next() as u8).collect();
    model.push(vec![Operation::Write { table: 0, key: vec![7], value }]).clone()
}

/// Values that the redo file packs into nothing, and tables of hashed keys do not.
fn push_zeros(model: &mut Model) -> crate::model::ModelBlock {
    model.push(vec![Operation::Write { table: 0, key: vec![7], value: vec![0; 3 << 20] }]).clone()
}

#[test]
fn a_full_disk_during_a_sorted_run_is_a_clear_error_that_loses_nothing() {
    for way in ["redo", "tables"] {
        let folder = tempfile::tempdir().unwrap();
        let text = printed_by("run_child", folder.path(), way);
        assert!(text.contains("done"), "{text}");
        // With free space again the store opens on a whole block and goes on.
        let mut model = Model::default();
        for _ in 0..5 {
            push(&mut model, 30_000);
        }
        if way == "tables" {
            push_zeros(&mut model);
        }
        let store = Store::open(folder.path(), &options(None), &schemas()).unwrap();
        check(&store.snapshot(), &model);
        let mut writer = store.writer().unwrap();
        let block = push(&mut model, 10);
        write_block(&mut writer, &block).unwrap();
        writer.commit_sorted().unwrap();
        writer.settle().unwrap();
        check(&store.snapshot(), &model);
    }
}
