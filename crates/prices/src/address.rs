//! Addresses of contracts on an EVM chain.

use std::fmt;
use std::str::FromStr;

use data_encoding::HEXLOWER;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An address of 20 bytes; text is `0x` and 40 hex digits of either case.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct EvmAddress(pub [u8; 20]);

/// The text is no address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an EVM address is 0x and 40 hex digits")]
pub struct ParseEvmAddressError;

impl FromStr for EvmAddress {
    type Err = ParseEvmAddressError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bytes = crate::abi::data(text).map_err(|_| ParseEvmAddressError)?;
        bytes.try_into().map(Self).map_err(|_| ParseEvmAddressError)
    }
}

impl fmt::Display for EvmAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("0x")?;
        HEXLOWER.encode_display(&self.0).fmt(formatter)
    }
}

impl fmt::Debug for EvmAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl Serialize for EvmAddress {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for EvmAddress {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_forty_hex_digits_of_either_case() {
        let text = "0x99ac8cA7087fA4A2A1FB6357269965A2014ABc35";
        let address: EvmAddress = text.parse().unwrap();
        assert_eq!(address.to_string(), text.to_lowercase());
        for bad in
            ["", "0x", &text[2..], &text[..41], &format!("{text}0"), "0xzzac8cA7087fA4A2A1FB6357269965A2014ABc35"]
        {
            assert_eq!(bad.parse::<EvmAddress>(), Err(ParseEvmAddressError), "{bad}");
        }
        assert!("0x99ac8cA7087fA4A2A1FB6357269965A2014ABcéé".parse::<EvmAddress>().is_err());
    }
}
