//! `paraffin call`: one method or route of a running instance, for people and scripts.

mod btcusd;
mod help;

use serde_json::{Map, Value};

use self::btcusd::BTCUSD;
use self::help::HELP;
use crate::client::{CallError, Client};
use crate::command_line::CallArguments;
use crate::tx::simulate_call;

/// The word that stands for a simulated call of a contract.
const SIMULATE: &str = "simulate";

/// Surfaces whose methods take members by name.
const NAMED_SURFACES: [&str; 3] = ["espo", "forex", "mempool"];

/// Runs the command and prints the result.
///
/// # Errors
/// See [`CallError`]; the program ends with code 1.
pub(crate) async fn run(arguments: CallArguments) -> Result<(), Box<dyn std::error::Error>> {
    let client = Client::new(&arguments.endpoint);
    if arguments.method == SIMULATE {
        let report = simulate_call(&client, &arguments).await?;
        println!("{report}");
        return Ok(());
    }
    if !arguments.incoming.is_empty() {
        return Err("--incoming goes with `call simulate` alone".into());
    }
    if arguments.method == HELP {
        println!("{}", help::run(&client, arguments.parameters.first().map(String::as_str)).await?);
        return Ok(());
    }
    if arguments.method == BTCUSD {
        println!("{}", btcusd::run(&client, &arguments.parameters, arguments.json).await?);
        return Ok(());
    }
    if arguments.json {
        return Err("--json goes with `call simulate` and `call btcusd` alone".into());
    }
    let result = if NAMED_SURFACES.contains(&arguments.method.as_str()) {
        call_surface(&client, &arguments).await?
    } else if is_route(&arguments.method) {
        call_route(&client, &arguments).await?
    } else {
        let parameters = arguments.parameters.iter().map(|text| parameter(text)).collect();
        client.method(&arguments.method, Value::Array(parameters)).await?
    };
    println!("{}", serde_json::to_string_pretty(&result).unwrap_or_else(|_| result.to_string()));
    Ok(())
}

/// Routes of the REST data API are words joined by `-`, methods have a `_` after their family or are one word.
fn is_route(method: &str) -> bool {
    method.starts_with('/') || (method.contains('-') && !method.contains('_'))
}

/// Parameters that are written `name=value`.
fn members(parameters: &[String], what: &str) -> Result<Value, CallError> {
    let mut members = Map::new();
    for text in parameters {
        let Some((name, value)) = text.split_once('=') else {
            return Err(CallError::Parameter(format!(
                "{what} takes name=value parameters, for example address=bcrt1…; got `{text}`"
            )));
        };
        members.insert(name.to_owned(), parameter(value));
    }
    Ok(Value::Object(members))
}

async fn call_surface(client: &Client, arguments: &CallArguments) -> Result<Value, CallError> {
    let (surface, parameters) = (&arguments.method, &arguments.parameters);
    let Some((method, parameters)) = parameters.split_first() else {
        let sentence = format!("which method of {surface}? `paraffin call help {surface}` lists them");
        return Err(CallError::Parameter(sentence));
    };
    client.surface_method(surface, method, members(parameters, "a method of this surface")?).await
}

async fn call_route(client: &Client, arguments: &CallArguments) -> Result<Value, CallError> {
    let body = members(&arguments.parameters, "a route")?;
    let route = arguments.method.trim_start_matches('/');
    match client.route(route, &body).await {
        // The status is no secret, but the sentence of the instance says it all.
        Err(CallError::Refused(refusal)) => Err(CallError::Answer(refusal.message)),
        other => other,
    }
}

/// JSON objects, arrays, booleans, null and numbers that JSON writes the same way are taken as such; everything else,
/// identifiers as `2:0` and hashes of digits alone included, is text.
fn parameter(text: &str) -> Value {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Number(number)) if number.to_string() != text || text.len() > 20 => Value::String(text.to_owned()),
        Ok(value) => value,
        Err(_) => Value::String(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// row CL01
    #[test]
    fn identifiers_and_hashes_stay_text_and_json_stays_json() {
        assert_eq!(parameter("2:0"), json!("2:0"));
        assert_eq!(parameter("5"), json!(5));
        assert_eq!(parameter("true"), json!(true));
        assert_eq!(parameter(r#"{"name":"x"}"#), json!({"name": "x"}));
        assert_eq!(parameter("[1,2]"), json!([1, 2]));
        let digits = "1".repeat(64);
        assert_eq!(parameter(&digits), Value::String(digits.clone()));
        assert_eq!(parameter("007"), json!("007"));
        assert_eq!(parameter("1e5"), json!("1e5"));
        assert_eq!(parameter("bcrt1qxyz"), json!("bcrt1qxyz"));
    }

    #[test]
    fn routes_are_distinguished_from_methods() {
        for route in ["get-address-balance", "/get-alkanes", "address-positions"] {
            assert!(is_route(route), "{route}");
        }
        for method in [
            "btc_getblockcount",
            "esplora_fee-estimates",
            "esplora_address::utxo",
            "getblockcount",
            "spendablesbyaddress",
        ] {
            assert!(!is_route(method), "{method}");
        }
    }
}
