/// The shared stream cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StreamError {
    /// This library was compiled without its feature `nats`.
    #[error("this program was built without NATS")]
    WithoutNats,
    /// The settings cannot be used.
    #[error("{reason}")]
    Settings {
        /// What is wrong.
        reason: String,
    },
    /// The server does not answer, or not as it should; it is tried again.
    #[error("{reason}")]
    Away {
        /// What is wrong.
        reason: String,
    },
    /// The stream is set up in a way that does not work.
    #[error("the stream {stream} {reason}")]
    Unfit {
        /// Its name.
        stream: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Events are missing.
    #[error(
        "the stream {stream} begins at event {first_seq}, but the book ends at {book_seq}: copy the folder `orderbook/jetstream` from a gateway that is up to date, and have the stream keep its messages for longer"
    )]
    Gap {
        /// Its name.
        stream: String,
        /// Oldest event of the stream.
        first_seq: u64,
        /// Newest event in the book.
        book_seq: u64,
    },
    /// The stream is not the one that the book came from.
    #[error(
        "the stream {stream} does not hold event {book_seq} as the book knows it: it was made anew, went back, or is another one. Name the stream that the book came from, or remove the folder `orderbook/jetstream` to build the book from this one"
    )]
    Replaced {
        /// Its name.
        stream: String,
        /// Newest event in the book.
        book_seq: u64,
    },
}

#[cfg(feature = "nats")]
impl StreamError {
    /// Whether waiting may help, without a change to the stream by its operator.
    pub(super) fn is_passing(&self) -> bool {
        matches!(self, Self::Away { .. })
    }

    #[allow(clippy::needless_pass_by_value)] // so that `map_err` takes it by its name
    pub(super) fn away(reason: impl ToString) -> Self {
        Self::Away { reason: reason.to_string() }
    }
}
