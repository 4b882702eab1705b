//! As many sessions as the settings allow, from many addresses, each with a hundred subscriptions.

use std::io;
use std::net::{Ipv4Addr, TcpStream};
use std::time::Instant;

use bitcoin::{Address, Network};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use tokio::net::TcpSocket;
use tokio::runtime::{Builder, Runtime};

use super::scripts::script_hash;
use super::{PORT, Serve, Wire, batch, given, parse, script};
use crate::Bench;
use crate::import::{counter, float};
use crate::node::Node;
use xtask::bar::{Bar, Floor};
use xtask::process::{Failure, Outcome};

/// `[electrum] sessions_max` at its default, unless `PARAFFIN_BARS_SESSIONS` says another number.
const SESSIONS: u32 = 10_000;
/// Sessions of one address: a new one counts as a request without a key, of which each address has sixty at once.
const SESSIONS_OF_ADDRESS: u32 = 50;
/// Subscriptions of a session; all together are `[electrum] subscriptions_max` at its default.
const SUBSCRIPTIONS: u32 = 100;
/// `[memory] total_mib` at its default.
const TOTAL_MIB: u64 = 3_968;
/// What the program counts for a session and for a subscription (`ElectrumSettings::memory_bytes`).
const SESSION_BYTES: u32 = 20 << 10;
const SUBSCRIPTION_BYTES: u32 = 120;
/// Descriptors that the program needs beside those of the sessions.
const DESCRIPTORS: u64 = 2_000;

pub(super) fn measure(bench: &Bench, height: u32, scripts: u32) -> Outcome<Bar> {
    let count = given("PARAFFIN_BARS_SESSIONS", SESSIONS);
    let part = (u64::from(count) * u64::from(SESSION_BYTES + SUBSCRIPTIONS * SUBSCRIPTION_BYTES)) >> 20;
    raise_descriptors(count)?;
    let runtime = Builder::new_current_thread().enable_io().build().map_err(|error| Failure::new(error.to_string()))?;
    let serve = Serve::start(bench, &format!("[memory]\ntotal_mib = {TOTAL_MIB}\n"), height)?;
    let resident = |name: &str| counter(serve.0.id(), "status", name) >> 10;
    let before = resident("VmRSS:");
    let begin = Instant::now();
    let mut sessions = (0..count).map(|number| open(&runtime, number, scripts)).collect::<Outcome<Vec<Wire>>>()?;
    let opened = begin.elapsed().as_secs_f64();
    let with_sessions = resident("VmRSS:");
    // A block that pays a script of all sessions, so that each has two notifications.
    let begin = Instant::now();
    mine()?;
    for wire in &mut sessions {
        let mut methods = [parse(&wire.line()?)?["method"].clone(), parse(&wire.line()?)?["method"].clone()];
        methods.sort_by_key(|method| method.as_str().map(str::len));
        if methods != ["blockchain.headers.subscribe", "blockchain.scripthash.subscribe"] {
            return Err(Failure::new(format!("a session was notified of {methods:?}")));
        }
    }
    let notified = begin.elapsed().as_secs_f64();
    let (after_block, peak) = (resident("VmRSS:"), resident("VmHWM:"));
    drop(sessions);
    let used = after_block.max(with_sessions).saturating_sub(before);
    let bar = Bar {
        name: "electrum sessions".to_owned(),
        value: 100.0 * float(used) / float(part),
        floor: Floor::AtMost(100.0),
        how: format!(
            "percent of the {part} MiB that {count} sessions from {} addresses with {SUBSCRIPTIONS} subscriptions each are counted with: \
             {used} MiB; at most {peak} MiB resident in all of {TOTAL_MIB} given; opened in {opened:.1} s, all notified of a block and of a script in {notified:.1} s",
            count.div_ceil(SESSIONS_OF_ADDRESS)
        ),
    };
    let rows = format!(
        "sessions,subscriptions,total_mib,part_mib,before_mib,with_sessions_mib,after_block_mib,peak_mib,open_s,notify_s\n\
         {count},{},{TOTAL_MIB},{part},{before},{with_sessions},{after_block},{peak},{opened:.2},{notified:.2}\n",
        count * SUBSCRIPTIONS
    );
    bar.report(&bench.root, "cargo xtask bars electrum", &rows)?;
    if peak > TOTAL_MIB {
        return Err(Failure::new(format!("{peak} MiB resident of {TOTAL_MIB} MiB given")));
    }
    Ok(bar)
}

/// A session from an address of its own group, subscribed to the newest block, to the one script that is paid later, and to others that
/// have a history.
fn open(runtime: &Runtime, number: u32, scripts: u32) -> Outcome<Wire> {
    let [_, _, high, low] = (number / SESSIONS_OF_ADDRESS).to_be_bytes();
    let from = Ipv4Addr::new(127, 1, high, low.saturating_add(1));
    let stream = connect(runtime, from);
    let mut wire = Wire::over(stream.map_err(|error| Failure::new(format!("session {number} from {from}: {error}")))?)?;
    wire.call("blockchain.headers.subscribe", &json!([]))?;
    let others = (1..SUBSCRIPTIONS).map(|at| 1 + (number * SUBSCRIPTIONS + at) % (scripts - 1));
    let scripts: Vec<String> = std::iter::once(0).chain(others).map(|number| script_hash(&script(number))).collect();
    wire.send(&batch("subscribe", &scripts))?;
    let answers = parse(&wire.line()?)?;
    let count = answers.as_array().into_iter().flatten().filter(|answer| answer["result"].is_string()).count();
    if count == scripts.len() {
        Ok(wire)
    } else {
        Err(Failure::new(format!("session {number} has {count} subscriptions: {answers}")))
    }
}

fn connect(runtime: &Runtime, from: Ipv4Addr) -> io::Result<TcpStream> {
    let stream = runtime.block_on(async {
        let socket = TcpSocket::new_v4()?;
        socket.bind((from, 0).into())?;
        socket.connect((Ipv4Addr::LOCALHOST, PORT).into()).await?.into_std()
    })?;
    stream.set_nonblocking(false)?;
    Ok(stream)
}

/// A block whose coinbase pays script 0.
fn mine() -> Outcome {
    let failed = || Failure::new("the node mines no block");
    let address =
        Address::from_script(&script(0), Network::Regtest).map_err(|error| Failure::new(error.to_string()))?;
    let mined = Node::rpc("generatetoaddress", &json!([1, address.to_string()])).ok_or_else(failed)?;
    if mined.as_array().is_some_and(|hashes| hashes.len() == 1) { Ok(()) } else { Err(failed()) }
}

/// Lets this process, and the program that it starts, have a descriptor for each session.
fn raise_descriptors(sessions: u32) -> Outcome {
    let needed = u64::from(sessions) + DESCRIPTORS;
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= needed) {
        return Ok(());
    }
    setrlimit(Resource::Nofile, Rlimit { current: Some(needed), maximum: limit.maximum })
        .map_err(|error| Failure::new(format!("{needed} descriptors are needed (ulimit -n): {error}")))
}
