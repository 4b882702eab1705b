use std::fmt;

use data_encoding::HEXLOWER;

use crate::ids::{SpanId, TraceId};

/// Length of the header in version 00.
const LENGTH: usize = 55;
const SAMPLED: u8 = 1;

/// The header `traceparent` of W3C Trace Context: the trace of a request, and the calling span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traceparent {
    /// The trace.
    pub trace: TraceId,
    /// The calling span.
    pub span: SpanId,
    /// Whether the caller records its own span.
    pub is_sampled: bool,
}

impl Traceparent {
    /// Parses a header; `None` for all that the standard does not allow, such as upper-case digits or ids of zero.
    ///
    /// Of versions after 00, which may append fields, these fields are read and the others skipped, as the standard requires.
    pub fn parse(header: &[u8]) -> Option<Self> {
        let (fixed, appended) = header.split_at_checked(LENGTH)?;
        let [version] = digits(&fixed[..2])?;
        let is_length_right =
            if version == 0 { appended.is_empty() } else { appended.first().is_none_or(|byte| *byte == b'-') };
        let has_dashes = [2, 35, 52].iter().all(|at| fixed[*at] == b'-');
        if version == 0xff || !is_length_right || !has_dashes {
            return None;
        }
        let (trace, span) = (digits(&fixed[3..35])?, digits(&fixed[36..52])?);
        let [flags] = digits(&fixed[53..])?;
        let is_zero = trace == [0; 16] || span == [0; 8];
        (!is_zero).then_some(Self { trace: TraceId(trace), span: SpanId(span), is_sampled: flags & SAMPLED != 0 })
    }
}

impl fmt::Display for Traceparent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "00-{}-{}-{:02x}", self.trace, self.span, u8::from(self.is_sampled))
    }
}

/// `N` bytes of as many pairs of lower-case hex digits.
fn digits<const N: usize>(text: &[u8]) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    HEXLOWER.decode_mut(text, &mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GOOD: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn allowed_headers_are_read() {
        let read = Traceparent::parse(GOOD.as_bytes()).unwrap();
        assert_eq!((read.to_string().as_str(), read.is_sampled), (GOOD, true));
        let unsampled = Traceparent::parse(GOOD.replace("-01", "-00").as_bytes()).unwrap();
        assert!(!unsampled.is_sampled);
        // Further flags, and later versions with more fields.
        assert!(Traceparent::parse(GOOD.replace("-01", "-ff").as_bytes()).unwrap().is_sampled);
        for later in [GOOD.replacen("00", "01", 1), format!("cc{}-what-ever", &GOOD[2..])] {
            assert_eq!(Traceparent::parse(later.as_bytes()), Some(read), "{later}");
        }
    }

    #[test]
    fn everything_else_is_no_traceparent() {
        let zero_trace = format!("00-{}-b7ad6b7169203331-01", "0".repeat(32));
        let zero_span = format!("00-0af7651916cd43dd8448eb211c80319c-{}-01", "0".repeat(16));
        let bad = [
            "",
            "00",
            &GOOD[..54],
            &format!("{GOOD}0"),
            &format!("{GOOD}-00"),
            &format!(" {GOOD}"),
            &GOOD.to_uppercase(),
            &GOOD.replacen("00", "ff", 1),
            &GOOD.replacen("00", "0x", 1),
            &GOOD.replacen('-', "_", 1),
            &GOOD.replace("-01", "-0g"),
            &format!("01{}.x", &GOOD[2..]),
            &zero_trace,
            &zero_span,
        ];
        for header in bad {
            assert_eq!(Traceparent::parse(header.as_bytes()), None, "{header}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(header in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = Traceparent::parse(&header);
        }

        #[test]
        fn headers_round_trip(trace in 1_u128.., span in 1_u64.., is_sampled: bool) {
            let written = Traceparent { trace: TraceId(trace.to_be_bytes()), span: SpanId(span.to_be_bytes()), is_sampled };
            prop_assert_eq!(Traceparent::parse(written.to_string().as_bytes()), Some(written));
        }
    }
}
