//! The client and the follower against a scripted node.
// The scripted node is part of the test: a panic in it is a failure of the test.
#![allow(clippy::unwrap_used)]

mod chain_maker;
mod client;
mod fake_node;
mod follower;
mod local_chain;
mod p2p;
mod real_blocks;
mod real_node;
