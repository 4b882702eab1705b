use crate::{Halt, Overlay, StateKey};

/// The number of the next contract 2:n (protocol B7).
pub(crate) fn next(state: &Overlay<'_>) -> Result<u128, Halt> {
    let stored = state.get(&StateKey::Sequence)?.unwrap_or_default();
    super::integer(&stored, "/alkanes/sequence")
}

/// Takes that number.
pub(crate) fn advance(state: &mut Overlay<'_>, taken: u128) {
    state.put(StateKey::Sequence, taken.wrapping_add(1).to_le_bytes().to_vec());
}
