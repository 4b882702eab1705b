use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use paraffin_primitives::Network;

/// Connection to a node.
#[derive(Debug, Clone)]
pub struct NodeConfig {
    /// The chain that the node must follow; checked at every connect.
    pub network: Network,
    /// `http://host:port`; REST is tried on the same address. Only plain HTTP: a node has no TLS of its own.
    pub url: String,
    /// Credentials of the JSON-RPC interface.
    pub auth: NodeAuth,
    /// Peer-to-peer address, when known.
    pub p2p: Option<SocketAddr>,
    /// Longest time for one call, from its start to the last byte of its answer.
    pub timeout: Duration,
}

/// Credentials of the JSON-RPC interface.
#[derive(Clone)]
pub enum NodeAuth {
    /// No `Authorization` header is sent.
    None,
    /// HTTP Basic with a fixed user and password.
    UserPassword {
        /// `rpcuser`, or the user of an `rpcauth` line.
        user: String,
        /// Its password.
        password: String,
    },
    /// Read again whenever the node answers 401 (it changes at every start).
    CookieFile(PathBuf),
}

/// Shows the kind of credentials and never the credentials.
impl fmt::Debug for NodeAuth {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::None => "None",
            Self::UserPassword { .. } => "UserPassword(..)",
            Self::CookieFile(_) => "CookieFile(..)",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_shows_no_credentials() {
        let auth = NodeAuth::UserPassword { user: "alice".into(), password: "secret".into() };
        let text = format!("{auth:?}");
        assert!(!text.contains("alice") && !text.contains("secret"), "{text}");
    }
}
