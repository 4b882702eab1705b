//! Mirrors that connect and disconnect over real connections: whatever they miss, they converge to the server's set.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bitcoin::hashes::Hash as _;
use bitcoin::{Block, OutPoint, ScriptBuf, Transaction, Txid};
use paraffin_mempool::{Limits, Mempool};
use serde_json::{Value, json};

use super::{add, named, result};
use crate::chain::payment;
use crate::instance::{Instance, Setup};
use crate::stream::Stream;

/// Mirrors of one schedule.
const MIRRORS: usize = 3;
/// Replay rings: one that is left behind at once, one that is sometimes, one that never is.
const RINGS: [usize; 3] = [8, 64, 1_000_000];
/// Bytes of the set, so that it stays small and evicts.
const SET_BYTES: usize = 20_000;
/// Longest wait for a frame that must come.
const PATIENCE: Duration = Duration::from_secs(30);

/// Number of schedules, 10,000 with `PARAFFIN_LONG=1`.
fn schedules() -> u64 {
    if std::env::var_os("PARAFFIN_LONG").is_some() { 10_000 } else { 200 }
}

/// Numbers that follow from a seed (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// One below `bound`.
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}

/// Counters of events, to detect a run that tests nothing.
#[derive(Debug, Default)]
struct Tally {
    connects: u64,
    breaks: u64,
    snapshots: u64,
    replays: u64,
    too_old: u64,
    lagged: u64,
    unknown_instance: u64,
    restarts: u64,
    frames: u64,
}

/// The server, its set, and its sequence of changes.
struct Server {
    instance: Instance,
    mempool: Arc<Mempool>,
    name: String,
    blocks: Vec<Block>,
    made: u64,
}

impl Server {
    async fn start(number: u32, ring: usize, made: u64) -> Self {
        let limits = Limits { ring_frames_max: ring, raw_bytes_max: SET_BYTES, ..Limits::default() };
        let (instance, mempool) = named(limits, number, Setup::default()).await;
        Self { instance, mempool, name: format!("{number:08x}"), blocks: Vec::new(), made }
    }

    /// Stops it and starts another one, which fills its set in another order.
    async fn restart(mut self, numbers: &mut Numbers) -> Self {
        let mut left: Vec<Transaction> = self.set();
        self.instance.stop.take().unwrap().send(()).unwrap();
        tokio::time::timeout(PATIENCE, self.instance.served.take().unwrap()).await.unwrap().unwrap();
        let number = u32::from_str_radix(&self.name, 16).unwrap() + 1;
        let ring = RINGS[numbers.below(RINGS.len() as u64) as usize];
        let next = Self::start(number, ring, self.made).await;
        while !left.is_empty() {
            let transaction = left.swap_remove(numbers.below(left.len() as u64) as usize);
            add(&next.mempool, &transaction);
        }
        next
    }

    fn set(&self) -> Vec<Transaction> {
        let entries = self.mempool.read(|pool| pool.page(0, usize::MAX).entries);
        entries.iter().map(|entry| entry.transaction().unwrap()).collect()
    }

    fn newest(&self) -> u64 {
        self.mempool.read(|pool| pool.ring().newest())
    }

    fn some(&self, numbers: &mut Numbers) -> Option<Transaction> {
        let mut set = self.set();
        (!set.is_empty()).then(|| set.swap_remove(numbers.below(set.len() as u64) as usize))
    }

    /// A new transaction, which spends an unknown output, or one of the set.
    fn new_transaction(&mut self, parent: Option<&Transaction>) -> Transaction {
        self.made += 1;
        let mut txid = [1; 32];
        txid[..8].copy_from_slice(&self.made.to_be_bytes());
        let from = parent.map_or(OutPoint { txid: Txid::from_byte_array(txid), vout: 0 }, |parent| OutPoint {
            txid: parent.compute_txid(),
            vout: (self.made % 2) as u32,
        });
        let script = ScriptBuf::from_bytes(vec![0x51, (self.made % 200) as u8]);
        payment(&[from], &[(50_000 + self.made, script.clone()), (7, script)])
    }

    fn change(&mut self, numbers: &mut Numbers) {
        match numbers.below(12) {
            0 => {
                for _ in 0..60 + numbers.below(80) {
                    let new = self.new_transaction(None);
                    add(&self.mempool, &new);
                }
            }
            1 | 2 => {
                if let Some(parent) = self.some(numbers) {
                    // It pushes out what spends the same output, with all that hangs on it.
                    let child = self.new_transaction(Some(&parent));
                    add(&self.mempool, &child);
                }
            }
            3 => {
                let lost: Vec<Txid> = self.some(numbers).iter().map(Transaction::compute_txid).collect();
                self.mempool.drop_unknown(&lost);
            }
            4 => {
                let mut block = self.instance.chain.blocks[1].clone();
                block.header.nonce = u32::try_from(self.made).unwrap();
                let every = 1 + numbers.below(4) as usize;
                block.txdata.extend(self.set().into_iter().step_by(every));
                self.mempool.connect_block(7, &block);
                self.blocks.push(block);
            }
            5 => {
                if let Some(block) = self.blocks.pop() {
                    self.mempool.disconnect_block(&block, super::NOW);
                }
            }
            _ => {
                for _ in 0..=numbers.below(5) {
                    let new = self.new_transaction(None);
                    add(&self.mempool, &new);
                }
            }
        }
    }
}

/// A client with only the data of the surface.
#[derive(Default)]
struct Mirror {
    stream: Option<Stream>,
    /// Of whose numbers, and up to which.
    holds: Option<(String, u64)>,
    set: BTreeSet<String>,
}

impl Mirror {
    /// Connects, and goes on where it stood if that still means something.
    async fn connect(&mut self, server: &mut Server, numbers: &mut Numbers, tally: &mut Tally) {
        let mut stream = Stream::open(server.instance.address, &server.instance.keyed("/mempool/ws")).await.unwrap();
        tally.connects += 1;
        let hello = stream.next().await.unwrap();
        assert_eq!((&hello["type"], hello["instance"].as_str()), (&json!("hello"), Some(server.name.as_str())));
        self.stream = Some(stream);
        match self.holds.take() {
            Some((name, at)) if name == server.name => {
                self.holds = Some((name, at));
                self.subscribe(numbers).await;
            }
            Some((name, at)) if numbers.below(2) == 0 => {
                // A client that does not compare the names is sent a reset: its numbers mean nothing here.
                self.holds = Some((name, at));
                let stream = self.stream.as_mut().unwrap();
                stream
                    .say(&json!({"op": "subscribe", "since_seq": at, "instance": self.holds.as_ref().unwrap().0}))
                    .await;
                let reset = stream.next().await.unwrap();
                assert_eq!((&reset["type"], &reset["reason"]), (&json!("reset"), &json!("unknown_instance")));
                tally.unknown_instance += 1;
                self.begin_anew(server, numbers, tally).await;
            }
            _ => self.begin_anew(server, numbers, tally).await,
        }
    }

    async fn subscribe(&mut self, numbers: &mut Numbers) {
        let (name, at) = self.holds.as_ref().unwrap();
        let mut message = json!({"op": "subscribe", "since_seq": at});
        if numbers.below(2) == 0 {
            message["instance"] = json!(name);
        }
        self.stream.as_mut().unwrap().say(&message).await;
    }

    /// The set page by page, while it changes, then the stream since the first page.
    async fn begin_anew(&mut self, server: &mut Server, numbers: &mut Numbers, tally: &mut Tally) {
        tally.snapshots += 1;
        self.set.clear();
        // Each page is a connection of its own.
        let limit = 20 + numbers.below(200);
        let (mut cursor, mut since) = (0, None);
        loop {
            let params = json!({"limit": limit, "cursor": cursor, "instance": server.name});
            let page = result(&server.instance, "mempool_snapshot", params).await;
            since.get_or_insert(page["seq"].as_u64().unwrap());
            let entries = page["entries"].as_array().unwrap();
            self.set.extend(entries.iter().map(|entry| entry["txid"].as_str().unwrap().to_owned()));
            cursor = page["cursor"].as_u64().unwrap();
            if !page["has_more"].as_bool().unwrap() {
                break;
            }
            if numbers.below(8) == 0 {
                server.change(numbers);
            }
        }
        self.holds = Some((server.name.clone(), since.unwrap()));
        self.subscribe(numbers).await;
    }

    /// Receives at most `count` frames, or all available ones.
    async fn hear(&mut self, count: u64, server: &mut Server, numbers: &mut Numbers, tally: &mut Tally) {
        let mut heard = 0;
        let begun = Instant::now();
        while heard < count && self.holds.as_ref().unwrap().1 < server.newest() {
            assert!(begun.elapsed() < PATIENCE, "the mirror does not come to its end");
            let frame = self.stream.as_mut().unwrap().next().await.unwrap();
            heard += 1;
            if frame["type"] == "reset" {
                match frame["reason"].as_str().unwrap() {
                    "too_old" => tally.too_old += 1,
                    "lagged" => tally.lagged += 1,
                    other => panic!("{other}"),
                }
                self.begin_anew(server, numbers, tally).await;
            } else {
                self.take(&frame, tally);
            }
        }
    }

    fn take(&mut self, frame: &Value, tally: &mut Tally) {
        if frame["type"] == "hello" {
            assert_eq!(frame["replayed"], true);
            tally.replays += 1;
            return;
        }
        let at = &mut self.holds.as_mut().unwrap().1;
        let seq = frame["seq"].as_u64().unwrap();
        // What was on its way when it subscribed anew is sent a second time.
        if seq <= *at {
            return;
        }
        assert_eq!(seq, *at + 1, "a change is missing: {frame}");
        *at = seq;
        tally.frames += 1;
        match frame["type"].as_str().unwrap() {
            "add" => _ = self.set.insert(frame["txid"].as_str().unwrap().to_owned()),
            "remove" => _ = self.set.remove(frame["txid"].as_str().unwrap()),
            "update" | "block" => {}
            other => panic!("{other}"),
        }
    }

    fn checksum(&self) -> String {
        let sum = self.set.iter().fold(0, |sum, txid| sum ^ u64::from_str_radix(&txid[..16], 16).unwrap());
        format!("{sum:016x}")
    }
}

async fn schedule(mut server: Server, mirrors: &mut [Mirror], numbers: &mut Numbers, tally: &mut Tally) -> Server {
    for _ in 0..12 + numbers.below(12) {
        let place = numbers.below(MIRRORS as u64) as usize;
        match numbers.below(10) {
            0..=3 => server.change(numbers),
            4 | 5 if mirrors[place].stream.is_none() => mirrors[place].connect(&mut server, numbers, tally).await,
            6 if mirrors[place].stream.is_some() => {
                // In the middle of whatever is being sent.
                let count = numbers.below(4);
                mirrors[place].hear(count, &mut server, numbers, tally).await;
                mirrors[place].stream = None;
                tally.breaks += 1;
            }
            7 | 8 if mirrors[place].stream.is_some() => {
                let count = numbers.below(30);
                mirrors[place].hear(count, &mut server, numbers, tally).await;
            }
            9 if numbers.below(6) == 0 => {
                for mirror in mirrors.iter_mut() {
                    mirror.stream = None;
                }
                server = server.restart(numbers).await;
                tally.restarts += 1;
            }
            _ => {}
        }
    }
    for mirror in mirrors.iter_mut() {
        if mirror.stream.is_none() {
            mirror.connect(&mut server, numbers, tally).await;
        }
    }
    // A mirror that begins anew may change the set once more: until no mirror has anything left to read.
    while mirrors.iter().any(|mirror| mirror.holds.as_ref().unwrap().1 < server.newest()) {
        for mirror in mirrors.iter_mut() {
            mirror.hear(u64::MAX, &mut server, numbers, tally).await;
        }
    }
    let info = result(&server.instance, "mempool_info", json!({})).await;
    let set: BTreeSet<String> = server.set().iter().map(|one| one.compute_txid().to_string()).collect();
    for mirror in mirrors.iter() {
        assert_eq!((&mirror.set, info["checksum"].as_str()), (&set, Some(mirror.checksum().as_str())));
    }
    server
}

/// Mirrors connect, hear a part, break off and come back, while transactions come, replace each other and are mined, blocks
/// are undone, the replay ring runs over and the server starts anew. In the end each equals the server's set by checksum.
///
/// row MP12
/// row MP14
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mirrors_that_come_and_go_over_connections_end_with_the_servers_set() {
    let began = Instant::now();
    let mut tally = Tally::default();
    let mut server = Server::start(1, RINGS[1], 0).await;
    let mut mirrors: [Mirror; MIRRORS] = Default::default();
    for seed in 0..schedules() {
        let mut numbers = Numbers::new(seed << 32);
        server = Box::pin(schedule(server, &mut mirrors, &mut numbers, &mut tally)).await;
        // Some begin with nothing the next time, some with what they have.
        for mirror in &mut mirrors {
            if numbers.below(3) == 0 {
                *mirror = Mirror::default();
            }
        }
    }
    println!("{} schedules in {:.0} s: {tally:?}", schedules(), began.elapsed().as_secs_f64());
    let Tally { connects, breaks, snapshots, replays, too_old, lagged, unknown_instance, restarts, frames } = tally;
    let all = [connects, breaks, snapshots, replays, too_old + lagged, unknown_instance, restarts, frames];
    assert!(all.iter().all(|count| *count > 0), "{all:?}");
}

/// Memory for clients that do not read is bounded, and others do not wait for them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_never_reads_is_cut_off_and_the_others_hear_everything() {
    const COUNT: u64 = 400;
    let mut setup = Setup::default();
    setup.config.limits.write_timeout_ms = 500;
    let (instance, mempool) = named(Limits::default(), 9, setup).await;
    let path = instance.keyed("/mempool/ws");
    let mut silent = Stream::open(instance.address, &path).await.unwrap();
    let mut attentive = Stream::open(instance.address, &path).await.unwrap();
    for stream in [&mut silent, &mut attentive] {
        assert_eq!(stream.next().await.unwrap()["type"], "hello");
    }
    silent.say(&json!({"op": "subscribe", "include_hex": true})).await;
    attentive.say(&json!({"op": "subscribe"})).await;
    attentive.say(&json!({"op": "ping"})).await;
    assert_eq!(attentive.next().await.unwrap()["type"], "pong");
    for number in 0..COUNT {
        let mut txid = [2; 32];
        txid[..8].copy_from_slice(&number.to_be_bytes());
        // 80 KB each, twice that as text: more than the system keeps for a connection.
        let script = ScriptBuf::from_bytes(vec![0x6a; 80_000]);
        let from = OutPoint { txid: Txid::from_byte_array(txid), vout: 0 };
        add(&mempool, &payment(&[from], &[(number, script)]));
        if number % 50 == 0 {
            tokio::task::yield_now().await;
        }
    }
    for number in 1..=COUNT {
        assert_eq!(attentive.next().await.unwrap()["seq"], number);
    }
    let begun = Instant::now();
    while mempool.subscribers().count() > 1 {
        assert!(begun.elapsed() < PATIENCE, "a client that does not read is still served");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    attentive.say(&json!({"op": "ping"})).await;
    assert_eq!(attentive.next().await.unwrap(), json!({"type": "pong", "seq": COUNT}));
}
