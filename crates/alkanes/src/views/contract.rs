//! A contract without running it: its code, storage, holdings and creation.

use bitcoin::OutPoint;
use bitcoin::hashes::Hash as _;
use paraffin_primitives::AlkaneId;

use super::{ViewContext, ViewError};
use crate::proto::alkanes::{
    AlkaneIdToOutpointRequest, AlkaneIdToOutpointResponse, AlkaneInventoryRequest, AlkaneInventoryResponse,
    AlkaneStorageRequest, AlkaneStorageResponse, BlockRequest, BlockResponse, BytecodeRequest,
};
use crate::proto::{self, alkane_id};
use crate::{StateError, StateKey, Transfer};

/// The number of the next contract 2:n.
///
/// # Errors
/// [`ViewError::State`].
pub fn sequence(context: &ViewContext<'_>) -> Result<u128, ViewError> {
    Ok(stored_integer(context.state, &StateKey::Sequence)?.unwrap_or(0))
}

/// An integer of the state; `None` when it was never set.
pub(super) fn stored_integer(state: &dyn super::ViewState, key: &StateKey) -> Result<Option<u128>, ViewError> {
    let Some(value) = state.get(key)? else { return Ok(None) };
    if value.is_empty() {
        return Ok(None);
    }
    let bytes = <[u8; 16]>::try_from(value.as_slice());
    let bytes = bytes.map_err(|_| StateError::Damaged(format!("{key:?} has {} bytes instead of 16", value.len())))?;
    Ok(Some(u128::from_le_bytes(bytes)))
}

/// The WASM module that runs for a contract at the view's height; empty when there is none.
///
/// # Errors
/// [`ViewError::State`].
pub fn bytecode(id: AlkaneId, context: &ViewContext<'_>) -> Result<Vec<u8>, ViewError> {
    super::run::code(id, context)
}

pub(super) fn bytecode_view(payload: &[u8], context: &ViewContext<'_>) -> Result<Vec<u8>, ViewError> {
    match proto::decode::<BytecodeRequest>(payload) {
        Ok(request) => bytecode(alkane_id(request.id), context),
        Err(_) => Ok(Vec::new()),
    }
}

/// One value of a contract's storage; empty when it was never set.
///
/// # Errors
/// [`ViewError::State`].
pub fn storage_at(id: AlkaneId, key: &[u8], context: &ViewContext<'_>) -> Result<Vec<u8>, ViewError> {
    Ok(context.state.get(&StateKey::Storage(id, key.to_vec()))?.unwrap_or_default())
}

pub(super) fn storage_view(payload: &[u8], context: &ViewContext<'_>) -> Result<AlkaneStorageResponse, ViewError> {
    let request: AlkaneStorageRequest = proto::decode(payload)?;
    Ok(AlkaneStorageResponse { value: storage_at(alkane_id(request.id), &request.path, context)? })
}

/// The inventory of a contract with current balances.
///
/// # Errors
/// [`ViewError`].
pub fn inventory(who: AlkaneId, context: &ViewContext<'_>) -> Result<Vec<Transfer>, ViewError> {
    let limit = context.limits.records_max;
    let held = context.state.inventory(who, limit.saturating_add(1))?;
    if held.len() > limit { Err(ViewError::TooLarge) } else { Ok(held) }
}

pub(super) fn inventory_view(payload: &[u8], context: &ViewContext<'_>) -> Result<AlkaneInventoryResponse, ViewError> {
    let request: AlkaneInventoryRequest = proto::decode(payload)?;
    let held = inventory(alkane_id(request.id), context)?;
    Ok(AlkaneInventoryResponse { alkanes: held.into_iter().map(Into::into).collect() })
}

/// Shadow output of the message that created a contract; `None` for built-ins and unknown ids.
///
/// # Errors
/// [`ViewError::State`].
pub fn created_at(id: AlkaneId, context: &ViewContext<'_>) -> Result<Option<OutPoint>, ViewError> {
    let Some(value) = context.state.get(&StateKey::Deployment(id))? else { return Ok(None) };
    Ok(Some(crate::state::decode_outpoint(&value)?))
}

pub(super) fn deployment_view(
    payload: &[u8],
    context: &ViewContext<'_>,
) -> Result<AlkaneIdToOutpointResponse, ViewError> {
    let request: AlkaneIdToOutpointRequest = proto::decode(payload)?;
    let created = created_at(alkane_id(request.id), context)?;
    Ok(created.map_or_else(AlkaneIdToOutpointResponse::default, |outpoint| {
        let mut txid = outpoint.txid.to_byte_array().to_vec();
        txid.reverse();
        AlkaneIdToOutpointResponse { txid, vout: outpoint.vout }
    }))
}

/// The block that [`super::block_wanted`] named; the default message when there is none at that height.
pub(super) fn block_view(payload: &[u8], context: &ViewContext<'_>) -> Result<BlockResponse, ViewError> {
    let request: BlockRequest = proto::decode(payload)?;
    let block = context.block.filter(|_| request.height <= context.height);
    Ok(block
        .map_or_else(BlockResponse::default, |block| BlockResponse { block: block.to_vec(), height: request.height }))
}
