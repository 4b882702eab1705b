//! What a comment cites stands in the repository: pages that a reader can open, and for each section of the protocol its
//! place on one.

use super::Finding;
use xtask::repository::SourceFile;

/// Where the pages are whose sections comments cite as `protocol` and a number, `B` in front.
const PAGES: &str = "docs/protocol/";

/// What stands between the numbers of one citation.
const BETWEEN: &[&str] = &[", ", " and ", RANGE, "; "];

/// Between two numbers of whole sections it cites the sections between as well.
const RANGE: &str = " to ";

/// Pages of `docs/decisions/` have numbers of so many digits.
const DECISION_DIGITS: usize = 4;

pub(super) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let pages = files.iter().filter(|file| file.path.starts_with(PAGES) && file.extension() == Some("md"));
    let pages: Vec<Page<'_>> = pages.map(|file| Page::new(&file.text)).collect();
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.is_rust()) {
        for comment in comments(&file.text) {
            let at = |offset, what: String| Finding::at(&file.path, comment.line(offset), what);
            for (offset, what) in notes(&comment.text) {
                let what = format!("`{what}` is not in the repository: cite a page, or say the rule itself");
                findings.push(at(offset, what));
            }
            for (offset, number) in sections(&comment.text) {
                if !pages.iter().any(|page| page.holds(&number)) {
                    findings.push(at(offset, format!("no page below {PAGES} has protocol {number}")));
                }
            }
        }
    }
    findings
}

/// A page of the protocol.
struct Page<'f> {
    text: &'f str,
    /// Numbers of the headings `## B5. …`.
    sections: Vec<&'f str>,
}

impl<'f> Page<'f> {
    fn new(text: &'f str) -> Self {
        let headings = text.lines().filter_map(|line| line.strip_prefix("## "));
        let numbers = headings.filter_map(|heading| {
            let number = number(heading)?;
            heading[number.len()..].starts_with('.').then_some(number)
        });
        Self { text, sections: numbers.collect() }
    }

    /// Whether it has the section, and for the number of a part also the part.
    fn holds(&self, number: &str) -> bool {
        let section = number.split('.').next().unwrap_or(number);
        self.sections.contains(&section) && (section == number || self.names(number))
    }

    fn names(&self, part: &str) -> bool {
        self.text.match_indices('B').any(|(offset, _)| number(&self.text[offset..]) == Some(part))
    }
}

/// Lines of comment that follow each other, as one text, so that a citation may go on in the next line.
struct Comment {
    text: String,
    /// Where in the text each line of the file begins, with its index.
    lines: Vec<(usize, usize)>,
}

impl Comment {
    /// Index of the line that contains an offset of the text.
    fn line(&self, offset: usize) -> usize {
        self.lines.iter().rev().find(|(begin, _)| *begin <= offset).map_or(0, |(_, index)| *index)
    }
}

fn comments(source: &str) -> Vec<Comment> {
    let mut comments: Vec<Comment> = Vec::new();
    let mut goes_on = false;
    for (index, line) in source.lines().enumerate() {
        let Some((code, said)) = split(line) else {
            goes_on = false;
            continue;
        };
        match comments.last_mut() {
            Some(comment) if goes_on && code.trim().is_empty() => {
                comment.text.push(' ');
                comment.lines.push((comment.text.len(), index));
                comment.text.push_str(said);
            }
            _ => comments.push(Comment { text: said.to_owned(), lines: vec![(0, index)] }),
        }
        goes_on = true;
    }
    comments
}

/// The code of a line and what its comment says. Two slashes without white space before them are part of an address.
fn split(line: &str) -> Option<(&str, &str)> {
    let mut slashes = line.match_indices("//").map(|(offset, _)| offset);
    let begin = slashes.find(|offset| *offset == 0 || line[..*offset].ends_with([' ', '\t']))?;
    let (code, comment) = line.split_at(begin);
    Some((code, comment.trim_start_matches(['/', '!']).trim()))
}

/// Where a comment cites notes that are not in the repository, and how.
fn notes(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (offset, word) in text.match_indices("seed ") {
        let rest = &text[offset + word.len()..];
        let is_named = rest.starts_with(['A', 'B']);
        if is_named && !rest[1..].starts_with(|next: char| next.is_alphanumeric() || next == '_') {
            found.push((offset, &text[offset..=offset + word.len()]));
        }
    }
    for (offset, word) in text.match_indices("decisions") {
        let rest = &text[offset + word.len()..];
        let Some(rest) = rest.strip_prefix('`').unwrap_or(rest).strip_prefix(' ') else { continue };
        let count = digits(rest);
        let is_page = count == DECISION_DIGITS && digits(rest[count..].strip_prefix('.').unwrap_or_default()) == 0;
        if count > 0 && !is_page {
            found.push((offset, word));
        }
    }
    for words in ["`research`", "research on "] {
        found.extend(text.match_indices(words).map(|(offset, _)| (offset, "research")));
    }
    found
}

/// The sections that a comment cites and where: one, several with [`BETWEEN`] between them, whole ranges.
fn sections(text: &str) -> Vec<(usize, String)> {
    let mut cited = Vec::new();
    for (begin, word) in text.match_indices("rotocol ") {
        let mut offset = begin + word.len();
        let mut first: Option<u32> = None;
        while let Some(number) = number(&text[offset..]) {
            let whole: Option<u32> = number[1..].parse().ok();
            if let (Some(first), Some(last)) = (first, whole) {
                cited.extend((first + 1..last).map(|between| (offset, format!("B{between}"))));
            }
            cited.push((offset, number.to_owned()));
            offset += number.len();
            let Some(between) = BETWEEN.iter().find(|between| text[offset..].starts_with(**between)) else { break };
            offset += between.len();
            first = whole.filter(|_| *between == RANGE);
        }
    }
    cited
}

/// The number with which a text begins: that of a section, or that of a part of one, which has a dot, a number and
/// perhaps a letter behind it.
fn number(text: &str) -> Option<&str> {
    let count = digits(text.strip_prefix('B')?);
    if count == 0 {
        return None;
    }
    let mut end = 1 + count;
    while let Some(part) = text[end..].strip_prefix('.') {
        let count = digits(part);
        if count == 0 {
            break;
        }
        let letters = part[count..].bytes().take_while(u8::is_ascii_lowercase).count();
        end += 1 + count + letters;
    }
    Some(&text[..end])
}

/// How many digits a text begins with.
fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::sample;

    const PAGE: &str =
        "# The ledger\n\n## B5. Sheets\n\n- **B5.6b** An edict. See B6.1.\n\n## B9. Machine\n\n### B10. Part\n";

    fn judge(comment: &str) -> Vec<String> {
        let files = [sample("crates/a/src/lib.rs", comment), sample("docs/protocol/ledger.md", PAGE)];
        check(&files).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn citations_of_missing_notes_are_found() {
        for cited in [
            "seed A",
            "seed B, Limits",
            "decisions 12.6",
            "`decisions` 4.8",
            "`decisions` 10",
            "decisions 2026.1",
            "`research` 14",
            "research on the AMM",
        ] {
            let found = judge(&format!("fn open() {{}}\n\n/// One key ({cited}).\nfn close() {{}}\n"));
            assert_eq!(found.len(), 1, "{cited}: {found:?}");
            assert!(found[0].starts_with("crates/a/src/lib.rs:3: "), "{found:?}");
        }
    }

    #[test]
    fn a_citation_is_found_behind_code_and_over_two_lines() {
        assert_eq!(judge(concat!("fn open() {} /", "/ seed A\n")).len(), 1);
        let found = judge("//! One key (seed\n//! B). As the seed\n//! Another wrote (decisions\n//! 4.8).\n");
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("crates/a/src/lib.rs:1: `seed B`"), "{found:?}");
        assert!(found[1].starts_with("crates/a/src/lib.rs:3: `decisions`"), "{found:?}");
    }

    #[test]
    fn pages_of_the_repository_and_other_seeds_are_none() {
        for said in [
            "(docs/decisions/0018-brc20-as-opi-has-it.md)",
            "decisions 0011 and 0038.",
            "of the seed `B`, the same seed Another",
            "5 decisions",
            "seed\n\n/// A text.",
        ] {
            assert_eq!(judge(&format!("/// {said}\n")), [""; 0], "{said}");
        }
        assert_eq!(judge("const URL: &str = \"https://example.org/seed A\";\n"), [""; 0]);
        assert_eq!(judge("fn open(seed: u64) { let decisions = [\"decisions 1\"]; }\n"), [""; 0]);
    }

    #[test]
    fn a_section_that_no_page_has_is_found() {
        for (said, missing) in [
            ("protocol B5", ""),
            ("Protocol B5.6b. And so on", ""),
            ("protocol B5, B9 and B5.6b", ""),
            ("protocol B6", "B6"),
            ("protocol B6.1", "B6.1"),
            ("protocol B5.6", "B5.6"),
            ("protocol B5.6c", "B5.6c"),
            ("protocol B10", "B10"),
            ("protocol B5, B7", "B7"),
            ("protocol B5; B7", "B7"),
            ("protocol B5 and B5.7", "B5.7"),
            ("protocol\n/// B7", "B7"),
        ] {
            let found = judge(&format!("/// Rules ({said}).\n"));
            if missing.is_empty() {
                assert_eq!(found, [""; 0], "{said}");
            } else {
                assert_eq!(found.len(), 1, "{said}: {found:?}");
                assert!(found[0].ends_with(&format!("has protocol {missing}")), "{said}: {found:?}");
            }
        }
    }

    #[test]
    fn a_range_cites_every_section_between() {
        let found = judge("/// Rules (protocol B5 to B9).\n");
        assert_eq!(found.len(), 3, "{found:?}");
        let cited = sections("protocol B5.6 to B5.9, B1 to 5").into_iter().map(|(_, number)| number);
        assert_eq!(cited.collect::<Vec<_>>(), ["B5.6", "B5.9", "B1"]);
    }

    #[test]
    fn without_pages_every_section_is_missing() {
        let files = [sample("crates/a/src/lib.rs", "/// Rules (protocol B5).\n"), sample("docs/ledger.md", PAGE)];
        assert_eq!(check(&files).len(), 1);
    }
}
