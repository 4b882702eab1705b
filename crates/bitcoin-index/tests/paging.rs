//! The price of a page does not grow with the history.
#![allow(missing_docs, clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use bitcoin::hashes::Hash as _;
use bitcoin::{BlockHash, OutPoint, ScriptBuf, Txid};
use paraffin_bitcoin_index::{BitcoinIndex, BitcoinModule, RawTransactions, ScriptKey};
use support::Instance;
use support::chain::{block, coinbase, output, script, spend, transaction};

const PAGE: usize = 25;

/// One block for each of `rows` rows of the first script, of which every `rows / 50`th also pays the second script.
fn two_histories(rows: u64) -> (Instance, ScriptBuf, ScriptBuf) {
    let (popular, modest) = (script(2), script(13));
    let mut instance = Instance::new(BitcoinModule::new(RawTransactions::Node), 64);
    let mut previous = BlockHash::from_raw_hash(bitcoin::hashes::Hash::all_zeros());
    for number in 0..=rows {
        let height = number as u32;
        let mut outputs = vec![output(1000 + number, popular.clone())];
        if number > 0 && number % (rows / 50) == 0 {
            outputs.push(output(1, modest.clone()));
        }
        let block = block(previous, height, 0, vec![coinbase(number, outputs)]);
        previous = block.block_hash();
        instance.connect(height, &block, None);
        if number % 500 == 0 {
            instance.commit();
        }
    }
    instance.commit();
    (instance, popular, modest)
}

fn reads_of<T>(instance: &Instance, read: impl FnOnce(&BitcoinIndex) -> T) -> (u64, T) {
    let index = instance.index();
    let before = instance.store.reads().total();
    let answer = read(&index);
    (instance.store.reads().total() - before, answer)
}

#[test]
fn any_page_of_a_history_of_10_000_rows_costs_what_the_first_page_of_50_rows_costs() {
    let (instance, popular, modest) = two_histories(10_000);
    let page = |script: &ScriptBuf, after: Option<Txid>| {
        let key = ScriptKey::from_script(script);
        let (reads, page) = reads_of(&instance, |index| index.history(&key, after.as_ref(), PAGE).unwrap());
        assert_eq!(page.len(), PAGE);
        (reads, page.last().unwrap().txid)
    };
    let (first_of_50, last_of_50) = page(&modest, None);
    let (first_of_10_000, last) = page(&popular, None);
    assert_eq!(first_of_10_000, first_of_50);
    // A seek, and for each: its row of the history, the transaction, whether it was replaced, and its block.
    assert!(first_of_50 <= 4 * PAGE as u64 + 1, "{first_of_50} reads for {PAGE} transactions");

    let (second_of_50, _) = page(&modest, Some(last_of_50));
    let mut after = last;
    for number in 2..=400 {
        let (reads, last) = page(&popular, Some(after));
        assert!(reads <= second_of_50, "page {number} took {reads} reads, page 2 of the short history {second_of_50}");
        after = last;
    }
    let key = ScriptKey::from_script(&popular);
    assert!(instance.index().history(&key, Some(&after), PAGE).unwrap().is_empty());
}

#[test]
fn totals_and_unspent_pages_of_a_busy_script_do_not_depend_on_its_age() {
    let (instance, popular, _) = two_histories(10_000);
    let key = ScriptKey::from_script(&popular);
    let (reads, totals) = reads_of(&instance, |index| index.script_totals(&key).unwrap());
    assert_eq!((reads, totals.tx_count, totals.funded_txo_count), (1, 10_000, 10_000));
    let (reads, unspent) = reads_of(&instance, |index| index.unspent(&key, None, Some(PAGE)).unwrap());
    assert_eq!(unspent.len(), PAGE);
    // Totals, a scan with a row for each output, and the headers of their blocks.
    assert!(reads <= 2 * PAGE as u64 + 4, "{reads} reads for {PAGE} outputs");
    let before = instance.store.reads();
    let all = instance.index().unspent(&key, None, None).unwrap();
    let after = instance.store.reads();
    assert_eq!(all.len(), 10_000);
    let reads = after.gets + after.seeks - before.gets - before.seeks;
    assert!(reads <= 4, "{reads} gets and scans for 10,000 outputs");
    assert!(after.rows - before.rows <= 3 * 10_000, "{} rows for 10,000 outputs", after.rows - before.rows);
}

/// An import of 600 blocks, each of which pays one script of all blocks and forty scripts of its own. Half of them also spend one of the
/// 300 outputs that a single transaction pays to another script. Returns the digest of all rows and the reads. Half-way the module is
/// replaced when it is `resumed`.
fn import(memory: usize, resumed: bool) -> ([u8; 32], u64) {
    let module = || BitcoinModule::new(RawTransactions::Node).with_memory(memory);
    let mut instance = Instance::new(module(), 64);
    let mut previous = BlockHash::from_raw_hash(bitcoin::hashes::Hash::all_zeros());
    let mut paying = Txid::all_zeros();
    for height in 0..600_u32 {
        let own = (1..=40).map(|number| output(1, script(u64::from(height) * 40 + number + 1_000)));
        let many = (0..300).map(|_| output(1, script(3))).filter(|_| height == 1);
        let outputs = std::iter::once(output(1, script(2))).chain(own).chain(many).collect();
        let mut transactions = vec![coinbase(u64::from(height), outputs)];
        if (2..302).contains(&height) {
            let spent = OutPoint { txid: paying, vout: 41 + height - 2 };
            transactions.push(transaction(vec![spend(spent)], vec![output(1, script(500 + u64::from(height)))], 1));
        }
        if height == 1 {
            paying = transactions[0].compute_txid();
        }
        let block = block(previous, height, 0, transactions);
        previous = block.block_hash();
        if resumed && height == 300 {
            instance.module = module();
        }
        instance.connect(height, &block, None);
        if height % 100 == 99 {
            instance.commit();
        }
    }
    let reads = instance.store.reads().total();
    (instance.store.snapshot().content_digest().unwrap(), reads)
}

#[test]
fn bounds_of_histories_spare_reads_and_change_no_row() {
    let (rows, reads) = import(1 << 20, false);
    // One line of counters is full soon, and after a stop there are none.
    let (without, reads_without) = import(0, false);
    let (resumed, reads_resumed) = import(1 << 20, true);
    assert_eq!([without, resumed], [rows; 2]);
    // One look for the totals of each of the 24,000 quiet scripts.
    assert!(reads + 20_000 < reads_without, "{reads}, {reads_without}");
    assert!((reads + 10_000..reads_without).contains(&reads_resumed), "{reads}, {reads_resumed}, {reads_without}");
}

/// A block of 600 transactions whose outputs the next one spends, as many. Returns the digest of all rows and the reads.
fn large_blocks(memory: usize) -> ([u8; 32], u64) {
    let module = BitcoinModule::new(RawTransactions::Node).with_memory(memory);
    let mut instance = Instance::new(module, 64);
    let outputs = (0..600).map(|number| output(1, script(1_000 + number))).collect();
    let first = block(BlockHash::from_raw_hash(bitcoin::hashes::Hash::all_zeros()), 0, 0, vec![coinbase(0, outputs)]);
    let mut spent: Vec<OutPoint> =
        (0..600).map(|vout| OutPoint { txid: first.txdata[0].compute_txid(), vout }).collect();
    let mut previous = first.block_hash();
    instance.connect(0, &first, None);
    for height in 1..3 {
        let paid = |number| output(1, script(10_000 * u64::from(height) + number));
        let spending =
            spent.iter().zip(0..).map(|(outpoint, number)| transaction(vec![spend(*outpoint)], vec![paid(number)], 1));
        let transactions: Vec<_> =
            std::iter::once(coinbase(u64::from(height), vec![output(1, script(2))])).chain(spending).collect();
        spent = transactions[1..]
            .iter()
            .map(|transaction| OutPoint { txid: transaction.compute_txid(), vout: 0 })
            .collect();
        let block = block(previous, height, 0, transactions);
        previous = block.block_hash();
        instance.connect(height, &block, None);
        instance.commit();
    }
    let reads = instance.store.reads().total();
    (instance.store.snapshot().content_digest().unwrap(), reads)
}

#[test]
fn transactions_of_large_blocks_are_remembered_too() {
    let (rows, reads) = large_blocks(1 << 20);
    let (without, reads_without) = large_blocks(0);
    assert_eq!(rows, without);
    assert!(reads + 600 <= reads_without, "{reads}, {reads_without}");
}
