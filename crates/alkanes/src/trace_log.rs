//! Traces of bounded size, however much the contracts return.
//!
//! Return data cost no fuel, and every call's answer is an event of the trace, so a transaction of a few hundred
//! bytes can cause gigabytes. A trace changes no balance: where it is too large, a record replaces it.

use std::collections::BTreeSet;

use bitcoin::{Block, OutPoint};
use paraffin_primitives::AlkaneId;
use sha2::{Digest as _, Sha256};

use crate::codec::{ALKANES_PROTOCOL, Runestone};
use crate::rows::encode_event;
use crate::{CallKind, CallResponse, Trace, TraceContext, TraceEvent, TraceStatus, Transfer};

/// Largest trace of one message that is kept whole, in bytes by [`event_bytes`]; also most of a simulation's.
pub const MESSAGE_TRACE_BYTES_MAX: u64 = 8 << 20;

/// Bytes of all traces of a block that are larger than its share of the small ones.
pub const LARGE_TRACES_BYTES: u64 = 64 << 20;

/// Of so many bytes for large traces, how many times as many are shared evenly by all messages of a block: no message loses its
/// trace to the size of another's.
const SMALL_TRACES_TIMES: u64 = 2;

/// Most that one message has of that share.
const SMALL_TRACE_BYTES_MAX: u64 = 16 << 10;

/// Most contracts that a record names.
const CONTRACTS_MAX: usize = 1 << 16;

const EVENT_BYTES: u64 = 160;
const TRANSFER_BYTES: u64 = 64;
const INPUT_BYTES: u64 = 24;
const PAIR_BYTES: u64 = 64;

/// The size of an event in bytes: not less than it takes in memory or in the store.
pub fn event_bytes(event: &TraceEvent) -> u64 {
    match event {
        TraceEvent::Create(_) => EVENT_BYTES,
        TraceEvent::Omitted { contracts, .. } => EVENT_BYTES + TRANSFER_BYTES * contracts.len() as u64,
        TraceEvent::Enter { context, .. } => enter_bytes(&context.incoming, &context.inputs),
        TraceEvent::Exit { response, .. } => exit_bytes(response, &response.data),
    }
}

fn enter_bytes(incoming: &[Transfer], inputs: &[u128]) -> u64 {
    EVENT_BYTES + TRANSFER_BYTES * incoming.len() as u64 + INPUT_BYTES * inputs.len() as u64
}

fn exit_bytes(response: &CallResponse, data: &[u8]) -> u64 {
    let pairs = response.storage.iter().map(|(key, value)| PAIR_BYTES + (key.len() + value.len()) as u64);
    EVENT_BYTES + TRANSFER_BYTES * response.alkanes.len() as u64 + pairs.sum::<u64>() + data.len() as u64
}

/// The events of one message while it runs.
#[derive(Debug, Default)]
pub(crate) struct TraceRecorder {
    /// Empty once they are too many.
    events: Vec<TraceEvent>,
    count: u64,
    bytes: u64,
    /// The status of the newest exit.
    status: Option<TraceStatus>,
    /// Once they are too many.
    rest: Option<Omission>,
}

/// The record of a trace that is not stored.
#[derive(Debug)]
struct Omission {
    digest: Sha256,
    contracts: BTreeSet<AlkaneId>,
}

impl Omission {
    /// Of a trace that began with these events.
    fn of(events: &[TraceEvent]) -> Self {
        let mut omission = Self { digest: Sha256::new(), contracts: BTreeSet::new() };
        let mut buffer = Vec::new();
        for event in events {
            buffer.clear();
            encode_event(event, &mut buffer);
            omission.digest.update(&buffer);
            match event {
                TraceEvent::Create(id) => omission.name(*id),
                TraceEvent::Enter { context, .. } => omission.name(context.myself),
                TraceEvent::Exit { .. } | TraceEvent::Omitted { .. } => {}
            }
        }
        omission
    }

    fn name(&mut self, contract: AlkaneId) {
        if self.contracts.len() < CONTRACTS_MAX {
            self.contracts.insert(contract);
        }
    }

    fn into_trace(self, status: Option<TraceStatus>, events: u64, bytes: u64) -> Trace {
        let event = TraceEvent::Omitted {
            // A message that has no end was ended by a failure.
            status: status.unwrap_or(TraceStatus::Revert),
            digest: self.digest.finalize().into(),
            events,
            bytes,
            contracts: self.contracts.into_iter().collect(),
        };
        Trace { events: vec![event] }
    }
}

impl TraceRecorder {
    /// Whether both have recorded the same, and all of it.
    #[cfg(feature = "machine-code")]
    pub(crate) fn is_equal(&self, other: &Self) -> bool {
        let recorded = |it: &Self| (it.count, it.bytes, it.status, it.rest.is_none());
        self.events == other.events && recorded(self) == recorded(other) && self.rest.is_none()
    }

    /// Whether the events no longer fit.
    pub(crate) const fn is_over(&self) -> bool {
        self.rest.is_some()
    }

    /// A contract is created.
    pub(crate) fn create(&mut self, id: AlkaneId) {
        self.record(EVENT_BYTES, Some(id), None, || TraceEvent::Create(id));
    }

    /// A contract is entered. Copies its context only where the event is stored.
    pub(crate) fn enter(&mut self, kind: CallKind, fuel: u64, context: &TraceContextRef<'_>) {
        let bytes = enter_bytes(context.incoming, context.inputs);
        self.record(bytes, Some(context.myself), None, || TraceEvent::Enter {
            kind,
            context: context.to_owned(),
            fuel,
        });
    }

    /// A contract has answered. `data` replaces the response's own, and is copied only where the event is stored.
    pub(crate) fn exit(&mut self, status: TraceStatus, response: CallResponse, data: &[u8], fuel_used: u64) {
        let bytes = exit_bytes(&response, data);
        self.record(bytes, None, Some(status), || {
            let response = CallResponse { data: data.to_vec(), ..response };
            TraceEvent::Exit { status, response, fuel_used }
        });
    }

    fn record(
        &mut self,
        bytes: u64,
        contract: Option<AlkaneId>,
        status: Option<TraceStatus>,
        event: impl FnOnce() -> TraceEvent,
    ) {
        self.count += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        self.status = status.or(self.status);
        if self.rest.is_none() && self.bytes > MESSAGE_TRACE_BYTES_MAX {
            self.rest = Some(Omission::of(&std::mem::take(&mut self.events)));
        }
        match &mut self.rest {
            None => self.events.push(event()),
            // The content is not read, so that this takes no time either.
            Some(rest) => {
                rest.digest.update(bytes.to_le_bytes());
                if let Some(contract) = contract {
                    rest.name(contract);
                }
            }
        }
    }

    /// Adds events that were recorded elsewhere, and whose sizes were not too much there.
    pub(crate) fn append(&mut self, events: Self) {
        for event in events.events {
            self.record(event_bytes(&event), contract_of(&event), status_of(&event), || event);
        }
    }

    /// The trace, or the record of it.
    pub(crate) fn finish(self) -> Trace {
        match self.rest {
            None => Trace { events: self.events },
            Some(rest) => rest.into_trace(self.status, self.count, self.bytes),
        }
    }
}

/// The context of a call, not yet copied.
pub(crate) struct TraceContextRef<'f> {
    pub(crate) myself: AlkaneId,
    pub(crate) caller: AlkaneId,
    pub(crate) vout: u32,
    pub(crate) incoming: &'f [Transfer],
    pub(crate) inputs: &'f [u128],
}

impl TraceContextRef<'_> {
    pub(crate) fn to_owned(&self) -> TraceContext {
        TraceContext {
            myself: self.myself,
            caller: self.caller,
            vout: self.vout,
            incoming: self.incoming.to_vec(),
            inputs: self.inputs.to_vec(),
        }
    }
}

/// The traces of one block, at most 192 MiB by [`event_bytes`].
#[derive(Debug, Default)]
pub struct TraceLog {
    traces: Vec<(OutPoint, Trace)>,
    large_bytes_left: u64,
    /// Largest trace that takes nothing from `large_bytes_left`, in bytes.
    small_bytes: u64,
}

impl TraceLog {
    /// The empty log of a block, for so many bytes of large traces.
    pub fn of(block: &Block, large_bytes: u64) -> Self {
        Self::sized(block.txdata.iter().map(messages).sum(), large_bytes)
    }

    fn sized(messages: u64, large_bytes: u64) -> Self {
        let small_bytes = large_bytes.saturating_mul(SMALL_TRACES_TIMES);
        let small_bytes = small_bytes.checked_div(messages).unwrap_or(SMALL_TRACE_BYTES_MAX);
        Self { traces: Vec::new(), large_bytes_left: large_bytes, small_bytes: small_bytes.min(SMALL_TRACE_BYTES_MAX) }
    }

    /// Adds the trace of a message, or a record of it where the block's bound is reached. Events beyond
    /// [`MESSAGE_TRACE_BYTES_MAX`] count as they do while a message runs.
    pub fn push(&mut self, outpoint: OutPoint, trace: Trace) {
        let trace = if trace.bytes() > MESSAGE_TRACE_BYTES_MAX { cut(trace) } else { trace };
        let bytes = trace.bytes();
        let trace = if bytes <= self.small_bytes {
            trace
        } else if let Some(left) = self.large_bytes_left.checked_sub(bytes) {
            self.large_bytes_left = left;
            trace
        } else {
            let status = trace.events.iter().rev().find_map(status_of);
            Omission::of(&trace.events).into_trace(status, trace.events.len() as u64, bytes)
        };
        self.traces.push((outpoint, trace));
    }

    /// All so far, in the order of the block.
    pub fn traces(&self) -> &[(OutPoint, Trace)] {
        &self.traces
    }

    /// Takes those after the first `count`.
    pub fn split_off(&mut self, count: usize) -> Vec<(OutPoint, Trace)> {
        self.traces.split_off(count.min(self.traces.len()))
    }

    /// All, in the order of the block.
    pub fn into_traces(self) -> Vec<(OutPoint, Trace)> {
        self.traces
    }
}

/// Messages to alkanes of a transaction, as far as its size shows.
fn messages(transaction: &bitcoin::Transaction) -> u64 {
    let Some(runestone) = Runestone::with_protocol(transaction) else { return 0 };
    let stones = runestone.protostones().unwrap_or_default();
    stones.iter().filter(|stone| stone.protocol_tag == ALKANES_PROTOCOL && !stone.message.is_empty()).count() as u64
}

/// The record of a trace that another engine has stored whole, equal to the one that this engine makes while it runs.
fn cut(trace: Trace) -> Trace {
    let mut recorder = TraceRecorder::default();
    for event in trace.events {
        recorder.record(event_bytes(&event), contract_of(&event), status_of(&event), || event);
    }
    recorder.finish()
}

fn contract_of(event: &TraceEvent) -> Option<AlkaneId> {
    match event {
        TraceEvent::Create(id) => Some(*id),
        TraceEvent::Enter { context, .. } => Some(context.myself),
        TraceEvent::Exit { .. } | TraceEvent::Omitted { .. } => None,
    }
}

fn status_of(event: &TraceEvent) -> Option<TraceStatus> {
    match event {
        TraceEvent::Exit { status, .. } | TraceEvent::Omitted { status, .. } => Some(*status),
        TraceEvent::Create(_) | TraceEvent::Enter { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use bitcoin::Txid;
    use bitcoin::hashes::Hash as _;

    use super::*;

    const CONTRACT: AlkaneId = AlkaneId { block: 2, tx: 7 };

    fn exit(len_bytes: u64) -> TraceEvent {
        let response = CallResponse { data: vec![1; len_bytes as usize], ..CallResponse::default() };
        TraceEvent::Exit { status: TraceStatus::Success, response, fuel_used: 1 }
    }

    /// A trace that counts this many bytes.
    fn trace(bytes: u64) -> Trace {
        Trace { events: vec![TraceEvent::Create(CONTRACT), exit(bytes - 2 * EVENT_BYTES)] }
    }

    fn push(log: &mut TraceLog, trace: Trace) {
        let vout = log.traces().len() as u32;
        log.push(OutPoint { txid: Txid::all_zeros(), vout }, trace);
    }

    fn is_kept(log: &TraceLog, index: usize) -> bool {
        !matches!(log.traces()[index].1.events[..], [TraceEvent::Omitted { .. }])
    }

    #[test]
    fn a_message_is_kept_up_to_its_bound_and_not_beyond() {
        let mut log = TraceLog::sized(1, LARGE_TRACES_BYTES);
        push(&mut log, trace(MESSAGE_TRACE_BYTES_MAX));
        push(&mut log, trace(MESSAGE_TRACE_BYTES_MAX + 1));
        assert!(is_kept(&log, 0) && !is_kept(&log, 1));
        let TraceEvent::Omitted { status, events, bytes, contracts, .. } = &log.traces()[1].1.events[0] else {
            panic!()
        };
        assert_eq!((*status, *events, *bytes), (TraceStatus::Success, 2, MESSAGE_TRACE_BYTES_MAX + 1));
        assert_eq!(contracts[..], [CONTRACT]);
    }

    #[test]
    fn large_traces_of_a_block_share_a_bound_and_take_nothing_from_small_ones() {
        let mut log = TraceLog::sized(100, LARGE_TRACES_BYTES);
        for _ in 0..20 {
            push(&mut log, trace(MESSAGE_TRACE_BYTES_MAX));
        }
        push(&mut log, trace(SMALL_TRACE_BYTES_MAX));
        push(&mut log, trace(SMALL_TRACE_BYTES_MAX + 1));
        let kept = (0..20).filter(|index| is_kept(&log, *index)).count() as u64;
        assert_eq!(kept, LARGE_TRACES_BYTES / MESSAGE_TRACE_BYTES_MAX);
        assert!(is_kept(&log, 20) && !is_kept(&log, 21));
    }

    #[test]
    fn the_more_messages_a_block_has_the_less_each_is_sure_of() {
        for (messages, sure) in [(0, 16 << 10), (8_192, 16 << 10), (65_536, 2 << 10)] {
            let mut log = TraceLog::sized(messages, LARGE_TRACES_BYTES);
            log.large_bytes_left = 0;
            push(&mut log, trace(sure));
            push(&mut log, trace(sure + 1));
            assert!(is_kept(&log, 0) && !is_kept(&log, 1), "{messages}");
        }
    }

    /// Two engines that keep the same trace in different ways must agree on its record.
    #[test]
    fn a_trace_that_comes_whole_leaves_the_record_of_one_that_was_cut_while_it_ran() {
        let mut recorder = TraceRecorder::default();
        let context = TraceContext {
            myself: CONTRACT,
            caller: AlkaneId::default(),
            vout: 3,
            incoming: vec![Transfer { id: CONTRACT, value: 5 }],
            inputs: vec![1, 2, 3],
        };
        let data = vec![9; MESSAGE_TRACE_BYTES_MAX as usize / 2];
        let mut whole = Trace::default();
        for fuel in 0..4 {
            let TraceContext { myself, caller, vout, incoming, inputs } = &context;
            let entered = TraceContextRef { myself: *myself, caller: *caller, vout: *vout, incoming, inputs };
            recorder.enter(CallKind::Delegate, fuel, &entered);
            recorder.exit(TraceStatus::Revert, CallResponse::default(), &data, fuel);
            let response = CallResponse { data: data.clone(), ..CallResponse::default() };
            whole.events.push(TraceEvent::Enter { kind: CallKind::Delegate, context: context.clone(), fuel });
            whole.events.push(TraceEvent::Exit { status: TraceStatus::Revert, response, fuel_used: fuel });
        }
        let mut log = TraceLog::sized(1, LARGE_TRACES_BYTES);
        push(&mut log, whole);
        assert_eq!(log.traces()[0].1, recorder.finish());
        assert!(!is_kept(&log, 0));
    }
}
