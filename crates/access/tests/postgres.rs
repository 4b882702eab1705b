//! The tests of this folder over PostgreSQL.
#![allow(clippy::duplicate_mod)] // each of them is a test of its own as well, with its own `support`

#[path = "aliases_and_origins.rs"]
mod aliases_and_origins;
#[path = "at_once.rs"]
mod at_once;
#[path = "key_store.rs"]
mod key_store;
#[path = "proof.rs"]
mod proof;
#[path = "scripts.rs"]
mod scripts;
#[path = "usage.rs"]
mod usage;
