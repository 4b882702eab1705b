//! What happens to inscriptions in a block, in the order in which the reference indexer sees it. Protocols on top
//! of inscriptions (BRC-20) read these events and nothing else.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use bitcoin::{OutPoint, Script, Txid};
use bytes::Bytes;

use crate::inscription::Inscription;

/// Name of an inscription: the transaction that revealed it, and which of its envelopes, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InscriptionId {
    /// Transaction that revealed it.
    pub txid: Txid,
    /// Which envelope of that transaction.
    pub index: u32,
}

impl fmt::Display for InscriptionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}i{}", self.txid, self.index)
    }
}

impl serde::Serialize for InscriptionId {
    /// As text.
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A text is not `<txid>i<index>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParseInscriptionIdError;

impl fmt::Display for ParseInscriptionIdError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an inscription id is <txid>i<index>")
    }
}

impl std::error::Error for ParseInscriptionIdError {}

impl FromStr for InscriptionId {
    type Err = ParseInscriptionIdError;

    /// Takes 64 hex digits, `i`, and a number below 2^32 without sign or leading zeros.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (txid, index) = text.split_once('i').ok_or(ParseInscriptionIdError)?;
        let is_plain = index == "0" || (!index.starts_with('0') && index.bytes().all(|byte| byte.is_ascii_digit()));
        if txid.len() != 64 || !is_plain {
            return Err(ParseInscriptionIdError);
        }
        let txid = txid.parse().map_err(|_| ParseInscriptionIdError)?;
        Ok(Self { txid, index: index.parse().map_err(|_| ParseInscriptionIdError)? })
    }
}

/// Where a transaction sends the sat of an inscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Destination {
    /// In an output.
    Output {
        /// The output.
        outpoint: OutPoint,
        /// How many sats of the output come before it.
        offset: u64,
        /// The output's script; `OP_RETURN` among them. All events of an output share it.
        script_pubkey: Arc<Script>,
    },
    /// Paid as a fee: the coinbase of the same block takes it and has an event of its own. The reveal of an inscription that is
    /// revealed into the fees is reported with the transaction, its move with the coinbase.
    Fee,
    /// The coinbase claimed less than it may, and the sat is lost; or the inscription was bound to no sat from the beginning,
    /// by an unrecognized field or an input without value.
    Lost,
}

/// One event. Events are in the order of the transactions of the block; the coinbase, which takes the fees, is last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InscriptionEvent {
    /// Transaction that made it.
    pub txid: Txid,
    /// Position of that transaction in its block, counted from 0.
    pub transaction_index: u32,
    /// The inscription.
    pub id: InscriptionId,
    /// Where its sat is now.
    pub destination: Destination,
    /// What happened.
    pub kind: EventKind,
}

/// What happened to an inscription.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventKind {
    /// It was revealed.
    Revealed {
        /// Its number; negative when it is cursed.
        number: i32,
        /// Whether it would be cursed but for the height from which curses are forgiven.
        is_vindicated: bool,
        /// Whether it is alone on its sat at the moment of its reveal.
        is_first_on_sat: bool,
        /// Its parents, those whose sats the transaction spent.
        parents: Vec<InscriptionId>,
        /// Fields of its envelope; `None` when it has none of them. A block may reveal half a million empty envelopes.
        envelope: Option<Box<EnvelopeFields>>,
    },
    /// Its sat moved.
    Moved {
        /// How often it moved before, a move to a coinbase counted as one of its own.
        moves: u32,
    },
}

/// Fields of the envelope of a new inscription.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EnvelopeFields {
    /// Its content, without following a delegate; `None` when the envelope has no body.
    pub body: Option<Bytes>,
    /// Bytes of its content type.
    pub content_type: Option<Bytes>,
    /// Bytes of its content encoding.
    pub content_encoding: Option<Bytes>,
    /// The inscription named as delegate.
    pub delegate: Option<InscriptionId>,
    /// Bytes of its metaprotocol.
    pub metaprotocol: Option<Bytes>,
}

impl EnvelopeFields {
    /// The fields of an inscription; `None` when all of them are absent.
    pub(crate) fn of(inscription: Inscription) -> Option<Box<Self>> {
        let delegate = inscription.delegate();
        let Inscription { body, content_type, content_encoding, metaprotocol, .. } = inscription;
        let fields = Self { body, content_type, content_encoding, delegate, metaprotocol };
        (fields != Self::default()).then(|| Box::new(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_read_as_they_are_written_and_nothing_else() {
        let id = format!("{}i12", "ab".repeat(32));
        assert_eq!(id.parse::<InscriptionId>().map(|id| id.to_string()).as_deref(), Ok(id.as_str()));
        let txid = "ab".repeat(32);
        for bad in [
            String::new(),
            txid.clone(),
            format!("{txid}i"),
            format!("{txid}i+1"),
            format!("{txid}i01"),
            format!("{txid}i4294967296"),
            format!("{}i0", &txid[2..]),
            format!("{txid}i0i0"),
            format!("{}i0", "é".repeat(32)),
        ] {
            assert_eq!(bad.parse::<InscriptionId>(), Err(ParseInscriptionIdError), "{bad}");
        }
    }
}
