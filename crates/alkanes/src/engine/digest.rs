//! A digest of a block's changes, made of one for each kind of change.

use std::fmt;

use sha2::{Digest, Sha256};

use super::BlockEffects;
use crate::StateKey;
use crate::rows::{StateRow, encode_trace, outpoint_key};

/// A kind of change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EffectsPart {
    /// The number of the next contract, and whether the first active block was seen.
    Sequence,
    /// Amounts that contracts hold, inventories, the runtime sheet.
    Balances,
    /// Storage of contracts, and pending payments.
    Storage,
    /// Code of contracts and the outpoints of their creation.
    Code,
    /// Alkanes of outputs.
    Sheets,
    /// Base runes.
    BaseRunes,
    /// Traces.
    Traces,
}

impl EffectsPart {
    /// All kinds, in the order in which they go into the digest.
    pub const ALL: [Self; 7] =
        [Self::Sequence, Self::Balances, Self::Storage, Self::Code, Self::Sheets, Self::BaseRunes, Self::Traces];

    /// The kind of change that a write is.
    pub fn of(key: &StateKey) -> Self {
        match key {
            StateKey::SeenGenesis | StateKey::Sequence => Self::Sequence,
            StateKey::Balance { .. } | StateKey::Inventory { .. } | StateKey::Runtime(_) => Self::Balances,
            StateKey::Storage(..) | StateKey::PendingPayments => Self::Storage,
            StateKey::Code(_) | StateKey::Deployment(_) => Self::Code,
            StateKey::Sheet(_) | StateKey::FirstSeen(_) => Self::Sheets,
            StateKey::BaseSheet(_) | StateKey::Etching(_) | StateKey::EtchedName(_) | StateKey::MintsRemaining(_) => {
                Self::BaseRunes
            }
        }
    }
}

impl fmt::Display for EffectsPart {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Sequence => "sequence",
            Self::Balances => "balances",
            Self::Storage => "storage",
            Self::Code => "code",
            Self::Sheets => "sheets",
            Self::BaseRunes => "base runes",
            Self::Traces => "traces",
        })
    }
}

impl BlockEffects {
    /// SHA-256 of the digests of all parts, in the order of [`EffectsPart::ALL`].
    pub fn digest(&self) -> [u8; 32] {
        let mut digest = Sha256::new();
        for part in EffectsPart::ALL {
            digest.update(self.part_digest(part));
        }
        digest.finalize().into()
    }

    /// SHA-256 of one kind of change: of its rows table number, length of key, key, length of value, value; of traces
    /// outpoint, length, trace, in the order of the block. Lengths have 4 bytes, the highest first.
    pub fn part_digest(&self, part: EffectsPart) -> [u8; 32] {
        let mut digest = Sha256::new();
        let mut piece = |bytes: &[u8]| {
            digest.update((bytes.len() as u32).to_be_bytes());
            digest.update(bytes);
        };
        if part == EffectsPart::Traces {
            for (outpoint, trace) in &self.traces {
                piece(&outpoint_key(outpoint));
                piece(&encode_trace(trace));
            }
        } else {
            for (key, value) in self.writes.iter().filter(|(key, _)| EffectsPart::of(key) == part) {
                let row = StateRow::of(key);
                piece(&[row.number]);
                piece(&row.key);
                piece(value);
            }
        }
        digest.finalize().into()
    }
}
