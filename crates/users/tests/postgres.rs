//! The tests of this folder over PostgreSQL.
#![allow(clippy::duplicate_mod)] // each of them is a test of its own as well, with its own `support`

#[path = "at_once.rs"]
mod at_once;
#[path = "links.rs"]
mod links;
#[path = "passwords.rs"]
mod passwords;
#[path = "second_factor.rs"]
mod second_factor;
#[path = "sessions.rs"]
mod sessions;
