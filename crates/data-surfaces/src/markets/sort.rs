//! The order of listings of pools, as requests name it.

use paraffin_amm::PoolOrder;
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

impl From<SortBy> for PoolOrder {
    fn from(sort_by: SortBy) -> Self {
        match sort_by {
            SortBy::Height | SortBy::Age => Self::Age,
            SortBy::Name => Self::Name,
            SortBy::Tvl => Self::Tvl,
            SortBy::Volume | SortBy::Volume1d => Self::VolumeDay,
            SortBy::Volume7d => Self::VolumeWeek,
            SortBy::Volume30d => Self::VolumeMonth,
            SortBy::VolumeAllTime => Self::VolumeAll,
            SortBy::Apr => Self::Apr,
            SortBy::TvlChange => Self::TvlChange,
        }
    }
}
