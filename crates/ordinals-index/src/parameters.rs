//! What differs between networks. Heights are those of `ord` 0.29.

use bitcoin::OutPoint;
use paraffin_primitives::{Height, Network};

/// First heights on a network, each inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameters {
    /// The network.
    pub network: Network,
    /// First height at which envelopes count.
    pub first_inscription_height: Height,
    /// From here on curses are forgiven: an inscription that would be cursed is vindicated.
    pub jubilee_height: Height,
    /// First height at which runestones count.
    pub first_rune_height: Height,
    /// So many inscriptions are numbered in all; an envelope that comes later is none. Numbers of 31 bits end there, and the
    /// reference indexer with them.
    pub inscriptions_max: u32,
}

impl Parameters {
    /// The parameters of a network.
    pub fn of(network: Network) -> Self {
        let (first_inscription_height, jubilee_height) = match network {
            Network::Mainnet => (767_430, 824_544),
            Network::Signet => (112_402, 175_392),
            Network::Regtest => (0, 110),
        };
        let first_rune_height = ordinals::Rune::first_rune_height(network.bitcoin());
        let inscriptions_max = i32::MAX.unsigned_abs();
        Self { network, first_inscription_height, jubilee_height, first_rune_height, inscriptions_max }
    }
}

/// Outpoint of inscriptions that are bound to no sat: an output that cannot exist.
pub fn unbound_outpoint() -> OutPoint {
    OutPoint { txid: OutPoint::null().txid, vout: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runes_begin_at_the_halving_of_mainnet() {
        assert_eq!(Parameters::of(Network::Mainnet).first_rune_height, 840_000);
        assert_eq!(Parameters::of(Network::Signet).first_rune_height, 0);
        assert_eq!(Parameters::of(Network::Regtest).first_rune_height, 0);
    }
}
