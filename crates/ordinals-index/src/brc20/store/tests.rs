//! The tables against the ledger in memory, through a real store.

use bitcoin::hashes::{Hash as _, sha256};
use bitcoin::hex::DisplayHex as _;
use bitcoin::{BlockHash, ScriptBuf};
use paraffin_primitives::{BlockId, Height, Network};
use paraffin_store::{ModuleSchema, Snapshot, Store, StoreOptions, Writer};
use proptest::prelude::*;

use super::{BalancesDigest, Brc20Index, Brc20Module, MODULE, TABLES};
use crate::brc20::tests::properties::{blocks, step};
use crate::brc20::tests::scene::{
    ONE, Scene, balance, child_of, deploy, id, mint, moved, moved_to, reveal, rules, script, transfer,
};
use crate::brc20::{BlockHashes, Brc20Event, MemoryLedger, Rules};
use crate::event::{Destination, InscriptionEvent};

const SCHEMA: ModuleSchema = ModuleSchema { id: MODULE, name: "ordinals", version: 1, tables: &TABLES, reads: &[] };

/// A store in which blocks follow one another from height 0; `branch` makes their hashes.
struct Chain {
    store: Store,
    writer: Writer,
    module: Brc20Module,
    next: Height,
    _folder: tempfile::TempDir,
}

fn block_id(height: Height, branch: u8) -> BlockId {
    let mut bytes = [branch; 32];
    bytes[..4].copy_from_slice(&height.to_le_bytes());
    BlockId { height, hash: BlockHash::from_byte_array(bytes) }
}

impl Chain {
    fn new(rules: Rules) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = StoreOptions { network: Network::Regtest, undo_blocks: None, memory_bytes: 256 << 20 };
        let store = Store::open(folder.path(), &options, &[SCHEMA]).unwrap();
        let writer = store.writer().unwrap();
        Self { store, writer, module: Brc20Module::with_rules(rules), next: 0, _folder: folder }
    }

    /// With the rules that the tests of the engine have.
    fn small() -> Self {
        Self::new(rules())
    }

    fn add(&mut self, events: &[InscriptionEvent]) {
        let height = self.next;
        let tip = self.writer.tip().map_or(BlockHash::all_zeros(), |tip| tip.id.hash);
        self.writer.begin_block(block_id(height, 1), tip, 0).unwrap();
        let mut rows = self.writer.module(MODULE).unwrap();
        self.module.connect(events, &mut rows).unwrap();
        self.writer.end_block().unwrap();
        self.next += 1;
    }

    /// Empty blocks up to a height, then one block.
    fn at(&mut self, height: Height, events: &[InscriptionEvent]) {
        while self.next < height {
            self.add(&[]);
        }
        self.add(events);
    }

    fn commit(&mut self) -> Snapshot {
        self.writer.commit(false).unwrap();
        self.store.snapshot()
    }

    fn undo(&mut self, depth: u32) {
        self.commit();
        for _ in 0..depth {
            self.writer.undo_block().unwrap();
            self.next -= 1;
        }
    }
}

fn all<T>(rows: impl Iterator<Item = Result<T, crate::brc20::LedgerError>>) -> Vec<T> {
    rows.map(Result::unwrap).collect()
}

/// Every read of the index agrees with the ledger in memory and the list of events.
fn check(snapshot: &Snapshot, ledger: &MemoryLedger, by_height: &[(Height, Vec<Brc20Event>)]) {
    let index = Brc20Index::new(snapshot);
    let newest = index.height().unwrap().unwrap();
    for (ticker, token) in &ledger.tokens {
        assert_eq!(index.token(ticker).unwrap().as_ref(), Some(token));
        let deployment = index.event(token.deployed_at, token.deployed_as).unwrap().unwrap();
        assert_eq!(deployment.event.inscription, token.deployment);
        let holders = all(index.holders(ticker));
        assert!(holders.is_sorted_by(|left, right| left.balance.overall >= right.balance.overall));
        let mut expected: Vec<_> = ledger
            .balances
            .iter()
            .filter_map(|(script, tokens)| Some((script.clone(), *tokens.get(ticker)?)))
            .filter(|(_, balance)| balance.overall.0 > 0)
            .collect();
        let mut found: Vec<_> = holders.into_iter().map(|holder| (holder.script, holder.balance)).collect();
        expected.sort_by(|left, right| left.0.cmp(&right.0));
        found.sort_by(|left, right| left.0.cmp(&right.0));
        assert_eq!(found, expected);
    }
    for (script, tokens) in &ledger.balances {
        for (ticker, balance) in tokens {
            assert_eq!(index.balance_at(script, ticker, newest).unwrap(), Some(*balance));
        }
    }
    check_notes(index, ledger);
    check_events(index, by_height);
    let BalancesDigest::Hash(found) = index.balances_digest(&|| false).unwrap() else { panic!() };
    assert_eq!(found, naive_digest(ledger));
}

fn check_notes(index: Brc20Index<'_>, ledger: &MemoryLedger) {
    let scripts: std::collections::BTreeSet<_> = ledger.balances.keys().collect();
    let mut by_script: Vec<_> = scripts.iter().flat_map(|script| all(index.notes_of_script(script))).collect();
    let mut by_ticker: Vec<_> = ledger.tokens.keys().flat_map(|ticker| all(index.notes_of_ticker(ticker))).collect();
    by_script.sort_by_key(|note| note.inscription);
    by_ticker.sort_by_key(|note| note.inscription);
    assert_eq!(by_script, by_ticker);
    assert_eq!(by_script.len(), ledger.notes.len());
    for open in by_script {
        let note = &ledger.notes[&open.inscription];
        assert_eq!((open.source.as_script(), open.amount, open.height), (&*note.source, note.amount, note.height));
        assert_eq!(open.ticker, note.ticker.lower());
    }
}

fn check_events(index: Brc20Index<'_>, by_height: &[(Height, Vec<Brc20Event>)]) {
    let mut before = None;
    let mut placed = Vec::new();
    for (height, events) in by_height {
        let found: Vec<_> = all(index.events(*height)).into_iter().map(|placed| placed.event).collect();
        assert_eq!(&found, events);
        let hashes = BlockHashes::of(before, events);
        assert_eq!(index.hashes(*height).unwrap(), Some((hashes, u32::try_from(events.len()).unwrap())));
        before = Some(hashes.cumulative);
        placed.extend((0u32..).zip(events).map(|(place, event)| (*height, place, event)));
    }
    let scripts: std::collections::BTreeSet<_> = placed
        .iter()
        .flat_map(|(_, _, event)| {
            let (first, second) = event.action.parties();
            std::iter::once(first).chain(second)
        })
        .collect();
    for script in scripts {
        for ticker in [None, Some("ordi"), Some("ka"), Some("none")] {
            let is_part = |event: &Brc20Event| {
                let (first, second) = event.action.parties();
                let is_party = first == script || second == Some(script);
                is_party && ticker.is_none_or(|ticker| event.action.ticker().is_some_and(|own| own.lower() == ticker))
            };
            let expected: Vec<_> =
                placed.iter().rev().filter(|(_, _, event)| is_part(event)).map(|(h, p, _)| (*h, *p)).collect();
            let found: Vec<_> = all(index.history(script, ticker, None)).iter().map(|e| (e.height, e.place)).collect();
            assert_eq!(found, expected);
            for bound in expected.iter().step_by(3) {
                let found: Vec<_> =
                    all(index.history(script, ticker, Some(*bound))).iter().map(|e| (e.height, e.place)).collect();
                let older: Vec<_> = expected.iter().copied().filter(|place| place < bound).collect();
                assert_eq!(found, older);
            }
        }
    }
    for (height, place, event) in &placed {
        let found = all(index.events_of(event.inscription));
        assert!(found.iter().any(|found| (found.height, found.place, &found.event) == (*height, *place, *event)));
        assert!(found.len() <= 2);
    }
}

/// The hash over all balances in the plainest way.
fn naive_digest(ledger: &MemoryLedger) -> [u8; 32] {
    let mut lines = Vec::new();
    for (script, tokens) in &ledger.balances {
        for (ticker, balance) in tokens.iter().filter(|(_, balance)| balance.overall.0 > 0) {
            let script = script.as_bytes().to_lower_hex_string();
            let utf16: Vec<u16> = ticker.encode_utf16().collect();
            lines.push((script, utf16, format!("{ticker};{};{}", balance.overall, balance.available)));
        }
    }
    lines.sort();
    let lines: Vec<_> = lines.into_iter().map(|(script, _, rest)| format!("{script};{rest}")).collect();
    sha256::Hash::hash(lines.join("|").as_bytes()).to_byte_array()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn the_store_says_what_the_engine_says(
        steps in prop::collection::vec(prop::collection::vec(step(), 0..14), 1..6)
    ) {
        let blocks = blocks(&steps);
        let (mut chain, mut scene) = (Chain::small(), Scene::default());
        let mut by_height: Vec<_> = (5..20).map(|height| (height, Vec::new())).collect();
        for (height, events) in (20..).zip(&blocks) {
            chain.at(height, events);
            by_height.push((height, scene.block(height, events)));
        }
        check(&chain.commit(), &scene.ledger, &by_height);
    }

    /// An abandoned branch has no effect: rows and digests equal those of a store that never saw it.
    #[test]
    fn after_a_reorg_the_store_is_that_of_a_fresh_sync(
        common in prop::collection::vec(prop::collection::vec(step(), 0..10), 1..4),
        left in prop::collection::vec(prop::collection::vec(step(), 0..10), 1..4),
        taken in prop::collection::vec(prop::collection::vec(step(), 0..10), 1..4),
    ) {
        let straight = blocks(&[common.clone(), taken.clone()].concat());
        let away = blocks(&[common.clone(), left.clone()].concat());
        let (mut reorganised, mut fresh) = (Chain::small(), Chain::small());
        reorganised.at(19, &[]);
        fresh.at(19, &[]);
        for events in &away {
            reorganised.add(events);
        }
        reorganised.undo(u32::try_from(left.len()).unwrap());
        for events in &straight[common.len()..] {
            reorganised.add(events);
        }
        for events in &straight {
            fresh.add(events);
        }
        let (reorganised, fresh) = (reorganised.commit(), fresh.commit());
        for table in TABLES {
            let rows = |snapshot: &Snapshot| snapshot.prefix(&table, &[]).collect::<Result<Vec<_>, _>>().unwrap();
            prop_assert_eq!(rows(&reorganised), rows(&fresh), "{}", table.name);
        }
        for height in 0..=fresh.tip().unwrap().id.height {
            let digest = |snapshot: &Snapshot| snapshot.module_digest(MODULE, height).unwrap();
            prop_assert_eq!(digest(&reorganised), digest(&fresh), "{}", height);
        }
    }
}

fn with_ordi() -> Chain {
    let mut chain = Chain::small();
    chain.at(
        10,
        &[
            reveal(1, script(9), deploy("ordi", r#""max":"1000""#).as_bytes()),
            reveal(2, script(1), mint("ordi", "100").as_bytes()),
        ],
    );
    chain
}

#[test]
fn balances_are_known_as_of_every_height() {
    let mut chain = with_ordi();
    chain.at(12, &[reveal(3, script(1), transfer("ordi", "60").as_bytes())]);
    chain.at(14, &[moved_to(3, script(2))]);
    let snapshot = chain.commit();
    let index = Brc20Index::new(&snapshot);
    let at = |who, height| index.balance_at(&script(who), "ordi", height).unwrap();
    assert_eq!(at(1, 9), None);
    assert_eq!(at(1, 10), Some(balance(100 * ONE, 100 * ONE)));
    assert_eq!(at(1, 12), Some(balance(100 * ONE, 40 * ONE)));
    assert_eq!(at(1, 14), Some(balance(40 * ONE, 40 * ONE)));
    assert_eq!((at(2, 13), at(2, 14)), (None, Some(balance(60 * ONE, 60 * ONE))));
}

#[test]
fn hashes_begin_at_their_first_height_and_run_through_empty_blocks() {
    let mut chain = Chain::small();
    chain.at(8, &[]);
    let snapshot = chain.commit();
    let index = Brc20Index::new(&snapshot);
    assert_eq!(index.hashes(4).unwrap(), None);
    let mut before = None;
    for height in 5..=8 {
        let expected = BlockHashes::of(before, &[]);
        assert_eq!(index.hashes(height).unwrap(), Some((expected, 0)));
        before = Some(expected.cumulative);
    }
    assert_eq!(index.hashes(9).unwrap(), None);
}

/// A block that stands alone, as in a replay of single blocks, begins a new cumulative hash.
#[test]
fn a_block_without_the_one_before_begins_anew() {
    let mut chain = Chain::new(Rules { first_hash: 3, ..rules() });
    chain.at(3, &[]);
    let snapshot = chain.commit();
    let (hashes, _) = Brc20Index::new(&snapshot).hashes(3).unwrap().unwrap();
    assert_eq!(hashes.block, hashes.cumulative);
}

#[test]
fn scripts_of_any_length_own_tokens() {
    let mut chain = with_ordi();
    let long = |last: u8| ScriptBuf::from([vec![0x51; 200_000], vec![last]].concat());
    let owners = [ScriptBuf::new(), ScriptBuf::from(vec![0]), ScriptBuf::from(vec![0, 0, 1]), long(1), long(2)];
    let mut events = Vec::new();
    for (number, owner) in (10u32..).zip(&owners) {
        events.push(reveal(number, owner.clone(), mint("ordi", "10").as_bytes()));
        events.push(reveal(number + 100, owner.clone(), transfer("ordi", "4").as_bytes()));
    }
    chain.add(&events);
    let snapshot = chain.commit();
    let index = Brc20Index::new(&snapshot);
    for (number, owner) in (10u32..).zip(&owners) {
        assert_eq!(index.balance_at(owner, "ordi", 11).unwrap(), Some(balance(10 * ONE, 6 * ONE)));
        let notes = all(index.notes_of_script(owner));
        assert_eq!(notes.iter().map(|note| note.inscription).collect::<Vec<_>>(), [id(number + 100)]);
        assert_eq!(all(index.history(owner, Some("ordi"), None)).len(), 2);
    }
    let holders: Vec<_> = all(index.holders("ordi")).into_iter().map(|holder| holder.script).collect();
    assert_eq!(holders.len(), 6);
    assert!(owners.iter().all(|owner| holders.contains(owner)));
    let owners_of_notes: Vec<_> = all(index.notes_of_ticker("ordi")).into_iter().map(|note| note.source).collect();
    assert!(owners.iter().all(|owner| owners_of_notes.contains(owner)));
    // The tokens go on from there, and back by a fee.
    let moves: Vec<_> = (110..115).map(|number| moved(number, Destination::Fee)).collect();
    chain.add(&moves);
    let snapshot = chain.commit();
    let index = Brc20Index::new(&snapshot);
    for owner in &owners {
        assert_eq!(index.balance_at(owner, "ordi", 12).unwrap(), Some(balance(10 * ONE, 10 * ONE)));
        assert!(all(index.notes_of_script(owner)).is_empty());
    }
}

#[test]
fn a_name_with_a_null_byte_finds_nothing_of_other_tokens() {
    let mut chain = with_ordi();
    // Scripts and heights begin with zeros, as the rest of a longer name would.
    chain.add(&[reveal(3, script(1), transfer("ordi", "60").as_bytes())]);
    let snapshot = chain.commit();
    let index = Brc20Index::new(&snapshot);
    for name in ["ordi\0", "ordi\0\0", "\0", "\0ordi", "ordi\0\u{14}"] {
        assert_eq!(index.token(name).unwrap(), None);
        assert_eq!(index.balance_at(&script(1), name, 11).unwrap(), None);
        assert!(all(index.holders(name)).is_empty());
        assert!(all(index.notes_of_ticker(name)).is_empty());
        assert!(all(index.history(&script(1), Some(name), None)).is_empty());
    }
}

#[test]
fn a_predeploy_is_found_blocks_later() {
    let salted = [b"Ticker", &[0xab][..], script(1).as_bytes()].concat();
    let hash = sha256::Hash::hash(sha256::Hash::hash(&salted).as_byte_array()).to_byte_array().to_lower_hex_string();
    let predeploy = format!(r#"{{"p":"brc-20","op":"predeploy","hash":"{hash}"}}"#);
    let mut chain = Chain::small();
    chain.at(40, &[reveal(1, script(1), predeploy.as_bytes())]);
    let body = deploy("Ticker", r#""max":"5","salt":"ab""#);
    chain.at(42, &[child_of(reveal(2, script(1), body.as_bytes()), 1)]);
    chain.at(43, &[child_of(reveal(3, script(1), body.as_bytes()), 1)]);
    let snapshot = chain.commit();
    let token = Brc20Index::new(&snapshot).token("ticker").unwrap().unwrap();
    assert_eq!((token.deployment, token.deployed_at), (id(3), 43));
}

#[test]
fn the_hash_over_all_balances_ends_when_its_time_is_over() {
    let mut chain = with_ordi();
    let snapshot = chain.commit();
    assert_eq!(Brc20Index::new(&snapshot).balances_digest(&|| true).unwrap(), BalancesDigest::OutOfTime);
}

#[test]
fn ten_thousand_mints_and_transfers_in_a_block_fit() {
    let mut chain = with_ordi();
    let mint = mint("ordi", "0.01");
    let mints: Vec<_> = (0..10_000).map(|number| reveal(100 + number, script(1), mint.as_bytes())).collect();
    chain.add(&mints);
    let transfer = transfer("ordi", "0.01");
    let inscribed: Vec<_> = (0..10_000).map(|number| reveal(20_000 + number, script(1), transfer.as_bytes())).collect();
    chain.add(&inscribed);
    let moves: Vec<_> = (0..10_000).map(|number| moved_to(20_000 + number, script(2))).collect();
    chain.add(&moves);
    let snapshot = chain.commit();
    let index = Brc20Index::new(&snapshot);
    assert_eq!(index.balance_at(&script(2), "ordi", 13).unwrap(), Some(balance(100 * ONE, 100 * ONE)));
    assert_eq!(index.hashes(13).unwrap().unwrap().1, 10_000);
}

/// A block may reveal thousands of inscriptions to an output whose script is nearly as long as the block.
#[test]
fn a_huge_script_is_written_once_whatever_names_it() {
    let mut chain = Chain::small();
    let huge = ScriptBuf::from(vec![0x51; 500_000]);
    let text = |body: String| move |number| reveal(number, huge_script(), body.as_bytes());
    chain.at(10, &[text(deploy("ordi", r#""max":"1000","lim":"100""#))(1), text(mint("ordi", "100"))(2)]);
    let notes: Vec<_> = (10..30).map(text(transfer("ordi", "1"))).collect();
    chain.at(11, &notes);
    let before = chain.writer.pending_bytes();
    let moves: Vec<_> = (10..30).map(|number| moved_to(number, huge_script())).collect();
    chain.at(12, &moves);
    assert!(chain.writer.pending_bytes() - before < 200_000, "the script is in the rows of each move");
    let snapshot = chain.commit();
    let index = Brc20Index::new(&snapshot);
    for (height, count) in [(10, 2), (11, 20), (12, 20)] {
        let events = all(index.events(height));
        assert_eq!(events.len(), count);
        assert!(events.iter().all(|placed| *placed.event.action.parties().0 == *huge));
        let row = snapshot.prefix(&super::tables::EVENTS, &height.to_be_bytes()).next().unwrap().unwrap().1;
        assert!(row.len() < 300, "{} bytes", row.len());
    }
    assert_eq!(index.balance_at(&huge, "ordi", 12).unwrap(), Some(balance(100 * ONE, 100 * ONE)));
    assert_eq!(all(index.holders("ordi"))[0].script, huge);
}

fn huge_script() -> ScriptBuf {
    ScriptBuf::from(vec![0x51; 500_000])
}
