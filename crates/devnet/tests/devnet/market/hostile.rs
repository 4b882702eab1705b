//! Among the market's orders comes garbage of every kind: the engine goes on, no account mints what is not its own, and memory
//! stays bounded.

use std::collections::BTreeMap;
use std::sync::Arc;

use bitcoin::{Amount, OutPoint, ScriptBuf, TxOut, Txid};
use paraffin_alkanes::codec::gzip;
use paraffin_alkanes::{BlockEffects, CallKind, StateKey, TraceEvent, TraceStatus};
use paraffin_devnet::market::{DIESEL, FACTORY, Market, MarketError, WRAPPED_BITCOIN};
use paraffin_devnet::{ACCOUNT_NAMES, Node, OutputKind, Wallet};
use paraffin_primitives::AlkaneId;

use super::ledger::{Ledger, Moment};
use super::vandal::{Vandal, call, runestone};

/// Resident memory that hostile transactions may add, in KiB.
const GROWTH_MAX_KIB: u64 = 768 << 10;
const PROBE: &[u8] = include_bytes!("../../../../../contracts/wasm/probe.wasm");

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().trim().parse().unwrap()
}

/// A node on which the vandal has coins, and the market.
struct Scene {
    node: Node,
    wallet: Arc<Wallet>,
    market: Market,
    vandal: Vandal,
    ledger: Ledger,
}

impl Scene {
    fn new(seed: u64) -> Self {
        let node = Node::new(None);
        let wallet = Arc::new(Wallet::new(seed, &ACCOUNT_NAMES));
        let market = Market::new(seed, Arc::clone(&wallet));
        let vandal = Vandal::new(seed);
        let mut scene = Self { node, wallet, market, vandal, ledger: Ledger::lenient() };
        scene.node.mine_block(&scene.wallet.script(0, OutputKind::Taproot)).unwrap();
        scene.node.mine(45, &scene.vandal.script()).unwrap();
        while scene.node.tip().height < 110 {
            scene.block();
        }
        scene
    }

    /// The market's orders and all pending transactions.
    fn block(&mut self) -> BlockEffects {
        self.market.observe(&self.node).unwrap();
        match self.market.step(&self.node) {
            Ok(_) | Err(MarketError::Refused(_)) => {}
            Err(error) => panic!("block {}: {error}", self.node.tip().height),
        }
        self.mine()
    }

    fn mine(&mut self) -> BlockEffects {
        self.node.mine_block(&self.wallet.script(0, OutputKind::Taproot)).unwrap();
        self.ledger.follow(&self.node).pop().unwrap()
    }

    fn deploy_probe(&mut self) -> AlkaneId {
        let txid = self.vandal.deploy(&self.node, &gzip(PROBE), &[0]);
        created(&self.mine(), txid).unwrap()
    }

    /// Calls a contract alone in a block; how it ended.
    fn outcome(&mut self, target: AlkaneId, inputs: &[u128]) -> (TraceStatus, Vec<u8>) {
        let txid = self.vandal.send(&self.node, target, inputs);
        let effects = self.mine();
        ended(&effects, txid).unwrap()
    }
}

fn created(effects: &BlockEffects, txid: Txid) -> Option<AlkaneId> {
    let mut traces = effects.traces.iter().filter(|(outpoint, _)| outpoint.txid == txid);
    traces.find_map(|(_, trace)| match trace.events.first() {
        Some(TraceEvent::Create(id)) => Some(*id),
        _ => None,
    })
}

fn ended(effects: &BlockEffects, txid: Txid) -> Option<(TraceStatus, Vec<u8>)> {
    let (_, trace) = effects.traces.iter().find(|(outpoint, _)| outpoint.txid == txid)?;
    match trace.events.last() {
        Some(TraceEvent::Exit { status, response, .. }) => Some((*status, response.data.clone())),
        _ => None,
    }
}

/// What outputs and contracts hold together.
fn totals(moment: &Moment) -> BTreeMap<AlkaneId, u128> {
    let mut totals = moment.in_outputs();
    for (key, value) in &moment.values {
        if let StateKey::Balance { what, .. } = key {
            let sum = totals.entry(*what).or_default();
            *sum = sum.saturating_add(u128::from_le_bytes(value[..].try_into().unwrap()));
        }
    }
    totals
}

/// The most that the calls of a block can have issued: what contracts gave of themselves, whether it was undone or not.
fn issued_at_most(effects: &BlockEffects) -> BTreeMap<AlkaneId, u128> {
    let mut issued = BTreeMap::<AlkaneId, u128>::new();
    let mut add = |id: AlkaneId, who: AlkaneId, value: u128| {
        if id == who {
            let sum = issued.entry(id).or_default();
            *sum = sum.saturating_add(value);
        }
    };
    for (_, trace) in &effects.traces {
        let mut open = Vec::new();
        for (index, event) in trace.events.iter().enumerate() {
            match event {
                TraceEvent::Create(_) | TraceEvent::Omitted { .. } => {}
                TraceEvent::Enter { context, kind, .. } => {
                    open.push(context.myself);
                    if open.len() > 1 && *kind != CallKind::Delegate {
                        context.incoming.iter().for_each(|given| add(given.id, context.caller, given.value));
                    }
                }
                // Answered by the host itself.
                TraceEvent::Exit { fuel_used: 0, .. } if index + 1 < trace.events.len() => {}
                TraceEvent::Exit { response, .. } => {
                    let who = open.pop().unwrap_or_default();
                    response.alkanes.iter().for_each(|given| add(given.id, who, given.value));
                }
            }
        }
    }
    issued
}

#[test]
fn garbage_among_the_orders_stops_nobody_and_mints_nothing() {
    for seed in [21, 22, 23] {
        let mut scene = Scene::new(seed);
        let probe = scene.deploy_probe();
        let before = resident_kib();
        let mut targets = vec![DIESEL, WRAPPED_BITCOIN, FACTORY, probe, AlkaneId { block: 2, tx: 1 }];
        let (mut sent, mut traces, mut orders) = (0, 0, 0);
        for _ in 0..30 {
            let mut coins = scene.vandal.coins(&scene.node);
            for _ in 0..6 {
                let outputs = scene.vandal.garbage(&targets);
                let count = 1 + scene.vandal.below(3) as usize;
                let chosen: Vec<(OutPoint, TxOut)> = (0..count.min(coins.len()))
                    .map(|_| coins.swap_remove(scene.vandal.below(coins.len() as u64) as usize))
                    .collect();
                let Some(transaction) = scene.vandal.spend(&chosen, outputs) else { continue };
                sent += u32::from(scene.node.submit_transaction(transaction).is_ok());
            }
            let before = totals(scene.ledger.now());
            let effects = scene.block();
            let issued = issued_at_most(&effects);
            for (id, total) in totals(scene.ledger.now()) {
                let limit = |amounts: &BTreeMap<AlkaneId, u128>| amounts.get(&id).copied().unwrap_or_default();
                assert!(
                    total <= limit(&before).saturating_add(limit(&issued)),
                    "seed {seed}, height {}: {id} grew from {} to {total}, {} were issued",
                    scene.node.tip().height,
                    limit(&before),
                    limit(&issued)
                );
            }
            targets.extend(effects.traces.iter().filter_map(|(_, trace)| match trace.events.first() {
                Some(TraceEvent::Create(id)) => Some(*id),
                _ => None,
            }));
            traces += effects.traces.len();
            orders += effects.traces.iter().filter(|(_, trace)| is_order(trace)).count();
        }
        let grown = resident_kib().saturating_sub(before);
        assert!(grown < GROWTH_MAX_KIB, "seed {seed}: {grown} KiB more");
        assert!(sent > 60 && traces > 60 && orders > 20, "seed {seed}: {sent} {traces} {orders}");
    }
}

/// Whether the factory of pools was called and went well.
fn is_order(trace: &paraffin_alkanes::Trace) -> bool {
    let to_factory =
        matches!(trace.events.first(), Some(TraceEvent::Enter { context, .. }) if context.myself == FACTORY);
    to_factory && matches!(trace.events.last(), Some(TraceEvent::Exit { status: TraceStatus::Success, .. }))
}

#[test]
fn code_that_is_none_and_archives_that_burst_create_nothing() {
    let mut scene = Scene::new(31);
    let before = resident_kib();
    let bomb = gzip(&vec![0; 160 << 20]);
    let mut half = gzip(PROBE);
    half.truncate(half.len() / 2);
    let without_exports = gzip(&wat::parse_str("(module)").unwrap());
    let starting = "(module (memory (export \"memory\") 1) (func $s (loop (br 0))) (start $s))";
    let starting = gzip(&wat::parse_str(starting).unwrap());
    let huge = gzip(&wat::parse_str("(module (memory (export \"memory\") 65536))").unwrap());
    for payload in
        [&[][..], b"no archive", &bomb, &half, &without_exports, &starting, &huge, &gzip(b"\0asm"), &gzip(&[])]
    {
        let txid = scene.vandal.deploy(&scene.node, payload, &[0]);
        let effects = scene.block();
        let end = ended(&effects, txid);
        assert!(end.is_none_or(|(status, _)| status == TraceStatus::Revert), "{} bytes were run", payload.len());
        let grown = resident_kib().saturating_sub(before);
        assert!(grown < GROWTH_MAX_KIB, "{} bytes: {grown} KiB more", payload.len());
    }
    // The next order is served.
    assert!(scene.deploy_probe().block == 2);
}

#[test]
fn contracts_that_run_for_ever_nest_or_hoard_fail_alone() {
    let mut scene = Scene::new(32);
    let probe = scene.deploy_probe();
    let before = resident_kib();
    // The machine, the host and the protocol each end one of these.
    for inputs in [
        &[80][..],
        &[81, 1_000_000],
        &[82],
        &[84, 1 << 40],
        &[34, 1_000, 1_000],
        &[45, 25],
        &[52, 25],
        &[87],
        &[88],
        &[90, u128::MAX],
        &[92, 2, 0, 1],
        &[93, 1, 1],
        &[4711],
    ] {
        let (status, data) = scene.outcome(probe, inputs);
        assert_eq!(status, TraceStatus::Revert, "{inputs:?}: {}", String::from_utf8_lossy(&data));
        let grown = resident_kib().saturating_sub(before);
        assert!(grown < GROWTH_MAX_KIB, "{inputs:?}: {grown} KiB more");
    }
    let (status, data) = scene.outcome(probe, &[45, 24]);
    assert_eq!((status, data), (TraceStatus::Success, 24_u128.to_le_bytes().to_vec()), "24 nested calls");

    // All of them in one block, and then the market goes on.
    let hungry: Vec<_> = [&[80][..], &[82], &[45, 25], &[1]].iter().map(|inputs| call(probe, inputs)).collect();
    for coin in scene.vandal.coins(&scene.node).into_iter().take(10) {
        let script_pubkey = ScriptBuf::new_op_return([7; 8]);
        let outputs = vec![scene.vandal.own(), runestone(&hungry, 4), TxOut { value: Amount::ZERO, script_pubkey }];
        let Some(transaction) = scene.vandal.spend(&[coin], outputs) else { continue };
        scene.node.submit_transaction(transaction).unwrap();
    }
    let effects = scene.block();
    assert!(effects.traces.len() >= 20, "{}", effects.traces.len());
    let orders: usize = (0..8).map(|_| scene.block().traces.iter().filter(|(_, trace)| is_order(trace)).count()).sum();
    assert!(orders > 0, "no trades any more");
}
