//! The stream as the server has it: made where it is missing, and compared with the book.

use std::time::Duration;

use async_nats::jetstream::ErrorCode;
use async_nats::jetstream::context::GetStreamErrorKind;
use async_nats::jetstream::stream::{Config, Info, RawMessageErrorKind, RetentionPolicy, StorageType, Stream};

use super::connect::Server;
use super::{SUBJECT, StreamError};
use crate::book_file::StreamPosition;

/// Time in which the server notices an event that it has already.
const DUPLICATE_WINDOW: Duration = Duration::from_secs(120);

/// Settings of a stream that a gateway creates.
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

/// Finds or makes the stream and compares it with the book, which ends at `position`. A stream that the book
/// came from is never recreated.
pub(super) async fn attach(server: &Server, name: &str, position: StreamPosition) -> Result<Stream, StreamError> {
    if !server.is_connected() {
        return Err(StreamError::away(server.why_away()));
    }
    let context = &server.context;
    let stream = match context.get_stream(name).await {
        Ok(stream) => stream,
        Err(error) => match error.kind() {
            GetStreamErrorKind::JetStream(error) if error.error_code() == ErrorCode::STREAM_NOT_FOUND => {
                if position.seq > 0 {
                    return Err(StreamError::Replaced { stream: name.to_owned(), book_seq: position.seq });
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
    follows(&stream, position).await?;
    Ok(stream)
}

/// Whether a stream that other software may have made stores all events for all gateways.
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
        tracing::warn!("the stream of the orderbook is stored in memory: events are lost when its server stops");
    }
    Ok(())
}

/// Whether the stream goes on where the book ends.
async fn follows(stream: &Stream, position: StreamPosition) -> Result<(), StreamError> {
    let info = stream.cached_info();
    let (name, state) = (&info.config.name, &info.state);
    if state.last_sequence < position.seq {
        return Err(StreamError::Replaced { stream: name.clone(), book_seq: position.seq });
    }
    has_next(info, position.seq)?;
    let Some(stored_at) = position.stored_at.filter(|_| state.first_sequence <= position.seq) else { return Ok(()) };
    match stream.get_raw_message(position.seq).await {
        Ok(message) if u64::try_from(message.time.unix_timestamp_nanos()).ok() == Some(stored_at) => Ok(()),
        Ok(_) => Err(StreamError::Replaced { stream: name.clone(), book_seq: position.seq }),
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
