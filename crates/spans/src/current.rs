//! The span of the running task, so that code far below a request can record time without a parameter.

use std::borrow::Cow;
use std::pin::Pin;
use std::time::{Duration, SystemTime};

use crate::span::{Parent, Span, Value};

tokio::task_local! {
    static CURRENT: Parent;
}

/// A child of the task's span; an empty span where there is none.
pub fn child(name: &'static str) -> Span {
    CURRENT.try_with(|parent| parent.child(name)).unwrap_or_default()
}

/// Adds an attribute to the span of the task's whole request or block.
pub fn note(key: &'static str, value: impl FnOnce() -> Value) {
    // Outside of a recorded request there is no span to add it to.
    let _ = CURRENT.try_with(|parent| parent.note(key, value()));
}

/// A wait of this task, from now until it is dropped: recorded as a child of its span where it took a millisecond or more.
pub fn wait(name: &'static str) -> Wait {
    Wait(is_recorded().then(|| Box::new((name, SystemTime::now()))))
}

/// See [`wait`].
#[must_use = "a wait ends when it is dropped"]
pub struct Wait(Option<Box<(&'static str, SystemTime)>>);

impl Drop for Wait {
    fn drop(&mut self) {
        /// Shortest wait that is recorded.
        const LEAST: Duration = Duration::from_millis(1);
        let Some((name, since)) = self.0.take().map(|wait| *wait) else { return };
        if since.elapsed().is_ok_and(|waited| waited >= LEAST) {
            drop(child(name).since(since));
        }
    }
}

/// Whether the task's span is recorded.
pub fn is_recorded() -> bool {
    CURRENT.try_with(|_| ()).is_ok()
}

/// Wraps a future so that it has the span of the calling task, wherever it runs.
pub fn in_current<F: Future>(future: F) -> impl Future<Output = F::Output> {
    let parent = CURRENT.try_with(Clone::clone).ok();
    within(parent, Box::pin(future))
}

/// As small as it can be: every request has it, recorded or not.
pub(crate) fn within<F: Future + Unpin>(parent: Option<Parent>, mut future: F) -> impl Future<Output = F::Output> {
    std::future::poll_fn(move |context| {
        let mut poll = || Pin::new(&mut future).poll(context);
        match &parent {
            None => poll(),
            Some(parent) => CURRENT.sync_scope(parent.clone(), poll),
        }
    })
}

/// Text of any origin, cut to the limit of an attribute.
pub(crate) fn cut(text: Cow<'static, str>) -> Cow<'static, str> {
    /// Longest text of an attribute or a name, bytes.
    const TEXT_BYTES_MAX: usize = 256;
    if text.len() <= TEXT_BYTES_MAX {
        return text;
    }
    let end = text.floor_char_boundary(TEXT_BYTES_MAX);
    Cow::Owned(text[..end].to_owned())
}
