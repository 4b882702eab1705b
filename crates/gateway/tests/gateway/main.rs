//! Drives a real server on a loopback port with raw bytes, for every rule of the wire.
#![allow(clippy::unwrap_used, clippy::missing_panics_doc)]

mod access;
mod bitcoin_methods;
mod chain;
mod client;
mod envelope;
mod esplora;
mod health;
mod hostile;
mod instance;
mod logs;
mod node;
mod plug;
mod rest;
mod routing;
