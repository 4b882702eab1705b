//! Published and captured payloads, byte by byte, and each refusal of the specification.

use alloy_primitives::{address, hex};
use paraffin_bridge::{
    Asset, BridgeData, BtcConversion, BurnCellpack, BurnData, BurnEffect, BurnError, BurnNote, Calldata, CalldataError,
    CalldataNote, Degradation, Deposit, DepositError, Dispatch, EvmAddress, EvmDeployment, Refusal, RouterSwap,
    ScriptRefusal, SwapError, U256, Warning, ZeroMinimum, check_bridge_data, deposit_calls, report,
};

const MAINNET: EvmDeployment = EvmDeployment::MAINNET;

fn taproot() -> Vec<u8> {
    [&[0x51, 0x20][..], &[0xab; 32]].concat()
}

fn segwit() -> Vec<u8> {
    [&[0x00, 0x14][..], &[0xcd; 20]].concat()
}

fn conversion(convert_bps: u32, btc_destination: Vec<u8>, max_slippage_bps: u32) -> BridgeData {
    let btc_conversion = Some(BtcConversion { convert_bps, btc_destination, max_slippage_bps });
    BridgeData { recipient_script: taproot(), btc_conversion, ..BridgeData::default() }
}

const T: &str = "5120abababababababababababababababababababababababababababababababab";

/// row BR01
#[test]
fn published_payloads_decode_and_encode_byte_for_byte() {
    let live = "51201b18312df38aa8203a1b589c9f45852f55325488df00f52024280cf9240fe574";
    let direct = |script: &str| BridgeData { recipient_script: hex::decode(script).unwrap(), ..BridgeData::default() };
    for (bytes, data, dispatch) in [
        (format!("1222{T}"), direct(T), Dispatch::DirectTransfer),
        (format!("1222{live}"), direct(live), Dispatch::DirectTransfer),
        (
            format!("1222{T}221d08904e12160014cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd1864"),
            conversion(10_000, segwit(), 100),
            Dispatch::Conversion { convert_bps: 10_000 },
        ),
        (
            format!("1222{T}222708a01f1222{T}"),
            conversion(4_000, taproot(), 0),
            Dispatch::Conversion { convert_bps: 4_000 },
        ),
        (
            format!("1222{T}222908a01f1222{T}1801"),
            conversion(4_000, taproot(), 1),
            Dispatch::Conversion { convert_bps: 4_000 },
        ),
    ] {
        let bytes = hex::decode(bytes).unwrap();
        assert_eq!(data.encode().as_deref(), Ok(&bytes[..]));
        assert_eq!(check_bridge_data(&bytes), Ok(data.clone()));
        assert_eq!(data.dispatch(), dispatch);
    }
}

/// row BR01
#[test]
fn the_fields_that_are_there_decide_and_not_the_action() {
    let mut data = conversion(4_000, segwit(), 0);
    data.action = 7;
    assert_eq!(data.dispatch(), Dispatch::Conversion { convert_bps: 4_000 });
    assert_eq!(data.encode(), Err(Refusal::Action(7)));
    let bytes = [&[0x08, 0x07][..], &conversion(4_000, segwit(), 0).encode().unwrap()].concat();
    let decoded = BridgeData::decode(&bytes).unwrap();
    assert_eq!(decoded.data, data);
    assert!(decoded.warnings.contains(&Warning::Action(7)));
    assert_eq!(decoded.refusals, [Refusal::Action(7)]);

    let protostone = Deposit::direct(taproot()).with_protostone(vec![1]).bridge_data().unwrap();
    assert_eq!(protostone.dispatch(), Dispatch::Protostone);
    assert_eq!(BridgeData::default().dispatch(), Dispatch::OperatorFallback);
}

/// row BR02
#[test]
fn what_the_coordinator_would_pay_to_the_operator_is_refused_before_signing() {
    assert_eq!(check_bridge_data(&[]), Err(Refusal::RecipientMissing));
    for bytes in [&[0xff][..], &[0x12], &[0x12, 0x22, 0x51], &[0x22, 0x02, 0x08], &[0x13, 0x22]] {
        assert!(matches!(check_bridge_data(bytes), Err(Refusal::Malformed(_))), "{bytes:02x?}");
    }
    let good = conversion(4_000, segwit(), 1).encode().unwrap();
    for end in 0..good.len() {
        assert!(check_bridge_data(&good[..end]).is_err() || end == 36, "cut after {end} bytes");
    }
    assert_eq!(check_bridge_data(&vec![0; 65_537]), Err(Refusal::TooLong(65_537)));
}

/// row BR02
#[test]
fn another_encoding_of_the_same_content_is_refused() {
    let good = hex::decode(format!("1222{T}")).unwrap();
    for (name, bytes) in [
        ("a default written out", [&[0x08, 0x00][..], &good].concat()),
        ("an unknown field", [&good[..], &[0x28, 0x01]].concat()),
        ("a field twice", [&good[..], &good[..]].concat()),
        ("a long varint", [&[0x12, 0xa2, 0x00][..], &good[2..]].concat()),
        (
            "a number beyond 32 bits",
            hex::decode(format!("1222{T}221e08818080801012160014{}", "cd".repeat(20))).unwrap(),
        ),
    ] {
        let decoded = BridgeData::decode(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(decoded.warnings.contains(&Warning::NotCanonical), "{name}");
        assert_eq!(check_bridge_data(&bytes), Err(Refusal::NotCanonical), "{name}");
    }
}

/// row BR03
#[test]
fn scripts_are_refused_and_never_normalised() {
    let burnt = BridgeData { recipient_script: vec![0x6a, 0x00], ..BridgeData::default() };
    assert_eq!(burnt.encode(), Err(Refusal::Recipient(ScriptRefusal::NotPayable)));
    let future = [&[0x51, 0x14][..], &[0xcd; 20]].concat();
    let refused = BridgeData { recipient_script: future.clone(), ..BridgeData::default() }.encode();
    assert!(matches!(refused, Err(Refusal::Recipient(ScriptRefusal::NotARecipient(_)))));
    // The rule for destinations (docs/bridge.md) takes it; the report explains it.
    let data = conversion(4_000, future, 0);
    assert!(data.encode().is_ok());
    assert!(data.warnings().contains(&Warning::DestinationForAnyone));
    let short = [&[0x00, 0x10][..], &[0xcd; 16]].concat();
    let refused = conversion(4_000, short, 0).encode();
    assert_eq!(refused, Err(Refusal::Destination(ScriptRefusal::WitnessV0Length(16))));
}

/// row BR03
#[test]
fn a_recipient_of_another_kind_decodes_as_what_it_is() {
    let future = [&[0x51, 0x14][..], &[0xcd; 20]].concat();
    let bytes = [&[0x12, 0x16][..], &future].concat();
    let decoded = BridgeData::decode(&bytes).unwrap();
    assert_eq!(decoded.data.recipient_script, future);
    assert_eq!(decoded.refusals.len(), 1);
}

/// row BR04
#[test]
fn a_share_out_of_range_is_refused_and_not_clamped() {
    assert_eq!(conversion(10_001, segwit(), 0).encode(), Err(Refusal::ConvertBps(10_001)));
    assert_eq!(conversion(u32::MAX, segwit(), 0).encode(), Err(Refusal::ConvertBps(u32::MAX)));
    assert!(conversion(10_000, segwit(), 0).encode().is_ok());
    assert!(conversion(1, segwit(), 0).encode().is_ok());
    assert_eq!(conversion(0, segwit(), 0).encode(), Err(Refusal::DestinationUnused));
}

/// row BR04
#[test]
fn a_share_of_nothing_without_a_destination_is_a_direct_transfer() {
    let data = Deposit::direct(taproot()).with_conversion(0, Vec::new(), 0).bridge_data().unwrap();
    assert_eq!(data, Deposit::direct(taproot()).bridge_data().unwrap());
    let written = hex::decode(format!("1222{T}2200")).unwrap();
    let decoded = BridgeData::decode(&written).unwrap();
    assert_eq!(decoded.refusals, []);
    assert_eq!(decoded.data.dispatch(), Dispatch::DirectTransfer);
    assert_eq!(decoded.warnings, [Warning::ConversionOfNothing]);
    assert_eq!(decoded.data.encode(), Ok(written));
}

/// row BR10
#[test]
fn a_protostone_and_a_conversion_exclude_each_other() {
    let both = Deposit::direct(taproot()).with_protostone(vec![1]).with_conversion(1, segwit(), 0);
    assert_eq!(both.bridge_data(), Err(Refusal::ProtostoneWithConversion));
    let bytes = hex::decode(format!("1222{T}1a01012200")).unwrap();
    assert_eq!(check_bridge_data(&bytes), Err(Refusal::ProtostoneWithConversion));
    let empty = hex::decode(format!("1222{T}1a00")).unwrap();
    assert_eq!(check_bridge_data(&empty), Err(Refusal::ProtostoneEmpty));
}

/// row BR11
#[test]
fn a_conversion_needs_its_destination() {
    for convert_bps in [1, 4_000, 10_000] {
        assert_eq!(conversion(convert_bps, Vec::new(), 0).encode(), Err(Refusal::DestinationMissing));
    }
}

/// row BR12
#[test]
fn the_callers_slippage_only_tightens_the_coordinators() {
    let asked = |max_slippage_bps| BtcConversion { max_slippage_bps, ..BtcConversion::default() };
    assert_eq!(asked(0).slippage_in_force(100), 100);
    assert_eq!(asked(50).slippage_in_force(100), 50);
    assert_eq!(asked(100).slippage_in_force(100), 100);
    assert_eq!(asked(500).slippage_in_force(100), 100);
    assert_eq!(conversion(1, segwit(), 10_001).encode(), Err(Refusal::MaxSlippageBps(10_001)));
    assert!(conversion(1, segwit(), 10_000).encode().is_ok());
}

/// row BR06
#[test]
fn a_deposit_is_an_exact_approval_and_then_the_vault() {
    let payload = hex::decode(format!("1222{T}")).unwrap();
    let [approve, deposit] = deposit_calls(&MAINNET, Asset::Usdt, U256::from(100_000_000), &payload).unwrap();
    assert_eq!((approve.function, approve.to), ("approve", address!("dac17f958d2ee523a2206206994597c13d831ec7")));
    assert_eq!(
        hex::encode(&approve.data),
        "095ea7b300000000000000000000000095779e7e1c943042255b8a78273fe6de4823cf06\
         0000000000000000000000000000000000000000000000000000000005f5e100"
    );
    assert_eq!((deposit.function, deposit.to), ("depositAndBridge", MAINNET.vault));
    assert_eq!(
        hex::encode(&deposit.data),
        "bedb65ee0000000000000000000000000000000000000000000000000000000000000001\
         0000000000000000000000000000000000000000000000000000000005f5e100\
         0000000000000000000000000000000000000000000000000000000000000060\
         0000000000000000000000000000000000000000000000000000000000000024\
         12225120abababababababababababababababababababababababababababababababab\
         00000000000000000000000000000000000000000000000000000000"
    );
    let [approve, _] = deposit_calls(&MAINNET, Asset::Usdc, U256::from(1), &payload).unwrap();
    assert_eq!(approve.to, address!("a0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"));
}

/// row BR06
#[test]
fn a_deposit_that_would_pay_somebody_else_is_not_made() {
    let amount = U256::from(1);
    let refused = deposit_calls(&MAINNET, Asset::Usdc, amount, &[]);
    assert_eq!(refused, Err(DepositError::BridgeData(Refusal::RecipientMissing)));
    let payload = hex::decode(format!("1222{T}")).unwrap();
    assert_eq!(deposit_calls(&MAINNET, Asset::Usdc, U256::ZERO, &payload), Err(DepositError::AmountZero));
    assert!("dai".parse::<Asset>().is_err() && Asset::from_index(2).is_err());
    assert_eq!("USDT".parse(), Ok(Asset::Usdt));
}

/// row BR06
#[test]
fn calldata_is_read_back_with_what_is_wrong_with_it() {
    let payload = hex::decode(format!("1222{T}")).unwrap();
    let calls = deposit_calls(&MAINNET, Asset::Usdc, U256::from(5), &payload).unwrap();
    for call in &calls {
        assert_eq!(Calldata::decode(&call.data).unwrap().notes(&MAINNET), []);
    }
    let mut unlimited = calls[0].data.clone();
    unlimited[36..].fill(0xff);
    assert_eq!(Calldata::decode(&unlimited).unwrap().notes(&MAINNET), [CalldataNote::UnlimitedApproval]);
    let mut other = calls[0].data.clone();
    other[35] ^= 1;
    let notes = Calldata::decode(&other).unwrap().notes(&MAINNET);
    assert!(matches!(notes[..], [CalldataNote::SpenderIsNotTheVault(_)]));

    let mut asset = calls[1].data.clone();
    asset[35] = 2;
    assert_eq!(Calldata::decode(&asset).unwrap().notes(&MAINNET), [CalldataNote::UnknownAsset(2)]);
    let mut broken = calls[1].data.clone();
    broken[4 + 4 * 32] = 0x6a;
    let notes = Calldata::decode(&broken).unwrap().notes(&MAINNET);
    assert_eq!(notes, [CalldataNote::BridgeData(Refusal::RecipientMissing)], "the script is in another field");
    let shown = report::calldata(&Calldata::decode(&broken).unwrap(), &MAINNET);
    assert!(!shown.accepted && shown.lines.iter().any(|line| line.starts_with("refused: recipient_script")));

    assert_eq!(Calldata::decode(&[1, 2, 3]), Err(CalldataError::TooShort));
    assert_eq!(Calldata::decode(&[1, 2, 3, 4]), Err(CalldataError::OtherFunction([1, 2, 3, 4])));
    let cut = &calls[1].data[..100];
    assert!(matches!(Calldata::decode(cut), Err(CalldataError::Arguments { function: "depositAndBridge", .. })));
    let longer = [&calls[0].data[..], &[0; 32]].concat();
    assert_eq!(Calldata::decode(&longer), Err(CalldataError::NotCanonical("approve")));
    assert!(matches!(Calldata::decode(&vec![0; 200_000]), Err(CalldataError::TooLong(200_000))));
}

const SWAP: &str = "18cbafe5\
    00000000000000000000000000000000000000000000000000000000000f4240\
    00000000000000000000000000000000000000000000000000000000000dbba0\
    00000000000000000000000000000000000000000000000000000000000000a0\
    0000000000000000000000001111111111111111111111111111111111111111\
    000000000000000000000000000000000000000000000000000000006b49d200\
    0000000000000000000000000000000000000000000000000000000000000002\
    000000000000000000000000a0b86991c6218b36c1d19d4a2e9eb0ce3606eb48\
    000000000000000000000000c02aaa39b223fe8d0a0e5c4f27ead9083c756cc2";

fn swap() -> RouterSwap {
    RouterSwap {
        amount_in: U256::from(1_000_000),
        amount_out_min: U256::from(900_000),
        asset: Asset::Usdc,
        to: EvmAddress::repeat_byte(0x11),
        deadline: U256::from(1_800_000_000),
    }
}

/// row BR08
#[test]
fn a_transfer_is_no_bytes_or_two() {
    assert_eq!(BurnData::decode(&[]), BurnData::Transfer);
    assert_eq!(BurnData::decode(&[1, 0]), BurnData::Transfer);
    assert_eq!(BurnData::Transfer.encode(), [1, 0]);
    assert_eq!(BurnData::Transfer.effect(&MAINNET), BurnEffect::Payout);
}

/// row BR08
#[test]
fn a_call_is_a_target_and_calldata() {
    let bytes = hex::decode(format!("01017a250d5630b4cf539739df2c5dacb4c659f2488d{SWAP}")).unwrap();
    assert_eq!(bytes.len(), 282);
    let data = BurnData::decode(&bytes);
    let calldata = hex::decode(SWAP).unwrap();
    assert_eq!(data, BurnData::Call { target: MAINNET.router, calldata });
    assert_eq!(data.encode(), bytes);
    assert_eq!(data.effect(&MAINNET), BurnEffect::Swap(swap()));
}

/// row BR08
#[test]
fn anything_else_degrades_to_a_payout() {
    let degraded = |bytes: &[u8]| match BurnData::decode(bytes).effect(&MAINNET) {
        BurnEffect::DegradedToPayout(degradation) => degradation,
        other => panic!("{bytes:02x?}: {other:?}"),
    };
    for bytes in [&[0][..], &[1], &[2, 0], &[1, 2], &[1, 0, 0], &[1, 1], &[9, 9, 9]] {
        assert_eq!(degraded(bytes), Degradation::NotUnderstood, "{bytes:02x?}");
    }
    assert_eq!(degraded(&[&[1, 1][..], &[0x7a; 19]].concat()), Degradation::NotUnderstood);
    let target = EvmAddress::repeat_byte(0x7a);
    assert_eq!(degraded(&[&[1, 1][..], &[0x7a; 20]].concat()), Degradation::Target(target));
}

/// row BR09
#[test]
fn the_allow_listed_call_is_written_byte_for_byte() {
    let data = BurnData::swap(&swap(), &MAINNET, ZeroMinimum::Refuse).unwrap();
    let whole = format!("01017a250d5630b4cf539739df2c5dacb4c659f2488d{SWAP}");
    assert_eq!(hex::encode(data.encode()), whole);
    assert_eq!(swap().encode(&MAINNET, ZeroMinimum::Refuse).map(hex::encode), Ok(SWAP.to_owned()));
}

/// row BR09
#[test]
fn a_swap_without_a_floor_is_refused_and_flagged() {
    let unbounded = RouterSwap { amount_out_min: U256::ZERO, ..swap() };
    assert_eq!(unbounded.encode(&MAINNET, ZeroMinimum::Refuse), Err(SwapError::AmountOutMinZero));
    let allowed = BurnData::swap(&unbounded, &MAINNET, ZeroMinimum::Allow).unwrap();
    assert_eq!(BurnData::decode(&allowed.encode()).effect(&MAINNET), BurnEffect::Swap(unbounded));
    let shown = report::burn_data(&allowed, &MAINNET);
    assert!(shown.lines.iter().any(|line| line.starts_with("warning: amountOutMin is 0")));
    assert_eq!(shown.json["effect"], "swap");
    let call = Calldata::decode(&unbounded.encode(&MAINNET, ZeroMinimum::Allow).unwrap()).unwrap();
    assert_eq!(call.notes(&MAINNET), [CalldataNote::ZeroMinimum]);
}

/// row BR09
#[test]
fn swaps_that_lose_the_money_otherwise_are_refused() {
    let encode = |swap: RouterSwap| swap.encode(&MAINNET, ZeroMinimum::Allow);
    assert_eq!(encode(RouterSwap { amount_in: U256::ZERO, ..swap() }), Err(SwapError::AmountInZero));
    assert_eq!(encode(RouterSwap { to: EvmAddress::ZERO, ..swap() }), Err(SwapError::ReceiverZero));
    assert_eq!(encode(RouterSwap { deadline: U256::ZERO, ..swap() }), Err(SwapError::DeadlineZero));
}

/// row BR09
#[test]
fn another_call_of_the_router_degrades_to_a_payout() {
    let router = hex::decode("01017a250d5630b4cf539739df2c5dacb4c659f2488d").unwrap();
    let degraded = |calldata: &[u8]| BurnData::decode(&[&router[..], calldata].concat()).effect(&MAINNET);
    let good = hex::decode(SWAP).unwrap();
    let changed = |at: usize, to: u8| {
        let mut calldata = good.clone();
        calldata[at] = to;
        degraded(&calldata)
    };
    let payout = BurnEffect::DegradedToPayout;
    assert_eq!(degraded(&[]), payout(Degradation::Call { selector: None }));
    assert_eq!(changed(0, 0x38), payout(Degradation::Call { selector: Some([0x38, 0xcb, 0xaf, 0xe5]) }));
    assert_eq!(degraded(&good[..259]), payout(Degradation::Arguments));
    assert_eq!(degraded(&[&good[..], &[0; 32]].concat()), payout(Degradation::Arguments));
    assert_eq!(changed(4 + 3 * 32, 1), payout(Degradation::Arguments), "a dirty address word");
    assert_eq!(changed(227, 0x49), payout(Degradation::Path), "another token");
    assert_eq!(changed(259, 0xc3), payout(Degradation::Path), "another end");
    assert_eq!(changed(4 + 6 * 32 - 1, 1), payout(Degradation::Arguments), "a path of one");
}

const PAID: EvmAddress = address!("977744000000000000000000000000000000cf06");

/// row BR08
#[test]
fn the_measured_burns_are_written_and_read() {
    let burn = BurnCellpack { evm_address: PAID, asset: Asset::Usdc, burn_data: vec![] };
    let plain = vec![5, 2_541_175_808, 52_998, 0];
    assert_eq!(burn.inputs().as_ref(), Ok(&plain));
    assert_eq!(burn.cellpack(), Ok([&[4, 1776][..], &plain].concat()));
    assert_eq!(BurnCellpack::from_inputs(&plain), Ok(burn.clone()));
    assert_eq!(burn.notes(&MAINNET), []);

    let burn = BurnCellpack { burn_data: vec![9; 3], ..burn };
    let words = vec![14, 2_541_175_808, 52_998, 0, 3, 1, 12_009_965_175_477_489_169_824_853_534_747_656_192];
    assert_eq!(burn.inputs().as_ref(), Ok(&words));
    assert_eq!(BurnCellpack::from_inputs(&words), Ok(burn.clone()));
    assert_eq!(burn.notes(&MAINNET), [BurnNote::Degraded(Degradation::NotUnderstood)]);
}

/// row BR08
#[test]
fn burns_that_are_none_are_refused() {
    let read = BurnCellpack::from_inputs;
    let zero = BurnCellpack { evm_address: EvmAddress::ZERO, asset: Asset::Usdc, burn_data: vec![] };
    assert_eq!(zero.inputs(), Err(BurnError::ZeroAddress));
    assert_eq!(read(&[5, 0, 0, 0]), Err(BurnError::ZeroAddress));
    assert_eq!(read(&[]), Err(BurnError::NotABurn));
    assert_eq!(read(&[77]), Err(BurnError::NotABurn));
    assert_eq!(read(&[5, 1, 1]), Err(BurnError::InputCount { expected: 4, found: 3 }));
    assert_eq!(read(&[5, 1, 1, 0, 0]), Err(BurnError::InputCount { expected: 4, found: 5 }));
    assert_eq!(read(&[14, 1, 1, 0]), Err(BurnError::InputCount { expected: 6, found: 4 }));
    assert_eq!(read(&[14, 1, 1, 0, 17, 2, 5]), Err(BurnError::InputCount { expected: 8, found: 7 }));
    assert_eq!(read(&[5, 1 << 32, 1, 0]), Err(BurnError::AddressUpper(1 << 32)));
    assert!(matches!(read(&[5, 1, 1, 2]), Err(BurnError::Asset(_))));
    for (bytes, words) in [(0, 0), (0, 1), (3, 0), (16, 2), (17, 1), (u128::MAX, 1)] {
        assert_eq!(read(&[14, 1, 1, 0, bytes, words, 0]), Err(BurnError::DataLength { bytes, words }));
    }
    assert_eq!(read(&[14, 1, 1, 0, 3, 1, 1]), Err(BurnError::Padding));
    assert_eq!(read(&[14, 1, 1, 0, 65_537, 4_097]), Err(BurnError::BurnDataTooLong(65_537)));
    let long = BurnCellpack { evm_address: PAID, asset: Asset::Usdc, burn_data: vec![0; 65_537] };
    assert_eq!(long.inputs(), Err(BurnError::BurnDataTooLong(65_537)));
}

/// row BR09
#[test]
fn a_burn_tells_when_its_swap_does_something_else() {
    let data = BurnData::swap(&swap(), &MAINNET, ZeroMinimum::Refuse).unwrap().encode();
    let burn = BurnCellpack { evm_address: PAID, asset: Asset::Usdt, burn_data: data };
    let other = BurnNote::OtherAsset { swapped: Asset::Usdc, paid: Asset::Usdt };
    assert_eq!(burn.notes(&MAINNET), [other, BurnNote::OtherReceiver(swap().to)]);
    let same = BurnCellpack { evm_address: swap().to, asset: Asset::Usdc, ..burn };
    assert_eq!(same.notes(&MAINNET), []);
    let shown = report::burn(&same, &MAINNET).unwrap();
    assert_eq!(shown.json["warnings"], serde_json::json!([]));
    assert_eq!(shown.json["cellpack"][2], "14");
}

#[test]
fn reports_say_the_same_to_people_and_to_programs() {
    let bytes = conversion(10_000, segwit(), 100).encode().unwrap();
    let shown = report::bridge_data(&BridgeData::decode(&bytes).unwrap());
    assert!(shown.accepted);
    assert_eq!(shown.json["dispatch"], "conversion");
    assert_eq!(shown.json["convert_bps"], 10_000);
    assert_eq!(shown.json["btc_destination_kind"], "P2WPKH");
    assert_eq!(shown.json["recipient_script"], format!("0x{T}"));
    assert!(shown.json["recipient_script_address"].as_str().unwrap().starts_with("bc1p"));
    assert!(shown.lines.contains(&"convert bps: 10000".to_owned()), "{:?}", shown.lines);

    let shown = report::bridge_data(&BridgeData::decode(&[]).unwrap());
    assert!(!shown.accepted);
    assert_eq!(shown.json["dispatch"], "operator_fallback");
    assert!(shown.lines.iter().any(|line| line.starts_with("refused: recipient_script is missing")));

    let payload = hex::decode(format!("1222{T}")).unwrap();
    let calls = deposit_calls(&MAINNET, Asset::Usdc, U256::from(5), &payload).unwrap();
    let shown = report::deposit_calls(&calls);
    assert_eq!(shown.json["calls"][0]["function"], "approve");
    assert_eq!(shown.lines.len(), 4);
    let read = report::calldata(&Calldata::decode(&calls[1].data).unwrap(), &MAINNET);
    assert!(read.accepted);
    assert_eq!(read.json["amount"], "5");
    assert_eq!(read.json["asset"], "usdc");
}

/// rows BR03, BR05
#[test]
fn reports_of_checks_tell_the_reason() {
    use paraffin_bridge::{ConversionCap, Role};
    let shown = report::script(&[0x6a], Role::Destination);
    assert!(!shown.accepted);
    assert!(shown.json["refusals"][0].as_str().unwrap().contains("neither P2PKH"));
    let shown = report::script(&segwit(), Role::Recipient);
    assert!(shown.accepted);
    assert_eq!(shown.json["script_kind"], "P2WPKH");

    let cap = ConversionCap { reserve: U256::from(585_400_000_000u64), amount: U256::from(100_000_000_000u64) };
    let shown = report::cap(&cap, 10_000);
    assert!(!shown.accepted);
    assert_eq!(shown.json["largest_bps"], 58);
    assert!(shown.lines.last().unwrap().contains("at most 58 bps pass"));
    assert!(report::cap(&cap, 58).accepted);
}
