//! Subscriptions to many scripts and their histories, beside the published `electrs`.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use bitcoin::hashes::{Hash as _, sha256};
use bitcoin::hex::DisplayHex as _;
use serde_json::Value;

use super::{PORT, SCRIPTS_PAID, Serve, Wire, batch, parse, script};
use crate::Bench;
use crate::electrs::{ELECTRUM_PORT, Electrs};
use xtask::bar::{Bar, Floor};
use xtask::peers::{self, Peer};
use xtask::process::{Failure, Outcome};

const ROUNDS: usize = 3;
/// No round begins later than this; one of a hundred thousand scripts takes `electrs` a quarter of an hour.
const LAST_ROUND_BEGINS: Duration = Duration::from_secs(300);
/// Scripts of one batch.
const BATCH: usize = 100;

/// Seconds of one connection that subscribes to all scripts and reads their histories.
struct Round {
    subscribe: f64,
    history: f64,
    answers: Vec<String>,
}

pub(super) fn measure(bench: &Bench, height: u32, count: u32) -> Outcome<Bar> {
    let program = peers::find(&bench.root, Peer::Electrs)?;
    // Without the limits for anonymous clients; the other has none.
    let _serve = Serve::start(bench, "cost_soft = 0\n", height)?;
    let mut electrs = Electrs::start(&program, &bench.place.join("electrs"))?;
    electrs.wait_for(height)?;
    let scripts: Vec<String> = (0..count).map(|number| script_hash(&script(number))).collect();
    let mut rounds = Vec::new();
    let begin = Instant::now();
    for number in 0..ROUNDS {
        if begin.elapsed() > LAST_ROUND_BEGINS {
            break;
        }
        let (ours, theirs) = (round(PORT, &scripts)?, round(ELECTRUM_PORT, &scripts)?);
        if number == 0 {
            compare(&ours.answers, &theirs.answers)?;
        }
        rounds.push([ours.subscribe, ours.history, theirs.subscribe, theirs.history]);
    }
    let mut rows =
        "round,scripts,paraffin_subscribe_s,paraffin_history_s,electrs_subscribe_s,electrs_history_s\n".to_owned();
    for (number, times) in (1..).zip(&rounds) {
        let times = times.map(|seconds| format!("{seconds:.3}")).join(",");
        let _ = writeln!(rows, "{number},{count},{times}");
    }
    let ratio = |times: &[f64; 4]| (times[2] + times[3]) / (times[0] + times[1]);
    rounds.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    let middle = &rounds[rounds.len() / 2];
    let bar = Bar {
        name: "electrum scripts".to_owned(),
        value: ratio(middle),
        floor: Floor::AtLeast(1.0),
        how: format!(
            "electrs {:.2} s to subscribe and {:.2} s to read the histories, paraffin {:.2} s and {:.2} s; {count} scripts with one to three \
             transactions each, which pay {SCRIPTS_PAID} scripts, in batches of {BATCH} on one connection, all answers equal, in turns on the same \
             node, middle one of {}",
            middle[2],
            middle[3],
            middle[0],
            middle[1],
            rounds.len()
        ),
    };
    bar.report(&bench.root, "cargo xtask bars electrum", &rows)?;
    Ok(bar)
}

fn round(port: u16, scripts: &[String]) -> Outcome<Round> {
    let mut wire = Wire::connect(port)?;
    wire.call("server.version", &serde_json::json!(["bars", "1.4"]))?;
    let mut answers = Vec::new();
    let mut all = |method: &str| -> Outcome<f64> {
        let begin = Instant::now();
        for scripts in scripts.chunks(BATCH) {
            wire.send(&batch(method, scripts))?;
            answers.push(wire.line()?);
        }
        Ok(begin.elapsed().as_secs_f64())
    };
    let (subscribe, history) = (all("subscribe")?, all("get_history")?);
    Ok(Round { subscribe, history, answers })
}

/// Both have answered each request, and alike.
fn compare(ours: &[String], theirs: &[String]) -> Outcome {
    for (ours, theirs) in ours.iter().zip(theirs) {
        let [ours, theirs] = [parse(ours)?, parse(theirs)?];
        let results = |answers: &Value| -> Vec<Value> {
            answers.as_array().into_iter().flatten().map(|answer| answer["result"].clone()).collect()
        };
        let (ours, theirs) = (results(&ours), results(&theirs));
        if ours.len() != BATCH || ours.contains(&Value::Null) || ours != theirs {
            return Err(Failure::new(format!("answers differ: {ours:?} and {theirs:?}")));
        }
    }
    Ok(())
}

/// As the protocol writes it.
pub(super) fn script_hash(script: &bitcoin::ScriptBuf) -> String {
    let mut bytes = sha256::Hash::hash(script.as_bytes()).to_byte_array();
    bytes.reverse();
    bytes.to_lower_hex_string()
}
