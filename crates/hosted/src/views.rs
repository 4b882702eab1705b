//! Views of a program at any height, and previews, with bounded concurrency.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use paraffin_primitives::Height;
use paraffin_store::Snapshot;

use crate::rows::BlockRow;
use crate::state::{HostedState, Tried};
use crate::{MODULE, Program, ProgramError, ReadError, RunLimits};

/// Bounds of views.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ViewLimits {
    /// Largest memory of one view, in bytes.
    pub memory_bytes_max: u64,
    /// Views that run at the same time, previews among them.
    pub concurrent_max: usize,
    /// Largest memory of the block of a preview, in bytes: any caller may bring any block.
    pub preview_memory_bytes_max: u64,
    /// Previews that run at the same time.
    pub previews_max: usize,
    /// Largest answer, in bytes.
    pub answer_bytes_max: usize,
}

impl Default for ViewLimits {
    /// 16 views of 256 MiB, two of them previews with blocks of 1 GiB, answers of 16 MiB.
    fn default() -> Self {
        Self {
            memory_bytes_max: 256 << 20,
            concurrent_max: 16,
            preview_memory_bytes_max: 1 << 30,
            previews_max: 2,
            answer_bytes_max: 16 << 20,
        }
    }
}

/// A view has no answer.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// `concurrent_max` views or `previews_max` previews are running.
    #[error("all slots for views of the hosted program are in use")]
    Saturated,
    /// The answer is too large.
    #[error("the answer of the view is too large")]
    TooLarge,
    /// The program failed.
    #[error(transparent)]
    Program(#[from] ProgramError),
}

/// Answers views of a program.
pub struct HostedViews {
    program: Arc<dyn Program>,
    limits: ViewLimits,
    running: AtomicUsize,
    previews: AtomicUsize,
}

/// A permit for one of at most `max` concurrent runs; dropping it releases it.
struct Permit<'a>(&'a AtomicUsize);

impl<'a> Permit<'a> {
    fn among(running: &'a AtomicUsize, max: usize) -> Result<Self, ViewError> {
        let permit = Self(running);
        if running.fetch_add(1, Ordering::AcqRel) >= max { Err(ViewError::Saturated) } else { Ok(permit) }
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl HostedViews {
    /// Views of `program`.
    pub fn new(program: Arc<dyn Program>, limits: ViewLimits) -> Self {
        Self { program, limits, running: AtomicUsize::new(0), previews: AtomicUsize::new(0) }
    }

    /// Whether the program has a view of this name.
    pub fn has_view(&self, name: &str) -> bool {
        self.program.has_view(name)
    }

    /// Newest height at which views can be answered.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn newest(snapshot: &Snapshot) -> Result<Option<Height>, ReadError> {
        Ok(snapshot.module_height(MODULE)?)
    }

    /// The digest of the program's writes in the block at a height; `None` when it did not run the block.
    ///
    /// # Errors
    /// The store cannot be read or is damaged.
    pub fn digest(snapshot: &Snapshot, height: Height) -> Result<Option<[u8; 32]>, ReadError> {
        Ok(BlockRow::at(snapshot, height)?.map(|row| row.digest))
    }

    fn permit(&self) -> Result<Permit<'_>, ViewError> {
        Permit::among(&self.running, self.limits.concurrent_max)
    }

    /// Answers a view at the end of the block at `height`, until `is_over`.
    ///
    /// # Errors
    /// See [`ViewError`].
    pub fn view(
        &self,
        snapshot: &Snapshot,
        height: Height,
        name: &str,
        payload: &[u8],
        is_over: &dyn Fn() -> bool,
    ) -> Result<Vec<u8>, ViewError> {
        let _permit = self.permit()?;
        let limits = RunLimits { memory_bytes_max: self.limits.memory_bytes_max, is_over };
        let state = HostedState::at(snapshot, Some(height));
        self.bounded(self.program.view(name, height, payload, &state, limits)?)
    }

    /// Answers a view as it would after `block` on top of the block at `height`. The block's writes are discarded.
    ///
    /// # Errors
    /// See [`ViewError`].
    pub fn preview(
        &self,
        snapshot: &Snapshot,
        height: Height,
        block: &[u8],
        name: &str,
        payload: &[u8],
        is_over: &dyn Fn() -> bool,
    ) -> Result<Vec<u8>, ViewError> {
        if !self.has_view(name) {
            return Err(ProgramError::UnknownView.into());
        }
        let _permit = self.permit()?;
        let _preview = Permit::among(&self.previews, self.limits.previews_max)?;
        let below = HostedState::at(snapshot, Some(height));
        let next = height.saturating_add(1);
        let limits = RunLimits { memory_bytes_max: self.limits.preview_memory_bytes_max, is_over };
        let flush = self.program.run_block(next, block, &below, limits)?;
        let limits = RunLimits { memory_bytes_max: self.limits.memory_bytes_max, is_over };
        let tried = Tried { below: &below, block: &flush };
        self.bounded(self.program.view(name, next, payload, &tried, limits)?)
    }

    fn bounded(&self, answer: Vec<u8>) -> Result<Vec<u8>, ViewError> {
        if answer.len() > self.limits.answer_bytes_max { Err(ViewError::TooLarge) } else { Ok(answer) }
    }
}
