//! What can go wrong between us and the price source.

use crate::abi::AbiError;
use crate::address::EvmAddress;

/// Why there is no new price. No text holds the address of the endpoint, whose path may be a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// The endpoint cannot be reached or gave no whole answer in time. It is tried again.
    #[error("the EVM endpoint is not available: {0}")]
    Unavailable(String),
    /// The endpoint wants fewer calls. It is tried again later.
    #[error("the EVM endpoint wants fewer calls ({0}): raise [prices] poll_seconds or use another endpoint")]
    Throttled(String),
    /// The endpoint answered with a JSON-RPC error of its own.
    #[error("the EVM endpoint refused {method}: {message} ({code})")]
    Refused {
        /// The method.
        method: &'static str,
        /// The endpoint's code.
        code: i64,
        /// The endpoint's message, shortened.
        message: String,
    },
    /// The answer is malformed or for another request.
    #[error("the EVM endpoint answered something unusable: {0}")]
    Invalid(String),
    /// A contract's answer is not of the right shape.
    #[error("{function} of {contract}: {source}; check [prices] pool, bitcoin_token and usd_token")]
    Contract {
        /// What was called.
        function: &'static str,
        /// Whose function it is.
        contract: EvmAddress,
        /// What is wrong.
        source: AbiError,
    },
    /// The endpoint serves another chain.
    #[error("the EVM endpoint serves chain {served}, but [prices] chain_id is {configured}")]
    WrongChain {
        /// The configured chain.
        configured: u64,
        /// The chain of the endpoint.
        served: u64,
    },
    /// The pool trades other tokens.
    #[error(
        "the pool trades {token0} and {token1}: set [prices] bitcoin_token and usd_token to these, or another pool"
    )]
    OtherTokens {
        /// The pool's first token.
        token0: EvmAddress,
        /// The pool's second token.
        token1: EvmAddress,
    },
    /// The numbers contradict each other or earlier ones.
    #[error("the price is implausible: {0}")]
    Implausible(String),
}

impl SourceError {
    /// Whether the same call may succeed later.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(self, Self::Unavailable(_) | Self::Throttled(_))
    }
}

/// The feed cannot start.
#[derive(Debug, thiserror::Error)]
pub enum PricesError {
    /// A setting cannot be used.
    #[error("[prices] {0}")]
    Setting(String),
    /// The history cannot be used.
    #[error("the history of prices: {0}")]
    History(#[from] paraffin_log::LogError),
    /// A damaged history cannot be moved.
    #[error("the damaged history of prices in {folder} cannot be moved aside: {source}; move it away by hand")]
    Aside {
        /// The folder of the history.
        folder: std::path::PathBuf,
        /// Error of the system.
        source: std::io::Error,
    },
}
