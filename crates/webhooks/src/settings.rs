use std::net::SocketAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::store::LEASE_MS;

/// Memory of filters that a source keeps prepared, bytes.
pub const FILTER_BYTES_MAX: usize = 16 << 20;
/// With less no block of many events would ever be read.
const READ_BYTES_MIN: usize = 16 << 20;

/// `[webhooks]`: events that are delivered to servers of accounts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WebhookSettings {
    /// Whether accounts may have endpoints and messages are delivered.
    pub enabled: bool,
    /// Whether messages go to addresses that are not public. Not on an instance with accounts of third parties.
    pub allow_private: bool,
    /// Whether messages go over `http://`, without encryption.
    pub allow_http: bool,
    /// Endpoints of one account.
    pub endpoints_per_account_max: u32,
    /// Endpoints of all accounts.
    pub endpoints_max: u32,
    /// Messages that this process sends at the same time.
    pub attempts_max: usize,
    /// Messages of one account among them.
    pub attempts_per_account_max: usize,
    /// Time for one attempt, from the look-up of the name to the answer, in seconds; at most 30.
    pub attempt_seconds: u64,
    /// Largest message, bytes. One event that is larger is sent alone.
    pub message_bytes_max: usize,
    /// Memory of the events that are read for messages, bytes, from 16 MiB: two reads share it, and one whose block needs more than
    /// half has all of it.
    pub read_bytes_max: usize,
    /// An endpoint that has failed for so long is paused, in hours.
    pub pause_after_hours: u32,
    /// Name servers; empty: those of the system.
    pub name_servers: Vec<SocketAddr>,
}

impl Default for WebhookSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            allow_private: false,
            allow_http: false,
            endpoints_per_account_max: 20,
            endpoints_max: 10_000,
            attempts_max: 64,
            attempts_per_account_max: 4,
            attempt_seconds: 15,
            message_bytes_max: 256 << 10,
            read_bytes_max: 192 << 20,
            pause_after_hours: 72,
            name_servers: Vec::new(),
        }
    }
}

impl WebhookSettings {
    /// Finds a value with which nothing could be delivered.
    ///
    /// # Errors
    /// A sentence that names the setting.
    pub fn check(&self) -> Result<(), String> {
        for (name, value, max) in [
            ("endpoints_per_account_max", self.endpoints_per_account_max as usize, 10_000),
            ("endpoints_max", self.endpoints_max as usize, 1_000_000),
            ("attempts_max", self.attempts_max, 10_000),
            ("attempts_per_account_max", self.attempts_per_account_max, 10_000),
            ("attempt_seconds", self.attempt_seconds as usize, (LEASE_MS / 2_000) as usize),
            ("message_bytes_max", self.message_bytes_max, 16 << 20),
            ("pause_after_hours", self.pause_after_hours as usize, 24 * 365),
            ("read_bytes_max", self.read_bytes_max, 1 << 40),
        ] {
            if value == 0 || value > max {
                return Err(format!("[webhooks] {name} must be from 1 to {max}"));
            }
        }
        if self.read_bytes_max < READ_BYTES_MIN {
            return Err(format!("[webhooks] read_bytes_max must be at least {READ_BYTES_MIN}"));
        }
        Ok(())
    }

    /// Memory that all of it may take, bytes: messages on their way, each of which is there as events and as a body, events that are
    /// read, and filters that are kept prepared.
    pub fn memory_bytes(&self) -> u64 {
        let messages = (self.attempts_max as u64).saturating_mul(2 * self.message_bytes_max as u64);
        messages.saturating_add(self.read_bytes_max as u64).saturating_add(FILTER_BYTES_MAX as u64)
    }

    /// Time for one attempt.
    pub fn attempt_time(&self) -> Duration {
        Duration::from_secs(self.attempt_seconds)
    }

    /// How long an endpoint may fail, milliseconds.
    pub(crate) fn pause_after_ms(&self) -> i64 {
        i64::from(self.pause_after_hours) * 3_600_000
    }
}
