//! Server-sent events: the same messages as the body of an answer that does not end.

use std::fmt::Write as _;
use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use paraffin_events::Message;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::{error_text, subscribed};
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::events::{EventBody, Follower};
use paraffin_gateway::respond::Reply;
use paraffin_gateway::routes::Credential;
use paraffin_gateway::state::RequestContext;
use paraffin_gateway::websocket::StreamTicket;

/// Interval of keep-alive messages.
const PING_EVERY: Duration = Duration::from_secs(20);
/// Bytes that are sent together.
const PART_BYTES: usize = 64 << 10;

/// Answers with a stream that ends with the client, the server or the key.
pub(super) fn answer(context: &RequestContext, credential: Credential, follower: Follower) -> Result<Reply, ApiError> {
    let ticket = StreamTicket::enter(context, credential)?;
    let (parts, body) = EventBody::new();
    tokio::spawn(async move {
        // The client has disconnected.
        let _ = send(follower, ticket, parts).await;
    });
    Ok(Reply::stream(StatusCode::OK, "text/event-stream", body))
}

async fn send(mut follower: Follower, mut ticket: StreamTicket, parts: mpsc::Sender<Bytes>) -> Result<(), Gone> {
    let mut pings = interval_at(Instant::now() + PING_EVERY, PING_EVERY);
    pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
    parts.send(record("subscribed", None, &subscribed(&follower)).into()).await?;
    loop {
        let batch = tokio::select! {
            biased;
            () = ticket.ended() => return Ok(()),
            () = parts.closed() => return Ok(()),
            _ = pings.tick() => {
                parts.send(Bytes::from_static(b": ping\n\n")).await?;
                continue;
            }
            next = follower.next() => next,
        };
        let batch = match batch {
            Ok(batch) => batch,
            Err(error) => {
                parts.send(record("error", None, &error_text(&error)).into()).await?;
                return Ok(());
            }
        };
        let mut part = String::new();
        for (place, message) in batch.messages.iter().enumerate() {
            let Message { cursor, name, text } = message;
            part.push_str(&record(name, Some(&cursor.to_string()), text));
            if part.len() < PART_BYTES && place + 1 < batch.messages.len() {
                continue;
            }
            tokio::select! {
                biased;
                () = ticket.ended() => return Ok(()),
                sent = parts.send(std::mem::take(&mut part).into()) => sent?,
            }
        }
    }
}

/// The client has disconnected.
type Gone = mpsc::error::SendError<Bytes>;

/// One message. JSON has no line breaks of its own.
fn record(name: &str, id: Option<&str>, text: &str) -> String {
    let mut record = String::with_capacity(text.len() + 160);
    // Writing to a string cannot fail.
    if let Some(id) = id {
        let _ = writeln!(record, "id: {id}");
    }
    let _ = write!(record, "event: {name}\ndata: {text}\n\n");
    record
}
