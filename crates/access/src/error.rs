/// Why an operation on the key store did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    /// The store cannot be consulted; callers are answered 503 `AUTH_UNAVAILABLE` and nobody is served.
    /// The text is for the operator's log, never for a caller.
    #[error("the key store is not available: {0}")]
    Unavailable(String),
    /// The store on disk was written by a newer version of the program.
    #[error(
        "the key store has schema version {found}, this program knows versions up to {known}: start a newer program or another --data-dir"
    )]
    NewerSchema {
        /// Version found in the file.
        found: i64,
        /// Newest version that this program can read.
        known: i64,
    },
    /// A key name is empty, too long, or holds control characters.
    #[error("a key name has 1 to {max} characters and no control characters", max = crate::NAME_CHARS_MAX)]
    InvalidName,
    /// No key matches the selector.
    #[error("no such key")]
    NoSuchKey,
    /// The key is revoked or has expired, so it cannot be rerolled.
    #[error("the key is no longer active: create a new one")]
    Inactive,
    /// The operating system gave no random bytes.
    #[error("no random bytes from the operating system: {0}")]
    NoRandomness(String),
}

impl From<sqlx::Error> for AccessError {
    fn from(error: sqlx::Error) -> Self {
        Self::Unavailable(error.to_string())
    }
}
