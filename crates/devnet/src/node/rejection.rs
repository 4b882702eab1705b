//! Why a transaction or a block is refused, in Bitcoin Core's vocabulary.

use std::borrow::Cow;
use std::fmt;

/// Which kind of rule a transaction or block breaks; decides the RPC error code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RejectionKind {
    /// An input names an output that does not exist or is spent (RPC code -25).
    MissingInputs,
    /// A consensus rule is broken (RPC code -26).
    Consensus,
    /// Valid in a block, but not accepted into the mempool (RPC code -26).
    Policy,
    /// The outputs are already in the set of unspent outputs (RPC code -27).
    AlreadyConfirmed,
    /// The block is already known.
    Duplicate,
}

/// A refusal: Bitcoin Core's reason word and, where there is one, its detail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// The kind of rule.
    pub kind: RejectionKind,
    /// The reason word, for example `bad-txns-in-belowout`.
    pub reason: Cow<'static, str>,
    /// Figures that belong to the reason; may be empty.
    pub detail: String,
}

impl Rejection {
    pub(crate) fn new(kind: RejectionKind, reason: impl Into<Cow<'static, str>>, detail: impl Into<String>) -> Self {
        Self { kind, reason: reason.into(), detail: detail.into() }
    }

    pub(crate) fn consensus(reason: impl Into<Cow<'static, str>>) -> Self {
        Self::new(RejectionKind::Consensus, reason, "")
    }

    pub(crate) fn policy(reason: impl Into<Cow<'static, str>>, detail: impl Into<String>) -> Self {
        Self::new(RejectionKind::Policy, reason, detail)
    }

    pub(crate) fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = detail.into();
        self
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.reason)?;
        if !self.detail.is_empty() {
            write!(formatter, ", {}", self.detail)?;
        }
        Ok(())
    }
}

impl std::error::Error for Rejection {}
