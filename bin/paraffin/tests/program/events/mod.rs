//! Streams of events and webhooks, as clients that lose their connection, their server and their branch see them.

mod client;
mod content;
mod delivered;
mod receiver;
mod schedules;

use std::time::{Duration, Instant};

#[cfg(feature = "parquet")]
use serde_json::{Value, json};

use self::client::Client;
use self::receiver::Receiver;
#[cfg(feature = "parquet")]
use crate::support::dev::Dev;

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

/// All events of a kind on the chain of an instance, as its stream gives them.
#[cfg(feature = "parquet")]
pub fn history(dev: &Dev, kind: &str) -> Vec<Value> {
    let hash = dev.call("btc_getbestblockhash", json!([]));
    let end = format!("{}-{}-{}", dev.height(), hash.as_str().unwrap(), (1_u64 << 53) - 1);
    let path = format!("{}/events?from_height=0&kinds={kind}", dev.path());
    let (mut client, mut all) = (Client::sent(dev.listen(), &path), Receiver::default());
    follow_to(&mut client, &mut all, &end);
    all.events().collect()
}
