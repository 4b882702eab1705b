//! `paraffin call help`: what the methods of an instance are, in its own words.

use std::fmt::Write as _;

use serde_json::Value;

use crate::client::{CallError, Client};

/// The word that stands for it.
pub(super) const HELP: &str = "help";

/// The description of the main endpoint.
const MAIN: &str = "/v4/openrpc.json";

/// All methods with a line for each; with `wanted` those whose names contain it, and one that is named whole in full.
///
/// # Errors
/// The instance does not answer, or has no such method.
pub(super) async fn run(client: &Client, wanted: Option<&str>) -> Result<String, CallError> {
    let main = client.description(MAIN).await?;
    let mut documents = vec![(None, main)];
    let paths: Vec<String> = texts(&documents[0].1["x-surfaces"]).map(str::to_owned).collect();
    for path in paths {
        let name = path.rsplit('/').next().and_then(|file| file.strip_suffix(".json")).map(str::to_owned);
        documents.push((name, client.description(&path).await?));
    }
    let page = match wanted {
        Some(name) => one(&documents, name).unwrap_or_else(|| list(&documents, name)),
        None => list(&documents, ""),
    };
    if page.is_empty() {
        let sentence = format!("there is no method `{}`; `paraffin call help` lists all", wanted.unwrap_or_default());
        return Err(CallError::Parameter(sentence));
    }
    Ok(page)
}

type Document = (Option<String>, Value);

fn texts(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

fn methods(document: &Value) -> impl Iterator<Item = &Value> {
    document["methods"].as_array().into_iter().flatten().filter(|method| method["name"] != "rpc.discover")
}

/// How a method is named on the command line.
fn command(surface: Option<&String>, method: &Value) -> String {
    let name = method["name"].as_str().unwrap_or_default();
    surface.map_or_else(|| name.to_owned(), |surface| format!("{surface} {name}"))
}

fn list(documents: &[Document], part: &str) -> String {
    let mut page = String::new();
    for (surface, document) in documents {
        for method in methods(document) {
            let command = command(surface.as_ref(), method);
            if command.contains(part) {
                let _ = writeln!(page, "{command:<46} {}", method["summary"].as_str().unwrap_or_default());
            }
        }
    }
    page.trim_end().to_owned()
}

fn one(documents: &[Document], name: &str) -> Option<String> {
    let of = |(surface, document): &'_ Document| {
        let found = methods(document)
            .find(|method| method["name"] == name || texts(&method["x-aliases"]).any(|alias| alias == name))?;
        Some((surface.clone(), found.clone()))
    };
    let (surface, method) = documents.iter().find_map(of)?;
    let mut page =
        format!("{}\n\n{}\n", command(surface.as_ref(), &method), method["summary"].as_str().unwrap_or_default());
    if let Some(more) = method["description"].as_str() {
        let _ = writeln!(page, "{more}");
    }
    let params = method["params"].as_array().cloned().unwrap_or_default();
    for param in &params {
        let optional = if param["required"] == true { "" } else { "?" };
        let name = format!("{}{optional}", param["name"].as_str().unwrap_or_default());
        let text = param["description"].as_str().unwrap_or_default().replace('\n', " ");
        let _ = write!(page, "\n  {name:<20} {text}");
    }
    let values = method["examples"][0]["params"].as_array().cloned().unwrap_or_default();
    let written = |value: &Value| match value {
        Value::String(text) => text.clone(),
        list @ (Value::Array(_) | Value::Object(_)) => format!("'{list}'"),
        other => other.to_string(),
    };
    let arguments = values.iter().map(|param| match &surface {
        Some(_) if method["paramStructure"] == "by-name" => {
            format!("{}={}", param["name"].as_str().unwrap_or_default(), written(&param["value"]))
        }
        _ => written(&param["value"]),
    });
    let arguments: Vec<String> = arguments.collect();
    if !method["examples"].is_null() {
        let command = command(surface.as_ref(), &method);
        let _ = write!(page, "\n\n  paraffin call {command} {}", arguments.join(" "));
    }
    Some(page.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn documents() -> Vec<Document> {
        let height = json!({ "name": "btc_getblockcount", "summary": "A height", "params": [] });
        let rates = json!({
            "name": "forex_rates",
            "summary": "What a currency costs",
            "paramStructure": "by-name",
            "params": [
                { "name": "base", "required": false, "description": "The currency\nthat is one" },
                { "name": "quotes", "required": true, "description": "The others" },
            ],
            "examples": [{ "params": [{ "name": "base", "value": "EUR" }, { "name": "quotes", "value": ["USD"] }] }],
        });
        vec![(None, json!({ "methods": [height] })), (Some("forex".to_owned()), json!({ "methods": [rates] }))]
    }

    #[test]
    fn methods_are_listed_with_what_they_are_for() {
        let all = list(&documents(), "");
        assert_eq!(all.lines().count(), 2);
        assert!(all.starts_with("btc_getblockcount  ") && all.ends_with(" What a currency costs"), "{all}");
        assert_eq!(list(&documents(), "forex").lines().count(), 1);
        assert_eq!(list(&documents(), "nothing"), "");
    }

    #[test]
    fn one_method_is_described_with_a_command_that_calls_it() {
        let page = one(&documents(), "forex_rates").unwrap();
        assert!(page.starts_with("forex forex_rates\n\nWhat a currency costs\n\n  base?  "), "{page}");
        assert!(page.contains("The currency that is one\n  quotes  "), "{page}");
        assert!(page.ends_with("\n\n  paraffin call forex forex_rates base=EUR quotes='[\"USD\"]'"), "{page}");
        assert_eq!(one(&documents(), "btc_getblockcount").unwrap(), "btc_getblockcount\n\nA height");
        assert_eq!(one(&documents(), "nothing"), None);
    }
}
