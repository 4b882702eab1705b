//! Transactions that move alkanes and bitcoin: which coins are spent, where everything goes, what is signed.
//!
//! ```text
//!  coins + intent ─▶ plan ─▶ Plan (what moves where, fee) ─▶ psbt ─▶ sign ─▶ transaction
//!                      │
//!                      └─ ledger: reads the finished transaction again and refuses it when an alkane would be lost
//! ```
//!
//! Invariants: pure (no I/O, no async, no clock, no randomness), so the same coins and intent give the same transaction;
//! every alkane of every input arrives at an output of the owner, at a recipient, or with the contract that it was meant
//! for; a coin of unknown content, or one that carries inscriptions or runes, is spent only when it is named.
#![forbid(unsafe_code)]

mod alkanes;
mod coin;
mod deployment;
mod descriptor;
mod error;
mod fee_rate;
mod gap_scan;
mod intent;
pub mod ledger;
mod plan;
mod psbt;
mod select;
mod sign;
mod weight;

pub use alkanes::{Alkanes, AlkanesOverflow};
pub use coin::{Coin, ExclusionReason, Ordinals, SMALL_OUTPUT_MAX_SATS};
pub use deployment::{Deployment, DeploymentPlan, plan_deployment, plan_recovery, plan_reveal};
pub use descriptor::{AccountError, ScriptChain, parse_account};
pub use error::PlanError;
pub use fee_rate::{FeeRate, ParseFeeRateError};
pub use gap_scan::{GapScan, TooManyKeys};
pub use intent::{FRBTC, Intent, Recipient, UNWRAP_OPCODE, WRAP_OPCODE, mint, unwrap, wrap};
pub use plan::{Plan, PlannedInput, PlannedOutput, Role, SpendPath, Warning, plan};
pub use select::Funds;
pub use sign::{AddressKind, Key, KeyError, SignError, parse_public_key};

/// Value of an output that holds alkanes, in satoshis: above the dust limit of every script type, and what wallets of
/// the ecosystem recognise.
pub const ALKANE_OUTPUT_SATS: u64 = 546;

/// Heaviest transaction that nodes relay, in weight units (Bitcoin Core policy).
pub const STANDARD_WEIGHT_MAX: u64 = 400_000;

/// Longest `OP_RETURN` script that nodes before Bitcoin Core 30 relay, in bytes.
pub const OLD_OP_RETURN_MAX_BYTES: usize = 83;

/// Longest `OP_RETURN` script that Bitcoin Core 30 and later relay, in bytes.
pub const OP_RETURN_MAX_BYTES: usize = 100_000;

/// A fee above this many satoshis must be in proportion to what moves, see [`PlanError::HighFee`].
pub const FEE_UNQUESTIONED_SATS: u64 = 100_000;
