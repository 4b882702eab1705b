//! Keys and values of the tables as bytes.

use bitcoin::Txid;
use bitcoin::hashes::{Hash as _, sha256};
use paraffin_primitives::{AlkaneId, Height};
use ruint::aliases::U256;

use super::IndexError;

/// Longest name of a slot that is stored as it is, bytes; the store's keys end at 4,096.
const SLOT_NAME_LEN_MAX: usize = 1024;

/// The row of a contract that may be a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PoolRow {
    pub(crate) first_height: Height,
    pub(crate) first_time: u32,
    pub(crate) from_init: bool,
    pub(crate) identity: Option<Identity>,
}

/// The identity of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// Its number among all pools in the order in which they were found.
    pub number: u32,
    /// Its coins in the contract's order.
    pub coins: [AlkaneId; 2],
    /// Precision of each coin: the value of a base unit in 1e18.
    pub precisions: [U256; 2],
}

/// A swap as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SwapRow {
    pub(crate) height: Height,
    pub(crate) time: u32,
    pub(crate) txid: Txid,
    pub(crate) vout: u32,
    pub(crate) zero_for_one: bool,
    pub(crate) amount_in: u128,
    pub(crate) amount_out: u128,
}

/// Volume of a pool since its creation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Number of trades.
    pub swaps: u32,
    /// Of token 0 and token 1, both directions, base units.
    pub volumes: [U256; 2],
    /// Number of the newest trade that has a price.
    pub newest_priced: Option<u32>,
}

/// Counts of operations on pools in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BlockSummary {
    /// Transactions that called a pool.
    pub transactions: u32,
    /// Trades.
    pub swaps: u32,
    /// Pools that were found.
    pub new_pools: u32,
    /// Deposits.
    pub deposits: u32,
    /// Withdrawals, of both coins or of one.
    pub withdrawals: u32,
    /// Claims of the protocol's part of the fees.
    pub claims: u32,
    /// Changes by an owner.
    pub admin: u32,
}

pub(crate) fn id_key(id: AlkaneId) -> Vec<u8> {
    let mut key = Vec::with_capacity(45);
    append_id(id, &mut key);
    key
}

fn append_id(id: AlkaneId, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&id.block.to_be_bytes());
    bytes.extend_from_slice(&id.tx.to_be_bytes());
}

pub(crate) fn slot_key(contract: AlkaneId, name: &[u8]) -> Vec<u8> {
    let mut key = id_key(contract);
    if name.len() <= SLOT_NAME_LEN_MAX {
        key.push(0);
        key.extend_from_slice(name);
    } else {
        key.push(1);
        key.extend_from_slice(sha256::Hash::hash(name).as_byte_array());
    }
    key
}

pub(crate) fn swap_key(pool: AlkaneId, number: u32) -> Vec<u8> {
    let mut key = id_key(pool);
    key.extend_from_slice(&number.to_be_bytes());
    key
}

/// A number without the zeros at its front, behind its length.
pub(crate) fn append_wide(number: U256, bytes: &mut Vec<u8>) {
    let all = number.to_be_bytes::<32>();
    let from = number.leading_zeros() / 8;
    bytes.push((32 - from) as u8);
    bytes.extend_from_slice(&all[from..]);
}

impl PoolRow {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(100);
        bytes.extend_from_slice(&self.first_height.to_be_bytes());
        bytes.extend_from_slice(&self.first_time.to_be_bytes());
        bytes.push(u8::from(self.from_init));
        if let Some(Identity { number, coins, precisions }) = self.identity {
            bytes.extend_from_slice(&number.to_be_bytes());
            for coin in coins {
                append_id(coin, &mut bytes);
            }
            for precision in precisions {
                append_wide(precision, &mut bytes);
            }
        }
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, IndexError> {
        let mut parser = Parser::new("pools", bytes);
        let (first_height, first_time, from_init) = (parser.number()?, parser.number()?, parser.flag()?);
        let identity = if parser.is_empty() {
            None
        } else {
            Some(Identity {
                number: parser.number()?,
                coins: [parser.id()?, parser.id()?],
                precisions: [parser.wide()?, parser.wide()?],
            })
        };
        parser.end(Self { first_height, first_time, from_init, identity })
    }
}

impl SwapRow {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(80);
        bytes.extend_from_slice(&self.height.to_be_bytes());
        bytes.extend_from_slice(&self.time.to_be_bytes());
        bytes.extend_from_slice(self.txid.as_byte_array());
        bytes.extend_from_slice(&self.vout.to_be_bytes());
        bytes.push(u8::from(self.zero_for_one));
        for amount in [self.amount_in, self.amount_out] {
            append_wide(U256::from(amount), &mut bytes);
        }
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, IndexError> {
        let mut parser = Parser::new("swaps", bytes);
        let (height, time) = (parser.number()?, parser.number()?);
        let txid = Txid::from_byte_array(parser.array()?);
        let (vout, zero_for_one) = (parser.number()?, parser.flag()?);
        let (amount_in, amount_out) = (parser.amount()?, parser.amount()?);
        parser.end(Self { height, time, txid, vout, zero_for_one, amount_in, amount_out })
    }
}

impl Totals {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(40);
        bytes.extend_from_slice(&self.swaps.to_be_bytes());
        for volume in self.volumes {
            append_wide(volume, &mut bytes);
        }
        if let Some(number) = self.newest_priced {
            bytes.extend_from_slice(&number.to_be_bytes());
        }
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, IndexError> {
        let mut parser = Parser::new("totals", bytes);
        let (swaps, volumes) = (parser.number()?, [parser.wide()?, parser.wide()?]);
        let newest_priced = if parser.is_empty() { None } else { Some(parser.number()?) };
        parser.end(Self { swaps, volumes, newest_priced })
    }
}

impl BlockSummary {
    fn numbers(&mut self) -> [&mut u32; 7] {
        let Self { transactions, swaps, new_pools, deposits, withdrawals, claims, admin } = self;
        [transactions, swaps, new_pools, deposits, withdrawals, claims, admin]
    }

    pub(crate) fn encode(mut self) -> Vec<u8> {
        self.numbers().into_iter().flat_map(|number| number.to_be_bytes()).collect()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, IndexError> {
        let mut parser = Parser::new("summaries", bytes);
        let mut summary = Self::default();
        for number in summary.numbers() {
            *number = parser.number()?;
        }
        parser.end(summary)
    }
}

/// The value in table `slots`: without a txid the slot was written before the contract was watched.
pub(crate) fn encode_slot(txid: Option<Txid>, value: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(33 + value.len());
    bytes.push(u8::from(txid.is_some()));
    if let Some(txid) = txid {
        bytes.extend_from_slice(txid.as_byte_array());
    }
    bytes.extend_from_slice(value);
    bytes
}

pub(crate) fn decode_slot(bytes: &[u8]) -> Result<(Option<Txid>, Vec<u8>), IndexError> {
    let mut parser = Parser::new("slots", bytes);
    let txid = if parser.flag()? { Some(Txid::from_byte_array(parser.array()?)) } else { None };
    Ok((txid, parser.bytes.to_vec()))
}

/// A count of 4 bytes; 0 when there is none.
pub(crate) fn decode_count(what: &'static str, stored: Option<&[u8]>) -> Result<u32, IndexError> {
    let Some(stored) = stored else { return Ok(0) };
    let mut parser = Parser::new(what, stored);
    let count = parser.number()?;
    parser.end(count)
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

    fn damaged(&self) -> IndexError {
        IndexError::Damaged(format!("a row of {} has a wrong form", self.what))
    }

    fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], IndexError> {
        let (taken, rest) = self.bytes.split_first_chunk::<N>().ok_or_else(|| self.damaged())?;
        self.bytes = rest;
        Ok(*taken)
    }

    pub(crate) fn number(&mut self) -> Result<u32, IndexError> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    pub(crate) fn flag(&mut self) -> Result<bool, IndexError> {
        match self.array()? {
            [0] => Ok(false),
            [1] => Ok(true),
            _ => Err(self.damaged()),
        }
    }

    pub(crate) fn id(&mut self) -> Result<AlkaneId, IndexError> {
        let mut part = || Ok::<_, IndexError>(u128::from_be_bytes(self.array()?));
        Ok(AlkaneId { block: part()?, tx: part()? })
    }

    pub(crate) fn wide(&mut self) -> Result<U256, IndexError> {
        let [length] = self.array()?;
        let (taken, rest) = self.bytes.split_at_checked(usize::from(length)).ok_or_else(|| self.damaged())?;
        self.bytes = rest;
        U256::try_from_be_slice(taken).ok_or_else(|| self.damaged())
    }

    fn amount(&mut self) -> Result<u128, IndexError> {
        let number = self.wide()?;
        u128::try_from(number).map_err(|_| self.damaged())
    }

    /// `value` when nothing is left.
    pub(crate) fn end<T>(&self, value: T) -> Result<T, IndexError> {
        if self.is_empty() { Ok(value) } else { Err(self.damaged()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(tx: u128) -> AlkaneId {
        AlkaneId { block: 4, tx }
    }

    #[test]
    fn rows_come_back() {
        let precisions = [U256::from(10_000_000_000u64), U256::MAX];
        let identity = Identity { number: 7, coins: [id(1), id(u128::MAX)], precisions };
        for identity in [None, Some(identity)] {
            let row = PoolRow { first_height: 5, first_time: 6, from_init: true, identity };
            assert_eq!(PoolRow::decode(&row.encode()).unwrap(), row);
        }
        let txid = Txid::from_byte_array([3; 32]);
        let swap =
            SwapRow { height: 1, time: 2, txid, vout: 3, zero_for_one: true, amount_in: u128::MAX, amount_out: 0 };
        let bytes = swap.encode();
        assert_eq!(SwapRow::decode(&bytes).unwrap(), swap);
        for length in 0..bytes.len() {
            assert!(SwapRow::decode(&bytes[..length]).is_err(), "{length}");
        }
        for newest_priced in [None, Some(4)] {
            let totals = Totals { swaps: 5, volumes: [U256::MAX, U256::ZERO], newest_priced };
            assert_eq!(Totals::decode(&totals.encode()).unwrap(), totals);
        }
        let summary = BlockSummary {
            transactions: 1,
            swaps: 2,
            new_pools: 3,
            deposits: 4,
            withdrawals: 5,
            claims: 6,
            admin: u32::MAX,
        };
        assert_eq!(BlockSummary::decode(&summary.encode()).unwrap(), summary);
        for txid in [None, Some(txid)] {
            assert_eq!(decode_slot(&encode_slot(txid, b"value")).unwrap(), (txid, b"value".to_vec()));
        }
    }

    #[test]
    fn long_slot_names_have_keys_of_their_own() {
        let long = vec![b'a'; SLOT_NAME_LEN_MAX + 1];
        let mut longer = long.clone();
        longer.push(b'b');
        let keys =
            [slot_key(id(1), &long), slot_key(id(1), &longer), slot_key(id(1), &long[1..]), slot_key(id(2), &long)];
        for (index, key) in keys.iter().enumerate() {
            assert!(key.len() <= paraffin_store::KEY_LEN_MAX);
            assert!(!keys[..index].contains(key));
        }
    }
}
