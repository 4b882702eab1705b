//! The state of a durable stream, whichever it is.

/// How a durable stream is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamState {
    /// It accepts events.
    Ready,
    /// It accepts none at the moment and is tried again; reads continue.
    Away,
    /// It does not fit the book, which is not updated until the operator repairs it; the reason is logged.
    Mismatch,
}

impl StreamState {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Away => "away",
            Self::Mismatch => "mismatch",
        }
    }
}
