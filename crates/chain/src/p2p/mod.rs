//! A small client of Bitcoin's peer-to-peer protocol (version 1 transport).
//!
//! [`Peer::connect`] performs the handshake with one node and returns a [`Peer`] for requests and a stream of [`PeerEvent`]s.
//! When the connection ends the last event has the reason; reconnecting is up to the caller. Memory is bounded: a message of
//! more than 4 MiB, more inventory or headers than the protocol allows, a wrong checksum or a wrong network ends the connection.

mod frame;
mod handshake;
mod peer;

pub use frame::{FrameError, PAYLOAD_BYTES_MAX, decode, encode};
pub use handshake::PeerInfo;
pub use peer::{Peer, PeerError, PeerEvent, PeerEvents, PeerOptions};
