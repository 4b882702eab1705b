//! The stream as the server has it: made where it is missing, and compared with the book.

use std::time::Duration;

use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::context::GetStreamErrorKind;
use async_nats::jetstream::stream::{Config, Info, RawMessageErrorKind, RetentionPolicy, StorageType, Stream};

use super::connect::Server;
use super::{SUBJECT, StreamError};
use crate::kept::Place;

/// Time in which the server notices an event that it has already.
const DUPLICATE_WINDOW: Duration = Duration::from_secs(120);

/// What the gateways that make the stream make.
fn settings(name: &str) -> Config {
    Config {
        name: name.to_owned(),
        description: Some("change events of the orderbook".to_owned()),
        subjects: vec![SUBJECT.to_owned()],
        retention: RetentionPolicy::Limits,
        storage: StorageType::File,
        duplicate_window: DUPLICATE_WINDOW,
        num_replicas: 1,
        ..Config::default()
    }
}

/// Finds or makes the stream and compares it with the book, which ends at `place`. None is made in the place of one that the book
/// came from.
pub(super) async fn attach(server: &Server, name: &str, place: Place) -> Result<Stream, StreamError> {
    if !server.is_connected() {
        return Err(StreamError::away(server.why_away()));
    }
    let context = &server.context;
    let stream = match context.get_stream(name).await {
        Ok(stream) => stream,
        Err(error) => match error.kind() {
            GetStreamErrorKind::JetStream(error) if error.error_code() == ErrorCode::STREAM_NOT_FOUND => {
                if place.seq > 0 {
                    return Err(StreamError::Replaced { stream: name.to_owned(), book_seq: place.seq });
                }
                let made = context.create_stream(settings(name)).await;
                made.map_err(|error| StreamError::away(format!("the stream {name} cannot be made: {error}")))?;
                tracing::info!(stream = name, "made the stream of the orderbook");
                context.get_stream(name).await.map_err(StreamError::away)?
            }
            kind => return Err(StreamError::away(format!("the stream {name}: {kind}"))),
        },
    };
    fits(stream.cached_info())?;
    follows(&stream, place).await?;
    Ok(stream)
}

/// Whether a stream that other software may have made keeps all events for all gateways.
fn fits(info: &Info) -> Result<(), StreamError> {
    let unfit = |reason: String| Err(StreamError::Unfit { stream: info.config.name.clone(), reason });
    if info.config.subjects != [SUBJECT] {
        return unfit(format!("must have the one subject {SUBJECT}"));
    }
    if info.config.retention != RetentionPolicy::Limits {
        return unfit("must have the retention policy `limits`: every gateway reads every event".to_owned());
    }
    if info.config.max_messages_per_subject > 0 {
        return unfit("must have no limit of messages for each subject: all events have the same one".to_owned());
    }
    if info.config.storage != StorageType::File {
        tracing::warn!("the stream of the orderbook is kept in memory: events are lost when its server stops");
    }
    Ok(())
}

/// Whether the stream goes on where the book ends.
async fn follows(stream: &Stream, place: Place) -> Result<(), StreamError> {
    let info = stream.cached_info();
    let (name, state) = (&info.config.name, &info.state);
    if state.last_sequence < place.seq {
        return Err(StreamError::Replaced { stream: name.clone(), book_seq: place.seq });
    }
    has_next(info, place.seq)?;
    let Some(stored_at) = place.stored_at.filter(|_| state.first_sequence <= place.seq) else { return Ok(()) };
    match stream.get_raw_message(place.seq).await {
        Ok(message) if u64::try_from(message.time.unix_timestamp_nanos()).ok() == Some(stored_at) => Ok(()),
        Ok(_) => Err(StreamError::Replaced { stream: name.clone(), book_seq: place.seq }),
        // The operator took it out; the number is enough.
        Err(error) if error.kind() == RawMessageErrorKind::NoMessageFound => Ok(()),
        Err(error) => Err(StreamError::away(error)),
    }
}

/// Whether the event after `seq` was not removed from the beginning of the stream.
pub(super) fn has_next(info: &Info, seq: u64) -> Result<(), StreamError> {
    // A stream that never held anything begins at 0.
    if info.state.first_sequence > seq + 1 {
        return Err(StreamError::Gap {
            stream: info.config.name.clone(),
            first_seq: info.state.first_sequence,
            book_seq: seq,
        });
    }
    Ok(())
}
