//! Serialisation of JSON up to the size limit of an answer.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::value::RawValue;

use crate::errors::ApiError;

/// Failure to write a value.
#[derive(Debug, thiserror::Error)]
pub enum NotWritten {
    /// It is larger than the limit.
    #[error("the answer is larger than answers may be")]
    TooLarge,
    /// It cannot be written as JSON: a fault of the program.
    #[error("{0}")]
    Failed(serde_json::Error),
}

impl From<NotWritten> for ApiError {
    fn from(error: NotWritten) -> Self {
        match error {
            NotWritten::TooLarge => Self::response_too_large(),
            NotWritten::Failed(error) => Self::internal(&error),
        }
    }
}

/// A writer that fails beyond a number of bytes.
struct Bounded {
    written: Vec<u8>,
    bytes_max: usize,
    is_over: bool,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.bytes_max - self.written.len() {
            self.is_over = true;
            return Err(io::Error::other("the bound is reached"));
        }
        self.written.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes a value as JSON of at most `bytes_max` bytes. Nothing beyond is ever held in memory.
///
/// # Errors
/// It is longer, or no JSON.
pub fn write_bounded(value: &impl Serialize, bytes_max: usize) -> Result<Vec<u8>, NotWritten> {
    let mut out = Bounded { written: Vec::new(), bytes_max, is_over: false };
    match serde_json::to_writer(&mut out, value) {
        Ok(()) => Ok(out.written),
        Err(_) if out.is_over => Err(NotWritten::TooLarge),
        Err(error) => Err(NotWritten::Failed(error)),
    }
}

/// As [`write_bounded`], for a value that becomes part of another answer.
///
/// # Errors
/// As [`write_bounded`].
pub fn to_raw_bounded(value: &impl Serialize, bytes_max: usize) -> Result<Box<RawValue>, NotWritten> {
    let text = String::from_utf8(write_bounded(value, bytes_max)?);
    RawValue::from_string(text.map_err(serde::ser::Error::custom).map_err(NotWritten::Failed)?)
        .map_err(NotWritten::Failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_exact_and_what_is_beyond_is_not_written() {
        let value = vec!["x".repeat(10); 3];
        let text = serde_json::to_vec(&value).unwrap();
        assert_eq!(write_bounded(&value, text.len()).unwrap(), text);
        assert!(matches!(write_bounded(&value, text.len() - 1), Err(NotWritten::TooLarge)));
        assert_eq!(to_raw_bounded(&value, text.len()).unwrap().get().as_bytes(), text);
        let error = to_raw_bounded(&value, 5).unwrap_err();
        assert_eq!(ApiError::from(error), ApiError::response_too_large());
        let no_json = std::collections::BTreeMap::from([(vec![1], 1)]);
        assert!(matches!(write_bounded(&no_json, 100), Err(NotWritten::Failed(_))));
    }
}
