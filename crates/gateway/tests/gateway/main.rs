//! Drives a real server on a loopback port with raw bytes, for every rule of the wire.
#![allow(clippy::unwrap_used, clippy::missing_panics_doc)]

mod access;
mod accounts;
mod admin;
mod aliases;
mod alkanes;
mod bitcoin_methods;
mod chain;
mod client;
mod envelope;
mod esplora;
mod esplora_http;
mod health;
mod hostile;
mod instance;
mod limits;
mod load;
mod logs;
mod node;
mod origins;
mod plug;
mod reorg;
mod rest;
mod routing;
mod strangers;
mod town;
