//! The order of listings of pools.

use std::cmp::Ordering;

use paraffin_amm::BookPool;
use schemars::JsonSchema;
use serde::Deserialize;

/// By what pools are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub(super) enum SortBy {
    Height,
    Age,
    Name,
    Tvl,
    Volume,
    Volume1d,
    Volume7d,
    Volume30d,
    VolumeAllTime,
    Apr,
    TvlChange,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(super) enum Order {
    Asc,
    Desc,
}

impl SortBy {
    /// The lesser first; what is unknown last in either direction.
    pub(super) fn compare(self, one: &BookPool, other: &BookPool, ascending: bool) -> Ordering {
        let sats = |value: fn(&BookPool) -> Option<u128>| known(value(one), value(other), Ord::cmp, ascending);
        let part = |value: fn(&BookPool) -> Option<f64>| known(value(one), value(other), f64::total_cmp, ascending);
        match self {
            // As the factory lists them.
            Self::Height | Self::Age => {
                let order = one.record.created.cmp(&other.record.created);
                if ascending { order } else { order.reverse() }
            }
            Self::Name => {
                let order = one.state.name.to_lowercase().cmp(&other.state.name.to_lowercase());
                if ascending { order } else { order.reverse() }
            }
            Self::Tvl => sats(|pool| pool.worth.tvl),
            Self::Volume | Self::Volume1d => sats(|pool| pool.worth.volume_day),
            Self::Volume7d => sats(|pool| pool.worth.volume_week),
            Self::Volume30d => sats(|pool| pool.worth.volume_month),
            Self::VolumeAllTime => sats(|pool| pool.worth.volume_all),
            Self::Apr => part(|pool| pool.worth.apr),
            Self::TvlChange => part(|pool| pool.worth.tvl_change_day),
        }
    }
}

fn known<T>(one: Option<T>, other: Option<T>, compare: fn(&T, &T) -> Ordering, ascending: bool) -> Ordering {
    match (one, other) {
        (Some(one), Some(other)) if ascending => compare(&one, &other),
        (Some(one), Some(other)) => compare(&other, &one),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    }
}
