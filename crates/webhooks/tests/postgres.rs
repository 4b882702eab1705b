//! The tests of this folder over PostgreSQL.
#![allow(clippy::duplicate_mod)] // each of them is a test of its own as well, with its own `support`

#[path = "endpoints.rs"]
mod endpoints;
#[path = "schedules.rs"]
mod schedules;
