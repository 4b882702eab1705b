//! Calls read from traces by other code than that of the indexes.

use paraffin_alkanes::{CallKind, Trace, TraceEvent, TraceStatus, Transfer};
use paraffin_primitives::AlkaneId;

/// A call with its response.
pub(crate) struct Frame {
    pub(crate) kind: CallKind,
    pub(crate) myself: AlkaneId,
    pub(crate) inputs: Vec<u128>,
    pub(crate) incoming: Vec<Transfer>,
    /// `None` when it or anything around it failed.
    pub(crate) answer: Option<Vec<Transfer>>,
    /// Keys and values that it stored at its end.
    pub(crate) stored: Vec<(Vec<u8>, Vec<u8>)>,
}

/// The calls of a message in the order in which they began, and the contracts that it created.
pub(crate) fn frames(trace: &Trace) -> (Vec<Frame>, Vec<AlkaneId>) {
    let (mut frames, mut open, mut created, mut undone) = (Vec::<Frame>::new(), Vec::new(), Vec::new(), false);
    for event in &trace.events {
        match event {
            TraceEvent::Create(id) => created.push(*id),
            TraceEvent::Enter { kind, context, .. } => {
                open.push(frames.len());
                frames.push(Frame {
                    kind: *kind,
                    myself: context.myself,
                    inputs: context.inputs.clone(),
                    incoming: context.incoming.clone(),
                    answer: None,
                    stored: Vec::new(),
                });
            }
            // Host contracts leave an end without a beginning.
            TraceEvent::Omitted { .. } | TraceEvent::Exit { fuel_used: 0, .. } => {}
            TraceEvent::Exit { status, response, .. } => {
                let Some(place) = open.pop() else { continue };
                undone |= *status == TraceStatus::Revert;
                let frame = &mut frames[place];
                frame.answer = (*status == TraceStatus::Success).then(|| response.alkanes.clone());
                frame.stored.clone_from(&response.storage);
            }
        }
    }
    // No contract on this market catches a failure.
    if undone {
        for frame in &mut frames {
            frame.answer = None;
        }
    }
    (frames, created)
}
