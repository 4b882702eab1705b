//! The ledger of outputs: transfers by protostones, against a second implementation, through reorganisations, and on real
//! blocks. Contracts are stand-ins, see `stand_in`, except in `contracts`.
#![allow(missing_docs, clippy::unwrap_used)]

mod against_model;
mod base_runes;
mod chain;
mod contracts;
mod listings;
mod long_sheets;
mod messages;
mod model;
mod real_blocks;
mod reorganisation;
mod rules;
mod scenario;
mod stand_in;
