//! Pages read while the node reorganises: each is of one height, and says which.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::support::http;
use crate::support::served::{Backend, Ledger, Numbers, Served, address};
use bitcoin::BlockHash;
use serde_json::{Value, json};

/// Different answers that each reader must have seen before the reorgs end.
const STATES: usize = 40;
/// Reorgs within which that must happen.
const REORGS_MAX: u32 = 200;

/// Pages below an address that depend on confirmed blocks alone.
const TOTALS: &str = "";
const HISTORY: &str = "/txs/chain";

/// What a reader may get at a height: one entry for each chain that had a block there.
#[derive(Default)]
struct Expected {
    seen: HashSet<BlockHash>,
    answers: HashMap<(u32, &'static str), Vec<Value>>,
}

impl Expected {
    /// Notes what each page says after every block of the best chain that was not seen before.
    fn note(&mut self, served: &Served, script: &bitcoin::ScriptBuf) {
        let blocks = served.backend.chain();
        for height in 0..blocks.len() {
            if !self.seen.insert(blocks[height].block_hash()) {
                continue;
            }
            let ledger = Ledger::of_blocks(blocks[..=height].to_vec());
            let empty = Vec::new();
            let history = ledger.histories.get(script).unwrap_or(&empty);
            let page: Vec<Value> = history
                .iter()
                .rev()
                .take(25)
                .map(|(height, _, txid)| json!([txid, ledger.status(*height)["block_hash"]]))
                .collect();
            let height = u32::try_from(height).unwrap();
            self.answers.entry((height, TOTALS)).or_default().push(ledger.chain_stats(script));
            self.answers.entry((height, HISTORY)).or_default().push(json!(page));
        }
    }
}

/// The part of a page that the recomputation knows.
fn reduced(path: &str, body: &Value) -> Value {
    if path == TOTALS {
        return body["chain_stats"].clone();
    }
    let records = body.as_array().unwrap().iter();
    json!(records.map(|record| json!([record["txid"], record["status"]["block_hash"]])).collect::<Vec<_>>())
}

#[test]
fn a_page_read_while_the_node_reorganises_is_of_one_height_and_says_it() {
    let mut numbers = Numbers::new(0x7061_6765);
    let mut served = Served::start(Backend::devnet());
    served.backend.mine(101, &served.scripts[0]);
    served.mine_traffic(&mut numbers, 15);
    served.wait_for_tip();
    let script = served.scripts[0].clone();
    let mut expected = Expected::default();
    expected.note(&served, &script);

    let stop = Arc::new(AtomicBool::new(false));
    let states = [TOTALS, HISTORY].map(|_| Arc::new(AtomicUsize::new(0)));
    let readers: Vec<_> = [TOTALS, HISTORY]
        .into_iter()
        .zip(&states)
        .map(|(path, states)| {
            let (stop, states, host) = (Arc::clone(&stop), Arc::clone(states), served.address.clone());
            let target = served.keyed(&format!("/esplora/address/{}{path}", address(&script)));
            std::thread::spawn(move || {
                let mut observed: Vec<(u32, Value)> = Vec::new();
                let mut heights = Vec::new();
                while !stop.load(Ordering::Relaxed) {
                    let answer = http::get(&host, &target);
                    assert_eq!(answer.status, 200, "{}", answer.text());
                    let height: u32 = answer.header("x-indexed-height").unwrap().parse().unwrap();
                    heights.push(height);
                    let entry = (height, reduced(path, &answer.json()));
                    if observed.last() != Some(&entry) {
                        observed.push(entry);
                        states.store(observed.len(), Ordering::Relaxed);
                    }
                }
                (path, observed, heights)
            })
        })
        .collect();

    for _ in 0..REORGS_MAX {
        if states.iter().all(|states| states.load(Ordering::Relaxed) >= STATES) {
            break;
        }
        let depth = 1 + u32::try_from(numbers.below(8)).unwrap();
        served.reorganise(&mut numbers, depth);
        served.wait_for_tip();
        expected.note(&served, &script);
    }
    stop.store(true, Ordering::Relaxed);

    for reader in readers {
        let (path, observed, heights) = reader.join().unwrap();
        for (height, answer) in &observed {
            let possible = expected.answers.get(&(*height, path)).map_or(&[][..], Vec::as_slice);
            assert!(
                possible.contains(answer),
                "{path} at {height} was {answer}, which no chain says there: {possible:?}"
            );
        }
        // The readers really read during the reorgs: they saw the height go down, and many states.
        assert!(heights.windows(2).any(|pair| pair[1] < pair[0]), "{path}: the height never went down");
        let distinct: BTreeSet<_> = observed.iter().map(|(height, _)| height).collect();
        assert!(observed.len() >= STATES && distinct.len() > 3, "{path}: {} states", observed.len());
    }
}
