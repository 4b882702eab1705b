use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Every limit of the gateway, in one place (docs/api.md, "Limits"). Sizes in bytes, times in milliseconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Largest request body.
    pub body_bytes_max: usize,
    /// Largest body of the calls that carry transactions, blocks or archives.
    pub large_body_bytes_max: usize,
    /// Largest request head (request line and headers); beyond it 431.
    pub header_bytes_max: usize,
    /// Deepest nesting of arrays and objects in a JSON body.
    pub json_depth_max: usize,
    /// Most entries in a JSON-RPC batch.
    pub batch_entries_max: usize,
    /// Calls of one batch that run at the same time.
    pub batch_parallel_max: usize,
    /// Calls of one request: entries of a batch, calls in multicalls and of scripts; those beyond are -32603 `BUDGET_EXCEEDED`.
    pub calls_per_request_max: usize,
    /// Calls that a caller may make in a clock minute for each request that it may send; at least `calls_per_request_max`. Beyond them 429.
    pub calls_per_request_of_minute: u32,
    /// Largest answer; beyond it -32603 `RESPONSE_TOO_LARGE`, on other paths 400 with this code.
    pub response_bytes_max: usize,
    /// Bytes of answers and request bodies above 64 KiB that are in memory at the same time; beyond it 503 `OVERLOADED`.
    pub held_bytes_max: usize,
    /// Of these, percent that one caller may have; 100 at an instance whose callers are gateways. Callers without credentials have
    /// half of them together.
    pub caller_held_percent: u8,
    /// A client must have sent the whole head within this time; also how long an idle connection is kept.
    pub header_read_timeout_ms: u64,
    /// A client must have sent the whole body within this time.
    pub body_read_timeout_ms: u64,
    /// A client must read some bytes of the answer within this time.
    pub write_timeout_ms: u64,
    /// A client that reads an answer more slowly than this, bytes a second on average over `write_timeout_ms` and more, is disconnected.
    pub write_bytes_per_second_min: u64,
    /// A handler must have answered within this time; beyond it 504, on JSON-RPC -32603 `timeout`.
    pub handler_timeout_ms: u64,
    /// Requests in flight get this long to finish when the server stops.
    pub shutdown_timeout_ms: u64,
    /// Open connections; further ones wait in the listen queue. When four of five are taken, idle ones of the client that has most
    /// are closed.
    pub connections_max: usize,
    /// Open connections of one client address (IPv6: of one /64; a /56 may have twice as many, a /48 four times); further ones are
    /// closed at once.
    pub connections_per_client_max: usize,
    /// Long reads of the store that run at the same time, a quarter of them of one caller.
    pub store_reads_max: usize,
    /// Views of contracts that run at the same time, of 144 MiB each, half of them of one caller; further ones wait.
    pub views_max: usize,
    /// Calls of contracts tried for clients at the same time, half of them of one caller, beside the other views; each may take a
    /// second of a core.
    pub simulations_max: usize,
    /// Memory of one such call, three quarters of it for the contracts that call each other: 32 MiB for each.
    pub simulation_bytes_max: usize,
    /// Memory of all such calls at the same time, half of it of one caller; what does not fit waits for ten seconds and is then
    /// 503 `OVERLOADED`.
    pub contracts_bytes_max: usize,
    /// Views of a hosted program at the same time, of 256 MiB each; a preview counts as four.
    pub hosted_views_max: usize,
    /// A view must have ended within this time; beyond it 504, on JSON-RPC -32603 `timeout`.
    pub view_timeout_ms: u64,
    /// Unspent outputs in one answer; an address with more needs a `limit`.
    pub list_records_max: usize,
    /// Keys derived for the scripts of one account, one for each script where it has one key; a larger account is asked for in
    /// parts.
    pub account_scripts_max: usize,
    /// Open WebSocket streams; further ones get 503.
    pub websockets_max: usize,
    /// Largest message of a client on a stream; beyond it the stream ends with 1008.
    pub websocket_message_bytes_max: usize,
    /// Requests at the same time to each server that answers a family of methods; further ones wait.
    pub family_requests_max: usize,
    /// Largest answer of such a server; beyond it `RESPONSE_TOO_LARGE`.
    pub family_answer_bytes_max: usize,
    /// Such a server must have answered within this time, waiting included; beyond it `UPSTREAM_UNAVAILABLE`.
    pub family_timeout_ms: u64,
    /// Requests at the same time that a gateway without a store hands to instances; further ones wait.
    pub forwarded_requests_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes_max: 4 << 20,
            large_body_bytes_max: 32 << 20,
            header_bytes_max: 32 << 10,
            json_depth_max: 64,
            batch_entries_max: 1000,
            batch_parallel_max: 8,
            calls_per_request_max: 2_048,
            calls_per_request_of_minute: 20,
            response_bytes_max: 64 << 20,
            held_bytes_max: 320 << 20,
            caller_held_percent: 25,
            header_read_timeout_ms: 10_000,
            body_read_timeout_ms: 10_000,
            write_timeout_ms: 30_000,
            write_bytes_per_second_min: 16 << 10,
            handler_timeout_ms: 30_000,
            shutdown_timeout_ms: 5_000,
            connections_max: 4096,
            connections_per_client_max: 128,
            store_reads_max: 32,
            views_max: 4,
            simulations_max: 2,
            simulation_bytes_max: 288 << 20,
            contracts_bytes_max: 576 << 20,
            hosted_views_max: 16,
            view_timeout_ms: 20_000,
            list_records_max: 200_000,
            account_scripts_max: 50_000,
            websockets_max: 2_000,
            websocket_message_bytes_max: 64 << 10,
            family_requests_max: 32,
            family_answer_bytes_max: 32 << 20,
            family_timeout_ms: 20_000,
            forwarded_requests_max: 512,
        }
    }
}

impl Limits {
    /// The part of [`Limits::held_bytes_max`] that one caller may have, bytes.
    pub(crate) fn caller_held_bytes_max(&self) -> usize {
        let percent = usize::from(self.caller_held_percent);
        self.held_bytes_max / 100 * percent + self.held_bytes_max % 100 * percent / 100
    }

    /// Permits of [`Limits::hosted_views_max`] that a preview takes: its block may take as much memory as four views.
    pub fn preview_permits(&self) -> usize {
        self.hosted_views_max.clamp(1, 4)
    }

    pub(crate) const fn header_read_timeout(&self) -> Duration {
        Duration::from_millis(self.header_read_timeout_ms)
    }

    pub(crate) const fn body_read_timeout(&self) -> Duration {
        Duration::from_millis(self.body_read_timeout_ms)
    }

    pub(crate) const fn write_timeout(&self) -> Duration {
        Duration::from_millis(self.write_timeout_ms)
    }

    pub(crate) const fn handler_timeout(&self) -> Duration {
        Duration::from_millis(self.handler_timeout_ms)
    }

    pub(crate) const fn view_timeout(&self) -> Duration {
        Duration::from_millis(self.view_timeout_ms)
    }

    pub(crate) const fn family_timeout(&self) -> Duration {
        Duration::from_millis(self.family_timeout_ms)
    }

    pub(crate) const fn shutdown_timeout(&self) -> Duration {
        Duration::from_millis(self.shutdown_timeout_ms)
    }
}
