use std::sync::Arc;

use bytes::Bytes;
use paraffin_access::UnixMillis;
use serde_json::value::RawValue;
use tokio::sync::Semaphore;

use crate::backoff::retry_after_ms;
use crate::endpoint::{ATTEMPT_ERROR_CHARS_MAX, AttemptRecord, EndpointId, EndpointState};
use crate::http::{Attempt, Transport};
use crate::message::{EVENTS_MAX, Message};
use crate::secret::{SigningSecret, signature};
use crate::service::Clock;
use crate::source::{EventPage, EventSource, SourceError};
use crate::store::{Failure, Task, WebhookStore};
use crate::{WebhookError, WebhookSettings};

/// How long an endpoint waits after its source did not answer, milliseconds.
const SOURCE_RETRY_MS: i64 = 5_000;

/// Endpoints whose events are read at the same time.
const READS_MAX: usize = 4;

/// Result of one step of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// A message was acknowledged, or events that do not match the filter were skipped; there may be more.
    Moved,
    /// There are no events at the moment; the token by which a change of the owner is detected.
    AtTip(i64),
    /// The attempt failed and is made again later, or the endpoint is paused.
    Failed,
    /// Another instance has the endpoint, or its owner has changed it meanwhile.
    Lost,
}

/// Delivers messages for one instance.
pub struct Deliverer {
    pub(crate) store: WebhookStore,
    pub(crate) source: Arc<dyn EventSource>,
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) settings: WebhookSettings,
    pub(crate) clock: Clock,
    reads: Semaphore,
}

impl Deliverer {
    /// Delivers from `source` over `transport`.
    pub fn new(
        store: WebhookStore,
        source: Arc<dyn EventSource>,
        transport: Arc<dyn Transport>,
        settings: WebhookSettings,
        clock: Clock,
    ) -> Self {
        Self { store, source, transport, settings, clock, reads: Semaphore::new(READS_MAX) }
    }

    /// Delivers one message of an endpoint. For an endpoint this runs once at a time in one instance; dropped at any moment it
    /// loses nothing.
    ///
    /// # Errors
    /// [`WebhookError::Unavailable`], [`WebhookError::Source`].
    pub async fn deliver(&self, id: EndpointId) -> Result<Progress, WebhookError> {
        let Some(task) = self.store.take(id, self.now()).await? else { return Ok(Progress::Lost) };
        let message = match &task.message {
            Some(message) => message.clone(),
            None => match self.next_message(&task).await? {
                Ok(message) => message,
                Err(progress) => return Ok(progress),
            },
        };
        let began = self.now();
        let answer = self.attempt(&task.url, &task.secrets, &message).await;
        let attempt = record(&answer, began, self.now());
        match answer {
            Ok(200..=299) => {
                let is_ours = self.store.acknowledge(&task, &message, &attempt).await?;
                Ok(if is_ours { Progress::Moved } else { Progress::Lost })
            }
            Ok(status) => {
                let paused = (status == 410).then_some(EndpointState::Gone);
                self.fail(&task, Some(attempt), format!("the server answered {status}"), paused).await
            }
            Err(reason) => self.fail(&task, Some(attempt), reason, None).await,
        }
    }

    /// Sends a message once.
    ///
    /// # Errors
    /// The reason, as a sentence for the owner.
    pub(crate) async fn attempt(&self, url: &str, secrets: &[SigningSecret], message: &Message) -> Result<u16, String> {
        let timestamp_seconds = self.now() / 1_000;
        let attempt = Attempt {
            url: url.to_owned(),
            id: message.id.clone(),
            timestamp_seconds,
            signature: signature(secrets, &message.id, timestamp_seconds, message.body.as_bytes()),
            body: Bytes::from(message.body.clone()),
        };
        self.transport.post(attempt).await
    }

    pub(crate) fn now(&self) -> UnixMillis {
        (self.clock)()
    }

    /// The next message, stored before it is sent; or the reason why there is none.
    async fn next_message(&self, task: &Task) -> Result<Result<Message, Progress>, WebhookError> {
        let page = match self.page(task).await {
            Ok(page) => page,
            Err(SourceError::UnknownCursor(reason)) => {
                return Ok(Err(self.fail(task, None, reason, Some(EndpointState::Lost)).await?));
            }
            Err(error @ SourceError::Unavailable(_)) => {
                tracing::warn!(%error, endpoint = task.id.0, "a webhook waits for its events");
                self.store.defer(task, self.now().saturating_add(SOURCE_RETRY_MS)).await?;
                return Ok(Err(Progress::Failed));
            }
        };
        if page.events.is_empty() {
            let is_ours = page.cursor == task.cursor || self.store.pass_over(task, &page.cursor).await?;
            return Ok(Err(match (is_ours, page.is_at_tip) {
                (false, _) => Progress::Lost,
                (true, true) => Progress::AtTip(task.token),
                (true, false) => Progress::Moved,
            }));
        }
        let now = self.now();
        let message = Message::of_events(&page.events, page.cursor, now)?;
        Ok(if self.store.keep(task, &message, now).await? { Ok(message) } else { Err(Progress::Lost) })
    }

    /// Events that fit into a message; fewer where they are large.
    async fn page(&self, task: &Task) -> Result<EventPage, SourceError> {
        let filter = RawValue::from_string(task.filter.clone())
            .map_err(|_| SourceError::UnknownCursor("the filter is no JSON: set another one".to_owned()))?;
        // The semaphore is never closed.
        let _permit = self.reads.acquire().await;
        let mut count_max = EVENTS_MAX;
        loop {
            let page = self.source.after(&task.cursor, &filter, count_max).await?;
            let bytes: usize = page.events.iter().map(|event| event.get().len()).sum();
            if bytes <= self.settings.message_bytes_max || page.events.len() <= 1 {
                return Ok(page);
            }
            count_max = page.events.len() / 2;
        }
    }

    async fn fail(
        &self,
        task: &Task,
        attempt: Option<AttemptRecord>,
        reason: String,
        paused: Option<EndpointState>,
    ) -> Result<Progress, WebhookError> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(|error| WebhookError::NoRandomness(error.to_string()))?;
        let failures = task.failures.saturating_add(1);
        let at = self.now();
        let is_over = at.saturating_sub(task.failing_since.unwrap_or(at)) >= self.settings.pause_after_ms();
        let failure = Failure {
            reason,
            at,
            attempt,
            next_attempt_at: at.saturating_add(retry_after_ms(failures, u64::from_le_bytes(random))),
            state: paused.unwrap_or(if is_over { EndpointState::Failing } else { EndpointState::Active }),
        };
        let is_ours = self.store.fail(task, &failure).await?;
        Ok(if is_ours { Progress::Failed } else { Progress::Lost })
    }
}

fn record(answer: &Result<u16, String>, began: UnixMillis, at: UnixMillis) -> AttemptRecord {
    let error = answer.as_ref().err().map(|reason| reason.chars().take(ATTEMPT_ERROR_CHARS_MAX).collect());
    AttemptRecord { at, elapsed_ms: at.saturating_sub(began), status: answer.as_ref().ok().copied(), error }
}
