//! REST routes about markets (docs/api.md, "Markets").

mod cryptoswap;
mod events;
mod fields;
mod flat;
mod get;
mod histories;
mod pairs;
mod paths;
mod pool_record;
mod pools;
mod positions;
mod problem;
mod record;

pub(super) use flat::{candles, pathfind, reserves, trades};
pub(super) use get::{all as get_pools, history as get_pool_history, one as get_pool, swaps as get_pool_swaps};
pub(super) use histories::{
    activity, address_burns, address_creations, address_mints, address_swaps_on_pool, address_swaps_with_token,
    address_unwraps, address_wraps, creations, everything, everything_of_address, pool_burns, pool_mints, pool_swaps,
    token_swaps, total_unwrapped, unwraps, wraps,
};
pub(super) use pairs::{all_pairs, swap_pairs, token_pairs};
pub(super) use pools::{pool_details, pools, pools_details, search};
pub(super) use positions::{positions, utxos};
