//! How long an import takes: the cost of a megabyte of blocks by its offset in the chain, from measurements of the large chain
//! (docs/performance.md), whose shape is that of mainnet.

use std::time::Duration;

use paraffin_primitives::Network;

/// Offsets in the chain, in thousandths of its bytes, and the cost of a megabyte up to the next offset, in thousandths of the mean of the
/// whole: `benches/results/2026-12-01-large-20-machine-code.csv`, all modules, `memory_mib = 3072`.
const COSTS: [(u32, u32); 12] = [
    (0, 736),
    (100, 695),
    (200, 663),
    (300, 746),
    (500, 596),
    (700, 867),
    (800, 1202),
    (850, 1402),
    (900, 2115),
    (920, 2587),
    (950, 3414),
    (980, 4154),
];

/// The mean cost of a megabyte is `A + B * ln(megabytes)` milliseconds, by that measurement (19,307 MB, 24.8 ms) and one of 2,898 MB
/// (22.3 ms), beside a node that takes 2 ms.
const MEAN_MS: (f64, f64) = (11.89, 1.304);
/// Measured imports deviate by at most this share, and other machines are slower or faster: so a range is reported.
const SPREAD: (f64, f64) = (0.7, 1.6);

/// An import of a chain of so many bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ImportTime {
    network: Network,
    chain_bytes: f64,
}

impl ImportTime {
    #[allow(clippy::cast_precision_loss)] // sizes for people to read
    pub(crate) fn of(network: Network, chain_bytes: u64) -> Self {
        Self { network, chain_bytes: (chain_bytes as f64).max(1.0) }
    }

    /// The time that remains when the import began with `from` bytes indexed and has applied `applied` more in `elapsed`: the remaining
    /// work at the pace of the work done. `None` before the first progress.
    #[allow(clippy::cast_precision_loss)]
    pub(crate) fn left(&self, from: u64, applied: u64, elapsed: Duration) -> Option<Duration> {
        let from = from as f64;
        let done = self.work(from, from + applied as f64);
        let ahead = self.work(from + applied as f64, self.chain_bytes);
        (done > 0.0).then(|| Duration::try_from_secs_f64(elapsed.as_secs_f64() * ahead / done).ok()).flatten()
    }

    /// Cost of the blocks from byte `from` to byte `to`, as a share of the cost of all blocks.
    fn work(&self, from: f64, to: f64) -> f64 {
        let [from, to] = [from, to].map(|bytes| (bytes / self.chain_bytes).clamp(0.0, 1.0));
        // The shape of a development chain is not known.
        if self.network == Network::Regtest {
            return to - from;
        }
        let ends = COSTS[1..].iter().map(|(offset, _)| *offset).chain([1000]);
        let parts = COSTS.iter().zip(ends).map(|((begin, cost), end)| {
            let [begin, end] = [*begin, end].map(|offset| f64::from(offset) / 1000.0);
            (to.min(end) - from.max(begin)).max(0.0) * f64::from(*cost) / 1000.0
        });
        parts.sum()
    }

    /// The whole import on two cores like those of the measurements and on others, from the quicker to the slower.
    pub(crate) fn whole(&self) -> (Duration, Duration) {
        let megabytes = self.chain_bytes / 1e6;
        let (constant, slope) = MEAN_MS;
        // Below the smallest chain that was measured the line says nothing.
        let seconds = (constant + slope * megabytes.max(3_000.0).ln()) * megabytes / 1e3;
        let scaled = |share: f64| Duration::try_from_secs_f64(seconds * share).unwrap_or(Duration::MAX);
        (scaled(SPREAD.0), scaled(SPREAD.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAINNET: ImportTime = ImportTime { network: Network::Mainnet, chain_bytes: 750e9 };

    /// What the measured chain took up to a share of its bytes, by its own rows.
    fn measured() -> Vec<(f64, f64)> {
        let rows = include_str!("../../../benches/results/2026-12-01-large-20-machine-code.csv");
        let rows = rows.lines().filter(|line| !line.starts_with('#') && !line.starts_with("seconds"));
        let rows: Vec<(f64, f64)> = rows
            .map(|line| {
                let mut cells = line.split(',').map(|cell| cell.parse::<f64>().unwrap());
                let (seconds, _height, megabytes) = (cells.next().unwrap(), cells.next(), cells.next().unwrap());
                (megabytes, seconds)
            })
            .collect();
        let megabytes = rows.last().unwrap().0;
        // What comes after the last block is the digest of all rows.
        let end = rows.iter().position(|(at, _)| *at >= megabytes).unwrap();
        let seconds = rows[end].1;
        rows.into_iter().take(end + 1).map(|(at, taken)| (at / megabytes, taken / seconds)).collect()
    }

    #[test]
    fn costs_are_those_of_the_measured_chain() {
        assert!((MAINNET.work(0.0, 750e9) - 1.0).abs() < 0.01);
        for (share, taken) in measured() {
            let work = MAINNET.work(0.0, 750e9 * share);
            assert!((work - taken).abs() < 0.03, "{share}: {work} of {taken}");
        }
    }

    /// At every tenth of the measured chain the rest is foretold within a fifth; by the mean so far it would not be.
    #[test]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a share of the bytes of a chain
    fn the_rest_of_the_measured_chain_is_predicted_better_than_by_the_mean_so_far() {
        let rows = measured();
        let mut mean_is_wrong = false;
        for tenth in 1..10 {
            let (share, taken) = *rows.iter().find(|(share, _)| *share >= f64::from(tenth) / 10.0).unwrap();
            let left = MAINNET.left(0, (750e9 * share) as u64, Duration::from_secs_f64(taken * 1e5)).unwrap();
            let foretold = left.as_secs_f64() / 1e5 / (1.0 - taken);
            assert!((0.8..1.25).contains(&foretold), "{foretold} of the rest at {share}");
            let mean = taken / share * (1.0 - share) / (1.0 - taken);
            mean_is_wrong |= !(0.8..1.25).contains(&mean);
        }
        assert!(mean_is_wrong);
    }

    #[test]
    fn nothing_said_is_nonsense() {
        for network in [Network::Mainnet, Network::Regtest] {
            for chain in [0, 1, 1 << 20, u64::MAX] {
                let import = ImportTime::of(network, chain);
                for from in [0, chain / 2, chain, u64::MAX] {
                    for applied in [0, 1, chain / 2, chain, u64::MAX] {
                        // It neither panics nor says that nothing is left while there is.
                        let left = import.left(from, applied, Duration::from_secs(10));
                        let is_over = u128::from(from) + u128::from(applied) >= u128::from(chain - chain / 1_000);
                        assert!(is_over || left.is_none_or(|left| left > Duration::ZERO), "{from} {applied} {chain}");
                    }
                }
                // At the end nothing is left, however much was there before.
                assert!(
                    import.left(0, chain, Duration::from_secs(10)).is_none_or(|left| left < Duration::from_secs(1))
                );
                let (quick, slow) = import.whole();
                assert!(quick <= slow);
            }
        }
        assert_eq!(MAINNET.left(0, 0, Duration::from_secs(10)), None);
        // Without a known shape it is the mean.
        let regtest = ImportTime { network: Network::Regtest, chain_bytes: 1e9 };
        let left = regtest.left(0, 250_000_000, Duration::from_secs(10)).unwrap();
        assert!((left.as_secs_f64() - 30.0).abs() < 1e-6);
        // A larger chain takes longer.
        let hours = |bytes| ImportTime::of(Network::Mainnet, bytes).whole().0;
        assert!(hours(1 << 30) < hours(1 << 31) && hours(600 << 30) < hours(700 << 30));
    }
}
