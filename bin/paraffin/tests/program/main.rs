//! The built program from end to end: as a child process, over plain sockets, beside real nodes and servers.
//!
//! One test program for all, because each of them would be linked with everything below it.

// A failed `unwrap` fails the test, and calls read better with `json!` values given away.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value, unreachable_pub)]

mod access_browser;
mod access_keys;
mod alkanes;
mod bridge;
mod clients;
mod command_line;
mod console;
mod console_webhooks;
mod crash;
mod deep_reorg;
mod dev_contract;
mod dev_live;
mod dev_ordinals;
mod diff;
mod disk_full;
mod electrum;
mod esplora_clients;
mod esplora_conformance;
mod events;
mod explorer;
mod export;
mod gateway_upstream;
#[cfg(feature = "cluster")]
mod gateways;
mod hosted;
mod hostile;
mod listings;
mod log;
mod lua;
mod mempool_node;
mod monitoring;
mod networks;
#[cfg(feature = "cluster")]
mod orderbook_nats;
mod package;
mod page_reorg;
mod pages_browser;
mod protection;
mod random_chains;
mod recorded;
mod replay;
mod rolling_upgrade;
mod schema;
mod screenshots;
mod serve_node;
mod snapshot;
mod snapshot_live;
#[cfg(feature = "cluster")]
mod soak;
mod support;
#[cfg(feature = "otel")]
mod traces;
mod tx;
mod verify;
