//! Single rules on chains built block by block.

use std::sync::{Arc, Mutex};

use bitcoin::opcodes::all::{OP_PUSHNUM_1, OP_RETURN};
use bitcoin::script::Builder;
use bitcoin::{Amount, Block, OutPoint, ScriptBuf, Sequence, Transaction, TxIn, TxOut, Txid, Witness};
use paraffin_ordinals_index::brc20::Brc20Module;
use paraffin_ordinals_index::event::{Destination, EventKind, InscriptionEvent, InscriptionId};
use paraffin_ordinals_index::inscription::Inscription;
use paraffin_ordinals_index::reader::{InscriptionQuery, InscriptionRecord, OutputKind};
use paraffin_ordinals_index::{EventConsumer, OrdinalsIndex, Parameters};
use paraffin_primitives::ConnectedBlock;
use paraffin_store::{ModuleError, ModuleWriter, Snapshot};

use crate::envelopes;
use crate::instance::{Instance, NETWORK, PLAIN};

type EventLog = Arc<Mutex<Vec<InscriptionEvent>>>;

/// Records the events that it receives: all of them, or those that BRC-20 wants.
struct Listener {
    events: EventLog,
    wants: Option<Brc20Module>,
}

impl EventConsumer for Listener {
    fn consume(
        &mut self,
        _block: &ConnectedBlock,
        events: &[InscriptionEvent],
        _rows: &mut ModuleWriter<'_>,
    ) -> Result<(), ModuleError> {
        self.events.lock().unwrap().extend_from_slice(events);
        Ok(())
    }

    fn wants(&self, kind: &EventKind) -> bool {
        self.wants.as_ref().is_none_or(|wants| wants.wants(kind))
    }
}

/// A chain that a test builds block by block; proofs, signatures and maturity are not looked at.
pub struct ManualChain {
    instance: Instance,
    events: EventLog,
    pub height: u32,
    tip: bitcoin::BlockHash,
}

pub const SUBSIDY: u64 = 5_000_000_000;

pub fn pays(value: u64) -> TxOut {
    TxOut { value: Amount::from_sat(value), script_pubkey: Builder::new().push_opcode(OP_PUSHNUM_1).into_script() }
}

pub fn burns(value: u64) -> TxOut {
    TxOut { value: Amount::from_sat(value), script_pubkey: Builder::new().push_opcode(OP_RETURN).into_script() }
}

/// An input that reveals `count` text inscriptions.
fn reveals(previous_output: OutPoint, count: usize) -> TxIn {
    let script = (0..count).fold(Builder::new(), |builder, place| envelopes::plain(builder, &place.to_string()));
    shows(previous_output, script)
}

pub fn shows(previous_output: OutPoint, script: Builder) -> TxIn {
    let witness = Witness::from_slice(&[script.into_script().into_bytes(), vec![0xc0; 33]]);
    TxIn { previous_output, script_sig: ScriptBuf::new(), sequence: Sequence::MAX, witness }
}

pub fn spends(previous_output: OutPoint) -> TxIn {
    TxIn { previous_output, ..TxIn::default() }
}

pub fn transaction(input: Vec<TxIn>, output: Vec<TxOut>) -> Transaction {
    Transaction {
        version: bitcoin::transaction::Version::TWO,
        lock_time: bitcoin::absolute::LockTime::ZERO,
        input,
        output,
    }
}

pub fn output(txid: Txid, vout: u32) -> OutPoint {
    OutPoint { txid, vout }
}

impl ManualChain {
    pub fn new() -> Self {
        Self::listening(None)
    }

    fn listening(wants: Option<Brc20Module>) -> Self {
        let events = EventLog::default();
        let listener = Listener { events: Arc::clone(&events), wants };
        Self { events, ..Self::with_consumer(Box::new(listener)) }
    }

    /// A chain whose events go to `consumer`.
    pub fn with_consumer(consumer: Box<dyn EventConsumer>) -> Self {
        Self::of(Instance::of(NETWORK, PLAIN, Some(consumer)))
    }

    fn of(mut instance: Instance) -> Self {
        let genesis = bitcoin::constants::genesis_block(NETWORK.bitcoin());
        instance.connect(0, &genesis, None);
        Self { instance, events: EventLog::default(), height: 0, tip: genesis.block_hash() }
    }

    /// Adds a block whose coinbase claims `claimed`; returns the txids, the coinbase's first.
    pub fn block(&mut self, claimed: u64, transactions: Vec<Transaction>) -> Vec<Txid> {
        let txids = self.connect(claimed, transactions);
        self.instance.commit();
        txids
    }

    /// As `block`, without a commit.
    fn connect(&mut self, claimed: u64, transactions: Vec<Transaction>) -> Vec<Txid> {
        self.height += 1;
        let mut input = spends(OutPoint::null());
        input.script_sig = Builder::new().push_int(i64::from(self.height)).push_int(0).into_script();
        let mut txdata = vec![transaction(vec![input], vec![pays(claimed)])];
        txdata.extend(transactions);
        let genesis = bitcoin::constants::genesis_block(NETWORK.bitcoin());
        let mut header = genesis.header;
        header.prev_blockhash = self.tip;
        header.time += self.height;
        let block = Block { header, txdata };
        self.tip = block.block_hash();
        self.events.lock().unwrap().clear();
        self.instance.connect(self.height, &block, None);
        block.txdata.iter().map(Transaction::compute_txid).collect()
    }

    pub fn index(&self) -> OrdinalsIndex {
        self.instance.index()
    }

    pub fn snapshot(&self) -> Snapshot {
        self.instance.store.snapshot()
    }

    fn record(&self, txid: Txid, index: u32) -> InscriptionRecord {
        let index_reader = self.index();
        let sequence = index_reader.sequence(&InscriptionQuery::Id(InscriptionId { txid, index })).unwrap().unwrap();
        index_reader.facts(sequence).unwrap().unwrap().record(&Inscription::default(), None, &|_| true)
    }

    fn charms(&self, txid: Txid, index: u32) -> Vec<String> {
        self.record(txid, index).charms.iter().map(ToString::to_string).collect()
    }

    fn events(&self) -> Vec<InscriptionEvent> {
        self.events.lock().unwrap().clone()
    }

    pub fn grow_to(&mut self, height: u32) {
        while self.height < height {
            self.block(SUBSIDY, Vec::new());
        }
    }
}

#[test]
fn a_reveal_and_a_move_are_reported_in_order() {
    let mut hand = ManualChain::new();
    let coinbase = hand.block(SUBSIDY, Vec::new())[0];
    let reveal = transaction(vec![reveals(output(coinbase, 0), 1)], vec![pays(1_000), pays(SUBSIDY - 1_000)]);
    let revealed = reveal.compute_txid();
    let moved = transaction(vec![spends(output(revealed, 0))], vec![pays(400), pays(600)]);
    hand.block(SUBSIDY, vec![reveal, moved.clone()]);
    let events = hand.events();
    assert_eq!(events.len(), 2);
    let id = InscriptionId { txid: revealed, index: 0 };
    assert!(events.iter().all(|event| event.id == id));
    assert_eq!(events.iter().map(|event| event.transaction_index).collect::<Vec<_>>(), [1, 2]);
    let EventKind::Revealed { number, is_vindicated, is_first_on_sat, envelope: Some(envelope), .. } = &events[0].kind
    else {
        panic!("{:?}", events[0])
    };
    assert_eq!((*number, *is_vindicated, *is_first_on_sat), (0, false, true));
    assert_eq!(envelope.body.as_deref(), Some(&b"0"[..]));
    assert_eq!(envelope.content_type.as_deref(), Some(&b"text/plain"[..]));
    assert_eq!(events[1].kind, EventKind::Moved { moves: 0 });
    let expected = output(moved.compute_txid(), 0);
    assert!(matches!(&events[1].destination, Destination::Output { outpoint, offset: 0, .. } if *outpoint == expected));
    let again = transaction(vec![spends(expected)], vec![pays(400)]);
    hand.block(SUBSIDY, vec![again]);
    assert_eq!(hand.events()[0].kind, EventKind::Moved { moves: 1 });
}

#[test]
fn the_events_of_an_output_share_its_script() {
    let mut hand = ManualChain::new();
    let coinbase = hand.block(SUBSIDY, Vec::new())[0];
    hand.block(SUBSIDY, vec![transaction(vec![reveals(output(coinbase, 0), 2)], vec![pays(SUBSIDY)])]);
    let events = hand.events();
    let [Destination::Output { script_pubkey: first, .. }, Destination::Output { script_pubkey: second, .. }] =
        [&events[0].destination, &events[1].destination]
    else {
        panic!("{events:?}")
    };
    assert!(
        Arc::ptr_eq(first, second),
        "half a million reveals to a script of a megabyte would take as many megabytes"
    );
}

/// The id is known from the output until the first move, and afterwards from the row of the inscription.
#[test]
fn events_of_moves_name_each_inscription_of_a_transaction() {
    let mut hand = ManualChain::new();
    let coins: Vec<Txid> = (0..2).map(|_| hand.block(SUBSIDY, Vec::new())[0]).collect();
    let revealing = |coin: Txid| transaction(vec![reveals(output(coin, 0), 3)], vec![pays(SUBSIDY)]);
    let moving = |txid: Txid| transaction(vec![spends(output(txid, 0))], vec![pays(SUBSIDY)]);
    let first = hand.block(SUBSIDY, vec![revealing(coins[0])])[1];
    // The second ones move in the block that reveals them.
    let reveal = revealing(coins[1]);
    let second = reveal.compute_txid();
    let moved = hand.block(SUBSIDY, vec![moving(first), reveal, moving(second)]);
    let named = |hand: &ManualChain, moves| -> Vec<InscriptionId> {
        let events = hand.events().into_iter().filter(|event| event.kind == EventKind::Moved { moves });
        events.map(|event| event.id).collect()
    };
    let all: Vec<InscriptionId> =
        [first, second].into_iter().flat_map(|txid| (0..3).map(move |index| InscriptionId { txid, index })).collect();
    assert_eq!(named(&hand, 0), all);
    hand.block(SUBSIDY, vec![moving(moved[1]), moving(moved[3])]);
    assert_eq!(named(&hand, 1), all);
}

/// 500 inscriptions moved a hundred times: where they are is written once.
#[test]
fn a_chain_of_moves_within_a_block_writes_the_last_place_alone() {
    let mut hand = ManualChain::new();
    let coin = hand.block(SUBSIDY, Vec::new())[0];
    let mut chain = vec![transaction(vec![reveals(output(coin, 0), 500)], vec![pays(SUBSIDY)])];
    let first = chain[0].compute_txid();
    for _ in 0..100 {
        let last = chain[chain.len() - 1].compute_txid();
        chain.push(transaction(vec![spends(output(last, 0))], vec![pays(SUBSIDY)]));
    }
    let last = chain[100].compute_txid();
    hand.connect(SUBSIDY, chain);
    let bytes = hand.instance.writer.pending_bytes();
    assert!(bytes < 1_500_000, "{bytes} bytes wait");
    hand.instance.commit();
    assert_eq!(hand.record(first, 499).satpoint.outpoint, output(last, 0));
    assert_eq!(hand.events().len(), 500 * 101);
}

#[test]
fn an_envelope_after_the_last_number_is_no_inscription_and_the_block_is_indexed() {
    let parameters = Parameters { inscriptions_max: 3, ..Parameters::of(NETWORK) };
    let mut hand = ManualChain::of(Instance::with_parameters(parameters, PLAIN, None));
    let coins: Vec<Txid> = (0..3).map(|_| hand.block(SUBSIDY, Vec::new())[0]).collect();
    let two = |coin: Txid| transaction(vec![reveals(output(coin, 0), 2)], vec![pays(SUBSIDY)]);
    let txids = hand.block(SUBSIDY, coins[..2].iter().map(|coin| two(*coin)).collect());
    // The second envelope of an input is cursed.
    assert_eq!([hand.record(txids[1], 1).number, hand.record(txids[2], 0).number], [-1, 1]);
    let last = hand.block(SUBSIDY, vec![two(coins[2])])[1];
    let found = |txid, index| hand.index().sequence(&InscriptionQuery::Id(InscriptionId { txid, index })).unwrap();
    assert_eq!((found(txids[2], 1), found(last, 0)), (None, None));
    // What has a number moves on.
    let moved = hand.block(SUBSIDY, vec![transaction(vec![spends(output(txids[1], 0))], vec![pays(7)])])[1];
    assert_eq!(hand.record(txids[1], 1).satpoint.outpoint, output(moved, 0));
}

#[test]
fn what_is_paid_as_a_fee_lands_with_the_coinbase_or_is_lost() {
    let mut hand = ManualChain::new();
    let first = hand.block(SUBSIDY, Vec::new())[0];
    let second = hand.block(SUBSIDY, Vec::new())[0];
    // All of the first coin is a fee; of the second nothing is.
    let paid = transaction(vec![reveals(output(first, 0), 1)], vec![burns(0)]);
    let moved = transaction(vec![reveals(output(second, 0), 1)], vec![pays(SUBSIDY)]);
    let (fee_txid, moved_txid) = (paid.compute_txid(), moved.compute_txid());
    let ids = hand.block(SUBSIDY + 1, vec![paid, moved]);
    // The one that stays in an output has the lower number: the coinbase comes last.
    assert_eq!((hand.record(moved_txid, 0).number, hand.record(fee_txid, 0).number), (0, 1));
    let record = hand.record(fee_txid, 0);
    assert_eq!((record.satpoint.outpoint, record.satpoint.offset), (output(ids[0], 0), SUBSIDY));
    assert_eq!(record.fee, SUBSIDY);
    let events = hand.events();
    assert_eq!(events.len(), 3);
    assert_eq!(events[0].destination, Destination::Fee);
    assert!(matches!(events[0].kind, EventKind::Revealed { number: 1, .. }));
    assert_eq!(
        (events[2].kind.clone(), events[2].transaction_index, events[2].txid),
        (EventKind::Moved { moves: 0 }, 0, ids[0])
    );

    // Spent again as an unclaimed fee.
    let spend = transaction(vec![spends(output(ids[0], 0))], vec![pays(SUBSIDY)]);
    hand.block(SUBSIDY, vec![spend]);
    let record = hand.record(fee_txid, 0);
    assert_eq!(record.satpoint.outpoint, OutPoint::null());
    // Before it nothing but the rest of the fee two blocks ago was lost.
    assert_eq!(record.satpoint.offset, SUBSIDY - 1);
    assert_eq!(hand.charms(fee_txid, 0), ["lost"]);
    let kinds: Vec<_> = hand.events().into_iter().map(|event| (event.kind, event.destination)).collect();
    assert_eq!(
        kinds,
        [(EventKind::Moved { moves: 1 }, Destination::Fee), (EventKind::Moved { moves: 2 }, Destination::Lost)]
    );
}

#[test]
fn the_second_of_a_transaction_is_cursed_until_the_jubilee() {
    let mut hand = ManualChain::new();
    let coins: Vec<Txid> = (0..3).map(|_| hand.block(SUBSIDY, Vec::new())[0]).collect();
    let reveal = |coin: Txid| transaction(vec![reveals(output(coin, 0), 2)], vec![pays(SUBSIDY)]);
    let before = hand.block(SUBSIDY, vec![reveal(coins[0])])[1];
    assert_eq!((hand.record(before, 0).number, hand.record(before, 1).number), (0, -1));
    assert_eq!(hand.charms(before, 1), ["reinscription", "cursed"]);
    hand.grow_to(109);
    let after = hand.block(SUBSIDY, vec![reveal(coins[1])])[1];
    assert_eq!(hand.height, 110);
    assert_eq!((hand.record(after, 0).number, hand.record(after, 1).number), (1, 2));
    assert_eq!(hand.charms(after, 1), ["reinscription", "vindicated"]);
}

/// Only one more on a sat that holds a blessed one, or several, is cursed for it.
#[test]
fn a_reinscription_of_a_cursed_one_is_blessed_once() {
    let mut hand = ManualChain::new();
    let coin = hand.block(SUBSIDY, Vec::new())[0];
    // An odd pointer field makes it cursed.
    let cursed = envelopes::push(envelopes::push(envelopes::begin(Builder::new()), &[2]), &[]);
    let cursed = cursed.push_opcode(bitcoin::opcodes::all::OP_ENDIF);
    let first = hand.block(SUBSIDY, vec![transaction(vec![shows(output(coin, 0), cursed)], vec![pays(SUBSIDY)])])[1];
    assert_eq!(hand.record(first, 0).number, -1);
    let again = |previous: Txid| transaction(vec![reveals(output(previous, 0), 1)], vec![pays(SUBSIDY)]);
    let second = hand.block(SUBSIDY, vec![again(first)])[1];
    assert_eq!(hand.record(second, 0).number, 0);
    assert_eq!(hand.charms(second, 0), ["reinscription"]);
    let third = hand.block(SUBSIDY, vec![again(second)])[1];
    assert_eq!(hand.record(third, 0).number, -2);
}

#[test]
fn an_input_without_value_and_an_unknown_even_field_bind_to_no_sat() {
    let mut hand = ManualChain::new();
    let coin = hand.block(SUBSIDY, Vec::new())[0];
    let split = transaction(vec![spends(output(coin, 0))], vec![pays(0), pays(SUBSIDY)]);
    let split = hand.block(SUBSIDY, vec![split])[1];
    let even = envelopes::push(envelopes::push(envelopes::begin(Builder::new()), &[66]), b"x");
    let even = even.push_opcode(bitcoin::opcodes::all::OP_ENDIF);
    let both = transaction(vec![reveals(output(split, 0), 1), shows(output(split, 1), even)], vec![pays(SUBSIDY)]);
    let both = hand.block(SUBSIDY, vec![both])[1];
    for (index, offset) in [(0, 0), (1, 1)] {
        let record = hand.record(both, index);
        assert_eq!(record.satpoint.outpoint, paraffin_ordinals_index::unbound_outpoint());
        assert_eq!((record.satpoint.offset, record.value, record.address), (offset, None, None));
    }
    assert_eq!(hand.charms(both, 0), ["unbound"]);
    assert!(hand.events().iter().all(|event| event.destination == Destination::Lost));
}

#[test]
fn what_lands_in_an_op_return_is_burned() {
    let mut hand = ManualChain::new();
    let coin = hand.block(SUBSIDY, Vec::new())[0];
    let reveal = transaction(vec![reveals(output(coin, 0), 1)], vec![pays(1_000), pays(SUBSIDY - 1_000)]);
    let reveal = hand.block(SUBSIDY, vec![reveal])[1];
    assert!(hand.charms(reveal, 0).is_empty());
    hand.block(SUBSIDY, vec![transaction(vec![spends(output(reveal, 0))], vec![burns(1_000)])]);
    assert_eq!(hand.charms(reveal, 0), ["burned"]);
}

#[test]
fn ten_thousand_inscriptions_in_one_transaction_are_indexed() {
    let mut hand = ManualChain::new();
    hand.grow_to(110);
    let coin = hand.block(SUBSIDY, Vec::new())[0];
    let reveal = transaction(vec![reveals(output(coin, 0), 10_000)], vec![pays(SUBSIDY)]);
    let reveal = hand.block(SUBSIDY, vec![reveal])[1];
    assert_eq!(hand.record(reveal, 9_999).number, 9_999);
    assert_eq!(hand.index().inscription_count(&reveal).unwrap(), 10_000);
    assert_eq!(hand.events().len(), 10_000);
    hand.block(SUBSIDY, vec![transaction(vec![spends(output(reveal, 0))], vec![pays(7), pays(SUBSIDY - 7)])]);
    assert_eq!(hand.events().len(), 10_000);
    assert_eq!(hand.record(reveal, 9_999).satpoint.outpoint.vout, 0);
}

/// What a chain of small transactions moves again and again takes no memory for events that BRC-20 does not look at.
#[test]
fn brc20_receives_texts_and_first_moves_alone() {
    let mut seen = [Vec::new(), Vec::new()];
    for (wants, received) in [Some(Brc20Module::new(NETWORK)), None].into_iter().zip(&mut seen) {
        let mut hand = ManualChain::listening(wants);
        let coin = hand.block(SUBSIDY, Vec::new())[0];
        // An empty one and a text, paid as fees at the end.
        let empty = envelopes::begin(Builder::new()).push_opcode(bitcoin::opcodes::all::OP_ENDIF);
        let input = shows(output(coin, 0), envelopes::plain(empty, "text"));
        let mut chain = vec![transaction(vec![input], vec![pays(SUBSIDY)])];
        for _ in 0..3 {
            let last = chain[chain.len() - 1].compute_txid();
            chain.push(transaction(vec![spends(output(last, 0))], vec![pays(SUBSIDY)]));
        }
        let last = chain[3].compute_txid();
        let paid_out = transaction(vec![spends(output(last, 0))], vec![burns(0)]);
        hand.block(2 * SUBSIDY, chain.into_iter().chain([paid_out]).collect());
        for event in hand.events() {
            received.push(match event.kind {
                EventKind::Revealed { envelope, .. } => if envelope.is_some() { "text" } else { "empty" }.to_owned(),
                EventKind::Moved { moves } => moves.to_string(),
            });
        }
    }
    assert_eq!(seen[0], ["text", "0", "0"]);
    assert_eq!(seen[1], ["empty", "text", "0", "0", "1", "1", "2", "2", "3", "3", "4", "4"]);
}

/// One that is revealed into the fees has its number when the coinbase takes it, also where its event was not wanted.
#[test]
fn where_an_inscription_is_does_not_depend_on_who_listens() {
    let located = [Some(Brc20Module::new(NETWORK)), None].map(|wants| {
        let mut hand = ManualChain::listening(wants);
        let coin = hand.block(SUBSIDY, Vec::new())[0];
        let paid = transaction(vec![reveals(output(coin, 0), 1)], vec![burns(0)]);
        hand.block(2 * SUBSIDY, vec![paid]);
        let digest = hand.snapshot().module_digest(paraffin_ordinals_index::MODULE, 2).unwrap();
        (digest.is_some(), digest)
    });
    let mut alone = ManualChain::of(Instance::new(PLAIN));
    let coin = alone.block(SUBSIDY, Vec::new())[0];
    alone.block(2 * SUBSIDY, vec![transaction(vec![reveals(output(coin, 0), 1)], vec![burns(0)])]);
    let digest = alone.snapshot().module_digest(paraffin_ordinals_index::MODULE, 2).unwrap();
    assert_eq!(located, [(true, digest), (true, digest)]);
}

/// An envelope that names its parent.
fn child_of(builder: Builder, parent: &InscriptionId) -> Builder {
    let value = paraffin_ordinals_index::inscription::value_of_id(parent);
    envelopes::push(envelopes::push(envelopes::begin(builder), &[3]), &value)
        .push_opcode(bitcoin::opcodes::all::OP_ENDIF)
}

#[test]
fn every_page_of_children_begins_where_the_one_before_ended() {
    let mut hand = ManualChain::new();
    let coin = hand.block(SUBSIDY, Vec::new())[0];
    let txid = hand.block(SUBSIDY, vec![transaction(vec![reveals(output(coin, 0), 2)], vec![pays(SUBSIDY)])])[1];
    let [parent, other] = [0, 1].map(|index| InscriptionId { txid, index });
    // The other one has children between those of the first.
    let script = (0..250).fold(Builder::new(), |builder, _| child_of(child_of(builder, &parent), &other));
    let coin = hand.block(SUBSIDY, vec![transaction(vec![shows(output(txid, 0), script)], vec![pays(SUBSIDY)])])[1];
    let more = transaction(vec![shows(output(coin, 0), child_of(Builder::new(), &parent))], vec![pays(SUBSIDY)]);
    let last = hand.block(SUBSIDY, vec![more])[1];
    let index = hand.index();
    let mut expected: Vec<InscriptionId> =
        (0..250).map(|place| InscriptionId { txid: coin, index: 2 * place }).collect();
    expected.push(InscriptionId { txid: last, index: 0 });
    let pages: Vec<_> = (0..4).map(|page| index.children(&parent, page).unwrap().unwrap()).collect();
    assert_eq!(
        pages.iter().map(|page| (page.ids.len(), page.more, page.page)).collect::<Vec<_>>(),
        [(100, true, 0), (100, true, 1), (51, false, 2), (0, false, 3)]
    );
    assert_eq!(pages.into_iter().flat_map(|page| page.ids).collect::<Vec<_>>(), expected);
    assert!(index.children(&parent, u32::MAX).unwrap().unwrap().ids.is_empty());
    let sequence = index.sequence(&InscriptionQuery::Id(parent)).unwrap().unwrap();
    let child = |place| index.child(sequence, place).unwrap().map(|child| index.facts(child).unwrap().unwrap().id);
    assert_eq!((child(0), child(250)), (Some(expected[0]), Some(expected[250])));
    assert_eq!((child(251), child(u64::MAX)), (None, None));
    let record = hand.record(txid, 0);
    assert_eq!((record.child_count, &record.children[..]), (251, &expected[..4]));
    assert_eq!(index.children(&other, 2).unwrap().unwrap().ids.len(), 50);
}

#[test]
fn the_inscriptions_of_a_transaction_are_counted() {
    let mut hand = ManualChain::new();
    hand.grow_to(110);
    for count in [0, 1, 2, 3, 4, 7, 8, 9, 100] {
        let coin = hand.block(SUBSIDY, Vec::new())[0];
        let reveal = transaction(vec![reveals(output(coin, 0), count)], vec![pays(SUBSIDY)]);
        let txid = hand.block(SUBSIDY, vec![reveal])[1];
        assert_eq!(hand.index().inscription_count(&txid).unwrap() as usize, count);
    }
}

/// row MR08
#[test]
fn the_newest_blocks_name_the_inscriptions_that_paid_most() {
    let mut hand = ManualChain::new();
    let coin = hand.block(SUBSIDY, Vec::new())[0];
    let split: Vec<TxOut> = (0..20).map(|_| pays(10_000)).collect();
    let coins = hand.block(SUBSIDY, vec![transaction(vec![spends(output(coin, 0))], split)])[1];
    // Fees of which several are equal; transactions with two inscriptions have half of it for each.
    let reveal = |vout: u32| {
        let fee = [500, 100, 900, 500, 300][vout as usize % 5];
        transaction(vec![reveals(output(coins, vout), 1 + vout as usize % 2)], vec![pays(10_000 - fee)])
    };
    let txids = hand.block(SUBSIDY, (0..20).map(reveal).collect());
    let index = hand.index();
    let mut paid = Vec::new();
    for id in index.ids_of_block(3, 30).unwrap().unwrap() {
        paid.push((hand.record(id.txid, id.index).fee, id));
    }
    assert_eq!((txids.len(), paid.len()), (21, 30));
    paid.sort_by_key(|(fee, _)| *fee);
    let expected: Vec<InscriptionId> = paid.into_iter().rev().take(8).map(|(_, id)| id).collect();
    let newest = index.newest_blocks().unwrap();
    assert_eq!((newest.last, newest.blocks.len(), newest.featured_blocks.len()), (3, 4, 4));
    assert_eq!(newest.featured_blocks[&newest.blocks[0]], expected);
    assert!(newest.featured_blocks[&newest.blocks[1]].is_empty());
}

/// The most memory that this process had, in bytes.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() * 1024
}

/// An empty envelope takes seven bytes of a block, so that a block may hold half a million. `PARAFFIN_LONG=1` makes such a block.
#[test]
fn a_block_of_empty_envelopes_takes_bounded_memory() {
    const ALONE: &str = "PARAFFIN_TEST_ALONE";
    const NAME: &str = "rules::a_block_of_empty_envelopes_takes_bounded_memory";
    /// For each envelope, the rows that wait for the commit among them; and for everything else.
    const BYTES_MAX: u64 = 900;
    const BYTES_BESIDE: u64 = 8 << 20;
    if std::env::var_os(ALONE).is_none() {
        let program = std::env::current_exe().unwrap();
        let mut process = std::process::Command::new(program);
        let status = process.args([NAME, "--exact", "--nocapture"]).env(ALONE, "1").status().unwrap();
        assert!(status.success(), "{status}");
        return;
    }
    let count = if std::env::var_os("PARAFFIN_LONG").is_some() { 520_000 } else { 40_000 };
    let mut hand = ManualChain::with_consumer(Box::new(Brc20Module::new(NETWORK)));
    hand.grow_to(110);
    let coin = hand.block(SUBSIDY, Vec::new())[0];
    let script = envelopes::begin(Builder::new()).push_opcode(bitcoin::opcodes::all::OP_ENDIF).into_script();
    let script = ScriptBuf::from_bytes(script.into_bytes().repeat(count));
    let input = shows(output(coin, 0), Builder::from(script.into_bytes()));
    let (before, begin) = (peak_bytes(), std::time::Instant::now());
    let txid = hand.connect(SUBSIDY, vec![transaction(vec![input], vec![pays(SUBSIDY)])])[1];
    let grown = peak_bytes() - before;
    println!("{count} envelopes: {} kB at the peak, {:.1} s", grown / 1_000, begin.elapsed().as_secs_f64());
    hand.instance.commit();
    assert_eq!(hand.index().inscription_count(&txid).unwrap() as usize, count);
    assert!(grown <= BYTES_BESIDE + BYTES_MAX * count as u64, "{grown} bytes for {count} envelopes");
}

#[test]
fn no_answer_names_more_inscriptions_than_its_limit() {
    let mut hand = ManualChain::new();
    let coins = [hand.block(SUBSIDY, Vec::new())[0], hand.block(SUBSIDY, Vec::new())[0]];
    let script_pubkey = ScriptBuf::from_bytes([&[0x51, 0x20][..], &[0x42; 32]].concat());
    let address = bitcoin::Address::from_script(&script_pubkey, NETWORK.bitcoin()).unwrap();
    let pays = TxOut { value: Amount::from_sat(SUBSIDY), script_pubkey };
    let reveals = coins.map(|coin| transaction(vec![reveals(output(coin, 0), 3)], vec![pays.clone()]));
    let ids = hand.block(SUBSIDY, reveals.to_vec());
    let index = hand.index();
    let named = |limit| index.output(&output(ids[1], 0), limit).unwrap().unwrap().inscriptions.len();
    assert_eq!([0, 2, 3, 9].map(named), [0, 2, 3, 3]);
    assert_eq!(index.address_record(&address, 5).unwrap(), None);
    assert_eq!(index.address_record(&address, 6).unwrap().unwrap().inscriptions.len(), 6);
    let outputs = |kind, limit| index.outputs_of(&address, kind, limit).unwrap().map(|outputs| outputs.len());
    assert_eq!((outputs(OutputKind::Inscribed, 5), outputs(OutputKind::Inscribed, 6)), (None, Some(2)));
    assert_eq!((outputs(OutputKind::Any, 5), outputs(OutputKind::Cardinal, 5)), (None, Some(0)));
    let of_block = |limit| index.ids_of_block(3, limit).unwrap().map(|ids| ids.len());
    assert_eq!((of_block(5), of_block(6)), (None, Some(6)));
}

#[test]
fn unknown_names_are_nothing() {
    let hand = ManualChain::new();
    let index = hand.index();
    let unknown = InscriptionId { txid: OutPoint::null().txid, index: 0 };
    for query in [
        InscriptionQuery::Id(unknown),
        InscriptionQuery::Number(0),
        InscriptionQuery::Number(i32::MIN),
        InscriptionQuery::Number(i32::MAX),
        InscriptionQuery::Sat(0),
    ] {
        assert_eq!(index.sequence(&query).unwrap(), None, "{query:?}");
    }
    assert_eq!(index.children(&unknown, 0).unwrap(), None);
    assert_eq!(index.parents(&unknown, u32::MAX).unwrap(), None);
    assert!(index.inscriptions(u32::MAX).unwrap().ids.is_empty());
    assert!(index.runes(u32::MAX).unwrap().entries.is_empty());
    assert!(index.inscriptions_of_block(u32::MAX, u32::MAX).unwrap().ids.is_empty());
    assert_eq!(index.output(&OutPoint { txid: unknown.txid, vout: 7 }, 9).unwrap(), None);
}

/// A store that follows sats is not opened by a program that does not.
#[test]
fn the_setting_of_sats_is_stored() {
    let mut hand = ManualChain::new();
    hand.instance.commit();
    let module = paraffin_ordinals_index::OrdinalsModule::new(NETWORK, crate::instance::WITH_SATS);
    assert!(module.check_settings(&hand.instance.store.snapshot()).is_err(), "the stored setting differs");
    let same = paraffin_ordinals_index::OrdinalsModule::new(NETWORK, PLAIN);
    assert!(same.check_settings(&hand.instance.store.snapshot()).is_ok());
}
