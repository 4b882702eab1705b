//! Change events of a database: parses them and determines their effects on the book. Pure.

use std::sync::Arc;

use serde_json::value::RawValue;

use crate::fields::{self, FieldError};
use crate::members::{self, Members};
use crate::name::Name;
use crate::order::{Order, Position, Status};
use crate::row;
use crate::tables::Tables;

/// Most events in one request (docs/orderbook.md).
pub const EVENTS_MAX: usize = 10_000;
/// Longest event, bytes of JSON.
pub const EVENT_BYTES_MAX: usize = 512 * 1024;

/// Events that are not taken in, none of them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EventError {
    /// The body is no JSON, or neither an event nor a list of them.
    #[error("the body must be one change event or an array of at most 10,000 in JSON: {0}")]
    Body(String),
    /// One of the events is wrong.
    #[error("event {index}: {reason}")]
    Event {
        /// Index in the body, counted from 0.
        index: usize,
        /// The field and its fault.
        reason: FieldError,
    },
}

/// Effect of an event on the book.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Nothing: it is of a table without orders, or only a message.
    None,
    /// The new state of an order.
    Order(Arc<Order>),
    /// A table was emptied.
    Truncate {
        /// The table.
        table: Name,
        /// Position of the truncation.
        position: Position,
    },
}

/// An event as it came, and its effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event<'e> {
    /// Its JSON.
    pub text: &'e str,
    /// Its effect.
    pub effect: Effect,
}

/// Reads one event or an array of them. `received_at` (Unix time in microseconds) is the position of those that state none.
///
/// # Errors
/// The first that is wrong with them; then none is taken in.
pub fn read<'e>(body: &'e [u8], tables: &Tables, received_at: u64) -> Result<Vec<Event<'e>>, EventError> {
    let wrong = |error: &dyn std::fmt::Display| EventError::Body(error.to_string());
    let body = std::str::from_utf8(body).map_err(|error| wrong(&error))?;
    let texts: Vec<&RawValue> = if body.trim_start().starts_with('[') {
        members::list(body, EVENTS_MAX).map_err(|error| wrong(&error))?
    } else {
        let one: &RawValue = serde_json::from_str(body).map_err(|error| wrong(&error))?;
        if !one.get().starts_with('{') {
            return Err(wrong(&"it is neither"));
        }
        vec![one]
    };
    let read = texts.into_iter().enumerate().map(|(index, text)| {
        let text = text.get();
        let effect = effect(text, tables, received_at).map_err(|reason| EventError::Event { index, reason })?;
        Ok(Event { text, effect })
    });
    read.collect()
}

/// The effect of one event.
pub(crate) fn effect(text: &str, tables: &Tables, received_at: u64) -> Result<Effect, FieldError> {
    if text.len() > EVENT_BYTES_MAX {
        return Err(FieldError::new("the event", format!("is longer than {EVENT_BYTES_MAX} bytes")));
    }
    // The tombstone after a deletion in a compacted log.
    if text == "null" {
        return Ok(Effect::None);
    }
    let outer = Members::read(text).map_err(|_| FieldError::new("the event", "is no object"))?;
    // Wrapped: `{"schema": …, "payload": event}`.
    let event = match outer.get("payload") {
        Some(payload) if !outer.has("op") => {
            Members::read(payload.get()).map_err(|_| FieldError::new("payload", "is no object"))?
        }
        None if !outer.has("op") && outer.has("payload") => return Ok(Effect::None),
        _ => outer,
    };
    let op = event.get("op").and_then(members::string).ok_or_else(|| FieldError::new("op", "is required"))?;
    if op == "m" {
        return Ok(Effect::None);
    }
    if !["c", "r", "u", "d", "t"].contains(&op.as_ref()) {
        return Err(FieldError::new("op", "must be c, r, u, d, t or m"));
    }
    let source = event.get("source").ok_or_else(|| FieldError::new("source", "is required"))?;
    let source = Members::read(source.get()).map_err(|_| FieldError::new("source", "is no object"))?;
    let name = source.get("table").and_then(members::string);
    let name = name.ok_or_else(|| FieldError::new("source.table", "is required"))?;
    let position = position(&source, &event)?;
    let row = match op.as_ref() {
        "t" => None,
        "d" => Some(
            event
                .get("before")
                .or_else(|| event.get("after"))
                .ok_or_else(|| FieldError::new("before", "is required"))?,
        ),
        _ => Some(event.get("after").ok_or_else(|| FieldError::new("after", "is required"))?),
    };
    let row = row.map(|row| Members::read(row.get())).transpose();
    let row = row.map_err(|_| FieldError::new(if op == "d" { "before" } else { "after" }, "is no object"))?;
    let Some((name, table)) = tables.tables.get_key_value(name.as_ref()) else { return Ok(Effect::None) };
    let Some(row) = row else {
        let position = position.unwrap_or(Position::Time(received_at));
        return Ok(Effect::Truncate { table: name.as_str().into(), position });
    };
    let origin = row::EventOrigin { position, received_at };
    let order = row::order(&row, name, table, tables, origin, (op == "d").then_some(Status::Removed))?;
    Ok(Effect::Order(Arc::new(order)))
}

/// Position of the event in the history of its database: the offset in its log, else the time of the change (docs/orderbook.md).
fn position(source: &Members<'_>, event: &Members<'_>) -> Result<Option<Position>, FieldError> {
    if let Some(lsn) = source.get("lsn") {
        return Ok(Some(Position::Log(0, fields::integer("source.lsn", lsn)?)));
    }
    if let Some(offset) = source.get("pos") {
        // Offsets count anew in every file; the names of files end in a number.
        let file = source.get("file").and_then(members::string).unwrap_or_default();
        let digits = file.rsplit(|letter: char| !letter.is_ascii_digit()).next().unwrap_or_default();
        let file = digits.parse().unwrap_or_default();
        return Ok(Some(Position::Log(file, fields::integer("source.pos", offset)?)));
    }
    // The database's own time comes first: an event that is sent again has it again.
    for members in [source, event] {
        if let Some(time) = members.get("ts_us") {
            return Ok(Some(Position::Time(fields::integer("ts_us", time)?)));
        }
        if let Some(time) = members.get("ts_ms") {
            return Ok(Some(Position::Time(fields::integer("ts_ms", time)?.saturating_mul(1_000))));
        }
    }
    Ok(None)
}
