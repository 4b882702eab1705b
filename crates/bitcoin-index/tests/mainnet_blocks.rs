//! Real mainnet blocks, isolated: what they spend is not in the index.
#![allow(missing_docs, clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use std::collections::{HashMap, HashSet};

use bitcoin::consensus::{deserialize, serialize};
use bitcoin::{OutPoint, Transaction, TxOut, Txid};
use paraffin_bitcoin_index::{
    BitcoinModule, MissingPrevouts, Options, RawTransactions, ScriptKey, StoredTransactions, TxLocation,
};
use paraffin_store::ModuleError;
use support::fixtures::mainnet_blocks;
use support::{Instance, connected};

const HEIGHT: u32 = 849_236;

fn tolerant() -> Instance {
    let options = Options { raw_transactions: RawTransactions::Store, missing_prevouts: MissingPrevouts::Tolerate };
    Instance::new(BitcoinModule::with_options(options), 64)
}

/// Every transaction can be read by its id, with its own bytes, outputs and position in the block.
#[test]
fn every_transaction_of_the_real_blocks_comes_back_bit_for_bit() {
    for (name, block) in mainnet_blocks() {
        let mut instance = tolerant();
        instance.connect(HEIGHT, &block, None);
        instance.commit();
        let index = instance.index();
        let txids: Vec<Txid> = block.txdata.iter().map(Transaction::compute_txid).collect();
        assert_eq!(index.block_txids(HEIGHT).unwrap(), Some(txids.clone()), "{name}");
        let summary = index.block_by_height(HEIGHT).unwrap().unwrap();
        assert_eq!(summary.weight, block.weight().to_wu(), "{name}");
        assert_eq!(summary.header.merkle_root, block.header.merkle_root, "{name}");
        let bytes = serialize(&block);
        let source = StoredTransactions::new(instance.store.snapshot());
        for (txid, transaction) in txids.iter().zip(&block.txdata) {
            let location = index.transaction_location(txid).unwrap().unwrap();
            let slice = &bytes[location.offset as usize..][..location.size as usize];
            assert_eq!(&deserialize::<Transaction>(slice).unwrap(), transaction, "{name} {txid}");
            assert_eq!(source.read(&[location]).unwrap()[0], slice, "{name} {txid}");
            assert_eq!(index.transaction_outputs(txid).unwrap().as_ref(), Some(&transaction.output), "{name} {txid}");
            assert_eq!(location.weight, transaction.weight().to_wu(), "{name} {txid}");
        }
    }
}

/// What the block itself funds is found, and nothing else.
#[test]
fn unknown_outputs_are_absent_and_known_ones_are_read() {
    for (name, block) in mainnet_blocks() {
        let mut instance = tolerant();
        instance.connect(HEIGHT, &block, None);
        instance.commit();
        let index = instance.index();
        let by_txid: HashMap<Txid, &Transaction> = block.txdata.iter().map(|tx| (tx.compute_txid(), tx)).collect();
        let locations = index.block_transactions(HEIGHT, 0, u32::MAX).unwrap().unwrap();
        let raw = StoredTransactions::new(instance.store.snapshot()).read(&locations).unwrap();
        let (mut visited, mut known_inputs) = (Vec::new(), 0);
        let visit = |_: &TxLocation, transaction: &Transaction, prevouts: &[Option<TxOut>]| {
            let expected = transaction.input.iter().map(|input| {
                let funding = by_txid.get(&input.previous_output.txid)?;
                Some(funding.output[input.previous_output.vout as usize].clone())
            });
            assert_eq!(prevouts, expected.collect::<Vec<_>>(), "{name} {}", transaction.compute_txid());
            known_inputs += prevouts.iter().flatten().count();
            visited.push(transaction.clone());
        };
        index.visit_transactions(&locations, &raw, visit).unwrap();
        assert_eq!(visited, block.txdata, "{name}");
        assert!(known_inputs > 1000, "{name}: {known_inputs} inputs");
    }
}

/// Every script that a block pays has the balance that the block leaves it.
#[test]
fn balances_within_a_real_block_are_those_of_its_unspent_outputs() {
    for (name, block) in mainnet_blocks() {
        let mut instance = tolerant();
        instance.connect(HEIGHT, &block, None);
        instance.commit();
        let index = instance.index();
        let mut balances: HashMap<_, u64> = HashMap::new();
        let spent: HashSet<OutPoint> =
            block.txdata.iter().flat_map(|tx| &tx.input).map(|input| input.previous_output).collect();
        for transaction in &block.txdata {
            let txid = transaction.compute_txid();
            for (vout, output) in (0u32..).zip(&transaction.output) {
                let is_spent = spent.contains(&OutPoint { txid, vout });
                let amount = if is_spent || output.script_pubkey.is_op_return() { 0 } else { output.value.to_sat() };
                *balances.entry(&output.script_pubkey).or_default() += amount;
            }
        }
        for (script, balance) in balances {
            let key = ScriptKey::from_script(script);
            assert_eq!(index.script_totals(&key).unwrap().balance(), balance, "{name} {script}");
            let unspent = index.unspent(&key, None, None).unwrap();
            assert_eq!(unspent.iter().map(|output| output.value).sum::<u64>(), balance, "{name} {script}");
        }
    }
}

/// Outside replay, an input of an unknown output halts the module, names the outpoint and writes nothing.
#[test]
fn an_unknown_output_halts_the_module_and_is_named() {
    for (name, block) in mainnet_blocks() {
        let mut instance = Instance::storing_raw();
        let Err(ModuleError::Block(message)) = instance.apply(&connected(HEIGHT, &block, None)) else {
            panic!("{name} spends outputs that the index does not know")
        };
        let named = block
            .txdata
            .iter()
            .flat_map(|tx| &tx.input)
            .any(|input| message.contains(&input.previous_output.to_string()));
        assert!(named, "{message}");
        assert!(instance.writer.tip().is_none());
        assert!(instance.index().tip().unwrap().is_none());
    }
}
