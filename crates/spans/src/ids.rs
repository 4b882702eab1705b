use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use data_encoding::HEXLOWER;

/// The number of a trace, not zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceId(pub [u8; 16]);

/// The number of a span within its trace, not zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpanId(pub [u8; 8]);

impl fmt::Display for TraceId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        HEXLOWER.encode_display(&self.0).fmt(formatter)
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        HEXLOWER.encode_display(&self.0).fmt(formatter)
    }
}

/// Unpredictable numbers: the keyed hash of a counter, with a key of this process.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    key: RandomState,
    next: AtomicU64,
}

impl Numbers {
    pub(crate) fn next(&self) -> u64 {
        self.key.hash_one(self.next.fetch_add(1, Ordering::Relaxed))
    }

    pub(crate) fn trace_id(&self) -> TraceId {
        let number = u128::from(self.next()) << 64 | u128::from(self.next());
        TraceId(number.max(1).to_be_bytes())
    }

    pub(crate) fn span_id(&self) -> SpanId {
        SpanId(self.next().max(1).to_be_bytes())
    }
}
