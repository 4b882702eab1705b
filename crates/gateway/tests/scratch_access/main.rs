#![allow(missing_docs, clippy::unwrap_used)]
#[path = "../gateway/access.rs"]
mod access;
#[path = "../gateway/admin.rs"]
mod admin;
#[path = "../gateway/aliases.rs"]
mod aliases;
#[path = "../gateway/bitcoin_methods.rs"]
mod bitcoin_methods;
#[path = "../gateway/chain.rs"]
mod chain;
#[path = "../gateway/client.rs"]
mod client;
#[path = "../gateway/envelope.rs"]
mod envelope;
#[path = "../gateway/health.rs"]
mod health;
#[path = "../gateway/hostile.rs"]
mod hostile;
#[path = "../gateway/instance.rs"]
mod instance;
#[path = "../gateway/limits.rs"]
mod limits;
#[path = "../gateway/load.rs"]
mod load;
#[path = "../gateway/logs.rs"]
mod logs;
#[path = "../gateway/node.rs"]
mod node;
#[path = "../gateway/origins.rs"]
mod origins;
#[path = "../gateway/plug.rs"]
mod plug;
#[path = "../gateway/routing.rs"]
mod routing;
