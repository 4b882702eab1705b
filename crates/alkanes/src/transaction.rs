//! One transaction of a block: its base runes, then its protostones, and neither when it is void (protocol B1.6).

use crate::codec::Artifact;
use crate::protorune::{Fault, Ledger, Placed, Void};
use crate::{Halt, MessageRunner, World, patches, runes};

/// Processes one transaction: its runestone, then the base runes of its inputs (protocol B1.6). Answers why it is
/// void, if it is.
///
/// # Errors
/// The engine halts.
pub(crate) fn process(
    ledger: &mut Ledger,
    world: &mut World<'_>,
    run_message: MessageRunner,
    placed: Placed<'_>,
) -> Result<Option<Void>, Halt> {
    let mut is_void = None;
    world.state.work.begin_transaction(placed.transaction.weight());
    match Artifact::read(placed.transaction) {
        None => {}
        Some(Artifact::Cenotaph(cenotaph)) => runes::register_cenotaph(world, placed, &cenotaph)?,
        Some(Artifact::Runestone(runestone)) => {
            let depth = world.state.depth();
            let (funded, first_seen) = (ledger.funded.len(), ledger.first_seen);
            let traced = world.traces.traces().len();
            world.state.checkpoint();
            let done = runes::process(world, placed, &runestone.base).and_then(|()| {
                if patches::ignores_protostones(world.parameters, &placed.txid) {
                    return Ok(());
                }
                let stones = runestone.protostones()?;
                if stones.is_empty() {
                    Ok(())
                } else {
                    ledger.process_protostones(world, run_message, placed, &stones).map(drop)
                }
            });
            match done {
                Ok(()) => world.state.commit(),
                Err(Fault::Void(void)) => {
                    is_void = Some(void);
                    world.state.rollback_to(depth);
                    ledger.funded.truncate(funded);
                    ledger.first_seen = first_seen;
                    let traces = world.traces.traces().get(traced..).unwrap_or_default();
                    world.undone.extend(traces.iter().map(|(outpoint, _)| *outpoint));
                }
                Err(Fault::Halt(halt)) => return Err(halt),
            }
        }
    }
    runes::clear_inputs(world, placed.transaction)?;
    #[cfg(test)]
    world.counted.push((world.state.work.done(), world.tank.clone()));
    world.state.work.end_transaction();
    Ok(is_void)
}
