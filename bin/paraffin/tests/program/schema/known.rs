//! A description with what exists on the chain put in.

use bitcoin::hashes::{Hash as _, sha256};
use serde_json::{Map, Value, json};

/// What a member says that is another way to say what its neighbour says.
const SAME_AS: &str = "x-same-as";
/// What a record says whose members may stand there a second time under their `snake_case` names.
const TWINS: &str = "x-twins";

/// Words that find tokens and pools of every kind on the development chain; few that are drawn find any.
const SEARCHED: [&str; 4] = ["c", "candle", "2:0", "wick"];

/// The description in which parameters of paths are those of this chain, by their names.
/// `last_seen` is in the history of the fifth account.
pub fn with_parameters(mut document: Value, manifest: &Value, last_seen: &Value) -> Value {
    let samples = &manifest["samples"];
    let script = bitcoin::ScriptBuf::from_hex(manifest["accounts"][4]["script"].as_str().unwrap()).unwrap();
    let known = [
        ("txid", samples["txid"].clone()),
        ("hash", samples["block_hash"].clone()),
        ("address", manifest["accounts"][4]["address"].clone()),
        ("prefix", json!("bcrt1p")),
        ("height", json!(140)),
        ("start_height", json!(140)),
        ("vout", json!(0)),
        ("index", json!(0)),
        ("start_index", json!(0)),
        ("last_seen_txid", last_seen.clone()),
        ("scripthash", json!(sha256::Hash::hash(script.as_bytes()))),
    ];
    for item in document["paths"].as_object_mut().into_iter().flat_map(|paths| paths.values_mut()) {
        let operations = item.as_object_mut().into_iter().flat_map(|operations| operations.values_mut());
        let parameters = operations.filter_map(|operation| operation.get_mut("parameters")?.as_array_mut()).flatten();
        for parameter in parameters.filter(|parameter| parameter["in"] == "path") {
            if let Some((_, value)) = known.iter().find(|(name, _)| parameter["name"] == *name) {
                parameter["schema"] = json!({ "const": value });
            }
        }
    }
    document
}

/// The description in which ids, addresses and outputs are those that `dev.json` names, and every field has one name: two that
/// are drawn apart from each other would hardly ever agree. Records of answers are closed: a member that is not described is a
/// finding.
pub fn with_known(description: &Value, manifest: &Value) -> Result<Value, String> {
    let mut document = description.clone();
    let texts = |value: &Value| -> Vec<Value> {
        match value {
            Value::Array(items) => items.clone(),
            Value::String(_) => vec![value.clone()],
            _ => Vec::new(),
        }
    };
    let alkanes = &manifest["alkanes"];
    let (pools, factory) = (texts(&alkanes["pools"]), texts(&alkanes["factory"]));
    let named = ["diesel", "frbtc", "usd", "tokens", "pools"];
    let ids: Vec<Value> = named.iter().flat_map(|name| texts(&alkanes[*name])).collect();
    let accounts = manifest["accounts"].as_array().into_iter().flatten();
    let addresses: Vec<Value> = accounts.map(|account| account["address"].clone()).collect();
    let outputs =
        texts(&manifest["samples"]["txid"]).into_iter().filter_map(|txid| Some(format!("{}:0", txid.as_str()?)));
    let outputs = outputs.map(Value::String).collect();
    let samples = &manifest["samples"];
    let inscriptions = samples["inscriptions"].as_object().into_iter().flat_map(Map::values).cloned().collect();
    let accounts = manifest["accounts"].as_array().into_iter().flatten();
    let scripts = accounts.flat_map(|account| texts(&account["script"])).collect();
    let heights = manifest["height"].as_u64().into_iter().map(Value::from).collect();
    let ticker = match (texts(&alkanes["diesel"]).first(), texts(&alkanes["frbtc"]).first()) {
        (Some(Value::String(base)), Some(Value::String(target))) => vec![json!(format!("{base}_{target}"))],
        _ => Vec::new(),
    };
    let (market, order) = (texts(&samples["market"]), &samples["order"]);
    let both = |ids: &[Value]| ids.iter().cloned().chain(ids.iter().filter_map(id_object)).collect::<Vec<_>>();
    let schemas = document["components"]["schemas"].as_object_mut();
    let schemas = schemas.ok_or("the description has no `components.schemas`")?;
    for (name, values) in [
        ("AlkaneId", both(&ids)),
        ("AlkaneIdText", ids.clone()),
        ("PoolId", both(&pools)),
        ("PoolIdText", pools),
        ("FactoryId", both(&factory)),
        ("Address", addresses.clone()),
        ("Account", addresses),
        ("Outpoint", outputs),
        ("OrderMarket", market),
        ("OrderSource", texts(&order["source"])),
        ("OrderId", texts(&order["id"])),
        ("Brc20Ticker", texts(&samples["brc20_ticker"])),
        ("InscriptionId", inscriptions),
        ("Script", scripts),
        ("BlockNumber", Vec::clone(&heights)),
        ("Brc20Height", heights),
    ] {
        let schema = schemas.get_mut(name).filter(|_| !values.is_empty());
        let schema = schema.ok_or_else(|| format!("`{name}` cannot be filled with what is known"))?;
        // A schema beside these values would swallow them: most texts that are drawn from it are no address.
        *schema = json!({ "enum": values });
    }
    schemas.values_mut().for_each(close);
    for path in document["paths"].as_object_mut().into_iter().flat_map(Map::values_mut) {
        for operation in path.as_object_mut().into_iter().flat_map(Map::values_mut) {
            address_or_script(operation);
            known_ticker(operation, &ticker);
        }
        let bodies = path.as_object_mut().into_iter().flat_map(Map::values_mut);
        for body in
            bodies.filter_map(|operation| operation.pointer_mut("/requestBody/content/application~1json/schema"))
        {
            one_name_each(body);
            if let Some(words) = body.pointer_mut("/properties/searchQuery") {
                *words = json!({ "enum": SEARCHED });
            }
        }
        let operations = path.as_object_mut().into_iter().flat_map(Map::values_mut);
        operations.filter_map(|operation| operation.get_mut("responses")).for_each(close);
    }
    Ok(document)
}

/// `"2:0"` as an object.
fn id_object(id: &Value) -> Option<Value> {
    let (block, tx) = id.as_str()?.split_once(':')?;
    Some(json!({ "block": block, "tx": tx }))
}

/// Takes away the script where an address says the same: both must agree, and what is drawn for each does not.
fn address_or_script(operation: &mut Value) {
    let Some(parameters) = operation.get_mut("parameters").and_then(Value::as_array_mut) else { return };
    if parameters.iter().any(|parameter| parameter["name"] == "address") {
        parameters.retain(|parameter| parameter["name"] != "pkscript");
    }
}

/// A pair that exists where a request names one. Answers name others as well.
fn known_ticker(operation: &mut Value, known: &[Value]) {
    let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut);
    for parameter in parameters.into_iter().flatten().filter(|parameter| parameter["name"] == "ticker_id") {
        parameter["schema"] = json!({ "enum": known });
    }
}

/// Takes away the members that say the same as another one, and the conditions that name them.
fn one_name_each(body: &mut Value) {
    let Some(members) = body.get_mut("properties").and_then(Value::as_object_mut) else { return };
    let gone: Vec<String> =
        members.iter().filter(|(_, schema)| schema.get(SAME_AS).is_some()).map(|(name, _)| name.clone()).collect();
    members.retain(|name, _| !gone.contains(name));
    let names_gone = |condition: &Value| {
        condition["required"]
            .as_array()
            .is_some_and(|names| names.iter().any(|name| gone.iter().any(|gone| name == gone)))
    };
    let keep = |alternatives: &mut Value| {
        if let Some(alternatives) = alternatives.as_array_mut() {
            alternatives.retain(|condition| !names_gone(condition));
        }
    };
    if body.get("anyOf").is_some() {
        keep(&mut body["anyOf"]);
    }
    for condition in body.get_mut("allOf").and_then(Value::as_array_mut).into_iter().flatten() {
        keep(&mut condition["anyOf"]);
    }
}

/// Lets the objects of a schema have no members but those described.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            members.values_mut().for_each(close);
            let has_twins = members.get(TWINS).is_some();
            let is_record = members.contains_key("properties") && members.contains_key("type");
            if is_record && !members.contains_key("additionalProperties") {
                members.insert("additionalProperties".to_owned(), json!(false));
                if has_twins {
                    members.insert("patternProperties".to_owned(), json!({ "^[a-z0-9]+(_[a-z0-9]+)+$": {} }));
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

mod tests {
    use super::*;

    fn description() -> Value {
        let names = ["AlkaneId", "AlkaneIdText", "PoolId", "PoolIdText", "FactoryId", "Address", "Account", "Outpoint"]
            .into_iter()
            .chain(["OrderMarket", "OrderSource", "OrderId"])
            .chain(["Brc20Ticker", "InscriptionId", "Script", "Brc20Height", "BlockNumber", "TickerId"]);
        let schemas: Map<String, Value> = names.map(|name| (name.to_owned(), json!({ "type": "string" }))).collect();
        let body = json!({
            "properties": { "id": {}, "alkane": { "x-same-as": "id" }, "limit": {}, "count": { "x-same-as": "limit" } },
            "anyOf": [{ "required": ["id"] }, { "required": ["alkane"] }],
        });
        let answer =
            json!({ "type": "object", "x-twins": true, "properties": { "a": { "type": "object", "properties": {} } } });
        let operation = json!({
            "requestBody": { "content": { "application/json": { "schema": body } } },
            "responses": { "200": { "content": { "application/json": { "schema": answer } } } },
        });
        json!({ "components": { "schemas": schemas }, "paths": { "/a": { "post": operation }, "/b": { "get": {} } } })
    }

    fn manifest() -> Value {
        json!({
            "alkanes": { "diesel": "2:0", "frbtc": "32:0", "factory": "4:7", "pools": ["2:5"], "tokens": [] },
            "accounts": [{ "address": "bcrt1", "script": "5120" }],
            "height": 160,
            "samples": {
                "txid": "ab",
                "market": "a:b:c:d",
                "order": { "source": "a", "id": "clx1" },
                "inscriptions": { "image": "abi0" },
                "brc20_ticker": "wick",
            },
        })
    }

    #[test]
    fn what_exists_is_put_in_and_every_field_has_one_name() {
        let document = with_known(&description(), &manifest()).unwrap();
        let schemas = &document["components"]["schemas"];
        let known = json!([
            "2:0",
            "32:0",
            "2:5",
            { "block": "2", "tx": "0" },
            { "block": "32", "tx": "0" },
            { "block": "2", "tx": "5" },
        ]);
        assert_eq!(schemas["AlkaneId"], json!({ "enum": known }));
        assert_eq!(schemas["FactoryId"], json!({ "enum": ["4:7", { "block": "4", "tx": "7" }] }));
        let mut operation = json!({ "parameters": [{ "name": "ticker_id" }, { "name": "depth" }] });
        known_ticker(&mut operation, &[json!("2:0_32:0")]);
        let expected = json!([{ "name": "ticker_id", "schema": { "enum": ["2:0_32:0"] } }, { "name": "depth" }]);
        assert_eq!(operation["parameters"], expected);
        assert_eq!(schemas["Outpoint"], json!({ "enum": ["ab:0"] }));
        assert_eq!(schemas["OrderMarket"], json!({ "enum": ["a:b:c:d"] }));
        assert_eq!(
            (&schemas["OrderSource"], &schemas["OrderId"]),
            (&json!({ "enum": ["a"] }), &json!({ "enum": ["clx1"] }))
        );
        assert_eq!(
            ["Brc20Ticker", "InscriptionId", "Script", "Brc20Height"].map(|name| &schemas[name]["enum"][0]),
            [&json!("wick"), &json!("abi0"), &json!("5120"), &json!(160)]
        );
        let body = document.pointer("/paths/~1a/post/requestBody/content/application~1json/schema").unwrap();
        assert_eq!(*body, json!({ "properties": { "id": {}, "limit": {} }, "anyOf": [{ "required": ["id"] }] }));
        let answer = "/paths/~1a/post/responses/200/content/application~1json/schema";
        let answer = document.pointer(answer).unwrap();
        assert_eq!(answer["additionalProperties"], false);
        assert!(answer["patternProperties"].is_object());
        let inner = &answer["properties"]["a"];
        assert_eq!((&inner["additionalProperties"], inner.get("patternProperties")), (&json!(false), None));
    }

    #[test]
    fn a_chain_without_pools_is_an_error() {
        let mut manifest = manifest();
        manifest["alkanes"]["pools"] = json!([]);
        assert!(with_known(&description(), &manifest).unwrap_err().contains("PoolId"));
        assert!(with_known(&json!({}), &manifest).is_err());
    }
}
