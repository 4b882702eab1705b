use alloy_primitives::keccak256;
use proptest::prelude::*;

use super::*;

fn encode(words: &[U256]) -> Vec<u8> {
    words.iter().flat_map(U256::to_be_bytes::<WORD>).collect()
}

fn int(value: i64) -> U256 {
    if value < 0 { !U256::from(value.unsigned_abs() - 1) } else { U256::from(value) }
}

fn slot0_of(sqrt_price: U256, tick: i64) -> Vec<u8> {
    encode(&[sqrt_price, int(tick), U256::ZERO, U256::from(1), U256::from(1), U256::ZERO, U256::from(1)])
}

#[test]
fn selectors_are_the_hashes_of_the_signatures() {
    for (selector, signature) in [
        (SLOT0, "slot0()"),
        (functions::observeCall::SELECTOR, "observe(uint32[])"),
        (TOKEN0, "token0()"),
        (TOKEN1, "token1()"),
        (DECIMALS, "decimals()"),
        (LIQUIDITY, "liquidity()"),
        (GET_RESERVES, "getReserves()"),
        (FEE, "fee()"),
        (FEE_GROWTH_0, "feeGrowthGlobal0X128()"),
        (FEE_GROWTH_1, "feeGrowthGlobal1X128()"),
    ] {
        assert_eq!(selector, keccak256(signature)[..4], "{signature}");
    }
}

#[test]
fn the_call_of_observe_holds_its_list() {
    let words = "0000000000000000000000000000000000000000000000000000000000000020\
                 0000000000000000000000000000000000000000000000000000000000000002\
                 0000000000000000000000000000000000000000000000000000000000000258\
                 0000000000000000000000000000000000000000000000000000000000000000";
    assert_eq!(hex(&observe_call(600)), format!("0x883bdbfd{words}"));
}

#[test]
fn slot0_tells_price_and_tick_of_either_sign() {
    let one = U256::from(1) << 96;
    for tick in [0, 1, -1, -887_272, 887_272, 64_771] {
        let read = slot0(&slot0_of(one, tick)).unwrap();
        assert_eq!((read.sqrt_price, i64::from(read.tick)), (one, tick));
    }
    for (sqrt_price, tick) in [
        (U256::ZERO, 0),
        (U256::from(SQRT_PRICE_MIN - 1), 0),
        (U256::from(1) << 160, 0),
        (U256::MAX, 0),
        (one, 887_273),
        (one, -887_273),
        (one, 1 << 23),
        (one, i64::MIN),
    ] {
        assert!(matches!(slot0(&slot0_of(sqrt_price, tick)), Err(AbiError::Range(_))), "{sqrt_price} {tick}");
    }
}

#[test]
fn every_word_of_slot0_has_a_type() {
    let word = |index: usize, value: U256| {
        let mut words =
            [U256::from(1) << 96, U256::ZERO, U256::ZERO, U256::from(1), U256::from(1), U256::ZERO, U256::ZERO];
        words[index] = value;
        slot0(&encode(&words))
    };
    for (index, bits, name) in [
        (2, 16, "observationIndex"),
        (3, 16, "observationCardinality"),
        (4, 16, "observationCardinalityNext"),
        (5, 32, "feeProtocol"),
        (6, 1, "unlocked"),
    ] {
        let most = (U256::from(1) << bits) - U256::from(1);
        assert!(word(index, most).is_ok(), "{name}");
        assert_eq!(word(index, most + U256::from(1)), Err(AbiError::Range(name)));
        assert_eq!(word(index, U256::MAX), Err(AbiError::Range(name)));
    }
    assert_eq!(word(5, U256::from(u32::MAX)).map(|slot0| slot0.fee_protocol), Ok(u32::MAX));
}

#[test]
fn an_answer_of_another_length_is_refused() {
    let whole = slot0_of(U256::from(1) << 96, 5);
    assert_eq!(slot0(&[]), Err(AbiError::Empty));
    for len in [1, 31, 32, 223] {
        assert_eq!(slot0(&whole[..len]), Err(AbiError::Length { len, expected: 224 }));
    }
    assert!(slot0(&[&whole[..], &[0; 32]].concat()).is_err());
    assert!(matches!(observe(&whole), Err(AbiError::Length { .. })));
    assert!(matches!(reserves(&whole), Err(AbiError::Length { .. })));
    assert!(matches!(word(&whole), Err(AbiError::Length { .. })));
}

#[test]
fn observe_reads_two_signed_sums_and_nothing_else() {
    let list = |words: [u64; 2], sums: [i64; 2], lengths: [u64; 2]| {
        let [at_ticks, at_seconds] = words.map(U256::from);
        let [first, second] = sums.map(int);
        let [ticks, seconds] = lengths.map(U256::from);
        encode(&[at_ticks, at_seconds, ticks, first, second, seconds, U256::from(7), U256::from(8)])
    };
    let least = -(1_i64 << 55);
    for sums in [[0, 0], [-5, 38_862_600], [least, i64::from(i32::MAX)]] {
        assert_eq!(observe(&list([64, 160], sums, [2, 2])), Ok(sums));
    }
    assert_eq!(observe(&list([64, 160], [least - 1, 0], [2, 2])), Err(AbiError::Range("tickCumulative")));
    assert_eq!(observe(&list([64, 160], [1_i64 << 55, 0], [2, 2])), Err(AbiError::Range("tickCumulative")));
    for (offsets, lengths) in [([0, 160], [2, 2]), ([64, 64], [2, 2]), ([64, 160], [3, 2]), ([64, 160], [2, u64::MAX])]
    {
        assert_eq!(observe(&list(offsets, [0, 0], lengths)), Err(AbiError::Layout));
    }
}

#[test]
fn values_outside_their_type_are_refused() {
    let one = |word: U256| encode(&[word]);
    assert_eq!(decimals(&one(U256::from(8))), Ok(8));
    assert_eq!(decimals(&one(U256::from(255))), Err(AbiError::Range("decimals")));
    assert_eq!(decimals(&one(U256::MAX)), Err(AbiError::Range("decimals")));
    assert_eq!(liquidity(&one(U256::from(u128::MAX))), Ok(u128::MAX));
    assert!(liquidity(&one(U256::from(1) << 128)).is_err());
    assert_eq!(fee(&one(U256::from(3_000))), Ok(3_000));
    assert!(fee(&one(U256::from(1_000_000))).is_err());
    assert!(address(&one(U256::from(1) << 160)).is_err());
    assert_eq!(address(&one(U256::from(0xff))).unwrap().to_string(), format!("0x{:040x}", 0xff));
    let most = U256::from((1_u128 << 112) - 1);
    assert_eq!(reserves(&encode(&[most, U256::from(2), U256::from(3)])), Ok([(1 << 112) - 1, 2]));
    assert!(reserves(&encode(&[most + U256::from(1), U256::from(2), U256::from(3)])).is_err());
    assert!(reserves(&encode(&[most, U256::from(2), U256::from(1) << 32])).is_err());
}

#[test]
fn hex_is_pairs_of_digits_after_0x() {
    assert_eq!(data("0x"), Ok(vec![]));
    assert_eq!(data("0x00fF"), Ok(vec![0, 255]));
    for bad in ["", "00", "0x0", "0xzz", "0X00", "0x+1", " 0x00", "0xéé"] {
        assert_eq!(data(bad), Err(AbiError::NotHex), "{bad}");
    }
}

proptest! {
    #[test]
    fn what_is_read_is_what_was_written(sqrt_price in SQRT_PRICE_MIN..u64::MAX, tick in -887_272_i64..=887_272) {
        let read = slot0(&slot0_of(U256::from(sqrt_price), tick)).unwrap();
        prop_assert_eq!((read.sqrt_price, i64::from(read.tick)), (U256::from(sqrt_price), tick));
    }

    #[test]
    fn arbitrary_answers_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = (slot0(&bytes), observe(&bytes), reserves(&bytes), address(&bytes), decimals(&bytes), liquidity(&bytes));
        let _ = (fee(&bytes), word(&bytes), data(&hex(&bytes)).unwrap());
    }
}
