//! Coins of the owner and their content.

use bitcoin::{OutPoint, TxOut};

use crate::alkanes::Alkanes;

/// Outputs of up to this many satoshis are assumed to carry something until looked up.
pub const SMALL_OUTPUT_MAX_SATS: u64 = 1_000;

/// Inscriptions and runes of a coin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ordinals {
    /// It carries none.
    None,
    /// It carries these, by display name.
    Held(Vec<String>),
    /// Not looked up.
    Unknown,
}

/// An unspent output of the owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coin {
    /// Where it is.
    pub outpoint: OutPoint,
    /// Its value and script.
    pub output: TxOut,
    /// Blocks from its own to the tip, both included; 0 while unconfirmed.
    pub confirmations: u32,
    /// A reward of a block that cannot be spent yet.
    pub immature: bool,
    /// Its alkanes; `None` when they were not looked up.
    pub alkanes: Option<Alkanes>,
    /// Its inscriptions and runes.
    pub ordinals: Ordinals,
}

/// Uses of a coin that is not named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// Its satoshis: it carries nothing else.
    Plain,
    /// Its alkanes, when they are wanted.
    Alkanes,
    /// It is not spent unless it is named.
    Excluded(ExclusionReason),
}

/// Why a coin is not spent unless it is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExclusionReason {
    /// It carries alkanes that the intent does not need.
    Alkanes,
    /// It carries inscriptions or runes.
    Ordinals,
    /// It may carry alkanes, inscriptions or runes: not looked up.
    Unknown,
    /// It is of at most [`SMALL_OUTPUT_MAX_SATS`] and its content was not looked up.
    Small,
    /// Its transaction is not in a block, so that its content is not indexed yet.
    Unconfirmed,
    /// It is a reward of a block that cannot be spent yet, named or not.
    Immature,
}

impl ExclusionReason {
    /// The reason in words, for "3 coins … are kept back".
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Alkanes => "carrying other alkanes",
            Self::Ordinals => "carrying inscriptions or runes",
            Self::Unknown => "of unknown content",
            Self::Small => "of at most 1,000 satoshis and unknown content",
            Self::Unconfirmed => "without a confirmation",
            Self::Immature => "from rewards of blocks with fewer than 100 confirmations",
        }
    }
}

impl Coin {
    /// Satoshis.
    pub fn sats(&self) -> u64 {
        self.output.value.to_sat()
    }

    /// Its allowed use. `assume_plain`: coins of unknown content above [`SMALL_OUTPUT_MAX_SATS`] carry nothing.
    pub(crate) fn usable_for(&self, assume_plain: bool) -> Use {
        if self.immature {
            return Use::Excluded(ExclusionReason::Immature);
        }
        if self.confirmations == 0 {
            return Use::Excluded(ExclusionReason::Unconfirmed);
        }
        if matches!(self.ordinals, Ordinals::Held(_)) {
            return Use::Excluded(ExclusionReason::Ordinals);
        }
        match &self.alkanes {
            Some(alkanes) if !alkanes.is_empty() => {
                if self.ordinals == Ordinals::Unknown && !assume_plain {
                    Use::Excluded(ExclusionReason::Unknown)
                } else {
                    Use::Alkanes
                }
            }
            Some(_) if self.ordinals == Ordinals::None => Use::Plain,
            _ if self.sats() <= SMALL_OUTPUT_MAX_SATS => Use::Excluded(ExclusionReason::Small),
            _ if assume_plain => Use::Plain,
            _ => Use::Excluded(ExclusionReason::Unknown),
        }
    }
}

#[cfg(test)]
mod tests {
    use bitcoin::{Amount, ScriptBuf};
    use paraffin_primitives::AlkaneId;

    use super::*;

    fn coin(sats: u64, alkanes: Option<u128>, ordinals: Ordinals) -> Coin {
        let alkanes = alkanes.map(|amount| {
            let mut held = Alkanes::default();
            held.add(AlkaneId { block: 2, tx: 0 }, amount).unwrap();
            held
        });
        let output = TxOut { value: Amount::from_sat(sats), script_pubkey: ScriptBuf::new() };
        Coin { outpoint: OutPoint::null(), output, confirmations: 1, immature: false, alkanes, ordinals }
    }

    #[test]
    fn only_a_coin_that_is_known_to_carry_nothing_is_plain() {
        let held = || Ordinals::Held(vec!["a rune".to_owned()]);
        for (coin, strict, assuming) in [
            (coin(300, Some(0), Ordinals::None), Use::Plain, Use::Plain),
            (coin(9_999, Some(0), Ordinals::Unknown), Use::Excluded(ExclusionReason::Unknown), Use::Plain),
            (coin(9_999, None, Ordinals::None), Use::Excluded(ExclusionReason::Unknown), Use::Plain),
            (
                coin(1_000, None, Ordinals::Unknown),
                Use::Excluded(ExclusionReason::Small),
                Use::Excluded(ExclusionReason::Small),
            ),
            (
                coin(1_000, Some(0), Ordinals::Unknown),
                Use::Excluded(ExclusionReason::Small),
                Use::Excluded(ExclusionReason::Small),
            ),
            (coin(1_001, None, Ordinals::Unknown), Use::Excluded(ExclusionReason::Unknown), Use::Plain),
            (
                coin(9_999, Some(0), held()),
                Use::Excluded(ExclusionReason::Ordinals),
                Use::Excluded(ExclusionReason::Ordinals),
            ),
            (
                coin(9_999, Some(7), held()),
                Use::Excluded(ExclusionReason::Ordinals),
                Use::Excluded(ExclusionReason::Ordinals),
            ),
            (coin(546, Some(7), Ordinals::None), Use::Alkanes, Use::Alkanes),
            (coin(546, Some(7), Ordinals::Unknown), Use::Excluded(ExclusionReason::Unknown), Use::Alkanes),
        ] {
            assert_eq!((coin.usable_for(false), coin.usable_for(true)), (strict, assuming), "{coin:?}");
        }
    }

    #[test]
    fn unconfirmed_and_immature_coins_are_excluded_whatever_is_assumed() {
        let unconfirmed = Coin { confirmations: 0, ..coin(9_999, Some(0), Ordinals::None) };
        let immature = Coin { immature: true, ..coin(9_999, Some(0), Ordinals::None) };
        assert_eq!(unconfirmed.usable_for(true), Use::Excluded(ExclusionReason::Unconfirmed));
        assert_eq!(immature.usable_for(true), Use::Excluded(ExclusionReason::Immature));
    }
}
