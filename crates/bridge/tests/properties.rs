//! Arbitrary bytes and arbitrary payloads. The encoder used here is written apart from the one under test.

use paraffin_bridge::{
    Asset, BridgeData, BtcConversion, BurnCellpack, BurnData, BurnEffect, Calldata, ConversionCap, EvmAddress,
    EvmDeployment, Role, RouterSwap, U256, ZeroMinimum, check_bridge_data, check_script, deposit_calls, report,
    script_of_text,
};
use proptest::prelude::*;
use proptest::test_runner::Config;

const MAINNET: EvmDeployment = EvmDeployment::MAINNET;

/// A modest number of cases, or at least a million when `PARAFFIN_LONG` is set.
fn cases() -> Config {
    let cases = if std::env::var_os("PARAFFIN_LONG").is_some() { 1_000_000 } else { 2_000 };
    Config { cases, failure_persistence: None, ..Config::default() }
}

/// Protobuf by hand: a varint, seven bits at a time.
fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value > 127 {
        out.push(u8::try_from(value & 127).expect("seven bits") | 128);
        value >>= 7;
    }
    out.push(u8::try_from(value).expect("seven bits"));
}

fn length_delimited(field: u8, content: &[u8], out: &mut Vec<u8>) {
    out.push(field << 3 | 2);
    varint(content.len() as u64, out);
    out.extend_from_slice(content);
}

fn encode_by_hand(data: &BridgeData) -> Vec<u8> {
    let mut out = Vec::new();
    length_delimited(2, &data.recipient_script, &mut out);
    if let Some(protostone) = &data.recipient_protostone {
        length_delimited(3, protostone, &mut out);
    }
    if let Some(conversion) = &data.btc_conversion {
        let mut inner = Vec::new();
        if conversion.convert_bps > 0 {
            inner.push(1 << 3);
            varint(conversion.convert_bps.into(), &mut inner);
        }
        if !conversion.btc_destination.is_empty() {
            length_delimited(2, &conversion.btc_destination, &mut inner);
        }
        if conversion.max_slippage_bps > 0 {
            inner.push(3 << 3);
            varint(conversion.max_slippage_bps.into(), &mut inner);
        }
        length_delimited(4, &inner, &mut out);
    }
    out
}

fn recipient() -> impl Strategy<Value = Vec<u8>> {
    let hash = any::<[u8; 20]>();
    let key = any::<[u8; 32]>();
    prop_oneof![
        hash.prop_map(|hash| [&[0x76, 0xa9, 0x14][..], &hash, &[0x88, 0xac]].concat()),
        hash.prop_map(|hash| [&[0xa9, 0x14][..], &hash, &[0x87]].concat()),
        hash.prop_map(|hash| [&[0x00, 0x14][..], &hash].concat()),
        key.prop_map(|key| [&[0x00, 0x20][..], &key].concat()),
        key.prop_map(|key| [&[0x51, 0x20][..], &key].concat()),
    ]
}

fn destination() -> impl Strategy<Value = Vec<u8>> {
    let future = (0x51u8..=0x60, prop::collection::vec(any::<u8>(), 2..=40)).prop_map(|(version, program)| {
        [&[version, u8::try_from(program.len()).expect("at most 40")][..], &program].concat()
    });
    prop_oneof![recipient(), future]
}

fn payload() -> impl Strategy<Value = BridgeData> {
    let extra = prop_oneof![
        Just((None, None)),
        prop::collection::vec(any::<u8>(), 1..300).prop_map(|protostone| (Some(protostone), None)),
        (1u32..=10_000, destination(), 0u32..=10_000).prop_map(|(convert_bps, btc_destination, max_slippage_bps)| {
            (None, Some(BtcConversion { convert_bps, btc_destination, max_slippage_bps }))
        }),
    ];
    (recipient(), extra).prop_map(|(recipient_script, (recipient_protostone, btc_conversion))| BridgeData {
        action: 0,
        recipient_script,
        recipient_protostone,
        btc_conversion,
    })
}

fn address() -> impl Strategy<Value = EvmAddress> {
    any::<[u8; 20]>().prop_map(EvmAddress::from).prop_filter("not zero", |address| !address.is_zero())
}

fn word() -> impl Strategy<Value = U256> {
    any::<[u8; 32]>().prop_map(U256::from_be_bytes)
}

fn asset() -> impl Strategy<Value = Asset> {
    prop_oneof![Just(Asset::Usdc), Just(Asset::Usdt)]
}

fn swap() -> impl Strategy<Value = RouterSwap> {
    let positive = || word().prop_map(|word| word.max(U256::from(1)));
    (positive(), positive(), asset(), address(), positive()).prop_map(
        |(amount_in, amount_out_min, asset, to, deadline)| RouterSwap {
            amount_in,
            amount_out_min,
            asset,
            to,
            deadline,
        },
    )
}

/// Bytes that are nearly a payload: a good one with some bytes changed, cut or added.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4);
    (payload(), changes, any::<prop::sample::Index>(), prop::collection::vec(any::<u8>(), 0..4)).prop_map(
        |(data, changes, end, tail)| {
            let mut bytes = encode_by_hand(&data);
            for (at, to) in changes {
                let at = at.index(bytes.len());
                bytes[at] = to;
            }
            bytes.truncate(end.index(bytes.len() + 1));
            bytes.extend(tail);
            bytes
        },
    )
}

proptest! {
    #![proptest_config(cases())]

    /// rows BR01, BR02
    #[test]
    fn a_payload_encodes_as_an_independent_encoder_writes_it_and_reads_back(data in payload()) {
        let bytes = encode_by_hand(&data);
        prop_assert_eq!(data.encode(), Ok(bytes.clone()));
        prop_assert_eq!(check_bridge_data(&bytes), Ok(data));
    }

    /// row BR02
    #[test]
    fn what_passes_the_check_is_exactly_what_would_be_encoded(bytes in prop_oneof![damaged(), prop::collection::vec(any::<u8>(), 0..200)]) {
        if let Ok(data) = check_bridge_data(&bytes) {
            prop_assert_eq!(data.encode(), Ok(bytes.clone()));
            prop_assert!(check_script(&data.recipient_script, Role::Recipient).is_ok());
            if let Some(conversion) = &data.btc_conversion {
                prop_assert!(conversion.convert_bps <= 10_000 && conversion.max_slippage_bps <= 10_000);
                prop_assert!(data.recipient_protostone.is_none());
            }
        }
        if let Ok(decoded) = BridgeData::decode(&bytes) {
            prop_assert_eq!(report::bridge_data(&decoded).accepted, check_bridge_data(&bytes).is_ok());
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..600), selector in 0usize..4) {
        let _ = BridgeData::decode(&bytes);
        let data = BurnData::decode(&bytes);
        prop_assert_eq!(BurnData::decode(&data.encode()), data.clone());
        let _ = report::burn_data(&data, &MAINNET);
        for role in [Role::Recipient, Role::Destination] {
            prop_assert_eq!(report::script(&bytes, role).accepted, check_script(&bytes, role).is_ok());
        }
        let selectors = [[0x09, 0x5e, 0xa7, 0xb3], [0xbe, 0xdb, 0x65, 0xee], [0x18, 0xcb, 0xaf, 0xe5], [0; 4]];
        let calldata = [&selectors[selector][..], &bytes].concat();
        if let Ok(call) = Calldata::decode(&calldata) {
            let _ = report::calldata(&call, &MAINNET);
        }
        let words: Vec<u128> = bytes.chunks(16).map(|chunk| chunk.iter().fold(0, |word, byte| word << 8 | u128::from(*byte))).collect();
        let _ = BurnCellpack::from_inputs(&words);
    }

    #[test]
    fn arbitrary_text_is_an_address_a_script_or_an_error(text in "\\PC{0,120}") {
        let _ = script_of_text(&text);
    }

    /// rows BR08, BR09
    #[test]
    fn a_swap_reads_back_and_one_changed_byte_is_never_the_same_swap(
        swap in swap(),
        at in any::<prop::sample::Index>(),
        flip in 1u8..,
    ) {
        let bytes = BurnData::swap(&swap, &MAINNET, ZeroMinimum::Refuse).unwrap().encode();
        prop_assert_eq!(BurnData::decode(&bytes).effect(&MAINNET), BurnEffect::Swap(swap));
        let mut changed = bytes.clone();
        let at = at.index(changed.len());
        changed[at] ^= flip;
        prop_assert_ne!(BurnData::decode(&changed).effect(&MAINNET), BurnEffect::Swap(swap));
    }

    /// row BR08
    #[test]
    fn a_burn_reads_back(evm_address in address(), asset in asset(), burn_data in prop::collection::vec(any::<u8>(), 0..200)) {
        let burn = BurnCellpack { evm_address, asset, burn_data };
        let inputs = burn.inputs().unwrap();
        prop_assert_eq!(BurnCellpack::from_inputs(&inputs), Ok(burn.clone()));
        // The address again, from the two numbers by arithmetic.
        let upper: [u8; 16] = inputs[1].to_be_bytes();
        prop_assert_eq!(&[&upper[12..], &inputs[2].to_be_bytes()].concat()[..], evm_address.as_slice());
    }

    #[test]
    fn arbitrary_inputs_of_a_burn_never_panic(inputs in prop::collection::vec(prop_oneof![0u128..20, any::<u128>()], 0..12)) {
        if let Ok(burn) = BurnCellpack::from_inputs(&inputs) {
            prop_assert_eq!(burn.inputs(), Ok(inputs));
        }
    }

    /// row BR06
    #[test]
    fn the_calls_of_a_deposit_read_back(data in payload(), asset in asset(), amount in 1u64..) {
        let bytes = data.encode().unwrap();
        let amount = U256::from(amount);
        let [approve, deposit] = deposit_calls(&MAINNET, asset, amount, &bytes).unwrap();
        prop_assert_eq!(Calldata::decode(&approve.data), Ok(Calldata::Approve { spender: MAINNET.vault, amount }));
        let read = Calldata::decode(&deposit.data).unwrap();
        prop_assert_eq!(read.notes(&MAINNET), vec![]);
        prop_assert_eq!(read, Calldata::DepositAndBridge { asset_id: asset.index(), amount, bridge_data: bytes });
    }

    /// row BR05
    #[test]
    fn the_largest_share_passes_and_the_next_does_not(reserve in any::<u64>(), amount in 1u64.., convert_bps in 0u32..=10_000) {
        let cap = ConversionCap { reserve: U256::from(reserve), amount: U256::from(amount) };
        let over = u128::from(amount) * 100 * u128::from(convert_bps) > u128::from(reserve) * 1_000;
        prop_assert_eq!(cap.check(convert_bps).is_err(), over);
        let largest = cap.largest_bps().unwrap();
        prop_assert_eq!(cap.check(largest), Ok(()));
        prop_assert!(largest == 10_000 || cap.check(largest + 1).is_err());
    }
}
