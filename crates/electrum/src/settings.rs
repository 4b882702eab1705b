use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Memory of a session without its subscriptions: its task, its buffers and what the system keeps of its connection, bytes.
const SESSION_BYTES: u64 = 20 << 10;
/// Memory of a session's encryption, bytes.
const TLS_BYTES: u64 = 40 << 10;
/// Memory of a subscription, bytes: two hashes in a table that is at least half full.
const SUBSCRIPTION_BYTES: u64 = 120;

/// `[electrum]`: the listener for wallets that speak the Electrum protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ElectrumSettings {
    /// Where it listens, without encryption; absent: nowhere. The usual port is 50001.
    pub listen: Option<SocketAddr>,
    /// Where it listens with TLS; absent: nowhere. The usual port is 50002.
    pub tls_listen: Option<SocketAddr>,
    /// Certificates in PEM, the server's own first; with `tls_listen`.
    pub tls_certificate: Option<PathBuf>,
    /// Private key in PEM; with `tls_listen`.
    pub tls_key: Option<PathBuf>,
    /// Whether the protocol is spoken over WebSocket at `/v4/<KEY>/electrum`.
    pub websocket: bool,
    /// Text that wallets may show.
    pub banner: String,
    /// Address for donations that wallets may show.
    pub donation_address: String,
    /// Transactions of the longest history that is answered; beyond it `history too large`.
    pub history_max: usize,
    /// Open sessions; further ones are closed at once.
    pub sessions_max: usize,
    /// Open sessions of one client address (IPv6: of one /48), or of one account.
    pub sessions_per_client_max: usize,
    /// Subscribed scripts of all sessions.
    pub subscriptions_max: usize,
    /// Subscribed scripts of all sessions of one client address or account.
    pub subscriptions_per_client_max: usize,
    /// Subscribed scripts of one session.
    pub subscriptions_per_session_max: usize,
    /// Longest line of a client, bytes; beyond it the session is closed.
    pub line_bytes_max: usize,
    /// Requests in one batch.
    pub batch_entries_max: usize,
    /// Cost that a client address or account may cause before its sessions are slowed down; 0: no limit (docs/electrum.md).
    pub cost_soft: u32,
    /// Cost at which its sessions are closed; a 3,600th of it is forgiven each second.
    pub cost_hard: u32,
    /// A session without a request is closed after this time, in seconds.
    pub idle_seconds: u64,
    /// A client must take 64 KiB of what is sent within this time, in seconds, and a server with TLS sees the handshake end.
    pub write_seconds: u64,
}

impl Default for ElectrumSettings {
    fn default() -> Self {
        Self {
            listen: None,
            tls_listen: None,
            tls_certificate: None,
            tls_key: None,
            websocket: false,
            banner: "Paraffin".to_owned(),
            donation_address: String::new(),
            history_max: 1_000_000,
            sessions_max: 10_000,
            sessions_per_client_max: 100,
            subscriptions_max: 1_000_000,
            subscriptions_per_client_max: 100_000,
            subscriptions_per_session_max: 100_000,
            line_bytes_max: 2 << 20,
            batch_entries_max: 10_000,
            cost_soft: 20_000,
            cost_hard: 100_000,
            idle_seconds: 600,
            write_seconds: 30,
        }
    }
}

impl ElectrumSettings {
    /// Whether the protocol is spoken anywhere.
    pub fn is_used(&self) -> bool {
        self.listen.is_some() || self.tls_listen.is_some() || self.websocket
    }

    /// Finds a value with which nothing could be served.
    ///
    /// # Errors
    /// A sentence that names the setting.
    pub fn check(&self) -> Result<(), String> {
        for (name, value, max) in [
            ("history_max", self.history_max, 10_000_000),
            ("sessions_max", self.sessions_max, 1_000_000),
            ("sessions_per_client_max", self.sessions_per_client_max, 1_000_000),
            ("subscriptions_max", self.subscriptions_max, 100_000_000),
            ("subscriptions_per_client_max", self.subscriptions_per_client_max, 100_000_000),
            ("subscriptions_per_session_max", self.subscriptions_per_session_max, 100_000_000),
            ("line_bytes_max", self.line_bytes_max, 16 << 20),
            ("batch_entries_max", self.batch_entries_max, 1_000_000),
        ] {
            if value == 0 || value > max {
                return Err(format!("[electrum] {name} must be from 1 to {max}"));
            }
        }
        if self.cost_soft > 0 && self.cost_hard <= self.cost_soft {
            return Err("[electrum] cost_hard must be above cost_soft".to_owned());
        }
        if self.idle_seconds == 0 || self.write_seconds == 0 {
            return Err("[electrum] idle_seconds and write_seconds must be at least 1".to_owned());
        }
        let has_files = self.tls_certificate.is_some() && self.tls_key.is_some();
        if self.tls_listen.is_some() && !has_files {
            return Err("[electrum] tls_listen needs tls_certificate and tls_key".to_owned());
        }
        if self.tls_listen.is_none() && (self.tls_certificate.is_some() || self.tls_key.is_some()) {
            return Err("[electrum] tls_certificate and tls_key need tls_listen".to_owned());
        }
        Ok(())
    }

    /// Memory that sessions and subscriptions may take, bytes; 0 when the protocol is not spoken.
    pub fn memory_bytes(&self) -> u64 {
        if !self.is_used() {
            return 0;
        }
        let wide = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        let session = if self.tls_listen.is_some() { SESSION_BYTES + TLS_BYTES } else { SESSION_BYTES };
        let subscriptions = wide(self.subscriptions_max).saturating_mul(SUBSCRIPTION_BYTES);
        wide(self.sessions_max).saturating_mul(session).saturating_add(subscriptions)
    }

    /// About what so many sessions and subscriptions take, bytes.
    pub const fn used_bytes(sessions: usize, subscriptions: usize) -> usize {
        sessions
            .saturating_mul(SESSION_BYTES as usize)
            .saturating_add(subscriptions.saturating_mul(SUBSCRIPTION_BYTES as usize))
    }

    pub(crate) const fn idle(&self) -> Duration {
        Duration::from_secs(self.idle_seconds)
    }

    pub(crate) const fn write_timeout(&self) -> Duration {
        Duration::from_secs(self.write_seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_with_which_nothing_could_be_served_are_named() {
        assert_eq!(ElectrumSettings::default().check(), Ok(()));
        let with = |change: fn(&mut ElectrumSettings)| {
            let mut settings = ElectrumSettings::default();
            change(&mut settings);
            settings.check().unwrap_err()
        };
        assert!(with(|settings| settings.history_max = 0).contains("history_max"));
        assert!(with(|settings| settings.line_bytes_max = usize::MAX).contains("line_bytes_max"));
        assert!(with(|settings| settings.cost_hard = 1).contains("cost_hard"));
        assert!(with(|settings| settings.idle_seconds = 0).contains("idle_seconds"));
        assert!(with(|settings| settings.tls_key = Some("key".into())).contains("tls_listen"));
        assert!(with(|settings| settings.tls_listen = "127.0.0.1:50002".parse().ok()).contains("tls_certificate"));
        assert_eq!(ElectrumSettings::default().memory_bytes(), 0);
    }
}
