//! Archives of source trees: what is taken stays inside its folder and its limits, at every step of every link, and is what the
//! list of files says. The first byte says whether the rest is a compressed archive, a plain one, or entries whose heads are
//! written here, since hardly any random head has the right checksum.

use std::fs;
use std::path::Path;

use paraffin_verify::{ArchiveLimits, SourceFile, unpack};

const LIMITS: ArchiveLimits = ArchiveLimits { bytes_max: 16 << 10, file_bytes_max: 8 << 10, entries_max: 24 };
const BLOCK: usize = 512;

/// One length byte, and so many bytes.
fn take<'a>(rest: &mut &'a [u8]) -> &'a [u8] {
    let Some((length, after)) = rest.split_first() else { return &[] };
    let (taken, after) = after.split_at(usize::from(*length).min(after.len()));
    *rest = after;
    taken
}

/// A tar file of entries in a short form: kind, path, target, content.
fn tar(mut bytes: &[u8]) -> Vec<u8> {
    let mut archive = Vec::new();
    while let Some((kind, rest)) = bytes.split_first() {
        bytes = rest;
        let (path, target, content) = (take(&mut bytes), take(&mut bytes), take(&mut bytes));
        let mut head = [0; BLOCK];
        let put = |head: &mut [u8; BLOCK], offset: usize, field: &[u8], most: usize| {
            let field = &field[..field.len().min(most)];
            head[offset..offset + field.len()].copy_from_slice(field);
        };
        put(&mut head, 0, path, 100);
        put(&mut head, 100, b"0000644\0", 8);
        put(&mut head, 124, format!("{:011o}", content.len()).as_bytes(), 11);
        // Kinds that are written often: files, links, folders, long names, settings.
        head[156] = b"000002222555LKxg13S"[usize::from(*kind) % 19];
        put(&mut head, 157, target, 100);
        put(&mut head, 257, b"ustar\x0000", 8);
        put(&mut head, 148, b"        ", 8);
        let sum: u32 = head.iter().map(|byte| u32::from(*byte)).sum();
        put(&mut head, 148, format!("{sum:06o}\0 ").as_bytes(), 8);
        archive.extend_from_slice(&head);
        archive.extend_from_slice(content);
        archive.resize(archive.len().next_multiple_of(BLOCK), 0);
    }
    archive.resize(archive.len() + 2 * BLOCK, 0);
    archive
}

/// Everything below a folder, links not followed: files with their sizes; no link leads out.
fn found(root: &Path, folder: &Path, files: &mut Vec<(String, u64)>, entries: &mut usize) {
    for entry in fs::read_dir(folder).expect("the folder is there").map(|entry| entry.expect("an entry")) {
        *entries += 1;
        let (path, kind) = (entry.path(), entry.file_type().expect("a kind"));
        if kind.is_dir() {
            found(root, &path, files, entries);
        } else if kind.is_symlink() {
            if let Ok(leads) = path.canonicalize() {
                assert!(leads.starts_with(root), "{} leads to {}", path.display(), leads.display());
            }
        } else {
            let name = path.strip_prefix(root).expect("inside").to_str().expect("text").to_owned();
            files.push((name, entry.metadata().expect("a size").len()));
        }
    }
}

pub(crate) fn run(bytes: &[u8]) {
    let Some((form, rest)) = bytes.split_first() else { return };
    let scratch = std::env::temp_dir().join(format!("paraffin-fuzz-archive-{}", std::process::id()));
    let _ = fs::remove_dir_all(&scratch);
    let tree = scratch.join("tree");
    fs::create_dir_all(&tree).expect("a folder");
    let tree = tree.canonicalize().expect("it is there");
    let unpacked = match form % 8 {
        0 => unpack(rest, true, &tree, &LIMITS),
        1 => unpack(rest, false, &tree, &LIMITS),
        _ => unpack(&tar(rest)[..], false, &tree, &LIMITS),
    };
    let (mut files, mut entries) = (Vec::new(), 0);
    found(&tree, &tree, &mut files, &mut entries);
    assert!(entries <= LIMITS.entries_max, "{entries} entries");
    assert!(files.iter().map(|(_, size)| size).sum::<u64>() <= LIMITS.bytes_max);
    assert_eq!(fs::read_dir(&scratch).expect("a folder").count(), 1, "no file is beside the tree");
    if let Ok(unpacked) = unpacked {
        files.sort();
        let unpacked: Vec<_> = unpacked.into_iter().map(|SourceFile { path, size, .. }| (path, size)).collect();
        assert_eq!(unpacked, files);
    }
    let _ = fs::remove_dir_all(&scratch);
}
