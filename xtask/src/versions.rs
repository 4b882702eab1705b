//! The pinned versions of `xtask/versions.toml`.

use std::path::Path;

use crate::process::{Failure, Outcome};

/// Value of `key` in the section `tool`.
///
/// # Errors
/// The file cannot be read, or lacks the value.
pub fn pinned(root: &Path, tool: &str, key: &str) -> Outcome<String> {
    let path = root.join("xtask/versions.toml");
    let text = std::fs::read_to_string(&path)
        .map_err(|error| Failure::new(format!("{} cannot be read: {error}", path.display())))?;
    read(&text, tool, key)
}

/// The texts of the list `key` in the section `tool`.
///
/// # Errors
/// The file cannot be read, or lacks the list.
pub fn pinned_list(root: &Path, tool: &str, key: &str) -> Outcome<Vec<String>> {
    let path = root.join("xtask/versions.toml");
    let text = std::fs::read_to_string(&path)
        .map_err(|error| Failure::new(format!("{} cannot be read: {error}", path.display())))?;
    read_list(&text, tool, key)
}

fn read_list(text: &str, tool: &str, key: &str) -> Outcome<Vec<String>> {
    let table: toml::Table =
        text.parse().map_err(|error| Failure::new(format!("xtask/versions.toml is not TOML: {error}")))?;
    let list = table.get(tool).and_then(|section| section.get(key)).and_then(toml::Value::as_array);
    let texts = list.and_then(|list| list.iter().map(|text| text.as_str().map(str::to_owned)).collect());
    texts.ok_or_else(|| Failure::new(format!("xtask/versions.toml lacks the list `{key}` under [{tool}]")))
}

fn read(text: &str, tool: &str, key: &str) -> Outcome<String> {
    let table: toml::Table =
        text.parse().map_err(|error| Failure::new(format!("xtask/versions.toml is not TOML: {error}")))?;
    let value = table.get(tool).and_then(|section| section.get(key)).and_then(toml::Value::as_str);
    value.map(str::to_owned).ok_or_else(|| Failure::new(format!("xtask/versions.toml lacks `{key}` under [{tool}]")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_read_and_a_missing_one_is_named() {
        let text = "[cargo-deny]\nversion = \"1.2.3\"\n";
        assert_eq!(read(text, "cargo-deny", "version").unwrap(), "1.2.3");
        assert!(read(text, "ord", "version").unwrap_err().to_string().contains("[ord]"));
        let text = "[tool]\nwith = [\"a==1\", \"b==2\"]\nother = [1]\n";
        assert_eq!(read_list(text, "tool", "with").unwrap(), ["a==1", "b==2"]);
        for key in ["other", "none"] {
            assert!(read_list(text, "tool", key).unwrap_err().to_string().contains("[tool]"));
        }
    }
}
