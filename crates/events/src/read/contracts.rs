//! Calls of contracts and the alkanes that they move, out of traces.

use paraffin_alkanes::{BlockTrace, CallKind, ChainState, Trace, TraceEvent, TraceStatus, Transfer};
use paraffin_amm::{Call, calls};
use paraffin_primitives::AlkaneId;

use super::{EventCollector, EventReader, Numbers, SECOND_HALF, TransactionPosition};
use crate::event::{CallEvent, CallStatus, CallType, Event, Holder, TransferEvent};
use crate::{EventError, Kind, PreparedFilter};

/// Transfers of calls come after those of inputs and before those of outputs.
const OF_CALLS: u32 = SECOND_HALF / 2;

impl EventReader {
    pub(super) fn contracts(&self, filter: &PreparedFilter, collector: &mut EventCollector) -> Result<(), EventError> {
        let height = collector.block.height;
        let state = ChainState::at(self.snapshot(), height);
        let (mut numbers, mut moved) = (Numbers::default(), Numbers::default());
        for traced in state.each_block_trace(height)? {
            let traced = traced?;
            let calls = calls(&traced.trace);
            if filter.wants(Kind::Call) {
                write_calls(&traced, &calls, filter, &mut numbers, collector)?;
                write_omitted(&traced, filter, &mut numbers, collector)?;
            }
            if filter.wants(Kind::Transfer) && traced.stands {
                let of = TransactionPosition { transaction: traced.transaction_index, txid: traced.outpoint.txid };
                for (from, to, transfer) in transfers(&calls) {
                    let number = OF_CALLS.saturating_add(moved.next(of.transaction));
                    let Transfer { id: alkane, value: amount } = transfer;
                    if filter.alkanes.as_ref().is_none_or(|wanted| wanted.contains(&alkane)) {
                        collector.push(of, Kind::Transfer, number, |occasion| {
                            Event::Transfer(TransferEvent { occasion, alkane, amount, from, to })
                        })?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Each call that was meant to be kept.
fn write_calls(
    traced: &BlockTrace,
    calls: &[Call<'_>],
    filter: &PreparedFilter,
    numbers: &mut Numbers,
    collector: &mut EventCollector,
) -> Result<(), EventError> {
    for call in calls.iter().filter(|call| !call.is_static) {
        let contract = call.context.myself;
        let call = CallFacts {
            contract,
            // The code of a contract's template runs in the name of the contract's caller.
            caller: Some(call.context.caller).filter(|caller| *caller != AlkaneId::default()),
            call_type: if call.kind == CallKind::Delegate { CallType::Delegate } else { CallType::Call },
            inputs: &call.context.inputs,
            is_kept: traced.stands && call.stands,
        };
        write_call(traced, call, filter, numbers, collector)?;
    }
    Ok(())
}

/// The contracts of a trace that was too large to be kept.
fn write_omitted(
    traced: &BlockTrace,
    filter: &PreparedFilter,
    numbers: &mut Numbers,
    collector: &mut EventCollector,
) -> Result<(), EventError> {
    let Trace { events } = &traced.trace;
    let [TraceEvent::Omitted { status, contracts, .. }] = &events[..] else { return Ok(()) };
    for contract in contracts {
        let call = CallFacts {
            contract: *contract,
            caller: None,
            call_type: CallType::Omitted,
            inputs: &[],
            is_kept: traced.stands && *status == TraceStatus::Success,
        };
        write_call(traced, call, filter, numbers, collector)?;
    }
    Ok(())
}

#[derive(Clone, Copy)]
struct CallFacts<'a> {
    contract: AlkaneId,
    caller: Option<AlkaneId>,
    call_type: CallType,
    inputs: &'a [u128],
    is_kept: bool,
}

fn write_call(
    traced: &BlockTrace,
    call: CallFacts<'_>,
    filter: &PreparedFilter,
    numbers: &mut Numbers,
    collector: &mut EventCollector,
) -> Result<(), EventError> {
    let of = TransactionPosition { transaction: traced.transaction_index, txid: traced.outpoint.txid };
    let number = numbers.next(of.transaction);
    let CallFacts { contract, caller, call_type, inputs, is_kept } = call;
    if filter.contracts.as_ref().is_some_and(|wanted| !wanted.contains(&contract)) {
        return Ok(());
    }
    let (vout, status) = (traced.outpoint.vout, if is_kept { CallStatus::Success } else { CallStatus::Revert });
    let inputs = inputs.iter().map(u128::to_string).collect();
    collector.push(of, Kind::Call, number, |occasion| {
        Event::Call(CallEvent { occasion, vout, contract, caller, call_type, inputs, status })
    })
}

/// Transfers of the successful calls of a message, in order: incoming alkanes when a call begins, returned alkanes
/// when it ends.
fn transfers(calls: &[Call<'_>]) -> Vec<(Holder, Holder, Transfer)> {
    let mut moved = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for (index, call) in calls.iter().enumerate() {
        while open.last().is_some_and(|top| call.parent != Some(*top)) {
            if let Some(ended) = open.pop() {
                give_back(&calls[ended], &mut moved);
            }
        }
        open.push(index);
        if let Some((contract, caller)) = parties(call) {
            add(&mut moved, &caller, &contract, &call.context.incoming);
        }
    }
    while let Some(ended) = open.pop() {
        give_back(&calls[ended], &mut moved);
    }
    moved
}

fn give_back(call: &Call<'_>, moved: &mut Vec<(Holder, Holder, Transfer)>) {
    if let (Some((contract, caller)), Some(response)) = (parties(call), call.response) {
        add(moved, &contract, &caller, &response.alkanes);
    }
}

/// The contract and who called it, of a call that moves alkanes.
fn parties(call: &Call<'_>) -> Option<(Holder, Holder)> {
    if !call.stands || call.kind != CallKind::Call {
        return None;
    }
    let caller = match call.parent {
        None => Holder::Transaction,
        Some(_) => Holder::Contract { id: call.context.caller },
    };
    Some((Holder::Contract { id: call.context.myself }, caller))
}

fn add(moved: &mut Vec<(Holder, Holder, Transfer)>, from: &Holder, to: &Holder, transfers: &[Transfer]) {
    let transfers = transfers.iter().filter(|transfer| transfer.value > 0);
    moved.extend(transfers.map(|transfer| (from.clone(), to.clone(), *transfer)));
}
