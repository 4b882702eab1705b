//! Blocks of inscriptions for tests: reveals and moves, and the state of the ledger after them.

use bitcoin::hashes::Hash as _;
use bitcoin::{OutPoint, ScriptBuf, Txid};
use bytes::Bytes;
use paraffin_primitives::Height;

use crate::brc20::{Amount, Balance, Brc20Event, MemoryLedger, Rules, Token, apply_block};
use crate::event::{Destination, EnvelopeFields, EventKind, InscriptionEvent, InscriptionId};

pub(in crate::brc20) const ONE: u128 = 1_000_000_000_000_000_000;

/// Rules with all borders close together.
pub(in crate::brc20) fn rules() -> Rules {
    Rules { first_hash: 5, first_event: 10, self_mint: 20, six_bytes: 40, swap_refund: None }
}

/// The script of an owner by number.
pub(in crate::brc20) fn script(who: u8) -> ScriptBuf {
    ScriptBuf::from([&[0x00, 0x14][..], &[who; 20]].concat())
}

pub(in crate::brc20) fn id(number: u32) -> InscriptionId {
    let mut bytes = [0; 32];
    bytes[..4].copy_from_slice(&number.to_le_bytes());
    InscriptionId { txid: Txid::from_byte_array(bytes), index: 0 }
}

fn output(number: u32, script_pubkey: ScriptBuf) -> Destination {
    let script_pubkey = script_pubkey.into_boxed_script().into();
    Destination::Output { outpoint: OutPoint { txid: id(number).txid, vout: 0 }, offset: 0, script_pubkey }
}

/// A reveal of `body` to `owner`.
pub(in crate::brc20) fn reveal(number: u32, owner: ScriptBuf, body: &[u8]) -> InscriptionEvent {
    InscriptionEvent {
        txid: id(number).txid,
        transaction_index: 1,
        id: id(number),
        destination: output(number, owner),
        kind: EventKind::Revealed {
            number: 0,
            is_vindicated: false,
            is_first_on_sat: true,
            parents: Vec::new(),
            envelope: Some(Box::new(EnvelopeFields {
                body: Some(Bytes::copy_from_slice(body)),
                content_type: Some(Bytes::from_static(b"text/plain;charset=utf-8")),
                ..EnvelopeFields::default()
            })),
        },
    }
}

/// A reveal with some members changed.
pub(in crate::brc20) fn revealed_with(
    mut event: InscriptionEvent,
    change: impl FnOnce(&mut i32, &mut bool, &mut Vec<InscriptionId>, &mut Option<Bytes>),
) -> InscriptionEvent {
    if let EventKind::Revealed { number, is_vindicated, parents, envelope: Some(envelope), .. } = &mut event.kind {
        change(number, is_vindicated, parents, &mut envelope.content_type);
    }
    event
}

pub(in crate::brc20) fn child_of(event: InscriptionEvent, parent: u32) -> InscriptionEvent {
    revealed_with(event, |_, _, parents, _| parents.push(id(parent)))
}

/// A move by a transaction with its own id.
pub(in crate::brc20) fn moved(number: u32, destination: Destination) -> InscriptionEvent {
    let mut txid = id(number).txid.to_byte_array();
    txid[31] = 1;
    InscriptionEvent {
        txid: Txid::from_byte_array(txid),
        transaction_index: 2,
        id: id(number),
        destination,
        kind: EventKind::Moved { moves: 0 },
    }
}

pub(in crate::brc20) fn moved_to(number: u32, owner: ScriptBuf) -> InscriptionEvent {
    moved(number, output(number, owner))
}

pub(in crate::brc20) fn mint(ticker: &str, amount: &str) -> String {
    format!(r#"{{"p":"brc-20","op":"mint","tick":"{ticker}","amt":"{amount}"}}"#)
}

pub(in crate::brc20) fn transfer(ticker: &str, amount: &str) -> String {
    format!(r#"{{"p":"brc-20","op":"transfer","tick":"{ticker}","amt":"{amount}"}}"#)
}

pub(in crate::brc20) fn deploy(ticker: &str, rest: &str) -> String {
    format!(r#"{{"p":"brc-20","op":"deploy","tick":"{ticker}",{rest}}}"#)
}

/// A ledger at a height.
#[derive(Default)]
pub(in crate::brc20) struct Scene {
    pub(in crate::brc20) ledger: MemoryLedger,
    pub(in crate::brc20) rules: Option<Rules>,
    next: u32,
}

impl Scene {
    /// Applies a block.
    pub(in crate::brc20) fn block(&mut self, height: Height, events: &[InscriptionEvent]) -> Vec<Brc20Event> {
        let rules = self.rules.clone().unwrap_or_else(rules);
        apply_block(&rules, height, events, &mut self.ledger).unwrap()
    }

    /// Reveals `body` to `who` in a block of its own; the events and the number of the inscription.
    pub(in crate::brc20) fn inscribe(&mut self, height: Height, who: u8, body: &str) -> (u32, Vec<Brc20Event>) {
        self.next += 1;
        let number = self.next;
        (number, self.block(height, &[reveal(number, script(who), body.as_bytes())]))
    }

    /// Whether an inscription of `who` had an effect.
    pub(in crate::brc20) fn counts(&mut self, height: Height, who: u8, body: &str) -> bool {
        !self.inscribe(height, who, body).1.is_empty()
    }

    pub(in crate::brc20) fn balance(&self, who: u8, ticker: &str) -> Balance {
        let tokens = self.ledger.balances.get(&script(who));
        tokens.and_then(|tokens| tokens.get(ticker)).copied().unwrap_or_default()
    }

    pub(in crate::brc20) fn token(&self, ticker: &str) -> Token {
        self.ledger.tokens[ticker].clone()
    }
}

pub(in crate::brc20) fn balance(overall: u128, available: u128) -> Balance {
    Balance { overall: Amount(overall), available: Amount(available) }
}

/// A token `ordi` with 18 decimals, of which `who` has minted 100.
pub(in crate::brc20) fn with_ordi(who: u8) -> Scene {
    let mut scene = Scene::default();
    assert!(scene.counts(10, 99, &deploy("ordi", r#""max":"1000","lim":"100""#)));
    assert!(scene.counts(10, who, &mint("ordi", "100")));
    scene
}
