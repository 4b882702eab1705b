//! What this instance knows of `CryptoSwap` pools beforehand: which is the main one, where contracts keep their numbers, what
//! their opcodes are.

use std::collections::BTreeMap;

use paraffin_cryptoswap::{CanonicalPool, CryptoSwapModule, Opcodes, PoolProbe, PoolRules, Slot, SlotNames};
use paraffin_primitives::AlkaneId;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// `[pools]`: the pool index. Pools are indexed wherever contracts are.
///
/// Slots and opcodes change what is indexed, so a changed section needs `paraffin reindex cryptoswap`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct PoolsSection {
    /// Pools that are indexed from their first sight, by `block:tx`, each with its coins in the contract's order.
    canonical: BTreeMap<Id, [Id; 2]>,
    /// Names of slots where they differ from the usual ones.
    slots: BTreeMap<SlotKey, String>,
    /// First inputs of claims of the protocol's fees.
    claim_opcodes: Vec<u64>,
    /// First inputs of what an owner does.
    admin_opcodes: Vec<u64>,
}

impl Default for PoolsSection {
    fn default() -> Self {
        let CanonicalPool { id, coins } = CanonicalPool::default();
        let opcodes = Opcodes::default();
        // The opcodes of the defaults are small.
        let numbers = |opcodes: Vec<u128>| opcodes.into_iter().filter_map(|opcode| opcode.try_into().ok()).collect();
        Self {
            canonical: BTreeMap::from([(Id(id), coins.map(Id))]),
            slots: BTreeMap::new(),
            claim_opcodes: numbers(opcodes.claim_fees),
            admin_opcodes: numbers(opcodes.admin),
        }
    }
}

impl PoolsSection {
    /// What index and views follow.
    pub(crate) fn rules(&self) -> PoolRules {
        let mut slots = SlotNames::default();
        for (SlotKey(key), name) in &self.slots {
            // Other words were refused when the section was read.
            slots.set(key, name.as_str());
        }
        let numbers = |opcodes: &[u64]| opcodes.iter().map(|opcode| u128::from(*opcode)).collect();
        PoolRules {
            canonical: self
                .canonical
                .iter()
                .map(|(id, coins)| CanonicalPool { id: id.0, coins: coins.map(|coin| coin.0) })
                .collect(),
            slots,
            opcodes: Opcodes {
                claim_fees: numbers(&self.claim_opcodes),
                admin: numbers(&self.admin_opcodes),
                ..Opcodes::default()
            },
        }
    }

    /// The canonical pools.
    pub(crate) fn known(&self) -> Vec<AlkaneId> {
        self.canonical.keys().map(|id| id.0).collect()
    }

    /// The indexer module.
    pub(crate) fn module(&self, probe: PoolProbe) -> CryptoSwapModule {
        CryptoSwapModule::new(self.rules(), probe)
    }
}

/// An id as `block:tx`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Id(AlkaneId);

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Self).map_err(|_| de::Error::custom(format!("`{text}` is no id of the form block:tx")))
    }
}

/// The word of a slot.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
struct SlotKey(String);

impl<'de> Deserialize<'de> for SlotKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if Slot::ALL.iter().any(|slot| slot.key() == text) {
            return Ok(Self(text));
        }
        let words: Vec<&str> = Slot::ALL.iter().map(|slot| slot.key()).collect();
        Err(de::Error::custom(format!("`{text}` is no slot of a pool: there are {}", words.join(", "))))
    }
}

#[cfg(test)]
mod tests {
    use figment::Figment;
    use figment::providers::{Format as _, Toml};

    use super::*;

    fn read(text: &str) -> Result<PoolsSection, Box<figment::Error>> {
        Figment::from(Toml::string(text)).extract().map_err(Box::new)
    }

    #[test]
    fn an_empty_section_has_the_usual_rules() {
        assert_eq!(read("").unwrap().rules(), PoolRules::default());
    }

    #[test]
    fn pools_slots_and_opcodes_are_settings() {
        let text = "claim_opcodes = [20]\nadmin_opcodes = []\n\
                    [canonical]\n\"2:7\" = [\"2:1\", \"32:0\"]\n[slots]\nprice_scale = \"/scale\"\n";
        let rules = read(text).unwrap().rules();
        let id = |block, tx| AlkaneId { block, tx };
        assert_eq!(rules.canonical, [CanonicalPool { id: id(2, 7), coins: [id(2, 1), id(32, 0)] }]);
        assert_eq!(rules.slots.name(Slot::PriceScale), b"/scale");
        assert_eq!(rules.slots.name(Slot::D), b"/D");
        assert_eq!((rules.opcodes.claim_fees, rules.opcodes.admin), (vec![20], vec![]));
        for wrong in [
            "[slots]\nprice = \"/x\"",
            "[canonical]\n\"2\" = [\"2:1\", \"32:0\"]",
            "[canonical]\n\"2:7\" = [\"2:1\"]",
            "other = 1",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
