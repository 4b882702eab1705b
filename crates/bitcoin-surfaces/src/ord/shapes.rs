//! Shapes of the answers, for their description; `paraffin_ordinals_index` or a server of `ord` writes them.
#![expect(dead_code, reason = "only the schemas")]

use paraffin_ordinals_index::event::InscriptionId;
use schemars::JsonSchema;

use super::params::Parsed;
use paraffin_gateway::methods::{Hash, Object};

pub(super) type Id = Parsed<InscriptionId>;

/// An inscription.
#[derive(JsonSchema)]
pub(super) struct Inscription {
    id: Id,
    /// Negative for cursed inscriptions.
    number: i32,
    address: Option<String>,
    content_type: Option<String>,
    content_length: Option<u64>,
    effective_content_type: Option<String>,
    /// Satoshis.
    fee: u64,
    height: u32,
    sat: Option<u64>,
    satpoint: String,
    /// Unix seconds.
    timestamp: i64,
    /// Satoshis.
    value: Option<u64>,
    charms: Vec<String>,
    child_count: u64,
    /// The first four.
    children: Vec<Id>,
    /// The first four.
    parents: Vec<Id>,
    previous: Option<Id>,
    next: Option<Id>,
    rune: Option<String>,
    metaprotocol: Option<String>,
    properties: Object,
}

/// A page of inscriptions.
#[derive(JsonSchema)]
pub(super) struct InscriptionsPage {
    ids: Vec<Id>,
    more: bool,
    page_index: u32,
}

/// An output.
#[derive(JsonSchema)]
pub(super) struct OrdOutput {
    address: Option<String>,
    confirmations: u32,
    indexed: bool,
    inscriptions: Vec<Id>,
    outpoint: String,
    /// By name.
    runes: Object,
    sat_ranges: Option<Vec<Vec<u64>>>,
    script_pubkey: String,
    spent: bool,
    transaction: Hash,
    /// Satoshis.
    value: u64,
}

/// A rune.
#[derive(JsonSchema)]
pub(super) struct Rune {
    id: String,
    /// Integers have up to 128 bits.
    entry: Object,
    mintable: bool,
    parent: Option<Id>,
}
