use bitcoin::hashes::Hash;
use bitcoin::{ScriptBuf, Txid};

use super::{Parser, ScriptKey, position_key};
use crate::StateError;

/// Key in table `messages` of a transaction whose first message has this number among those of a script.
pub(crate) fn message_key(script: ScriptKey, number: u32) -> [u8; 36] {
    let mut key = [0; 36];
    key[..32].copy_from_slice(&script.0);
    key[32..].copy_from_slice(&number.to_be_bytes());
    key
}

/// Key in table `activity` of a transaction of a script.
pub(crate) fn activity_key(script: ScriptKey, height: u32, index: u32) -> [u8; 40] {
    let mut key = [0; 40];
    key[..32].copy_from_slice(&script.0);
    key[32..].copy_from_slice(&position_key(height, index));
    key
}

/// A row of table `activity`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ActivityRow {
    pub(crate) txid: Txid,
    pub(crate) roles: u8,
    /// Messages of the script up to this transaction, its own included.
    pub(crate) messages: u32,
}

impl ActivityRow {
    pub(crate) fn encode(&self) -> [u8; 37] {
        let mut row = [0; 37];
        row[..32].copy_from_slice(self.txid.as_byte_array());
        row[32] = self.roles;
        row[33..].copy_from_slice(&self.messages.to_be_bytes());
        row
    }

    pub(crate) fn decode(row: &[u8]) -> Result<Self, StateError> {
        let mut parser = Parser::new("activity", row);
        let (txid, [roles]) = (Txid::from_byte_array(parser.array()?), parser.array()?);
        Ok(Self { txid, roles, messages: parser.number()? })
    }
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
