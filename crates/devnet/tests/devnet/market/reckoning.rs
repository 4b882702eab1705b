//! Balances computed from the traces alone, independently of the engine's state.
//!
//! A message brings its alkanes into a contract; each call moves its parcel from caller to callee, its answer goes back, and
//! a call that fails or is static has no effect. A contract that gives more of itself than it holds mints the difference.

use std::collections::BTreeMap;

use bitcoin::OutPoint;
use paraffin_alkanes::{CallKind, CallResponse, Trace, TraceEvent, TraceStatus, Transfer};
use paraffin_primitives::AlkaneId;

type Amounts = BTreeMap<AlkaneId, u128>;

/// What contracts hold and what they have minted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Books {
    /// By what is held and by whom.
    pub(super) held: BTreeMap<(AlkaneId, AlkaneId), u128>,
    pub(super) minted: Amounts,
}

/// One contract that runs.
struct Open {
    kind: CallKind,
    myself: AlkaneId,
    caller: AlkaneId,
    /// The books before it was entered.
    before: Books,
}

/// What the traces of a chain add up to.
#[derive(Debug, Clone, Default)]
pub(super) struct Reckoning {
    pub(super) books: Books,
    /// What messages took from outputs and gave to outputs.
    pub(super) taken: Amounts,
    pub(super) given: Amounts,
    pub(super) runtime: Amounts,
    /// Messages that ended well, and those that failed.
    pub(super) succeeded: u64,
    pub(super) failed: u64,
}

impl Books {
    fn add(&mut self, who: AlkaneId, transfers: &[Transfer]) {
        for Transfer { id, value } in transfers {
            *self.held.entry((*id, who)).or_default() += value;
        }
    }

    fn take(&mut self, who: AlkaneId, transfers: &[Transfer]) {
        for Transfer { id, value } in transfers {
            let held = self.held.entry((*id, who)).or_default();
            let short = value.saturating_sub(*held);
            *held = held.saturating_sub(*value);
            if short > 0 {
                assert_eq!(*id, who, "{who} gives {short} of {id} that it neither holds nor issues");
                *self.minted.entry(*id).or_default() += short;
            }
        }
    }

    pub(super) fn held_by_contracts(&self, what: AlkaneId) -> u128 {
        self.held.iter().filter(|((id, _), _)| *id == what).map(|(_, value)| value).sum()
    }
}

impl Reckoning {
    /// Takes in the traces of a block, none of whose transactions was undone as a whole.
    pub(super) fn block(&mut self, traces: &[(OutPoint, Trace)]) {
        for of_transaction in traces.chunk_by(|(left, _), (right, _)| left.txid == right.txid) {
            // A transaction works on a copy of the runtime's amounts; one that falls to nothing keeps its older value.
            let mut touched = Amounts::new();
            for (_, trace) in of_transaction {
                self.message(trace, &mut touched);
            }
            self.runtime.extend(touched.into_iter().filter(|(_, value)| *value > 0));
        }
    }

    fn message(&mut self, trace: &Trace, touched: &mut Amounts) {
        let Some((incoming, outgoing)) = self.replay(trace) else {
            self.failed += 1;
            return;
        };
        self.succeeded += 1;
        for Transfer { id, .. } in incoming.iter().chain(&outgoing) {
            touched.entry(*id).or_insert_with(|| self.runtime.get(id).copied().unwrap_or_default());
        }
        for Transfer { id, value } in incoming {
            *touched.entry(id).or_default() += value;
            *self.taken.entry(id).or_default() += value;
        }
        for Transfer { id, value } in outgoing {
            let left = touched.entry(id).or_default();
            *left = left.saturating_sub(value);
            *self.given.entry(id).or_default() += value;
        }
    }

    /// Runs through the events of a message; what it took and gave, `None` when it failed.
    fn replay(&mut self, trace: &Trace) -> Option<(Vec<Transfer>, Vec<Transfer>)> {
        let mut open: Vec<Open> = Vec::new();
        let (mut incoming, mut outgoing) = (Vec::new(), None);
        let last = trace.events.len() - 1;
        for (index, event) in trace.events.iter().enumerate() {
            match event {
                TraceEvent::Create(_) | TraceEvent::Omitted { .. } => {}
                TraceEvent::Enter { kind, context, .. } => {
                    let before = self.books.clone();
                    if open.is_empty() {
                        incoming.clone_from(&context.incoming);
                        self.books.add(context.myself, &context.incoming);
                    } else if *kind != CallKind::Delegate {
                        self.books.take(context.caller, &context.incoming);
                        self.books.add(context.myself, &context.incoming);
                    }
                    open.push(Open { kind: *kind, myself: context.myself, caller: context.caller, before });
                }
                // What the host itself answers has an exit in the trace without an entry, and costs no fuel.
                TraceEvent::Exit { fuel_used: 0, response, .. } if index < last => {
                    assert!(response.alkanes.is_empty(), "{response:?}");
                }
                TraceEvent::Exit { status, response, .. } => {
                    let ended = open.pop().expect("every contract that ends was entered");
                    outgoing = self.leave(ended, *status, response, open.is_empty());
                }
            }
        }
        assert!(open.is_empty(), "a contract was entered and never ended: {trace:?}");
        Some((incoming, outgoing?))
    }

    fn leave(
        &mut self,
        ended: Open,
        status: TraceStatus,
        response: &CallResponse,
        is_message: bool,
    ) -> Option<Vec<Transfer>> {
        match (status, ended.kind) {
            (TraceStatus::Revert, _) => {
                self.books = ended.before;
                return None;
            }
            (TraceStatus::Success, _) if is_message => self.books.take(ended.myself, &response.alkanes),
            (TraceStatus::Success, CallKind::Call) => {
                self.books.take(ended.myself, &response.alkanes);
                self.books.add(ended.caller, &response.alkanes);
            }
            (TraceStatus::Success, CallKind::Static) => self.books = ended.before,
            (TraceStatus::Success, CallKind::Delegate) => {}
        }
        Some(response.alkanes.clone())
    }
}
