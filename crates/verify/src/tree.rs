//! The display of a source tree: its nodes, and the file to show first.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use crate::archive::SourceFile;

/// A file or a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum NodeKind {
    /// A file.
    Blob,
    /// A folder.
    Tree,
}

/// One line of a tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Node {
    /// Path from the root.
    pub path: String,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: NodeKind,
    /// Bytes, of files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

/// All files, and the folders that follow from their paths, sorted by path.
pub fn nodes(files: &[SourceFile]) -> Vec<Node> {
    let folders: BTreeSet<&str> =
        files.iter().flat_map(|file| file.path.match_indices('/').map(|(index, _)| &file.path[..index])).collect();
    let folders = folders.into_iter().map(|path| Node { path: path.to_owned(), kind: NodeKind::Tree, size: None });
    let blobs = files.iter().map(|file| Node { path: file.path.clone(), kind: NodeKind::Blob, size: Some(file.size) });
    let mut nodes: Vec<Node> = folders.chain(blobs).collect();
    nodes.sort_by(|one, other| one.path.cmp(&other.path));
    nodes
}

/// The file to show first: the library of the package, that of the root, any library, the root's manifest,
/// any Rust file, any file. Files of dependencies come last.
pub fn entrypoint<'a>(files: &'a [SourceFile], subdir: &str, package: &str) -> Option<&'a str> {
    const LIBRARY: &str = "src/lib.rs";
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let below = |folder: &str| if folder.is_empty() { LIBRARY.to_owned() } else { format!("{folder}/{LIBRARY}") };
    let inside = |path: &str| if subdir.is_empty() { path.to_owned() } else { format!("{subdir}/{path}") };
    let exact = |wanted: &str| paths.iter().copied().find(|path| *path == wanted);
    let is_own = |path: &&&str| !path.split('/').any(|part| part == "vendor");
    let any = |wanted: &dyn Fn(&str) -> bool| {
        let own = paths.iter().filter(is_own).copied().find(|path| wanted(path));
        own.or_else(|| paths.iter().copied().find(|path| wanted(path)))
    };
    let ends = |path: &str, tail: &str| path == tail || path.ends_with(&format!("/{tail}"));
    exact(&below(&inside(package)))
        .or_else(|| any(&|path| !package.is_empty() && ends(path, &below(package))))
        .or_else(|| exact(&below(subdir)))
        .or_else(|| exact(LIBRARY))
        .or_else(|| any(&|path| ends(path, LIBRARY)))
        .or_else(|| exact("Cargo.toml"))
        .or_else(|| any(&|path| path.strip_suffix(".rs").is_some()))
        .or_else(|| paths.first().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(paths: &[&str]) -> Vec<SourceFile> {
        paths.iter().map(|path| SourceFile { path: (*path).to_owned(), size: 3, sha256: String::new() }).collect()
    }

    #[test]
    fn folders_follow_from_the_files() {
        let nodes = nodes(&files(&["Cargo.toml", "a/b/c.rs", "a/d.rs"]));
        let listed: Vec<_> = nodes.iter().map(|node| (node.path.as_str(), node.kind, node.size)).collect();
        assert_eq!(
            listed,
            [
                ("Cargo.toml", NodeKind::Blob, Some(3)),
                ("a", NodeKind::Tree, None),
                ("a/b", NodeKind::Tree, None),
                ("a/b/c.rs", NodeKind::Blob, Some(3)),
                ("a/d.rs", NodeKind::Blob, Some(3)),
            ]
        );
        let text = serde_json::to_string(&nodes[..2]).unwrap();
        assert_eq!(text, r#"[{"path":"Cargo.toml","type":"blob","size":3},{"path":"a","type":"tree"}]"#);
    }

    /// row VF02
    #[test]
    fn the_entrypoint_is_chosen_in_the_published_order() {
        for (paths, subdir, package, chosen) in [
            (&["Cargo.toml", "coin/src/lib.rs", "src/lib.rs"][..], "", "coin", "coin/src/lib.rs"),
            (&["w/coin/src/lib.rs", "w/src/lib.rs"], "w", "coin", "w/coin/src/lib.rs"),
            (&["Cargo.toml", "alkanes/coin/src/lib.rs", "src/lib.rs"], "", "coin", "alkanes/coin/src/lib.rs"),
            (&["Cargo.toml", "other/src/lib.rs", "src/lib.rs"], "", "coin", "src/lib.rs"),
            (&["Cargo.toml", "other/src/lib.rs"], "", "coin", "other/src/lib.rs"),
            (&["Cargo.toml", "src/main.rs"], "", "coin", "Cargo.toml"),
            (&["a.txt", "src/main.rs"], "", "coin", "src/main.rs"),
            (&["a.txt", "b.txt"], "", "coin", "a.txt"),
            (&["vendor/x/src/lib.rs", "z/src/lib.rs"], "", "coin", "z/src/lib.rs"),
        ] {
            assert_eq!(entrypoint(&files(paths), subdir, package), Some(chosen), "{paths:?}");
        }
        assert_eq!(entrypoint(&[], "", ""), None);
    }
}
