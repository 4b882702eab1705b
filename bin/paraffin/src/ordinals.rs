//! Whether this instance indexes inscriptions, runes and BRC-20.

use paraffin_bitcoin_index::MissingPrevouts;
use paraffin_ordinals_index::brc20::Brc20Module;
use paraffin_ordinals_index::{OrdinalsModule, OrdinalsOptions};
use paraffin_primitives::Network;
use serde::{Deserialize, Serialize};

/// `[ordinals]`: inscriptions, sats, runes and BRC-20.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct OrdinalsSection {
    /// Whether they are indexed. Switched on later, the index catches up before it goes on.
    pub enabled: bool,
    /// Whether the sats of every unspent output are followed, from the first block on. Fixed when the index is made.
    pub sats: bool,
}

impl Default for OrdinalsSection {
    fn default() -> Self {
        Self { enabled: true, sats: false }
    }
}

impl OrdinalsSection {
    /// The indexer module.
    pub(crate) fn module(&self, network: Network) -> OrdinalsModule {
        let options = OrdinalsOptions { sats: self.sats, missing_prevouts: MissingPrevouts::Refuse };
        OrdinalsModule::new(network, options).with_consumer(Box::new(Brc20Module::new(network)))
    }
}
