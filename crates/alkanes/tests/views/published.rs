//! The published `.proto` files and the messages of this crate are the same, field by field.

use std::collections::BTreeMap;

/// Number, type, and whether there may be many.
type Field = (u32, String, bool);

/// The messages of a `.proto` file. Members of a `oneof` are fields of their message, as on the wire.
fn published(text: &str) -> BTreeMap<String, Vec<Field>> {
    let mut messages = BTreeMap::new();
    let mut open: Option<(String, Vec<Field>)> = None;
    let mut in_oneof = false;
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with("//") && !line.is_empty()) {
        let words: Vec<&str> = line.trim_end_matches(';').split_whitespace().collect();
        match words.as_slice() {
            ["syntax", ..] | ["package", _] => {}
            ["message" | "enum", name, "{"] => open = Some(((*name).to_owned(), Vec::new())),
            ["oneof", _, "{"] => in_oneof = true,
            ["}"] if in_oneof => in_oneof = false,
            ["}"] => {
                let (name, mut fields) = open.take().unwrap();
                fields.sort();
                messages.insert(name, fields);
            }
            ["repeated", kind, _, "=", number] => {
                open.as_mut().unwrap().1.push((number.parse().unwrap(), (*kind).to_owned(), true));
            }
            [kind, _, "=", number] => {
                open.as_mut().unwrap().1.push((number.parse().unwrap(), (*kind).to_owned(), false));
            }
            [_, "=", number] => {
                open.as_mut().unwrap().1.push((number.parse().unwrap(), "value".to_owned(), false));
            }
            other => panic!("unknown line in a .proto file: {other:?}"),
        }
    }
    messages
}

/// The messages of a file of ours, read from the attributes that make them.
fn built(text: &str) -> BTreeMap<String, Vec<Field>> {
    let mut messages: BTreeMap<String, Vec<Field>> = BTreeMap::new();
    let mut name = String::new();
    let mut attribute = String::new();
    for line in text.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix("pub struct ").or_else(|| line.strip_prefix("pub enum ")) {
            rest.trim_end_matches('{').trim().clone_into(&mut name);
            // The steps of a trace are a `oneof`: fields of the message that holds it.
            if name == "AlkanesTraceEventKind" {
                "AlkanesTraceEvent".clone_into(&mut name);
            }
            messages.entry(name.clone()).or_default();
        } else if let Some(rest) = line.strip_prefix("#[prost(") {
            rest.trim_end_matches(")]").clone_into(&mut attribute);
        } else if !attribute.is_empty() {
            if !attribute.starts_with("oneof") {
                let number = attribute.split("tag = \"").nth(1).unwrap().split('"').next().unwrap();
                let inner =
                    |text: &str| text.trim_end_matches([',', '>', ')']).rsplit(['<', '(']).next().unwrap().to_owned();
                let kind = if attribute.starts_with("message") {
                    inner(line)
                } else if let Some(rest) = attribute.strip_prefix("enumeration = \"") {
                    rest.split('"').next().unwrap().to_owned()
                } else {
                    attribute.split([',', ' ']).next().unwrap().to_owned()
                };
                let kind = if kind == "Uint128" { "uint128".to_owned() } else { kind };
                let many = attribute.contains("repeated");
                messages.get_mut(&name).unwrap().push((number.parse().unwrap(), kind, many));
            }
            attribute.clear();
        } else if let Some((variant, number)) = line.trim_end_matches(',').split_once(" = ")
            && variant.chars().all(char::is_alphanumeric)
            && let Ok(number) = number.parse()
        {
            messages.get_mut(&name).unwrap().push((number, "value".to_owned(), false));
        }
    }
    for fields in messages.values_mut() {
        fields.sort();
    }
    if let Some(fields) = messages.remove("Uint128") {
        messages.insert("uint128".to_owned(), fields);
    }
    messages
}

/// row MR09
#[test]
fn the_published_files_and_our_messages_are_the_same() {
    let mut ours = built(include_str!("../../src/proto/alkanes.rs"));
    assert!(ours.len() > 40 && ours["MessageContextParcel"].len() == 9, "the reader of this test has lost its way");
    assert_eq!(published(include_str!("../../../../proto/alkanes.proto")), ours);
    // These two are shared.
    let shared = ["uint128", "Outpoint"].map(|name| (name.to_owned(), ours.remove(name).unwrap()));
    let mut ours = built(include_str!("../../src/proto/protorune.rs"));
    ours.extend(shared);
    assert_eq!(published(include_str!("../../../../proto/protorune.proto")), ours);
}
