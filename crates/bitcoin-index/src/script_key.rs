use std::fmt;

use bitcoin::hex::{DisplayHex, FromHex};
use bitcoin::{Address, Script};
use sha2::{Digest, Sha256};

use crate::error::ReadError;
use crate::rows::{PackedScript, pack_script};

/// A script as a reader names it: by itself, or by its SHA-256 alone (Esplora's `scripthash`, not byte-reversed).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptKey {
    digest: [u8; 32],
    packed: Option<Vec<u8>>,
}

/// SHA-256 of a script's bytes.
pub(crate) fn script_digest(script: &Script) -> [u8; 32] {
    Sha256::digest(script.as_bytes()).into()
}

impl ScriptKey {
    /// A key with the whole script.
    pub fn from_script(script: &Script) -> Self {
        let mut packed = Vec::with_capacity(34);
        pack_script(&mut packed, script);
        Self { digest: script_digest(script), packed: Some(packed) }
    }

    /// Script that an address stands for.
    pub fn from_address(address: &Address) -> Self {
        Self::from_script(&address.script_pubkey())
    }

    /// Parses the 64 hexadecimal digits of Esplora's `/scripthash/` routes.
    ///
    /// # Errors
    /// [`ReadError::ScriptHash`] for any other text.
    pub fn from_script_hash(text: &str) -> Result<Self, ReadError> {
        let digest = <[u8; 32]>::from_hex(text).map_err(|_| ReadError::ScriptHash)?;
        Ok(Self { digest, packed: None })
    }

    /// A key with the SHA-256 of the script alone.
    pub const fn from_digest(digest: [u8; 32]) -> Self {
        Self { digest, packed: None }
    }

    /// SHA-256 of the script.
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// The packed script; `None` when only its hash is given.
    pub(crate) fn packed(&self) -> Option<&[u8]> {
        self.packed.as_deref()
    }

    /// Whether an output with this script is one of ours. Decisive, because rows are read by a prefix of the digest, which
    /// two scripts may share; an unspendable script has no part in anything, even if one of ours shares its prefix.
    pub(crate) fn matches(&self, script: &PackedScript<'_>) -> bool {
        let is_equal = match &self.packed {
            Some(packed) => packed == script.packed(),
            None => script_digest(&script.to_script()) == self.digest,
        };
        is_equal && !script.is_unspendable()
    }
}

impl fmt::Display for ScriptKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.digest.as_hex().fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_hash_is_the_plain_sha_256_in_byte_order() {
        let key = ScriptKey::from_script(Script::from_bytes(b"abc"));
        let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(key.to_string(), text);
        assert_eq!(ScriptKey::from_script_hash(text).unwrap().digest(), key.digest());
        for text in ["", "ba78", &text[1..], &format!("{text}00"), &text.replace('b', "g")] {
            assert!(matches!(ScriptKey::from_script_hash(text), Err(ReadError::ScriptHash)), "{text}");
        }
    }
}
