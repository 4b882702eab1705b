//! Messages of the pool index (`proto/cryptoswap.proto`) for the page of the BTC/USD pool.

use data_encoding::HEXLOWER;
use paraffin_cryptoswap::proto;
use prost::Message as _;

use super::super::alkane::AlkaneId;

/// `GetPriceRequest` of a pool, as `0x` and hexadecimal digits; `None` for an id that it cannot hold.
pub(super) fn price_request(pool: AlkaneId) -> Option<String> {
    let pool = proto::AlkaneId { block: pool.block().try_into().ok()?, tx: pool.tx().try_into().ok()? };
    Some(format!("0x{}", HEXLOWER.encode(&proto::GetPriceRequest { pool: Some(pool) }.encode_to_vec())))
}

/// Reads a `GetPriceResponse`; `None` for an invalid message, or if the contract is no pool.
pub(super) fn prices(message: &[u8]) -> Option<proto::GetPriceResponse> {
    proto::GetPriceResponse::decode(message).ok().filter(|prices| prices.found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An answer of a development chain.
    pub(super) const ANSWER: &str = "08011205080410f20d1a05080410f00d220208202a1331303030303030303030303030303030303030320e31363531343639383532363834373880d0d5aa0640a0014a2009d81d8632001ec80deef0a38ae5b17615a511d67c072ede1ce17a7e42c7f023520e31353037383636373539353135315a0e313531363538323036323434363660a001";

    fn bytes(hex: &str) -> Vec<u8> {
        HEXLOWER.decode(hex.as_bytes()).unwrap()
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
        assert_eq!(of(&prices.executed_price_q), "16514698526847");
        assert_eq!(of(&prices.marginal_price_q), "15078667595151");
        assert_eq!(of(&prices.oracle_price_q), "15165820624466");
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
