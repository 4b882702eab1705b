//! An indexer program of the operator that answers `metashrew_*` instead of the native views, as a trait; the assembling program
//! implements it.

use std::sync::Arc;
use std::time::Instant;

use hyper::StatusCode;
use paraffin_primitives::Height;
use paraffin_store::Snapshot;
use serde::Serialize;

use crate::errors::{ApiError, ErrorKind};
use crate::interrupt::Interrupt;
use crate::metrics::Meter;
use crate::state::RequestContext;

/// Memory of a view of a program, bytes.
pub const HOSTED_VIEW_BYTES: usize = 256 << 20;

/// Characters of a program's failure that a caller sees.
const SHOWN_MAX: usize = 300;

/// A program that answers views at any height of the index.
pub trait HostedProgram: Send + Sync {
    /// Whether it has a view of this name.
    fn has_view(&self, name: &str) -> bool;

    /// Newest height that views can read; `None` before the first block.
    ///
    /// # Errors
    /// The store cannot be read.
    fn newest(&self, snapshot: &Snapshot) -> Result<Option<Height>, HostedFault>;

    /// The digest of what the program wrote in the block at a height; `None` when it did not run it.
    ///
    /// # Errors
    /// The store cannot be read.
    fn digest(&self, snapshot: &Snapshot, height: Height) -> Result<Option<[u8; 32]>, HostedFault>;

    /// First height at which it wrote under a key of an unknown kind: from there on the contract index, which is filled from its
    /// writes, is incomplete. `None` when that never happened.
    ///
    /// # Errors
    /// The store cannot be read.
    fn unknown_key(&self, snapshot: &Snapshot) -> Result<Option<Height>, HostedFault> {
        let _ = snapshot;
        Ok(None)
    }

    /// Answers a view at the end of the block at `height`, until `is_over`.
    ///
    /// # Errors
    /// See [`HostedFault`].
    fn view(
        &self,
        snapshot: &Snapshot,
        height: Height,
        name: &str,
        payload: &[u8],
        is_over: &dyn Fn() -> bool,
    ) -> Result<Vec<u8>, HostedFault>;

    /// Answers a view as it would after `block` on top of the block at `height`; the block is not stored.
    ///
    /// # Errors
    /// See [`HostedFault`].
    fn preview(
        &self,
        snapshot: &Snapshot,
        height: Height,
        block: &[u8],
        name: &str,
        payload: &[u8],
        is_over: &dyn Fn() -> bool,
    ) -> Result<Vec<u8>, HostedFault>;
}

/// How the native engine and a program beside it compare, since the start of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct ShadowState {
    /// Blocks that both have run and that were compared.
    pub compared: u64,
    /// Compared blocks whose results differ.
    pub differences: u64,
    /// Whether blocks are compared: no longer when the native engine has stopped.
    pub comparing: bool,
}

impl ShadowState {
    pub(crate) fn measure(self, meter: &Meter<'_>) {
        meter.count("paraffin_shadow_blocks_total", "Blocks in which both engines were compared", &[], self.compared);
        meter.count("paraffin_shadow_differences_total", "Blocks in which both engines parted", &[], self.differences);
        let comparing = if self.comparing { 1.0 } else { 0.0 };
        meter.gauge("paraffin_shadow_comparing", "1 while both engines are compared", &[], comparing);
    }
}

/// Failures of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostedFault {
    /// It has no view of this name.
    UnknownView,
    /// The limit of concurrent views is reached.
    Saturated,
    /// The view exceeded its memory limit.
    TooMuchMemory,
    /// The view did not end in time.
    TooLong,
    /// The answer is too large.
    TooLarge,
    /// The program failed; the text is for the caller.
    Failed(String),
    /// Something failed on our side; the text is for the log.
    Inside(String),
}

impl From<HostedFault> for ApiError {
    fn from(fault: HostedFault) -> Self {
        let coded = |name, message: String| Self::new(ErrorKind::new(name, StatusCode::SERVICE_UNAVAILABLE), message);
        match fault {
            HostedFault::UnknownView => Self::method_not_found(),
            HostedFault::Saturated => coded("VIEWS_SATURATED", "all places for views are taken: ask again".to_owned()),
            HostedFault::TooMuchMemory => {
                coded("VIEW_MEMORY", "the view asked for more memory than it may have".to_owned())
            }
            HostedFault::TooLong => Self::timeout(),
            HostedFault::TooLarge => Self::response_too_large(),
            HostedFault::Failed(text) => coded("VIEW_FAILED", text.chars().take(SHOWN_MAX).collect()),
            HostedFault::Inside(reason) => Self::inconsistent(reason),
        }
    }
}

/// Runs a view of the program on a blocking thread, until its time is over or the request is cancelled; a few of one
/// caller at a time.
///
/// # Errors
/// The program does not know the view, failed, or took too long.
pub async fn ask(
    context: &RequestContext,
    permits: u32,
    question: impl FnOnce(&Snapshot, &dyn Fn() -> bool) -> Result<Vec<u8>, HostedFault> + Send + 'static,
) -> Result<Vec<u8>, ApiError> {
    let permit = context.permits(&context.shared().hosted_views, permits).await.ok_or_else(ApiError::panicked)?;
    let snapshot = context.snapshot().clone();
    let (awaited, interrupt) = Interrupt::at(Instant::now() + context.limits().view_timeout());
    let task = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        let cancelled = interrupt.clone();
        question(&snapshot.until(Arc::new(move || cancelled.is_over())), &|| interrupt.is_over())
    });
    let answer = task.await.map_err(|_| ApiError::panicked())?;
    drop(awaited);
    Ok(answer?)
}
