//! Halving: the first height at which two chains of digests part.

use super::answer::Digests;

/// The chain has moved: what was learnt below no longer counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moved;

/// Asks both instances.
pub(super) trait Probe {
    /// Why the search cannot go on.
    type Error;

    /// What both have at `height`.
    async fn at(&mut self, height: u32) -> Result<Result<(Digests, Digests), Moved>, Self::Error>;
}

/// The digests of both at the first height in `from..=to` at which they differ; `None` when they do not at `to`. Everything
/// below `from` is the same. At most `2 + log2(to - from + 1)` heights are asked for, one more when there is a difference.
///
/// # Errors
/// Those of the probe.
pub(super) async fn first_difference<P: Probe>(
    probe: &mut P,
    from: u32,
    to: u32,
) -> Result<Result<Option<(Digests, Digests)>, Moved>, P::Error> {
    let mut found = match probe.at(to).await? {
        Err(moved) => return Ok(Err(moved)),
        Ok((a, b)) if a.is_same(&b) => return Ok(Ok(None)),
        Ok(different) => different,
    };
    // All below `low` are the same, `high` is not.
    let (mut low, mut high) = (from, to);
    while low < high {
        let middle = low + (high - low) / 2;
        match probe.at(middle).await? {
            Err(moved) => return Ok(Err(moved)),
            Ok((a, b)) if a.is_same(&b) => low = middle + 1,
            Ok(different) => (high, found) = (middle, different),
        }
    }
    // A reorganisation in between makes the halves of two chains; what was found must still stand.
    let last = match probe.at(high).await? {
        Err(moved) => return Ok(Err(moved)),
        Ok(last) => last,
    };
    if last != found {
        return Ok(Err(Moved));
    }
    if high > from {
        match probe.at(high - 1).await? {
            Ok((a, b)) if a.is_same(&b) => {}
            _ => return Ok(Err(Moved)),
        }
    }
    Ok(Ok(Some(found)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::convert::Infallible;

    use super::*;

    /// Two instances that part at a height; B's chain is replaced after some questions.
    struct Chains {
        parts_at: u32,
        asked: u32,
        moves_after: Option<u32>,
    }

    fn digests(height: u32, branch: &str) -> Digests {
        Digests {
            network: "regtest".to_owned(),
            format: 1,
            height,
            hash: height.to_string(),
            digest: format!("{branch}{height}"),
            cumulative: format!("{branch}{height}"),
            modules: BTreeMap::new(),
        }
    }

    impl Probe for Chains {
        type Error = Infallible;

        async fn at(&mut self, height: u32) -> Result<Result<(Digests, Digests), Moved>, Infallible> {
            self.asked += 1;
            if self.moves_after.is_some_and(|limit| self.asked > limit) {
                self.parts_at += 1_000;
                self.moves_after = None;
            }
            let other = if height >= self.parts_at { "other" } else { "" };
            Ok(Ok((digests(height, ""), digests(height, other))))
        }
    }

    fn search(chains: &mut Chains, from: u32, to: u32) -> Result<Option<u32>, Moved> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let Ok(found) = runtime.block_on(first_difference(chains, from, to));
        found.map(|found| found.map(|(a, _)| a.height))
    }

    #[test]
    fn the_first_difference_is_found_wherever_it_is_with_few_questions() {
        for to in [0, 1, 2, 3, 7, 8, 100] {
            for from in [0, 1, to / 2, to] {
                for parts_at in 0..=to + 1 {
                    if from > to || parts_at < from {
                        continue;
                    }
                    let mut chains = Chains { parts_at, asked: 0, moves_after: None };
                    let expected = (parts_at <= to).then_some(parts_at);
                    assert_eq!(search(&mut chains, from, to), Ok(expected), "{from}..={to}, {parts_at}");
                    assert!(chains.asked <= 4 + (to - from + 1).ilog2(), "{} questions", chains.asked);
                }
            }
        }
        let mut chains = Chains { parts_at: 812_345, asked: 0, moves_after: None };
        assert_eq!(search(&mut chains, 0, 925_000), Ok(Some(812_345)));
        assert!(chains.asked <= 23, "{} questions", chains.asked);
    }

    #[test]
    fn a_chain_that_moves_meanwhile_is_noticed() {
        for moves_after in 1..12 {
            let mut chains = Chains { parts_at: 300, asked: 0, moves_after: Some(moves_after) };
            let found = search(&mut chains, 0, 2_000);
            assert!([Err(Moved), Ok(Some(1_300))].contains(&found), "{moves_after}: {found:?}");
        }
    }
}
