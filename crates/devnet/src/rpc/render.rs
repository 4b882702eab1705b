//! Blocks, transactions and mempool entries as the JSON that Bitcoin Core gives.

use bitcoin::consensus::encode::serialize_hex;
use bitcoin::hex::DisplayHex;
use bitcoin::{Block, Transaction, Txid};
use serde_json::{Map, Number, Value, json};

use super::script::{asm, script_json};
use crate::node::{BlockEntry, Chain, Coin, Mempool, MempoolEntry, format_btc};

/// The difficulty of every block on regtest.
pub(crate) const DIFFICULTY: &str = "4.656542373906925e-10";
/// The target of every block on regtest.
pub(crate) const TARGET: &str = "7fffff0000000000000000000000000000000000000000000000000000000000";
/// The compact form of [`TARGET`].
pub(crate) const BITS: &str = "207fffff";

/// A number written exactly as `text`.
pub(crate) fn number(text: &str) -> Value {
    serde_json::from_str::<Number>(text).map_or(Value::Null, Value::Number)
}

/// Satoshis as a number of bitcoins with eight decimals.
pub(crate) fn btc(sats: u64) -> Value {
    number(&format_btc(sats))
}

/// How much of a transaction is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Fee where the spent outputs are known.
    Fee,
    /// The spent outputs as well.
    Prevouts,
}

/// The members of a transaction; `spent` are the outputs that it spends, in input order, where known.
pub(crate) fn transaction_json(
    tx: &Transaction,
    spent: Option<&[Coin]>,
    detail: Detail,
    hex: bool,
) -> Map<String, Value> {
    let coinbase = tx.is_coinbase();
    let spent = spent.filter(|_| !coinbase);
    let inputs: Vec<Value> = tx
        .input
        .iter()
        .enumerate()
        .map(|(index, input)| {
            let mut object = Map::new();
            if coinbase {
                object.insert("coinbase".to_owned(), json!(input.script_sig.to_hex_string()));
            } else {
                object.insert("txid".to_owned(), json!(input.previous_output.txid.to_string()));
                object.insert("vout".to_owned(), json!(input.previous_output.vout));
                let script = json!({"asm": asm(&input.script_sig, true), "hex": input.script_sig.to_hex_string()});
                object.insert("scriptSig".to_owned(), script);
            }
            if !input.witness.is_empty() {
                let stack: Vec<String> = input.witness.iter().map(DisplayHex::to_lower_hex_string).collect();
                object.insert("txinwitness".to_owned(), json!(stack));
            }
            if let Some(coin) = spent.and_then(|spent| spent.get(index)).filter(|_| detail == Detail::Prevouts) {
                object.insert(
                    "prevout".to_owned(),
                    json!({
                        "generated": coin.coinbase,
                        "height": coin.height,
                        "value": btc(coin.output.value.to_sat()),
                        "scriptPubKey": script_json(&coin.output.script_pubkey, true),
                    }),
                );
            }
            object.insert("sequence".to_owned(), json!(input.sequence.to_consensus_u32()));
            Value::Object(object)
        })
        .collect();
    let outputs: Vec<Value> = tx
        .output
        .iter()
        .enumerate()
        .map(|(n, output)| {
            json!({
                "value": btc(output.value.to_sat()),
                "n": n,
                "scriptPubKey": script_json(&output.script_pubkey, true),
            })
        })
        .collect();
    let mut object = Map::new();
    object.insert("txid".to_owned(), json!(tx.compute_txid().to_string()));
    object.insert("hash".to_owned(), json!(tx.compute_wtxid().to_string()));
    object.insert("version".to_owned(), json!(tx.version.0.cast_unsigned()));
    object.insert("size".to_owned(), json!(tx.total_size()));
    object.insert("vsize".to_owned(), json!(tx.vsize()));
    object.insert("weight".to_owned(), json!(tx.weight().to_wu()));
    object.insert("locktime".to_owned(), json!(tx.lock_time.to_consensus_u32()));
    object.insert("vin".to_owned(), Value::Array(inputs));
    object.insert("vout".to_owned(), Value::Array(outputs));
    if let Some(spent) = spent {
        object.insert("fee".to_owned(), btc(fee(tx, spent)));
    }
    if hex {
        object.insert("hex".to_owned(), json!(serialize_hex(tx)));
    }
    object
}

/// The fee of a valid transaction that spends `spent`, in satoshis.
pub(crate) fn fee(tx: &Transaction, spent: &[Coin]) -> u64 {
    let paid_in: u64 = spent.iter().map(|coin| coin.output.value.to_sat()).sum();
    let paid_out: u64 = tx.output.iter().map(|output| output.value.to_sat()).sum();
    paid_in.saturating_sub(paid_out)
}

/// Confirmations of a block: -1 when it is not on the best chain.
pub(crate) fn confirmations(chain: &Chain, entry: &BlockEntry) -> i64 {
    if chain.is_main(&entry.block.block_hash()) { i64::from(chain.height() - entry.height) + 1 } else { -1 }
}

/// The members that a block and its header have in common.
pub(crate) fn header_json(chain: &Chain, entry: &BlockEntry) -> Map<String, Value> {
    let header = &entry.block.header;
    let hash = header.block_hash();
    let version = header.version.to_consensus();
    let mut object = Map::new();
    object.insert("hash".to_owned(), json!(hash.to_string()));
    object.insert("confirmations".to_owned(), json!(confirmations(chain, entry)));
    object.insert("height".to_owned(), json!(entry.height));
    object.insert("version".to_owned(), json!(version));
    object.insert("versionHex".to_owned(), json!(format!("{version:08x}")));
    object.insert("merkleroot".to_owned(), json!(header.merkle_root.to_string()));
    object.insert("time".to_owned(), json!(header.time));
    object.insert("mediantime".to_owned(), json!(entry.median_time_past));
    object.insert("nonce".to_owned(), json!(header.nonce));
    object.insert("bits".to_owned(), json!(format!("{:08x}", header.bits.to_consensus())));
    object.insert("target".to_owned(), json!(TARGET));
    object.insert("difficulty".to_owned(), number(DIFFICULTY));
    object.insert("chainwork".to_owned(), json!(work_hex(entry)));
    object.insert("nTx".to_owned(), json!(entry.block.txdata.len()));
    if entry.height > 0 {
        object.insert("previousblockhash".to_owned(), json!(header.prev_blockhash.to_string()));
    }
    if chain.is_main(&hash)
        && let Some(next) = chain.hash_at(entry.height + 1)
    {
        object.insert("nextblockhash".to_owned(), json!(next.to_string()));
    }
    object
}

pub(crate) fn work_hex(entry: &BlockEntry) -> String {
    entry.work.to_be_bytes().to_lower_hex_string()
}

/// A block at verbosity 1 (txids), 2 (transactions) or 3 and above (with spent outputs).
pub(crate) fn block_json(chain: &Chain, entry: &BlockEntry, verbosity: i64) -> Map<String, Value> {
    let block: &Block = &entry.block;
    let mut object = header_json(chain, entry);
    let (size, weight) = (block.total_size() as u64, block.weight().to_wu());
    object.insert("strippedsize".to_owned(), json!((weight - size) / 3));
    object.insert("size".to_owned(), json!(size));
    object.insert("weight".to_owned(), json!(weight));
    let coinbase = &block.txdata[0];
    let mut coinbase_json = json!({
        "version": coinbase.version.0.cast_unsigned(),
        "locktime": coinbase.lock_time.to_consensus_u32(),
        "sequence": coinbase.input[0].sequence.to_consensus_u32(),
        "coinbase": coinbase.input[0].script_sig.to_hex_string(),
    });
    if let Some(witness) = coinbase.input[0].witness.nth(0) {
        coinbase_json["witness"] = json!(witness.to_lower_hex_string());
    }
    object.insert("coinbase_tx".to_owned(), coinbase_json);
    let transactions: Vec<Value> = if verbosity <= 1 {
        entry.txids.iter().map(|txid| json!(txid.to_string())).collect()
    } else {
        let detail = if verbosity == 2 { Detail::Fee } else { Detail::Prevouts };
        block
            .txdata
            .iter()
            .enumerate()
            .map(|(index, tx)| Value::Object(transaction_json(tx, spent_by(entry, index), detail, true)))
            .collect()
    };
    object.insert("tx".to_owned(), Value::Array(transactions));
    object
}

/// What transaction number `index` of a block spends, where known; nothing for the coinbase.
pub(crate) fn spent_by(entry: &BlockEntry, index: usize) -> Option<&[Coin]> {
    let index = index.checked_sub(1)?;
    entry.spent.as_ref()?.get(index).map(Vec::as_slice)
}

/// The members of an unconfirmed transaction.
pub(crate) fn mempool_entry_json(mempool: &Mempool, entry: &MempoolEntry) -> Value {
    let mut ancestors = mempool.ancestors(&entry.tx);
    ancestors.insert(entry.txid);
    let ancestors = mempool.totals(&ancestors);
    let descendants = mempool.totals(&mempool.descendants(entry.txid));
    let mut depends: Vec<Txid> = mempool.parents(&entry.tx).collect();
    depends.sort_by_key(Txid::to_string);
    depends.dedup();
    let mut spent_by: Vec<Txid> = mempool.children(entry).collect();
    spent_by.sort_by_key(Txid::to_string);
    spent_by.dedup();
    let text = |txids: &[Txid]| txids.iter().map(Txid::to_string).collect::<Vec<_>>();
    json!({
        "vsize": entry.vsize,
        "weight": entry.weight,
        "time": entry.time,
        "height": entry.height,
        "descendantcount": descendants.count,
        "descendantsize": descendants.vsize,
        "ancestorcount": ancestors.count,
        "ancestorsize": ancestors.vsize,
        "chunkweight": entry.weight,
        "wtxid": entry.wtxid.to_string(),
        "fees": {
            "base": btc(entry.fee),
            "modified": btc(entry.fee),
            "ancestor": btc(ancestors.fees),
            "descendant": btc(descendants.fees),
            "chunk": btc(entry.fee),
        },
        "depends": text(&depends),
        "spentby": text(&spent_by),
        "bip125-replaceable": entry.tx.is_explicitly_rbf(),
        "unbroadcast": false,
    })
}
