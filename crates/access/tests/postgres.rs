//! The tests of this folder over PostgreSQL.

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
