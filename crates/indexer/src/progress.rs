use std::time::Duration;

use paraffin_primitives::BlockId;
use serde::Serialize;

/// State of indexing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum IndexState {
    /// Nothing is indexed, or the node was not queried yet.
    Starting,
    /// Behind the node and catching up.
    Importing,
    /// Equal to the node's best chain when last compared.
    Synced,
    /// Indexing has stopped for the reason given; reads go on.
    Stopped {
        /// Sentence for the operator.
        reason: String,
    },
}

/// State of the index, published after every commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexStatus {
    /// See [`IndexState`].
    pub state: IndexState,
    /// Newest committed block.
    pub tip: Option<BlockId>,
    /// Newest block applied since the start of the process, committed or not.
    pub applied: Option<BlockId>,
    /// Best height of the node's verified headers.
    pub target_height: Option<u32>,
    /// Blocks applied since the start of the process.
    pub blocks_applied: u64,
    /// Bytes of blocks applied since the start of the process.
    pub bytes_applied: u64,
    /// Blocks undone since the start of the process.
    pub blocks_undone: u64,
}

impl IndexStatus {
    /// The status before the first block.
    pub const fn starting() -> Self {
        Self {
            state: IndexState::Starting,
            tip: None,
            applied: None,
            target_height: None,
            blocks_applied: 0,
            bytes_applied: 0,
            blocks_undone: 0,
        }
    }
}

/// Rate and remaining time of a long import, computed from two observations.
///
/// Bytes are block bytes (consensus encoding). The remainder is weighed by bytes, since early blocks are almost empty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Block bytes per second.
    pub bytes_per_second: f64,
    /// Blocks per second.
    pub blocks_per_second: f64,
    /// Block bytes that remain.
    pub bytes_left: u64,
    /// Time that remains at the present rate; `None` while nothing moves.
    pub time_left: Option<Duration>,
}

impl Progress {
    /// `bytes` and `blocks` were applied in `elapsed`; `bytes_left` remain.
    pub fn measure(blocks: u64, bytes: u64, elapsed: Duration, bytes_left: u64) -> Self {
        let seconds = elapsed.as_secs_f64().max(0.001);
        #[allow(clippy::cast_precision_loss)] // a rate for display
        let (blocks_per_second, bytes_per_second) = (blocks as f64 / seconds, bytes as f64 / seconds);
        #[allow(clippy::cast_precision_loss)]
        let time_left = (bytes > 0).then(|| bytes_left as f64 / bytes_per_second);
        let time_left = time_left.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        Self { bytes_per_second, blocks_per_second, bytes_left, time_left }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_is_weighed_by_bytes_and_absent_while_nothing_moves() {
        let progress = Progress::measure(10, 1_000, Duration::from_secs(2), 5_000);
        assert_eq!(progress.time_left, Some(Duration::from_secs(10)));
        assert!((progress.blocks_per_second - 5.0).abs() < 1e-9);
        assert_eq!(Progress::measure(0, 0, Duration::from_secs(2), 5_000).time_left, None);
        assert!(Progress::measure(1, 1, Duration::ZERO, u64::MAX).time_left.is_some());
    }
}
