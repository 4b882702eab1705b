//! Keys and values of the tables as bytes.

use bitcoin::hashes::Hash;
use bitcoin::{ScriptBuf, Txid};
use paraffin_alkanes::Transfer;
use paraffin_primitives::AlkaneId;
use ruint::aliases::U256;

use crate::{Action, AmmError, ChainPosition, Event, EventKind, PoolIdentity, Ratio};

/// Length of a key in table `events`.
pub(crate) const POSITION_LEN: usize = 12;

pub(crate) fn append_id(id: AlkaneId, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&id.block.to_be_bytes());
    bytes.extend_from_slice(&id.tx.to_be_bytes());
}

pub(crate) fn id_key(id: AlkaneId) -> Vec<u8> {
    let mut key = Vec::with_capacity(37);
    append_id(id, &mut key);
    key
}

pub(crate) fn position_key(position: ChainPosition) -> [u8; POSITION_LEN] {
    let mut key = [0; POSITION_LEN];
    key[..4].copy_from_slice(&position.height.to_be_bytes());
    key[4..8].copy_from_slice(&position.transaction.to_be_bytes());
    key[8..].copy_from_slice(&position.event.to_be_bytes());
    key
}

/// Number of a kind in keys and values; 0 is taken for all of them.
pub(crate) const fn kind_number(kind: EventKind) -> u8 {
    match kind {
        EventKind::Creation => 1,
        EventKind::Swap => 2,
        EventKind::Mint => 3,
        EventKind::Burn => 4,
        EventKind::Wrap => 5,
        EventKind::Unwrap => 6,
    }
}

/// Takes bytes apart from the front.
pub(crate) struct Parser<'b> {
    bytes: &'b [u8],
    what: &'static str,
}

impl<'b> Parser<'b> {
    /// `what` names the table in errors.
    pub(crate) fn new(what: &'static str, bytes: &'b [u8]) -> Self {
        Self { bytes, what }
    }

    pub(crate) fn damaged(&self) -> AmmError {
        AmmError::Damaged(format!("a row of {} has a wrong form", self.what))
    }

    fn take(&mut self, length: usize) -> Result<&'b [u8], AmmError> {
        let (taken, rest) = self.bytes.split_at_checked(length).ok_or_else(|| self.damaged())?;
        self.bytes = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], AmmError> {
        let (taken, rest) = self.bytes.split_first_chunk::<N>().ok_or_else(|| self.damaged())?;
        self.bytes = rest;
        Ok(*taken)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, AmmError> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn number(&mut self) -> Result<u32, AmmError> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    pub(crate) fn amount(&mut self) -> Result<u128, AmmError> {
        Ok(u128::from_be_bytes(self.array()?))
    }

    pub(crate) fn wide(&mut self) -> Result<U256, AmmError> {
        Ok(U256::from_be_bytes::<32>(self.array()?))
    }

    pub(crate) fn id(&mut self) -> Result<AlkaneId, AmmError> {
        Ok(AlkaneId { block: self.amount()?, tx: self.amount()? })
    }

    pub(crate) fn ratio(&mut self) -> Result<Ratio, AmmError> {
        Ratio::new(self.amount()?, self.amount()?).ok_or_else(|| self.damaged())
    }

    pub(crate) fn position(&mut self) -> Result<ChainPosition, AmmError> {
        Ok(ChainPosition { height: self.number()?, transaction: self.number()?, event: self.number()? })
    }

    /// `value` when nothing is left.
    pub(crate) fn end<T>(&self, value: T) -> Result<T, AmmError> {
        if self.bytes.is_empty() { Ok(value) } else { Err(self.damaged()) }
    }
}

/// A count of 4 bytes; 0 when there is none.
pub(crate) fn decode_count(what: &'static str, stored: Option<&[u8]>) -> Result<u32, AmmError> {
    let Some(stored) = stored else { return Ok(0) };
    let mut parser = Parser::new(what, stored);
    let count = parser.number()?;
    parser.end(count)
}

fn append_pool(pool: &PoolIdentity, bytes: &mut Vec<u8>) {
    for id in [pool.id, pool.factory, pool.tokens[0], pool.tokens[1]] {
        append_id(id, bytes);
    }
}

fn parse_pool(parser: &mut Parser<'_>) -> Result<PoolIdentity, AmmError> {
    Ok(PoolIdentity { id: parser.id()?, factory: parser.id()?, tokens: [parser.id()?, parser.id()?] })
}

/// The value in table `events`.
pub(crate) fn encode_event(event: &Event) -> Vec<u8> {
    let mut bytes = event.txid.as_byte_array().to_vec();
    for number in [event.time, event.protostone, event.vout] {
        bytes.extend_from_slice(&number.to_be_bytes());
    }
    bytes.push(u8::from(event.successful));
    // A length of 0 is no script, one more than its length every other.
    let length = event.actor.as_ref().map_or(0, |script| script.len() as u32 + 1);
    bytes.extend_from_slice(&length.to_be_bytes());
    bytes.extend_from_slice(event.actor.as_ref().map_or(&[], |script| script.as_bytes()));
    bytes.push(kind_number(event.action.kind()));
    let mut amounts = |pool: &PoolIdentity, amounts: &[u128]| {
        append_pool(pool, &mut bytes);
        for amount in amounts {
            bytes.extend_from_slice(&amount.to_be_bytes());
        }
    };
    match &event.action {
        Action::Creation { pool, amounts: [first, second], liquidity }
        | Action::Mint { pool, amounts: [first, second], liquidity }
        | Action::Burn { pool, amounts: [first, second], liquidity } => amounts(pool, &[*first, *second, *liquidity]),
        Action::Swap { pool, sold, bought } => {
            amounts(pool, &[sold.value, bought.value]);
            bytes.push(u8::from(sold.id != pool.tokens[0]));
        }
        Action::Wrap { amount } | Action::Unwrap { amount } => bytes.extend_from_slice(&amount.to_be_bytes()),
    }
    bytes
}

/// Decodes a row of [`encode_event`].
pub(crate) fn decode_event(position: ChainPosition, bytes: &[u8]) -> Result<Event, AmmError> {
    let mut parser = Parser::new("events", bytes);
    let txid = Txid::from_byte_array(parser.array()?);
    let (time, protostone, vout) = (parser.number()?, parser.number()?, parser.number()?);
    let successful = parser.byte()? == 1;
    let actor = match parser.number()?.checked_sub(1) {
        None => None,
        Some(length) => Some(ScriptBuf::from_bytes(parser.take(length as usize)?.to_vec())),
    };
    let action = match parser.byte()? {
        2 => {
            let pool = parse_pool(&mut parser)?;
            let (sold, bought) = (parser.amount()?, parser.amount()?);
            let index = usize::from(parser.byte()? != 0);
            Action::Swap {
                pool,
                sold: Transfer { id: pool.tokens[index], value: sold },
                bought: Transfer { id: pool.tokens[1 - index], value: bought },
            }
        }
        kind @ (1 | 3 | 4) => {
            let pool = parse_pool(&mut parser)?;
            let (amounts, liquidity) = ([parser.amount()?, parser.amount()?], parser.amount()?);
            match kind {
                1 => Action::Creation { pool, amounts, liquidity },
                3 => Action::Mint { pool, amounts, liquidity },
                _ => Action::Burn { pool, amounts, liquidity },
            }
        }
        5 => Action::Wrap { amount: parser.amount()? },
        6 => Action::Unwrap { amount: parser.amount()? },
        _ => return Err(parser.damaged()),
    };
    parser.end(Event { position, txid, time, protostone, vout, actor, successful, action })
}

/// The value in table `pools`.
pub(crate) fn encode_pool(pool: &PoolIdentity, created: ChainPosition) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(140);
    append_pool(pool, &mut bytes);
    bytes.extend_from_slice(&position_key(created));
    bytes
}

/// Decodes a row of [`encode_pool`].
pub(crate) fn decode_pool(bytes: &[u8]) -> Result<(PoolIdentity, ChainPosition), AmmError> {
    let mut parser = Parser::new("pools", bytes);
    let row = (parse_pool(&mut parser)?, parser.position()?);
    parser.end(row)
}

/// Both volumes and the number of trades.
pub(crate) fn append_volumes(volumes: [U256; 2], trades: u32, bytes: &mut Vec<u8>) {
    for volume in volumes {
        bytes.extend_from_slice(&volume.to_be_bytes::<32>());
    }
    bytes.extend_from_slice(&trades.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_back_and_every_cut_is_refused() {
        let id = |tx| AlkaneId { block: 2, tx };
        let pool = PoolIdentity { id: id(9), factory: AlkaneId { block: 4, tx: 65_522 }, tokens: [id(1), id(2)] };
        let swap = Action::Swap {
            pool,
            sold: Transfer { id: id(2), value: u128::MAX },
            bought: Transfer { id: id(1), value: 3 },
        };
        let actions = [
            swap,
            Action::Creation { pool, amounts: [1, 2], liquidity: 3 },
            Action::Mint { pool, amounts: [4, 5], liquidity: 6 },
            Action::Burn { pool, amounts: [7, 8], liquidity: 9 },
            Action::Wrap { amount: 10 },
            Action::Unwrap { amount: 11 },
        ];
        let position = ChainPosition { height: 1, transaction: 2, event: 3 };
        for (action, actor) in actions.into_iter().flat_map(|action| {
            [None, Some(ScriptBuf::new()), Some(ScriptBuf::from_bytes(vec![7; 34]))].map(|actor| (action, actor))
        }) {
            let txid = Txid::from_byte_array([5; 32]);
            let event = Event { position, txid, time: 6, protostone: 1, vout: 8, actor, successful: true, action };
            let bytes = encode_event(&event);
            assert_eq!(decode_event(position, &bytes).unwrap(), event);
            for length in 0..bytes.len() {
                assert!(decode_event(position, &bytes[..length]).is_err(), "{action:?} {length}");
            }
        }
    }
}
