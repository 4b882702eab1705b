use bitcoin::Script;
use paraffin_primitives::AlkaneId;
use sha2::{Digest, Sha256};

use super::{Parser, append_id, id_key};
use crate::StateError;
use crate::codec::append_varint;

/// SHA-256 of a script, under which everything about it is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScriptKey(pub [u8; 32]);

impl ScriptKey {
    /// The key of a script.
    pub fn of(script: &Script) -> Self {
        Self(Sha256::digest(script.as_bytes()).into())
    }
}

/// A holder of an alkane: a script or a contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Holder {
    /// Outputs with this script.
    Script(ScriptKey),
    /// A contract.
    Contract(AlkaneId),
}

/// Mark of a script in keys.
const SCRIPT: u8 = 0;
/// Mark of a contract in keys.
const CONTRACT: u8 = 1;

impl Holder {
    pub(crate) fn append_to(self, key: &mut Vec<u8>) {
        match self {
            Self::Script(script) => {
                key.push(SCRIPT);
                key.extend_from_slice(&script.0);
            }
            Self::Contract(id) => {
                key.push(CONTRACT);
                append_id(id, key);
            }
        }
    }

    pub(crate) fn parse(parser: &mut Parser<'_>) -> Result<Self, StateError> {
        match parser.array()? {
            [SCRIPT] => Ok(Self::Script(ScriptKey(parser.array()?))),
            [CONTRACT] => Ok(Self::Contract(parser.id()?)),
            _ => Err(parser.damaged()),
        }
    }
}

/// Key in table `held`; without `what`, the prefix of everything that the holder has.
pub(crate) fn held_key(holder: Holder, what: Option<AlkaneId>) -> Vec<u8> {
    let mut key = Vec::with_capacity(48);
    holder.append_to(&mut key);
    if let Some(what) = what {
        append_id(what, &mut key);
    }
    key
}

/// Key in table `holdings`.
pub(crate) fn holding_key(what: AlkaneId, holder: Holder) -> Vec<u8> {
    let mut key = id_key(what);
    holder.append_to(&mut key);
    key
}

/// Key in table `ranking`: greater amounts first.
pub(crate) fn ranking_key(what: AlkaneId, amount: WideAmount, holder: Holder) -> Vec<u8> {
    let mut key = id_key(what);
    key.extend(rank(amount, holder));
    key
}

/// The part of a key of table `ranking` behind its id.
pub(crate) fn rank(amount: WideAmount, holder: Holder) -> Vec<u8> {
    let mut key = Vec::with_capacity(58);
    amount.append_inverted(&mut key);
    holder.append_to(&mut key);
    key
}

/// Decodes a key of [`ranking_key`] without its id.
pub(crate) fn parse_ranking_key(parser: &mut Parser<'_>) -> Result<(WideAmount, Holder), StateError> {
    let length = usize::from(!parser.array::<1>()?[0]);
    let mut amount = WideAmount::default();
    if length > 24 {
        return Err(parser.damaged());
    }
    for byte in parser.take(length)? {
        amount.high = amount.high << 8 | (amount.low >> 120) as u64;
        amount.low = amount.low << 8 | u128::from(!byte);
    }
    Ok((amount, Holder::parse(parser)?))
}

/// A sum of amounts over outputs. One sheet ends at 2^128 - 1, the sum of several does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct WideAmount {
    pub(crate) high: u64,
    pub(crate) low: u128,
}

impl WideAmount {
    pub(crate) fn add(&mut self, amount: u128) {
        let (low, carried) = self.low.overflowing_add(amount);
        self.low = low;
        self.high += u64::from(carried);
    }

    /// Subtracts an amount that was added before.
    pub(crate) fn subtract(&mut self, amount: u128) {
        let (low, borrowed) = self.low.overflowing_sub(amount);
        self.low = low;
        self.high = self.high.saturating_sub(u64::from(borrowed));
    }

    /// The amount, or 2^128 - 1 when it is above that.
    pub(crate) fn saturated(self) -> u128 {
        if self.high == 0 { self.low } else { u128::MAX }
    }

    pub(crate) fn is_zero(self) -> bool {
        self == Self::default()
    }

    fn append_inverted(self, key: &mut Vec<u8>) {
        let mut bytes = [0; 24];
        bytes[..8].copy_from_slice(&self.high.to_be_bytes());
        bytes[8..].copy_from_slice(&self.low.to_be_bytes());
        let skipped = bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len());
        key.push(!((bytes.len() - skipped) as u8));
        key.extend(bytes[skipped..].iter().map(|byte| !byte));
    }

    pub(crate) fn append_to(self, bytes: &mut Vec<u8>) {
        append_varint(u128::from(self.high), bytes);
        append_varint(self.low, bytes);
    }

    pub(crate) fn parse(parser: &mut Parser<'_>) -> Result<Self, StateError> {
        Ok(Self { high: parser.small()?, low: parser.varint()? })
    }
}

/// How many hold an alkane, and how much.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HolderCounts {
    /// Scripts with a positive amount.
    pub scripts: u64,
    /// Contracts with a positive amount.
    pub contracts: u64,
    /// Base units in unspent outputs; 2^128 - 1 also stands for more.
    pub in_outputs: u128,
    /// Base units that contracts hold; 2^128 - 1 also stands for more.
    pub in_contracts: u128,
}

/// The row behind [`HolderCounts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct CountsRow {
    pub(crate) scripts: u64,
    pub(crate) contracts: u64,
    pub(crate) in_outputs: WideAmount,
    pub(crate) in_contracts: WideAmount,
}

impl CountsRow {
    pub(crate) fn encode(self) -> Vec<u8> {
        let mut bytes = Vec::new();
        append_varint(u128::from(self.scripts), &mut bytes);
        append_varint(u128::from(self.contracts), &mut bytes);
        self.in_outputs.append_to(&mut bytes);
        self.in_contracts.append_to(&mut bytes);
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, StateError> {
        let mut parser = Parser::new("holder_counts", bytes);
        Ok(Self {
            scripts: parser.small()?,
            contracts: parser.small()?,
            in_outputs: WideAmount::parse(&mut parser)?,
            in_contracts: WideAmount::parse(&mut parser)?,
        })
    }
}

impl From<CountsRow> for HolderCounts {
    fn from(row: CountsRow) -> Self {
        Self {
            scripts: row.scripts,
            contracts: row.contracts,
            in_outputs: row.in_outputs.saturated(),
            in_contracts: row.in_contracts.saturated(),
        }
    }
}

/// A row of table `held`: amount, and number of outputs with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct HeldRow {
    pub(crate) outputs: u64,
    pub(crate) amount: WideAmount,
}

impl HeldRow {
    pub(crate) fn encode(self) -> Vec<u8> {
        let mut bytes = Vec::new();
        append_varint(u128::from(self.outputs), &mut bytes);
        self.amount.append_to(&mut bytes);
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, StateError> {
        let mut parser = Parser::new("held", bytes);
        Ok(Self { outputs: parser.small()?, amount: WideAmount::parse(&mut parser)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn holder() -> impl Strategy<Value = Holder> {
        prop_oneof![
            any::<[u8; 32]>().prop_map(|key| Holder::Script(ScriptKey(key))),
            (any::<u8>(), any::<u128>())
                .prop_map(|(block, tx)| Holder::Contract(AlkaneId { block: u128::from(block), tx })),
        ]
    }

    proptest! {
        #[test]
        fn the_ranking_puts_greater_amounts_first(
            left in (any::<u64>(), any::<u128>(), 0u32..128, holder()), right in (any::<u64>(), any::<u128>(), 0u32..128, holder()),
        ) {
            let what = AlkaneId { block: 2, tx: 1 };
            let [left, right] = [left, right].map(|(high, low, shift, holder)| {
                (WideAmount { high: if shift % 2 == 0 { 0 } else { high }, low: low >> shift }, holder)
            });
            let keys = [left, right].map(|(amount, holder)| ranking_key(what, amount, holder));
            prop_assert_eq!(keys[0].cmp(&keys[1]), right.0.cmp(&left.0).then(left.1.cmp(&right.1)));
            let mut parser = Parser::new("ranking", &keys[0]);
            parser.id().unwrap();
            prop_assert_eq!(parse_ranking_key(&mut parser).unwrap(), left);
        }

        #[test]
        fn sums_above_the_limit_come_back(amounts in proptest::collection::vec(any::<u128>(), 1..20)) {
            let mut sum = WideAmount::default();
            for amount in &amounts {
                sum.add(*amount);
            }
            for amount in &amounts[1..] {
                sum.subtract(*amount);
            }
            prop_assert_eq!(sum, WideAmount { high: 0, low: amounts[0] });
            sum.subtract(amounts[0]);
            prop_assert!(sum.is_zero());
        }
    }
}
