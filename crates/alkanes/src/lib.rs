//! The alkanes metaprotocol. Today: how its messages are written into Bitcoin transactions and read back.
//!
//! Invariant of [`codec`]: pure functions of their arguments. Every byte string is a possible input, none of them panics,
//! and what is decoded is never larger than a fixed multiple of what was read (the multiple is named where it matters).
#![forbid(unsafe_code)]

pub mod codec;
