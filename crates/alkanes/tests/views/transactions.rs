//! Trial runs of a transaction, of its protostones alone, and of a block.

use bitcoin::hashes::Hash as _;
use paraffin_alkanes::codec::{append_varint, encode_protostones};
use paraffin_alkanes::proto::alkanes::{
    AlkaneTransfer, KeyValuePair, SimulateBlockRequest, SimulateBlockResponse, SimulateProtostonesRequest,
    SimulateTransactionRequest, SimulateTransactionResponse, StorageOverride,
};
use paraffin_alkanes::proto::{alkane_id, integer};
use paraffin_primitives::AlkaneId;

use crate::stage::{Stage, TOKEN, call, first_output, id, output, script, transaction};

/// Alkanes of the existing outputs.
fn balances(answer: &SimulateTransactionResponse) -> Vec<(u32, AlkaneId, u128)> {
    let lines = answer
        .final_balances_by_vout
        .iter()
        .filter(|vout| vout.vout < 4)
        .flat_map(|vout| vout.balances.iter().map(|held| (vout.vout, alkane_id(held.id), integer(held.value))));
    lines.collect()
}

fn stored(answer: &SimulateTransactionResponse, index: usize, key: &[u8]) -> Option<Vec<u8>> {
    let touched = answer.protostones[index].touched_storage.iter().find(|one| alkane_id(one.alkane) == TOKEN)?;
    touched.entries.iter().find(|pair| pair.key == key).map(|pair| pair.value.clone())
}

/// row MR09
#[test]
fn a_transaction_is_run_with_its_inputs_and_tells_balances_fuel_traces_and_storage() {
    let (stage, deploy) = Stage::with_token();
    let mint = transaction(&[first_output(&deploy)], vec![output(script(2), 546)], &[call(TOKEN, &[77])], None);
    let request = SimulateTransactionRequest {
        height: 2,
        transaction: bitcoin::consensus::serialize(&mint),
        ..SimulateTransactionRequest::default()
    };
    let answer: SimulateTransactionResponse = stage.ask("simulatetransaction", &request);
    assert_eq!((answer.error.as_str(), answer.height), ("", 2));
    assert_eq!(answer.txid, mint.compute_txid().to_string());
    assert_eq!(balances(&answer), [(0, TOKEN, 1_100)]);
    assert_eq!(answer.protostones.len(), 1);
    assert_eq!(stored(&answer, 0, b"/minted"), Some(1_u128.to_le_bytes().to_vec()));
    assert!(answer.total_fuel_used > 0 && answer.total_fuel_used == answer.protostones[0].fuel_used);
    assert!(!answer.protostones[0].trace.as_ref().unwrap().events.is_empty());
    assert_eq!(answer.used_transaction, request.transaction);

    // The block that it stands in follows the newest one.
    let block: bitcoin::Block = bitcoin::consensus::deserialize(&answer.used_block).unwrap();
    let newest = &stage.blocks[1].header;
    assert_eq!(block.header.prev_blockhash, newest.block_hash());
    assert_eq!((block.header.time, block.header.bits), (newest.time + 600, newest.bits));
    assert_eq!(block.header.nonce >> 16, 0xdead);
    assert!(block.check_merkle_root() && block.txdata[0].is_coinbase() && block.txdata[1] == mint);

    // A PSBT of the transaction gives the same answer.
    let mut unsigned = mint.clone();
    unsigned.input[0].witness.clear();
    let psbt = bitcoin::Psbt::from_unsigned_tx(unsigned).unwrap().serialize();
    let request = SimulateTransactionRequest { transaction: psbt, ..request };
    assert_eq!(balances(&stage.ask("simulatetransaction", &request)), [(0, TOKEN, 1_100)]);

    // Pretended storage counts: the cap is reached.
    let entries = vec![KeyValuePair { key: b"/minted".to_vec(), value: 5_u128.to_le_bytes().to_vec() }];
    let storage_overrides = vec![StorageOverride { alkane: Some(TOKEN.into()), entries }];
    let request = SimulateTransactionRequest { storage_overrides, ..request };
    let answer: SimulateTransactionResponse = stage.ask("simulatetransaction", &request);
    assert_eq!(balances(&answer), [(0, TOKEN, 1_000)]);
    assert_eq!(stored(&answer, 0, b"/minted"), None);
    assert_eq!(answer.protostones[0].fuel_used, 0, "a message that fails has used what its inner calls did");
}

#[test]
fn a_transaction_without_protostones_says_so() {
    let stage = Stage::new();
    let plain = transaction(&[stage.coin(0)], vec![output(script(2), 546)], &[], None);
    let request = SimulateTransactionRequest {
        height: 7,
        transaction: bitcoin::consensus::serialize(&plain),
        ..SimulateTransactionRequest::default()
    };
    let answer: SimulateTransactionResponse = stage.ask("simulatetransaction", &request);
    assert_eq!((answer.error.as_str(), answer.height, answer.protostones.len()), ("no runestone in transaction", 7, 0));
}

#[test]
fn protostones_are_run_with_what_is_said_to_come_in() {
    let (stage, _) = Stage::with_token();
    let mut protostones = Vec::new();
    for integer in encode_protostones(&[call(TOKEN, &[77])]).unwrap() {
        append_varint(integer, &mut protostones);
    }
    let coming = AlkaneTransfer { id: Some(id(2, 9).into()), value: Some(5.into()) };
    let request = SimulateProtostonesRequest {
        protostones,
        alkane_inputs: vec![coming],
        ..SimulateProtostonesRequest::default()
    };
    let answer: SimulateTransactionResponse = stage.ask("simulateprotostones", &request);
    assert_eq!(answer.error, "");
    assert_eq!(balances(&answer), [(0, TOKEN, 100), (0, id(2, 9), 5)]);
    assert_eq!(answer.height, 0, "a height that is not named is the first one");
    let ran: bitcoin::Transaction = bitcoin::consensus::deserialize(&answer.used_transaction).unwrap();
    assert_eq!(answer.txid, ran.compute_txid().to_string());
}

#[test]
fn a_block_is_run_in_order_and_each_transaction_sees_the_one_before() {
    let (stage, deploy) = Stage::with_token();
    let mint = |coin, number| transaction(&[coin], vec![output(script(number), 546)], &[call(TOKEN, &[77])], None);
    let first = mint(first_output(&deploy), 2);
    let second = mint(first_output(&first), 3);
    let block = stage.next_block(vec![first, second]);
    let bytes = bitcoin::consensus::serialize(&block);
    let request = SimulateBlockRequest { height: 2, block: bytes.clone(), ..SimulateBlockRequest::default() };
    let answer: SimulateBlockResponse = stage.ask("simulateblock", &request);
    assert_eq!((answer.error.as_str(), answer.height, answer.block_hash), ("", 2, block.block_hash().to_string()));
    assert_eq!(answer.used_block, bytes);
    let errors: Vec<&str> = answer.txs.iter().map(|one| one.error.as_str()).collect();
    assert_eq!(errors, ["coinbase", "", ""]);
    assert_eq!(balances(&answer.txs[1]), [(0, TOKEN, 1_100)]);
    assert_eq!(balances(&answer.txs[2]), [(0, TOKEN, 1_200)]);
    assert_eq!(answer.total_fuel_used, answer.txs.iter().map(|one| one.total_fuel_used).sum::<u64>());
    assert_eq!(answer.txs[1].txid, block.txdata[1].compute_txid().to_string());
    assert_ne!(block.txdata[1].compute_txid().to_byte_array(), [0; 32]);
}
