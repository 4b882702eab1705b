//! Coin selection.

use std::collections::{BTreeMap, BTreeSet};

use bitcoin::{OutPoint, ScriptBuf};

use crate::alkanes::Alkanes;
use crate::coin::{Coin, ExclusionReason, Ordinals, Use};
use crate::error::PlanError;
use crate::fee_rate::FeeRate;

/// All satoshis that can exist.
const SATS_MAX: u64 = 21_000_000 * 100_000_000;

/// The available coins, and the rules for spending them.
#[derive(Debug, Clone)]
pub struct Funds {
    /// The owner's unspent outputs.
    pub coins: Vec<Coin>,
    /// Where change and alkanes return to.
    pub owner: ScriptBuf,
    /// Coins that must be spent, regardless of their content.
    pub named: Vec<OutPoint>,
    /// Whether coins of unknown content above 1,000 satoshis count as plain.
    pub assume_plain: bool,
    /// The feerate.
    pub fee_rate: FeeRate,
    /// Whether a fee out of proportion is accepted.
    pub allow_high_fee: bool,
}

/// Coins in the order in which they are spent.
#[derive(Debug, Default)]
pub(crate) struct Chosen<'a> {
    pub(crate) coins: Vec<&'a Coin>,
    taken: BTreeSet<OutPoint>,
}

impl<'a> Chosen<'a> {
    fn push(&mut self, coin: &'a Coin) {
        if self.taken.insert(coin.outpoint) {
            self.coins.push(coin);
        }
    }

    pub(crate) fn sats(&self) -> u64 {
        // Each is below SATS_MAX, and so is their sum: `Funds::check`.
        self.coins.iter().map(|coin| coin.sats()).sum()
    }

    pub(crate) fn alkanes(&self) -> Result<Alkanes, PlanError> {
        let mut sum = Alkanes::default();
        for coin in &self.coins {
            coin.alkanes.iter().try_for_each(|alkanes| sum.add_all(alkanes))?;
        }
        Ok(sum)
    }
}

impl Funds {
    /// Refuses impossible lists.
    pub(crate) fn check(&self) -> Result<(), PlanError> {
        let mut seen = BTreeSet::new();
        let mut sum = 0_u64;
        for coin in &self.coins {
            if !seen.insert(coin.outpoint) {
                return Err(PlanError::ListedTwice(coin.outpoint));
            }
            sum = sum.checked_add(coin.sats()).filter(|sum| *sum <= SATS_MAX).ok_or(PlanError::ImpossibleValue)?;
        }
        Ok(())
    }

    /// The named coins, those that carry inscriptions or runes first, and then what `wanted` needs, fewest coins first.
    pub(crate) fn choose(&self, wanted: &Alkanes, except: &BTreeSet<OutPoint>) -> Result<Chosen<'_>, PlanError> {
        let mut chosen = Chosen::default();
        let mut named = Vec::new();
        for outpoint in &self.named {
            let coin = self.coins.iter().find(|coin| coin.outpoint == *outpoint);
            let coin = coin.ok_or(PlanError::UnknownCoin(*outpoint))?;
            if coin.immature {
                return Err(PlanError::Immature(*outpoint));
            }
            if !except.contains(outpoint) {
                named.push(coin);
            }
        }
        named.sort_by_key(|coin| !matches!(coin.ordinals, Ordinals::Held(_)));
        for coin in named {
            chosen.push(coin);
        }
        for (id, needed) in wanted.iter() {
            let mut held = chosen.alkanes()?.amount(id);
            for (coin, amount) in self.holders(id, except) {
                if held >= needed {
                    break;
                }
                if !chosen.taken.contains(&coin.outpoint) {
                    held = held.checked_add(amount).ok_or(crate::AlkanesOverflow(id))?;
                    chosen.push(coin);
                }
            }
            if held < needed {
                let excluded = self.excluded(&chosen, &[ExclusionReason::Alkanes]);
                return Err(PlanError::InsufficientAlkanes { id, available: held, needed, excluded });
            }
        }
        Ok(chosen)
    }

    /// Coins with some of `id`, the largest amount first.
    fn holders(&self, id: paraffin_primitives::AlkaneId, except: &BTreeSet<OutPoint>) -> Vec<(&Coin, u128)> {
        let usable =
            |coin: &&Coin| coin.usable_for(self.assume_plain) == Use::Alkanes && !except.contains(&coin.outpoint);
        let amount = |coin: &Coin| coin.alkanes.as_ref().map_or(0, |alkanes| alkanes.amount(id));
        let mut holders: Vec<_> = self.coins.iter().filter(usable).map(|coin| (coin, amount(coin))).collect();
        holders.retain(|(_, amount)| *amount > 0);
        holders.sort_by_key(|(coin, amount)| (std::cmp::Reverse(*amount), coin.outpoint));
        holders
    }

    /// Plain coins that are not chosen yet, the largest first.
    pub(crate) fn plain(&self, chosen: &Chosen<'_>, except: &BTreeSet<OutPoint>) -> Vec<&Coin> {
        let free = |coin: &&Coin| {
            coin.usable_for(self.assume_plain) == Use::Plain
                && !chosen.taken.contains(&coin.outpoint)
                && !except.contains(&coin.outpoint)
        };
        let mut plain: Vec<_> = self.coins.iter().filter(free).collect();
        plain.sort_by_key(|coin| (std::cmp::Reverse(coin.sats()), coin.outpoint));
        plain
    }

    /// Coins that are not touched, by reason, for the error of insufficient funds.
    pub(crate) fn excluded(&self, chosen: &Chosen<'_>, but: &[ExclusionReason]) -> Vec<(ExclusionReason, usize, u64)> {
        let mut excluded: BTreeMap<ExclusionReason, (usize, u64)> = BTreeMap::new();
        for coin in self.coins.iter().filter(|coin| !chosen.taken.contains(&coin.outpoint)) {
            let why = match coin.usable_for(self.assume_plain) {
                Use::Plain => continue,
                Use::Alkanes => ExclusionReason::Alkanes,
                Use::Excluded(why) => why,
            };
            let (coins, sats) = excluded.entry(why).or_default();
            *coins += 1;
            *sats += coin.sats();
        }
        excluded
            .into_iter()
            .filter(|(why, _)| !but.contains(why))
            .map(|(why, (coins, sats))| (why, coins, sats))
            .collect()
    }

    pub(crate) fn add<'a>(chosen: &mut Chosen<'a>, coin: &'a Coin) {
        chosen.push(coin);
    }
}
