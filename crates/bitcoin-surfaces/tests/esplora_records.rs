//! Random chains and real blocks: every record of Esplora equals one that is written from the blocks alone.
#![allow(missing_docs, clippy::unwrap_used, reason = "a test stops at the first surprise")]

#[path = "../../bitcoin-index/tests/support/mod.rs"]
mod support;

use std::collections::HashMap;

use bitcoin::hex::DisplayHex;
use bitcoin::{Address, Script, ScriptBuf, Transaction, TxOut, Txid};
use paraffin_bitcoin_index::{
    BitcoinModule, Confirmation, MissingPrevouts, Options, RawTransactions, ScriptKey, StoredTransactions, TxLocation,
};
use paraffin_bitcoin_surfaces::esplora::{
    BlockStatus, EsploraBlock, EsploraSpend, EsploraTransaction, MerkleProof, TransactionStatus, UnspentOutput,
};
use serde_json::{Value, json, to_value};
use support::chain::RandomChain;
use support::fixtures::mainnet_blocks;
use support::naive::Naive;
use support::{Instance, NETWORK};

const HEIGHT: u32 = 849_236;

#[test]
fn every_record_equals_one_written_from_the_blocks() {
    for seed in 0..4 {
        let mut chain = RandomChain::new(seed, 60);
        for _ in 0..80 {
            chain.grow(9);
        }
        let naive = Naive::new(&chain.blocks);
        let mut instance = Instance::storing_raw();
        for (height, block) in (0u32..).zip(&chain.blocks) {
            instance.connect(height, block, None);
            if height % 5 == 0 {
                instance.commit();
            }
        }
        instance.commit();
        assert_transactions(&instance, &naive);
        assert_blocks(&instance, &naive);
        for script in naive.scripts() {
            let unspent = instance.index().unspent(&ScriptKey::from_script(&script), None, None).unwrap();
            let shown: Vec<UnspentOutput> = unspent.into_iter().map(UnspentOutput::from).collect();
            assert_eq!(to_value(shown).unwrap(), unspent_outputs(&naive, &script), "{script}");
        }
    }
}

fn assert_transactions(instance: &Instance, naive: &Naive<'_>) {
    let index = instance.index();
    for entry in naive.entries.iter().filter(|entry| !entry.gone) {
        let txid = &entry.txid;
        let location = index.transaction_location(txid).unwrap().unwrap();
        let shown = TransactionStatus::from(location.confirmation());
        assert_eq!(to_value(shown).unwrap(), status(naive.confirmation(entry)));
        assert_eq!(records(instance, &[location]), [transaction(naive, txid)]);
        let spends = index.outspends(txid).unwrap().unwrap().into_iter();
        let shown: Vec<EsploraSpend> =
            spends.map(|spend| spend.map_or(EsploraSpend::UNSPENT, EsploraSpend::from)).collect();
        assert_eq!(to_value(shown).unwrap(), outspends(naive, txid));
        let proof = index.merkle_proof(txid).unwrap().unwrap();
        let branch: Vec<String> = proof.branch.iter().map(ToString::to_string).collect();
        let expected = json!({"block_height": entry.height, "merkle": branch, "pos": entry.index});
        assert_eq!(to_value(MerkleProof::from(proof)).unwrap(), expected);
    }
    let locations: Vec<TxLocation> =
        (0..naive.blocks.len() as u32).flat_map(|at| index.block_transactions(at, 0, 100).unwrap().unwrap()).collect();
    let shown: Vec<Value> = records(instance, &locations).iter().map(|record| record["txid"].clone()).collect();
    assert_eq!(shown, locations.iter().map(|location| json!(location.txid)).collect::<Vec<_>>());
}

fn assert_blocks(instance: &Instance, naive: &Naive<'_>) {
    let index = instance.index();
    for (height, expected) in (0u32..).zip(naive.blocks) {
        let hash = expected.block_hash();
        let shown = EsploraBlock::from(index.block_by_hash(&hash).unwrap().unwrap());
        assert_eq!(to_value(shown).unwrap(), block(naive, height));
        let next = naive.blocks.get(height as usize + 1).map(|block| block.block_hash().to_string());
        let shown = BlockStatus::from(index.block_position(&hash).unwrap());
        let expected = json!({"in_best_chain": true, "height": height, "next_best": next});
        assert_eq!(to_value(shown).unwrap(), expected);
    }
}

#[test]
fn what_is_not_in_the_chain_is_unconfirmed_unspent_and_in_no_block() {
    let nowhere = json!({"in_best_chain": false, "height": null, "next_best": null});
    assert_eq!(to_value(BlockStatus::from(None)).unwrap(), nowhere);
    assert_eq!(to_value(TransactionStatus::UNCONFIRMED).unwrap(), json!({"confirmed": false}));
    assert_eq!(to_value(EsploraSpend::UNSPENT).unwrap(), json!({"spent": false}));
}

/// Inputs of unknown outputs have no prevout and their transactions no fee; what the block itself funds is complete.
#[test]
fn unknown_outputs_are_absent_and_known_ones_are_rendered() {
    for (name, block) in mainnet_blocks() {
        let options = Options { raw_transactions: RawTransactions::Store, missing_prevouts: MissingPrevouts::Tolerate };
        let mut instance = Instance::new(BitcoinModule::with_options(options), 64);
        instance.connect(HEIGHT, &block, None);
        instance.commit();
        let index = instance.index();
        let by_txid: HashMap<Txid, &Transaction> = block.txdata.iter().map(|tx| (tx.compute_txid(), tx)).collect();
        let locations = index.block_transactions(HEIGHT, 0, u32::MAX).unwrap().unwrap();
        let (mut known_inputs, mut known_fees) = (0, 0);
        for (rendered, transaction) in records(&instance, &locations).iter().zip(&block.txdata).skip(1) {
            let mut paid_in = Some(0);
            for (input, shown) in transaction.input.iter().zip(rendered["vin"].as_array().unwrap()) {
                let funding = by_txid.get(&input.previous_output.txid);
                let spent = funding.map(|funding| &funding.output[input.previous_output.vout as usize]);
                assert_eq!(shown["prevout"], json!(spent.map(output)));
                paid_in = paid_in.zip(spent).map(|(sum, output)| sum + output.value.to_sat());
                known_inputs += usize::from(spent.is_some());
            }
            let paid_out: u64 = transaction.output.iter().map(|output| output.value.to_sat()).sum();
            let fee = paid_in.map(|paid_in| json!(paid_in - paid_out));
            assert_eq!(rendered.get("fee"), fee.as_ref(), "{name} {}", rendered["txid"]);
            known_fees += usize::from(paid_in.is_some());
        }
        assert!(known_inputs > 1000 && known_fees > 500, "{name}: {known_inputs} inputs, {known_fees} fees");
    }
}

/// The records of some transactions, as JSON.
fn records(instance: &Instance, locations: &[TxLocation]) -> Vec<Value> {
    let raw = StoredTransactions::new(instance.store.snapshot()).read(locations).unwrap();
    let mut records = Vec::new();
    let visit = |location: &TxLocation, transaction: &Transaction, prevouts: &[Option<TxOut>]| {
        let status = location.confirmation().into();
        records.push(to_value(EsploraTransaction::new(transaction, prevouts, status, NETWORK)).unwrap());
    };
    instance.index().visit_transactions(locations, &raw, visit).unwrap();
    records
}

fn status(Confirmation { height, hash, time }: Confirmation) -> Value {
    json!({"confirmed": true, "block_height": height, "block_hash": hash.to_string(), "block_time": time})
}

fn outspends(naive: &Naive<'_>, txid: &Txid) -> Value {
    let spends = naive.outspends(txid).into_iter();
    spends
        .map(|spend| match spend {
            None => json!({"spent": false}),
            Some(spend) => json!({
                "spent": true, "txid": spend.txid.to_string(), "vin": spend.vin, "status": status(spend.confirmation),
            }),
        })
        .collect()
}

fn unspent_outputs(naive: &Naive<'_>, script: &Script) -> Value {
    let outputs = naive.unspent(script).into_iter();
    outputs
        .map(|output| {
            let (txid, vout) = (output.outpoint.txid.to_string(), output.outpoint.vout);
            json!({"txid": txid, "vout": vout, "status": status(output.confirmation), "value": output.value})
        })
        .collect()
}

fn transaction(naive: &Naive<'_>, txid: &Txid) -> Value {
    let entry = naive.find(txid).unwrap();
    let transaction = &entry.transaction;
    let prevouts = naive.prevouts(txid);
    let vin: Vec<Value> = transaction
        .input
        .iter()
        .zip(&prevouts)
        .map(|(input, prevout)| {
            let mut record = json!({
                "txid": input.previous_output.txid.to_string(),
                "vout": input.previous_output.vout,
                "prevout": prevout.as_ref().map(output),
                "scriptsig": hex(input.script_sig.as_bytes()),
                "scriptsig_asm": input.script_sig.to_asm_string(),
                "is_coinbase": entry.index == 0,
                "sequence": input.sequence.0,
            });
            if !input.witness.is_empty() {
                record["witness"] = input.witness.iter().map(hex).collect();
            }
            if let Some(prevout) = prevout {
                let redeem = (kind(&prevout.script_pubkey) == "p2sh").then(|| last_push(input.script_sig.as_bytes()));
                let behind = redeem.clone().unwrap_or_else(|| prevout.script_pubkey.to_bytes());
                if let Some(redeem) = redeem {
                    record["inner_redeemscript_asm"] = ScriptBuf::from_bytes(redeem).to_asm_string().into();
                }
                if kind(Script::from_bytes(&behind)) == "v0_p2wsh"
                    && let Some(last) = input.witness.last()
                {
                    record["inner_witnessscript_asm"] = Script::from_bytes(last).to_asm_string().into();
                }
            }
            record
        })
        .collect();
    json!({
        "txid": txid.to_string(),
        "version": transaction.version.0.cast_unsigned(),
        "locktime": 0,
        "vin": vin,
        "vout": transaction.output.iter().map(output).collect::<Vec<_>>(),
        "size": bitcoin::consensus::serialize(transaction).len(),
        "weight": transaction.weight().to_wu(),
        "fee": naive.fee(txid),
        "status": status(naive.confirmation(entry)),
    })
}

fn block(naive: &Naive<'_>, height: u32) -> Value {
    let block = &naive.blocks[height as usize];
    json!({
        "id": block.block_hash().to_string(),
        "height": height,
        "version": 0x2000_0000,
        "timestamp": block.header.time,
        "tx_count": block.txdata.len(),
        "size": bitcoin::consensus::serialize(block).len(),
        "weight": block.weight().to_wu(),
        "merkle_root": block.compute_merkle_root().unwrap().to_string(),
        "previousblockhash": (height > 0).then(|| naive.blocks[height as usize - 1].block_hash().to_string()),
        "mediantime": naive.block(height).median_time,
        "nonce": block.header.nonce,
        "bits": 0x207f_ffff,
        "difficulty": 4.656_542_373_906_925e-10,
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.to_lower_hex_string()
}

/// The last push of a script that this test wrote: pushes of at most 75 bytes, or garbage without any.
fn last_push(script: &[u8]) -> Vec<u8> {
    let mut last = Vec::new();
    let mut rest = script;
    while let Some((length, tail)) = rest.split_first() {
        let (push, tail) = tail.split_at(usize::from(*length));
        last = push.to_vec();
        rest = tail;
    }
    last
}

fn kind(script: &Script) -> &'static str {
    match script.as_bytes() {
        [] => "empty",
        [0x6a, ..] => "op_return",
        [0x21, 2 | 3, .., 0xac] if script.len() == 35 => "p2pk",
        [0x76, 0xa9, 0x14, .., 0x88, 0xac] if script.len() == 25 => "p2pkh",
        [0xa9, 0x14, .., 0x87] if script.len() == 23 => "p2sh",
        [0x00, 0x14, ..] if script.len() == 22 => "v0_p2wpkh",
        [0x00, 0x20, ..] if script.len() == 34 => "v0_p2wsh",
        [0x51, 0x20, ..] if script.len() == 34 => "v1_p2tr",
        _ => "unknown",
    }
}

fn output(output: &TxOut) -> Value {
    let script = &output.script_pubkey;
    let mut record = json!({
        "scriptpubkey": hex(script.as_bytes()),
        "scriptpubkey_asm": script.to_asm_string(),
        "scriptpubkey_type": kind(script),
        "value": output.value.to_sat(),
    });
    if let Ok(address) = Address::from_script(script, NETWORK.bitcoin()) {
        record["scriptpubkey_address"] = address.to_string().into();
    }
    record
}
