//! Why a call undid everything.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

/// The first bytes of the data of a reverted response; the text follows.
const SELECTOR: [u8; 4] = [0x08, 0xc3, 0x79, 0xa0];

/// A call that shall change nothing, with the reason that the trace shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revert(Cow<'static, str>);

impl Revert {
    /// A revert with this reason.
    pub fn new(reason: impl Into<Cow<'static, str>>) -> Self {
        Self(reason.into())
    }

    /// The reason.
    pub fn reason(&self) -> &str {
        &self.0
    }

    /// The data of the response that carries the reason.
    pub fn to_data(&self) -> Vec<u8> {
        let mut data = Vec::with_capacity(SELECTOR.len() + self.0.len());
        data.extend_from_slice(&SELECTOR);
        data.extend_from_slice(self.0.as_bytes());
        data
    }
}

impl From<&'static str> for Revert {
    fn from(reason: &'static str) -> Self {
        Self(Cow::Borrowed(reason))
    }
}

impl From<String> for Revert {
    fn from(reason: String) -> Self {
        Self(Cow::Owned(reason))
    }
}

/// Reverts with the text unless the condition holds.
#[macro_export]
macro_rules! ensure {
    ($condition:expr, $reason:expr) => {
        if !$condition {
            return Err($crate::Revert::from($reason));
        }
    };
}
