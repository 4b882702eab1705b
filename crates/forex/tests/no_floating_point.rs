//! Rates and amounts never touch a floating-point number: the types do not even occur in the sources of this crate.
#![allow(clippy::unwrap_used, clippy::missing_panics_doc)]

use std::path::{Path, PathBuf};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Words of a text: runs of letters, digits and `_`.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
}

fn is_floating(word: &str) -> bool {
    let is_suffixed = word.starts_with(|letter: char| letter.is_ascii_digit())
        && (word.ends_with("f32") || word.ends_with("f64"))
        && !word.starts_with("0x");
    let is_call = word.ends_with("_f32") || word.ends_with("_f64");
    word == "f32" || word == "f64" || is_suffixed || is_call
}

/// row FX01
#[test]
fn no_source_of_this_crate_names_a_floating_point_type() {
    let mut found = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    assert!(found.len() > 15, "{found:?}");
    for path in found {
        let text = std::fs::read_to_string(&path).unwrap();
        let named: Vec<&str> = words(&text).filter(|word| is_floating(word)).collect();
        assert!(named.is_empty(), "{}: {named:?}", path.display());
    }
    // The check itself distinguishes them.
    assert!(["f64", "f32", "1f64", "as_f64", "mul_f64", "0_f32"].iter().all(|word| is_floating(word)));
    assert!(["0xf64", "f640", "half"].iter().all(|word| !is_floating(word)));
}
