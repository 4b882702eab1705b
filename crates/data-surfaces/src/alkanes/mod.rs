//! REST routes about alkanes (docs/api.md, "REST").

pub(crate) mod fields;
mod holders;
mod intents;
mod keys;
mod listing;
mod owned;

use crate::search::Search;
use paraffin_gateway::alkanes;
use paraffin_gateway::rest::{Base, Declared, Group};

pub(crate) use listing::ranked;
pub(crate) use owned::{alkanes_in, alkanes_map, outputs, placed, spent_by_pending, sums};

pub(crate) static GROUP: Group = Group {
    tag: "Alkanes",
    base: Base::Api,
    admit: |context| Ok(alkanes::of(context).map(drop)?),
    routes: &[
        Declared::of::<listing::Listing>(),
        Declared::of::<listing::Details>(),
        Declared::of::<Search>(),
        Declared::of::<owned::Tokens>(),
        Declared::of::<owned::Utxos>(),
        Declared::of::<owned::Outpoints>(),
        Declared::of::<owned::FlatBalances>(),
        Declared::of::<owned::FlatOutpoint>(),
        Declared::of::<holders::FlatHolders>(),
        Declared::of::<holders::FlatHolderCount>(),
        Declared::of::<holders::Holders>(),
        Declared::of::<holders::HolderCount>(),
        Declared::of::<keys::Keys>(),
        Declared::of::<intents::IntentHistory>(),
        Declared::of::<listing::Newest>(),
        Declared::of::<holders::FirstHolders>(),
        Declared::of::<owned::Balances>(),
        Declared::of::<owned::TokensByPath>(),
        Declared::of::<owned::Outpoint>(),
    ],
};
