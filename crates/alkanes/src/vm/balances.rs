//! Balances of contracts (protocol B14).

use paraffin_primitives::AlkaneId;

use super::stop::Stop;
use crate::{Halt, Overlay, StateError, StateKey, Transfer};

/// The stored balance, 16 bytes or none. A holder that has ever had one is put into the inventory when the balance is
/// read, even in a call that is undone (protocol B10, B15).
pub(crate) fn touch(state: &mut Overlay<'_>, who: AlkaneId, what: AlkaneId) -> Result<Vec<u8>, StateError> {
    let balance = state.get(&StateKey::Balance { what, who })?.unwrap_or_default();
    if !balance.is_empty() {
        let mark = StateKey::Inventory { who, what };
        if state.get(&mark)?.is_none() {
            state.put_direct(mark, vec![1]);
        }
    }
    Ok(balance)
}

fn balance(state: &mut Overlay<'_>, who: AlkaneId, what: AlkaneId) -> Result<u128, Halt> {
    super::integer(&touch(state, who, what)?, "a contract's balance")
}

fn set(state: &mut Overlay<'_>, who: AlkaneId, what: AlkaneId, value: u128) {
    state.put(StateKey::Balance { what, who }, value.to_le_bytes().to_vec());
}

/// Adds to the balance of `to`.
pub(crate) fn credit(state: &mut Overlay<'_>, to: AlkaneId, transfers: &[Transfer]) -> Result<(), Stop> {
    for transfer in transfers {
        state.check_limits()?;
        let sum = balance(state, to, transfer.id)?.checked_add(transfer.value);
        let sum = sum.ok_or_else(|| Stop::revert("balance overflow during credit_balances"))?;
        set(state, to, transfer.id, sum);
    }
    Ok(())
}

/// Takes from the balance of `from`. A contract may give more of itself than it holds: that is minting (protocol B14).
pub(crate) fn debit(state: &mut Overlay<'_>, from: AlkaneId, transfers: &[Transfer]) -> Result<(), Stop> {
    transfers.iter().try_for_each(|transfer| {
        state.check_limits()?;
        debit_one(state, from, transfer)
    })
}

fn debit_one(state: &mut Overlay<'_>, from: AlkaneId, transfer: &Transfer) -> Result<(), Stop> {
    let held = balance(state, from, transfer.id)?;
    let left = match held.checked_sub(transfer.value) {
        Some(left) => left,
        None if transfer.id == from => 0,
        None => return Err(Stop::Revert(underflow_text(transfer, from, held))),
    };
    set(state, from, transfer.id, left);
    Ok(())
}

/// Moves between contracts. Transfers to 0:0 are not debited: a message gives its answer to the pointer (protocol B14).
pub(crate) fn transfer(
    state: &mut Overlay<'_>,
    from: AlkaneId,
    to: AlkaneId,
    transfers: &[Transfer],
) -> Result<(), Stop> {
    if to == AlkaneId::default() {
        return Ok(());
    }
    for transfer in transfers {
        state.check_limits()?;
        debit_one(state, from, transfer)?;
        let sum = balance(state, to, transfer.id)?.checked_add(transfer.value);
        let sum = sum.ok_or_else(|| Stop::revert("balance overflow during transfer_from"))?;
        set(state, to, transfer.id, sum);
    }
    Ok(())
}

fn underflow_text(transfer: &Transfer, from: AlkaneId, held: u128) -> String {
    let id = |id: AlkaneId| format!("AlkaneId {{ block: {}, tx: {} }}", id.block, id.tx);
    format!(
        "balance underflow, transferring(AlkaneTransfer {{ id: {}, value: {} }}), from({}), balance({held})",
        id(transfer.id),
        transfer.value,
        id(from),
    )
}
