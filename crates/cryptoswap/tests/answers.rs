//! Quotes, malformed requests, past heights and reorgs, over real runs of the pool's contract.
#![allow(clippy::unwrap_used)]

mod chain;

use chain::{
    BEGIN, BTC, Chain, GAMMA, NOTHING, OF_POOL, OWNER, POOL, USD, deed, pool, rules, sell_btc, sell_usd, traded,
};
use paraffin_cryptoswap::proto::{
    GetBlockSummaryRequest, GetCandleAtRequest, GetCandlesRequest, GetPoolRequest, GetPoolStateResponse,
    GetPoolsRequest, GetRawValueRequest, GetReservesResponse, GetSwapsRequest, GetSwapsResponse, QuoteRequest,
    QuoteResponse,
};
use paraffin_cryptoswap::views::NAMES;
use paraffin_cryptoswap::{Slot, SlotNames};
use paraffin_cryptoswap_math::U256;
use paraffin_primitives::AlkaneId;
use proptest::prelude::*;
use prost::Message;

/// row PI32
#[test]
fn a_quote_is_what_the_next_exchange_pays_also_while_the_curve_moves() {
    let mut chain = Chain::founded(rules());
    let mut fees = Vec::new();
    for round in 0..24u128 {
        if round == 8 {
            let tip = u128::from(chain.tip());
            chain.mine(&[deed(POOL, &[11, 900_000, GAMMA, tip + 12])]);
        }
        let sells_usd = round % 3 != 0;
        let amount = if sells_usd { 20_000_000_000 * (round + 1) } else { 700_000 * (round + 1) };
        let token_in = if sells_usd { USD } else { BTC };
        let request = QuoteRequest { pool: pool(), token_in: Some(token_in.into()), amount_in: amount.to_string() };
        let quote: QuoteResponse = chain.view("quote", &request);
        assert!(quote.ok, "{quote:?}");
        assert_eq!(quote.for_height, chain.tip() + 1);
        assert_eq!(
            quote.ramping,
            (8..20).contains(&round)
                && chain.view::<GetPoolStateResponse>("getpoolstate", &OF_POOL).state.unwrap().ramping
        );
        chain.mine(&[if sells_usd { sell_usd(amount) } else { sell_btc(amount) }]);
        let swaps: GetSwapsResponse =
            chain.view("getswaps", &GetSwapsRequest { pool: pool(), page: None, limit: Some(1) });
        let paid = &swaps.swaps[0];
        assert_eq!(paid.height, quote.for_height);
        assert_eq!((&paid.amount_in, &paid.amount_out), (&quote.amount_in, &quote.amount_out), "round {round}");
        assert_eq!(Some(&paid.price_q), quote.effective_price_q.as_ref());
        assert_eq!(paid.token_out, quote.token_out);
        let fee: u128 = quote.fee.parse().unwrap();
        assert!((20_000_000..=80_000_000).contains(&fee), "{fee}");
        fees.push(fee);
        assert_eq!(quote.conversion_cap.is_some(), sells_usd);
    }
    fees.sort_unstable();
    fees.dedup();
    assert!(fees.len() > 10, "the fee slides");
}

/// row PI22
#[test]
fn a_quote_tells_why_there_is_none() {
    let mut chain = Chain::founded(rules());
    let request = |token: AlkaneId, amount: &str| QuoteRequest {
        pool: pool(),
        token_in: Some(token.into()),
        amount_in: amount.to_owned(),
    };
    let refusal = |chain: &Chain, request: &QuoteRequest| {
        let answer: QuoteResponse = chain.view("quote", request);
        assert!(answer.found && !answer.ok && answer.amount_out.is_empty());
        answer.refusal
    };
    assert!(refusal(&chain, &request(OWNER, "5")).contains("does not trade"));
    assert!(refusal(&chain, &request(USD, "0")).contains("zero"));
    for wrong in ["", "-5", "1e9", "five", &"9".repeat(100)] {
        assert!(refusal(&chain, &request(USD, wrong)).contains("decimal digits"), "{wrong}");
    }
    assert!(!refusal(&chain, &request(USD, &U256::MAX.to_string())).is_empty());
    chain.mine(&[deed(POOL, &[14])]);
    assert!(refusal(&chain, &request(USD, "1000000000")).contains("killed"));
    assert!(chain.view::<QuoteResponse>("quote", &request(USD, "1000000000")).is_killed);
    let unknown = QuoteRequest { pool: Some(USD.into()), token_in: Some(USD.into()), amount_in: "5".to_owned() };
    assert_eq!(chain.bytes_at(chain.tip(), "quote", &unknown.encode_to_vec()).unwrap(), NOTHING);
    // The tenth of the reserve is the most that the bridge converts.
    let state = chain.view_at::<GetReservesResponse>(4, "getreserves", &OF_POOL);
    let cap = state.reserve0.parse::<u128>().unwrap() / 10;
    for (amount, exceeds) in [(cap, false), (cap + 1, true)] {
        let quote: QuoteResponse = chain.view_at(4, "quote", &request(USD, &amount.to_string()));
        assert_eq!((quote.conversion_cap, quote.exceeds_conversion_cap), (Some(cap.to_string()), exceeds));
    }
}

/// Requests of every kind.
fn requests() -> Vec<(&'static str, Vec<u8>)> {
    let id = pool();
    let mut all: Vec<(&str, Vec<u8>)> = NAMES.iter().map(|name| (*name, OF_POOL.encode_to_vec())).collect();
    all.push(("getpools", Vec::new()));
    for height in 0..30 {
        all.push(("getblocksummary", GetBlockSummaryRequest { height }.encode_to_vec()));
    }
    for slot in Slot::ALL {
        let key = SlotNames::default().name(*slot).to_vec();
        all.push(("getrawvalue", GetRawValueRequest { pool: id, key }.encode_to_vec()));
    }
    for bucket in [900, 3_600, 86_400] {
        let request = GetCandlesRequest { pool: id, bucket, ..GetCandlesRequest::default() };
        all.push(("getcandles", request.encode_to_vec()));
        all.push(("getcandles", GetCandlesRequest { page: Some(1), limit: Some(1), ..request }.encode_to_vec()));
        for at in (BEGIN..BEGIN + 190_000).step_by(3_600) {
            let request = GetCandleAtRequest { pool: id, bucket, at: at.into() };
            all.push(("getcandleat", request.encode_to_vec()));
        }
    }
    for token in [USD, BTC] {
        let request = QuoteRequest { pool: id, token_in: Some(token.into()), amount_in: "5000000".to_owned() };
        all.push(("quote", request.encode_to_vec()));
    }
    all
}

#[test]
fn a_past_height_answers_as_it_did_when_it_was_the_newest() {
    let whole = traded(rules());
    let requests = requests();
    let mut chain = traded(rules());
    // Back to the beginning: the answers of each height while it is the newest.
    while chain.tip() > 0 {
        let height = chain.tip();
        for (name, payload) in &requests {
            let then = chain.bytes_at(height, name, payload).unwrap();
            let now = whole.bytes_at(height, name, payload).unwrap();
            assert_eq!(now, then, "{name} at {height}");
        }
        chain.undo();
    }
}

#[test]
fn a_reorg_restores_everything() {
    let mut chain = Chain::founded(rules());
    let mut digests = vec![chain.store.snapshot().content_digest().unwrap()];
    let deeds = |round: u128| {
        vec![sell_usd(1_000_000_000 * (round + 1)), deed(POOL, &[1, 1_000_000, 64_000_000_000, 0]), sell_btc(50_000)]
    };
    for round in 0..6 {
        chain.mine(&deeds(round));
        digests.push(chain.store.snapshot().content_digest().unwrap());
    }
    let straight = digests.last().copied();
    for round in (0..6).rev() {
        chain.undo();
        assert_eq!(chain.store.snapshot().content_digest().unwrap(), digests[round]);
    }
    // Another branch, and back again.
    for _ in 0..4 {
        chain.mine(&[sell_btc(123_456)]);
    }
    assert_ne!(chain.store.snapshot().content_digest().unwrap(), digests[4]);
    for _ in 0..4 {
        chain.undo();
    }
    for round in 0..6 {
        chain.mine(&deeds(round));
    }
    assert_eq!(Some(chain.store.snapshot().content_digest().unwrap()), straight);
}

/// row PI02
#[test]
fn cut_requests_are_answered_as_empty_ones_and_never_in_part() {
    let chain = traded(rules());
    for name in NAMES {
        let nothing = chain.bytes_at(chain.tip(), name, &[]).unwrap();
        // A wrong inner length, a cut varint, a wrong wire type behind a good pool, text that is none.
        for broken in [
            &[0x0a, 0x06, 0x08, 0x04, 0x10, 0xf2, 0x0d][..],
            &[0x0a, 0x05, 0x08, 0x04, 0x10, 0xf2],
            &[0x0a, 0x05, 0x08, 0x04, 0x10, 0xf2, 0x0d, 0x80],
            &[0x0a, 0x05, 0x08, 0x04, 0x10, 0xf2, 0x0d, 0x0b],
            &[0xff; 12],
        ] {
            assert_eq!(chain.bytes_at(chain.tip(), name, broken).unwrap(), nothing, "{name} {broken:x?}");
        }
    }
    for name in [
        "getpool",
        "getpoolstate",
        "getreserves",
        "getswaps",
        "getprice",
        "getblocksummary",
        "getrawvalue",
        "quote",
        "getbytecode",
    ] {
        assert_eq!(chain.bytes_at(chain.tip(), name, &[]).unwrap(), NOTHING, "{name}");
    }
}

/// Whether the bytes are a message of this kind.
fn is_request(name: &str, bytes: &[u8]) -> bool {
    match name {
        "getblocksummary" => GetBlockSummaryRequest::decode(bytes).is_ok(),
        "getrawvalue" => GetRawValueRequest::decode(bytes).is_ok(),
        "getpools" => GetPoolsRequest::decode(bytes).is_ok(),
        "getswaps" => GetSwapsRequest::decode(bytes).is_ok(),
        "getcandles" => GetCandlesRequest::decode(bytes).is_ok(),
        "getcandleat" => GetCandleAtRequest::decode(bytes).is_ok(),
        "quote" => QuoteRequest::decode(bytes).is_ok(),
        _ => GetPoolRequest::decode(bytes).is_ok(),
    }
}

/// row PI02
#[test]
fn random_bytes_never_fail_and_what_is_no_request_is_the_empty_one() {
    let chain = traded(rules());
    let tip = chain.tip();
    let nothing: Vec<Vec<u8>> = NAMES.iter().map(|name| chain.bytes_at(tip, name, &[]).unwrap()).collect();
    let valid: Vec<Vec<u8>> = requests().into_iter().map(|(_, payload)| payload).collect();
    let broken = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..40),
        // A good request with a byte changed, cut, or with more behind it.
        (any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>(), any::<bool>()).prop_map(
            move |(which, at, byte, cut)| {
                let mut bytes = which.get(&valid).clone();
                if !bytes.is_empty() {
                    let offset = at.index(bytes.len());
                    if cut { bytes.truncate(offset) } else { bytes[offset] = byte }
                }
                bytes
            }
        ),
    ];
    let config = ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    runner
        .run(&broken, |bytes| {
            for (name, nothing) in NAMES.iter().zip(&nothing) {
                let answer = chain.bytes_at(tip, name, &bytes);
                prop_assert!(answer.is_ok(), "{} {:x?}", name, bytes);
                if !is_request(name, &bytes) && !matches!(*name, "ping" | "indexheight" | "getbytecode") {
                    prop_assert_eq!(&answer.unwrap(), nothing, "{} {:x?}", name, &bytes);
                }
            }
            Ok(())
        })
        .unwrap();
}
