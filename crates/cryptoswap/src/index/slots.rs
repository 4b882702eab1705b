//! The storage slots of a pool's contract. The names of the live contract are not published but for `/price_scale`, so they
//! are configuration.

use paraffin_primitives::AlkaneId;
use ruint::aliases::U256;

macro_rules! slots {
    ($($(#[$doc:meta])* $slot:ident $key:literal $name:literal;)*) => {
        /// A storage slot of a pool.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Slot {
            $($(#[$doc])* $slot,)*
        }

        impl Slot {
            /// All slots, in their order.
            pub const ALL: &[Self] = &[$(Self::$slot),*];

            /// Its word in configuration.
            pub const fn key(self) -> &'static str {
                match self {
                    $(Self::$slot => $key,)*
                }
            }

            const fn default_name(self) -> &'static str {
                match self {
                    $(Self::$slot => $name,)*
                }
            }
        }
    };
}

slots! {
    /// Id of coin 0: 32 bytes, both parts with the lowest byte first.
    Coin0 "coin0" "/coins/0";
    /// Id of coin 1.
    Coin1 "coin1" "/coins/1";
    /// Precision of coin 0: the value of a base unit in 1e18.
    Precision0 "precision0" "/precisions/0";
    /// Precision of coin 1: the value of a base unit in 1e18.
    Precision1 "precision1" "/precisions/1";
    /// Balance of coin 0, base units.
    Balance0 "balance0" "/balances/0";
    /// Balance of coin 1, base units.
    Balance1 "balance1" "/balances/1";
    /// Supply of the LP token.
    TotalSupply "total_supply" "/totalsupply";
    /// Where the liquidity is centred.
    PriceScale "price_scale" "/price_scale";
    /// The stored average price.
    PriceOracle "price_oracle" "/price_oracle";
    /// Price of the last operation.
    LastPrices "last_prices" "/last_prices";
    /// Height at which the average was last moved.
    LastPricesHeight "last_prices_height" "/last_prices_height";
    /// The invariant.
    D "d" "/D";
    /// The stored virtual price.
    VirtualPrice "virtual_price" "/virtual_price";
    /// Profit since the beginning, less what was claimed.
    XcpProfit "xcp_profit" "/xcp_profit";
    /// The same at the last claim.
    XcpProfitA "xcp_profit_a" "/xcp_profit_a";
    /// Whether trading is refused.
    IsKilled "is_killed" "/is_killed";
    /// Whether the price scale is being moved.
    NotAdjusted "not_adjusted" "/not_adjusted";
    /// `ann` and `gamma` at the begin of a ramp: `ann` in the upper 128 bits.
    InitialAGamma "initial_a_gamma" "/initial_A_gamma";
    /// `ann` and `gamma` at its end.
    FutureAGamma "future_a_gamma" "/future_A_gamma";
    /// Height at which a ramp begins.
    InitialAGammaHeight "initial_a_gamma_height" "/initial_A_gamma_height";
    /// Height at which it ends.
    FutureAGammaHeight "future_a_gamma_height" "/future_A_gamma_height";
    /// The fee in balance, over 1e10.
    MidFee "mid_fee" "/mid_fee";
    /// The fee far from balance, over 1e10.
    OutFee "out_fee" "/out_fee";
    /// How quickly the fee goes from one to the other, over 1e18.
    FeeGamma "fee_gamma" "/fee_gamma";
    /// The protocol's part of the fee, over 1e10.
    AdminFee "admin_fee" "/admin_fee";
    /// Profit that must be there before the price scale may move, over 1e18.
    AllowedExtraProfit "allowed_extra_profit" "/allowed_extra_profit";
    /// Smallest relative step of the price scale, over 1e18.
    AdjustmentStep "adjustment_step" "/adjustment_step";
    /// Time in which the average covers half the way, blocks.
    MaHalfTime "ma_half_time" "/ma_half_time";
}

/// The name of every slot as the contract writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlotNames(Vec<String>);

impl Default for SlotNames {
    fn default() -> Self {
        Self(Slot::ALL.iter().map(|slot| slot.default_name().to_owned()).collect())
    }
}

impl SlotNames {
    /// Sets another name for the slot whose configuration key is `key`. Returns whether there is such a slot.
    pub fn set(&mut self, key: &str, name: impl Into<String>) -> bool {
        let index = Slot::ALL.iter().position(|slot| slot.key() == key);
        if let Some(index) = index {
            self.0[index] = name.into();
        }
        index.is_some()
    }

    /// The name of a slot, as bytes.
    pub fn name(&self, slot: Slot) -> &[u8] {
        // One name for each slot, in the order of their declaration.
        self.0[slot as usize].as_bytes()
    }
}

/// A number as contracts store it, the lowest byte first; nothing at all is 0. `None` when it has more than 256 bits.
pub(crate) fn integer(bytes: &[u8]) -> Option<U256> {
    U256::try_from_le_slice(bytes)
}

/// An id as contracts store it.
pub(crate) fn alkane_id(bytes: &[u8]) -> Option<AlkaneId> {
    let (block, tx) = bytes.split_at_checked(16)?;
    let part = |bytes: &[u8]| bytes.try_into().ok().map(u128::from_le_bytes);
    Some(AlkaneId { block: part(block)?, tx: part(tx)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_has_a_name_and_a_word_of_its_own() {
        let names = SlotNames::default();
        let mut seen: Vec<&[u8]> = Slot::ALL.iter().map(|slot| names.name(*slot)).collect();
        let mut words: Vec<&str> = Slot::ALL.iter().map(|slot| slot.key()).collect();
        seen.sort_unstable();
        seen.dedup();
        words.sort_unstable();
        words.dedup();
        assert_eq!((seen.len(), words.len()), (Slot::ALL.len(), Slot::ALL.len()));
        assert_eq!(names.name(Slot::PriceScale), b"/price_scale");
        assert_eq!(names.name(Slot::MaHalfTime), b"/ma_half_time");
        let mut other = names.clone();
        assert!(other.set("price_scale", "/scale") && !other.set("no such slot", "/x"));
        assert_eq!(other.name(Slot::PriceScale), b"/scale");
        assert_eq!(other.name(Slot::D), b"/D");
    }

    #[test]
    fn numbers_of_every_width_are_read_and_wider_ones_are_not() {
        assert_eq!(integer(&[]), Some(U256::ZERO));
        assert_eq!(integer(&[1, 2]), Some(U256::from(513)));
        assert_eq!(integer(&[0xff; 32]), Some(U256::MAX));
        let mut long = vec![7; 32];
        long.extend([0; 8]);
        assert_eq!(integer(&long).is_some(), U256::try_from_le_slice(&long).is_some());
        assert_eq!(integer(&[1; 33]), None);
        assert_eq!(alkane_id(&[0; 31]), None);
        assert_eq!(alkane_id(&[0; 33]), None);
        let mut bytes = [0; 32];
        (bytes[0], bytes[16], bytes[17]) = (4, 0xf2, 6);
        assert_eq!(alkane_id(&bytes), Some(AlkaneId { block: 4, tx: 1778 }));
    }
}
