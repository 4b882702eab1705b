//! Inscriptions and the scripts of their envelopes.

use bitcoin::hashes::Hash as _;
use bitcoin::opcodes::all::{OP_CHECKSIG, OP_ENDIF, OP_IF};
use bitcoin::script::{Builder, PushBytesBuf};
use bitcoin::{ScriptBuf, Txid, XOnlyPublicKey};
use ordinals::Rune;

/// Ticker of the BRC-20 token.
pub(super) const TICKER: &str = "wick";
/// Amount of one mint of the token, which is also the limit per mint.
const MINT: u64 = 1_000;
/// Longest push that a tapscript may have.
const PUSH_MAX: usize = 520;
/// The image: a candle of eight by eight pixels.
const CANDLE: &[u8] = include_bytes!("../../assets/candle.png");
const TEXT: &str = "text/plain;charset=utf-8";

/// Fields of an envelope.
mod tag {
    pub(super) const CONTENT_TYPE: u8 = 1;
    pub(super) const PARENT: u8 = 3;
    pub(super) const METADATA: u8 = 5;
    pub(super) const DELEGATE: u8 = 11;
    pub(super) const RUNE: u8 = 13;
}

/// The fields and the body of an inscription to make.
#[derive(Debug, Default)]
pub(super) struct InscriptionDraft {
    fields: Vec<(u8, Vec<u8>)>,
    body: Option<Vec<u8>>,
}

impl InscriptionDraft {
    /// Content of a type.
    fn of(content_type: &str, body: &[u8]) -> Self {
        Self { fields: vec![(tag::CONTENT_TYPE, content_type.into())], body: Some(body.to_vec()) }
    }

    pub(super) fn text(text: &str) -> Self {
        Self::of(TEXT, text.as_bytes())
    }

    pub(super) fn image() -> Self {
        Self::of("image/png", CANDLE)
    }

    /// Without content of its own: it shows that of the first inscription of `shown`.
    pub(super) fn delegate(shown: Txid) -> Self {
        Self { fields: vec![(tag::DELEGATE, id(shown))], body: None }
    }

    /// With the first inscription of `parent` as its parent; that must be among what the revealing transaction spends.
    pub(super) fn child_of(mut self, parent: Txid) -> Self {
        self.fields.push((tag::PARENT, id(parent)));
        self
    }

    /// With metadata, in CBOR.
    pub(super) fn with_metadata(mut self, cbor: &[u8]) -> Self {
        self.fields.push((tag::METADATA, cbor.to_vec()));
        self
    }

    /// Committing to the name of a rune.
    pub(super) fn etching(mut self, rune: Rune) -> Self {
        self.fields.push((tag::RUNE, rune.commitment()));
        self
    }

    pub(super) fn deploy() -> Self {
        Self::operation(&format!(r#""op":"deploy","tick":"{TICKER}","max":"21000000","lim":"{MINT}""#))
    }

    pub(super) fn mint() -> Self {
        Self::operation(&format!(r#""op":"mint","tick":"{TICKER}","amt":"{MINT}""#))
    }

    pub(super) fn transfer(amount: u64) -> Self {
        Self::operation(&format!(r#""op":"transfer","tick":"{TICKER}","amt":"{amount}""#))
    }

    fn operation(members: &str) -> Self {
        Self::text(&format!(r#"{{"p":"brc-20",{members}}}"#))
    }

    /// The script that asks for a signature of `key` and holds the envelope.
    pub(super) fn script(&self, key: &XOnlyPublicKey) -> ScriptBuf {
        let start = Builder::new().push_x_only_key(key).push_opcode(OP_CHECKSIG);
        let mut script = start.push_slice([]).push_opcode(OP_IF).push_slice(*b"ord");
        for (tag, value) in &self.fields {
            for part in value.chunks(PUSH_MAX) {
                script = script.push_slice([*tag]).push_slice(push(part));
            }
        }
        if let Some(body) = &self.body {
            script = body.chunks(PUSH_MAX).fold(script.push_slice([]), |script, part| script.push_slice(push(part)));
        }
        script.push_opcode(OP_ENDIF).into_script()
    }
}

/// An id as the value of a field: the number of the inscription in its transaction is 0, which takes no bytes.
fn id(txid: Txid) -> Vec<u8> {
    txid.to_byte_array().to_vec()
}

fn push(bytes: &[u8]) -> PushBytesBuf {
    PushBytesBuf::try_from(bytes.to_vec()).expect("a part is at most 520 bytes long")
}
