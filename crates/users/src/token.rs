use std::fmt;
use std::str::FromStr;

use data_encoding::BASE64URL_NOPAD;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroize as _;

use crate::{CsrfToken, UsersError};

/// The text is not the text of a token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a token")]
pub struct ParseTokenError;

/// Digest by which the database identifies a token.
pub(crate) type Digest = [u8; 32];

/// SHA-256 of bytes under a label, so that a token of one purpose is never valid for another.
pub(crate) fn digest(label: &str, parts: &[&[u8]]) -> Digest {
    let mut hash = Sha256::new();
    hash.update(label.as_bytes());
    hash.update([0]);
    for part in parts {
        hash.update(part);
    }
    hash.finalize().into()
}

/// Random bytes of the operating system.
pub(crate) fn random<const LENGTH: usize>() -> Result<[u8; LENGTH], UsersError> {
    let mut bytes = [0; LENGTH];
    getrandom::fill(&mut bytes).map_err(|error| UsersError::NoRandomness(error.to_string()))?;
    Ok(bytes)
}

macro_rules! token {
    ($(#[$doc:meta])* $name:ident, $bytes:expr, $label:literal) => {
        $(#[$doc])*
        ///
        /// Shown once and stored as a digest; `Debug` shows nothing of it, and its bytes are overwritten when it is dropped.
        #[derive(Clone)]
        pub struct $name([u8; $bytes]);

        impl $name {
            /// The text, for the one caller that passes it on: base64 with the alphabet of addresses, without padding.
            pub fn reveal(&self) -> String {
                BASE64URL_NOPAD.encode(&self.0)
            }

            pub(crate) fn digest(&self) -> Digest {
                digest($label, &[&self.0])
            }
        }

        impl FromStr for $name {
            type Err = ParseTokenError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                let mut bytes = [0; $bytes];
                // The length is checked first, since the decoder writes into a fixed array.
                if text.len() != BASE64URL_NOPAD.encode_len($bytes) {
                    return Err(ParseTokenError);
                }
                match BASE64URL_NOPAD.decode_mut(text.as_bytes(), &mut bytes) {
                    Ok(length) if length == $bytes => Ok(Self(bytes)),
                    _ => Err(ParseTokenError),
                }
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                bool::from(self.0.ct_eq(&other.0))
            }
        }

        impl Eq for $name {}

        impl fmt::Debug for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(stringify!($name))
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                self.0.zeroize();
            }
        }
    };
}

token! {
    /// Token of a link: 256 random bits, 43 characters.
    LinkToken, 32, "paraffin link"
}
token! {
    /// Names a sign-in that waits for the second factor: 256 random bits, 43 characters.
    PendingToken, 32, "paraffin pending sign-in"
}
token! {
    /// Names a session: 64 characters. 256 random bits are new with every rotation; 128 more stay while the session lasts and
    /// are what its [`CsrfToken`] is made of, so that a form sent after a rotation is not refused.
    SessionToken, SessionToken::BYTES, "paraffin session"
}

impl LinkToken {
    pub(crate) fn generate() -> Result<Self, UsersError> {
        random().map(Self)
    }
}

impl PendingToken {
    pub(crate) fn generate() -> Result<Self, UsersError> {
        random().map(Self)
    }
}

impl SessionToken {
    const ROTATED_BYTES: usize = 32;
    const BYTES: usize = 48;

    pub(crate) fn generate() -> Result<Self, UsersError> {
        random().map(Self)
    }

    /// Another token of the same session.
    pub(crate) fn rotated(&self) -> Result<Self, UsersError> {
        let mut rotated = self.clone();
        rotated.0[..Self::ROTATED_BYTES].copy_from_slice(&random::<{ Self::ROTATED_BYTES }>()?);
        Ok(rotated)
    }

    pub(crate) fn csrf(&self) -> CsrfToken {
        let bytes = digest("paraffin forms", &[&self.0[Self::ROTATED_BYTES..]]);
        CsrfToken::new(BASE64URL_NOPAD.encode(&bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn no_two_are_equal_and_nothing_is_shown() {
        let (first, second) = (LinkToken::generate().unwrap(), LinkToken::generate().unwrap());
        assert_ne!(first, second);
        assert_eq!(first.reveal().len(), 43);
        assert_eq!(format!("{first:?}"), "LinkToken");
        let session = SessionToken::generate().unwrap();
        assert_eq!((session.reveal().len(), format!("{session:?}")), (64, "SessionToken".to_owned()));
    }

    #[test]
    fn the_same_bytes_have_another_digest_for_each_purpose() {
        assert_ne!(LinkToken([7; 32]).digest(), PendingToken([7; 32]).digest());
        assert_ne!(digest("a", &[b"b"]), digest("ab", &[b""]));
    }

    #[test]
    fn a_rotated_token_is_another_one_with_the_same_forms() {
        let token = SessionToken::generate().unwrap();
        let rotated = token.rotated().unwrap();
        assert_ne!(token, rotated);
        assert_ne!(token.digest(), rotated.digest());
        assert_eq!(token.csrf().reveal(), rotated.csrf().reveal());
        assert_ne!(token.csrf().reveal(), SessionToken::generate().unwrap().csrf().reveal());
        assert!(!token.reveal().contains(token.csrf().reveal()));
    }

    #[test]
    fn texts_that_are_nearly_tokens_are_refused() {
        let text = LinkToken([0xff; 32]).reveal();
        assert!(text.parse::<LinkToken>().is_ok());
        // The last character has two unused bits: of the four texts one is the token.
        let last = text.strip_suffix('8').unwrap();
        for wrong in [
            String::new(),
            text[1..].to_owned(),
            format!("{text}A"),
            format!("{text}="),
            format!("{last}9"),
            format!("{}+", &text[1..]),
            format!(" {}", &text[1..]),
            "é".repeat(43),
            "A".repeat(100_000),
        ] {
            assert!(wrong.parse::<LinkToken>().is_err(), "{wrong:.50}");
        }
    }

    proptest! {
        #[test]
        fn texts_round_trip(bytes: [u8; 32], more: [u8; 16]) {
            let link = LinkToken(bytes);
            prop_assert_eq!(&link.reveal().parse::<LinkToken>().unwrap(), &link);
            let mut all = [0; 48];
            all[..32].copy_from_slice(&bytes);
            all[32..].copy_from_slice(&more);
            let session = SessionToken(all);
            prop_assert_eq!(&session.reveal().parse::<SessionToken>().unwrap(), &session);
        }

        #[test]
        fn a_text_that_is_taken_is_the_text_that_is_shown(text in "[A-Za-z0-9_-]{43}|[A-Za-z0-9_+/=-]{40,46}|.{0,70}") {
            if let Ok(token) = text.parse::<LinkToken>() {
                prop_assert_eq!(token.reveal(), text);
            } else if let Ok(token) = text.parse::<SessionToken>() {
                prop_assert_eq!(token.reveal(), text);
            }
        }
    }
}
