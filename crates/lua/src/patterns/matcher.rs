//! Lua's patterns (Lua 5.4 manual, 6.4.1) with a meter: the library's own matcher can run for days in one call, and no hook
//! reaches it there.

use super::class;
use crate::meter::{Exhausted, Meter};

/// Captures of one pattern.
const CAPTURES_MAX: usize = 32;
/// Items of a pattern that each wait for the rest of it; the frames of the native stack that one match takes.
const DEPTH_MAX: u32 = 200;
/// Steps between two checks of the meter.
const STEPS_PER_LOOK: u32 = 4096;

/// Why matching failed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PatternError {
    /// What is wrong with it.
    #[error("{0}")]
    Malformed(&'static str),
    #[error("invalid capture index %{0}")]
    CaptureIndex(u8),
    #[error("invalid capture index %{0} in replacement string")]
    ReplacementIndex(u8),
    #[error(transparent)]
    Exhausted(#[from] Exhausted),
}

type Step<T> = Result<T, PatternError>;

/// The value of a capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Capture {
    /// Start and number of bytes.
    Bytes(usize, usize),
    /// The position itself, counted from 0.
    Position(usize),
}

#[derive(Debug, Clone, Copy)]
enum Slot {
    Open(usize),
    Closed(Capture),
}

/// Matches one pattern in one text.
pub(crate) struct Matcher<'a> {
    text: &'a [u8],
    pattern: &'a [u8],
    meter: &'a Meter,
    slots: Vec<Slot>,
    depth: u32,
    steps: u32,
}

impl<'a> Matcher<'a> {
    pub(crate) fn new(text: &'a [u8], pattern: &'a [u8], meter: &'a Meter) -> Self {
        Self { text, pattern, meter, slots: Vec::new(), depth: 0, steps: 0 }
    }

    /// The end of the match that begins at `from`.
    pub(crate) fn at(&mut self, from: usize) -> Step<Option<usize>> {
        self.slots.clear();
        self.depth = 0;
        self.step()?;
        self.rest(from, 0)
    }

    /// Charges the steps since the last call to the budget.
    pub(crate) fn settle(&mut self) -> Step<()> {
        let steps = std::mem::take(&mut self.steps);
        Ok(self.meter.spend(steps.into())?)
    }

    /// One capture of the last match, counted from 0; without any in the pattern, the first is all of it. One that the
    /// pattern leaves open is an error only when it is read.
    pub(crate) fn capture(&self, index: usize, from: usize, end: usize) -> Step<Option<Capture>> {
        match self.slots.get(index) {
            Some(Slot::Closed(capture)) => Ok(Some(*capture)),
            Some(Slot::Open(_)) => Err(PatternError::Malformed("unfinished capture")),
            None if index == 0 => Ok(Some(Capture::Bytes(from, end - from))),
            None => Ok(None),
        }
    }

    /// The first `most` captures of the last match.
    pub(crate) fn captures(&self, most: usize, from: usize, end: usize) -> Step<Vec<Capture>> {
        let count = self.slots.len().max(1).min(most);
        (0..count).filter_map(|index| self.capture(index, from, end).transpose()).collect()
    }

    /// Whether the pattern has captures of its own, after a match.
    pub(crate) fn has_captures(&self) -> bool {
        !self.slots.is_empty()
    }

    fn step(&mut self) -> Step<()> {
        self.steps += 1;
        if self.steps >= STEPS_PER_LOOK { self.settle() } else { Ok(()) }
    }

    /// Matches the pattern from `item` on at `at`, one level deeper.
    fn rest(&mut self, at: usize, item: usize) -> Step<Option<usize>> {
        if self.depth >= DEPTH_MAX {
            return Err(PatternError::Malformed("pattern too complex"));
        }
        self.depth += 1;
        let end = self.items(at, item);
        self.depth -= 1;
        end
    }

    fn items(&mut self, mut at: usize, mut item: usize) -> Step<Option<usize>> {
        loop {
            self.step()?;
            let pattern = self.pattern;
            match pattern.get(item..).unwrap_or_default() {
                [] => return Ok(Some(at)),
                [b'(', b')', ..] => {
                    return self.begin(Slot::Closed(Capture::Position(at)), at, item + 2);
                }
                [b'(', ..] => return self.begin(Slot::Open(at), at, item + 1),
                [b')', ..] => return self.close(at, item + 1),
                [b'$'] => return Ok((at == self.text.len()).then_some(at)),
                [b'%', b'b', rest @ ..] => match self.balanced(at, rest)? {
                    Some(end) => (at, item) = (end, item + 4),
                    None => return Ok(None),
                },
                [b'%', b'f', b'[', ..] => {
                    let end = self.item_end(item + 2)?;
                    if !self.is_frontier(at, item + 2, end) {
                        return Ok(None);
                    }
                    item = end;
                }
                [b'%', b'f', ..] => return Err(PatternError::Malformed("missing '[' after '%f' in pattern")),
                [b'%', digit @ b'0'..=b'9', ..] => match self.repeated(at, *digit)? {
                    Some(end) => (at, item) = (end, item + 2),
                    None => return Ok(None),
                },
                _ => {
                    let end = self.item_end(item)?;
                    match pattern.get(end) {
                        Some(b'?') => {
                            if self.is_single(at, item, end)
                                && let Some(end_of_match) = self.rest(at + 1, end + 1)?
                            {
                                return Ok(Some(end_of_match));
                            }
                            item = end + 1;
                        }
                        Some(b'*') => return self.longest(at, item, end),
                        Some(b'+') if self.is_single(at, item, end) => return self.longest(at + 1, item, end),
                        Some(b'+') => return Ok(None),
                        Some(b'-') => return self.shortest(at, item, end),
                        _ if self.is_single(at, item, end) => (at, item) = (at + 1, end),
                        _ => return Ok(None),
                    }
                }
            }
        }
    }

    /// As many as possible, then fewer.
    fn longest(&mut self, at: usize, item: usize, end: usize) -> Step<Option<usize>> {
        let mut count = 0;
        while self.is_single(at + count, item, end) {
            self.step()?;
            count += 1;
        }
        loop {
            if let Some(end_of_match) = self.rest(at + count, end + 1)? {
                return Ok(Some(end_of_match));
            }
            if count == 0 {
                return Ok(None);
            }
            count -= 1;
        }
    }

    /// As few as possible, then more.
    fn shortest(&mut self, mut at: usize, item: usize, end: usize) -> Step<Option<usize>> {
        loop {
            if let Some(end_of_match) = self.rest(at, end + 1)? {
                return Ok(Some(end_of_match));
            }
            if !self.is_single(at, item, end) {
                return Ok(None);
            }
            at += 1;
        }
    }

    fn begin(&mut self, slot: Slot, at: usize, item: usize) -> Step<Option<usize>> {
        if self.slots.len() >= CAPTURES_MAX {
            return Err(PatternError::Malformed("too many captures"));
        }
        self.slots.push(slot);
        let end_of_match = self.rest(at, item)?;
        if end_of_match.is_none() {
            self.slots.pop();
        }
        Ok(end_of_match)
    }

    fn close(&mut self, at: usize, item: usize) -> Step<Option<usize>> {
        let open = self.slots.iter().rposition(|slot| matches!(slot, Slot::Open(_)));
        let Some(index) = open else { return Err(PatternError::Malformed("invalid pattern capture")) };
        let Slot::Open(from) = self.slots[index] else { return Ok(None) };
        self.slots[index] = Slot::Closed(Capture::Bytes(from, at - from));
        let end_of_match = self.rest(at, item)?;
        if end_of_match.is_none() {
            self.slots[index] = Slot::Open(from);
        }
        Ok(end_of_match)
    }

    /// `%1` to `%9`: the content of a capture again.
    fn repeated(&mut self, at: usize, digit: u8) -> Step<Option<usize>> {
        let number = digit - b'0';
        let wrong = PatternError::CaptureIndex(number);
        let Some(slot) = usize::from(number).checked_sub(1).and_then(|index| self.slots.get(index)) else {
            return Err(wrong);
        };
        let Slot::Closed(capture) = *slot else { return Err(wrong) };
        // A back reference to a position capture never matches.
        let Capture::Bytes(from, length) = capture else { return Ok(None) };
        self.steps = self.steps.saturating_add(u32::try_from(length / 16).unwrap_or(u32::MAX));
        self.step()?;
        let text = self.text;
        let again = text.get(at..).is_some_and(|rest| rest.starts_with(&text[from..from + length]));
        Ok(again.then_some(at + length))
    }

    /// `%bxy`: from an x to the matching y.
    fn balanced(&mut self, at: usize, rest: &[u8]) -> Step<Option<usize>> {
        let [open, close, ..] = *rest else {
            return Err(PatternError::Malformed("malformed pattern (missing arguments to '%b')"));
        };
        if self.text.get(at) != Some(&open) {
            return Ok(None);
        }
        let mut depth = 1_usize;
        let mut next = at + 1;
        while let Some(&byte) = self.text.get(next) {
            self.step()?;
            next += 1;
            if byte == close {
                depth -= 1;
                if depth == 0 {
                    return Ok(Some(next));
                }
            } else if byte == open {
                depth += 1;
            }
        }
        Ok(None)
    }

    fn is_frontier(&self, at: usize, item: usize, end: usize) -> bool {
        let set = &self.pattern[item + 1..end - 1];
        let before = at.checked_sub(1).and_then(|before| self.text.get(before)).copied().unwrap_or(0);
        let here = self.text.get(at).copied().unwrap_or(0);
        !class::in_set(set, before) && class::in_set(set, here)
    }

    /// Where the item that begins at `item` ends, its quantifier not counted.
    fn item_end(&self, item: usize) -> Step<usize> {
        match self.pattern[item..] {
            [b'%'] => Err(PatternError::Malformed("malformed pattern (ends with '%')")),
            [b'%', ..] => Ok(item + 2),
            [b'[', ..] => self.set_end(item + 1),
            _ => Ok(item + 1),
        }
    }

    /// Behind the bracket that closes the set whose content begins at `from`. The first byte never closes it.
    fn set_end(&self, from: usize) -> Step<usize> {
        let missing = PatternError::Malformed("malformed pattern (missing ']')");
        let mut next = if self.pattern.get(from) == Some(&b'^') { from + 1 } else { from };
        let first = next;
        loop {
            match self.pattern.get(next) {
                None => return Err(missing),
                Some(b']') if next > first => return Ok(next + 1),
                Some(b'%') => next += 2,
                Some(_) => next += 1,
            }
        }
    }

    /// Whether the byte at `at` is one that the item stands for.
    fn is_single(&self, at: usize, item: usize, end: usize) -> bool {
        let Some(&byte) = self.text.get(at) else { return false };
        match self.pattern[item..end] {
            [b'.'] => true,
            [b'%', letter] => class::has(letter, byte),
            [b'[', ref set @ .., b']'] => class::in_set(set, byte),
            [same] => same == byte,
            _ => false,
        }
    }
}
