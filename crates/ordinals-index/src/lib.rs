//! Inscriptions, sats, runes and BRC-20 by the rules of the reference indexers.
#![forbid(unsafe_code)]

pub mod event;
