//! Views that run contracts or read their state.

use bitcoin::OutPoint;
use bitcoin::consensus::encode::deserialize;
use bitcoin::hashes::Hash as _;
use paraffin_alkanes::codec::Cellpack;
use paraffin_alkanes::proto::alkanes::{
    AlkaneIdToOutpointRequest, AlkaneIdToOutpointResponse, AlkaneInventoryRequest, AlkaneInventoryResponse,
    AlkaneStorageRequest, AlkaneStorageResponse, AlkaneTransfer, AlkanesBlockTraceEvent, AlkanesTrace, BlockRequest,
    BlockResponse, BytecodeRequest, MessageContextParcel, MultiSimulateRequest, MultiSimulateResponse, Outpoint,
    PendingUnwrapsResponse, SimulateResponse,
};
use paraffin_alkanes::views::{self, token_facts, trace_from_proto};
use paraffin_alkanes::{TraceEvent, TraceStatus};
use paraffin_primitives::AlkaneId;
use prost::Message as _;

use crate::stage::{
    BITCOIN, DIESEL, Stage, TOKEN, call, contract, first_output, id, output, script, shadow, transaction,
};

fn parcel(target: AlkaneId, inputs: &[u128]) -> MessageContextParcel {
    let calldata = Cellpack { target, inputs: inputs.to_vec() }.encode();
    MessageContextParcel { calldata, ..MessageContextParcel::default() }
}

fn outpoint(outpoint: &OutPoint) -> Outpoint {
    Outpoint { txid: outpoint.txid.as_byte_array().to_vec(), vout: outpoint.vout }
}

/// row MR09
#[test]
fn simulate_answers_what_a_contract_would_and_changes_nothing() {
    let (stage, _) = Stage::with_token();
    let name: SimulateResponse = stage.ask("simulate", &parcel(TOKEN, &[99]));
    let execution = name.execution.unwrap();
    assert_eq!((execution.data.as_slice(), name.error.as_str()), (&b"Paraffin Wax"[..], ""));
    assert!(name.gas_used > 0);
    let before = stage.view("simulate", &parcel(TOKEN, &[101]).encode_to_vec()).unwrap();
    let minted: SimulateResponse = stage.ask("simulate", &parcel(TOKEN, &[77]));
    let expected = AlkaneTransfer { id: Some(TOKEN.into()), value: Some(100.into()) };
    assert_eq!(minted.execution.unwrap().alkanes, [expected]);
    assert_eq!(stage.view("simulate", &parcel(TOKEN, &[101]).encode_to_vec()).unwrap(), before);
    let refused: SimulateResponse = stage.ask("simulate", &parcel(TOKEN, &[55]));
    assert!(refused.error.contains("revert") && refused.execution.is_none() && refused.gas_used == 0, "{refused:?}");
    let nobody: SimulateResponse = stage.ask("simulate", &parcel(id(2, 77), &[99]));
    assert!(!nobody.error.is_empty());
}

#[test]
fn multisimluate_answers_each_call_on_its_own() {
    let (stage, _) = Stage::with_token();
    let broken = MessageContextParcel { transaction: vec![1], ..parcel(TOKEN, &[99]) };
    let request = MultiSimulateRequest { parcels: vec![parcel(TOKEN, &[100]), broken, parcel(TOKEN, &[102])] };
    for name in ["multisimluate", "multisimulate"] {
        let answer: MultiSimulateResponse = stage.ask(name, &request);
        assert_eq!(answer.responses[0].execution.as_ref().unwrap().data, b"WAX");
        // The reason of a failed call stands beside the answers.
        assert_eq!(answer.responses[1], SimulateResponse::default());
        assert!(answer.error.contains("transaction"));
        assert_eq!(answer.responses[2].execution.as_ref().unwrap().data, 5_u128.to_le_bytes());
    }
}

#[test]
fn meta_is_the_contracts_own_json_and_empty_where_there_is_none() {
    let (stage, _) = Stage::with_token();
    let description = stage.view("meta", &parcel(TOKEN, &[]).encode_to_vec()).unwrap();
    let text = String::from_utf8(description).unwrap();
    assert!(text.contains("get_value_per_mint") && text.contains("methods"), "{text}");
    assert_eq!(stage.view("meta", &parcel(id(2, 77), &[]).encode_to_vec()).unwrap(), b"");
    assert_eq!(stage.view("meta", &[0xff]).unwrap(), b"");
}

#[test]
fn code_sequence_and_creation_are_those_of_the_height() {
    let (stage, deploy) = Stage::with_token();
    assert_eq!(stage.view_at(0, "sequence", &[]).unwrap(), 1_u128.to_le_bytes());
    assert_eq!(stage.view("sequence", &[]).unwrap(), 2_u128.to_le_bytes());
    let code = |height, id: AlkaneId| {
        stage.view_at(height, "getbytecode", &BytecodeRequest { id: Some(id.into()) }.encode_to_vec()).unwrap()
    };
    assert_eq!(code(1, TOKEN), contract("free-mint"));
    assert_eq!(code(1, DIESEL), contract("genesis-token"));
    assert_eq!(code(0, TOKEN), b"");
    assert_eq!(stage.view("getbytecode", &[0xff]).unwrap(), b"");
    let request = AlkaneIdToOutpointRequest { id: Some(TOKEN.into()) };
    for name in ["alkanes_id_to_outpoint", "getdeployment"] {
        let created: AlkaneIdToOutpointResponse = stage.ask(name, &request);
        let expected = shadow(&deploy);
        let mut display = expected.txid.to_byte_array();
        display.reverse();
        assert_eq!((created.txid.as_slice(), created.vout), (&display[..], expected.vout));
        assert_eq!(
            stage.ask_at::<AlkaneIdToOutpointResponse>(0, name, &request),
            AlkaneIdToOutpointResponse::default()
        );
    }
}

#[test]
fn storage_is_read_as_of_any_height() {
    let (mut stage, _) = Stage::with_token();
    let mint = transaction(&[stage.coin(1)], vec![output(script(2), 546)], &[call(TOKEN, &[77])], None);
    stage.mine(vec![mint]);
    let request = AlkaneStorageRequest { id: Some(TOKEN.into()), path: b"/minted".to_vec() };
    let at = |height| stage.ask_at::<AlkaneStorageResponse>(height, "getstorageat", &request).value;
    assert_eq!((at(0), at(1), at(2)), (vec![], vec![], 1_u128.to_le_bytes().to_vec()));
}

/// row MR09
#[test]
fn traces_are_read_by_shadow_output_and_by_block() {
    let (stage, deploy) = Stage::with_token();
    let shadow = shadow(&deploy);
    let bytes = stage.view("trace", &outpoint(&shadow).encode_to_vec()).unwrap();
    let trace = trace_from_proto(AlkanesTrace::decode(&bytes[..]).unwrap());
    assert_eq!(trace.events[0], TraceEvent::Create(TOKEN));
    assert!(matches!(&trace.events[1], TraceEvent::Enter { context, .. } if context.myself == TOKEN));
    assert!(matches!(trace.events.last(), Some(TraceEvent::Exit { status: TraceStatus::Success, .. })));
    assert_eq!(stage.view_at(0, "trace", &outpoint(&shadow).encode_to_vec()).unwrap(), b"");
    assert_eq!(stage.view("trace", &outpoint(&first_output(&deploy)).encode_to_vec()).unwrap(), b"");

    let block = AlkanesBlockTraceEvent::decode(&stage.view("traceblock", &[]).unwrap()[..]).unwrap();
    assert_eq!(block.events.len(), 1);
    assert_eq!((block.events[0].txindex, block.events[0].outpoint.clone()), (1, Some(outpoint(&shadow))));
    assert_eq!(trace_from_proto(block.events[0].traces.clone().unwrap()), trace);
    assert_eq!(stage.view_at(0, "traceblock", &[]).unwrap(), b"");
}

#[test]
fn an_inventory_is_what_a_contract_held_when_it_was_touched_again() {
    let (mut stage, deploy) = Stage::with_token();
    // A probe keeps incoming alkanes.
    let to_probe = |from, target, code: Option<&[u8]>| {
        transaction(&[from], vec![output(script(1), 546)], &[call(target, &[62])], code)
    };
    let sent = to_probe(first_output(&deploy), id(1, 0), Some(&contract("probe")));
    let mint = transaction(&[stage.coin(0)], vec![output(script(1), 546)], &[call(TOKEN, &[77])], None);
    stage.mine(vec![sent, mint.clone()]);
    let request = AlkaneInventoryRequest { id: Some(id(2, 2).into()) };
    // The reference lists a holding only once it touches one that is there already.
    assert_eq!(stage.ask::<AlkaneInventoryResponse>("getinventory", &request).alkanes, []);
    stage.mine(vec![to_probe(first_output(&mint), id(2, 2), None)]);
    let held: AlkaneInventoryResponse = stage.ask("getinventory", &request);
    assert_eq!(held.alkanes, [AlkaneTransfer { id: Some(TOKEN.into()), value: Some(1_100.into()) }]);
    assert_eq!(stage.ask_at::<AlkaneInventoryResponse>(2, "getinventory", &request).alkanes, []);
}

#[test]
fn a_block_is_handed_out_when_its_bytes_were_fetched() {
    let stage = Stage::new();
    let request = BlockRequest { height: 0 }.encode_to_vec();
    assert_eq!(views::block_wanted("getblock", &request), Some(0));
    assert_eq!(views::block_wanted("trace", &request), None);
    let raw = bitcoin::consensus::serialize(&stage.blocks[0]);
    let answer = stage.at(0, |context| {
        let context = views::ViewContext { block: Some(&raw), ..*context };
        let above = BlockRequest { height: 9 }.encode_to_vec();
        assert_eq!(views::call("getblock", &above, &context).unwrap(), b"");
        views::call("getblock", &request, &context).unwrap()
    });
    assert_eq!(BlockResponse::decode(&answer[..]).unwrap(), BlockResponse { block: raw, height: 0 });
    assert_eq!(stage.view("getblock", &request).unwrap(), b"");
}

#[test]
fn all_facts_of_a_token_are_read() {
    let (stage, _) = Stage::with_token();
    let facts = stage.at(1, |context| token_facts(TOKEN, context)).unwrap();
    assert_eq!((facts.name.as_deref(), facts.symbol.as_deref()), (Some("Paraffin Wax"), Some("WAX")));
    let mints = views::Mints { cap: 5, minted: 0, value_per_mint: 100 };
    assert_eq!((facts.total_supply, facts.mints, facts.decimals), (Some(1_000), Some(mints), None));
    assert_eq!(facts.premine(), Some(1_000));
    let nobody = stage.at(0, |context| token_facts(TOKEN, context)).unwrap();
    assert_eq!(nobody, views::TokenFacts::default());
}

/// row MR09
#[test]
fn an_unwrap_is_pending_until_its_output_is_spent() {
    let mut stage = Stage::new();
    let key = AlkaneStorageRequest { id: Some(BITCOIN.into()), path: b"/signer_script_cached".to_vec() };
    let signer = bitcoin::ScriptBuf::from_bytes(stage.ask::<AlkaneStorageResponse>("getstorageat", &key).value);
    assert!(signer.is_p2tr());
    let outputs = vec![output(script(1), 546), output(signer.clone(), 1_000_000)];
    let wrap = transaction(&[stage.coin(0)], outputs, &[call(BITCOIN, &[77])], None);
    stage.mine(vec![wrap.clone()]);
    let outputs = vec![output(script(1), 546), output(signer, 546)];
    let unwrap = transaction(&[first_output(&wrap)], outputs, &[call(BITCOIN, &[78, 1, 400_000])], None);
    stage.mine(vec![unwrap.clone()]);
    let pending = |height| {
        let answer = stage.view_at(height, "unwrap", &[]).unwrap();
        PendingUnwrapsResponse::decode(&answer[..]).unwrap().payments
    };
    assert_eq!(pending(1), []);
    let payments = pending(2);
    assert_eq!(payments.len(), 1, "{payments:?}");
    let marker = OutPoint { txid: unwrap.compute_txid(), vout: 1 };
    assert_eq!(payments[0].spendable, Some(outpoint(&marker)));
    let owed: bitcoin::TxOut = deserialize(&payments[0].output).unwrap();
    assert_eq!((owed.script_pubkey.clone(), payments[0].fulfilled), (script(1), false));
    assert!(owed.value.to_sat() > 0 && owed.value.to_sat() <= 400_000);

    stage.mine(vec![]);
    assert_eq!(stage.at(3, views::pending_unwraps).unwrap().len(), 1);
    stage.mine(vec![transaction(&[marker], vec![owed], &[], None)]);
    assert_eq!(stage.view("unwrap", &[]).unwrap(), b"");
    assert_eq!(stage.at(3, views::pending_unwraps).unwrap()[0].height, 2);
}
