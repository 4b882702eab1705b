//! The views of the pool index: protobuf in, protobuf out (docs/api.md, "Pool index").
//!
//! Invariants: bytes that are no request count as a request without any field, whole and never in part; what does not exist is
//! reported by `found` or `ok`, never by an error; an answer in which everything has its default is empty.

mod answers;
mod code;
mod render;

use paraffin_alkanes::views::ViewError;
use paraffin_primitives::AlkaneId;
use prost::Message;

use crate::{PoolIndex, PoolRules};

/// Names of all views.
pub const NAMES: [&str; 14] = [
    "getblocksummary",
    "getbytecode",
    "getcandleat",
    "getcandles",
    "getpool",
    "getpools",
    "getpoolstate",
    "getprice",
    "getrawvalue",
    "getreserves",
    "getswaps",
    "indexheight",
    "ping",
    "quote",
];

/// Most pools, swaps or candles on a page, and as many as there are on one when no limit is given.
pub const PAGE_ITEMS_MAX: u32 = 20_000;

/// The value of a `price_q` of one.
pub const PRICE_Q_SCALE: &str = "1000000000000000000";

/// Contract data that the pool index itself does not store.
pub trait PoolContracts {
    /// The WASM module of a contract; empty when there is none.
    ///
    /// # Errors
    /// Reading failed.
    fn code(&self, id: AlkaneId) -> Result<Vec<u8>, ViewError>;

    /// The value that a contract has stored under a name; `None` without one.
    ///
    /// # Errors
    /// Reading failed.
    fn storage(&self, id: AlkaneId, name: &[u8]) -> Result<Option<Vec<u8>>, ViewError>;
}

/// The data that views are answered from, all of one snapshot.
#[derive(Clone, Copy)]
pub struct PoolViews<'a> {
    /// The index as of the requested height.
    pub index: &'a PoolIndex,
    /// Canonical pools, slot names and opcodes.
    pub rules: &'a PoolRules,
    /// The contracts at the same height.
    pub contracts: &'a dyn PoolContracts,
    /// Whether the caller has waited long enough.
    pub is_over: &'a dyn Fn() -> bool,
}

impl PoolViews<'_> {
    /// Ends a view that has taken too long.
    fn check(&self) -> Result<(), ViewError> {
        if (self.is_over)() { Err(ViewError::TooLong) } else { Ok(()) }
    }
}

/// Whether there is a view of this name.
pub fn is_known(name: &str) -> bool {
    NAMES.contains(&name)
}

/// Answers a view.
///
/// # Errors
/// [`ViewError::Unknown`] for another name, [`ViewError::TooLong`], or reading failed. No request is an error.
pub fn call(name: &str, payload: &[u8], views: &PoolViews<'_>) -> Result<Vec<u8>, ViewError> {
    views.check()?;
    let answer = match name {
        "ping" => answers::ping().encode_to_vec(),
        "indexheight" => answers::index_height(views).encode_to_vec(),
        "getblocksummary" => answers::block_summary(request(payload), views)?.encode_to_vec(),
        "getrawvalue" => answers::raw_value(&request(payload), views)?.encode_to_vec(),
        "getpools" => answers::pools(request(payload), views)?.encode_to_vec(),
        "getpool" => answers::pool(request(payload), views)?.encode_to_vec(),
        "getpoolstate" => answers::pool_state(request(payload), views)?.encode_to_vec(),
        "getreserves" => answers::reserves(request(payload), views)?.encode_to_vec(),
        "getswaps" => answers::swaps(request(payload), views)?.encode_to_vec(),
        "getprice" => answers::price(request(payload), views)?.encode_to_vec(),
        "getcandles" => answers::candles(request(payload), views)?.encode_to_vec(),
        "getcandleat" => answers::candle_at(request(payload), views)?.encode_to_vec(),
        "getbytecode" => match code::wanted(payload) {
            Some(id) => views.contracts.code(id)?,
            None => Vec::new(),
        },
        "quote" => answers::quote(&request(payload), views)?.encode_to_vec(),
        _ => return Err(ViewError::Unknown),
    };
    Ok(answer)
}

/// The decoded request, or the one without any field when the bytes are no request.
fn request<T: Message + Default>(payload: &[u8]) -> T {
    T::decode(payload).unwrap_or_default()
}
