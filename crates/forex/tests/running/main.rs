//! Feeds that run: a small web server tells what a source sends, a clock that tests turn on tells the time.
#![allow(clippy::unwrap_used, clippy::missing_panics_doc)]

mod answers;
mod server;
mod sources;
