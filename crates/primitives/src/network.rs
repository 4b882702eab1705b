use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The chain that one running instance serves: one process, one network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// Bitcoin mainnet.
    Mainnet,
    /// The default signet.
    Signet,
    /// A private regression-test chain.
    Regtest,
}

/// The text is not one of `mainnet`, `signet`, `regtest`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown network `{0}`: use mainnet, signet or regtest")]
pub struct ParseNetworkError(String);

impl Network {
    /// All networks, in the order of the specification.
    pub const ALL: [Self; 3] = [Self::Mainnet, Self::Signet, Self::Regtest];

    /// The lower-case name used in configuration, files and answers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mainnet => "mainnet",
            Self::Signet => "signet",
            Self::Regtest => "regtest",
        }
    }

    /// The `chain` member of Bitcoin Core's `getblockchaininfo`.
    pub const fn core_name(self) -> &'static str {
        match self {
            Self::Mainnet => "main",
            Self::Signet => "signet",
            Self::Regtest => "regtest",
        }
    }

    /// The same network in the vocabulary of the `bitcoin` crate.
    pub const fn bitcoin(self) -> bitcoin::Network {
        match self {
            Self::Mainnet => bitcoin::Network::Bitcoin,
            Self::Signet => bitcoin::Network::Signet,
            Self::Regtest => bitcoin::Network::Regtest,
        }
    }

    /// Parses `text` as an address of this network.
    ///
    /// # Errors
    /// A sentence for the caller: the text is no address, its checksum fails, or it belongs to another network.
    pub fn parse_address(self, text: &str) -> Result<bitcoin::Address, String> {
        if text.len() > 128 {
            return Err("invalid address: too long".to_owned());
        }
        let unchecked = bitcoin::Address::from_str(text).map_err(|_| {
            // The library states why the text is no legacy address, whatever it looks like.
            let beginning = text.get(..text.len().min(5)).unwrap_or_default().to_ascii_lowercase();
            let is_segwit = ["bc1", "tb1", "bcrt1"].into_iter().any(|known| beginning.starts_with(known));
            let reason = if is_segwit { "its characters, length or checksum are wrong" } else { "it is none" };
            format!("invalid address: {reason}")
        })?;
        unchecked
            .require_network(self.bitcoin())
            .map_err(|_| format!("invalid address: it is not a {} address", self.name()))
    }
}

impl fmt::Display for Network {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Network {
    type Err = ParseNetworkError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|network| network.name() == text)
            .ok_or_else(|| ParseNetworkError(text.chars().take(32).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_unknown_names_are_refused() {
        for network in Network::ALL {
            assert_eq!(network.name().parse(), Ok(network));
        }
        assert!("main".parse::<Network>().is_err());
        assert!("".parse::<Network>().is_err());
    }

    #[test]
    fn an_address_of_another_network_is_refused_and_the_message_says_which_was_wanted() {
        let mainnet = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4";
        let test = "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx";
        let regtest = "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080";
        for (network, own) in [(Network::Mainnet, mainnet), (Network::Signet, test), (Network::Regtest, regtest)] {
            for address in [mainnet, test, regtest] {
                assert_eq!(network.parse_address(address).is_ok(), address == own, "{network} {address}");
            }
        }
        let message = Network::Regtest.parse_address(mainnet).unwrap_err();
        assert!(message.contains("regtest"), "{message}");
        assert!(Network::Mainnet.parse_address("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5").is_err());
        assert!(Network::Mainnet.parse_address(&"b".repeat(10_000)).is_err());
    }
}
