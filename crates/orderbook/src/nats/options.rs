//! How to reach a NATS server.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// Subject of the change events (docs/orderbook.md).
pub const SUBJECT: &str = "orderbook.events";
/// Default name of the stream.
pub const STREAM_DEFAULT: &str = "orderbook";

/// Where the shared stream is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NatsOptions {
    /// `nats://host:port` or `tls://host:port`; several for a cluster.
    pub servers: Vec<String>,
    /// Name of the stream: letters, digits, `-` and `_`.
    pub stream: String,
    /// Who we are to the server.
    pub login: Login,
    /// Files for TLS.
    pub tls: TlsFiles,
    /// How long a start waits for the server before it continues without it.
    pub start_within: Duration,
}

impl NatsOptions {
    /// A server without login.
    pub fn new(server: &str) -> Self {
        Self {
            servers: vec![server.to_owned()],
            stream: STREAM_DEFAULT.to_owned(),
            login: Login::None,
            tls: TlsFiles::default(),
            start_within: Duration::from_secs(3),
        }
    }
}

/// Who a client is. What is secret is not shown.
#[derive(Clone, PartialEq, Eq)]
pub enum Login {
    /// Anonymous, or the user that the URL names.
    None,
    /// User and password.
    Password {
        /// The user.
        user: String,
        /// The password.
        password: String,
    },
    /// A token.
    Token(String),
    /// A file with a JWT and its key (`.creds`); read once.
    CredentialsFile(PathBuf),
}

impl fmt::Debug for Login {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::None => "None",
            Self::Password { .. } => "Password",
            Self::Token(_) => "Token",
            Self::CredentialsFile(_) => "CredentialsFile",
        })
    }
}

/// Files for TLS, PEM.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TlsFiles {
    /// Certificate authorities trusted for the server, instead of the system's; with it the connection must be encrypted.
    pub authorities: Option<PathBuf>,
    /// Our own certificate and its key.
    pub certificate: Option<(PathBuf, PathBuf)>,
}
