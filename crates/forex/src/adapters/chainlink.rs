//! Price feeds of Chainlink: US dollars for one unit of a currency, each a contract that answers `latestRoundData()` with five words of 32 bytes.

use data_encoding::HEXLOWER_PERMISSIVE;
use ruint::aliases::U256;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::decimal::Decimal;
use crate::error::{FeedError, RowError};
use crate::ratio::Ratio;
use crate::sheet::positive;

/// `latestRoundData()`.
pub(crate) const LATEST_ROUND_DATA: &str = "0xfeaf968c";
/// `decimals()`.
pub(crate) const DECIMALS: &str = "0x313ce567";

const WORD: usize = 32;

/// The text of a call to a contract.
pub(crate) fn request(contract: &str, function: &str) -> String {
    json!({
        "jsonrpc": "2.0", "id": 1, "method": "eth_call", "params": [{ "to": contract, "data": function }, "latest"],
    })
    .to_string()
}

/// The words of an answer to [`request`].
pub(crate) fn words(body: &[u8], count: usize) -> Result<Vec<U256>, FeedError> {
    #[derive(Deserialize)]
    struct Reply {
        #[serde(default)]
        result: Value,
        #[serde(default)]
        error: Value,
    }
    let reply: Reply = super::json::parse(body, "it is no JSON-RPC answer")?;
    if !reply.error.is_null() {
        return Err(FeedError::Refused(reply.error["code"].as_i64().unwrap_or_default()));
    }
    let wrong = FeedError::Form("the contract's answer has another length: its address is not that of a price feed");
    let digits = reply.result.as_str().and_then(|text| text.strip_prefix("0x")).ok_or(wrong.clone())?;
    let bytes = HEXLOWER_PERMISSIVE.decode(digits.as_bytes()).ok().filter(|bytes| bytes.len() == count * WORD);
    Ok(bytes.ok_or(wrong)?.chunks_exact(WORD).map(U256::from_be_slice).collect())
}

/// Decimals of a feed.
pub(crate) fn decimals(word: U256) -> Result<u32, FeedError> {
    u32::try_from(word).ok().filter(|decimals| *decimals <= 24).ok_or(FeedError::Form("decimals() is above 24"))
}

/// Units for one dollar and the feed's own time, from the words of `latestRoundData()`.
pub(crate) fn row(round: &[U256], decimals: u32) -> Result<(Ratio, u64), RowError> {
    let [_, answer, _, updated, _] = *round else { return Err(RowError::NotANumber) };
    if answer.bit(255) {
        return Err(RowError::Negative);
    }
    let dollars = positive(&Ratio::of(Decimal::of_parts(answer, decimals).ok_or(RowError::TooLong)?))?;
    // A round that is not complete has no time.
    let time = u64::try_from(updated).ok().filter(|time| *time > 0).ok_or(RowError::Date)?;
    Ok((dollars.inverse().ok_or(RowError::Zero)?, time))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(answer: U256, updated: u64) -> Vec<U256> {
        [U256::from(7), answer, U256::from(updated), U256::from(updated), U256::from(7)].to_vec()
    }

    #[test]
    fn an_answer_of_five_words_is_dollars_for_one_unit() {
        let body = |words: &[U256]| {
            let hex = words.iter().map(|word| format!("{word:064x}")).collect::<Vec<_>>().concat();
            json!({ "jsonrpc": "2.0", "id": 1, "result": format!("0x{hex}") }).to_string()
        };
        let answer = round(U256::from(125_000_000), 1_800_000_000);
        assert_eq!(words(body(&answer).as_bytes(), 5).unwrap(), answer);
        assert!(words(body(&answer).as_bytes(), 4).is_err());
        let (per_usd, time) = row(&answer, 8).unwrap();
        assert_eq!((per_usd.to_rate().as_str(), time), ("0.8", 1_800_000_000));
        assert_eq!(
            row(&round(U256::from(125) * U256::from(10).pow(U256::from(16)), 5), 18).unwrap().0.to_rate(),
            "0.8"
        );
    }

    #[test]
    fn rounds_without_price_or_time_are_refused() {
        assert_eq!(row(&round(U256::ZERO, 5), 8), Err(RowError::Zero));
        assert_eq!(row(&round(U256::MAX, 5), 8), Err(RowError::Negative));
        assert_eq!(row(&round(U256::MAX >> 1, 5), 8), Err(RowError::TooLong));
        assert_eq!(row(&round(U256::from(1), 0), 8), Err(RowError::Date));
        assert_eq!(row(&[], 8), Err(RowError::NotANumber));
        assert!(decimals(U256::from(25)).is_err() && decimals(U256::MAX).is_err());
        for (body, expected) in [
            ("<html>", FeedError::Form("it is not JSON")),
            (r#"{"error":{"code":-32000,"message":"x"}}"#, FeedError::Refused(-32_000)),
        ] {
            assert_eq!(words(body.as_bytes(), 1), Err(expected), "{body}");
        }
        for body in [r#"{"result":"0x"}"#, r#"{"result":null}"#, r#"{"result":"0xé"}"#, "{}"] {
            assert!(words(body.as_bytes(), 1).is_err(), "{body}");
        }
    }
}
