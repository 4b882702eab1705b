use serde_json::{Value, json};

use super::super::schema::{
    about, anything, boolean, component, list, map, natural, number, or_null, record, record_and,
};
use super::Row;

pub(crate) const METHODS: [Row; 36] = [
    ("tx", "A transaction", "txid:hash", "EsploraTransaction"),
    ("tx::status", "Where a transaction is", "txid:hash", "TransactionStatus"),
    ("tx::hex", "A transaction in hexadecimal digits", "txid:hash", "hex"),
    ("tx::raw", "A transaction in hexadecimal digits", "txid:hash", "hex"),
    ("tx::outspends", "What spent the outputs of a transaction", "txid:hash", "EsploraSpend[]"),
    ("tx::outspend", "What spent an output", "txid:hash vout:index", "EsploraSpend"),
    ("tx::merkle-proof", "Proof that a block holds the transaction, as Electrum has it", "txid:hash", "object"),
    ("tx::merkleblock-proof", "Proof that a block holds the transaction, as the node has it", "txid:hash", "hex"),
    ("address", "Totals of an address", "address:address", "object"),
    ("address::utxo", "Unspent outputs of an address", "address:address", "EsploraOutput[]"),
    (
        "address::txs",
        "Unconfirmed and the newest 25 confirmed transactions of an address",
        "address:address",
        "EsploraTransaction[]",
    ),
    ("address::txs:mempool", "Unconfirmed transactions of an address", "address:address", "EsploraTransaction[]"),
    (
        "address::txs:chain",
        "25 confirmed transactions of an address, after the last one seen",
        "address:address last_seen_txid?:hash",
        "EsploraTransaction[]",
    ),
    ("scripthash", "Totals of a script, by its SHA-256", "scripthash:hash", "object"),
    ("scripthash::utxo", "Unspent outputs of a script", "scripthash:hash", "EsploraOutput[]"),
    (
        "scripthash::txs",
        "Unconfirmed and the newest 25 confirmed transactions of a script",
        "scripthash:hash",
        "EsploraTransaction[]",
    ),
    ("scripthash::txs:mempool", "Unconfirmed transactions of a script", "scripthash:hash", "EsploraTransaction[]"),
    (
        "scripthash::txs:chain",
        "25 confirmed transactions of a script, after the last one seen",
        "scripthash:hash last_seen_txid?:hash",
        "EsploraTransaction[]",
    ),
    ("address-prefix", "Up to ten addresses that begin so", "prefix:text", "text[]"),
    ("block", "A block", "hash:hash", "object"),
    ("block::header", "The header of a block", "hash:hash", "hex"),
    ("block::status", "Whether a block is in the best chain", "hash:hash", "object"),
    ("block::raw", "A whole block", "hash:hash", "hex"),
    ("block::txid", "One txid of a block", "hash:hash index:index", "hash"),
    ("block::txids", "All txids of a block", "hash:hash", "hash[]"),
    ("block::txs", "25 transactions of a block", "hash:hash start_index?:index", "EsploraTransaction[]"),
    ("block-height", "Hash of the block at a height", "height:height", "hash"),
    ("blocks", "Ten blocks downwards", "start_height?:height", "objects"),
    ("blocks:tip:height", "Height of the newest indexed block", "", "natural"),
    ("blocks:tip:hash", "Hash of the newest indexed block", "", "hash"),
    ("mempool", "Totals of the mempool and a histogram of its feerates", "", "object"),
    ("mempool:txids", "All unconfirmed transactions", "", "hash[]"),
    ("mempool:recent", "The ten newest unconfirmed transactions", "", "objects"),
    ("fee-estimates", "Feerate in sat/vB for each target in blocks", "", "EsploraFees"),
    ("broadcast", "Hands a transaction to the network; its txid", "transaction:hex", "hash"),
    (
        "txs:package",
        "Hands several transactions to the network together",
        "transactions:hex[] maxfeerate?:any maxburnamount?:any",
        "object",
    ),
];

pub(super) fn schemas() -> Vec<(&'static str, Value)> {
    let status = || component("TransactionStatus");
    vec![
        (
            "EsploraTransaction",
            record(&[
                ("txid", component("Hash")),
                ("version", json!({ "type": "integer" })),
                ("locktime", natural()),
                ("vin", list(map(anything()))),
                ("vout", list(map(anything()))),
                ("size", natural()),
                ("weight", natural()),
                ("fee", natural()),
                ("status", status()),
            ]),
        ),
        (
            "EsploraOutput",
            record(&[("txid", component("Hash")), ("vout", natural()), ("value", natural()), ("status", status())]),
        ),
        (
            "EsploraSpend",
            record_and(
                &[("spent", boolean())],
                &[("txid", or_null(component("Hash"))), ("vin", or_null(natural())), ("status", or_null(status()))],
            ),
        ),
        ("EsploraFees", about(map(number()), "Target to feerate")),
    ]
}
