//! Messages of the pool index (`proto/cryptoswap.proto`) for the page of the BTC/USD pool.

use super::super::alkane::AlkaneId;

/// The prices of a CryptoSwap pool: units of its second token for one of its first, over 10^18, as decimal text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Prices {
    pub(super) executed: Option<String>,
    pub(super) executed_timestamp: Option<u64>,
    pub(super) executed_height: Option<u64>,
    pub(super) marginal: Option<String>,
    pub(super) oracle: Option<String>,
}

/// `GetPriceRequest` of a pool, as `0x` and hexadecimal digits; `None` for an id that it cannot hold.
pub(super) fn price_request(pool: AlkaneId) -> Option<String> {
    use std::fmt::Write as _;
    let mut id = vec![0x08];
    varint(u64::from(u32::try_from(pool.block()).ok()?), &mut id);
    id.push(0x10);
    varint(u64::try_from(pool.tx()).ok()?, &mut id);
    let mut message = vec![0x0a, u8::try_from(id.len()).ok()?];
    message.append(&mut id);
    let mut text = "0x".to_owned();
    for byte in message {
        let _ = write!(text, "{byte:02x}");
    }
    Some(text)
}

fn varint(mut value: u64, bytes: &mut Vec<u8>) {
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Reads a `GetPriceResponse`; `None` for an invalid message, or if the contract is no pool.
pub(super) fn prices(message: &[u8]) -> Option<Prices> {
    let mut prices = Prices::default();
    let mut is_pool = false;
    let mut rest = message;
    while !rest.is_empty() {
        let tag = read_varint(&mut rest)?;
        match (tag >> 3, tag & 7) {
            (number, 0) => {
                let value = read_varint(&mut rest)?;
                match number {
                    1 => is_pool = value == 1,
                    7 => prices.executed_timestamp = Some(value),
                    8 => prices.executed_height = Some(value),
                    _ => {}
                }
            }
            (number, 2) => {
                let length = usize::try_from(read_varint(&mut rest)?).ok()?;
                let (bytes, after) = rest.split_at_checked(length)?;
                rest = after;
                let text = || std::str::from_utf8(bytes).ok().map(str::to_owned);
                match number {
                    6 => prices.executed = text(),
                    10 => prices.marginal = text(),
                    11 => prices.oracle = text(),
                    _ => {}
                }
            }
            _ => return None,
        }
    }
    is_pool.then_some(prices)
}

fn read_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An answer of a development chain.
    pub(super) const ANSWER: &str = "08011205080410f20d1a05080410f00d220208202a1331303030303030303030303030303030303030320e31363531343639383532363834373880d0d5aa0640a0014a2009d81d8632001ec80deef0a38ae5b17615a511d67c072ede1ce17a7e42c7f023520e31353037383636373539353135315a0e313531363538323036323434363660a001";

    fn bytes(hex: &str) -> Vec<u8> {
        (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
    }

    #[test]
    fn a_request_has_the_bytes_that_the_index_reads() {
        assert_eq!(price_request("4:1778".parse().unwrap()).as_deref(), Some("0x0a05080410f20d"));
        assert_eq!(price_request("4294967296:0".parse().unwrap()), None);
    }

    #[test]
    fn an_answer_has_three_prices() {
        let prices = prices(&bytes(ANSWER)).unwrap();
        let of = |price: &Option<String>| price.clone().unwrap();
        assert_eq!(of(&prices.executed), "16514698526847");
        assert_eq!(of(&prices.marginal), "15078667595151");
        assert_eq!(of(&prices.oracle), "15165820624466");
        assert_eq!((prices.executed_timestamp, prices.executed_height), (Some(1_700_096_000), Some(160)));
    }

    #[test]
    fn broken_answers_are_none() {
        let whole = bytes(ANSWER);
        assert_eq!(prices(&[]), None);
        for end in 1..whole.len() {
            let _ = prices(&whole[..end]);
        }
        assert_eq!(prices(&whole[..whole.len() - 1]), None);
        assert_eq!(prices(&[0xff; 40]), None);
        assert_eq!(prices(&[0x08, 0x01, 0x32, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]), None);
    }
}
