//! The chain as a whole: the same from the same seed, made again as it was made first, and accepted.

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;

use bitcoin::consensus::{Decodable as _, deserialize, encode::VarInt, serialize};
use bitcoin::hashes::Hash as _;
use bitcoin::{Block, OutPoint, Script, Transaction, TxOut};
use ordinals::{Artifact, Runestone};
use paraffin_alkanes::{
    Builtins, CodeCache, Engine as _, NativeEngine, StateError, StateKey, StateReader, TraceEvent, TraceStatus,
};
use paraffin_primitives::{ConnectedBlock, Network};

use super::chain::Chain;
use super::message::Purpose;
use super::node::Node;
use super::shape::Shape;
use super::{Wanted, generate};
use crate::import::float;

/// Blocks of a chain of about 40 MB that has every row of the table.
const HEIGHT: u32 = 64;

fn chain(folder: &Path, seed: u64) -> Chain {
    generate::provide(folder, seed, Shape::committed(HEIGHT).unwrap()).unwrap().0
}

fn blocks(chain: &Chain) -> Vec<Block> {
    (1..=chain.height()).map(|height| deserialize(&chain.make(height).unwrap().block).unwrap()).collect()
}

/// The lists of a `spenttxouts` answer.
fn spent_outputs(mut bytes: &[u8]) -> Vec<Vec<TxOut>> {
    let mut count = || VarInt::consensus_decode(&mut bytes).map(|count| count.0);
    let transactions = count().unwrap();
    let mut lists = Vec::new();
    for _ in 0..transactions {
        let outputs = VarInt::consensus_decode(&mut bytes).unwrap().0;
        lists.push((0..outputs).map(|_| TxOut::consensus_decode(&mut bytes).unwrap()).collect());
    }
    assert!(bytes.is_empty());
    lists
}

#[test]
fn blocks_link_and_commit_to_what_they_hold_and_spend_what_there_is() {
    let folder = tempfile::tempdir().unwrap();
    let chain = chain(folder.path(), 1);
    let mut tip = bitcoin::constants::genesis_block(bitcoin::Network::Regtest).block_hash();
    let mut unspent: HashMap<OutPoint, TxOut> = HashMap::new();
    let (mut inputs, mut total) = (0, 0);
    for height in 1..=chain.height() {
        let made = chain.make(height).unwrap();
        let entry = chain.entry(height).unwrap();
        let block: Block = deserialize(&made.block).unwrap();
        assert_eq!(serialize(&block), made.block);
        assert_eq!(made.block.len(), entry.size as usize);
        total += made.block.len() as u64;
        assert_eq!(chain.bytes(height), total);
        assert_eq!(block.header.prev_blockhash, tip);
        tip = block.header.validate_pow(block.header.target()).unwrap();
        assert_eq!(chain.height_of(&tip), Some(height));
        assert!(block.check_merkle_root(), "{height}");
        assert!(block.check_witness_commitment(), "{height}");
        assert!(block.weight().to_wu() <= 4_000_000, "{height}");
        // Below 17 the height is one operator, which the crate does not read.
        assert!(height < 17 || block.bip34_block_height() == Ok(u64::from(height)), "{height}");
        let lists = spent_outputs(&made.spent);
        assert_eq!(lists.len(), block.txdata.len());
        for (transaction, list) in block.txdata.iter().zip(lists) {
            if !transaction.is_coinbase() {
                assert_eq!(list.len(), transaction.input.len());
                for (input, output) in transaction.input.iter().zip(&list) {
                    assert_eq!(unspent.remove(&input.previous_output).as_ref(), Some(output), "{height}");
                }
                inputs += list.len() as u64;
                let worth = |outputs: &[TxOut]| outputs.iter().map(|output| output.value.to_sat()).sum::<u64>();
                assert!(worth(&list) >= worth(&transaction.output));
            }
            let txid = transaction.compute_txid();
            for (vout, output) in (0..).zip(&transaction.output) {
                unspent.insert(OutPoint { txid, vout }, output.clone());
            }
        }
        assert_eq!(chain.inputs(height), inputs);
    }
}

#[test]
fn the_seed_alone_decides() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let (first, second) = (chain(folders[0].path(), 1), chain(folders[1].path(), 1));
    for height in (1..=HEIGHT).rev() {
        assert_eq!(first.make(height).unwrap(), second.make(height).unwrap(), "{height}");
    }
    // Opened instead of made.
    let (opened, seconds) = generate::provide(folders[0].path(), 1, Shape::committed(HEIGHT).unwrap()).unwrap();
    assert!(opened.height() == HEIGHT && seconds < 0.001);
    let other = chain(folders[0].path(), 2);
    assert_ne!(first.make(HEIGHT).unwrap(), other.make(HEIGHT).unwrap());
}

#[test]
fn another_chain_has_another_format_number() {
    let folder = tempfile::tempdir().unwrap();
    let tip = chain(folder.path(), 1).entry(HEIGHT).unwrap().hash();
    // A change to the chain or its table raises `FORMAT`, if the table is the same, and writes the new hash here.
    assert_eq!(tip.to_string(), "487d20f238bfbfccc091bfc13bd95cb787909c48a4bf719591910cd64122eb35");
}

#[test]
fn two_bars_do_not_work_in_one_folder() {
    let folder = tempfile::tempdir().unwrap();
    let first = super::lock(folder.path()).unwrap();
    assert!(super::lock(folder.path()).is_err());
    drop(first);
    assert!(super::lock(folder.path()).is_ok());
}

#[test]
fn a_skeleton_that_was_broken_off_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let whole = chain(folder.path(), 1).make(HEIGHT).unwrap();
    let skeleton = super::chain::folder(folder.path(), 1, HEIGHT);
    std::fs::remove_file(skeleton.join("blocks")).unwrap();
    std::fs::write(skeleton.join("transactions"), b"half").unwrap();
    assert_eq!(chain(folder.path(), 1).make(HEIGHT).unwrap(), whole);
}

#[test]
fn the_shape_is_that_of_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let chain = chain(folder.path(), 1);
    let blocks = blocks(&chain);
    // The stretch before BIP141 has no witness.
    let without = &blocks[..HEIGHT as usize / 2];
    assert!(
        without
            .iter()
            .flat_map(|block| &block.txdata)
            .all(|one| one.input.iter().all(|input| input.witness.is_empty()))
    );
    // From 942,000 on.
    let last = &blocks[HEIGHT as usize * 98 / 100..];
    let transactions: Vec<_> = last.iter().flat_map(|block| &block.txdata[1..]).collect();
    let mean = |of: &dyn Fn(&Transaction) -> usize| {
        let sum: usize = transactions.iter().map(|one| of(one)).sum();
        float(sum as u64) / float(transactions.len() as u64)
    };
    let inputs = mean(&|one| one.input.len());
    assert!((1.5..2.0).contains(&inputs), "{inputs}");
    let size = mean(&Transaction::total_size);
    assert!((250.0..450.0).contains(&size), "{size}");
    let is_rune = |artifact: Artifact| match artifact {
        Artifact::Runestone(stone) => stone.mint.is_some() || stone.etching.is_some(),
        Artifact::Cenotaph(_) => true,
    };
    // Mints of the genesis token mint a rune, too.
    let runes = mean(&|one| usize::from(Runestone::decipher(one).is_some_and(is_rune)));
    assert!((0.54..0.63).contains(&runes), "{runes}");
    // The tag of messages, 16,383 as a varint.
    let calls = |output: &TxOut| {
        let script = output.script_pubkey.as_bytes();
        script.starts_with(&[0x6a, 0x5d]) && script.windows(2).any(|tag| tag == [0xff, 0x7f])
    };
    let contracts = mean(&|one| usize::from(one.output.iter().any(calls)));
    assert!((0.51..0.59).contains(&contracts), "{contracts}");
    let shows = |part: &[u8]| part.windows(5).any(|five| five == b"\x63\x03ord");
    let reveals = mean(&|one| usize::from(one.input[0].witness.iter().any(shows)));
    assert!((0.01..0.03).contains(&reveals), "{reveals}");
    let of_kind =
        |kind: fn(&Script) -> bool| mean(&|one| one.output.iter().filter(|output| kind(&output.script_pubkey)).count());
    let share = of_kind(Script::is_p2wpkh) / of_kind(|script| !script.is_op_return());
    assert!((0.42..0.52).contains(&share), "{share}");
}

#[test]
fn runes_are_etched_and_minted_as_readers_understand_them() {
    let folder = tempfile::tempdir().unwrap();
    let blocks = blocks(&chain(folder.path(), 1));
    // The last block is at a height at which a rune is etched.
    let Some(Artifact::Runestone(stone)) = Runestone::decipher(&blocks[HEIGHT as usize - 1].txdata[1]) else {
        panic!("no runestone");
    };
    let terms = stone.etching.unwrap().terms.unwrap();
    assert_eq!((terms.amount, terms.cap), (Some(1_000), Some(1 << 62)));
    let mints = blocks.iter().flat_map(|block| &block.txdata).filter_map(Runestone::decipher);
    let mints: Vec<_> = mints.map(|artifact| artifact.mint()).collect();
    assert!(mints.iter().flatten().all(|id| id.tx == 1 && id.block % 64 == 0) && mints.len() > 100);
}

#[test]
fn the_node_answers_what_a_first_import_asks() {
    let folder = tempfile::tempdir().unwrap();
    let (node, address) = Node::start(chain(folder.path(), 1)).unwrap();
    let hash = node.chain.entry(40).unwrap().hash();
    let ask = |request: String| {
        let mut stream = std::net::TcpStream::connect(&address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        (String::from_utf8_lossy(&answer[9..12]).into_owned(), answer[end + 4..].to_vec())
    };
    let get = |path: &str| ask(format!("GET /rest/{path} HTTP/1.1\r\nhost: x\r\n\r\n"));
    let post = |body: &str| ask(format!("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}", body.len()));
    let made = node.chain.make(40).unwrap();
    assert_eq!(get(&format!("block/{hash}.bin")), ("200".to_owned(), made.block.clone()));
    assert_eq!(get(&format!("spenttxouts/{hash}.bin")), ("200".to_owned(), made.spent));
    assert_eq!(get(&format!("blockpart/{hash}.bin?offset=80&size=9")).1, made.block[80..89]);
    assert_eq!(get(&format!("headers/{hash}.bin?count=2000")).1.len(), (HEIGHT as usize - 39) * 80);
    assert_eq!(get(&format!("headers/{hash}.bin?count=2")).1[..80], made.block[..80]);
    let unknown = bitcoin::BlockHash::all_zeros();
    let (status, text) = get(&format!("block/{unknown}.bin"));
    assert!(status == "404" && String::from_utf8(text).unwrap().contains(&unknown.to_string()));
    let (status, text) = post(r#"{"id":7,"method":"getblockhash","params":[40]}"#);
    assert!(status == "200" && String::from_utf8(text).unwrap().contains(&hash.to_string()));
    let (status, text) =
        post(r#"[{"id":1,"method":"getblockcount","params":[]},{"id":2,"method":"stop","params":[]}]"#);
    let answers: serde_json::Value = serde_json::from_slice(&text).unwrap();
    assert_eq!((status.as_str(), answers[0]["result"].as_u64()), ("200", Some(u64::from(HEIGHT))));
    assert_eq!(answers[1]["error"]["code"].as_i64(), Some(-32_601));
    assert_eq!(node.served(), 40);
}

#[test]
fn arguments_are_read_and_others_refused() {
    let parse = |text: &str| Wanted::parse(&text.split(' ').map(str::to_owned).collect::<Vec<_>>());
    let wanted = parse("--gib 0.5 --lean --seed 9 --memory-mib 512").unwrap();
    assert_eq!((wanted.gib, wanted.seed, wanted.setup.lean, wanted.setup.memory_mib), (0.5, 9, true, 512));
    for broken in ["--gib", "--gib x", "--gib 0", "--gib 1000", "--colour red"] {
        assert!(parse(broken).is_err(), "{broken}");
    }
}

/// The engine's state as of a block.
#[derive(Default)]
struct State(HashMap<StateKey, Vec<u8>>);

impl StateReader for State {
    fn get(&self, key: &StateKey) -> Result<Option<Vec<u8>>, StateError> {
        Ok(self.0.get(key).cloned())
    }
}

/// How the messages of one kind of transactions ended.
#[derive(Debug, Default)]
struct Outcomes {
    succeeded: u32,
    reverted: u32,
}

#[test]
fn contracts_are_founded_minted_and_traded_as_the_engine_understands_them() {
    let folder = tempfile::tempdir().unwrap();
    // More orders than on mainnet, so that there are enough of them to see what they do.
    let shape = Shape::committed(HEIGHT).unwrap().with_orders(80);
    let chain = generate::provide(folder.path(), 1, shape).unwrap().0;
    let codes = [("2:0", "genesis-token"), ("32:0", "wrapped-bitcoin"), ("32:1", "auth-token")];
    let builtins = Builtins::given(codes.map(|(id, name)| {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../contracts/wasm/{name}.wasm"));
        (id.parse().unwrap(), std::fs::read(file).unwrap())
    }));
    let mut engine = NativeEngine::new(Network::Regtest, Arc::new(builtins), Arc::new(CodeCache::default()));
    let mut state = State::default();
    let (mut created, mut outcomes) = (Vec::new(), HashMap::<Purpose, Outcomes>::new());
    let first = (1..=HEIGHT).find(|height| purposes(&chain, *height).contains(&Purpose::Founding)).unwrap();
    let genesis = bitcoin::constants::genesis_block(bitcoin::Network::Regtest);
    for height in std::iter::once(0).chain(first..=HEIGHT) {
        let block =
            if height == 0 { genesis.clone() } else { deserialize(&chain.make(height).unwrap().block).unwrap() };
        let block = ConnectedBlock::new(height, block);
        let effects = engine.run_block(height, &block, &state).unwrap();
        let purposes = if height == 0 { Vec::new() } else { purposes(&chain, height) };
        for (outpoint, trace) in &effects.traces {
            let place = block.txids.iter().position(|txid| *txid == outpoint.txid).unwrap();
            created.extend(trace.events.iter().filter_map(|event| match event {
                TraceEvent::Create(id) => Some(id.to_string()),
                _ => None,
            }));
            let outcomes = outcomes.entry(purposes[place]).or_default();
            let reverted =
                trace.events.iter().any(|event| matches!(event, TraceEvent::Exit { status: TraceStatus::Revert, .. }));
            *if reverted { &mut outcomes.reverted } else { &mut outcomes.succeeded } += 1;
        }
        state.0.extend(effects.writes);
    }
    // Templates and proxies, ownership tokens beside what they own, four pools, and a token that anybody mints.
    let fixed =
        ["4:65517", "4:65520", "4:65524", "4:780993", "4:780992", "2:1", "4:65522", "2:2", "4:65600", "4:65601"];
    let numbered = (3..=15).map(|number| format!("2:{number}"));
    assert_eq!(created, fixed.into_iter().map(str::to_owned).chain(numbered).collect::<Vec<_>>());
    for purpose in [Purpose::Founding, Purpose::NewToken, Purpose::GenesisMint, Purpose::ContractMint] {
        assert_eq!(outcomes.get(&purpose).map(|outcomes| outcomes.reverted), Some(0), "{purpose:?}: {outcomes:?}");
    }
    assert!(outcomes[&Purpose::GenesisMint].succeeded > 1_000, "{outcomes:?}");
    // A trader does not always have what he sells.
    let Outcomes { succeeded, reverted } = outcomes[&Purpose::Order];
    assert!(succeeded > 80 && reverted > 0 && reverted * 4 < succeeded, "{outcomes:?}");
}

/// What the transactions of a block are.
fn purposes(chain: &Chain, height: u32) -> Vec<Purpose> {
    chain.records(height).unwrap().iter().map(|record| record.purpose).collect()
}
