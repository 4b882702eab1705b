//! Derives market events from the traces of a transaction.

mod market;
#[cfg(test)]
mod tests;

use bitcoin::{ScriptBuf, Transaction, Txid};
use paraffin_alkanes::Transfer;
use paraffin_primitives::{AlkaneId, Height};

use crate::{AmmError, MessageTrace, Ratio, Senders, calls};

/// The position of an event in the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChainPosition {
    /// Height of the block.
    pub height: Height,
    /// Index of the transaction in the block.
    pub transaction: u32,
    /// Index among the events of the transaction.
    pub event: u32,
}

/// A pool, its factory and its alkanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolIdentity {
    /// The pool, which is also its own liquidity token.
    pub id: AlkaneId,
    /// The factory that created and registered it.
    pub factory: AlkaneId,
    /// Its alkanes, the lower id first.
    pub tokens: [AlkaneId; 2],
}

/// An operation on a market.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// A factory created a pool.
    Creation {
        /// The pool.
        pool: PoolIdentity,
        /// First deposit, base units.
        amounts: [u128; 2],
        /// Liquidity given out for it, base units.
        liquidity: u128,
    },
    /// A trade with one pool. With a routed trade there is one for each hop.
    Swap {
        /// The pool.
        pool: PoolIdentity,
        /// The transfer into the pool.
        sold: Transfer,
        /// The transfer out of the pool.
        bought: Transfer,
    },
    /// A deposit.
    Mint {
        /// The pool.
        pool: PoolIdentity,
        /// Amounts into the pool, base units.
        amounts: [u128; 2],
        /// Liquidity given out, base units.
        liquidity: u128,
    },
    /// A withdrawal.
    Burn {
        /// The pool.
        pool: PoolIdentity,
        /// Amounts out of the pool, base units.
        amounts: [u128; 2],
        /// Liquidity destroyed, base units.
        liquidity: u128,
    },
    /// Bitcoin was wrapped.
    Wrap {
        /// Base units given out.
        amount: u128,
    },
    /// Wrapped bitcoin was destroyed for a payment.
    Unwrap {
        /// Base units that came in, less those returned.
        amount: u128,
    },
}

/// The kind of an [`Action`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventKind {
    /// [`Action::Creation`].
    Creation,
    /// [`Action::Swap`].
    Swap,
    /// [`Action::Mint`].
    Mint,
    /// [`Action::Burn`].
    Burn,
    /// [`Action::Wrap`].
    Wrap,
    /// [`Action::Unwrap`].
    Unwrap,
}

impl EventKind {
    /// All kinds.
    pub const ALL: [Self; 6] = [Self::Creation, Self::Swap, Self::Mint, Self::Burn, Self::Wrap, Self::Unwrap];

    /// Its name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Creation => "creation",
            Self::Swap => "swap",
            Self::Mint => "mint",
            Self::Burn => "burn",
            Self::Wrap => "wrap",
            Self::Unwrap => "unwrap",
        }
    }
}

impl Action {
    /// Its kind.
    pub const fn kind(&self) -> EventKind {
        match self {
            Self::Creation { .. } => EventKind::Creation,
            Self::Swap { .. } => EventKind::Swap,
            Self::Mint { .. } => EventKind::Mint,
            Self::Burn { .. } => EventKind::Burn,
            Self::Wrap { .. } => EventKind::Wrap,
            Self::Unwrap { .. } => EventKind::Unwrap,
        }
    }

    /// The pool it happened on; `None` for wraps and unwraps.
    pub const fn pool(&self) -> Option<&PoolIdentity> {
        match self {
            Self::Creation { pool, .. }
            | Self::Swap { pool, .. }
            | Self::Mint { pool, .. }
            | Self::Burn { pool, .. } => Some(pool),
            Self::Wrap { .. } | Self::Unwrap { .. } => None,
        }
    }

    /// Amounts of a swap, in the order of the pool's alkanes.
    pub fn traded(&self) -> Option<[u128; 2]> {
        let Self::Swap { pool, sold, bought } = self else { return None };
        Some(if sold.id == pool.tokens[0] { [sold.value, bought.value] } else { [bought.value, sold.value] })
    }

    /// The executed price of a swap: units of the pool's second alkane for one of its first, fee included. `None` when one
    /// of the amounts is 0, as in a failed attempt.
    pub fn price(&self) -> Option<Ratio> {
        let [first, second] = self.traded()?;
        Ratio::new(second, first)
    }
}

/// An operation on a market with its transaction and sender.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its position in the chain.
    pub position: ChainPosition,
    /// The transaction.
    pub txid: Txid,
    /// Time in the block's header, Unix seconds.
    pub time: u32,
    /// Index of the protostone among those of the transaction.
    pub protostone: u32,
    /// Shadow output of the protostone.
    pub vout: u32,
    /// Script of the protostone's pointer output; `None` when it points at no real output (docs/api.md).
    pub actor: Option<ScriptBuf>,
    /// Whether its effects were kept. A failed attempt has amounts of 0 (docs/api.md).
    pub successful: bool,
    /// The operation.
    pub action: Action,
}

/// Looks up pools that existed before the transaction.
pub trait PoolLookup {
    /// The pool with an id; `None` when there is none.
    ///
    /// # Errors
    /// Reading failed.
    fn pool(&self, id: AlkaneId) -> Result<Option<PoolIdentity>, AmmError>;

    /// Whether the factory lists the pool as that of its two alkanes.
    ///
    /// # Errors
    /// Reading failed.
    fn is_registered(&self, pool: &PoolIdentity) -> Result<bool, AmmError>;
}

/// The events of one transaction in the order in which their calls began. `traces` are those of its messages, in order;
/// `wrapped_bitcoin` is the contract that wraps.
///
/// # Errors
/// A trace stands at an output where the transaction has no protostone, or reading failed.
pub fn transaction_events(
    height: Height,
    time: u32,
    transaction: &Transaction,
    traces: &[MessageTrace],
    wrapped_bitcoin: AlkaneId,
    pools: &dyn PoolLookup,
) -> Result<Vec<Event>, AmmError> {
    let mut market = market::Market::new(wrapped_bitcoin, pools);
    let senders = Senders::of_transaction(transaction);
    let mut events = Vec::new();
    for message in traces {
        let mut calls = calls(&message.trace);
        if !message.stands {
            for call in &mut calls {
                call.stands = false;
            }
        }
        let found = market.actions(&calls)?;
        if found.is_empty() {
            continue;
        }
        let sender = senders.of(message.outpoint.vout).ok_or_else(|| AmmError::Mismatch {
            height,
            what: format!("{} has a trace but no protostone", message.outpoint),
        })?;
        for (successful, action) in found {
            let position = ChainPosition { height, transaction: message.transaction_index, event: events.len() as u32 };
            events.push(Event {
                position,
                txid: message.outpoint.txid,
                time,
                protostone: sender.protostone,
                vout: message.outpoint.vout,
                actor: sender.actor.clone(),
                successful,
                action,
            });
        }
    }
    Ok(events)
}
