//! The WebSocket.

use std::sync::Arc;

use paraffin_events::Filter;
use serde::Deserialize;
use serde_json::json;
use tokio_tungstenite::tungstenite::Utf8Bytes;

use super::query::{Begin, Question};
use super::{error_message, error_text, subscribed};
use paraffin_gateway::events::{EventFeed, FeedError, Follower};
use paraffin_gateway::state::RequestContext;
use paraffin_gateway::websocket::{End, Gone, REPEAT_COST, Socket};

/// A message of a client.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Command {
    op: Operation,
    #[serde(default)]
    filter: Option<Filter>,
    #[serde(default)]
    cursor: Option<String>,
    #[serde(default)]
    from_height: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Operation {
    Subscribe,
    Unsubscribe,
    Ping,
}

struct Client {
    feed: Arc<EventFeed>,
    context: RequestContext,
    follower: Option<Follower>,
}

/// Serves one client until it disconnects. It is subscribed at once where its URL has a query.
pub(super) async fn serve(
    feed: Arc<EventFeed>,
    context: RequestContext,
    question: Option<Question>,
    mut socket: Socket,
) {
    let mut client = Client { feed, context, follower: None };
    // The client has been notified of the end already.
    let _ = client.run(&mut socket, question).await;
}

impl Client {
    async fn run(&mut self, socket: &mut Socket, question: Option<Question>) -> Result<(), Gone> {
        socket.send(self.hello()).await?;
        if let Some(question) = question {
            self.subscribe(socket, question).await?;
        }
        loop {
            let Some(follower) = &mut self.follower else {
                let text = socket.receive().await?;
                self.command(socket, &text).await?;
                continue;
            };
            let next = tokio::select! {
                biased;
                text = socket.receive() => Err(text?),
                next = follower.next() => Ok(next),
            };
            match next {
                Err(text) => self.command(socket, &text).await?,
                Ok(Ok(batch)) => {
                    let texts = batch.messages.iter().map(|message| Utf8Bytes::from(message.text.as_str()));
                    socket.send_all(texts).await?;
                }
                Ok(Err(error)) => self.fail(socket, &error).await?,
            }
        }
    }

    fn hello(&self) -> Utf8Bytes {
        // Absent while nothing is indexed.
        json!({ "type": "hello", "cursor": self.feed.tip().ok() }).to_string().into()
    }

    /// Ends the subscription with an error, or the stream where the error is internal.
    async fn fail(&mut self, socket: &mut Socket, error: &FeedError) -> Result<(), Gone> {
        self.follower = None;
        socket.send(error_text(error).into()).await?;
        match error {
            FeedError::Overloaded => socket.end(End::Overloaded).await,
            FeedError::Internal => socket.end(End::Internal).await,
            _ => return Ok(()),
        }
        Err(Gone)
    }

    async fn command(&mut self, socket: &mut Socket, text: &str) -> Result<(), Gone> {
        let command = match serde_json::from_str::<Command>(text) {
            Ok(command) => command,
            Err(error) => {
                let message = format!("the command cannot be read: {error}");
                return socket.send(error_message("malformed_message", &message).into()).await;
            }
        };
        match command.op {
            Operation::Ping => {
                let pong = json!({ "type": "pong", "cursor": self.feed.tip().ok() });
                socket.send(pong.to_string().into()).await
            }
            Operation::Unsubscribe => {
                self.follower = None;
                socket.send(json!({ "type": "unsubscribed" }).to_string().into()).await
            }
            Operation::Subscribe => {
                let Command { filter, cursor, from_height, .. } = command;
                match (Begin { cursor, from_height }).read() {
                    Err(message) => socket.send(error_message("invalid_cursor", &message).into()).await,
                    Ok(from) => {
                        let filter = filter.unwrap_or_default();
                        self.subscribe(socket, Question { filter, from }).await
                    }
                }
            }
        }
    }

    /// Replaces an earlier subscription.
    async fn subscribe(&mut self, socket: &mut Socket, question: Question) -> Result<(), Gone> {
        socket.charge(REPEAT_COST).await?;
        self.follower = None;
        let Question { filter, from } = question;
        match Follower::begin(Arc::clone(&self.feed), &self.context, filter, from).await {
            Ok(follower) => {
                socket.send(subscribed(&follower).into()).await?;
                self.follower = Some(follower);
                Ok(())
            }
            Err(error) => self.fail(socket, &error).await,
        }
    }
}
