//! What contracts of a pool answer, as an EVM endpoint hands it on: whatever is read as a price is one that a bitcoin may have.

use paraffin_prices::UsdPrice;
use paraffin_prices::fuzzing::{hex, prices};

pub(crate) fn run(bytes: &[u8]) {
    for price in prices(bytes) {
        assert!(price >= UsdPrice::DOLLAR && price.0 <= UsdPrice::DOLLAR.0 * 1_000_000_000, "{price:?}");
        assert!(price.to_f64() >= 1.0);
    }
    if let Some(answer) = std::str::from_utf8(bytes).ok().and_then(hex) {
        assert_eq!(answer.len() * 2 + 2, bytes.len());
    }
}
