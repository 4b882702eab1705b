//! The rules of the workspace that no compiler checks: `cargo xtask tidy`, and the same as a test of this crate.
//!
//! A rule looks at the files that git tracks or would track, and answers with findings. Each rule has a test that shows it
//! catching a violation, so a rule that stops working is noticed.

mod circles;
mod citations;
mod dependencies;
mod figures;
mod layers;
mod sources;

use std::fmt;
use std::path::Path;

use xtask::process::{Failure, Outcome};
use xtask::repository::{self, SourceFile};

/// One violation.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    path: String,
    /// From 1; 0 when the file as a whole is meant.
    line: usize,
    what: String,
}

impl Finding {
    fn whole(path: &str, what: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line: 0, what: what.into() }
    }

    fn at(path: &str, index: usize, what: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line: index + 1, what: what.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(formatter, "{}: {}", self.path, self.what),
            line => write!(formatter, "{}:{line}: {}", self.path, self.what),
        }
    }
}

/// Applies every rule to the repository.
pub(crate) fn check(root: &Path) -> Outcome {
    let files = repository::files(root)?;
    let findings = findings(&files);
    for finding in &findings {
        println!("{finding}");
    }
    println!("{} files, {} findings", files.len(), findings.len());
    if findings.is_empty() { Ok(()) } else { Err(Failure::new("the workspace is not tidy: see the findings above")) }
}

fn findings(files: &[SourceFile]) -> Vec<Finding> {
    let mut findings = sources::check(files);
    findings.extend(layers::check(files));
    findings.extend(circles::check(files));
    findings.extend(dependencies::check(files));
    findings.extend(figures::check(files));
    findings.extend(citations::check(files));
    findings.sort_by(|left, right| (&left.path, left.line).cmp(&(&right.path, right.line)));
    findings
}

/// The parsed manifests of the workspace's own crates by folder: `crates/store`, `bin/paraffin`, `xtask`.
fn manifests(files: &[SourceFile]) -> (Vec<(&str, toml::Table)>, Vec<Finding>) {
    let mut read = Vec::new();
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.name() == "Cargo.toml") {
        let Some(folder) = file.path.strip_suffix("/Cargo.toml") else { continue };
        let alone = ["bars", "fuzz", "wasmi_core", "xtask", "xtask/proto"];
        if !(folder.starts_with("crates/") || folder.starts_with("bin/") || alone.contains(&folder)) {
            continue;
        }
        match file.text.parse::<toml::Table>() {
            Ok(table) => read.push((folder, table)),
            Err(error) => findings.push(Finding::whole(&file.path, format!("not TOML: {error}"))),
        }
    }
    (read, findings)
}

#[cfg(test)]
fn sample(path: &str, text: &str) -> SourceFile {
    SourceFile { path: path.to_owned(), text: text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_tidy() {
        let files = repository::files(&repository::root()).unwrap();
        let findings: Vec<String> = findings(&files).iter().map(ToString::to_string).collect();
        assert!(findings.is_empty(), "\n{}", findings.join("\n"));
    }

    #[test]
    fn a_manifest_that_cannot_be_read_is_a_finding() {
        let files = [sample("crates/store/Cargo.toml", "[package")];
        let (read, findings) = manifests(&files);
        assert!(read.is_empty());
        assert_eq!(findings.len(), 1);
    }
}
