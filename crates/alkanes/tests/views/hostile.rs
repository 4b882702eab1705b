//! Hostile requests: every view ends, with an error or an answer, in bounded time and memory.

use paraffin_alkanes::codec::Cellpack;
use paraffin_alkanes::proto::alkanes::{
    MessageContextParcel, MultiSimulateRequest, MultiSimulateResponse, SimulateBlockRequest, SimulateBlockResponse,
    SimulateProtostonesRequest, SimulateResponse, SimulateTransactionRequest, SimulateTransactionResponse,
};
use paraffin_alkanes::views::{NAMES, ViewError, ViewLimits, is_known};
use proptest::prelude::*;
use prost::Message as _;

use crate::stage::{Stage, TOKEN, address, call, contract, id, output, script, transaction};

/// A stage with the probe, a contract that can make any host call, as 2:1.
fn with_probe() -> Stage {
    let mut stage = Stage::new();
    let deploy =
        transaction(&[stage.coin(0)], vec![output(script(1), 546)], &[call(id(1, 0), &[0])], Some(&contract("probe")));
    stage.mine(vec![deploy]);
    stage
}

fn parcel(inputs: &[u128]) -> MessageContextParcel {
    let calldata = Cellpack { target: TOKEN, inputs: inputs.to_vec() }.encode();
    MessageContextParcel { calldata, ..MessageContextParcel::default() }
}

/// row MR09
#[test]
fn a_payload_that_is_no_message_is_refused_or_answered_with_the_default() {
    let stage = Stage::new();
    for name in NAMES {
        let answer = stage.view(name, &[0xff, 0xff, 0xff]);
        match name {
            "simulate" | "multisimluate" | "multisimulate" | "trace" | "getinventory" | "getstorageat" | "getblock" => {
                assert!(matches!(answer, Err(ViewError::Payload(_))), "{name}");
            }
            "simulatetransaction" | "simulateprotostones" => {
                let answer = SimulateTransactionResponse::decode(&answer.unwrap()[..]).unwrap();
                assert!(answer.error.ends_with("failed to decode Protobuf message: invalid varint"), "{answer:?}");
            }
            "simulateblock" => {
                let answer = SimulateBlockResponse::decode(&answer.unwrap()[..]).unwrap();
                let text = "decode SimulateBlockRequest: failed to decode Protobuf message: invalid varint";
                assert_eq!(answer.error, text);
            }
            // These take no payload.
            "sequence" => assert_eq!(answer.unwrap(), 1_u128.to_le_bytes()),
            _ => assert_eq!(answer.unwrap(), b"", "{name}"),
        }
    }
    assert!(matches!(stage.view("nonsense", &[]), Err(ViewError::Unknown)));
    assert!(!is_known("_start") && !is_known("") && is_known("unwrap"));
}

#[test]
fn an_endless_loop_ends_with_its_fuel_or_with_the_time_of_the_view() {
    let mut stage = with_probe();
    stage.limits = ViewLimits { fuel_max: 10_000_000, ..ViewLimits::default() };
    let ended: SimulateResponse = stage.ask("simulate", &parcel(&[80]));
    assert!(ended.error.contains("fuel"), "{ended:?}");
    stage.patience.set(0);
    assert!(matches!(stage.view("simulate", &parcel(&[1]).encode_to_vec()), Err(ViewError::TooLong)));
    stage.patience.set(0);
    let wallet = paraffin_alkanes::proto::protorune::ProtorunesWalletRequest {
        wallet: address(200).into_bytes(),
        protocol_tag: None,
    };
    assert!(matches!(stage.view("spendablesbyaddress", &wallet.encode_to_vec()), Err(ViewError::TooLong)));
}

#[test]
fn contracts_that_take_memory_or_nest_or_lie_fail_alone() {
    let mut stage = with_probe();
    stage.limits = ViewLimits { fuel_max: 200_000_000, ..ViewLimits::default() };
    for inputs in [&[81, 1_000_000][..], &[82], &[84, 1 << 40], &[87], &[88], &[90, u128::MAX], &[45, 40], &[91]] {
        let ended: SimulateResponse = stage.ask("simulate", &parcel(inputs));
        assert!(ended.error.is_empty() == ended.execution.is_some(), "{inputs:?}: {ended:?}");
    }
    let alive: SimulateResponse = stage.ask("simulate", &parcel(&[2, 1, 7]));
    assert!(alive.error.is_empty(), "{alive:?}");
}

#[test]
fn counts_and_sizes_are_bounded() {
    let mut stage = with_probe();
    stage.limits = ViewLimits { calls_max: 2, records_max: 1, answer_bytes_max: 64, ..ViewLimits::default() };
    let many = MultiSimulateRequest { parcels: vec![parcel(&[1]); 3] };
    let refused: MultiSimulateResponse = stage.ask("multisimulate", &many);
    assert!(refused.responses.is_empty() && refused.error.contains('2'));
    let large = stage.view("simulate", &parcel(&[48, 1_000]).encode_to_vec());
    assert!(matches!(large, Err(ViewError::TooLarge)), "{large:?}");
    let code = paraffin_alkanes::proto::alkanes::BytecodeRequest { id: Some(TOKEN.into()) };
    assert!(matches!(stage.view("getbytecode", &code.encode_to_vec()), Err(ViewError::TooLarge)));
    // The coinbases of two blocks pay this address.
    let wallet = paraffin_alkanes::proto::protorune::ProtorunesWalletRequest {
        wallet: address(200).into_bytes(),
        protocol_tag: None,
    };
    assert!(matches!(stage.view("spendablesbyaddress", &wallet.encode_to_vec()), Err(ViewError::TooLarge)));
    let bomb = [0x0a_u8, 0x00].repeat(200_000);
    assert!(matches!(stage.view("multisimluate", &bomb), Err(ViewError::Payload(_))));
}

#[test]
fn simulations_of_nonsense_say_what_is_wrong() {
    let stage = Stage::new();
    let request = SimulateTransactionRequest { transaction: vec![1, 2, 3], ..SimulateTransactionRequest::default() };
    let answer: SimulateTransactionResponse = stage.ask("simulatetransaction", &request);
    assert!(answer.error.contains("PSBT"), "{answer:?}");
    let request = SimulateProtostonesRequest { protostones: vec![0x80], ..SimulateProtostonesRequest::default() };
    let answer: SimulateTransactionResponse = stage.ask("simulateprotostones", &request);
    assert_eq!(answer.error, "failed to decode enciphered protostones bytes: unterminated");
    let answer: SimulateTransactionResponse = stage.ask("simulateprotostones", &SimulateProtostonesRequest::default());
    assert_eq!(answer.error, "no protostones to simulate");
    let answer: SimulateBlockResponse =
        stage.ask("simulateblock", &SimulateBlockRequest { block: vec![9; 79], ..SimulateBlockRequest::default() });
    assert!(answer.error.contains("block"), "{answer:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_payloads_never_panic(name in prop::sample::select(&NAMES[..]), payload in prop::collection::vec(any::<u8>(), 0..64)) {
        thread_local! {
            static STAGE: Stage = Stage::new();
        }
        STAGE.with(|stage| {
            let _ = stage.view(name, &payload);
        });
    }
}
