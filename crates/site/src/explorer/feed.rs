//! The feed of newest blocks for open pages.
//!
//! Server-sent events in answers that end: each waits for one event, and the browser reconnects with the id of the last one. So an
//! open page costs its caller three requests a minute, and each reconnect of a feed is counted as a request.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::response::{IntoResponse, Response};
use hyper::HeaderMap;
use hyper::header::{CONTENT_TYPE, HeaderName};
use paraffin_access::ClientNet;
use parking_lot::Mutex;
use serde_json::json;

use super::Reader;

/// The id of the last event that a browser has received, sent when it reconnects.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// How long an answer waits for an event.
const WAIT: Duration = Duration::from_secs(20);
/// Waiting answers, of all callers and of one.
const WAITING_MAX: usize = 512;
const WAITING_OF_CALLER_MAX: usize = 8;
/// Reconnect delay of browsers, milliseconds: after an answer, and after one that could not wait.
const RETRY_MS: u32 = 500;
const RETRY_LATER_MS: u32 = 30_000;

/// Answers that wait for an event.
#[derive(Default)]
pub(crate) struct Feeds(Mutex<HashMap<ClientNet, usize>>);

impl Feeds {
    /// A permit to wait, if the limits allow it.
    fn enter(self: &Arc<Self>, client: ClientNet) -> Option<Waiting> {
        let mut waiting = self.0.lock();
        let all: usize = waiting.values().sum();
        let own = waiting.get(&client).copied().unwrap_or(0);
        if all >= WAITING_MAX || own >= WAITING_OF_CALLER_MAX {
            return None;
        }
        waiting.insert(client, own + 1);
        Some(Waiting { feeds: Arc::clone(self), client })
    }
}

/// Held while an answer waits.
struct Waiting {
    feeds: Arc<Feeds>,
    client: ClientNet,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut waiting = self.feeds.0.lock();
        match waiting.get_mut(&self.client) {
            Some(count) if *count > 1 => *count -= 1,
            _ => {
                waiting.remove(&self.client);
            }
        }
    }
}

/// Answers with the newest block, once it differs from that of the last event.
pub(crate) async fn tips(Extension(feeds): Extension<Arc<Feeds>>, headers: HeaderMap, reader: Reader) -> Response {
    let known = headers.get(LAST_EVENT_ID).and_then(|id| id.to_str().ok()).unwrap_or_default().to_owned();
    let body = match feeds.enter(reader.visit().client.into()) {
        None => format!("retry: {RETRY_LATER_MS}\n\n"),
        Some(_waiting) => match tokio::time::timeout(WAIT, reader.tip_other_than(known)).await {
            Err(_) => format!("retry: {RETRY_MS}\n: nothing new\n\n"),
            Ok(tip) => {
                let data = json!({ "id": tip.id(), "height": tip.height, "hash": tip.hash, "time": tip.time });
                format!("retry: {RETRY_MS}\nid: {}\nevent: tip\ndata: {data}\n\n", tip.id())
            }
        },
    };
    ([(CONTENT_TYPE, "text/event-stream")], body).into_response()
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    #[test]
    fn waiting_answers_are_bounded_and_released() {
        let feeds = Arc::new(Feeds::default());
        let client = |number: u32| ClientNet::from(IpAddr::from(number.to_be_bytes()));
        let own: Vec<_> = (0..WAITING_OF_CALLER_MAX).map(|_| feeds.enter(client(1)).unwrap()).collect();
        assert!(feeds.enter(client(1)).is_none() && feeds.enter(client(2)).is_some());
        drop(own);
        // One subscriber has many addresses of IPv6.
        let line = |last: u16| ClientNet::from(IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, last]));
        let own: Vec<_> = (0..8).map(|last| feeds.enter(line(last)).unwrap()).collect();
        assert!(feeds.enter(line(9)).is_none());
        drop(own);
        let count = u32::try_from(WAITING_MAX).unwrap();
        let all: Vec<_> = (0..count).map(|number| feeds.enter(client(number)).unwrap()).collect();
        assert!(feeds.enter(client(count)).is_none());
        drop(all);
        assert!(feeds.0.lock().is_empty());
    }
}
