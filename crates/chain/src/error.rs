use paraffin_primitives::Network;

/// Errors between an instance and its node.
///
/// No message holds an address, a path or a credential, so that it may be shown in health answers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NodeError {
    /// The node answered with a JSON-RPC error of its own; code and message are the node's.
    #[error("{message}")]
    Rpc {
        /// The node's error code.
        code: i64,
        /// The node's message.
        message: String,
    },
    /// The node cannot be reached, timed out or is warming up. Try again later.
    #[error("the Bitcoin node is not available: {0}")]
    Unavailable(String),
    /// The node refuses our credentials.
    #[error("the Bitcoin node refused the credentials: check [node] user, password or cookie_file")]
    Unauthorized,
    /// The node's response is invalid (wrong hash, undecodable block, bad proof of work).
    #[error("the Bitcoin node answered something unusable: {0}")]
    Invalid(String),
    /// The answer exceeds the caller's limit; the rest was not read.
    #[error("the Bitcoin node's answer is larger than {0} bytes")]
    TooLarge(usize),
    /// The answer exceeds the caller's memory budget; the rest was not read.
    #[error("there is no memory for the Bitcoin node's answer at the moment")]
    NoMemory,
    /// The node follows another network. A retry does not help.
    #[error("{0}")]
    WrongNetwork(String),
}

/// Bitcoin Core's code for "no such block, transaction or address".
pub(crate) const RPC_NOT_FOUND: i64 = -5;
/// Bitcoin Core's code for a parameter out of range.
pub(crate) const RPC_INVALID_PARAMETER: i64 = -8;
/// Bitcoin Core's code while it loads its block index.
pub(crate) const RPC_IN_WARMUP: i64 = -28;
/// JSON-RPC's code for an unknown method.
pub(crate) const RPC_METHOD_NOT_FOUND: i64 = -32601;

impl NodeError {
    /// Whether the node has no such block or transaction.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Rpc { code: RPC_NOT_FOUND, .. })
    }

    /// Whether a retry may succeed without anyone changing the configuration's network.
    pub fn is_retryable(&self) -> bool {
        !matches!(self, Self::WrongNetwork(_))
    }

    /// An invalid response, for a size limit that no caller chose.
    pub(crate) fn into_invalid(self) -> Self {
        match self {
            Self::TooLarge(limit) => Self::Invalid(format!("an answer above the limit of {limit} bytes")),
            error => error,
        }
    }

    pub(crate) fn wrong_chain(configured: Network, reported: &str) -> Self {
        let reported: String = reported.chars().take(32).collect();
        Self::WrongNetwork(format!(
            "the Bitcoin node follows the chain `{reported}`, but this instance serves {configured} (`{}` to the node): \
             point [node] url at a {configured} node or change `network`",
            configured.core_name()
        ))
    }

    pub(crate) fn wrong_genesis(
        configured: Network,
        expected: impl std::fmt::Display,
        reported: impl std::fmt::Display,
    ) -> Self {
        Self::WrongNetwork(format!(
            "the Bitcoin node and this instance have no block in common: block 0 of {configured} is {expected}, \
             the node's is {reported}; point [node] url at a {configured} node or use another data directory"
        ))
    }
}
