//! REST routes about alkanes (docs/api.md, "REST").

pub(super) mod fields;
mod get;
mod holders;
mod intents;
mod keys;
mod listing;
mod owned;

pub(super) use get::{
    address_alkanes, address_balances as get_address_balances, alkane, alkane_holders, alkane_holders_count, alkanes,
    outpoint_balances as get_outpoint_balances,
};
pub(super) use holders::{
    alkane_holders as post_alkane_holders, alkane_holders_count as post_alkane_holders_count, holder_count, holders,
};
pub(super) use intents::history as intent_history;
pub(super) use keys::keys;
pub(super) use listing::{alkanes as get_alkanes, details, search};
pub(super) use owned::{
    address_balances, address_outpoints, alkanes_by_address, alkanes_in, alkanes_map, alkanes_utxo, outpoint_balances,
    outputs, placed, spent_by_pending, sums,
};
