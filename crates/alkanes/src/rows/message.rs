use bitcoin::ScriptBuf;

use super::{Parser, ScriptKey};
use crate::StateError;

/// Key in table `messages` of a transaction whose first message has this number among those of a script.
pub(crate) fn message_key(script: ScriptKey, number: u32) -> [u8; 36] {
    let mut key = [0; 36];
    key[..32].copy_from_slice(&script.0);
    key[32..].copy_from_slice(&number.to_be_bytes());
    key
}

/// A row of table `scripts`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ScriptRow {
    /// Messages of the script so far.
    pub(crate) messages: u32,
    pub(crate) script: ScriptBuf,
}

impl ScriptRow {
    pub(crate) fn encode(&self) -> Vec<u8> {
        [&self.messages.to_be_bytes()[..], self.script.as_bytes()].concat()
    }

    pub(crate) fn decode(row: &[u8]) -> Result<Self, StateError> {
        let mut parser = Parser::new("scripts", row);
        let messages = parser.number()?;
        Ok(Self { messages, script: ScriptBuf::from_bytes(parser.rest().to_vec()) })
    }
}
