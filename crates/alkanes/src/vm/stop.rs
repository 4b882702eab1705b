use crate::{Halt, StateError};

/// The reason why a call ended early.
#[derive(Debug)]
pub(crate) enum Stop {
    /// It is undone; the text goes into the trace (protocol B9, B22.4).
    Revert(String),
    /// The engine halts, and the block with it.
    Halt(Halt),
}

impl Stop {
    /// A revert with the text that the reference gives.
    pub(crate) fn revert(text: impl Into<String>) -> Self {
        Self::Revert(text.into())
    }

    /// Why the message fails, as its trace records it.
    ///
    /// # Errors
    /// The engine halts for a reason that no message can bring about.
    pub(crate) fn into_failure(self) -> Result<String, Halt> {
        match self {
            Self::Revert(text) => Ok(text),
            Self::Halt(halt) if halt.fails_message() => Ok(halt.to_string()),
            Self::Halt(halt) => Err(halt),
        }
    }

    /// The data of a response that reports it.
    pub(crate) fn revert_data(&self) -> Vec<u8> {
        match self {
            Self::Revert(text) => super::wire::revert_data(text),
            Self::Halt(halt) => super::wire::revert_data(&halt.to_string()),
        }
    }

    /// The text of the reference wherever checked arithmetic fails, running out of fuel in a host function included.
    pub(crate) fn overflow() -> Self {
        Self::revert("overflow error")
    }
}

impl From<Halt> for Stop {
    fn from(halt: Halt) -> Self {
        Self::Halt(halt)
    }
}

impl From<StateError> for Stop {
    fn from(error: StateError) -> Self {
        Self::Halt(Halt::State(error))
    }
}
