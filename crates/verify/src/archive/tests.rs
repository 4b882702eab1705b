use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use tar::{Builder, EntryType, Header};

use super::*;

const LIMITS: ArchiveLimits = ArchiveLimits { bytes_max: 1 << 20, file_bytes_max: 256 << 10, entries_max: 50 };

/// Entries as a hostile program writes them: the path goes into the head as it is.
fn entry(path: &[u8], kind: EntryType, content: &[u8], target: &[u8]) -> Vec<u8> {
    let mut header = Header::new_ustar();
    header.set_entry_type(kind);
    header.set_size(content.len() as u64);
    header.set_mode(0o755);
    let old = header.as_old_mut();
    old.name[..path.len()].copy_from_slice(path);
    old.linkname[..target.len()].copy_from_slice(target);
    header.set_cksum();
    let mut bytes = header.as_bytes().to_vec();
    bytes.extend_from_slice(content);
    bytes.resize(bytes.len().next_multiple_of(512), 0);
    bytes
}

fn file(path: &str, content: &[u8]) -> Vec<u8> {
    entry(path.as_bytes(), EntryType::Regular, content, b"")
}

fn link(path: &str, target: &str) -> Vec<u8> {
    entry(path.as_bytes(), EntryType::Symlink, b"", target.as_bytes())
}

fn gzip(entries: &[Vec<u8>]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&entries.concat()).unwrap();
    encoder.write_all(&[0; 1024]).unwrap();
    encoder.finish().unwrap()
}

fn unpacked(bytes: &[u8], into: &Path) -> Result<Vec<SourceFile>, ArchiveError> {
    unpack(bytes, true, into, &LIMITS)
}

fn refused(entries: &[Vec<u8>]) -> ArchiveError {
    let folder = tempfile::tempdir().unwrap();
    let error = unpacked(&gzip(entries), folder.path()).unwrap_err();
    // Nothing has come out of the folder, and nothing has been linked.
    assert!(!folder.path().parent().unwrap().join("escaped").exists());
    error
}

#[test]
fn files_come_out_with_their_hashes_sorted_and_links_lead_inside() {
    let folder = tempfile::tempdir().unwrap();
    let long = "a-folder-with-a-name/".repeat(8) + "lib.rs";
    let mut builder = Builder::new(Vec::new());
    for (path, content) in [("src/lib.rs", &b"fn main() {}"[..]), (long.as_str(), b"long"), ("Cargo.toml", b"")] {
        let mut header = Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, path, content).unwrap();
    }
    let tar = builder.into_inner().unwrap();
    let tar = [link("src/link.rs", "../Cargo.toml"), tar].concat();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&tar).unwrap();
    let files = unpacked(&encoder.finish().unwrap(), folder.path()).unwrap();
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["Cargo.toml", long.as_str(), "src/lib.rs"]);
    assert_eq!(files[2].sha256, crate::verdict::sha256_hex(b"fn main() {}"));
    assert_eq!(fs::read(folder.path().join("src/lib.rs")).unwrap(), b"fn main() {}");
    assert_eq!(fs::read_link(folder.path().join("src/link.rs")).unwrap(), Path::new("../Cargo.toml"));
}

#[test]
fn paths_out_of_the_tree_are_refused() {
    for path in ["../escaped", "/escaped", "a/../../escaped"] {
        assert!(matches!(refused(&[file(path, b"x")]), ArchiveError::Path(_)), "{path}");
    }
    assert!(matches!(
        refused(&[entry(b"a\xff\xfe.rs", EntryType::Regular, b"x", b"")]),
        ArchiveError::Path(PathError::NotText(_))
    ));
}

#[test]
fn links_out_of_the_tree_and_files_through_links_are_refused() {
    for bad in [
        vec![file("a", b"x"), link("out", "../escaped")],
        vec![file("a", b"x"), link("out", "/etc/passwd")],
        vec![link("out", ".."), file("out/escaped", b"x")],
        vec![file("out", b"x"), link("out", "a")],
        vec![file("deep/er/a", b"x"), link("deep/er/top", "../.."), link("out", "deep/er/top/../escaped")],
    ] {
        assert!(matches!(refused(&bad), ArchiveError::Path(_)));
    }
}

/// Settings for the next entry, as later tar programs write them.
fn settings(name: &str, value: &[u8]) -> Vec<u8> {
    let rest = name.len() + value.len() + 3;
    // Its own digits count.
    let length = (rest..rest + 4).find(|length| rest + length.to_string().len() == *length).unwrap();
    let record = [format!("{length} {name}=").as_bytes(), value, b"\n"].concat();
    entry(b"PaxHeaders/x", EntryType::XHeader, &record, b"")
}

#[test]
fn names_that_come_by_another_way_are_judged_alike() {
    let gnu = |kind, name: &[u8]| entry(b"././@LongLink", kind, &[name, b"\0"].concat(), b"");
    for name in
        [&b"../escaped"[..], b"/escaped", b"a/../../escaped", b"a\0b", b"\xff", &b"n".repeat(600), &b"d/".repeat(40)]
    {
        for before in [settings("path", name), gnu(EntryType::GNULongName, name)] {
            // A name of the old form ends where its zero is, and what is left of it is judged.
            let outcome = unpacked(&gzip(&[before, file("a", b"x")]), tempfile::tempdir().unwrap().path());
            let is_cut = name.contains(&0) && outcome.as_ref().is_ok_and(|files| files[0].path == "a");
            assert!(is_cut || matches!(outcome, Err(ArchiveError::Path(_))), "{name:?}: {outcome:?}");
        }
    }
    for before in [settings("linkpath", b"../escaped"), gnu(EntryType::GNULongLink, b"/etc/passwd")] {
        assert!(matches!(refused(&[file("a", b"x"), before, link("l", "a")]), ArchiveError::Path(_)));
    }
    for before in [settings("path", b"a"), gnu(EntryType::GNULongName, b"./a")] {
        assert!(matches!(
            refused(&[file("a", b"x"), before, file("b", b"y")]),
            ArchiveError::Path(PathError::Twice(_))
        ));
    }
    // A size that the head does not state.
    assert!(matches!(refused(&[settings("size", b"1099511627776"), file("a", b"x")]), ArchiveError::TooLarge(_)));
    assert!(matches!(
        refused(&[settings("size", b"18446744073709551615"), file("a", b"x")]),
        ArchiveError::TooLarge(_) | ArchiveError::Unreadable
    ));
}

#[test]
fn names_that_differ_in_case_are_two_and_the_same_name_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let files = unpacked(&gzip(&[file("A", b"1"), file("a", b"2")]), folder.path()).unwrap();
    assert_eq!((files.len(), fs::read(folder.path().join("A")).unwrap()), (2, b"1".to_vec()));
    for bad in [
        vec![file("a", b"1"), file("./a", b"2")],
        vec![file("a", b"1"), file("a/b", b"2")],
        vec![file("a/b", b"1"), file("a", b"2")],
        vec![file("a/b", b"1"), link("a", "c")],
        vec![link("a", "c"), file("a", b"1")],
    ] {
        assert!(matches!(refused(&bad), ArchiveError::Path(PathError::Twice(_))));
    }
}

#[test]
fn hard_links_devices_pipes_and_sparse_files_are_refused() {
    for kind in [EntryType::Link, EntryType::Char, EntryType::Block, EntryType::Fifo, EntryType::GNUSparse] {
        let error = refused(&[file("a", b"x"), entry(b"odd", kind, b"", b"a")]);
        assert!(matches!(error, ArchiveError::Kind(_) | ArchiveError::Unreadable), "{kind:?}: {error}");
    }
}

#[test]
fn bombs_are_refused_before_they_fill_anything() {
    // A megabyte and a byte of files, in pieces that are allowed one by one.
    let piece = vec![0; 256 << 10];
    let many: Vec<_> = (0..5).map(|number| file(&format!("f{number}"), &piece)).collect();
    assert!(matches!(refused(&many), ArchiveError::TooLarge(_)));
    assert!(matches!(refused(&[file("large", &vec![0; (256 << 10) + 1])]), ArchiveError::TooLarge(_)));
    let names: Vec<_> = (0..51).map(|number| file(&format!("f{number}"), b"")).collect();
    assert!(matches!(refused(&names), ArchiveError::Path(PathError::TooMany(50))));
    // What is no entry counts as well: endless comments before the first file.
    let comment = entry(b"pax_global_header", EntryType::XGlobalHeader, &vec![b'x'; 200 << 10], b"");
    assert!(matches!(refused(&vec![comment; 20]), ArchiveError::TooLarge(_)));
    // A long name of many megabytes.
    let name = entry(b"././@LongLink", EntryType::GNULongName, &vec![b'n'; 3 << 20], b"");
    assert!(matches!(refused(&[name, file("a", b"")]), ArchiveError::TooLarge(_)));
    // A file that claims more than there is.
    let mut claim = file("a", b"x");
    let mut header = Header::new_ustar();
    header.as_mut_bytes().copy_from_slice(&claim[..512]);
    header.set_size(200 << 10);
    header.set_cksum();
    claim[..512].copy_from_slice(header.as_bytes());
    assert!(matches!(refused(&[claim]), ArchiveError::Unreadable));
}

#[test]
fn what_is_no_archive_is_told() {
    let folder = tempfile::tempdir().unwrap();
    for bytes in [&b""[..], b"no gzip", &gzip(&[file("a", b"x")])[..40]] {
        assert!(
            matches!(unpacked(bytes, folder.path()), Err(ArchiveError::Unreadable | ArchiveError::Empty)),
            "{bytes:?}"
        );
    }
    assert!(matches!(refused(&[]), ArchiveError::Empty));
}

proptest! {
    #[test]
    fn no_bytes_panic_or_leave_the_folder(bytes in proptest::collection::vec(any::<u8>(), 0..2000), flips in proptest::collection::vec((0..3000_usize, any::<u8>()), 0..8)) {
        let folder = tempfile::tempdir().unwrap();
        let _ = unpack(bytes.as_slice(), false, &folder.path().join("a"), &LIMITS);
        let mut good = [file("src/lib.rs", b"x"), link("l", "src"), file("b", b"y")].concat();
        for (index, value) in flips {
            if let Some(byte) = good.get_mut(index) {
                *byte = value;
            }
        }
        let inside = folder.path().join("inside");
        fs::create_dir(&inside).unwrap();
        let _ = unpack(good.as_slice(), false, &inside, &LIMITS);
        let beside = fs::read_dir(folder.path()).unwrap().count();
        prop_assert!(beside <= 2);
    }
}
