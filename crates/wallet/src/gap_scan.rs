//! Which scripts of an account are looked at for use (docs/decisions/0009-accounts.md).

use std::collections::HashSet;

use bitcoin::secp256k1::{Secp256k1, VerifyOnly};
use bitcoin::{Script, ScriptBuf};

use crate::ScriptChain;

/// Unused scripts in a row after which a chain of addresses is taken to be at its end.
const GAP_LIMIT: u32 = 20;

/// The account has more scripts or keys than the scan may derive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the account has more scripts or keys than one answer looks at")]
pub struct TooManyKeys;

/// Walks through the chains of an account one script after the other. The caller says of each, by [`Self::found_unused`] or
/// [`Self::found_used`], whether a transaction uses it.
#[derive(Debug)]
pub struct GapScan<'c> {
    secp: Secp256k1<VerifyOnly>,
    /// Those that are not at their end, the one in work first.
    chains: &'c [ScriptChain],
    /// Index of the next script in it.
    index: u32,
    /// Scripts without use since the last one with.
    unused: u32,
    keys_left: usize,
    used: HashSet<ScriptBuf>,
}

impl<'c> GapScan<'c> {
    /// Over these chains, deriving at most `keys_max` keys for used and unused scripts.
    pub fn new(chains: &'c [ScriptChain], keys_max: usize) -> Self {
        let secp = Secp256k1::verification_only();
        Self { secp, chains, index: 0, unused: 0, keys_left: keys_max, used: HashSet::new() }
    }

    /// The next script to look at; `None` when every chain is at its end.
    ///
    /// # Errors
    /// It would take more keys than the scan may derive.
    pub fn next_script(&mut self) -> Result<Option<ScriptBuf>, TooManyKeys> {
        while let [chain, others @ ..] = self.chains {
            let script = if self.unused < GAP_LIMIT { chain.script(&self.secp, self.index) } else { None };
            let Some(script) = script else {
                (self.chains, self.index, self.unused) = (others, 0, 0);
                continue;
            };
            self.keys_left = self.keys_left.checked_sub(chain.keys()).ok_or(TooManyKeys)?;
            self.index += 1;
            return Ok(Some(script));
        }
        Ok(None)
    }

    /// Nothing has used the last script.
    pub fn found_unused(&mut self) {
        self.unused += 1;
    }

    /// The last script, `script`, is used. Returns whether it is the first time: chains can have scripts in common.
    pub fn found_used(&mut self, script: &Script) -> bool {
        self.unused = 0;
        self.used.insert(script.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use paraffin_primitives::Network;
    use proptest::prelude::*;

    use super::*;
    use crate::parse_account;

    const XPUB: &str = "xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8";

    fn chains(text: &str) -> Vec<ScriptChain> {
        parse_account(Network::Mainnet, text).unwrap()
    }

    /// The looks, and the used scripts, where those at `used` of every chain are.
    fn scan(chains: &[ScriptChain], keys_max: usize, used: &[u32]) -> Result<(usize, Vec<ScriptBuf>), TooManyKeys> {
        let secp = Secp256k1::verification_only();
        let used: HashSet<ScriptBuf> =
            chains.iter().flat_map(|chain| used.iter().filter_map(|index| chain.script(&secp, *index))).collect();
        let mut scan = GapScan::new(chains, keys_max);
        let (mut looks, mut found) = (0, Vec::new());
        while let Some(script) = scan.next_script()? {
            looks += 1;
            if !used.contains(&script) {
                scan.found_unused();
            } else if scan.found_used(&script) {
                found.push(script);
            }
        }
        Ok((looks, found))
    }

    #[test]
    fn a_chain_ends_after_twenty_unused_scripts_in_a_row() {
        let one = chains(&format!("wpkh({XPUB}/0/*)"));
        for (used, looks, found) in
            [(&[][..], 20, 0), (&[0], 21, 1), (&[19], 40, 1), (&[20], 20, 0), (&[3, 23], 44, 2), (&[3, 24], 24, 1)]
        {
            let (looked, scripts) = scan(&one, 1_000, used).unwrap();
            assert_eq!((looked, scripts.len()), (looks, found), "{used:?}");
        }
        // Each chain has its own gap.
        let two = chains(&format!("wpkh({XPUB}/<0;1>/*)"));
        assert_eq!(scan(&two, 1_000, &[7]).map(|(looks, found)| (looks, found.len())), Ok((56, 2)));
    }

    #[test]
    fn an_address_is_one_script_and_common_scripts_are_found_once() {
        let address = chains("bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu");
        assert_eq!(scan(&address, 1, &[0]).map(|(looks, found)| (looks, found.len())), Ok((1, 1)));
        let twice: Vec<ScriptChain> = (0..2).flat_map(|_| chains(&format!("wpkh({XPUB}/0/*)"))).collect();
        assert_eq!(scan(&twice, 1_000, &[0, 1]).map(|(looks, found)| (looks, found.len())), Ok((44, 2)));
        assert_eq!(scan(&[], 0, &[]), Ok((0, Vec::new())));
    }

    #[test]
    fn more_keys_than_the_bound_are_refused() {
        let one = chains(&format!("wpkh({XPUB}/0/*)"));
        assert_eq!(scan(&one, 20, &[]).map(|(looks, _)| looks), Ok(20));
        assert_eq!(scan(&one, 19, &[]), Err(TooManyKeys));
        // Every script of two keys counts as two.
        let shared = chains(&format!("wsh(multi(1,{XPUB}/0/*,{XPUB}/1/*))"));
        assert_eq!(scan(&shared, 40, &[]).map(|(looks, _)| looks), Ok(20));
        assert_eq!(scan(&shared, 39, &[]), Err(TooManyKeys));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn all_that_is_used_before_a_gap_is_found(steps in prop::collection::vec(0_u32..40, 0..6)) {
            let mut used = Vec::new();
            let (mut next, mut reached) = (0, 0);
            for step in steps {
                let index = next + step;
                if step < GAP_LIMIT && reached == used.len() {
                    reached += 1;
                }
                used.push(index);
                next = index + 1;
            }
            let (_, found) = scan(&chains(&format!("wpkh({XPUB}/0/*)")), 1_000, &used).unwrap();
            prop_assert_eq!(found.len(), reached);
        }
    }
}
