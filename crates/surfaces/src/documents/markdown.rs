//! The page of all JSON-RPC methods, `docs/methods.md`, from the OpenRPC documents.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use crate::SURFACES;
use paraffin_gateway::describe::DISCOVER;

const HEAD: &str = "\
# Methods

Every JSON-RPC method, from its declaration in the code; an instance describes itself in the same words at `/v4/openrpc.json` and
`/v4/openrpc/<surface>.json`. `PARAFFIN_WRITE_DOCS=1 cargo nextest run -p paraffin-surfaces page_of_methods` writes this page anew.
[api.md](api.md) has what all surfaces have in common.
";

/// The type of a schema in a few words.
fn kind(schema: &Value) -> String {
    if let Some(reference) = schema["$ref"].as_str() {
        return format!("`{}`", reference.rsplit('/').next().unwrap_or_default());
    }
    if let Some(values) = schema["enum"].as_array() {
        return values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ");
    }
    if let Some(value) = schema.get("const") {
        return format!("`{value}`");
    }
    for either in ["anyOf", "oneOf"] {
        if let Some(schemas) = schema[either].as_array() {
            return schemas.iter().map(kind).collect::<Vec<_>>().join(" or ");
        }
    }
    let one = |name: &str| match name {
        "array" => match (&schema["items"], &schema["prefixItems"]) {
            (_, Value::Array(items)) => format!("[{}]", items.iter().map(kind).collect::<Vec<_>>().join(", ")),
            (items, _) => format!("array of {}", kind(items)),
        },
        "object" => match &schema["additionalProperties"] {
            values @ Value::Object(_) => format!("object by name, {}", kind(values)),
            _ => "object".to_owned(),
        },
        "integer" if schema["minimum"] == 0 => "natural number".to_owned(),
        name => name.to_owned(),
    };
    match &schema["type"] {
        Value::String(name) => one(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).map(one).collect::<Vec<_>>().join(" or "),
        _ => "any value".to_owned(),
    }
}

fn sentence(value: &Value) -> String {
    value.as_str().unwrap_or_default().replace('\n', " ").replace('|', "\\|")
}

fn write_members(page: &mut String, schema: &Value) {
    let Some(members) = schema["properties"].as_object() else { return };
    let is_required =
        |name: &str| schema["required"].as_array().is_some_and(|names| names.iter().any(|one| one == name));
    page.push_str("\n| member | type | |\n|---|---|---|\n");
    for (name, member) in members {
        let optional = if is_required(name) { "" } else { "?" };
        let _ = writeln!(page, "| `{name}`{optional} | {} | {} |", kind(member), sentence(&member["description"]));
    }
}

fn write_method(page: &mut String, method: &Value) {
    let _ =
        writeln!(page, "\n#### `{}`\n\n{}.", method["name"].as_str().unwrap_or_default(), ended(&method["summary"]));
    if let Some(more) = method["description"].as_str() {
        let _ = writeln!(page, "\n{more}");
    }
    if let Some(aliases) = method["x-aliases"].as_array() {
        let names: Vec<String> = aliases.iter().map(|name| format!("`{}`", sentence(name))).collect();
        let _ = writeln!(page, "\nAlso {}.", names.join(", "));
    }
    let params = method["params"].as_array().cloned().unwrap_or_default();
    if !params.is_empty() {
        page.push_str("\n| parameter | type | |\n|---|---|---|\n");
        for param in params {
            let optional = if param["required"] == true { "" } else { "?" };
            let text = sentence(&param["description"]);
            let _ =
                writeln!(page, "| `{}`{optional} | {} | {text} |", sentence(&param["name"]), kind(&param["schema"]));
        }
    }
    let _ = writeln!(page, "\nAnswer: {}.", kind(&method["result"]["schema"]));
    for error in method["errors"].as_array().into_iter().flatten() {
        // Those that every method has are left out.
        let (code, name) = (&error["code"], &error["data"]["code"]);
        if !name.is_null() && name != "INTERNAL_ERROR" {
            let _ = writeln!(page, "Error {code} `{}`: {}.", sentence(name), ended(&error["message"]));
        }
    }
    if let Some(params) = method["examples"][0]["params"].as_array().filter(|params| !params.is_empty()) {
        let is_positional = method["paramStructure"] == "by-position";
        let values = |params: &[Value]| {
            if is_positional {
                Value::Array(params.iter().map(|param| param["value"].clone()).collect())
            } else {
                params.iter().map(|param| (sentence(&param["name"]), param["value"].clone())).collect()
            }
        };
        let _ = writeln!(page, "Example: `{}`", values(params));
    }
}

/// A sentence without its full stop.
fn ended(text: &Value) -> String {
    sentence(text).trim_end_matches('.').to_owned()
}

fn page() -> String {
    let mut page = HEAD.to_owned();
    let main = SURFACES.openrpc();
    let others = SURFACES.described().map(|surface| {
        (format!("`/v4/<KEY>/{}`", surface.name()), serde_json::from_slice(&surface.document()).unwrap_or_default())
    });
    let surfaces = std::iter::once(("`/v4/<KEY>`, `/v4/jsonrpc`".to_owned(), main)).chain(others);
    for (path, document) in surfaces {
        let _ = writeln!(page, "\n## {path}\n\n{}", document["info"]["description"].as_str().unwrap_or_default());
        page.push_str("\n### Methods\n");
        let methods = document["methods"].as_array().cloned().unwrap_or_default();
        for method in methods.iter().filter(|method| method["name"] != DISCOVER) {
            write_method(&mut page, method);
        }
        page.push_str("\n### Objects\n");
        for (name, schema) in document["components"]["schemas"].as_object().into_iter().flatten() {
            let _ = writeln!(page, "\n`{name}`: {}. {}", kind(schema), sentence(&schema["description"]));
            write_members(&mut page, schema);
        }
    }
    let lines: Vec<&str> = page.lines().map(str::trim_end).collect();
    lines.join("\n") + "\n"
}

#[test]
fn the_page_of_methods_is_that_of_the_declarations() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/methods.md");
    let page = page();
    if std::env::var_os("PARAFFIN_WRITE_DOCS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    let first = written.lines().zip(page.lines()).find(|(written, wanted)| written != wanted);
    assert!(
        written == page,
        "docs/methods.md is not that of the declarations; its first line says how to write it: {first:?}"
    );
}
