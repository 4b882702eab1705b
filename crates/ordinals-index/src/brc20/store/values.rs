//! Values of the tables.
//!
//! A script that is long is replaced by its digest and stored in table `long_scripts`: thousands of events may name one that is nearly
//! as long as a block.

use std::sync::Arc;

use bitcoin::hashes::Hash as _;
use bitcoin::{Script, Txid};
use paraffin_primitives::Height;

use super::keys::{id_part, is_long, script_digest};
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
/// Stands where the number of bytes of a length would, before the digest of a long script.
const DIGEST: u8 = 0xff;
/// A bit of the decimals of a note whose script is long.
const LONG_SOURCE: u8 = 0x80;

/// Finds the script of a digest.
pub(crate) type LongScripts<'a> = &'a dyn Fn(&[u8; 32]) -> Result<Arc<Script>, LedgerError>;

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

    fn script(self, script: &Script) -> Self {
        if is_long(script) { self.byte(DIGEST).bytes(&script_digest(script)) } else { self.counted(script.as_bytes()) }
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

    /// Rows of earlier versions hold long scripts, too.
    fn script(&mut self, long: LongScripts<'_>) -> Result<Arc<Script>, LedgerError> {
        if self.bytes.first() == Some(&DIGEST) {
            self.byte()?;
            return long(&self.array()?);
        }
        Ok(Script::from_bytes(self.counted()?).into())
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
    let is_long = is_long(&note.source);
    let decimals = note.decimals | if is_long { LONG_SOURCE } else { 0 };
    let encoder = Encoder::new().ticker(&note.ticker).byte(decimals).amount(note.amount).number(note.height);
    if is_long { encoder.bytes(&script_digest(&note.source)).0 } else { encoder.bytes(note.source.as_bytes()).0 }
}

pub(crate) fn decode_note(value: &[u8], long: LongScripts<'_>) -> Result<Note, LedgerError> {
    let mut parser = Parser::new("a transfer inscription", value);
    let (ticker, decimals, amount) = (parser.ticker()?, parser.byte()?, parser.amount()?);
    let height = parser.number()?;
    let source = if decimals & LONG_SOURCE == 0 {
        Script::from_bytes(parser.bytes).into()
    } else {
        let digest = parser.array()?;
        parser.end()?;
        long(&digest)?
    };
    Ok(Note { ticker, decimals: decimals & !LONG_SOURCE, amount, source, height })
}

/// Value of a note in the lists by script and by ticker.
pub(crate) fn encode_listed_note(amount: Amount, height: Height) -> Vec<u8> {
    Encoder::new().amount(amount).number(height).0
}

pub(crate) fn decode_listed_note(value: &[u8]) -> Result<(Amount, Height), LedgerError> {
    let mut parser = Parser::new("a listed transfer inscription", value);
    let note = (parser.amount()?, parser.number()?);
    parser.end()?;
    Ok(note)
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
        Action::Predeploy { owner, hash, height } => encoder.script(owner).counted(hash.as_bytes()).number(*height),
        Action::Deploy { owner, ticker, decimals, max_supply, limit_per_mint, is_self_mint } => encoder
            .script(owner)
            .ticker(ticker)
            .byte(*decimals)
            .amount(*max_supply)
            .amount(*limit_per_mint)
            .byte((*is_self_mint).into()),
        Action::Mint { owner, ticker, decimals, amount, parent } => {
            let encoder = encoder.script(owner).ticker(ticker).byte(*decimals).amount(*amount);
            match parent {
                None => encoder.byte(0),
                Some(parent) => encoder.byte(1).bytes(&id_part(*parent)),
            }
        }
        Action::TransferInscribe { source, ticker, decimals, amount } => {
            encoder.script(source).ticker(ticker).byte(*decimals).amount(*amount)
        }
        Action::TransferTransfer { source, target, ticker, decimals, amount } => {
            let encoder = encoder.script(source).ticker(ticker).byte(*decimals).amount(*amount);
            match target {
                None => encoder.byte(0),
                Some(target) => encoder.byte(1).script(target),
            }
        }
    }
    .0
}

pub(crate) fn decode_event(value: &[u8], long: LongScripts<'_>) -> Result<Brc20Event, LedgerError> {
    let mut parser = Parser::new("an event", value);
    let kind = parser.byte()?;
    let inscription = parser.id()?;
    let txid = if kind & OWN_TXID == 0 { inscription.txid } else { Txid::from_byte_array(parser.array()?) };
    let action = match kind & !OWN_TXID {
        PREDEPLOY => Action::Predeploy { owner: parser.script(long)?, hash: parser.text()?, height: parser.number()? },
        DEPLOY => Action::Deploy {
            owner: parser.script(long)?,
            ticker: parser.ticker()?,
            decimals: parser.byte()?,
            max_supply: parser.amount()?,
            limit_per_mint: parser.amount()?,
            is_self_mint: parser.flag()?,
        },
        MINT => Action::Mint {
            owner: parser.script(long)?,
            ticker: parser.ticker()?,
            decimals: parser.byte()?,
            amount: parser.amount()?,
            parent: if parser.flag()? { Some(parser.id()?) } else { None },
        },
        TRANSFER_INSCRIBE => Action::TransferInscribe {
            source: parser.script(long)?,
            ticker: parser.ticker()?,
            decimals: parser.byte()?,
            amount: parser.amount()?,
        },
        TRANSFER_TRANSFER => {
            let (source, ticker) = (parser.script(long)?, parser.ticker()?);
            let (decimals, amount) = (parser.byte()?, parser.amount()?);
            let target = if parser.flag()? { Some(parser.script(long)?) } else { None };
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

    /// Of all scripts of a test, the long ones.
    fn long_script() -> Arc<Script> {
        Script::from_bytes(&[0x51; 600]).into()
    }

    fn long(digest: &[u8; 32]) -> Result<Arc<Script>, LedgerError> {
        let is_long_script = *digest == script_digest(&long_script());
        is_long_script.then(long_script).ok_or(LedgerError::Damaged("no such script"))
    }

    fn script() -> impl Strategy<Value = Arc<Script>> {
        let short = prop::collection::vec(any::<u8>(), 0..300).prop_map(|bytes| Script::from_bytes(&bytes).into());
        prop_oneof![4 => short, 1 => Just(long_script())]
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
            prop_assert_eq!(decode_event(&encode_event(&event), &long).unwrap(), event);
        }

        /// An event that names a script of a megabyte is as small as any other.
        #[test]
        fn rows_do_not_grow_with_the_scripts_that_they_name(bytes in 513usize..2_000) {
            let script: Arc<Script> = Script::from_bytes(&vec![0x51; bytes]).into();
            let ticker = Ticker::from_row("ordi".to_owned(), "ordi".to_owned());
            let note = Note { ticker: ticker.clone(), decimals: 9, amount: Amount::MAX, source: Arc::clone(&script), height: 7 };
            prop_assert!(encode_note(&note).len() < 100);
            let inscription = InscriptionId { txid: Txid::from_byte_array([1; 32]), index: 0 };
            let target = Some(Arc::clone(&script));
            let action =
                Action::TransferTransfer { source: script, target, ticker, decimals: 9, amount: Amount::MAX };
            let txid = Txid::from_byte_array([2; 32]);
            let event = Brc20Event { inscription, txid, action };
            prop_assert!(encode_event(&event).len() < 200);
        }

        #[test]
        fn notes_and_balances_read_as_they_were_written(
            source in script(), ticker in ticker(), amount in amount(), other in amount(), height: u32
        ) {
            let note = Note { ticker, decimals: 9, amount, source, height };
            prop_assert_eq!(decode_note(&encode_note(&note), &long).unwrap(), note);
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
            let long = |_: &[u8; 32]| Err(LedgerError::Damaged("no such script"));
            let _ = (decode_event(&value, &long), decode_token(&value), decode_note(&value, &long), decode_balance(&value));
            let _ = (decode_hashes(&value), decode_listed_note(&value), decode_amount(&value));
        }
    }
}
