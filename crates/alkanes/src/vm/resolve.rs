//! From a target to a contract and its code (protocol B7).

use std::sync::Arc;

use bitcoin::OutPoint;
use bitcoin::consensus::encode;
use paraffin_primitives::AlkaneId;

use super::builtins::Builtins;
use super::cache::{Code, Compiled, PackedCode};
use super::sequence;
use super::session::Session;
use super::stop::Stop;
use super::wire::{id_bytes, id_of};
use crate::codec::Envelope;
use crate::{Halt, Overlay, StateKey};

/// The contract that a target stands for.
pub(crate) struct Resolved {
    pub(crate) id: AlkaneId,
    pub(crate) code: ResolvedCode,
}

/// Code that was found. Whether it is a module shows when it is run (protocol B7, B9).
pub(crate) enum ResolvedCode {
    /// Of a built-in contract.
    Builtin(Code),
    /// As it is stored.
    Stored(PackedCode),
    /// None at all: the target can hold no contract, and running it fails like a module of no bytes.
    Empty,
}

impl ResolvedCode {
    /// # Errors
    /// The code is no module.
    pub(crate) fn compiled(self, session: &Session<'_, '_>) -> Result<Arc<Compiled>, Stop> {
        match self {
            Self::Builtin(code) => {
                let world = &session.world;
                world.block_codes.borrow_mut().builtin(world.codes, &world.state.work, &code)
            }
            Self::Stored(code) => code.compiled(),
            Self::Empty => session.world.codes.compile(&Code::new(Vec::new())),
        }
    }
}

/// Finds the contract, or creates it in the newest layer; a creation is the next event of the trace.
///
/// # Errors
/// There is no such contract, or it cannot be created.
pub(crate) fn resolve(session: &mut Session<'_, '_>, target: AlkaneId) -> Result<Resolved, Stop> {
    let next = sequence::next(&session.world.state)?;
    let resolved = match target {
        AlkaneId { block: 2, tx } if tx < next => load(session, target, target)?,
        AlkaneId { block: 4 | 32, .. } => load(session, target, target)?,
        AlkaneId { block: 1, tx: 0 } => create(session, next)?,
        AlkaneId { block: 3, tx } => create_reserved(session, tx)?,
        AlkaneId { block: 5, tx } => clone(session, next, target, AlkaneId { block: 2, tx })?,
        AlkaneId { block: 6, tx } => clone(session, next, target, AlkaneId { block: 4, tx })?,
        _ => Resolved { id: target, code: ResolvedCode::Empty },
    };
    if resolved.id != target {
        session.events.create(resolved.id);
    }
    Ok(resolved)
}

fn load(session: &Session<'_, '_>, id: AlkaneId, source: AlkaneId) -> Result<Resolved, Stop> {
    let world = &session.world;
    let code = match find(&world.state, world.builtins, source, session.height)? {
        CodeLocation::Builtin(code) => ResolvedCode::Builtin(code),
        CodeLocation::Stored(holder, payload) => ResolvedCode::Stored(world.packed_code(holder, payload)?),
    };
    Ok(Resolved { id, code })
}

/// The source of a contract's code.
pub(crate) enum CodeLocation {
    Builtin(Code),
    /// Packed, under the id that itself holds it.
    Stored(AlkaneId, Vec<u8>),
}

/// Follows templates to the contract that holds code itself: 32 stored bytes are the id of another (protocol B7).
pub(crate) fn find(state: &Overlay<'_>, builtins: &Builtins, id: AlkaneId, height: u64) -> Result<CodeLocation, Halt> {
    let mut holder = id;
    loop {
        if let Some(code) = builtins.code(holder, height)? {
            return Ok(CodeLocation::Builtin(code));
        }
        let payload = state.get(&StateKey::Code(holder))?.unwrap_or_default();
        // A template is always older than its clone, so the walk ends; one that names itself could only be damage.
        match id_of(&payload).filter(|template| *template != holder) {
            Some(template) => holder = template,
            None => return Ok(CodeLocation::Stored(holder, payload)),
        }
    }
}

/// 1:0: the code in the witness becomes 2:next.
fn create(session: &mut Session<'_, '_>, next: u128) -> Result<Resolved, Stop> {
    let envelope = envelope(session)?;
    let payload = envelope.ok_or_else(|| Stop::revert("used CREATE cellpack but no binary found in witness"))?.payload;
    sequence::advance(&mut session.world.state, next);
    deploy(session, AlkaneId { block: 2, tx: next }, payload)
}

/// The code in the witnesses, which are looked through for every creation.
fn envelope(session: &Session<'_, '_>) -> Result<Option<Envelope>, Stop> {
    let witnesses = session.transaction.input.iter().map(|input| input.witness.size());
    session.world.state.work.add(witnesses.sum::<usize>() as u64);
    session.world.state.check_limits()?;
    Ok(Envelope::first(session.transaction))
}

/// 3:n: the code in the witness becomes 4:n, unless that is taken.
fn create_reserved(session: &mut Session<'_, '_>, number: u128) -> Result<Resolved, Stop> {
    let envelope = envelope(session)?;
    let missing = || Stop::revert("used CREATERESERVED cellpack but no binary found in witness");
    let payload = envelope.ok_or_else(missing)?.payload;
    let id = AlkaneId { block: 4, tx: number };
    if session.world.state.get(&StateKey::Code(id))?.is_some_and(|code| !code.is_empty()) {
        return Err(Stop::Revert(format!("used CREATERESERVED cellpack but {number} already holds a binary")));
    }
    deploy(session, id, payload)
}

fn deploy(session: &mut Session<'_, '_>, id: AlkaneId, payload: Vec<u8>) -> Result<Resolved, Stop> {
    let code = session.world.packed_code(id, payload.clone())?;
    record(session, id, payload);
    Ok(Resolved { id, code: ResolvedCode::Stored(code) })
}

/// 5:n and 6:n: 2:next gets the id of a template for its code.
fn clone(session: &mut Session<'_, '_>, next: u128, target: AlkaneId, template: AlkaneId) -> Result<Resolved, Stop> {
    let id = AlkaneId { block: 2, tx: next };
    if template == id {
        let text = format!("factory target {target} aliases the alkane id being created ({id})");
        return Err(Stop::Revert(text));
    }
    sequence::advance(&mut session.world.state, next);
    record(session, id, id_bytes(template).to_vec());
    load(session, id, template)
}

/// Stores code and its origin: the shadow output of the message.
fn record(session: &mut Session<'_, '_>, id: AlkaneId, payload: Vec<u8>) {
    let origin = OutPoint { txid: session.txid, vout: session.vout };
    session.world.state.put(StateKey::Code(id), payload);
    session.world.state.put(StateKey::Deployment(id), encode::serialize(&origin));
}
