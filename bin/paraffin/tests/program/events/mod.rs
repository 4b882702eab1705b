//! Streams of events and webhooks, as clients that lose their connection, their server and their branch see them.

mod client;
mod content;
mod delivered;
mod receiver;
mod schedules;

use std::time::{Duration, Instant};

use self::client::Client;
use self::receiver::Receiver;

/// How long a client may need to come to the newest block.
const PATIENCE: Duration = Duration::from_secs(60);

/// Reads until the receiver stands at the end of a block.
#[track_caller]
fn follow_to(client: &mut Client, receiver: &mut Receiver, end: &str) {
    let begun = Instant::now();
    while receiver.cursor.as_deref() != Some(end) {
        assert!(begun.elapsed() < PATIENCE, "{:?} is not {end}", receiver.cursor);
        if let Some(text) = client.read(Duration::from_millis(200)) {
            receiver.take(&text);
        }
    }
}
