//! Finds the tests of a source file and the row ids that they name.
//!
//! A row is named by a test when its id stands, after the word `row` or `rows`, in the doc lines directly above the test
//! function, or as a part of the function's name. A mention anywhere else (a comment in a body, a doc line above an ordinary
//! function, an ignored test) pins nothing.

use super::ledger::{Ledger, is_row_id};
use xtask::repository::SourceFile;

/// A row id named by a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mention {
    /// The id, capital letters.
    pub(crate) id: String,
    path: String,
    function: String,
}

impl Mention {
    /// The test as `path::function`.
    pub(crate) fn test(&self) -> String {
        format!("{}::{}", self.path, self.function)
    }
}

/// Every mention in one file: Rust anywhere, Python below a `tests` folder.
pub(crate) fn mentions(file: &SourceFile, ledger: &Ledger) -> Vec<Mention> {
    let mut mentions = Vec::new();
    let found = if file.is_rust() {
        rust_tests(&file.text)
    } else if file.extension() == Some("py") {
        python_tests(&file.text)
    } else {
        return mentions;
    };
    for test in found {
        let mut ids = ids_after_row(&test.doc);
        ids.extend(ids_in_name(&test.function, ledger));
        ids.sort();
        ids.dedup();
        mentions.extend(ids.into_iter().map(|id| Mention {
            id,
            path: file.path.clone(),
            function: test.function.clone(),
        }));
    }
    mentions
}

/// A test function with the comment directly above it.
#[derive(Debug, Default)]
struct Test {
    doc: String,
    function: String,
}

fn rust_tests(text: &str) -> Vec<Test> {
    let mut tests = Vec::new();
    let mut doc = String::new();
    let mut attributes = String::new();
    let mut open_brackets = 0_i32;
    for line in text.lines().map(str::trim) {
        if open_brackets > 0 || line.starts_with("#[") {
            attributes.push_str(line);
            attributes.push('\n');
            open_brackets += balance(line);
            // `#[test] fn name()` on one line, as short macros write it.
            if open_brackets == 0
                && let Some((_, rest)) = line.rsplit_once(']')
                && let Some(function) = function_name(rest.trim())
            {
                keep(&mut tests, &mut doc, &mut attributes, function);
            }
        } else if let Some(comment) = line.strip_prefix("///") {
            doc.push_str(comment);
            doc.push('\n');
        } else if line.starts_with("//") {
            // An ordinary comment neither names a row nor parts a doc line from its function.
        } else {
            if let Some(function) = function_name(line) {
                keep(&mut tests, &mut doc, &mut attributes, function);
            }
            doc.clear();
            attributes.clear();
        }
    }
    tests
}

fn keep(tests: &mut Vec<Test>, doc: &mut String, attributes: &mut String, function: &str) {
    if is_test(attributes) {
        tests.push(Test { doc: std::mem::take(doc), function: function.to_owned() });
    }
    doc.clear();
    attributes.clear();
}

fn balance(line: &str) -> i32 {
    line.chars().fold(0, |depth, letter| match letter {
        '[' => depth + 1,
        ']' => depth - 1,
        _ => depth,
    })
}

/// `#[test]`, `#[tokio::test]`, with or without arguments; an ignored test does not run and so does not count.
fn is_test(attributes: &str) -> bool {
    let mut names = attributes.split("#[").skip(1).map(|rest| {
        let end = rest.find(|letter: char| !(letter.is_alphanumeric() || letter == '_' || letter == ':'));
        rest[..end.unwrap_or(rest.len())].rsplit("::").next().unwrap_or_default()
    });
    let ignored = names.clone().any(|name| name == "ignore");
    !ignored && names.any(|name| name == "test")
}

fn function_name(line: &str) -> Option<&str> {
    let mut rest = line;
    for word in ["pub(crate) ", "pub ", "const ", "async "] {
        rest = rest.strip_prefix(word).unwrap_or(rest);
    }
    let name = rest.strip_prefix("fn ")?;
    let end = name.find(|letter: char| !(letter.is_alphanumeric() || letter == '_'))?;
    Some(&name[..end])
}

fn python_tests(text: &str) -> Vec<Test> {
    let mut tests = Vec::new();
    let mut doc = String::new();
    for line in text.lines().map(str::trim) {
        if let Some(comment) = line.strip_prefix('#') {
            doc.push_str(comment);
            doc.push('\n');
            continue;
        }
        if line.starts_with('@') {
            continue;
        }
        let name = line.strip_prefix("async ").unwrap_or(line).strip_prefix("def ");
        if let Some(name) = name.filter(|name| name.starts_with("test_")) {
            let function = name.split('(').next().unwrap_or(name).trim().to_owned();
            tests.push(Test { doc: doc.clone(), function });
        }
        doc.clear();
    }
    tests
}

/// The ids in `… row GW01, GW02 and GW03 …`: whatever follows the word until something that is neither an id nor a joint.
fn ids_after_row(doc: &str) -> Vec<String> {
    let mut ids = Vec::new();
    for line in doc.lines() {
        let mut listing = false;
        for word in line.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()) {
            if matches!(word, "row" | "rows" | "Row" | "Rows") {
                listing = true;
            } else if listing && is_row_id(word) {
                ids.push(word.to_owned());
            } else if word != "and" {
                listing = false;
            }
        }
    }
    ids
}

/// The ids among the parts of `gw14_invalid_json_is_a_parse_error`. A part that merely looks like an id (`be32`) is left
/// alone unless its letters are those of a section.
fn ids_in_name(function: &str, ledger: &Ledger) -> Vec<String> {
    let parts = function.split('_').map(str::to_ascii_uppercase);
    parts.filter(|part| is_row_id(part) && ledger.has_prefix(&part[..2])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::ledger;

    fn named(path: &str, source: &str) -> Vec<(String, String)> {
        let text = "[[section]]\ntitle = \"T\"\nsurface = \"s\"\nrows = [{ id = \"GW01\", what = \"w\" }]";
        let file = SourceFile { path: path.to_owned(), text: source.to_owned() };
        let found = mentions(&file, &ledger::parse(text).unwrap());
        found.into_iter().map(|mention| (mention.id, mention.function)).collect()
    }

    fn rust(source: &str) -> Vec<(String, String)> {
        named("crates/a/src/lib.rs", source)
    }

    fn pair(id: &str, function: &str) -> (String, String) {
        (id.to_owned(), function.to_owned())
    }

    #[test]
    fn a_doc_line_above_a_test_counts_whatever_the_kind_of_test() {
        for attribute in
            ["#[test]", "#[tokio::test]", "#[tokio::test(flavor = \"multi_thread\")]", "#[should_panic]\n#[test]"]
        {
            for function in ["fn opens() {", "async fn opens() -> Result<(), E> {", "fn opens(a in 0..9u8) {"] {
                let source = format!("/// Story.\n/// row GW01\n{attribute}\n{function}\n}}\n");
                assert_eq!(rust(&source), [pair("GW01", "opens")], "{source}");
            }
        }
    }

    #[test]
    fn several_rows_stand_in_one_line() {
        let source = "/// Pins rows GW01, GW02 and GW03 (not GX04).\n#[test]\nfn opens() {}\n";
        assert_eq!(rust(source), [pair("GW01", "opens"), pair("GW02", "opens"), pair("GW03", "opens")]);
    }

    #[test]
    fn a_mention_that_is_not_above_a_test_counts_for_nothing() {
        for source in [
            "/// row GW01\nfn ordinary() {}\n",
            "#[test]\nfn opens() {\n    // row GW01\n    let a = 1;\n}\n",
            "/// row GW01\nconst LIMIT: u8 = 1;\n#[test]\nfn opens() {}\n",
            "/// row GW01\n\n#[test]\nfn opens() {}\n",
            "// row GW01\n#[test]\nfn opens() {}\n",
            "//! row GW01\n#[test]\nfn opens() {}\n",
            "/// row GW01\n#[ignore = \"slow\"]\n#[test]\nfn opens() {}\n",
            "/// row GW01\n#[cfg(test)]\nfn opens() {}\n",
            "/// GW01\n#[test]\nfn opens() {}\n",
        ] {
            assert_eq!(rust(source), [], "{source}");
        }
    }

    #[test]
    fn the_name_of_a_test_counts() {
        assert_eq!(rust("#[test]\nfn gw01_opens() {}\n"), [pair("GW01", "gw01_opens")]);
        assert_eq!(rust("#[test] fn opens_gw01() {}\n"), [pair("GW01", "opens_gw01")]);
        assert_eq!(rust("fn gw01_opens() {}\n"), []);
        assert_eq!(rust("#[test]\nfn reads_be32() {}\n"), []);
    }

    #[test]
    fn an_unknown_id_is_reported_so_that_it_can_be_refused() {
        assert_eq!(rust("/// row ZZ99\n#[test]\nfn opens() {}\n"), [pair("ZZ99", "opens")]);
        assert_eq!(rust("#[test]\nfn gw98_opens() {}\n"), [pair("GW98", "gw98_opens")]);
    }

    #[test]
    fn an_attribute_over_several_lines_is_one_attribute() {
        let source = "/// row GW01\n#[tokio::test(\n    flavor = \"multi_thread\",\n)]\nasync fn opens() {}\n";
        assert_eq!(rust(source), [pair("GW01", "opens")]);
    }

    #[test]
    fn python_tests_name_rows_in_the_comment_above() {
        let source =
            "# row GW01\n@slow\ndef test_opens():\n    # row GW02\n    pass\n\n# row GW03\ndef helper():\n    pass\n";
        assert_eq!(named("tests/test_gate.py", source), [pair("GW01", "test_opens")]);
    }
}
