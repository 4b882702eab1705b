//! The list of rows in `xtask/rows.toml`.

use std::collections::BTreeSet;
use std::path::Path;

use xtask::process::{Failure, Outcome};

/// All rows, in the order of the file.
#[derive(Debug)]
pub(crate) struct Ledger {
    /// In the order of the file.
    pub(crate) sections: Vec<Section>,
}

/// A heading with its rows.
#[derive(Debug)]
pub(crate) struct Section {
    /// Heading.
    pub(crate) title: String,
    /// In the order of the file.
    pub(crate) rows: Vec<Row>,
}

/// One row of the specification.
#[derive(Debug)]
pub(crate) struct Row {
    /// Two capital letters and two digits.
    pub(crate) id: String,
    /// The part that serves it: a crate or a surface.
    pub(crate) surface: String,
    /// Reminder of what it asks.
    pub(crate) what: String,
    /// The surface stands, so a test must pin the row.
    pub(crate) built: bool,
}

impl Ledger {
    /// All rows, in order.
    pub(crate) fn rows(&self) -> impl Iterator<Item = &Row> {
        self.sections.iter().flat_map(|section| &section.rows)
    }

    /// True when some row starts with these two letters.
    pub(crate) fn has_prefix(&self, prefix: &str) -> bool {
        self.rows().any(|row| row.id.starts_with(prefix))
    }
}

/// True for the form of an id: two capital letters and two digits.
pub(crate) fn is_row_id(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes.len() == 4 && bytes[..2].iter().all(u8::is_ascii_uppercase) && bytes[2..].iter().all(u8::is_ascii_digit)
}

/// Reads the committed list.
pub(crate) fn read(root: &Path) -> Outcome<Ledger> {
    let path = root.join("xtask/rows.toml");
    let text = std::fs::read_to_string(&path)
        .map_err(|error| Failure::new(format!("{} cannot be read: {error}", path.display())))?;
    parse(&text)
}

/// Understands the list; a malformed or repeated id is refused.
pub(crate) fn parse(text: &str) -> Outcome<Ledger> {
    let refuse = |what: String| Failure::new(format!("xtask/rows.toml: {what}"));
    let table: toml::Table = text.parse().map_err(|error| refuse(format!("not TOML: {error}")))?;
    let listed = table.get("section").and_then(toml::Value::as_array).ok_or_else(|| refuse("no section".to_owned()))?;
    let mut seen = BTreeSet::new();
    let mut sections = Vec::new();
    for section in listed {
        let title = text_of(section, "title").ok_or_else(|| refuse("a section without a title".to_owned()))?;
        let rows = section.get("rows").and_then(toml::Value::as_array);
        let rows = rows.ok_or_else(|| refuse(format!("section {title} has no rows")))?;
        let built_here = section.get("built").and_then(toml::Value::as_bool).unwrap_or(false);
        let mut read = Vec::new();
        for row in rows {
            let id = text_of(row, "id").unwrap_or_default();
            if !is_row_id(&id) || !seen.insert(id.clone()) {
                return Err(refuse(format!("the id `{id}` in {title} is malformed or stands twice")));
            }
            let surface = text_of(row, "surface").or_else(|| text_of(section, "surface"));
            let (Some(what), Some(surface)) = (text_of(row, "what"), surface) else {
                return Err(refuse(format!("row {id} needs `what` and a `surface`")));
            };
            let built = row.get("built").and_then(toml::Value::as_bool).unwrap_or(built_here);
            read.push(Row { id, surface, what, built });
        }
        sections.push(Section { title, rows: read });
    }
    Ok(Ledger { sections })
}

fn text_of(value: &toml::Value, key: &str) -> Option<String> {
    value.get(key).and_then(toml::Value::as_str).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_lends_its_surface_and_state_to_its_rows() {
        let text = "[[section]]\ntitle = \"T\"\nsurface = \"s\"\nbuilt = true\n\
                    rows = [{ id = \"AA01\", what = \"w\" }, { id = \"AA02\", what = \"w\", built = false, surface = \"o\" }]";
        let ledger = parse(text).unwrap();
        let rows: Vec<_> = ledger.rows().map(|row| (row.id.as_str(), row.surface.as_str(), row.built)).collect();
        assert_eq!(rows, [("AA01", "s", true), ("AA02", "o", false)]);
        assert!(ledger.has_prefix("AA") && !ledger.has_prefix("AB"));
    }

    #[test]
    fn a_repeated_or_malformed_id_is_refused() {
        for rows in
            ["{ id = \"AA01\", what = \"w\" }, { id = \"AA01\", what = \"w\" }", "{ id = \"A1\", what = \"w\" }"]
        {
            let text = format!("[[section]]\ntitle = \"T\"\nsurface = \"s\"\nrows = [{rows}]");
            assert!(parse(&text).unwrap_err().to_string().contains("malformed or stands twice"));
        }
    }

    #[test]
    fn the_committed_list_is_well_formed() {
        let ledger = read(&xtask::repository::root()).unwrap();
        assert!(ledger.rows().count() > 200);
    }
}
