//! A protostone's message and its effects on the sheets (protocol B6.1 to B6.5).

use super::{Fault, Placed, Sheets};
use crate::codec::{MessageRoute, Protostone};
use crate::work::cost;
use crate::{Halt, Message, MessageEnd, Sheet, SheetOverflow, Transfer, World};

/// Runs a message in the newest layer of the state: [`handle_message`](crate::handle_message), or a stand-in in tests.
///
/// The runtime sheet it is given holds the ids that the transaction has touched so far and those that come in; what is
/// stored of any other is read with [`runtime_amount`](crate::runtime_amount).
pub type MessageRunner = fn(&mut World<'_>, &Message<'_>, &Sheet) -> Result<MessageEnd, Halt>;

/// Runs the message of a protostone. Returns whether it succeeded; if not, the incoming alkanes have been refunded.
pub(super) fn process_message(
    world: &mut World<'_>,
    run_message: MessageRunner,
    placed: Placed<'_>,
    stone: &Protostone,
    index: usize,
    stone_count: usize,
    sheets: &mut Sheets,
) -> Result<bool, Fault> {
    let route = MessageRoute::of(stone, index, placed.transaction.output.len(), stone_count)?;
    sheets.count_copy(&world.state)?;
    let before = sheets.clone();
    let depth = world.state.depth();
    world.state.checkpoint();

    let incoming = sheets.get(route.shadow).map(Sheet::transfers).unwrap_or_default();
    world.state.work.add_times(incoming.len(), cost::SHEET_ENTRY);
    let runtime = sheets.runtime(&world.state, incoming.iter().map(|transfer| transfer.id))?;
    let message = Message {
        transaction: placed.transaction,
        txid: placed.txid,
        index: placed.index,
        vout: route.shadow,
        calldata: &stone.message,
        incoming,
    };
    let ended = run_message(world, &message, &runtime)?;
    world.state.work.end_message();
    if let MessageEnd::Done { outgoing, runtime } = ended {
        if reconcile(sheets, route, &outgoing, runtime).is_ok() {
            world.state.commit();
            return Ok(true);
        }
        world.undone.push(placed.outpoint(route.shadow));
    }
    *sheets = before;
    world.state.rollback_to(depth);
    let returned = sheets.take(route.shadow);
    sheets.merge(route.refund, &returned)?;
    Ok(false)
}

/// Adds the alkanes that a message returned to its pointer (protocol B6.4).
fn reconcile(
    sheets: &mut Sheets,
    route: MessageRoute,
    outgoing: &[Transfer],
    runtime: Sheet,
) -> Result<(), SheetOverflow> {
    let mut sum = Sheet::new();
    for transfer in outgoing {
        sum.add(transfer.id, transfer.value)?;
    }
    drop(sheets.take(route.shadow));
    sheets.merge(route.pointer, &sum)?;
    sheets.set_runtime(runtime);
    Ok(())
}
