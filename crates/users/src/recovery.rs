use std::fmt;

use data_encoding::BASE32_NOPAD;
use zeroize::Zeroize as _;

use crate::token::{Digest, digest, random};
use crate::{Event, UserId, UsersError};

/// Recovery codes of one user.
pub const RECOVERY_CODES: usize = 10;

/// Random bytes of a code: 80 bits, 16 characters.
const BYTES: usize = 10;
/// Longest accepted input.
const TEXT_BYTES_MAX: usize = 64;

/// A code that stands in for the second factor once: `ABCD-EFGH-IJKL-MN23`. Shown once and stored as a digest; nothing of it
/// is in `Debug`.
#[derive(Clone)]
pub struct RecoveryCode([u8; BYTES]);

impl RecoveryCode {
    pub(crate) fn generate() -> Result<Self, UsersError> {
        random().map(Self)
    }

    /// The text, for the one page that shows it: four groups of A to Z and 2 to 7.
    pub fn reveal(&self) -> String {
        let text = BASE32_NOPAD.encode(&self.0);
        [&text[..4], &text[4..8], &text[8..12], &text[12..]].join("-")
    }

    /// Parses input of a user: case, blanks and hyphens between the groups do not count.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.len() > TEXT_BYTES_MAX {
            return None;
        }
        let letters = text.chars().filter(|character| !character.is_whitespace() && *character != '-');
        let letters: String = letters.map(|letter| letter.to_ascii_uppercase()).collect();
        let bytes = BASE32_NOPAD.decode(letters.as_bytes()).ok()?;
        bytes.try_into().ok().map(Self)
    }

    /// The digest includes the user, so that a code of another user does not match.
    pub(crate) fn digest(&self, user: UserId) -> Digest {
        digest("paraffin recovery code", &[&user.0.to_be_bytes(), &self.0])
    }
}

impl fmt::Debug for RecoveryCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("RecoveryCode")
    }
}

impl Drop for RecoveryCode {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

/// New recovery codes, which replace all earlier ones.
#[derive(Debug, Clone)]
pub struct NewRecoveryCodes {
    /// To be shown once.
    pub codes: [RecoveryCode; RECOVERY_CODES],
    /// For the audit log.
    pub event: Event,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_code_is_read_as_people_type_it_and_is_one_users_alone() {
        let code = RecoveryCode::generate().unwrap();
        let text = code.reveal();
        assert_eq!((text.len(), format!("{code:?}")), (19, "RecoveryCode".to_owned()));
        for typed in [text.clone(), text.to_lowercase(), text.replace('-', ""), format!(" {} ", text.replace('-', " "))]
        {
            assert_eq!(RecoveryCode::parse(&typed).unwrap().digest(UserId(1)), code.digest(UserId(1)), "{typed}");
        }
        assert_ne!(code.digest(UserId(1)), code.digest(UserId(2)));
    }

    #[test]
    fn other_texts_are_no_code() {
        for text in
            ["", "123456", "ABCD-EFGH-IJKL", "ABCD-EFGH-IJKL-MN018", "ABCD-EFGH-IJKL-MN2é", "ABCD-EFGH-IJKL-MN23-A"]
        {
            assert!(RecoveryCode::parse(text).is_none(), "{text}");
        }
        assert!(RecoveryCode::parse(&"A".repeat(100_000)).is_none());
    }

    proptest! {
        #[test]
        fn codes_round_trip(bytes: [u8; 10]) {
            prop_assert_eq!(RecoveryCode::parse(&RecoveryCode(bytes).reveal()).unwrap().0, bytes);
        }

        #[test]
        fn no_text_is_more_than_refused(text in ".{0,80}") {
            if let Some(code) = RecoveryCode::parse(&text) {
                prop_assert_eq!(RecoveryCode::parse(&code.reveal()).unwrap().0, code.0);
            }
        }
    }
}
