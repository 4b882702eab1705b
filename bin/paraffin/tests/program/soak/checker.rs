//! Asks the disturbed instances and the straight one the same, and counts what differs though the blocks are equal.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::http;
use crate::support::served::Numbers;

/// Pause between two comparisons.
const PAUSE: Duration = Duration::from_millis(50);

/// Where an instance answers: address and path with the key.
pub(crate) type Place = (String, String);

/// What came of the comparisons.
#[derive(Default)]
pub(crate) struct Counts {
    compared: AtomicU64,
    /// Answers that differ at equal blocks. None may.
    wrong: AtomicU64,
    /// The disturbed instance did not answer, as it may while it is disturbed.
    unanswered: AtomicU64,
    /// The blocks were not equal, before or after.
    moved: AtomicU64,
    /// 503 `AUTH_UNAVAILABLE`, as it may be while the accounts are away.
    refused: AtomicU64,
}

impl Counts {
    fn all(&self) -> [u64; 5] {
        [&self.compared, &self.wrong, &self.unanswered, &self.moved, &self.refused]
            .map(|count| count.load(Ordering::Relaxed))
    }

    pub(crate) fn refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn wrong(&self, what: &str) {
        eprintln!("WRONG: {what}");
        self.wrong.fetch_add(1, Ordering::Relaxed);
    }

    /// As cells of a table.
    pub(crate) fn row(&self) -> String {
        self.all().map(|count| count.to_string()).join(",")
    }

    pub(crate) fn report(&self) -> Value {
        let [compared, wrong, unanswered, moved, refused] = self.all();
        json!({ "compared": compared, "wrong": wrong, "unanswered": unanswered, "moved": moved, "refused": refused })
    }
}

/// The thread that compares.
pub(crate) struct Checker {
    over: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl Checker {
    pub(crate) fn start(straight: Place, others: Vec<Place>, counts: Arc<Counts>, seed: u64) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&over);
        let thread = std::thread::spawn(move || {
            let mut numbers = Numbers::new(seed ^ 0x5a5a);
            while !flag.load(Ordering::Relaxed) {
                let other = &others[numbers.below(others.len() as u64) as usize];
                let outcome = compare(&straight, other, &mut numbers).unwrap_or_else(|outcome| outcome);
                let count = match outcome {
                    Outcome::Equal => &counts.compared,
                    Outcome::Wrong(what) => {
                        counts.wrong(&what);
                        &counts.compared
                    }
                    Outcome::Unanswered => &counts.unanswered,
                    Outcome::Moved => &counts.moved,
                    Outcome::Refused => &counts.refused,
                };
                count.fetch_add(1, Ordering::Relaxed);
                std::thread::sleep(PAUSE);
            }
        });
        Self { over, thread }
    }

    pub(crate) fn end(self) {
        self.over.store(true, Ordering::Relaxed);
        self.thread.join().unwrap();
    }
}

enum Outcome {
    Equal,
    Wrong(String),
    Unanswered,
    Moved,
    Refused,
}

/// Whether an instance says, in the way that it must, that it cannot consult the accounts.
pub(crate) fn is_refusal(answer: &http::Answer) -> bool {
    let response = || serde_json::from_slice::<Value>(&answer.body).unwrap_or_default();
    answer.status == 503 && answer.header("retry-after").is_none() && response()["code"] == "AUTH_UNAVAILABLE"
}

/// The whole answer to one call; errors are answers, too.
fn ask((address, path): &Place, method: &str, params: &Value) -> Result<Value, Outcome> {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let headers = [("content-type", "application/json")];
    let answer = http::try_request(address, "POST", path, &headers, body.as_bytes()).ok_or(Outcome::Unanswered)?;
    if is_refusal(&answer) {
        return Err(Outcome::Refused);
    }
    let answer: Value = serde_json::from_slice(&answer.body).map_err(|_| Outcome::Unanswered)?;
    // An instance that starts or stops says so, which is no answer.
    let code = answer.pointer("/error/data/code").and_then(Value::as_str);
    if matches!(code, Some("STARTING" | "UPSTREAM_UNAVAILABLE")) { Err(Outcome::Unanswered) } else { Ok(answer) }
}

fn tip(place: &Place) -> Result<Value, Outcome> {
    ask(place, "btc_getbestblockhash", &json!([])).map(|answer| answer["result"].clone())
}

fn compare(straight: &Place, other: &Place, numbers: &mut Numbers) -> Result<Outcome, Outcome> {
    let (theirs, ours) = (tip(other)?, tip(straight).map_err(|_| Outcome::Moved)?);
    if theirs != ours {
        return past(straight, other, numbers);
    }
    let (method, params) = question(straight, numbers);
    let (theirs_told, ours_told) = (ask(other, method, &params)?, ask(straight, method, &params)?);
    // What was asked in between is of this block for both, unless a block came or went.
    if tip(other)? != theirs || tip(straight)? != ours {
        return Err(Outcome::Moved);
    }
    Ok(judge(method, &params, &theirs_told, &ours_told))
}

/// Digests of a block that both have, while their tips differ.
fn past(straight: &Place, other: &Place, numbers: &mut Numbers) -> Result<Outcome, Outcome> {
    let response = ask(other, "btc_getblockcount", &json!([]))?;
    let params = json!([numbers.below(response["result"].as_u64().ok_or(Outcome::Unanswered)? + 1)]);
    let method = "metashrew_blockdigest";
    let (theirs, ours) = (ask(other, method, &params)?, ask(straight, method, &params)?);
    let hash = |answer: &Value| answer["result"]["hash"].clone();
    if hash(&theirs).is_null() || hash(&theirs) != hash(&ours) {
        return Err(Outcome::Moved);
    }
    Ok(judge(method, &params, &theirs, &ours))
}

fn judge(method: &str, params: &Value, theirs: &Value, ours: &Value) -> Outcome {
    if theirs == ours {
        return Outcome::Equal;
    }
    Outcome::Wrong(format!("{method} {params}\n  disturbed {theirs}\n  straight  {ours}"))
}

/// Something that the index answers alone.
fn question(straight: &Place, numbers: &mut Numbers) -> (&'static str, Value) {
    let result = |method, params: Value| {
        ask(straight, method, &params).map_or(Value::Null, |response| response["result"].clone())
    };
    let height = numbers.below(result("btc_getblockcount", json!([])).as_u64().unwrap_or_default() + 1);
    let hash = result("btc_getblockhash", json!([height]));
    match numbers.below(8) {
        0 => ("metashrew_blockdigest", json!([])),
        1 => ("metashrew_blockdigest", json!([height])),
        2 => ("metashrew_stateroot", json!([height])),
        3 => ("esplora_block", json!([hash])),
        4 => ("esplora_block::txs", json!([hash])),
        5 => {
            let txids = result("esplora_block::txids", json!([hash]));
            let count = txids.as_array().map_or(0, Vec::len) as u64;
            let txid = txids.get(numbers.below(count.max(1)) as usize).cloned().unwrap_or_default();
            if numbers.below(2) == 0 { ("esplora_tx", json!([txid])) } else { ("esplora_tx::outspends", json!([txid])) }
        }
        6 => ("alkanes_protorunesbyheight", json!([{ "height": height }])),
        _ => {
            let txs = result("esplora_block::txs", json!([hash]));
            let address = txs.pointer("/0/vout/0/scriptpubkey_address").cloned().unwrap_or_default();
            ("alkanes_protorunesbyaddress", json!([{ "address": address }]))
        }
    }
}
