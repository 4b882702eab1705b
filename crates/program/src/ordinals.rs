//! Whether this instance indexes inscriptions, runes and BRC-20.

use paraffin_bitcoin_index::MissingPrevouts;
use paraffin_gateway::Families;
use paraffin_ordinals_index::brc20::Brc20Module;
use paraffin_ordinals_index::{OPI_SERVER, ORD_SERVER, OrdinalsModule, OrdinalsOptions, Parameters};
use paraffin_primitives::Network;
use serde::{Deserialize, Serialize};

use crate::disk_need::OrdinalsNeed;

/// `[ordinals]`: inscriptions, sats, runes and BRC-20.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct OrdinalsSection {
    /// Whether they are indexed. Switched on later, the index catches up before it goes on.
    pub enabled: bool,
    /// Whether the sats of every unspent output are followed, from the first block on. Fixed when the index is made.
    pub sats: bool,
    /// A server of `ord` that answers `ord_*` instead of the index.
    pub ord_url: Option<String>,
    /// A server of OPI that answers `/v4/opi` instead of the index.
    pub opi_url: Option<String>,
}

/// Shows everything but the addresses, which may hold a key.
impl std::fmt::Debug for OrdinalsSection {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("OrdinalsSection")
            .field("enabled", &self.enabled)
            .field("sats", &self.sats)
            .field("ord_url", &self.ord_url.is_some())
            .field("opi_url", &self.opi_url.is_some())
            .finish()
    }
}

impl Default for OrdinalsSection {
    fn default() -> Self {
        Self { enabled: true, sats: false, ord_url: None, opi_url: None }
    }
}

impl OrdinalsSection {
    /// The servers that answer instead of the index.
    ///
    /// # Errors
    /// What is wrong with an address, without the address.
    pub(crate) fn families(&self) -> Result<Families, String> {
        let address = |name: &str, url: &Option<String>| {
            let Some(url) = url else { return Ok(None) };
            match paraffin_web::checked(url) {
                Ok(uri) if uri.query().is_none() => Ok(Some(uri)),
                Ok(_) => Err(format!("[ordinals] {name} must not hold a query")),
                Err(reason) => Err(format!("[ordinals] {name} {reason}")),
            }
        };
        let ord = address("ord_url", &self.ord_url)?.map(|uri| (ORD_SERVER, uri));
        let opi = address("opi_url", &self.opi_url)?.map(|uri| (OPI_SERVER, uri));
        Ok(ord.into_iter().chain(opi).collect())
    }

    /// Contents of the index that determine its size on disk.
    pub(crate) fn disk(&self, network: Network) -> Option<OrdinalsNeed> {
        let first_height = Parameters::of(network).first_inscription_height;
        self.enabled.then_some(OrdinalsNeed { first_height, sats: self.sats })
    }

    /// The indexer module.
    pub(crate) fn module(&self, network: Network) -> OrdinalsModule {
        let options = OrdinalsOptions { sats: self.sats, missing_prevouts: MissingPrevouts::Refuse };
        OrdinalsModule::new(network, options).with_consumer(Box::new(Brc20Module::new(network)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_other_servers_are_checked_and_never_shown() {
        let with = |url: &str| OrdinalsSection { ord_url: Some(url.to_owned()), ..OrdinalsSection::default() };
        for good in ["http://127.0.0.1:80", "https://ord.example/", "http://10.0.0.1:8787/v4/0123456789abcdef/opi"] {
            assert!(with(good).families().unwrap().iter().any(|(name, _)| *name == ORD_SERVER), "{good}");
        }
        for bad in ["", "ord.example", "ftp://ord.example", "http://user:pass@host", "http://host/?key=secret"] {
            let refused = with(bad).families().err().unwrap();
            assert!(refused.starts_with("[ordinals] ord_url ") && !refused.contains("secret"), "{refused}");
        }
        let shown = format!("{:?}", with("http://host/0123456789abcdef"));
        assert!(shown.contains("ord_url: true") && !shown.contains("0123456789abcdef"), "{shown}");
        assert!(OrdinalsSection::default().families().unwrap().is_empty());
    }
}
