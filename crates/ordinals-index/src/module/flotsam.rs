//! Inscriptions on their way through a transaction.

use std::collections::HashSet;

use crate::envelope::Envelope;
use crate::event::{EnvelopeFields, InscriptionId};

/// An inscription between the inputs and the outputs of a transaction, or of a block's fees.
pub(super) struct Flotsam {
    /// Sats before it.
    pub(super) offset: u64,
    pub(super) origin: Origin,
}

pub(super) enum Origin {
    /// Revealed by this transaction.
    New(Reveal),
    /// It was in an output.
    Old {
        sequence: u32,
        /// How often it has moved.
        moves: u32,
        /// `None` when no event needs it, so that a chain of transactions does not look it up for every move.
        id: Option<InscriptionId>,
    },
}

/// A new inscription before it has a number. A block may have half a million of them, so it must be small.
#[allow(clippy::struct_excessive_bools, reason = "rules that do not depend on one another")]
pub(super) struct Reveal {
    pub(super) id: InscriptionId,
    /// For its event, where events are wanted.
    pub(super) envelope: Option<Box<EnvelopeFields>>,
    pub(super) is_cursed: bool,
    pub(super) is_vindicated: bool,
    /// Whether it is bound to no sat.
    pub(super) is_unbound: bool,
    /// Whether another one is on the sat already.
    pub(super) is_reinscription: bool,
    /// Whether it was paid as a fee, so that the coinbase takes it.
    pub(super) is_paid: bool,
    pub(super) fee: u64,
    /// Parents that it names and whose sats are in the transaction.
    pub(super) parents: Vec<InscriptionId>,
    /// Index of the event of its reveal, recorded without a number when it was paid as a fee and events are wanted.
    pub(super) event: Option<usize>,
}

/// Retains of the parents that new inscriptions name those that are in the transaction, each once. `sequence_of` looks up the
/// sequence number of a parent: moved inscriptions, of which there may be millions, are compared by it.
pub(super) fn keep_present_parents<E>(
    floating: &mut [Flotsam],
    sequence_of: impl Fn(&InscriptionId) -> Result<Option<u32>, E>,
) -> Result<(), E> {
    if !floating.iter().any(|flotsam| matches!(&flotsam.origin, Origin::New(reveal) if !reveal.parents.is_empty())) {
        return Ok(());
    }
    let (mut new, mut old) = (HashSet::new(), HashSet::new());
    for flotsam in &*floating {
        match &flotsam.origin {
            Origin::New(reveal) => _ = new.insert(reveal.id),
            Origin::Old { sequence, .. } => _ = old.insert(*sequence),
        }
    }
    for flotsam in floating {
        let Origin::New(reveal) = &mut flotsam.origin else { continue };
        let mut seen = HashSet::new();
        for parent in std::mem::take(&mut reveal.parents) {
            let is_present =
                new.contains(&parent) || sequence_of(&parent)?.is_some_and(|sequence| old.contains(&sequence));
            if is_present && seen.insert(parent) {
                reveal.parents.push(parent);
            }
        }
    }
    Ok(())
}

/// Whether an envelope is cursed by its form or its position, reinscription aside.
pub(super) fn is_cursed_by_form(envelope: &Envelope) -> bool {
    let inscription = &envelope.inscription;
    inscription.has_unrecognized_even_field
        || inscription.has_duplicate_field
        || inscription.has_incomplete_field
        || envelope.input != 0
        || envelope.offset != 0
        || inscription.pointer.is_some()
        || envelope.has_pushnum
        || envelope.is_stutter
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block of empty envelopes has half a million of them at a time.
    #[test]
    fn an_inscription_on_its_way_is_small() {
        assert!(size_of::<Flotsam>() <= 128, "{} bytes", size_of::<Flotsam>());
    }
}
