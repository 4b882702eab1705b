//! Which test pins which row of the specification.
//!
//! `xtask/rows.toml` names the rows; tests name them in a doc line directly above (`row` and the id) or in their own name.
//! The result is printed and written to `docs/rows.md`.

mod ledger;
mod scan;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use ledger::{Ledger, Row};
use scan::Mention;
use xtask::process::{Failure, Outcome};
use xtask::repository;

const PAGE: &str = "docs/rows.md";

/// What to do with the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Page {
    /// Write it anew.
    Write,
    /// Fail when it differs from what would be written.
    Check,
}

/// Scans the repository, prints the table and judges it.
pub(crate) fn report(root: &Path, page: Page) -> Outcome {
    let ledger = ledger::read(root)?;
    let files = repository::files(root)?;
    let mentions: Vec<Mention> = files.iter().flat_map(|file| scan::mentions(file, &ledger)).collect();
    let pins = by_row(&ledger, &mentions);
    if page == Page::Write {
        print!("{}", table(&ledger, &pins));
    }
    let mut complaints = complaints(&ledger, &pins, &mentions);
    let text = markdown(&ledger, &pins);
    let path = root.join(PAGE);
    match page {
        Page::Write => {
            std::fs::write(&path, text).map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
        }
        Page::Check if std::fs::read_to_string(&path).ok().as_deref() != Some(&text) => {
            complaints.push(format!("{PAGE} is out of date: run `cargo xtask rows` and commit it"));
        }
        Page::Check => {}
    }
    let built: Vec<&Row> = ledger.rows().filter(|row| row.built).collect();
    let pinned = built.iter().filter(|row| pins.contains_key(row.id.as_str())).count();
    println!("{} rows, {} built, {pinned} of these pinned by tests", ledger.rows().count(), built.len());
    if complaints.is_empty() { Ok(()) } else { Err(Failure::new(complaints.join("\n"))) }
}

/// Row id to the tests that pin it, as `path::function`, sorted.
type Pins<'a> = BTreeMap<&'a str, Vec<String>>;

fn by_row<'a>(ledger: &'a Ledger, mentions: &[Mention]) -> Pins<'a> {
    let mut pins = Pins::new();
    for row in ledger.rows() {
        let mut tests: Vec<String> =
            mentions.iter().filter(|mention| mention.id == row.id).map(Mention::test).collect();
        tests.sort();
        tests.dedup();
        if !tests.is_empty() {
            pins.insert(&row.id, tests);
        }
    }
    pins
}

fn complaints(ledger: &Ledger, pins: &Pins<'_>, mentions: &[Mention]) -> Vec<String> {
    let mut complaints = Vec::new();
    for row in ledger.rows().filter(|row| row.built && !pins.contains_key(row.id.as_str())) {
        complaints.push(format!("row {} is built and no test pins it: {}", row.id, row.what));
    }
    for mention in mentions.iter().filter(|mention| ledger.rows().all(|row| row.id != mention.id)) {
        complaints.push(format!("{} names row {}, which does not exist", mention.test(), mention.id));
    }
    complaints
}

fn table(ledger: &Ledger, pins: &Pins<'_>) -> String {
    let mut text = String::new();
    for section in &ledger.sections {
        let _ = writeln!(text, "\n{}", section.title);
        for row in &section.rows {
            let tests = pins.get(row.id.as_str()).map_or(0, Vec::len);
            let state = match (row.built, tests) {
                (true, 0) => "UNPINNED",
                (true, _) => "pinned",
                (false, 0) => "planned",
                (false, _) => "ahead",
            };
            let _ = writeln!(text, "  {}  {state:<8} {tests:>3}  {}", row.id, row.what);
        }
    }
    text.push('\n');
    text
}

fn markdown(ledger: &Ledger, pins: &Pins<'_>) -> String {
    let mut text = String::from(
        "# Rows of the specification and the tests that pin them\n\n\
         Written by `cargo xtask rows` from `xtask/rows.toml` and the tests themselves; not edited by hand. A row is *built* when\n\
         its surface stands: from then on the checks fail unless a test names it.\n",
    );
    for section in &ledger.sections {
        let _ =
            write!(text, "\n## {}\n\n| row | part | what | built | tests |\n|---|---|---|---|---|\n", section.title);
        for row in &section.rows {
            let built = if row.built { "yes" } else { "" };
            let tests = pins.get(row.id.as_str()).map_or_else(String::new, |tests| {
                tests.iter().map(|test| format!("`{test}`")).collect::<Vec<_>>().join("<br>")
            });
            let what = row.what.replace('|', "\\|");
            let _ = writeln!(text, "| {} | {} | {what} | {built} | {tests} |", row.id, row.surface);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use xtask::repository::SourceFile;

    fn ledger() -> Ledger {
        ledger::parse(
            "[[section]]\ntitle = \"Gate\"\nsurface = \"gateway\"\nrows = [\n{ id = \"GW01\", what = \"first\", built = true },\n\
             { id = \"GW02\", what = \"second\" },\n]\n",
        )
        .unwrap()
    }

    fn judge(source: &str) -> Vec<String> {
        let ledger = ledger();
        let file = SourceFile { path: "crates/gateway/tests/gate.rs".to_owned(), text: source.to_owned() };
        let mentions = scan::mentions(&file, &ledger);
        complaints(&ledger, &by_row(&ledger, &mentions), &mentions)
    }

    #[test]
    fn a_built_row_needs_a_test_and_a_planned_one_does_not() {
        assert_eq!(judge(""), ["row GW01 is built and no test pins it: first"]);
        assert!(judge("/// row GW01\n#[test]\nfn opens() {}\n").is_empty());
    }

    #[test]
    fn a_test_that_names_an_unknown_row_is_refused() {
        let complaints = judge("/// row GW01, GW77\n#[test]\nfn opens() {}\n");
        assert_eq!(complaints, ["crates/gateway/tests/gate.rs::opens names row GW77, which does not exist"]);
    }

    #[test]
    fn the_page_lists_each_row_with_its_tests() {
        let ledger = ledger();
        let file = SourceFile {
            path: "crates/gateway/tests/gate.rs".to_owned(),
            text: "/// row GW01\n#[test]\nfn opens() {}\n".to_owned(),
        };
        let mentions = scan::mentions(&file, &ledger);
        let page = markdown(&ledger, &by_row(&ledger, &mentions));
        assert!(page.contains("| GW01 | gateway | first | yes | `crates/gateway/tests/gate.rs::opens` |"), "{page}");
        assert!(page.contains("| GW02 | gateway | second |  |  |"), "{page}");
    }
}
