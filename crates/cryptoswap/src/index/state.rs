//! The numbers of a pool at the end of a block.

use paraffin_primitives::Height;
use ruint::aliases::U256;

use super::rows::{Identity, Parser, append_wide};
use super::slots::{Slot, SlotNames, integer};
use super::{ContractFacts, IndexError};
use paraffin_cryptoswap_math::{self as math, Curve, Parameters, Pool, Ramp};
use paraffin_primitives::AlkaneId;

/// The slots of a pool at the end of a block that changed it, in the contract's coin order. A slot that was never written
/// is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PoolState {
    /// The block.
    pub height: Height,
    /// Time in its header, Unix seconds.
    pub time: u32,
    numbers: [U256; KEPT.len()],
}

/// The slots of a state, in the order of the row.
const KEPT: [Slot; 24] = [
    Slot::Balance0,
    Slot::Balance1,
    Slot::TotalSupply,
    Slot::PriceScale,
    Slot::PriceOracle,
    Slot::LastPrices,
    Slot::LastPricesHeight,
    Slot::D,
    Slot::VirtualPrice,
    Slot::XcpProfit,
    Slot::XcpProfitA,
    Slot::IsKilled,
    Slot::NotAdjusted,
    Slot::InitialAGamma,
    Slot::FutureAGamma,
    Slot::InitialAGammaHeight,
    Slot::FutureAGammaHeight,
    Slot::MidFee,
    Slot::OutFee,
    Slot::FeeGamma,
    Slot::AdminFee,
    Slot::AllowedExtraProfit,
    Slot::AdjustmentStep,
    Slot::MaHalfTime,
];

impl PoolState {
    /// Reads the slots; `None` when the contract has no price scale, and thus no state, yet.
    pub(crate) fn read(
        (height, time): (Height, u32),
        pool: AlkaneId,
        identity: &Identity,
        names: &SlotNames,
        facts: &dyn ContractFacts,
    ) -> Result<Option<Self>, IndexError> {
        if facts.storage(pool, names.name(Slot::PriceScale))?.is_none() {
            return Ok(None);
        }
        let mut state = Self { height, time, numbers: [U256::ZERO; KEPT.len()] };
        for (number, slot) in state.numbers.iter_mut().zip(KEPT) {
            let stored = facts.storage(pool, names.name(slot))?;
            // A number outside the range of any pool counts as absent.
            *number = match (stored.as_deref().and_then(integer), slot) {
                (Some(stored), _) => stored,
                (None, Slot::Balance0) => U256::from(facts.balance(pool, identity.coins[0])?),
                (None, Slot::Balance1) => U256::from(facts.balance(pool, identity.coins[1])?),
                (None, _) => U256::ZERO,
            };
        }
        Ok(Some(state))
    }

    /// A number of the state; 0 for the slots that are none of it (coins and precisions).
    pub fn number(&self, slot: Slot) -> U256 {
        KEPT.iter().position(|kept| *kept == slot).map_or(U256::ZERO, |index| self.numbers[index])
    }

    /// The same as a height or a time; the greatest one when it is larger.
    pub fn long(&self, slot: Slot) -> u64 {
        self.number(slot).saturating_to()
    }

    /// Whether trading is refused.
    pub fn is_killed(&self) -> bool {
        !self.number(Slot::IsKilled).is_zero()
    }

    /// Whether the curve still moves after the block at `height`.
    pub fn is_ramping(&self, height: Height) -> bool {
        self.long(Slot::FutureAGammaHeight) > u64::from(height)
    }

    /// The curve at a height: `ann` and `gamma`.
    pub fn curve(&self, height: u64) -> Curve {
        let ramp = self.ramp();
        ramp.at(height).unwrap_or(ramp.future)
    }

    fn ramp(&self) -> Ramp {
        let curve = |slot| {
            let packed = self.number(slot);
            Curve { ann: packed >> 128, gamma: packed & U256::from(u128::MAX) }
        };
        Ramp {
            initial: curve(Slot::InitialAGamma),
            future: curve(Slot::FutureAGamma),
            begin: self.long(Slot::InitialAGammaHeight),
            end: self.long(Slot::FutureAGammaHeight),
        }
    }

    /// The pool for [`paraffin_cryptoswap_math`]. Its surplus is left out, since no view depends on it.
    pub fn pool(&self, identity: &Identity) -> Pool {
        let number = |slot| self.number(slot);
        Pool {
            parameters: Parameters {
                precisions: identity.precisions,
                mid_fee: number(Slot::MidFee),
                out_fee: number(Slot::OutFee),
                fee_gamma: number(Slot::FeeGamma),
                admin_fee: number(Slot::AdminFee),
                admin_fee_is_paid: true,
                allowed_extra_profit: number(Slot::AllowedExtraProfit),
                adjustment_step: number(Slot::AdjustmentStep),
                adjustment_divisor: 10,
                ma_half_time: self.long(Slot::MaHalfTime),
            },
            ramp: self.ramp(),
            balances: [number(Slot::Balance0), number(Slot::Balance1)],
            surplus: [U256::ZERO; 2],
            d: number(Slot::D),
            total_supply: number(Slot::TotalSupply),
            price_scale: number(Slot::PriceScale),
            price_oracle: number(Slot::PriceOracle),
            last_prices: number(Slot::LastPrices),
            last_prices_time: self.long(Slot::LastPricesHeight),
            virtual_price: number(Slot::VirtualPrice),
            xcp_profit: number(Slot::XcpProfit),
            xcp_profit_a: number(Slot::XcpProfitA),
            not_adjusted: !number(Slot::NotAdjusted).is_zero(),
            is_killed: self.is_killed(),
        }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(200);
        bytes.extend_from_slice(&self.height.to_be_bytes());
        bytes.extend_from_slice(&self.time.to_be_bytes());
        for number in self.numbers {
            append_wide(number, &mut bytes);
        }
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, IndexError> {
        let mut parser = Parser::new("states", bytes);
        let mut state = Self { height: parser.number()?, time: parser.number()?, numbers: [U256::ZERO; KEPT.len()] };
        for number in &mut state.numbers {
            *number = parser.wide()?;
        }
        parser.end(state)
    }
}

impl Identity {
    /// Whether coin 0 is the token with the lower id.
    pub fn coin0_is_token0(&self) -> bool {
        self.coins[0] <= self.coins[1]
    }

    /// Its tokens, the lower id first.
    pub fn tokens(&self) -> [AlkaneId; 2] {
        self.to_tokens(self.coins)
    }

    /// Two values of the coins in the order of the tokens, and the other way round.
    pub fn to_tokens<T>(&self, [zero, one]: [T; 2]) -> [T; 2] {
        if self.coin0_is_token0() { [zero, one] } else { [one, zero] }
    }

    /// A raw price slot (coin 0 for coin 1 between normalised balances, over 1e18) as token 1 for token 0 in base units, over
    /// 1e18. `None` for 0, and where the result has more than 256 bits.
    pub fn price_q(&self, slot: U256) -> Option<U256> {
        let [zero, one] = self.precisions;
        if slot.is_zero() || zero.is_zero() || one.is_zero() {
            return None;
        }
        if !self.coin0_is_token0() {
            return if zero == one { Some(slot) } else { mul_div(slot, one, zero) };
        }
        let square = math::PRECISION * math::PRECISION;
        if zero == one {
            return Some(square / slot);
        }
        mul_div(square, zero, slot.checked_mul(one)?)
    }
}

/// `a * b / c`, the product with 512 bits.
pub(crate) fn mul_div(a: U256, b: U256, c: U256) -> Option<U256> {
    if c.is_zero() {
        return None;
    }
    let product: ruint::Uint<512, 8> = a.widening_mul(b);
    let [l0, l1, l2, l3, 0, 0, 0, 0] = (product / ruint::Uint::<512, 8>::from(c)).into_limbs() else { return None };
    Some(U256::from_limbs([l0, l1, l2, l3]))
}

/// The price of a trade: token 1 for token 0, over 1e18, rounded down, fee included. `None` when no token 0 moved.
pub(crate) fn executed_price_q([token0, token1]: [u128; 2]) -> Option<U256> {
    // At most 128 + 60 bits.
    (U256::from(token1) * math::PRECISION).checked_div(U256::from(token0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn identity(coins: [u128; 2], precisions: [u64; 2]) -> Identity {
        let id = |tx| AlkaneId { block: 4, tx };
        Identity { number: 0, coins: coins.map(id), precisions: precisions.map(U256::from) }
    }

    const EIGHT: [u64; 2] = [10_000_000_000; 2];

    /// row PI18
    /// row PI25
    #[test]
    fn a_raw_price_is_turned_round_only_when_the_orders_agree() {
        let slot = U256::from(15_604_533_105_145u64);
        // The BTC/USD pool: coin 0 is the token with the higher id, and the slot is the price.
        let reversed = identity([1778, 1776], EIGHT);
        assert!(!reversed.coin0_is_token0());
        assert_eq!(reversed.price_q(slot), Some(slot));
        let same = identity([1, 2], EIGHT);
        let square = U256::from(10u64).pow(U256::from(36u64));
        assert_eq!(same.price_q(slot), Some(square / slot));
        for identity in [reversed, same] {
            assert_eq!(identity.price_q(U256::ZERO), None);
        }
        assert_eq!(same.price_q(U256::MAX), Some(U256::ZERO));
        assert_eq!(reversed.price_q(U256::MAX), Some(U256::MAX));
    }

    /// row PI17
    #[test]
    fn prices_are_of_base_units_also_when_the_decimals_differ() {
        // Coin 0 has 8 decimals, coin 1 six; one coin 1 costs half a coin 0: 5e7 base units for 1e6.
        let half = U256::from(500_000_000_000_000_000u64);
        let precisions = [10_000_000_000, 1_000_000_000_000];
        assert_eq!(identity([2, 1], precisions).price_q(half), Some(half * U256::from(100u64)));
        // Turned round: 1e6 base units for 5e7.
        let turned = identity([1, 2], precisions).price_q(half);
        assert_eq!(turned, Some(U256::from(20_000_000_000_000_000u64)));
    }

    proptest! {
        #[test]
        fn states_come_back_and_every_cut_is_refused(height: u32, time: u32, limbs in proptest::collection::vec(any::<[u64; 4]>(), KEPT.len())) {
            let mut state = PoolState { height, time, ..PoolState::default() };
            for (number, limbs) in state.numbers.iter_mut().zip(limbs) {
                *number = U256::from_limbs(limbs);
            }
            let bytes = state.encode();
            prop_assert_eq!(PoolState::decode(&bytes).unwrap(), state);
            for length in 0..bytes.len() {
                prop_assert!(PoolState::decode(&bytes[..length]).is_err());
            }
        }

        #[test]
        fn no_price_panics(slot: [u64; 4], precisions: [[u64; 4]; 2], order: bool) {
            let mut identity = identity(if order { [1, 2] } else { [2, 1] }, EIGHT);
            identity.precisions = precisions.map(U256::from_limbs);
            let _ = identity.price_q(U256::from_limbs(slot));
        }
    }
}
