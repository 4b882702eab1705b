//! Ids of requests, for the answer and the log (docs/api.md, "Headers").

use std::fmt;
use std::hash::BuildHasher as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};

use crate::redact::redact;

pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// An id that a caller sends is used when it is at most this long, bytes, and made of harmless characters.
const GIVEN_BYTES_MAX: usize = 64;
/// Digits that all ids of a connection begin with.
pub(crate) const CONNECTION_DIGITS: usize = 12;
const DIGITS: usize = 20;
/// Odd, so that multiples of it run through all numbers of [`CONNECTION_DIGITS`] before one comes back.
const STEP: u64 = 0x9e37_79b9_7f4b;

/// Names the requests of one connection: its own twelve digits and the number of the request. The first connection of a
/// process has a random number, so that no two processes give the same names.
pub(crate) struct RequestNames {
    connection: [u8; CONNECTION_DIGITS],
    next: AtomicU32,
}

impl RequestNames {
    pub(crate) fn new() -> Self {
        static FIRST: OnceLock<u64> = OnceLock::new();
        static CONNECTIONS: AtomicU64 = AtomicU64::new(0);
        let first = *FIRST.get_or_init(|| std::hash::RandomState::new().hash_one(0));
        let number = first.wrapping_add(CONNECTIONS.fetch_add(1, Ordering::Relaxed).wrapping_mul(STEP));
        Self { connection: hex(number), next: AtomicU32::new(0) }
    }

    /// The common prefix of all ids of this connection.
    pub(crate) fn connection(&self) -> &str {
        ascii(&self.connection)
    }

    /// [`Self::connection`] as bytes.
    pub(crate) fn connection_digits(&self) -> [u8; CONNECTION_DIGITS] {
        self.connection
    }

    /// The caller's own id where it is harmless and no key, else a new one.
    pub(crate) fn name(&self, headers: &HeaderMap) -> RequestId {
        match headers.get(REQUEST_ID).filter(|value| is_harmless(value)) {
            Some(given) => RequestId::Given(given.clone()),
            None => {
                let mut digits = [0; DIGITS];
                digits[..CONNECTION_DIGITS].copy_from_slice(&self.connection);
                let number = self.next.fetch_add(1, Ordering::Relaxed);
                let number: [u8; DIGITS - CONNECTION_DIGITS] = hex(u64::from(number));
                digits[CONNECTION_DIGITS..].copy_from_slice(&number);
                RequestId::Own(digits)
            }
        }
    }
}

fn is_harmless(value: &HeaderValue) -> bool {
    let bytes = value.as_bytes();
    (1..=GIVEN_BYTES_MAX).contains(&bytes.len())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
        && value.to_str().is_ok_and(|text| redact(text) == text)
}

/// The id of one request.
#[derive(Debug, Clone)]
pub(crate) enum RequestId {
    Given(HeaderValue),
    Own([u8; DIGITS]),
}

impl RequestId {
    pub(crate) fn value(&self) -> HeaderValue {
        match self {
            Self::Given(value) => value.clone(),
            // Digits are always a valid header value.
            Self::Own(digits) => HeaderValue::from_bytes(digits).unwrap_or(HeaderValue::from_static("none")),
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        match self {
            Self::Given(value) => value.to_str().unwrap_or_default(),
            Self::Own(digits) => ascii(digits),
        }
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// The lowest `N` hex digits.
fn hex<const N: usize>(mut number: u64) -> [u8; N] {
    let mut digits = [0; N];
    for digit in digits.iter_mut().rev() {
        *digit = b"0123456789abcdef"[(number & 15) as usize];
        number >>= 4;
    }
    digits
}

/// The digits as text; they are always ASCII.
pub(crate) fn ascii(digits: &[u8]) -> &str {
    std::str::from_utf8(digits).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_a_connection_begin_alike_and_no_two_ids_are_equal() {
        let connections: Vec<RequestNames> = (0..100).map(|_| RequestNames::new()).collect();
        let mut seen = std::collections::HashSet::new();
        for names in &connections {
            for _ in 0..100 {
                let id = names.name(&HeaderMap::new());
                assert!(id.as_str().len() == DIGITS && id.as_str().starts_with(names.connection()), "{id}");
                assert!(seen.insert(id.as_str().to_owned()), "{id}");
            }
        }
    }
}
