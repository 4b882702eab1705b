use super::{Parser, ScriptKey};
use crate::StateError;

/// Key in table `messages` of a transaction whose first message has this number among those of a script.
pub(crate) fn message_key(script: ScriptKey, number: u32) -> [u8; 36] {
    let mut key = [0; 36];
    key[..32].copy_from_slice(&script.0);
    key[32..].copy_from_slice(&number.to_be_bytes());
    key
}

/// Reads a row of `message_counts`; without one it is 0.
pub(crate) fn decode_message_count(stored: Option<&[u8]>) -> Result<u32, StateError> {
    stored.map_or(Ok(0), |stored| Parser::new("message_counts", stored).number())
}
