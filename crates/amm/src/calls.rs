//! The events of a message as a tree of calls.

use std::collections::HashMap;

use paraffin_alkanes::{CallKind, CallResponse, Trace, TraceContext, TraceEvent, TraceStatus, Transfer};
use paraffin_primitives::AlkaneId;
use ruint::aliases::U256;

/// One call of a message.
#[derive(Debug, Clone)]
pub struct Call<'t> {
    /// The kind of call.
    pub kind: CallKind,
    /// Contract, caller, inputs and incoming alkanes.
    pub context: &'t TraceContext,
    /// The call that made this one; `None` for the message itself.
    pub parent: Option<usize>,
    /// Its own answer, when it ended well.
    pub response: Option<&'t CallResponse>,
    /// Whether its effects were kept: it and every call above it succeeded, and none of them was static.
    pub stands: bool,
    /// Whether it, or a call above it, was static, so that its effects are never kept.
    pub is_static: bool,
    /// Contracts that it created.
    pub created: Vec<AlkaneId>,
}

/// The calls of a trace in the order in which they began.
///
/// Answers of the host's pseudo-contracts, and calls that failed before a contract was entered, leave an exit without an
/// enter and with fuel 0 (protocol B17); they are passed over. A trace that ends well but does not close every call has no
/// meaning: none of its calls stands. A trace that was too large to be kept has no calls.
pub fn calls(trace: &Trace) -> Vec<Call<'_>> {
    let mut calls: Vec<Call<'_>> = Vec::new();
    let mut open: Vec<(usize, u64)> = Vec::new();
    let last = trace.events.len().saturating_sub(1);
    let mut is_kept = false;
    for (position, event) in trace.events.iter().enumerate() {
        match event {
            TraceEvent::Omitted { .. } => {}
            TraceEvent::Create(id) => {
                if let Some((top, _)) = open.last() {
                    calls[*top].created.push(*id);
                }
            }
            TraceEvent::Enter { kind, context, fuel } => {
                let parent = open.last().map(|(top, _)| *top);
                let is_static = *kind == CallKind::Static || parent.is_some_and(|parent| calls[parent].is_static);
                open.push((calls.len(), *fuel));
                calls.push(Call {
                    kind: *kind,
                    context,
                    parent,
                    response: None,
                    stands: false,
                    is_static,
                    created: Vec::new(),
                });
            }
            TraceEvent::Exit { status, response, fuel_used } => {
                let Some((top, fuel)) = open.last().copied() else { continue };
                if position == last {
                    // The message itself ends last.
                    is_kept = *status == TraceStatus::Success && open.len() == 1;
                } else if open.len() == 1 || (*fuel_used == 0 && fuel != 0) {
                    continue;
                }
                open.pop();
                calls[top].response = (*status == TraceStatus::Success).then_some(response);
            }
        }
    }
    for index in 0..calls.len() {
        let above = calls[index].parent.map_or(is_kept, |parent| calls[parent].stands);
        calls[index].stands = above && calls[index].response.is_some() && !calls[index].is_static;
    }
    calls
}

/// Amounts that a contract received and sent during a call, by alkane.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    sums: HashMap<AlkaneId, (U256, U256)>,
}

impl Flow {
    /// All transfers to and from `contract` in the call at `index` and in the calls under it.
    pub(crate) fn of(calls: &[Call<'_>], index: usize, contract: AlkaneId) -> Self {
        let mut flow = Self::default();
        let mut inside = vec![false; calls.len() - index];
        for (inner, call) in calls.iter().enumerate().skip(index) {
            let above = call.parent.is_some_and(|parent| parent >= index && inside[parent - index]);
            if inner != index && !above {
                if call.parent.is_none_or(|parent| parent < index) {
                    break;
                }
                continue;
            }
            inside[inner - index] = call.stands;
            let Some(response) = call.response.filter(|_| call.stands && call.kind == CallKind::Call) else { continue };
            let TraceContext { myself, caller, incoming, .. } = call.context;
            if *myself == contract {
                flow.receive(incoming);
                flow.send(&response.alkanes);
            }
            if *caller == contract {
                flow.send(incoming);
                flow.receive(&response.alkanes);
            }
        }
        flow
    }

    fn receive(&mut self, transfers: &[Transfer]) {
        for transfer in transfers {
            let sum = &mut self.sums.entry(transfer.id).or_default().0;
            *sum = sum.saturating_add(U256::from(transfer.value));
        }
    }

    fn send(&mut self, transfers: &[Transfer]) {
        for transfer in transfers {
            let sum = &mut self.sums.entry(transfer.id).or_default().1;
            *sum = sum.saturating_add(U256::from(transfer.value));
        }
    }

    /// By how much the contract has more of `id`; 0 when it has less.
    pub(crate) fn gained(&self, id: AlkaneId) -> u128 {
        let (received, paid) = self.sums.get(&id).copied().unwrap_or_default();
        u128::try_from(received.saturating_sub(paid)).unwrap_or(u128::MAX)
    }

    /// By how much the contract has less of `id`; 0 when it has more.
    pub(crate) fn given(&self, id: AlkaneId) -> u128 {
        let (received, paid) = self.sums.get(&id).copied().unwrap_or_default();
        u128::try_from(paid.saturating_sub(received)).unwrap_or(u128::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn enter(kind: CallKind, tx: u128, caller: u128) -> TraceEvent {
        let id = |tx| AlkaneId { block: 2, tx };
        let context =
            TraceContext { myself: id(tx), caller: id(caller), vout: 4, incoming: Vec::new(), inputs: vec![3] };
        TraceEvent::Enter { kind, context, fuel: 1_000 }
    }

    fn exit(status: TraceStatus, fuel_used: u64) -> TraceEvent {
        TraceEvent::Exit { status, response: CallResponse::default(), fuel_used }
    }

    fn stands(events: Vec<TraceEvent>) -> Vec<bool> {
        calls(&Trace { events }).iter().map(|call| call.stands).collect()
    }

    #[test]
    fn an_answer_of_the_host_closes_no_call() {
        use CallKind::Call;
        use TraceStatus::Success;
        let events = vec![
            enter(Call, 1, 0),
            enter(Call, 2, 1),
            exit(Success, 0),
            exit(Success, 5),
            enter(Call, 3, 1),
            exit(Success, 7),
            exit(Success, 20),
        ];
        let trace = Trace { events };
        let calls = calls(&trace);
        assert_eq!(calls.iter().map(|call| call.parent).collect::<Vec<_>>(), [None, Some(0), Some(0)]);
        assert!(calls.iter().all(|call| call.stands));
    }

    #[test]
    fn a_call_stands_only_when_everything_above_it_does() {
        use CallKind::{Call, Delegate, Static};
        use TraceStatus::{Revert, Success};
        let inner = [enter(Call, 2, 1), enter(Call, 3, 2), exit(Success, 5)];
        let failed = [&[enter(Call, 1, 0)][..], &inner, &[exit(Success, 6), exit(Revert, u64::MAX)]].concat();
        assert_eq!(stands(failed), [false; 3]);
        let middle = [&[enter(Call, 1, 0)][..], &inner, &[exit(Revert, 1_000), exit(Success, 6)]].concat();
        assert_eq!(stands(middle), [true, false, false]);
        let asked = vec![
            enter(Call, 1, 0),
            enter(Static, 2, 1),
            enter(Delegate, 2, 1),
            exit(Success, 1),
            exit(Success, 2),
            exit(Success, 3),
        ];
        assert_eq!(stands(asked), [true, false, false]);
    }

    #[test]
    fn a_trace_that_does_not_close_its_calls_has_no_meaning() {
        use CallKind::Call;
        use TraceStatus::Success;
        assert_eq!(stands(vec![enter(Call, 1, 0), enter(Call, 2, 1), exit(Success, 9)]), [false; 2]);
        assert_eq!(stands(vec![enter(Call, 1, 0)]), [false]);
        assert_eq!(stands(vec![exit(Success, 9)]), [false; 0]);
    }
}
