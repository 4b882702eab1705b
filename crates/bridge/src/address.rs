//! Mainnet addresses to scripts.

use std::str::FromStr;

use alloy_primitives::hex;
use bitcoin::address::NetworkUnchecked;
use bitcoin::{Address, Network};

/// No address is longer: 90 characters is the limit of bech32.
const TEXT_CHARACTERS_MAX: usize = 90;

/// Why a text is no mainnet address or script.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// Not an address at all, or with a wrong checksum.
    #[error("{0} is not a Bitcoin address: check it character by character")]
    NotAnAddress(String),
    /// An address of a test network.
    #[error("{0} belongs to a test network: on mainnet its script would be paid into a hole")]
    OtherNetwork(String),
    /// Neither an address nor hexadecimal digits.
    #[error("{0} is neither a Bitcoin address nor a script in hexadecimal digits")]
    NeitherAddressNorHex(String),
}

/// The script that a mainnet address stands for (`1…`, `3…`, `bc1…`).
///
/// # Errors
/// [`AddressError::NotAnAddress`], or [`AddressError::OtherNetwork`] for testnet, signet and regtest.
pub fn script_of_address(text: &str) -> Result<Vec<u8>, AddressError> {
    if text.chars().count() > TEXT_CHARACTERS_MAX {
        return Err(AddressError::NotAnAddress(shortened(text)));
    }
    let address =
        Address::<NetworkUnchecked>::from_str(text).map_err(|_| AddressError::NotAnAddress(shortened(text)))?;
    let address = address.require_network(Network::Bitcoin).map_err(|_| AddressError::OtherNetwork(shortened(text)))?;
    Ok(address.script_pubkey().into_bytes())
}

/// The script that a text stands for: a mainnet address, or the script itself in hexadecimal digits with or without `0x`.
///
/// The script is not validated; see [`crate::check_script`].
///
/// # Errors
/// [`AddressError`].
pub fn script_of_text(text: &str) -> Result<Vec<u8>, AddressError> {
    match script_of_address(text) {
        Err(AddressError::NotAnAddress(shown)) => {
            hex::decode(text).map_err(|_| AddressError::NeitherAddressNorHex(shown))
        }
        answer => answer,
    }
}

/// An untrusted text, quoted and shortened for an error.
fn shortened(text: &str) -> String {
    if text.chars().count() <= TEXT_CHARACTERS_MAX {
        format!("{text:?}")
    } else {
        format!("{:?}…", text.chars().take(TEXT_CHARACTERS_MAX).collect::<String>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// row BR07
    #[test]
    fn a_mainnet_address_becomes_its_script() {
        for (address, script) in [
            ("bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", "0014751e76e8199196d454941c45d1b3a323f1433bd6"),
            ("BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4", "0014751e76e8199196d454941c45d1b3a323f1433bd6"),
            ("1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH", "76a914751e76e8199196d454941c45d1b3a323f1433bd688ac"),
            ("3JvL6Ymt8MVWiCNHC7oWU6nLeHNJKLZGLN", "a914bcfeb728b584253d5f3f70bcb780e9ef218a68f487"),
            (
                "bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0",
                "512079be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
            ),
        ] {
            assert_eq!(script_of_address(address).map(hex::encode), Ok(script.to_owned()), "{address}");
            assert_eq!(script_of_text(address).map(hex::encode), Ok(script.to_owned()), "{address}");
        }
    }

    /// row BR07
    #[test]
    fn an_address_of_a_test_network_is_refused() {
        for address in [
            "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx",
            "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080",
            "mrCDrCybB6J1vRfbwM5hemdJz73FwDBC8r",
            "2NByiBUaEXrhmqAsg7BbLpcQSAQs1EDwt5w",
        ] {
            assert!(matches!(script_of_address(address), Err(AddressError::OtherNetwork(_))), "{address}");
            assert!(matches!(script_of_text(address), Err(AddressError::OtherNetwork(_))), "{address}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused_as_such() {
        for text in
            ["", " bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5", "x"]
        {
            assert!(matches!(script_of_address(text), Err(AddressError::NotAnAddress(_))), "{text}");
        }
        let long = script_of_address(&"é".repeat(100_000)).unwrap_err();
        assert!(long.to_string().len() < 500);
    }

    #[test]
    fn a_script_may_be_given_in_hexadecimal_digits() {
        assert_eq!(script_of_text("0x6a00"), Ok(vec![0x6a, 0x00]));
        assert_eq!(script_of_text("6A00"), Ok(vec![0x6a, 0x00]));
        assert!(matches!(script_of_text("6a0"), Err(AddressError::NeitherAddressNorHex(_))));
        assert!(matches!(script_of_text("bc1qqqq"), Err(AddressError::NeitherAddressNorHex(_))));
    }
}
