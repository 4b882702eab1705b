use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq as _;

use crate::AccessError;

/// Number of random bytes in a key; its text has twice as many hex digits.
const KEY_BYTES: usize = 16;

/// An API key: 16 random bytes, written as 32 hex digits (docs/access.md).
///
/// Upper-case digits are accepted and mean the same key. Neither `Debug` nor `Display` shows more than the first four
/// digits; [`ApiKey::reveal`] is for the one moment at which a new key is handed to its owner.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey([u8; KEY_BYTES]);

/// SHA-256 of a key's 32 lower-case hex digits: all that is ever stored of it.
///
/// Two of them are compared in a time that does not depend on where they differ.
#[derive(Debug, Clone, Copy)]
pub struct KeyDigest(pub [u8; 32]);

impl KeyDigest {
    /// The first bytes, by which a digest is looked up before it is compared as a whole. They reveal nothing about the key.
    pub(crate) fn tag(&self) -> [u8; 8] {
        let mut tag = [0; 8];
        tag.copy_from_slice(&self.0[..8]);
        tag
    }
}

impl PartialEq for KeyDigest {
    fn eq(&self, other: &Self) -> bool {
        bool::from(self.0.ct_eq(&other.0))
    }
}

impl Eq for KeyDigest {}

impl Hash for KeyDigest {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.tag().hash(state);
    }
}

/// The text is not 32 hex digits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("an API key has 32 hex digits")]
pub struct ParseApiKeyError;

impl ApiKey {
    /// A new key from the operating system's randomness.
    ///
    /// # Errors
    /// [`AccessError::NoRandomness`] when the operating system has none.
    pub fn generate() -> Result<Self, AccessError> {
        let mut bytes = [0; KEY_BYTES];
        getrandom::fill(&mut bytes).map_err(|error| AccessError::NoRandomness(error.to_string()))?;
        Ok(Self(bytes))
    }

    /// The 32 lower-case hex digits.
    pub fn reveal(&self) -> String {
        self.digits().iter().copied().map(char::from).collect()
    }

    /// The first four digits, by which lists and logs name a key.
    pub fn prefix(&self) -> String {
        self.digits()[..4].iter().copied().map(char::from).collect()
    }

    /// The digest under which the store has the key.
    pub fn digest(&self) -> KeyDigest {
        KeyDigest(Sha256::digest(self.digits()).into())
    }

    fn digits(&self) -> [u8; 2 * KEY_BYTES] {
        let mut digits = [0; 2 * KEY_BYTES];
        HEXLOWER.encode_mut(&self.0, &mut digits);
        digits
    }
}

impl FromStr for ApiKey {
    type Err = ParseApiKeyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.as_bytes();
        if digits.len() != 2 * KEY_BYTES {
            return Err(ParseApiKeyError);
        }
        let mut bytes = [0; KEY_BYTES];
        HEXLOWER_PERMISSIVE.decode_mut(digits, &mut bytes).map_err(|_| ParseApiKeyError)?;
        Ok(Self(bytes))
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ApiKey({}…)", self.prefix())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// row AU01
    #[test]
    fn a_generated_key_is_32_lower_case_hex_digits_and_no_two_are_equal() {
        let first = ApiKey::generate().unwrap();
        let second = ApiKey::generate().unwrap();
        assert_ne!(first, second);
        let text = first.reveal();
        assert_eq!(text.len(), 32);
        assert!(text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)), "{text}");
    }

    #[test]
    fn thirty_one_and_thirty_three_digits_and_other_characters_are_no_key() {
        let key = "0123456789abcdef0123456789abcdef";
        assert!(key.parse::<ApiKey>().is_ok());
        for text in [
            "",
            &key[1..],
            &format!("{key}0"),
            "0123456789abcdef0123456789abcdeg",
            "0123456789abcdef0123456789abcd\u{e9}",
            &" ".repeat(32),
        ] {
            assert_eq!(text.parse::<ApiKey>(), Err(ParseApiKeyError), "{text}");
        }
    }

    #[test]
    fn debug_shows_four_digits_only() {
        let key: ApiKey = "0123456789abcdef0123456789abcdef".parse().unwrap();
        assert_eq!(format!("{key:?}"), "ApiKey(0123…)");
    }

    #[test]
    fn digests_with_the_same_beginning_are_told_apart_at_every_byte() {
        let digest = "0123456789abcdef0123456789abcdef".parse::<ApiKey>().unwrap().digest();
        assert_eq!(digest, KeyDigest(digest.0));
        for at in 0..32 {
            let mut other = digest;
            other.0[at] ^= 1;
            assert_ne!(other, digest, "byte {at}");
        }
    }

    proptest! {
        #[test]
        fn upper_and_lower_case_are_the_same_key(bytes: [u8; 16]) {
            let key = ApiKey(bytes);
            let upper: ApiKey = key.reveal().to_uppercase().parse().unwrap();
            prop_assert_eq!(upper.digest(), key.digest());
        }
    }
}
