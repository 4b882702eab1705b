//! The trace of a message, call by call (protocol B17). The protobuf form is in `views`.

use paraffin_primitives::AlkaneId;

use crate::Transfer;

/// The kind of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallKind {
    /// In its own name.
    Call,
    /// In the name of its caller.
    Delegate,
    /// In its own name, and everything is undone afterwards.
    Static,
}

/// Contract, caller and arguments of a call (protocol B9, B17).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceContext {
    /// The contract whose storage and balances are used.
    pub myself: AlkaneId,
    /// The caller; 0:0 for a message.
    pub caller: AlkaneId,
    /// Shadow output of the message.
    pub vout: u32,
    /// Incoming alkanes.
    pub incoming: Vec<Transfer>,
    /// Inputs, the operation first.
    pub inputs: Vec<u128>,
}

/// The answer of a contract (protocol B9). Its storage is sorted by key.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CallResponse {
    /// Returned alkanes, as written: order and repetitions count.
    pub alkanes: Vec<Transfer>,
    /// Storage writes, each key once, sorted.
    pub storage: Vec<(Vec<u8>, Vec<u8>)>,
    /// Data for the caller.
    pub data: Vec<u8>,
}

/// The status of a call's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceStatus {
    /// With a response.
    Success,
    /// Undone; the data of the response state why.
    Revert,
}

/// One step, in strict order of calls (protocol B17).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TraceEvent {
    /// A contract was created under this id.
    Create(AlkaneId),
    /// A contract was entered.
    Enter {
        /// The kind of call.
        kind: CallKind,
        /// Contract, caller and arguments.
        context: TraceContext,
        /// Fuel that it was given.
        fuel: u64,
    },
    /// The newest contract entered has ended.
    Exit {
        /// Success or revert.
        status: TraceStatus,
        /// Its answer.
        response: CallResponse,
        /// Fuel that it used.
        fuel_used: u64,
    },
    /// The only event of a trace that is larger than the bound of a message or of its block
    /// ([`MESSAGE_TRACE_BYTES_MAX`](crate::MESSAGE_TRACE_BYTES_MAX)): a record of it.
    Omitted {
        /// The status of the message.
        status: TraceStatus,
        /// SHA-256 of the stored form of the events that fitted, and of the size of each other one, 8 bytes, the lowest
        /// first.
        digest: [u8; 32],
        /// Number of its events.
        events: u64,
        /// Their size by [`event_bytes`](crate::event_bytes).
        bytes: u64,
        /// Contracts that were created or entered, sorted, each once; the first 65,536 that were met.
        contracts: Vec<AlkaneId>,
    },
}

/// Events of one message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trace {
    /// In strict order of calls.
    pub events: Vec<TraceEvent>,
}

impl Trace {
    /// Its size against the limits of traces, in bytes ([`event_bytes`](crate::event_bytes)).
    pub fn bytes(&self) -> u64 {
        self.events.iter().map(crate::event_bytes).sum()
    }
}
