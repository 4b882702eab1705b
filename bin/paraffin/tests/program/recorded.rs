//! Every surface asked the same questions on the same chain answers what it answered when `recorded.csv` was written.
//!
//! The questions come from the instance's own descriptions (OpenRPC, OpenAPI) with values of this chain put in, right and wrong
//! ones, and from lists for the surfaces that are not described there. A row holds the status, the digest of the answer, and the
//! digest of its form: the same with every text and number replaced by its type. Answers that differ between two runs (times,
//! ages, rates) have no digest, only a form.
//!
//! `PARAFFIN_RECORD=1` asks two instances and writes the file anew; the diff shows what a change changed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bitcoin::hashes::{Hash as _, sha256};
use serde_json::{Map, Value, json};

use crate::support::dev::Dev;
use crate::support::{http, wait_for};

/// An object with more members is taken for a map whose names are data: ids, addresses, times.
const FORM_MEMBERS_MAX: usize = 60;
/// Answers that hold how long something took, or the bitcoin price, which goes on with the clock.
const TIMED: [&str; 9] = [
    "lua_evalscript",
    "sandshrew_evalscript",
    "market-chart",
    "bitcoin-market",
    "bitcoin-price",
    "get_btc_usd_price",
    "forex_",
    "coingecko/tickers",
    "udf/time",
];

pub struct Question {
    pub name: String,
    pub verb: &'static str,
    pub path: String,
    pub body: Option<Value>,
    /// The document that describes it, by its module in the clients, and its name there.
    pub described: Option<(String, String)>,
}

#[test]
fn every_surface_answers_what_it_answered_before() {
    let dev = Dev::start();
    let answers = ask_all(&dev);
    drop(dev);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/recorded.csv");
    if std::env::var_os("PARAFFIN_RECORD").is_some() {
        let again = ask_all(&Dev::start());
        // Two instances can give the same order by chance: an answer that once differed between two has no digest from then on.
        let before = std::fs::read_to_string(&file).unwrap_or_default();
        let differed: Vec<&str> = before
            .lines()
            .filter_map(|line| line.rsplitn(4, ',').collect::<Vec<_>>().try_into().ok())
            .filter_map(|[_, digest, _, name]: [&str; 4]| digest.is_empty().then_some(name))
            .collect();
        let mut text = "question,status,answer,form\n".to_owned();
        for (name, answer) in &answers {
            let is_equal = again[name].digest == answer.digest
                && !differed.contains(&name.as_str())
                && !TIMED.iter().any(|method| name.contains(method));
            let (digest, form) = (if is_equal { &*answer.digest } else { "" }, &answer.form);
            let _ = writeln!(text, "{name},{},{digest},{form}", answer.status);
        }
        std::fs::write(&file, text).unwrap();
        return;
    }
    let recorded = std::fs::read_to_string(&file).unwrap();
    let mut findings = Vec::new();
    let mut count = 0;
    for line in recorded.lines().skip(1) {
        let [form, digest, status, name] = line.rsplitn(4, ',').collect::<Vec<_>>()[..] else { panic!("{line}") };
        count += 1;
        match answers.get(name) {
            None => findings.push(format!("{name}: not asked any more")),
            Some(answer) => {
                let is_equal = answer.status == status
                    && if digest.is_empty() { answer.form == form } else { answer.digest == digest };
                if !is_equal {
                    findings.push(format!("{name}: {status} before, now {} {}", answer.status, answer.text));
                }
            }
        }
    }
    let new = answers.len().saturating_sub(count);
    assert!(
        findings.is_empty() && new == 0,
        "{} of {count} answers changed and {new} questions are new; PARAFFIN_RECORD=1 writes {} anew\n{}",
        findings.len(),
        file.display(),
        findings.iter().take(40).cloned().collect::<Vec<_>>().join("\n")
    );
}

struct Recorded {
    status: String,
    digest: String,
    form: String,
    text: String,
}

fn ask_all(dev: &Dev) -> BTreeMap<String, Recorded> {
    settle(dev);
    let facts = Facts::of(dev);
    let mut answers = BTreeMap::new();
    for question in questions(dev, &facts) {
        if answers.contains_key(&question.name) {
            continue;
        }
        let body = question.body.as_ref().map(Value::to_string).unwrap_or_default();
        let headers: &[(&str, &str)] =
            if question.body.is_some() { &[("content-type", "application/json")] } else { &[] };
        let answer = http::try_request(dev.listen(), question.verb, &question.path, headers, body.as_bytes())
            .unwrap_or_else(|| panic!("{}: no answer", question.name));
        let text = answer.text();
        let json: Option<Value> = serde_json::from_str(&text).ok();
        let form = json.as_ref().map_or_else(|| "text".to_owned(), |value| form(value).to_string());
        let body = json.filter(has_fractions).map_or(answer.body.clone(), |value| unpriced(value).to_string().into());
        let kind = answer.header("content-type").unwrap_or_default().to_owned();
        let recorded = Recorded {
            status: answer.status.to_string(),
            digest: digest(&[kind.as_bytes(), &body].concat()),
            form: digest(&[kind.as_bytes(), form.as_bytes()].concat()),
            text: text.chars().take(600).collect(),
        };
        answers.insert(question.name, recorded);
    }
    answers
}

fn digest(bytes: &[u8]) -> String {
    sha256::Hash::hash(bytes).to_string()[..16].to_owned()
}

/// Whether there are numbers with a fraction: amounts in dollars, which go on with the bitcoin price.
fn has_fractions(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64(),
        Value::Array(items) => items.iter().any(has_fractions),
        Value::Object(members) => members.values().any(has_fractions),
        _ => false,
    }
}

/// A value without its numbers with a fraction.
fn unpriced(value: Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => json!("fraction"),
        Value::Array(items) => items.into_iter().map(unpriced).collect(),
        Value::Object(members) => members.into_iter().map(|(name, value)| (name, unpriced(value))).collect(),
        value => value,
    }
}

/// A value with texts and numbers replaced by their types, and equal neighbours of a list by one.
pub fn form(value: &Value) -> Value {
    match value {
        Value::Null | Value::Bool(_) => value.clone(),
        Value::Number(_) => json!("number"),
        Value::String(_) => json!("text"),
        Value::Array(items) => {
            let mut forms: Vec<Value> = items.iter().map(form).collect();
            forms.dedup();
            Value::Array(forms)
        }
        Value::Object(members) if members.len() > FORM_MEMBERS_MAX => json!("object"),
        Value::Object(members) => members.iter().map(|(name, value)| (name.clone(), form(value))).collect(),
    }
}

/// What exists on the chain, by the names that parameters have.
struct Facts(BTreeMap<&'static str, Vec<Value>>);

impl Facts {
    fn of(dev: &Dev) -> Self {
        let texts = |pointer: &str| -> Vec<Value> {
            match dev.described.pointer(pointer) {
                Some(Value::Array(items)) => items.clone(),
                Some(Value::Object(members)) => members.values().cloned().collect(),
                Some(Value::Null) | None => Vec::new(),
                Some(value) => vec![value.clone()],
            }
        };
        let column = |name: &str| -> Vec<Value> {
            dev.described["accounts"].as_array().unwrap().iter().map(|account| account[name].clone()).collect()
        };
        let mut ids = Vec::new();
        for name in ["diesel", "frbtc", "usd", "btcusd_pool", "factory", "pools", "tokens"] {
            ids.extend(texts(&format!("/alkanes/{name}")));
        }
        let object = |id: &Value| {
            let (block, tx) = id.as_str().unwrap().split_once(':').unwrap();
            json!({ "block": block, "tx": tx })
        };
        let mut transactions = texts("/samples/txid");
        let hash = dev.call("btc_getblockhash", json!([140]));
        let block = dev.call("btc_getblock", json!([hash, 1]));
        transactions.extend(block["tx"].as_array().unwrap().iter().take(3).cloned());
        let outputs: Vec<Value> =
            transactions.iter().map(|txid| json!(format!("{}:0", txid.as_str().unwrap()))).collect();
        let raw = dev.call("btc_getrawtransaction", json!([transactions[1]]));
        let objects: Vec<Value> = ids.iter().map(object).collect();
        let outpoint_objects: Vec<Value> = transactions.iter().map(|txid| json!({ "txid": txid, "vout": 0 })).collect();
        let height = dev.height();
        Self(BTreeMap::from([
            ("id", [ids[..2].to_vec(), objects[2..].to_vec()].concat()),
            ("idtext", ids),
            ("idobject", objects),
            ("pool", texts("/alkanes/pools")),
            ("factory", texts("/alkanes/factory")),
            ("address", column("address")),
            ("script", column("script")),
            ("txid", transactions),
            ("hash", vec![hash]),
            ("outpoint", outputs),
            ("outpointobject", outpoint_objects),
            ("height", vec![json!(140), json!(height), json!(1), json!(height + 1)]),
            ("hex", vec![raw]),
            ("inscription", texts("/samples/inscriptions")),
            ("rune", texts("/samples/rune")),
            ("ticker", texts("/samples/brc20_ticker")),
            ("market", texts("/samples/market")),
            ("source", texts("/samples/order/source")),
            ("orderid", texts("/samples/order/id")),
        ]))
    }

    fn get(&self, name: &str, turn: usize) -> Option<Value> {
        let values = self.0.get(name).filter(|values| !values.is_empty())?;
        Some(values[turn % values.len()].clone())
    }

    /// A value for a parameter by its schema and its name; `turn` chooses among the known ones.
    fn value(&self, document: &Value, schema: &Value, name: &str, turn: usize) -> Value {
        if let Some(reference) = schema["$ref"].as_str() {
            let kind = reference.rsplit('/').next().unwrap();
            let known = match kind {
                "AlkaneId" | "Target" => "id",
                "AlkaneIdText" => "idtext",
                "PoolId" | "PoolIdText" => "pool",
                "FactoryId" => "factory",
                "Address" | "Account" => "address",
                "Outpoint" => "outpoint",
                "OutpointObject" | "OutpointOrTxid" => "outpointobject",
                "OrderMarket" => "market",
                "OrderSource" => "source",
                "OrderId" => "orderid",
                "Brc20Ticker" => "ticker",
                "InscriptionId" => "inscription",
                "Script" => "script",
                "Brc20Height" | "HeightOrObject" | "BlockTag" => "height",
                "Hash" if name.contains("block") || name == "hash" => "hash",
                "Hash" => "txid",
                _ => "",
            };
            let found = self.get(known, turn);
            let resolved = || self.value(document, document.pointer(&reference[1..]).unwrap(), name, turn);
            return found.unwrap_or_else(resolved);
        }
        if let Some(values) = schema["enum"].as_array() {
            return values[turn % values.len()].clone();
        }
        if let Some(constant) = schema.get("const") {
            return constant.clone();
        }
        let lower = name.to_ascii_lowercase();
        let by_name = [
            ("address", "address"),
            ("outpoint", "outpoint"),
            ("txid", "txid"),
            ("blockhash", "hash"),
            ("height", "height"),
            ("inscription", "inscription"),
            ("rune", "rune"),
            ("tick", "ticker"),
            ("script", "script"),
            ("alkane", "idtext"),
            ("pool", "pool"),
            ("factory", "factory"),
            ("market", "market"),
            ("transaction", "hex"),
            ("token", "idtext"),
        ];
        if schema["type"] != "object"
            && schema["type"] != "array"
            && let Some(found) = by_name
                .iter()
                .find(|(part, _)| lower.contains(part))
                .and_then(|(_, known)| self.get(known, turn))
                .filter(|found| schema["type"] != "integer" || found.is_number())
        {
            return found;
        }
        for alternatives in ["anyOf", "oneOf"] {
            if let Some(schemas) = schema[alternatives].as_array()
                && schema.get("properties").is_none()
            {
                let schemas: Vec<&Value> = schemas.iter().filter(|schema| schema["type"] != "null").collect();
                return self.value(document, schemas[turn % schemas.len()], name, turn);
            }
        }
        match schema["type"].as_str().or(schema["type"][0].as_str()) {
            Some("boolean") => json!(turn % 2 == 1),
            Some("array") => json!([self.value(document, &schema["items"], name, turn)]),
            Some("object") => {
                let mut members = Map::new();
                for (member, schema) in schema["properties"].as_object().into_iter().flatten() {
                    // Every second turn has all members, the others those that name what is asked about.
                    let names = ["address", "id", "height"];
                    let is_needed = schema.get("$ref").is_some() || names.contains(&&**member) || turn % 2 == 1;
                    if is_needed && schema.get("x-same-as").is_none() {
                        members.insert(member.clone(), self.value(document, schema, member, turn));
                    }
                }
                Value::Object(members)
            }
            Some("string") => json!(["latest", "a", ""][turn % 3]),
            _ => json!(turn),
        }
    }
}

/// Waits until the mempool has what the seed gives.
fn settle(dev: &Dev) {
    // The network replaces a family of three of its nine transactions after the start.
    wait_for("the mempool to have what the seed gives", Duration::from_secs(60), || {
        let info = http::result(dev.listen(), &format!("{}/mempool", dev.path()), "mempool_info", json!({}));
        let is_settled = info["added_total"] == 9 && info["removed_total"] == 3 && info["fee_known"] == info["count"];
        (is_settled && info["provisional"] == 0).then_some(())
    });
}

/// Every question to an instance, once its mempool has what the seed gives.
pub fn all_questions(dev: &Dev) -> Vec<Question> {
    settle(dev);
    questions(dev, &Facts::of(dev))
}

fn questions(dev: &Dev, facts: &Facts) -> Vec<Question> {
    let mut all = Vec::new();
    json_rpc(dev, facts, &mut all);
    rest(dev, facts, &mut all);
    others(dev, facts, &mut all);
    all
}

fn call(all: &mut Vec<Question>, dev: &Dev, surface: &str, method: &str, params: Value) {
    all.push(Question {
        name: format!("rpc {surface} {method} {params}"),
        verb: "POST",
        path: format!("{}{surface}", dev.path()),
        body: Some(json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })),
        described: Some((surface.split('/').nth(1).unwrap_or("jsonrpc").to_owned(), method.to_owned())),
    });
}

/// Methods that change something or run for long, and the description, which follows the declarations.
const LEFT_OUT: [&str; 4] = ["admin_", "lua_savescript", "sandshrew_savescript", "rpc.discover"];

fn json_rpc(dev: &Dev, facts: &Facts, all: &mut Vec<Question>) {
    let document = dev.call("rpc.discover", json!([]));
    for method in document["methods"].as_array().unwrap() {
        let name = method["name"].as_str().unwrap();
        if LEFT_OUT.iter().any(|part| name.starts_with(part)) {
            continue;
        }
        let params = method["params"].as_array().unwrap();
        let values = |turn: usize, all: bool| -> Vec<(String, Value)> {
            params
                .iter()
                // The first one even where it may be absent: it names what is asked about.
                .enumerate()
                .filter(|(place, param)| all || param["required"] == true || *place == 0)
                .map(|(_, param)| {
                    let name = param["name"].as_str().unwrap();
                    (name.to_owned(), facts.value(&document, &param["schema"], name, turn))
                })
                .collect()
        };
        let mut asked: Vec<Value> = vec![json!([]), json!([{}]), json!({}), json!([[1]]), json!(["\u{1}"])];
        for turn in 0..4 {
            let values = values(turn, turn > 1);
            asked.push(values.iter().map(|(_, value)| value.clone()).collect());
            asked.push(json!([values.into_iter().collect::<Map<_, _>>()]));
        }
        let mut many: Vec<Value> = values(0, true).into_iter().map(|(_, value)| value).collect();
        many.push(json!("one too many"));
        many.push(json!("two too many"));
        asked.push(Value::Array(many));
        let mut seen = Vec::new();
        for params in asked {
            if !seen.contains(&params) {
                call(all, dev, "", name, params.clone());
                seen.push(params);
            }
        }
    }
    call(all, dev, "", "no_such", json!([]));
    call(all, dev, "", "getblockcount", json!([]));
}

fn rest(dev: &Dev, facts: &Facts, all: &mut Vec<Question>) {
    for (described, base) in [("/v4/openapi.json", "/v4"), ("/api/v1/openapi.json", "/api/v1")] {
        let document = http::get(dev.listen(), described).json();
        let key = dev.text("/keys/business");
        for (path, operations) in document["paths"].as_object().unwrap() {
            for (verb, operation) in operations.as_object().unwrap() {
                let verb = match verb.as_str() {
                    "get" => "GET",
                    "post" => "POST",
                    _ => continue,
                };
                let is_a_change = ["/verify", "/attest", "orders", "/events"].iter().any(|part| path.ends_with(part));
                if verb == "POST" && is_a_change {
                    continue;
                }
                let empty = Vec::new();
                let parameters = operation["parameters"].as_array().unwrap_or(&empty);
                let schema = operation.pointer("/requestBody/content/application~1json/schema");
                let mut seen = Vec::new();
                for turn in 0..4 {
                    let mut asked = path.clone();
                    let mut query = String::new();
                    for parameter in parameters {
                        let name = parameter["name"].as_str().unwrap();
                        let value = facts.value(&document, &parameter["schema"], name, turn);
                        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                        if parameter["in"] == "path" {
                            asked = asked.replace(&format!("{{{name}}}"), &value);
                        } else if parameter["in"] == "query" && (turn > 0 || parameter["required"] == true) {
                            let _ = write!(query, "{}{name}={value}", if query.is_empty() { '?' } else { '&' });
                        }
                    }
                    // The list of toolchains is that of the machine.
                    if asked.trim_end_matches('/') == "/verify" {
                        continue;
                    }
                    let mut bodies = vec![None];
                    if let Some(schema) = schema {
                        bodies = vec![Some(facts.value(&document, schema, "", turn))];
                        if turn == 0 {
                            bodies.extend([Some(json!({})), Some(json!([])), Some(json!({ "limit": "a" }))]);
                        }
                    }
                    for body in bodies {
                        let target = format!("{asked}{query}").replace(' ', "%20");
                        let body = body.filter(|_| verb == "POST");
                        let name = format!("{verb} {base}{target} {}", body.as_ref().unwrap_or(&Value::Null));
                        if !seen.contains(&name) {
                            seen.push(name.clone());
                            let module = if base == "/v4" { "rest" } else { "verification" };
                            let described = Some((module.to_owned(), format!("{verb} {path}")));
                            all.push(Question { name, verb, path: format!("{base}/{key}{target}"), body, described });
                        }
                    }
                }
            }
        }
    }
}

/// What no description names: the pool index, espo, the mempool, rates, rollback, and Esplora over HTTP.
fn others(dev: &Dev, facts: &Facts, all: &mut Vec<Question>) {
    let get = |name: &str| facts.get(name, 0).unwrap();
    let (address, txid, hash, outpoint) = (get("address"), get("txid"), get("hash"), get("outpoint"));
    let (id, pool, factory) = (get("idtext"), get("pool"), get("factory"));
    let essentials = [
        ("ping", json!({})),
        ("get_espo_height", json!({})),
        ("get_address_balances", json!({ "address": address, "include_outpoints": true })),
        ("get_address_outpoints", json!({ "address": address })),
        ("get_outpoint_balances", json!({ "outpoint": outpoint })),
        ("get_address_spendable_outpoints", json!({ "address": address })),
        ("get_holders", json!({ "alkane": id, "page": 1, "limit": 3 })),
        ("get_holders_count", json!({ "alkane": id })),
        ("get_keys", json!({ "alkane": id, "page": 1, "limit": 5, "try_decode_utf8": true })),
    ];
    let market = [
        ("ping", json!({})),
        ("get_candles", json!({ "pool": pool, "timeframe": "1h", "limit": 5 })),
        ("get_trades", json!({ "pool": pool, "limit": 3 })),
        ("get_activity", json!({ "pool": pool, "limit": 3 })),
        ("get_pools", json!({ "limit": 3 })),
        ("get_amm_factories", json!({})),
        ("find_best_swap_path", json!({ "token_in": id, "token_out": facts.get("idtext", 2), "amount_in": "1000" })),
        ("get_best_mev_swap", json!({ "token": id })),
        ("get_btc_usd_price", json!([])),
    ];
    for (group, methods) in [("essentials", &essentials[..]), ("ammdata", &market[..])] {
        for (name, params) in methods {
            let method = format!("{group}.{name}");
            for params in [params.clone(), json!({}), json!([1]), json!({ "page": "x", "address": 1, "pool": "1" })] {
                call(all, dev, "/espo", &method, params);
            }
        }
    }
    call(all, dev, "/espo", "essentials.none", json!({}));
    for (surface, methods) in [
        ("/btcusd", &["metashrew_height", "metashrew_view", "none"][..]),
        ("/mempool", &["mempool_info", "mempool_txids", "mempool_entry", "mempool_entries", "mempool_raw"]),
        ("/mempool", &["mempool_recent", "mempool_snapshot", "mempool_feerate_histogram", "none"]),
        ("/forex", &["forex_rates", "forex_convert", "forex_status", "forex_currencies", "none"]),
        ("/reorg/150", &["getblockcount", "getbestblockhash", "getblockhash", "getblock", "none"]),
    ] {
        let params = [
            json!([]),
            json!({}),
            json!([{ "txid": txid, "txids": [txid], "base": "USD", "from": "USD", "to": "EUR", "amount": "10" }]),
            json!(["ping", "0x", "latest"]),
            json!([140]),
            json!([151]),
            json!([hash]),
            json!("text"),
        ];
        for method in methods {
            for params in &params {
                call(all, dev, surface, method, params.clone());
            }
        }
    }
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let (address, txid, hash) = (text(&address), text(&txid), text(&hash));
    let mut paths =
        vec!["blocks".to_owned(), "blocks/140".to_owned(), "mempool".to_owned(), "fee-estimates".to_owned()];
    for part in
        ["", "/status", "/hex", "/raw", "/outspends", "/outspend/0", "/merkle-proof", "/merkleblock-proof", "/x"]
    {
        paths.push(format!("tx/{txid}{part}"));
        paths.push(format!("tx/{hash}{part}"));
    }
    for part in ["", "/header", "/status", "/txids", "/raw", "/txid/0", "/txs", "/txs/25", "/txs/1", "/txid/x"] {
        paths.push(format!("block/{hash}{part}"));
        paths.push(format!("block/{txid}{part}"));
    }
    for part in ["", "/utxo", "/txs", "/txs/mempool", "/txs/chain", "/x"] {
        paths.push(format!("address/{address}{part}"));
        paths.push(format!("address/nothing{part}"));
        paths.push(format!("scripthash/{hash}{part}"));
    }
    for path in ["block-height/140", "block-height/x", "blocks/tip/height", "blocks/tip/hash", "mempool/txids", "none"]
    {
        paths.push(path.to_owned());
    }
    let surfaces = paths.into_iter().map(|path| format!("/esplora/{path}"));
    let factory = text(&factory);
    let further = ["", "/reorg", "/reorg/x", "/orderbook", "/opi", "/none", "/esplora"].map(str::to_owned).into_iter();
    let further = further.chain([format!("/get-pools/{factory}")]);
    let (pool, diesel, frbtc) = (text(&pool), dev.text("/alkanes/diesel"), dev.text("/alkanes/frbtc"));
    let listed = [
        format!("/udf/symbols?symbol={pool}"),
        format!("/udf/history?symbol={pool}&resolution=60&to=4000000000&countback=50"),
        format!("/udf/history?symbol={pool}&resolution=1D&from=0&to=1"),
        "/udf/search?query=diesel".to_owned(),
        format!("/dexscreener/pair?id={pool}"),
        "/dexscreener/events?fromBlock=100&toBlock=160".to_owned(),
        format!("/coingecko/orderbook?ticker_id={diesel}_{frbtc}&depth=20"),
        format!("/coingecko/historical_trades?ticker_id={diesel}_{frbtc}&limit=20"),
    ];
    let further = further.chain(listed);
    for path in surfaces.chain(further) {
        all.push(Question {
            name: format!("GET {path}"),
            verb: "GET",
            path: format!("{}{path}", dev.path()),
            body: None,
            described: None,
        });
    }
    for path in ["/health", "/docs", "/v4/none"] {
        all.push(Question {
            name: format!("GET {path} without a key"),
            verb: "GET",
            path: path.to_owned(),
            body: None,
            described: None,
        });
    }
}

/// The file that holds the answers is part of the repository.
#[test]
fn the_recorded_answers_are_there_and_many() {
    let file: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program/recorded.csv");
    let text = std::fs::read_to_string(file).unwrap();
    let good = text.lines().filter(|line| line.rsplit(',').nth(2) == Some("200")).count();
    assert!(text.lines().count() > 1_000 && good > 500, "{good} of {}", text.lines().count());
}
