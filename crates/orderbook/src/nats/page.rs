//! Events of the stream as its readers see them.

use async_nats::jetstream::Context;
use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::stream::{Info, Stream};
use bytes::Bytes;
use futures_util::StreamExt as _;
use serde_json::value::RawValue;

use super::StreamError;
use super::follow::from;
use crate::service::{EventsError, EventsPage, StoredEvent};

/// Messages of one pull request.
const PULL_MESSAGES: usize = 100;
/// Bytes of events after which a page ends, regardless of its limit.
const PAGE_BYTES: usize = 8 << 20;

/// At most `limit` messages after number `since`; those that are no JSON object are left out.
pub(super) async fn page(context: &Context, name: &str, since: u64, limit: usize) -> Result<EventsPage, EventsError> {
    let unavailable = |error: StreamError| {
        tracing::warn!(%error, "the events of the orderbook cannot be read");
        EventsError::Unavailable
    };
    let stream = context.get_stream(name).await.map_err(StreamError::away).map_err(unavailable)?;
    if let Some(page) = empty_page(stream.cached_info(), since)? {
        return Ok(page);
    }
    let reader = stream.create_consumer(from(since + 1)).await.map_err(StreamError::away).map_err(unavailable)?;
    let page = read(&reader, since, limit).await.map_err(unavailable);
    forget(&stream, &reader.cached_info().name).await;
    page
}

/// The page where there is nothing to read.
fn empty_page(info: &Info, since: u64) -> Result<Option<EventsPage>, EventsError> {
    if since >= info.state.last_sequence {
        return Ok(Some(EventsPage { events: Vec::new(), next: since, has_more: false }));
    }
    if info.state.first_sequence > since + 1 {
        return Err(EventsError::Gone { oldest: info.state.first_sequence });
    }
    Ok(None)
}

async fn read(reader: &PullConsumer, since: u64, limit: usize) -> Result<EventsPage, StreamError> {
    let mut page = EventsPage { events: Vec::new(), next: since, has_more: true };
    let (mut count, mut bytes) = (0, 0);
    while page.has_more && count < limit && bytes < PAGE_BYTES {
        let wanted = PULL_MESSAGES.min(limit - count);
        let mut messages = reader.fetch().max_messages(wanted).messages().await.map_err(StreamError::away)?;
        let before = count;
        while let Some(message) = messages.next().await {
            let message = message.map_err(StreamError::away)?;
            let info = message.info().map_err(StreamError::away)?;
            count += 1;
            bytes += message.payload.len();
            page.next = info.stream_sequence;
            page.has_more = info.pending > 0;
            let received_at = u64::try_from(info.published.unix_timestamp_nanos() / 1_000).unwrap_or_default();
            if let Some(text) = event_text(&message.payload) {
                page.events.push(StoredEvent { seq: info.stream_sequence, received_at, text });
            }
        }
        if count == before {
            break;
        }
    }
    Ok(page)
}

/// The JSON of an event; it is embedded without escaping, so it must be valid.
fn event_text(payload: &Bytes) -> Option<String> {
    let text = std::str::from_utf8(payload).ok()?;
    let value: &RawValue = serde_json::from_str(text).ok()?;
    (value.get().starts_with('{') || value.get() == "null").then(|| value.get().to_owned())
}

/// The server would forget the reader by itself; until then it would count.
async fn forget(stream: &Stream, reader: &str) {
    if let Err(error) = stream.delete_consumer(reader).await {
        tracing::debug!(%error, "a reader of events was left to the server");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_json_gets_into_a_page() {
        let text = |payload: &'static [u8]| event_text(&Bytes::from_static(payload));
        assert_eq!(text(b" {\"op\":\"m\"}\n").as_deref(), Some("{\"op\":\"m\"}"));
        assert_eq!(text(b"null").as_deref(), Some("null"));
        for alien in [&b"hello"[..], b"[1]", b"{} {}", b"\xff", b"", b"{\"op\":"] {
            assert_eq!(event_text(&Bytes::copy_from_slice(alien)), None, "{alien:?}");
        }
    }
}
