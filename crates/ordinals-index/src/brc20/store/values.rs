//! Values of the tables.

use bitcoin::hashes::Hash as _;
use bitcoin::{ScriptBuf, Txid};
use paraffin_primitives::Height;

use super::keys::id_part;
use crate::brc20::action::{Action, Brc20Event};
use crate::brc20::amount::Amount;
use crate::brc20::hashes::BlockHashes;
use crate::brc20::ledger::{Balance, LedgerError, Note, Token};
use crate::brc20::ticker::Ticker;
use crate::event::InscriptionId;

/// A bit of the kind of an event whose transaction is not that of its inscription.
const OWN_TXID: u8 = 0x80;
const PREDEPLOY: u8 = 1;
const DEPLOY: u8 = 2;
const MINT: u8 = 3;
const TRANSFER_INSCRIBE: u8 = 4;
const TRANSFER_TRANSFER: u8 = 5;

/// Puts a value together.
struct Encoder(Vec<u8>);

impl Encoder {
    fn new() -> Self {
        Self(Vec::with_capacity(128))
    }

    fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    fn byte(self, byte: u8) -> Self {
        self.bytes(&[byte])
    }

    fn number(self, number: u32) -> Self {
        self.bytes(&number.to_be_bytes())
    }

    /// The number of bytes, then the bytes, the highest first.
    fn amount(self, amount: Amount) -> Self {
        self.integer(amount.0)
    }

    fn integer(self, value: u128) -> Self {
        let bytes = value.to_be_bytes();
        let skipped = value.leading_zeros() as usize / 8;
        self.byte((bytes.len() - skipped) as u8).bytes(&bytes[skipped..])
    }

    fn counted(self, bytes: &[u8]) -> Self {
        self.integer(bytes.len() as u128).bytes(bytes)
    }

    fn ticker(self, ticker: &Ticker) -> Self {
        self.counted(ticker.lower().as_bytes()).counted(ticker.original().as_bytes())
    }
}

/// Takes a value apart from the front.
struct Parser<'b> {
    bytes: &'b [u8],
    what: &'static str,
}

impl<'b> Parser<'b> {
    fn new(what: &'static str, bytes: &'b [u8]) -> Self {
        Self { bytes, what }
    }

    fn damaged(&self) -> LedgerError {
        LedgerError::Damaged(self.what)
    }

    fn take(&mut self, length: usize) -> Result<&'b [u8], LedgerError> {
        let (taken, rest) = self.bytes.split_at_checked(length).ok_or_else(|| self.damaged())?;
        self.bytes = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], LedgerError> {
        let (taken, rest) = self.bytes.split_first_chunk::<N>().ok_or_else(|| self.damaged())?;
        self.bytes = rest;
        Ok(*taken)
    }

    fn byte(&mut self) -> Result<u8, LedgerError> {
        Ok(self.array::<1>()?[0])
    }

    fn flag(&mut self) -> Result<bool, LedgerError> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(self.damaged()),
        }
    }

    fn number(&mut self) -> Result<u32, LedgerError> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    fn integer(&mut self) -> Result<u128, LedgerError> {
        let length = usize::from(self.byte()?);
        if length > 16 {
            return Err(self.damaged());
        }
        Ok(self.take(length)?.iter().fold(0, |value, byte| value << 8 | u128::from(*byte)))
    }

    fn small<T: TryFrom<u128>>(&mut self) -> Result<T, LedgerError> {
        T::try_from(self.integer()?).map_err(|_| self.damaged())
    }

    fn amount(&mut self) -> Result<Amount, LedgerError> {
        self.integer().map(Amount)
    }

    fn counted(&mut self) -> Result<&'b [u8], LedgerError> {
        let length = self.small()?;
        self.take(length)
    }

    fn text(&mut self) -> Result<String, LedgerError> {
        String::from_utf8(self.counted()?.to_vec()).map_err(|_| self.damaged())
    }

    fn ticker(&mut self) -> Result<Ticker, LedgerError> {
        Ok(Ticker::from_row(self.text()?, self.text()?))
    }

    fn script(&mut self) -> Result<ScriptBuf, LedgerError> {
        Ok(ScriptBuf::from(self.counted()?.to_vec()))
    }

    fn id(&mut self) -> Result<InscriptionId, LedgerError> {
        Ok(InscriptionId { txid: Txid::from_byte_array(self.array()?), index: self.number()? })
    }

    fn end(&self) -> Result<(), LedgerError> {
        if self.bytes.is_empty() { Ok(()) } else { Err(self.damaged()) }
    }
}

pub(crate) fn encode_token(token: &Token) -> Vec<u8> {
    Encoder::new()
        .ticker(&token.ticker)
        .bytes(&id_part(token.deployment))
        .number(token.deployed_at)
        .number(token.deployed_as)
        .byte(token.decimals)
        .byte(token.is_self_mint.into())
        .amount(token.max_supply)
        .amount(token.remaining)
        .amount(token.limit_per_mint)
        .amount(token.burned)
        .integer(token.holders.into())
        .integer(token.mints.into())
        .integer(token.transfers.into())
        .0
}

pub(crate) fn decode_token(value: &[u8]) -> Result<Token, LedgerError> {
    let mut parser = Parser::new("a token", value);
    let ticker = parser.ticker()?;
    let deployment = parser.id()?;
    let (deployed_at, deployed_as) = (parser.number()?, parser.number()?);
    let (decimals, is_self_mint) = (parser.byte()?, parser.flag()?);
    let token = Token {
        ticker,
        deployment,
        deployed_at,
        deployed_as,
        decimals,
        is_self_mint,
        max_supply: parser.amount()?,
        remaining: parser.amount()?,
        limit_per_mint: parser.amount()?,
        burned: parser.amount()?,
        holders: parser.small()?,
        mints: parser.small()?,
        transfers: parser.small()?,
    };
    parser.end()?;
    Ok(token)
}

pub(crate) fn encode_balance(balance: Balance) -> Vec<u8> {
    Encoder::new().amount(balance.overall).amount(balance.available).0
}

pub(crate) fn decode_balance(value: &[u8]) -> Result<Balance, LedgerError> {
    let mut parser = Parser::new("a balance", value);
    let balance = Balance { overall: parser.amount()?, available: parser.amount()? };
    parser.end()?;
    Ok(balance)
}

pub(crate) fn encode_amount(amount: Amount) -> Vec<u8> {
    Encoder::new().amount(amount).0
}

pub(crate) fn decode_amount(value: &[u8]) -> Result<Amount, LedgerError> {
    let mut parser = Parser::new("an amount", value);
    let amount = parser.amount()?;
    parser.end()?;
    Ok(amount)
}

pub(crate) fn encode_note(note: &Note) -> Vec<u8> {
    let encoder = Encoder::new().ticker(&note.ticker).byte(note.decimals).amount(note.amount).number(note.height);
    encoder.bytes(note.source.as_bytes()).0
}

pub(crate) fn decode_note(value: &[u8]) -> Result<Note, LedgerError> {
    let mut parser = Parser::new("a transfer inscription", value);
    let (ticker, decimals, amount) = (parser.ticker()?, parser.byte()?, parser.amount()?);
    let height = parser.number()?;
    Ok(Note { ticker, decimals, amount, source: ScriptBuf::from(parser.bytes.to_vec()), height })
}

/// The value of a listed note.
pub(crate) fn encode_listed_note(amount: Amount, height: Height) -> Vec<u8> {
    Encoder::new().amount(amount).number(height).0
}

pub(crate) fn decode_listed_note(value: &[u8]) -> Result<(Amount, Height), LedgerError> {
    let mut parser = Parser::new("a listed transfer inscription", value);
    let listed = (parser.amount()?, parser.number()?);
    parser.end()?;
    Ok(listed)
}

pub(crate) fn encode_hashes(hashes: &BlockHashes, events: u32) -> Vec<u8> {
    Encoder::new().bytes(&hashes.block).bytes(&hashes.cumulative).number(events).0
}

pub(crate) fn decode_hashes(value: &[u8]) -> Result<(BlockHashes, u32), LedgerError> {
    let mut parser = Parser::new("the hashes of a block", value);
    let hashes = BlockHashes { block: parser.array()?, cumulative: parser.array()? };
    let events = parser.number()?;
    parser.end()?;
    Ok((hashes, events))
}

/// The number of an event's kind.
pub(crate) const fn kind_of(action: &Action) -> u8 {
    match action {
        Action::Predeploy { .. } => PREDEPLOY,
        Action::Deploy { .. } => DEPLOY,
        Action::Mint { .. } => MINT,
        Action::TransferInscribe { .. } => TRANSFER_INSCRIBE,
        Action::TransferTransfer { .. } => TRANSFER_TRANSFER,
    }
}

/// Whether a kind is that of a predeploy.
pub(crate) fn is_predeploy(kind: &[u8]) -> bool {
    kind == [PREDEPLOY]
}

pub(crate) fn encode_event(event: &Brc20Event) -> Vec<u8> {
    let has_own = event.txid != event.inscription.txid;
    let kind = kind_of(&event.action) | if has_own { OWN_TXID } else { 0 };
    let mut encoder = Encoder::new().byte(kind).bytes(&id_part(event.inscription));
    if has_own {
        encoder = encoder.bytes(event.txid.as_byte_array());
    }
    match &event.action {
        Action::Predeploy { owner, hash, height } => {
            encoder.counted(owner.as_bytes()).counted(hash.as_bytes()).number(*height)
        }
        Action::Deploy { owner, ticker, decimals, max_supply, limit_per_mint, is_self_mint } => encoder
            .counted(owner.as_bytes())
            .ticker(ticker)
            .byte(*decimals)
            .amount(*max_supply)
            .amount(*limit_per_mint)
            .byte((*is_self_mint).into()),
        Action::Mint { owner, ticker, decimals, amount, parent } => {
            let encoder = encoder.counted(owner.as_bytes()).ticker(ticker).byte(*decimals).amount(*amount);
            match parent {
                None => encoder.byte(0),
                Some(parent) => encoder.byte(1).bytes(&id_part(*parent)),
            }
        }
        Action::TransferInscribe { source, ticker, decimals, amount } => {
            encoder.counted(source.as_bytes()).ticker(ticker).byte(*decimals).amount(*amount)
        }
        Action::TransferTransfer { source, target, ticker, decimals, amount } => {
            let encoder = encoder.counted(source.as_bytes()).ticker(ticker).byte(*decimals).amount(*amount);
            match target {
                None => encoder.byte(0),
                Some(target) => encoder.byte(1).counted(target.as_bytes()),
            }
        }
    }
    .0
}

pub(crate) fn decode_event(value: &[u8]) -> Result<Brc20Event, LedgerError> {
    let mut parser = Parser::new("an event", value);
    let kind = parser.byte()?;
    let inscription = parser.id()?;
    let txid = if kind & OWN_TXID == 0 { inscription.txid } else { Txid::from_byte_array(parser.array()?) };
    let action = match kind & !OWN_TXID {
        PREDEPLOY => Action::Predeploy { owner: parser.script()?, hash: parser.text()?, height: parser.number()? },
        DEPLOY => Action::Deploy {
            owner: parser.script()?,
            ticker: parser.ticker()?,
            decimals: parser.byte()?,
            max_supply: parser.amount()?,
            limit_per_mint: parser.amount()?,
            is_self_mint: parser.flag()?,
        },
        MINT => Action::Mint {
            owner: parser.script()?,
            ticker: parser.ticker()?,
            decimals: parser.byte()?,
            amount: parser.amount()?,
            parent: if parser.flag()? { Some(parser.id()?) } else { None },
        },
        TRANSFER_INSCRIBE => Action::TransferInscribe {
            source: parser.script()?,
            ticker: parser.ticker()?,
            decimals: parser.byte()?,
            amount: parser.amount()?,
        },
        TRANSFER_TRANSFER => {
            let (source, ticker) = (parser.script()?, parser.ticker()?);
            let (decimals, amount) = (parser.byte()?, parser.amount()?);
            let target = if parser.flag()? { Some(parser.script()?) } else { None };
            Action::TransferTransfer { source, target, ticker, decimals, amount }
        }
        _ => return Err(parser.damaged()),
    };
    parser.end()?;
    Ok(Brc20Event { inscription, txid, action })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn script() -> impl Strategy<Value = ScriptBuf> {
        prop::collection::vec(any::<u8>(), 0..300).prop_map(ScriptBuf::from)
    }

    fn id() -> impl Strategy<Value = InscriptionId> {
        any::<([u8; 32], u32)>().prop_map(|(txid, index)| InscriptionId { txid: Txid::from_byte_array(txid), index })
    }

    fn ticker() -> impl Strategy<Value = Ticker> {
        "\\PC{1,4}".prop_map(|original: String| Ticker::from_row(original.to_lowercase(), original))
    }

    fn amount() -> impl Strategy<Value = Amount> {
        prop_oneof![Just(0), Just(Amount::MAX.0), any::<u128>(), 0..1000u128].prop_map(Amount)
    }

    fn action() -> impl Strategy<Value = Action> {
        let one = || (script(), ticker(), 0..19u8, amount());
        prop_oneof![
            (script(), "\\PC{0,80}", any::<u32>()).prop_map(|(owner, hash, height)| Action::Predeploy {
                owner,
                hash,
                height
            }),
            (one(), amount(), any::<bool>()).prop_map(|(one, limit_per_mint, is_self_mint)| {
                let (owner, ticker, decimals, max_supply) = one;
                Action::Deploy { owner, ticker, decimals, max_supply, limit_per_mint, is_self_mint }
            }),
            (one(), prop::option::of(id())).prop_map(|((owner, ticker, decimals, amount), parent)| {
                Action::Mint { owner, ticker, decimals, amount, parent }
            }),
            one().prop_map(|(source, ticker, decimals, amount)| Action::TransferInscribe {
                source,
                ticker,
                decimals,
                amount
            }),
            (one(), prop::option::of(script())).prop_map(|((source, ticker, decimals, amount), target)| {
                Action::TransferTransfer { source, target, ticker, decimals, amount }
            }),
        ]
    }

    proptest! {
        #[test]
        fn events_read_as_they_were_written(action in action(), inscription in id(), other in prop::option::of(id())) {
            let txid = other.unwrap_or(inscription).txid;
            let event = Brc20Event { inscription, txid, action };
            prop_assert_eq!(decode_event(&encode_event(&event)).unwrap(), event);
        }

        #[test]
        fn notes_and_balances_read_as_they_were_written(
            source in script(), ticker in ticker(), amount in amount(), other in amount(), height: u32
        ) {
            let note = Note { ticker, decimals: 9, amount, source, height };
            prop_assert_eq!(decode_note(&encode_note(&note)).unwrap(), note);
            let balance = Balance { overall: amount, available: other };
            prop_assert_eq!(decode_balance(&encode_balance(balance)).unwrap(), balance);
            prop_assert_eq!(decode_amount(&encode_amount(amount)).unwrap(), amount);
            prop_assert_eq!(decode_listed_note(&encode_listed_note(amount, height)).unwrap(), (amount, height));
        }

        #[test]
        fn tokens_read_as_they_were_written(
            ticker in ticker(), deployment in id(), amounts in prop::array::uniform4(amount()),
            counts: [u64; 3], numbers: [u32; 2], is_self_mint: bool
        ) {
            let [max_supply, remaining, limit_per_mint, burned] = amounts;
            let ([holders, mints, transfers], [deployed_at, deployed_as]) = (counts, numbers);
            let token = Token {
                ticker, deployment, deployed_at, deployed_as, decimals: 3, max_supply, remaining, limit_per_mint,
                burned, is_self_mint, holders, mints, transfers,
            };
            prop_assert_eq!(decode_token(&encode_token(&token)).unwrap(), token);
        }

        #[test]
        fn no_value_panics(value in prop::collection::vec(any::<u8>(), 0..120)) {
            let _ = (decode_event(&value), decode_token(&value), decode_note(&value), decode_balance(&value));
            let _ = (decode_hashes(&value), decode_listed_note(&value), decode_amount(&value));
        }
    }
}
