//! The verified source of a contract, and its files.

use serde::Deserialize;

use super::super::alkane::{AlkaneId, encoded};
use super::super::{Part, Reader, text};
use crate::api::{Call, KEY_PLACEHOLDER};
use crate::failure::Failure;
use crate::html::grouped;

/// Maximum of listed files, of shown lines of a file, and of characters of a line.
const FILES_MAX: usize = 400;
const LINES_MAX: usize = 4_000;
const LINE_MAX: usize = 400;

#[derive(Deserialize)]
struct SourceAnswer {
    source: Source,
}

#[derive(Deserialize)]
struct Source {
    #[serde(default)]
    verified: bool,
    verdict: Option<String>,
    match_pct: Option<f64>,
    repo: Option<String>,
    commit: Option<String>,
    package: Option<String>,
    subdir: Option<String>,
    built: Option<Built>,
}

#[derive(Deserialize)]
struct Built {
    rustc: Option<String>,
}

#[derive(Deserialize)]
struct TreeAnswer {
    tree: Tree,
}

#[derive(Deserialize)]
struct Tree {
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    path: String,
    #[serde(rename = "type")]
    kind: String,
    size: Option<u64>,
}

#[derive(Deserialize)]
struct BlobAnswer {
    blob: Blob,
}

#[derive(Deserialize)]
struct Blob {
    #[serde(default)]
    binary: bool,
    text: Option<String>,
}

/// The verified source on a page.
pub(super) struct Verification {
    pub(super) verified: bool,
    pub(super) verdict: String,
    /// Names and values of its facts.
    pub(super) facts: Vec<(&'static str, String)>,
    pub(super) files: Part<Vec<File>>,
    pub(super) left_out: String,
    /// The file that is open.
    pub(super) open: Option<(String, Part<String>)>,
}

/// A file of a source.
pub(super) struct File {
    pub(super) path: String,
    /// The path, percent-encoded for a URL.
    pub(super) address: String,
    pub(super) size: String,
}

/// Reads the verification of a contract, and one of its files.
pub(super) async fn read(reader: &Reader, id: AlkaneId, file: Option<&str>) -> Result<Part<Verification>, Failure> {
    let base = format!("/api/v1/{KEY_PLACEHOLDER}/source/{}/{}", id.block(), id.tx());
    let source: Part<SourceAnswer> = reader.part(Call::get(base.clone())).await?;
    let source = match source {
        Ok(answer) => answer.source,
        Err(sentence) => return Ok(Err(sentence)),
    };
    let tree: Part<TreeAnswer> = reader.part(Call::get(format!("{base}/tree"))).await?;
    let open = match file.filter(|file| !file.is_empty() && file.len() <= 1_024) {
        None => None,
        Some(file) => {
            let blob: Part<BlobAnswer> = reader.part(Call::get(format!("{base}/blob?path={}", encoded(file)))).await?;
            Some((text::clean(file, 200), blob.and_then(|answer| plain(&answer.blob))))
        }
    };
    let mut left_out = String::new();
    let files = tree.map(|answer| {
        let files: Vec<&Node> =
            answer.tree.nodes.iter().filter(|node| !matches!(node.kind.as_str(), "dir" | "tree")).collect();
        if files.len() > FILES_MAX {
            left_out = grouped((files.len() - FILES_MAX) as u64);
        }
        files.into_iter().take(FILES_MAX).map(File::from).collect()
    });
    let mut facts = Vec::new();
    for (name, value) in [
        ("Repository", source.repo),
        ("Commit", source.commit),
        ("Package", source.package),
        ("Folder", source.subdir.filter(|folder| !folder.is_empty())),
        ("Compiler", source.built.and_then(|built| built.rustc)),
        ("Equal bytes", source.match_pct.map(|percent| format!("{} %", text::number(percent)))),
    ] {
        if let Some(value) = value {
            facts.push((name, text::clean(&value, 200)));
        }
    }
    let verdict = text::clean(source.verdict.as_deref().unwrap_or("unknown"), 40);
    Ok(Ok(Verification { verified: source.verified, verdict, facts, files, left_out, open }))
}

impl From<&Node> for File {
    fn from(node: &Node) -> Self {
        Self {
            path: text::clean(&node.path, 160),
            address: encoded(&node.path),
            size: node.size.map(grouped).unwrap_or_default(),
        }
    }
}

/// A file as cleaned and bounded lines.
fn plain(blob: &Blob) -> Part<String> {
    match &blob.text {
        Some(content) if !blob.binary => {
            let mut lines: Vec<String> = content
                .lines()
                .take(LINES_MAX)
                .map(|line| text::clean(&line.replace('\t', "    "), LINE_MAX))
                .collect();
            if content.lines().nth(LINES_MAX).is_some() {
                lines.push("…".to_owned());
            }
            Ok(lines.join("\n"))
        }
        _ => Err("This file is no text.".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_plain_and_bounded() {
        let blob = |text: &str| Blob { binary: false, text: Some(text.to_owned()) };
        assert_eq!(plain(&blob("fn a() {\r\n\tb(\u{202e}1)\n}")).unwrap(), "fn a() {\n    b(1)\n}");
        let long = plain(&blob(&"x\n".repeat(100_000))).unwrap();
        assert_eq!((long.lines().count(), long.ends_with('…')), (LINES_MAX + 1, true));
        assert_eq!(plain(&blob(&"x".repeat(100_000))).unwrap().chars().count(), LINE_MAX + 1);
        assert!(plain(&Blob { binary: true, text: Some(String::new()) }).is_err());
    }
}
