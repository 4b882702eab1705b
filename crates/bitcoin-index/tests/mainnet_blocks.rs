//! Real mainnet blocks, isolated: what they spend is not in the index.
#![allow(missing_docs, clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod support;

use std::collections::{HashMap, HashSet};

use bitcoin::consensus::{deserialize, serialize};
use bitcoin::{OutPoint, Transaction, Txid};
use paraffin_bitcoin_index::{BitcoinModule, MissingPrevouts, Options, RawTransactions, ScriptKey, StoredTransactions};
use paraffin_store::ModuleError;
use serde_json::to_value;
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
        assert_eq!(summary.merkle_root, block.header.merkle_root, "{name}");
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

/// Inputs of unknown outputs have no prevout and their transactions no fee; what the block itself funds is complete.
#[test]
fn unknown_outputs_are_absent_and_known_ones_are_rendered() {
    for (name, block) in mainnet_blocks() {
        let mut instance = tolerant();
        instance.connect(HEIGHT, &block, None);
        instance.commit();
        let index = instance.index();
        let by_txid: HashMap<Txid, &Transaction> = block.txdata.iter().map(|tx| (tx.compute_txid(), tx)).collect();
        let locations = index.block_transactions(HEIGHT, 0, u32::MAX).unwrap().unwrap();
        let raw = StoredTransactions::new(instance.store.snapshot()).read(&locations).unwrap();
        let (mut known_inputs, mut known_fees) = (0, 0);
        for (rendered, transaction) in index.render_all(&locations, &raw).unwrap().iter().zip(&block.txdata).skip(1) {
            let mut paid_in = Some(0);
            for (input, shown) in transaction.input.iter().zip(&rendered.vin) {
                let funding = by_txid.get(&input.previous_output.txid);
                let output = funding.map(|funding| &funding.output[input.previous_output.vout as usize]);
                assert_eq!(
                    shown.prevout.as_ref().map(|output| output.value),
                    output.map(|output| output.value.to_sat())
                );
                assert_eq!(
                    shown.prevout.as_ref().map(|output| &output.scriptpubkey),
                    output.map(|output| &output.script_pubkey)
                );
                paid_in = paid_in.zip(output).map(|(sum, output)| sum + output.value.to_sat());
                known_inputs += usize::from(output.is_some());
            }
            let paid_out: u64 = transaction.output.iter().map(|output| output.value.to_sat()).sum();
            assert_eq!(rendered.fee, paid_in.map(|paid_in| paid_in - paid_out), "{name} {}", rendered.txid);
            assert_eq!(to_value(rendered).unwrap().get("fee").is_some(), paid_in.is_some());
            known_fees += usize::from(paid_in.is_some());
        }
        assert!(known_inputs > 1000 && known_fees > 500, "{name}: {known_inputs} inputs, {known_fees} fees");
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
