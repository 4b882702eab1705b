//! Any transaction that a miner may put into a block is rendered, with known and unknown prevouts, on every network.

use bitcoin::consensus::encode::deserialize_partial;
use bitcoin::{Script, Transaction, TxOut};
use paraffin_bitcoin_index::ScriptKey;
use paraffin_bitcoin_surfaces::esplora::{EsploraTransaction, script_type};
use paraffin_primitives::Network;

pub(crate) fn run(bytes: &[u8]) {
    assert!(!script_type(Script::from_bytes(bytes)).is_empty());
    let _ = ScriptKey::from_script(Script::from_bytes(bytes));
    if let Ok(text) = str::from_utf8(bytes) {
        let is_hash = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        assert_eq!(ScriptKey::from_script_hash(text).is_ok(), is_hash);
    }
    let Ok((transaction, used)) = deserialize_partial::<Transaction>(bytes) else { return };
    // What follows the transaction is the scripts of the outputs that it spends.
    let prevout = |script: &[u8]| TxOut { value: bitcoin::Amount::MAX, script_pubkey: script.to_vec().into() };
    let mut scripts = bytes[used..].chunks(35);
    let known: Vec<Option<TxOut>> = transaction.input.iter().map(|_| scripts.next().map(prevout)).collect();
    for network in Network::ALL {
        for prevouts in [known.as_slice(), &[]] {
            let rendered = EsploraTransaction::unconfirmed(&transaction, prevouts, network);
            let record = serde_json::to_value(&rendered).expect("a record is always JSON");
            let length = |member: &str| record[member].as_array().expect("a list").len();
            assert_eq!(length("vout"), transaction.output.len());
            assert_eq!(length("vin"), transaction.input.len());
        }
    }
}
