//! Views after a block that is not in the chain.

use bitcoin::hashes::Hash as _;
use paraffin_alkanes::codec::Cellpack;
use paraffin_alkanes::proto::alkanes::{
    AlkanesBlockTraceEvent, BlockRequest, BlockResponse, MessageContextParcel, SimulateResponse,
};
use paraffin_alkanes::proto::integer;
use paraffin_alkanes::proto::protorune::{
    OutpointResponse, OutpointWithProtocol, ProtorunesByHeightRequest, ProtorunesWalletRequest, RunesResponse,
    WalletResponse,
};
use paraffin_alkanes::views::{ViewError, preview};
use prost::Message;

use crate::stage::{Stage, TOKEN, address, call, contract, first_output, id, output, script, transaction};

fn after<T: Message + Default>(stage: &Stage, block: &bitcoin::Block, name: &str, request: &impl Message) -> T {
    let answer = stage.at(stage.height(), |context| preview(block, name, &request.encode_to_vec(), context)).unwrap();
    T::decode(&answer[..]).unwrap()
}

/// row MR09
#[test]
fn a_preview_sees_the_block_and_leaves_nothing_behind() {
    let (stage, deploy) = Stage::with_token();
    let mint = transaction(&[first_output(&deploy)], vec![output(script(2), 546)], &[call(TOKEN, &[77])], None);
    let second = transaction(
        &[stage.coin(1)],
        vec![output(script(3), 546)],
        &[call(id(1, 0), &[0, 9, 1, 1, 0x41, 0, 0x42])],
        Some(&contract("free-mint")),
    );
    let block = stage.next_block(vec![mint.clone(), second]);
    let asked = |number| ProtorunesWalletRequest { wallet: address(number).into_bytes(), protocol_tag: None };
    let amounts = |answer: &WalletResponse| {
        let outpoints = answer.outpoints.iter().flat_map(|one| one.balances.iter().flat_map(|sheet| &sheet.entries));
        outpoints.map(|entry| integer(entry.balance)).collect::<Vec<_>>()
    };
    for name in ["protorunesbyaddress", "spendablesbyaddress"] {
        assert_eq!(amounts(&after(&stage, &block, name, &asked(2))), [1_100]);
        assert_eq!(amounts(&after(&stage, &block, name, &asked(1))), [] as [u128; 0]);
        assert_eq!(amounts(&stage.ask(name, &asked(2))), [] as [u128; 0]);
        assert_eq!(amounts(&stage.ask(name, &asked(1))), [1_000]);
    }
    let outpoint = OutpointWithProtocol { txid: mint.compute_txid().to_byte_array().to_vec(), vout: 0, protocol: None };
    let held: OutpointResponse = after(&stage, &block, "protorunesbyoutpoint", &outpoint);
    assert_eq!(held.output.unwrap().script, script(2).to_bytes());
    let supply = MessageContextParcel {
        calldata: Cellpack { target: TOKEN, inputs: vec![101] }.encode(),
        ..MessageContextParcel::default()
    };
    let answer: SimulateResponse = after(&stage, &block, "simulate", &supply);
    assert_eq!(answer.execution.unwrap().data, 1_100_u128.to_le_bytes());
    let traces: AlkanesBlockTraceEvent = after(&stage, &block, "traceblock", &());
    assert_eq!(traces.events.iter().map(|event| event.txindex).collect::<Vec<_>>(), [1, 2]);
    let seen = ProtorunesByHeightRequest { height: 2, protocol_tag: Some(1.into()) };
    let seen: RunesResponse = after(&stage, &block, "protorunesbyheight", &seen);
    assert_eq!(seen.runes.len(), 1);
    assert_eq!(seen.runes[0].symbol, "B");
    let raw: BlockResponse = after(&stage, &block, "getblock", &BlockRequest { height: 2 });
    assert_eq!(raw.block, bitcoin::consensus::serialize(&block));
    assert_eq!(stage.view("sequence", &[]).unwrap(), 2_u128.to_le_bytes());
    let unknown = stage.at(1, |context| preview(&block, "nonsense", &[], context));
    assert!(matches!(unknown, Err(ViewError::Unknown)));

    // The time of the view holds for the block as well, and a block has a weight.
    stage.patience.set(3);
    let late = stage.at(1, |context| preview(&block, "sequence", &[], context));
    assert!(matches!(late, Err(ViewError::TooLong)), "{late:?}");
    stage.patience.set(u64::MAX);
    let mut heavy = block;
    heavy.txdata[0].output[0].script_pubkey = bitcoin::ScriptBuf::from_bytes(vec![0; 1_100_000]);
    let heavy = stage.at(1, |context| preview(&heavy, "sequence", &[], context));
    assert!(matches!(heavy, Err(ViewError::Meaningless(_))), "{heavy:?}");
}
