//! The binary forms of Bitcoin Core's REST interface, decoded as untrusted input.

use bitcoin::block::Header;
use bitcoin::consensus::encode::{Decodable, VarInt, deserialize};
use bitcoin::{BlockHash, TxOut};
use hyper::StatusCode;

use crate::error::NodeError;
use crate::http::Answer;
use crate::rpc::unavailable_by_http;

/// Most headers of one request (Bitcoin Core's `MAX_REST_HEADERS_RESULTS`).
pub(crate) const HEADERS_PER_REQUEST_MAX: usize = 2000;
/// Largest block in consensus encoding: 4,000,000 weight units leave at most as many bytes.
pub(crate) const BLOCK_BYTES_MAX: usize = 4_000_000;
/// Largest `spenttxouts` answer: 24,390 inputs of 41 bytes fit into a block, each spending a script of at most 10,000 bytes.
pub(crate) const SPENT_BYTES_MAX: usize = 256 << 20;

/// A route that not every node serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    Block,
    BlockPart,
    Headers,
    SpentOutputs,
}

impl Route {
    const COUNT: usize = 4;

    /// The request path for `hash`.
    pub(crate) fn path(self, hash: BlockHash, query: &str) -> String {
        let name = match self {
            Self::Block => "block",
            Self::BlockPart => "blockpart",
            Self::Headers => "headers",
            Self::SpentOutputs => "spenttxouts",
        };
        format!("/rest/{name}/{hash}.bin{query}")
    }
}

/// Routes that a node does not serve; cleared at every reconnect, since it may be another release then.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct MissingRoutes([bool; Route::COUNT]);

impl MissingRoutes {
    pub(crate) fn contains(self, route: Route) -> bool {
        self.0[route as usize]
    }

    pub(crate) fn insert(&mut self, route: Route) {
        self.0[route as usize] = true;
    }
}

/// A classified REST answer.
pub(crate) enum RestAnswer {
    /// The requested bytes.
    Found(bytes::Bytes),
    /// The route is served, but not for this block (unknown, pruned, no undo data).
    NotThisBlock,
    /// The parameters do not fit the block.
    Refused,
    /// The node has no such route, or REST is off, or the server is not a node.
    NoRoute,
}

/// Classifies an answer. Bitcoin Core answers 404 both for a route that it does not have and for a block that it does not have;
/// only the text of the latter holds the hash.
pub(crate) fn sort_answer(answer: Answer, hash: BlockHash) -> Result<RestAnswer, NodeError> {
    let mentions_hash =
        || String::from_utf8_lossy(&answer.body[..answer.body.len().min(1024)]).contains(&hash.to_string());
    Ok(match answer.status {
        StatusCode::OK if answer.is_html => RestAnswer::NoRoute,
        StatusCode::OK => RestAnswer::Found(answer.body),
        StatusCode::NOT_FOUND if mentions_hash() => RestAnswer::NotThisBlock,
        StatusCode::BAD_REQUEST if mentions_hash() => RestAnswer::Refused,
        status if status.is_client_error() || status == StatusCode::NOT_IMPLEMENTED => RestAnswer::NoRoute,
        // 500 is an I/O error while reading this block; JSON-RPC will report more.
        StatusCode::INTERNAL_SERVER_ERROR => RestAnswer::NotThisBlock,
        _ => return Err(unavailable_by_http(&answer)),
    })
}

/// Headers, 80 bytes each, as `/rest/headers` answers them.
///
/// # Errors
/// [`NodeError::Invalid`] for another length or more than one answer may hold.
pub fn decode_headers(bytes: &[u8]) -> Result<Vec<Header>, NodeError> {
    if !bytes.len().is_multiple_of(Header::SIZE) || bytes.len() > HEADERS_PER_REQUEST_MAX * Header::SIZE {
        return Err(NodeError::Invalid(format!("asked for headers of 80 bytes, got {} bytes", bytes.len())));
    }
    bytes
        .chunks_exact(Header::SIZE)
        .map(|chunk| deserialize(chunk).map_err(|error| NodeError::Invalid(format!("an undecodable header: {error}"))))
        .collect()
}

/// The `spenttxouts` form: a compact size of transactions, and for each a compact size of outputs followed by them.
/// The coinbase has none. Memory is bounded by the bytes given.
///
/// # Errors
/// [`NodeError::Invalid`] for bytes of another form, too few or too many.
pub fn decode_spent_outputs(bytes: &[u8]) -> Result<Vec<Vec<TxOut>>, NodeError> {
    /// An empty script: 8 bytes of value and a length of one byte.
    const TXOUT_BYTES_MIN: usize = 9;
    let broken =
        |error: bitcoin::consensus::encode::Error| NodeError::Invalid(format!("undecodable spent outputs: {error}"));
    let mut rest = bytes;
    let transactions = VarInt::consensus_decode(&mut rest).map_err(broken)?.0;
    if transactions > rest.len() as u64 {
        return Err(NodeError::Invalid(format!(
            "spent outputs of {transactions} transactions in {} bytes",
            bytes.len()
        )));
    }
    let mut spent = Vec::with_capacity(transactions as usize);
    for _ in 0..transactions {
        let outputs = VarInt::consensus_decode(&mut rest).map_err(broken)?.0;
        if outputs > (rest.len() / TXOUT_BYTES_MIN) as u64 {
            return Err(NodeError::Invalid(format!("{outputs} spent outputs in {} bytes", rest.len())));
        }
        let mut list = Vec::with_capacity(outputs as usize);
        for _ in 0..outputs {
            list.push(TxOut::consensus_decode(&mut rest).map_err(broken)?);
        }
        spent.push(list);
    }
    if !rest.is_empty() {
        return Err(NodeError::Invalid(format!("{} bytes after the last spent output", rest.len())));
    }
    Ok(spent)
}

#[cfg(test)]
mod tests {
    use bitcoin::{Amount, ScriptBuf};
    use proptest::prelude::*;

    use super::*;

    fn encode(spent: &[Vec<TxOut>]) -> Vec<u8> {
        use bitcoin::consensus::Encodable;
        let mut bytes = Vec::new();
        VarInt(spent.len() as u64).consensus_encode(&mut bytes).unwrap();
        for list in spent {
            VarInt(list.len() as u64).consensus_encode(&mut bytes).unwrap();
            for output in list {
                output.consensus_encode(&mut bytes).unwrap();
            }
        }
        bytes
    }

    #[test]
    fn spent_outputs_have_the_layout_of_the_node() {
        let output = TxOut { value: Amount::from_sat(5_000_000_000), script_pubkey: ScriptBuf::from(vec![0x51]) };
        let bytes = [2, 0, 1, 0x00, 0xf2, 0x05, 0x2a, 0x01, 0, 0, 0, 1, 0x51];
        assert_eq!(decode_spent_outputs(&bytes).unwrap(), vec![vec![], vec![output]]);
    }

    #[test]
    fn a_count_larger_than_the_answer_is_refused_before_anything_is_reserved() {
        for bytes in
            [&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff][..], &[1, 0xfe, 0xff, 0xff, 0xff, 0xff], &[]]
        {
            assert!(decode_spent_outputs(bytes).is_err());
        }
        assert!(decode_spent_outputs(&[1, 0, 0]).is_err(), "bytes after the end");
    }

    #[test]
    fn headers_come_in_whole_pieces() {
        assert_eq!(decode_headers(&[]).unwrap(), vec![]);
        assert!(decode_headers(&[0; 79]).is_err());
        assert!(decode_headers(&vec![0; 80 * 2001]).is_err());
        assert_eq!(decode_headers(&[0; 160]).unwrap().len(), 2);
    }

    proptest! {
        #[test]
        fn spent_outputs_round_trip_and_arbitrary_bytes_never_panic(
            spent in prop::collection::vec(prop::collection::vec((0u64..21_000_000, prop::collection::vec(any::<u8>(), 0..40)), 0..5), 0..6),
            noise in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            let spent: Vec<Vec<TxOut>> = spent.into_iter().map(|list| list.into_iter().map(|(value, script)|
                TxOut { value: Amount::from_sat(value), script_pubkey: ScriptBuf::from(script) }).collect()).collect();
            prop_assert_eq!(decode_spent_outputs(&encode(&spent)).unwrap(), spent);
            let _ = decode_spent_outputs(&noise);
            let _ = decode_headers(&noise);
        }
    }
}
