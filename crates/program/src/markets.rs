//! What this instance knows of markets beforehand: the factory, and the contract that wraps bitcoin.

use paraffin_amm::{AmmModule, Parameters};
use paraffin_gateway::MarketsParts;
use paraffin_primitives::AlkaneId;
use serde::{Deserialize, Serialize};

/// Wrapped bitcoin on every network (protocol B18).
pub(crate) const WRAPPED_BITCOIN: AlkaneId = AlkaneId { block: 32, tx: 0 };
/// The factory of mainnet, signet and the development network.
const FACTORY: AlkaneId = AlkaneId { block: 4, tx: 65_522 };

/// `[markets]`: pools and prices. They are indexed wherever contracts are.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct MarketsSection {
    /// The factory that is meant where a request names none, `block:tx`. Its pools alone make prices.
    #[serde(with = "as_text")]
    pub factory: AlkaneId,
    /// Whether pool records and histories of one kind carry every member a second time in snake case, for clients that read
    /// those.
    pub snake_case_twins: bool,
}

impl Default for MarketsSection {
    fn default() -> Self {
        Self { factory: FACTORY, snake_case_twins: true }
    }
}

impl MarketsSection {
    /// What is passed to the gateway, with the pools of `[pools] canonical`.
    pub(crate) fn parts(&self, cryptoswap_pools: Vec<AlkaneId>) -> MarketsParts {
        MarketsParts {
            wrapped_bitcoin: WRAPPED_BITCOIN,
            factory: self.factory,
            snake_case_twins: self.snake_case_twins,
            cryptoswap_pools,
        }
    }
}

/// The indexer module.
pub(crate) fn module() -> AmmModule {
    AmmModule::new(Parameters { wrapped_bitcoin: WRAPPED_BITCOIN })
}

/// An id as `block:tx`.
mod as_text {
    use paraffin_primitives::AlkaneId;
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(id: &AlkaneId, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(id)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<AlkaneId, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|_| de::Error::custom(format!("`{text}` is no id of the form block:tx")))
    }
}
