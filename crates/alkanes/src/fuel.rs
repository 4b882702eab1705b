//! The fuel of one block, shared by the size of its transactions (protocol B12).

use bitcoin::{Block, Transaction, Witness};
use paraffin_primitives::AlkaneId;

use crate::codec::{ALKANES_PROTOCOL, Cellpack, Runestone};
use crate::{Halt, Parameters};

/// The target that deploys to the next id.
const CREATE: AlkaneId = AlkaneId { block: 1, tx: 0 };

/// First part of targets that deploy to a reserved id.
const CREATE_RESERVED_BLOCK: u128 = 3;

/// The fuel of one block. It is no part of the layers: a void transaction gives nothing back (protocol B12).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FuelTank {
    /// Index in the block of the transaction that has fuel now.
    transaction: Option<u32>,
    /// Sizes of the transactions that have not had their turn, the current one included.
    size: u64,
    /// Size of the current transaction.
    transaction_size: u64,
    /// Fuel not yet given out.
    block_fuel: u64,
    /// Fuel left for the current transaction.
    transaction_fuel: u64,
    /// Unused part of the current transaction's share of the block; given back when the next one comes.
    metered_fuel: u64,
    least: u64,
    fuel_is_minimum: bool,
    /// Most fuel that one transaction can use; a share beyond it is only reported.
    usable_max: Option<u64>,
    unusable_fuel: u64,
}

impl FuelTank {
    /// The tank at the start of a block (protocol B12).
    pub fn fill(parameters: &Parameters, height: u64, block: &Block) -> Self {
        Self {
            size: block.txdata.iter().map(fuel_size).sum(),
            block_fuel: parameters.block_fuel(height),
            least: parameters.minimum_fuel(height),
            fuel_is_minimum: parameters.fuel_is_minimum,
            ..Self::default()
        }
    }

    /// Fuel that the current transaction can still use.
    pub const fn transaction_fuel(&self) -> u64 {
        self.transaction_fuel
    }

    /// Lets one transaction use at most this much, whatever is reported to it: the caller of a view can name a block that is tiny beside
    /// the transaction.
    pub(crate) const fn limit(&mut self, fuel: u64) {
        self.usable_max = Some(fuel);
    }

    /// Fuel that is reported to the current transaction and that it cannot use.
    pub(crate) const fn unusable_fuel(&self) -> u64 {
        self.unusable_fuel
    }

    /// Fuel that no transaction has.
    pub const fn block_fuel(&self) -> u64 {
        self.block_fuel
    }

    /// Called at each message: another transaction than before gives back what is left of its share and the new one gets
    /// its own; further messages of the same transaction share what is left.
    ///
    /// # Errors
    /// The sizes add up to nothing, on which the reference halts.
    pub(crate) fn advance(&mut self, index: u32, transaction: &Transaction) -> Result<(), Halt> {
        if self.transaction == Some(index) {
            return Ok(());
        }
        if self.transaction.is_some() {
            self.block_fuel += self.metered_fuel;
            self.size = self.size.wrapping_sub(self.transaction_size);
        }
        self.transaction = Some(index);
        self.transaction_size = fuel_size(transaction);
        let metered = self.block_fuel.wrapping_mul(self.transaction_size).checked_div(self.size);
        self.metered_fuel = metered.ok_or(Halt::EmptyTank)?;
        let given = if self.fuel_is_minimum { self.least } else { self.least.max(self.metered_fuel) };
        self.transaction_fuel = self.usable_max.map_or(given, |usable| usable.min(given));
        self.unusable_fuel = given - self.transaction_fuel;
        self.block_fuel = self.block_fuel.saturating_sub(self.metered_fuel);
        Ok(())
    }

    /// Takes fuel from the current transaction.
    ///
    /// # Errors
    /// There is not enough; nothing is taken. The text is the one of the reference.
    pub(crate) fn consume(&mut self, fuel: u64) -> Result<(), String> {
        let Some(left) = self.transaction_fuel.checked_sub(fuel) else {
            return Err(format!(
                "all fuel consumed by WebAssembly: requested {fuel} units, but only {} remaining. Transaction index: {}, \
                 Block metered fuel: {}, Block fuel remaining: {}, Transaction size: {} bytes, Block size: {} bytes",
                self.transaction_fuel + self.unusable_fuel,
                self.transaction.unwrap_or(u32::MAX),
                self.metered_fuel,
                self.block_fuel,
                self.transaction_size,
                self.size,
            ));
        };
        self.transaction_fuel = left;
        self.metered_fuel = self.metered_fuel.saturating_sub(fuel);
        Ok(())
    }

    /// A message has failed: the rest of the transaction has no fuel, and the block gets none back.
    pub(crate) const fn drain(&mut self) {
        self.transaction_fuel = 0;
        self.unusable_fuel = 0;
        self.metered_fuel = 0;
    }
}

/// The size by which a transaction shares in the fuel of its block, in vbytes: 0 without a message to alkanes. The first
/// witness of a transaction that deploys does not count (protocol B12).
fn fuel_size(transaction: &Transaction) -> u64 {
    let Some(runestone) = Runestone::with_protocol(transaction) else { return 0 };
    let stones = runestone.protostones().unwrap_or_default();
    let messages = stones.iter().filter(|stone| stone.protocol_tag == ALKANES_PROTOCOL);
    let targets: Vec<_> =
        messages.filter_map(|stone| Cellpack::decode(&stone.message).ok()).map(|it| it.target).collect();
    if targets.is_empty() {
        return 0;
    }
    if targets.iter().any(|target| *target == CREATE || target.block == CREATE_RESERVED_BLOCK) {
        let mut bare = transaction.clone();
        if let Some(first) = bare.input.first_mut() {
            first.witness = Witness::new();
        }
        return bare.vsize() as u64;
    }
    transaction.vsize() as u64
}

#[cfg(test)]
mod tests {
    use bitcoin::absolute::LockTime;
    use bitcoin::transaction::Version;
    use bitcoin::{Amount, TxOut};
    use paraffin_primitives::Network;

    use super::*;
    use crate::codec::{Protostone, Runestone, encode_protostones};

    fn calling(inputs: usize) -> Transaction {
        let message = Cellpack { target: AlkaneId { block: 2, tx: 0 }, inputs: vec![u128::MAX; inputs] }.encode();
        let stone = Protostone { protocol_tag: ALKANES_PROTOCOL, message, ..Protostone::default() };
        let runestone =
            Runestone { base: ordinals::Runestone::default(), protocol: encode_protostones(&[stone]).unwrap() };
        let output = vec![TxOut { value: Amount::ZERO, script_pubkey: runestone.encode(1).unwrap() }];
        Transaction { version: Version::TWO, lock_time: LockTime::ZERO, input: Vec::new(), output }
    }

    #[test]
    fn a_share_beyond_the_limit_is_reported_and_not_given() {
        let (small, large) = (calling(1), calling(1000));
        assert!(fuel_size(&large) > 50 * fuel_size(&small));
        let mut block = bitcoin::blockdata::constants::genesis_block(bitcoin::Network::Bitcoin);
        block.txdata = vec![small];
        let mut tank = FuelTank::fill(&Parameters::of(Network::Mainnet), 900_000, &block);
        tank.limit(7_000_000);
        tank.advance(0, &large).unwrap();
        assert_eq!(tank.transaction_fuel(), 7_000_000);
        assert!(tank.unusable_fuel() > 50_000_000_000);
        assert!(tank.consume(7_000_001).is_err() && tank.consume(7_000_000).is_ok());
        tank.drain();
        assert_eq!((tank.transaction_fuel(), tank.unusable_fuel()), (0, 0));
    }
}
