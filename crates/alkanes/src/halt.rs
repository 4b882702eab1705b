use paraffin_primitives::AlkaneId;

use crate::StateError;

/// The engine cannot go on with a block, because the reference would not either, or because reading failed.
///
/// A halt is never skipped: the block is not applied, and the operator sees this text (protocol B1, B22.5). But a message
/// that could bring one about fails instead.
#[derive(Debug, thiserror::Error)]
pub enum Halt {
    /// Reading the state failed.
    #[error("{0}")]
    State(#[from] StateError),
    /// A contract declares that its memory cannot grow to 512 pages; the reference stops there (protocol B9).
    #[error("contract {0} declares a memory of less than 512 pages, on which the reference engine halts")]
    SmallMemory(AlkaneId),
    /// The message does more unmetered work than is left for its transaction and block (decision 0038).
    #[error("the message needs more work that no fuel pays for than is left for its transaction and its block")]
    TooMuchWork,
    /// The changes of a block's messages take more memory than the reference engine has (decision 0038).
    #[error("the messages of the block change more than fits the memory of the reference engine")]
    TooMuchState,
    /// Messages share no fuel: the block's transactions have no size in the fuel tank (protocol B12, B22.5).
    #[error("a message runs in a block whose fuel tank is empty by size, on which the reference engine halts")]
    EmptyTank,
    /// A stored integer has the wrong length (protocol B22.5).
    #[error("the stored value of {what} has {length} bytes instead of {expected}")]
    WrongLength {
        /// The name of the stored integer.
        what: &'static str,
        /// Its length in bytes.
        length: usize,
        /// The length in bytes that it must have.
        expected: usize,
    },
    /// A payment record of the wrapped-bitcoin contract is malformed (protocol B19).
    #[error("a payment record of 32:0 at height {height} is malformed, on which the reference engine halts")]
    MalformedPayment {
        /// Height whose list holds it.
        height: u64,
    },
    /// A built-in contract is needed and its bytes are not there.
    #[error("{0}")]
    MissingBuiltin(String),
    /// A built-in contract cannot be deployed.
    #[error("built-in contract {id} cannot be deployed: {text}")]
    BuiltinFailed {
        /// The contract.
        id: AlkaneId,
        /// The text of its revert.
        text: String,
    },
    /// A message needs more than [`MESSAGE_BYTES_MAX`](crate::MESSAGE_BYTES_MAX) (protocol B22.7, decision 0038), or a simulation
    /// more than it may have.
    #[error("a message needs more memory for its contracts than the reference engine has, on which that halts")]
    OutOfMemory,
    /// The engine that runs contracts has panicked, on which the reference halts too.
    #[error("the engine that runs contracts failed; the message of its panic is in the log")]
    EnginePanic,
    /// The rules of this height are not among those that the native engine knows (`[alkanes] known_until`).
    #[error(
        "the rules of height {height} are not known to the native engine, which is configured to stop above {known_until}: \
         give the network's newer indexer program as [alkanes] wasm_path and set engine = \"hosted\", or raise known_until \
         when this version of Paraffin has the rules"
    )]
    UnknownRules {
        /// The height.
        height: u64,
        /// Newest height whose rules are known.
        known_until: u64,
    },
    /// The state was filled from a hosted indexer program, which does not supply all that the native engine reads.
    #[error(
        "the contract index was filled from the hosted indexer program alone, which does not supply all that the native \
         engine reads: run `paraffin reindex alkanes`"
    )]
    PartialState,
    /// The hosted indexer program cannot be followed.
    #[error("{0}")]
    Hosted(String),
    /// The effects of the native engine and of the hosted indexer program differ.
    #[error("the native engine and the hosted indexer program part (left: native, right: hosted)\n{0}")]
    Parted(String),
    /// A simulation passes, returns or writes more than one may. Never happens in a block.
    #[error(
        "the calls of this simulation pass and return more than {} MiB in all, or write too much: ask for less at once",
        crate::MESSAGE_TRACE_BYTES_MAX >> 20
    )]
    SimulationTooLarge,
    /// A module is longer than one that is shown. Never happens in a block.
    #[error("the module of the contract has more than {} MiB", crate::vm::SHOWN_CODE_LEN_MAX_BYTES >> 20)]
    CodeTooLarge,
    /// A simulation was interrupted. Never happens in a block.
    #[error("the call was stopped before it ended")]
    Interrupted,
}

impl Halt {
    /// Whether a message can bring it about on a state that is whole. In a block such a message fails, and the block goes on
    /// (decision 0038); a simulation ends with it.
    pub(crate) const fn fails_message(&self) -> bool {
        matches!(
            self,
            Self::SmallMemory(_)
                | Self::OutOfMemory
                | Self::EmptyTank
                | Self::EnginePanic
                | Self::TooMuchWork
                | Self::TooMuchState
        )
    }
}
