//! Feeds that run: a small web server serves what a source sends, and tests advance the clock.
#![allow(clippy::unwrap_used, clippy::missing_panics_doc)]

mod answers;
mod server;
mod sources;
