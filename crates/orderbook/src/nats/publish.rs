//! Events on their way into the stream: many at once, each acknowledged.

use std::collections::VecDeque;
use std::fmt::Write as _;

use async_nats::jetstream::Context;
use async_nats::jetstream::context::{PublishAckFuture, PublishError, PublishErrorKind};
use async_nats::jetstream::message::PublishMessage;
use bytes::Bytes;
use xxhash_rust::xxh3::xxh3_64;

use super::SUBJECT;
use crate::event::{Effect, Event};
use crate::order::Position;

/// Events of one request that may wait for their acknowledgement together.
pub(super) const WINDOW: usize = 1_000;

/// An event as it goes into the stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Outgoing {
    /// `Nats-Msg-Id`; none for an event without an effect.
    id: Option<String>,
    text: Bytes,
}

impl Outgoing {
    /// Of an event of `body`.
    pub(super) fn new(event: &Event<'_>, body: &Bytes) -> Self {
        Self { id: message_id(&event.effect), text: body.slice_ref(event.text.as_bytes()) }
    }
}

/// Table, key and position (docs/orderbook.md), and a digest of the order: two states of one order may have the same
/// position, for two changes can happen in one millisecond, and neither may be taken for the other.
fn message_id(effect: &Effect) -> Option<String> {
    let (table, key, position, digest) = match effect {
        Effect::None => return None,
        Effect::Order(order) => {
            let key = format!("{}/{}", order.source(), order.id());
            (order.table(), key, order.position(), xxh3_64(order.text()))
        }
        Effect::Truncate { table, position } => (table, String::new(), *position, 0),
    };
    let mut id = String::with_capacity(table.len() + key.len() + 48);
    // A header holds no control characters; names of tables are configured and may be anything.
    id.extend(table.chars().chain([':']).chain(key.chars()).filter(|letter| !letter.is_control()));
    // Writing to a string cannot fail.
    let _ = match position {
        Position::Time(micros) => write!(id, ":t{micros}"),
        Position::Log(0, offset) => write!(id, ":{offset}"),
        Position::Log(file, offset) => write!(id, ":{file}.{offset}"),
    };
    let _ = write!(id, ":{digest:016x}");
    Some(id)
}

/// Publishes events in their order. Returns the greatest number in the stream once each of them is acknowledged.
pub(super) async fn publish(context: &Context, stream: &str, events: Vec<Outgoing>) -> Result<u64, PublishError> {
    let mut waiting: VecDeque<PublishAckFuture> = VecDeque::with_capacity(WINDOW.min(events.len()));
    let mut newest = 0;
    for event in events {
        if waiting.len() == WINDOW {
            newest = newest.max(acknowledged(&mut waiting, stream).await?);
        }
        let mut message = PublishMessage::build().payload(event.text).expected_stream(stream);
        if let Some(id) = event.id {
            message = message.message_id(id);
        }
        waiting.push_back(context.send_publish(SUBJECT, message).await?);
    }
    while !waiting.is_empty() {
        newest = newest.max(acknowledged(&mut waiting, stream).await?);
    }
    Ok(newest)
}

/// Waits for the oldest acknowledgement.
async fn acknowledged(waiting: &mut VecDeque<PublishAckFuture>, stream: &str) -> Result<u64, PublishError> {
    let Some(next) = waiting.pop_front() else { return Ok(0) };
    let ack = next.await?;
    // A client that only answers has stored nothing in our stream.
    if ack.stream == stream { Ok(ack.sequence) } else { Err(PublishError::new(PublishErrorKind::StreamNotFound)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Tables;

    fn ids(body: &str) -> Vec<Option<String>> {
        let body = Bytes::from(body.to_owned());
        let events = crate::event::read(&body, &Tables::on("mainnet"), 7).unwrap();
        let outgoing: Vec<_> = events.iter().map(|event| Outgoing::new(event, &body)).collect();
        assert_eq!(outgoing.iter().map(|event| &event.text[..]).collect::<Vec<_>>(), {
            events.iter().map(|event| event.text.as_bytes()).collect::<Vec<_>>()
        });
        outgoing.into_iter().map(|event| event.id).collect()
    }

    #[test]
    fn an_event_that_is_sent_again_has_its_id_again_and_no_other_event_has_it() {
        let event = |id: &str, status: &str, lsn: u64, sent: u64| {
            format!(
                r#"{{"op":"u","ts_ms":{sent},"source":{{"table":"orbital_listings","lsn":{lsn}}},"after":{{"id":"{id}","status":"{status}"}}}}"#
            )
        };
        let first = ids(&event("clx1", "open", 9, 1)).remove(0).unwrap();
        assert!(first.starts_with("orbital_listings:orbitals/clx1:9:"), "{first}");
        assert_eq!(
            ids(&event("clx1", "open", 9, 2)),
            [Some(first.clone())],
            "the connector's own clock does not count"
        );
        for other in [event("clx2", "open", 9, 1), event("clx1", "filled", 9, 1), event("clx1", "open", 10, 1)] {
            assert_ne!(ids(&other), [Some(first.clone())]);
        }
        let others =
            ids(r#"[null, {"op":"m"}, {"op":"t","source":{"table":"lending_offers","file":"bin.000003","pos":4}},
            {"op":"c","source":{"table":"users"},"after":{}}]"#);
        assert_eq!(others, [None, None, Some("lending_offers::3.4:0000000000000000".to_owned()), None]);
    }
}
