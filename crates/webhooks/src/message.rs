use paraffin_access::{UnixMillis, time_text};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::WebhookError;

/// Events in one message.
pub const EVENTS_MAX: usize = 100;

/// A message that a receiver has to acknowledge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The same for all attempts.
    pub id: String,
    /// The body as it is sent.
    pub body: String,
    /// Position of the endpoint once it is acknowledged.
    pub cursor: String,
}

#[derive(Serialize)]
struct Payload<T> {
    r#type: &'static str,
    timestamp: String,
    data: T,
}

#[derive(Serialize)]
struct Events<'a> {
    cursor: &'a str,
    events: &'a [Box<RawValue>],
}

#[derive(Serialize)]
struct Ping {
    endpoint: i64,
}

impl Message {
    /// Events and the position after them.
    pub(crate) fn of_events(events: &[Box<RawValue>], cursor: String, now: UnixMillis) -> Result<Self, WebhookError> {
        let body = body("events", now, Events { cursor: &cursor, events })?;
        Ok(Self { id: new_id()?, body, cursor })
    }

    /// A message by which an owner tests an endpoint.
    pub(crate) fn ping(endpoint: i64, now: UnixMillis) -> Result<Self, WebhookError> {
        Ok(Self { id: new_id()?, body: body("ping", now, Ping { endpoint })?, cursor: String::new() })
    }
}

fn body<T: Serialize>(kind: &'static str, now: UnixMillis, data: T) -> Result<String, WebhookError> {
    let payload = Payload { r#type: kind, timestamp: time_text(now).unwrap_or_default(), data };
    Ok(serde_json::to_string(&payload)?)
}

/// An identifier that no other message has.
fn new_id() -> Result<String, WebhookError> {
    Ok(format!("msg_{}", random_digits()?))
}

/// 128 random bits in hexadecimal digits.
pub(crate) fn random_digits() -> Result<String, WebhookError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| WebhookError::NoRandomness(error.to_string()))?;
    Ok(data_encoding::HEXLOWER.encode(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_has_the_shape_of_standard_webhooks() {
        let event = RawValue::from_string(r#"{"kind":"block_connected","height":1}"#.to_owned()).unwrap();
        let message = Message::of_events(&[event], "1-aa".to_owned(), 0).unwrap();
        assert_eq!(
            message.body,
            r#"{"type":"events","timestamp":"1970-01-01T00:00:00.000Z","data":{"cursor":"1-aa","events":[{"kind":"block_connected","height":1}]}}"#
        );
        assert!(message.id.starts_with("msg_") && !message.id.contains('.'));
        assert_ne!(message.id, Message::ping(1, 0).unwrap().id);
    }
}
