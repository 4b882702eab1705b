use std::collections::HashMap;

use bitcoin::OutPoint;
use paraffin_store::KeyHashing;

use super::super::instance::Outcome;
use super::series::Planned;
use crate::state::Read;
use crate::{Overlay, SavedSheet, Sheet, StateError, StateKey, StateReader, Transfer};

/// Most alkanes that may come into a message that is run ahead: each job has a copy.
const INCOMING_MAX: usize = 64;

/// Longest saved sheet that is decoded, in bytes: with all that was appended to it.
const SHEET_LEN_MAX: usize = 8 << 10;

/// Longest value that is foretold as a number, in bytes.
const NUMBER_LEN_MAX: usize = 16;

/// Values by key; what is not among them was never set.
#[derive(Debug, Clone, Default)]
pub(crate) struct Values(HashMap<StateKey, Option<Vec<u8>>, KeyHashing>);

impl StateReader for Values {
    fn get(&self, key: &StateKey) -> Result<Option<Vec<u8>>, StateError> {
        Ok(self.0.get(key).cloned().flatten())
    }
}

/// What the messages of a series read, as far as it follows from the newest two: what grew grows on by the same amount, the rest stays.
#[derive(Debug, Default)]
pub(super) struct Forecast {
    newest: Option<Seen>,
    before: Option<Seen>,
    /// What the newest message returned beyond what came in.
    gain: Sheet,
    /// What outputs of messages that were queued will hold; `None`: more than is followed.
    returned: HashMap<OutPoint, Option<Sheet>>,
}

#[derive(Debug)]
struct Seen {
    position: usize,
    reads: Values,
}

impl Forecast {
    /// Notes what the message at `position` has read, with what came in and what came of it.
    pub(super) fn learn(
        &mut self,
        position: usize,
        message: &Planned<'_>,
        reads: Vec<Read>,
        incoming: &[Transfer],
        outcome: &Outcome,
    ) {
        let mut values = Values::default();
        for (key, value) in reads {
            // What it has read again, it may itself have written.
            values.0.entry(key).or_insert(value);
        }
        self.before = self.newest.replace(Seen { position, reads: values });
        let incoming = sheet_of(incoming);
        self.gain = Sheet::new();
        for (id, value) in sheet_of(outcome.response.alkanes()).iter() {
            if let Some(gained) = value.checked_sub(incoming.get(id)).filter(|gained| *gained > 0) {
                self.gain.set(id, gained);
            }
        }
        if let Some(vout) = message.pointer {
            self.returned.remove(&OutPoint { txid: message.txid, vout });
        }
    }

    /// Whether two messages have shown what others read.
    pub(super) const fn is_ready(&self) -> bool {
        self.newest.is_some() && self.before.is_some()
    }

    /// What the message at `position` will probably read and what will come in; `None` where that is not known, or too much.
    pub(super) fn of(
        &mut self,
        position: usize,
        message: &Planned<'_>,
        state: &Overlay<'_>,
    ) -> Option<(Values, Vec<Transfer>)> {
        let (newest, before) = (self.newest.as_ref()?, self.before.as_ref()?);
        let mut values = newest.reads.clone();
        // Both were read in the series with nothing of it in between, or the numbers do not show how they grow.
        if newest.position == before.position + 1 {
            let steps = (position - newest.position) as u128;
            for (key, value) in &mut values.0 {
                let earlier = before.reads.0.get(key).and_then(Option::as_deref);
                if let (Some(value), Some(earlier)) = (value, earlier) {
                    continue_series(value, earlier, steps);
                }
            }
        }
        let incoming = self.incoming(message, state);
        self.expect(message, incoming.clone());
        Some((values, incoming?.transfers()))
    }

    /// Notes what the output of a message will hold that has not ended, and into which this comes.
    pub(super) fn expect(&mut self, message: &Planned<'_>, incoming: Option<Sheet>) {
        if let Some(vout) = message.pointer {
            let returned = incoming.map(|incoming| added(incoming, &self.gain));
            let returned = returned.filter(|returned| returned.entry_count() <= INCOMING_MAX);
            self.returned.insert(OutPoint { txid: message.txid, vout }, returned);
        }
    }

    /// The sum of what the inputs of a message hold, or will hold after those that were queued; `None` of very many alkanes.
    fn incoming(&self, message: &Planned<'_>, state: &Overlay<'_>) -> Option<Sheet> {
        let mut sum = Sheet::new();
        for input in &message.transaction.input {
            let output = input.previous_output;
            let sheet = match state.look(&StateKey::Sheet(output)).ok()? {
                Some(saved) if saved.len() > SHEET_LEN_MAX => return None,
                Some(saved) => SavedSheet::decode(&saved).ok()?.load(),
                None => self.returned.get(&output).map_or_else(|| Some(Sheet::new()), Clone::clone)?,
            };
            sum = added(sum, &sheet);
            if sum.entry_count() > INCOMING_MAX {
                return None;
            }
        }
        Some(sum)
    }
}

/// Adds the difference to the `earlier` value so many times, where both are numbers of one length.
fn continue_series(value: &mut [u8], earlier: &[u8], steps: u128) {
    if value.len() != earlier.len() || value.len() > NUMBER_LEN_MAX || value == earlier {
        return;
    }
    let number = |bytes: &[u8]| {
        let mut wide = [0; NUMBER_LEN_MAX];
        wide[..bytes.len()].copy_from_slice(bytes);
        u128::from_le_bytes(wide)
    };
    let step = number(value).wrapping_sub(number(earlier));
    let next = number(value).wrapping_add(step.wrapping_mul(steps));
    let len = value.len();
    value.copy_from_slice(&next.to_le_bytes()[..len]);
}

/// The sum of two amounts by id, as far as it fits: what does not fails the message, which is then not foretold.
fn added(mut sheet: Sheet, more: &Sheet) -> Sheet {
    let _ = sheet.merge(more);
    sheet
}

pub(super) fn sheet_of(transfers: &[Transfer]) -> Sheet {
    let mut sheet = Sheet::new();
    for transfer in transfers {
        let _ = sheet.add(transfer.id, transfer.value);
    }
    sheet
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_on_as_they_grew_and_wrap_at_their_length() {
        let next = |value: &[u8], earlier: &[u8], steps| {
            let mut value = value.to_vec();
            continue_series(&mut value, earlier, steps);
            value
        };
        let wide = |number: u128| number.to_le_bytes();
        assert_eq!(next(&wide(30), &wide(20), 3), wide(60));
        assert_eq!(next(&wide(20), &wide(30), 1), wide(10), "what falls is foretold as well");
        assert_eq!(next(&[255, 0], &[254, 0], 2), [1, 1]);
        assert_eq!(next(&[255], &[254], 2), [1]);
        assert_eq!(next(b"name", b"name", 2), b"name");
        assert_eq!(next(b"longer", b"short", 2), b"longer");
        assert_eq!(next(&[1; 17], &[0; 17], 2), [1; 17], "what is too long for a number stays");
    }
}
