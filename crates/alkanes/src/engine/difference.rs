//! The first difference between the effects of two engines, as text.

use std::cmp::Ordering;
use std::fmt::{self, Write as _};

use bitcoin::hex::DisplayHex;

use super::{BlockEffects, EffectsPart};
use crate::{SavedSheet, StateKey, Trace};

/// Bytes of a value that are shown.
const SHOWN_BYTES: usize = 256;
/// Bytes of the text of a trace or a sheet: a contract decides how long the whole is.
const SHOWN_TEXT: usize = 64 << 10;
/// Most bytes of the text of one event of a trace that is too long.
const SHOWN_EVENT: usize = 4 << 10;
/// Events that are shown of a trace that is too long, before the first one that differs.
const EVENTS_BEFORE: usize = 3;

impl BlockEffects {
    /// The first difference of two engines as readable text: traces before what follows from them, then the
    /// writes in the order of their keys. `None` when the effects are equal.
    pub fn first_difference(&self, other: &Self) -> Option<String> {
        self.first_trace_difference(other).or_else(|| self.first_write_difference(other)).or_else(|| {
            let both = self.funded.iter().zip(&other.funded);
            let index = both.take_while(|(left, right)| left == right).count();
            let show = |effects: &Self| effects.funded.get(index).map_or("none".to_owned(), ToString::to_string);
            (self.funded != other.funded)
                .then(|| format!("funded output {index}: {} on the left, {} on the right", show(self), show(other)))
        })
    }

    fn first_trace_difference(&self, other: &Self) -> Option<String> {
        let count = self.traces.len().max(other.traces.len());
        let index = (0..count).find(|index| self.traces.get(*index) != other.traces.get(*index))?;
        let outpoint = |effects: &Self| effects.traces.get(index).map(|(outpoint, _)| *outpoint);
        match (outpoint(self), outpoint(other)) {
            (Some(left), Some(right)) if left == right => {
                let (left_trace, right_trace) = (&self.traces[index].1, &other.traces[index].1);
                let event = first_event_difference(left_trace, right_trace);
                Some(format!(
                    "traces: message {index} at {left} differs from event {event} on\nleft:\n{}right:\n{}",
                    show_trace(left_trace, event),
                    show_trace(right_trace, event)
                ))
            }
            (left, right) => {
                let show = |outpoint: Option<_>| {
                    outpoint.map_or("no message".to_owned(), |outpoint: bitcoin::OutPoint| outpoint.to_string())
                };
                Some(format!("traces: message {index} is {} on the left, {} on the right", show(left), show(right)))
            }
        }
    }

    fn first_write_difference(&self, other: &Self) -> Option<String> {
        let (mut left, mut right) = (self.writes.iter().peekable(), other.writes.iter().peekable());
        loop {
            let order = match (left.peek(), right.peek()) {
                (None, None) => return None,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(left), Some(right)) => left.0.cmp(&right.0),
            };
            let left_write = if order.is_le() { left.next() } else { None };
            let right_write = if order.is_ge() { right.next() } else { None };
            if left_write == right_write {
                continue;
            }
            let key = left_write.or(right_write).map(|(key, _)| key)?;
            let show = |write: Option<&(StateKey, Vec<u8>)>| {
                write.map_or("not written".to_owned(), |(key, value)| show_value(key, value))
            };
            return Some(format!(
                "{}: {}\nleft:  {}\nright: {}",
                EffectsPart::of(key),
                show_key(key),
                show(left_write),
                show(right_write)
            ));
        }
    }
}

fn first_event_difference(left: &Trace, right: &Trace) -> usize {
    left.events.iter().zip(&right.events).take_while(|(left, right)| left == right).count()
}

/// A text of bounded length.
struct Bounded {
    text: String,
    room: usize,
}

impl Bounded {
    fn new(room: usize) -> Self {
        Self { text: String::new(), room }
    }
}

impl fmt::Write for Bounded {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        let mut end = piece.len().min(self.room - self.text.len());
        while !piece.is_char_boundary(end) {
            end -= 1;
        }
        self.text.push_str(&piece[..end]);
        if end == piece.len() { Ok(()) } else { Err(fmt::Error) }
    }
}

/// A trace, line by line; of one that is too long the events around the first that differs.
fn show_trace(trace: &Trace, first: usize) -> String {
    let mut events = trace.events.iter().enumerate();
    let mut whole = Bounded::new(SHOWN_TEXT);
    if events.try_for_each(|(index, event)| writeln!(whole, "  {index}: {event:?}")).is_ok() {
        return whole.text;
    }
    let count = trace.events.len();
    let mut text = format!("  {count} events, of which\n");
    for (index, event) in trace.events.iter().enumerate().skip(first.saturating_sub(EVENTS_BEFORE)) {
        let mut line = Bounded::new(SHOWN_EVENT);
        let cut = if write!(line, "{event:?}").is_ok() { "" } else { "…" };
        if text.len() + line.text.len() > SHOWN_TEXT {
            break;
        }
        // Writing to a string cannot fail.
        _ = writeln!(text, "  {index}: {}{cut}", line.text);
    }
    text
}

fn show_key(key: &StateKey) -> String {
    match key {
        StateKey::Storage(contract, name) => format!("storage of {contract} under {}", show_bytes(name)),
        StateKey::Balance { what, who } => format!("balance of {what} held by {who}"),
        StateKey::Inventory { who, what } => format!("mark that {who} held {what}"),
        StateKey::Code(id) => format!("code of {id}"),
        StateKey::Deployment(id) => format!("creation of {id}"),
        StateKey::Sheet(outpoint) => format!("alkanes of {outpoint}"),
        StateKey::BaseSheet(outpoint) => format!("base runes of {outpoint}"),
        StateKey::Runtime(id) => format!("runtime amount of {id}"),
        StateKey::FirstSeen(id) => format!("first sight of {id}"),
        StateKey::Etching(id) => format!("etching of {id}"),
        StateKey::MintsRemaining(id) => format!("mints remaining of {id}"),
        StateKey::SeenGenesis | StateKey::Sequence | StateKey::PendingPayments | StateKey::EtchedName(_) => {
            format!("{key:?}")
        }
    }
}

fn show_value(key: &StateKey, value: &[u8]) -> String {
    match key {
        StateKey::Sheet(_) | StateKey::BaseSheet(_) => match SavedSheet::decode(value) {
            Ok(sheet) => {
                let mut text = Bounded::new(SHOWN_TEXT);
                let mut entries = sheet.entries.iter().enumerate();
                let written = entries.try_for_each(|(index, (id, amount))| {
                    write!(text, "{}{amount} of {id}", if index == 0 { "" } else { ", " })
                });
                match written {
                    Ok(()) if sheet.entries.is_empty() => "nothing".to_owned(),
                    Ok(()) => text.text,
                    Err(_) => format!("{}… ({} entries)", text.text, sheet.entries.len()),
                }
            }
            Err(_) => show_bytes(value),
        },
        StateKey::Sequence | StateKey::Balance { .. } | StateKey::Runtime(_) | StateKey::MintsRemaining(_) => {
            match <[u8; 16]>::try_from(value) {
                Ok(bytes) => u128::from_le_bytes(bytes).to_string(),
                Err(_) => show_bytes(value),
            }
        }
        _ => show_bytes(value),
    }
}

fn show_bytes(bytes: &[u8]) -> String {
    let shown = &bytes[..bytes.len().min(SHOWN_BYTES)];
    let mut text = if !shown.is_empty() && shown.iter().all(|byte| (0x20..0x7f).contains(byte)) {
        format!("\"{}\"", String::from_utf8_lossy(shown))
    } else {
        format!("0x{}", shown.as_hex())
    };
    if shown.len() < bytes.len() {
        _ = write!(text, "… ({} bytes)", bytes.len());
    }
    text
}

#[cfg(test)]
mod tests {
    use bitcoin::hashes::Hash;
    use bitcoin::{OutPoint, Txid};
    use paraffin_primitives::AlkaneId;

    use super::*;
    use crate::{CallResponse, TraceEvent, TraceStatus};

    const TOKEN: AlkaneId = AlkaneId { block: 2, tx: 5 };

    fn outpoint() -> OutPoint {
        OutPoint { txid: Txid::from_byte_array([1; 32]), vout: 3 }
    }

    fn effects() -> BlockEffects {
        let exit = TraceEvent::Exit { status: TraceStatus::Success, response: CallResponse::default(), fuel_used: 7 };
        let sheet = SavedSheet { entries: vec![(TOKEN, 5)] };
        BlockEffects {
            writes: vec![
                (StateKey::Storage(TOKEN, b"/name".to_vec()), b"first".to_vec()),
                (StateKey::Balance { what: TOKEN, who: TOKEN }, 8u128.to_le_bytes().to_vec()),
                (StateKey::Sheet(outpoint()), sheet.encode()),
            ],
            traces: vec![(outpoint(), Trace { events: vec![TraceEvent::Create(TOKEN), exit] })],
            undone: Vec::new(),
            funded: vec![outpoint()],
        }
    }

    /// The text of the difference that a change makes, and the parts whose digests change with it.
    fn difference(change: impl FnOnce(&mut BlockEffects)) -> (String, Vec<EffectsPart>) {
        let (left, mut right) = (effects(), effects());
        change(&mut right);
        assert_eq!(left.first_difference(&right).is_some(), left != right);
        let changed = |part: &EffectsPart| left.part_digest(*part) != right.part_digest(*part);
        let parts: Vec<_> = EffectsPart::ALL.into_iter().filter(changed).collect();
        assert_eq!(left.digest() == right.digest(), parts.is_empty());
        (left.first_difference(&right).unwrap_or_default(), parts)
    }

    #[test]
    fn equal_effects_have_no_difference() {
        assert_eq!(difference(|_| {}), (String::new(), Vec::new()));
    }

    #[test]
    fn a_difference_names_the_index_and_both_values() {
        let (text, parts) = difference(|right| right.writes[0].1 = b"other".to_vec());
        assert_eq!(text, "storage: storage of 2:5 under \"/name\"\nleft:  \"first\"\nright: \"other\"");
        assert_eq!(parts, [EffectsPart::Storage]);

        let (text, parts) = difference(|right| _ = right.writes.remove(1));
        assert_eq!(text, "balances: balance of 2:5 held by 2:5\nleft:  8\nright: not written");
        assert_eq!(parts, [EffectsPart::Balances]);

        let sheet = SavedSheet { entries: vec![(TOKEN, 5), (TOKEN, 6)] };
        let (text, parts) = difference(|right| right.writes[2].1 = sheet.encode());
        assert!(text.starts_with("sheets: alkanes of 0101"), "{text}");
        assert!(text.ends_with("\nleft:  5 of 2:5\nright: 5 of 2:5, 6 of 2:5"), "{text}");
        assert_eq!(parts, [EffectsPart::Sheets]);
    }

    #[test]
    fn traces_are_compared_first_and_shown_whole() {
        let (text, parts) = difference(|right| {
            right.writes.clear();
            right.traces[0].1.events.truncate(1);
        });
        assert!(text.starts_with("traces: message 0 at 0101"), "{text}");
        assert!(text.contains("differs from event 1 on") && text.contains("fuel_used: 7"), "{text}");
        assert_eq!(parts.last(), Some(&EffectsPart::Traces));
        let (text, _) = difference(|right| right.traces.clear());
        assert!(text.ends_with("on the left, no message on the right"), "{text}");
    }

    #[test]
    fn of_a_trace_without_end_what_differs_is_shown() {
        let event = |byte: u8, len: usize| {
            let response = CallResponse { data: vec![byte; len], ..CallResponse::default() };
            TraceEvent::Exit { status: TraceStatus::Success, response, fuel_used: 7 }
        };
        let trace = |last: u8| {
            let mut events = vec![event(200, 1_000_000); 50];
            events.extend([event(201, 3), event(last, 3)]);
            events.extend(vec![event(202, 1_000_000); 50]);
            vec![(outpoint(), Trace { events })]
        };
        let left = BlockEffects { traces: trace(1), ..BlockEffects::default() };
        let right = BlockEffects { traces: trace(2), ..BlockEffects::default() };
        let text = left.first_difference(&right).unwrap();
        assert!(text.len() < 3 * SHOWN_TEXT, "{}", text.len());
        for word in [
            "from event 51 on",
            "102 events, of which",
            "  50: Exit",
            "data: [201, 201, 201]",
            "data: [1, 1, 1]",
            "data: [2, 2, 2]",
        ] {
            assert!(text.contains(word), "{word}: {text}");
        }
        let sheet =
            |count: u128| SavedSheet { entries: (0..count).map(|tx| (AlkaneId { block: 2, tx }, tx)).collect() };
        let shown = show_value(&StateKey::Sheet(outpoint()), &sheet(100_000).encode());
        assert!(shown.starts_with("0 of 2:0, 1 of 2:1, ") && shown.ends_with("… (100000 entries)"));
        assert!(shown.len() < 2 * SHOWN_TEXT);
    }

    #[test]
    fn funded_outputs_are_compared_last() {
        let (text, _) = difference(|right| right.funded.clear());
        assert!(text.starts_with("funded output 0: ") && text.ends_with("none on the right"), "{text}");
    }
}
