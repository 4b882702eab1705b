//! Every figure of `docs/performance.md` has its raw rows.

use crate::tidy::Finding;
use xtask::repository::SourceFile;

const PAGE: &str = "docs/performance.md";
const RESULTS: &str = "../benches/results/";

pub(super) fn check(files: &[SourceFile]) -> Vec<Finding> {
    let Some(page) = files.iter().find(|file| file.path == PAGE) else { return Vec::new() };
    let mut findings = Vec::new();
    // A line of dashes ends the head of a table.
    let mut in_table = false;
    for (index, line) in page.text.lines().enumerate() {
        if !line.starts_with('|') {
            in_table = false;
        } else if line.starts_with("|--") || line.starts_with("| --") {
            in_table = true;
        } else if in_table {
            let links: Vec<&str> = line.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
            let rows: Vec<&str> = links.into_iter().filter_map(|link| link.strip_prefix(RESULTS)).collect();
            if rows.is_empty() {
                findings.push(Finding::at(PAGE, index, "a figure without a link to its raw rows"));
            }
            for name in rows {
                let path = format!("benches/results/{name}");
                if !files.iter().any(|file| file.path == path) {
                    findings.push(Finding::at(PAGE, index, format!("{path} is not there")));
                }
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::sample;

    #[test]
    fn a_figure_without_raw_rows_is_found() {
        let page = "| bar | rows |\n|---|---|\n| a | [a](../benches/results/a.csv) |\n| b | none |\n\
                    | c | [c](../benches/results/c.csv) |\n\n| head |\n|---|\n";
        let files = [sample(PAGE, page), sample("benches/results/a.csv", "x")];
        let findings: Vec<String> = check(&files).iter().map(ToString::to_string).collect();
        assert_eq!(findings.len(), 2, "{findings:?}");
        assert!(findings[0].contains(":4: a figure without"), "{findings:?}");
        assert!(findings[1].contains(":5: benches/results/c.csv is not there"), "{findings:?}");
    }
}
