//! Pages of the chain itself: blocks, transactions with their traces, addresses, the mempool, search and status.

mod address;
mod block;
mod bytes;
mod calls;
mod contracts;
mod histogram;
mod holdings;
mod mempool;
mod message;
mod reorgs;
mod rows;
mod search;
mod sides;
mod status;
mod stones;
mod trace;
mod transaction;

use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::SiteParts;

pub(super) use block::{Block, BlockRow};
pub(super) use mempool::FeeEstimates;
pub(super) use rows::{Transaction, TransactionRow};

/// The pages of this module.
pub(super) fn routes() -> Router<Arc<SiteParts>> {
    Router::new()
        .route("/explorer/blocks", get(block::list))
        .route("/explorer/block/{id}", get(block::page))
        .route("/explorer/tx/{txid}", get(transaction::page))
        .route("/explorer/address/{address}", get(address::page))
        .route("/explorer/mempool", get(mempool::page))
        .route("/explorer/search", get(search::page))
        .route("/explorer/status", get(status::page))
        .route("/explorer/reorgs", get(reorgs::page))
}

/// Names and values of a query; only the first of a repeated name is read.
type Pairs = Vec<(String, String)>;

/// The first value of a name in a query.
fn value<'p>(pairs: &'p Pairs, name: &str) -> Option<&'p str> {
    pairs.iter().find(|(known, _)| known == name).map(|(_, value)| value.trim())
}

/// Whether a text is a hash: 64 hexadecimal digits.
fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A text, percent-encoded for a query or a path.
pub(super) fn percent(text: &str) -> String {
    const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.');
    utf8_percent_encode(text, ESCAPED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_64_digits() {
        assert!(is_hash(&"aF".repeat(32)));
        for text in ["", "ab", &"g".repeat(64), &"a".repeat(65), &"é".repeat(32)] {
            assert!(!is_hash(text), "{text}");
        }
    }

    #[test]
    fn texts_in_links_are_encoded() {
        assert_eq!(percent("a/b?ü"), "a%2Fb%3F%C3%BC");
        assert_eq!(percent("..2-_~"), "..2-_%7E");
    }
}
