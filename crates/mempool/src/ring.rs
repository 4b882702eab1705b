//! The newest changes, for subscribers that reconnect.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::Frame;

/// A reader's position lies before the oldest change that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the changes after {since} are not kept any more; the oldest is {oldest}")]
pub struct Missed {
    /// The position.
    pub since: u64,
    /// The oldest change that is kept.
    pub oldest: u64,
}

/// The newest changes in order, without gaps, bounded by number and bytes.
#[derive(Debug)]
pub struct Ring {
    frames: VecDeque<Arc<Frame>>,
    bytes: usize,
    frames_max: usize,
    bytes_max: usize,
    /// Number of the newest change; 0 before the first.
    newest: u64,
}

impl Ring {
    /// An empty ring.
    pub fn new(frames_max: usize, bytes_max: usize) -> Self {
        Self { frames: VecDeque::new(), bytes: 0, frames_max, bytes_max, newest: 0 }
    }

    pub(crate) fn push(&mut self, frame: Frame) {
        debug_assert_eq!(frame.seq, self.newest + 1);
        self.newest = frame.seq;
        self.bytes += frame.bytes();
        self.frames.push_back(Arc::new(frame));
        while self.frames.len() > self.frames_max || self.bytes > self.bytes_max {
            let Some(oldest) = self.frames.pop_front() else { break };
            self.bytes -= oldest.bytes();
        }
    }

    /// Number of the newest change; 0 before the first.
    pub fn newest(&self) -> u64 {
        self.newest
    }

    /// Number of the oldest change that is kept; one more than the newest when none is.
    pub fn oldest(&self) -> u64 {
        self.newest + 1 - self.frames.len() as u64
    }

    /// At most `limit` changes after `since`, oldest first. A position in the future has none.
    ///
    /// # Errors
    /// [`Missed`] when some after `since` are not kept any more.
    pub fn after(&self, since: u64, limit: usize) -> Result<Vec<Arc<Frame>>, Missed> {
        if since >= self.newest {
            return Ok(Vec::new());
        }
        let oldest = self.oldest();
        let skip = (since + 1).checked_sub(oldest).ok_or(Missed { since, oldest })?;
        // The number of frames fits memory, so it fits usize.
        let skip = usize::try_from(skip).unwrap_or(usize::MAX);
        Ok(self.frames.iter().skip(skip).take(limit).cloned().collect())
    }
}
