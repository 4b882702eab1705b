use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use paraffin_access::{AccountId, UnixMillis};
use serde_json::value::RawValue;
use tokio::sync::{Notify, Semaphore};
use tokio::task::{Id, JoinSet};
use tokio::time::MissedTickBehavior;

use crate::delivery::{Deliverer, Progress};
use crate::destination::{Destination, DestinationError};
use crate::endpoint::{
    DESCRIPTION_CHARS_MAX, EndpointChanges, EndpointId, EndpointRecord, NewEndpoint, Owner, URL_BYTES_MAX,
};
use crate::http::{HttpTransport, Transport};
use crate::message::Message;
use crate::queue::DeliveryQueue;
use crate::secret::SigningSecret;
use crate::source::EventSource;
use crate::store::{Due, LEASE_MS, WebhookStore};
use crate::{WebhookError, WebhookSettings};

/// Interval of polling for endpoints that are due, and for those that another instance has released.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Messages that an endpoint gets before others have their turn.
const MESSAGES_AT_ONCE: usize = 10;
/// An endpoint with nothing to deliver is looked at again after this time even if no change was reported, milliseconds.
const IDLE_MS: i64 = 300_000;
/// How long messages on their way have when the instance stops.
const STOP: Duration = Duration::from_secs(3);
/// Pings that are sent at the same time.
const PINGS_MAX: usize = 8;

/// Milliseconds since the Unix epoch.
pub type Clock = Arc<dyn Fn() -> UnixMillis + Send + Sync>;

/// First event of a new endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Start {
    /// With the next block.
    #[default]
    Tip,
    /// With the events of this block.
    Height(u32),
    /// After this position.
    Cursor(String),
}

/// An owner's request about an endpoint.
#[derive(Debug, Clone, Default)]
pub struct EndpointRequest {
    /// URL of the receiver; a new endpoint needs one.
    pub url: Option<String>,
    /// Filter of the events.
    pub filter: Option<Box<RawValue>>,
    /// First event, or the position to resume from.
    pub start: Option<Start>,
    /// Description by the owner; an empty one removes it.
    pub description: Option<String>,
}

/// Result of a ping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestOutcome {
    /// Of the answer, where there was one.
    pub status: Option<u16>,
    /// The error where there was none, or why it is no acknowledgement.
    pub error: Option<String>,
    /// Identifier of the message.
    pub message_id: String,
    /// Time that it took, milliseconds.
    pub elapsed_ms: i64,
}

/// The webhooks of an instance: operations of owners, and the delivery.
pub struct Webhooks {
    deliverer: Arc<Deliverer>,
    wake: Notify,
    pings: Semaphore,
}

impl Webhooks {
    /// Events of `source` over HTTP. Messages are delivered once [`Webhooks::run`] runs.
    pub fn new(store: WebhookStore, settings: WebhookSettings, source: Arc<dyn EventSource>, clock: Clock) -> Self {
        let transport: Arc<dyn Transport> = Arc::new(HttpTransport::new(settings.clone()));
        Self::with(Deliverer::new(store, source, transport, settings, clock))
    }

    /// As [`Webhooks::new`], over another transport.
    pub fn with(deliverer: Deliverer) -> Self {
        Self { deliverer: Arc::new(deliverer), wake: Notify::new(), pings: Semaphore::new(PINGS_MAX) }
    }

    /// Makes an endpoint; its secret is shown this once. Without a filter its events are the blocks, without a start they begin
    /// with the next block.
    ///
    /// # Errors
    /// See [`WebhookError`].
    pub async fn create(
        &self,
        owner: Owner<'_>,
        request: EndpointRequest,
    ) -> Result<(EndpointRecord, SigningSecret), WebhookError> {
        let Deliverer { store, settings, .. } = &*self.deliverer;
        let EndpointChanges { url, filter, cursor, description } = self.checked(request).await?;
        let url = url.ok_or(DestinationError::Malformed("is missing"))?;
        let filter = match filter {
            Some(filter) => filter,
            None => self.check_filter(&RawValue::from_string("{}".to_owned())?).await?,
        };
        let cursor = match cursor {
            Some(cursor) => cursor,
            None => self.cursor(&Start::Tip).await?,
        };
        let description = description.filter(|text| !text.is_empty());
        let new = NewEndpoint { url, filter, cursor, description };
        let made = store.create(owner, &new, settings, self.now()).await?;
        self.wake.notify_one();
        Ok(made)
    }

    /// The endpoints of an account, by number.
    ///
    /// # Errors
    /// [`WebhookError::Unavailable`].
    pub async fn list(&self, account: AccountId) -> Result<Vec<EndpointRecord>, WebhookError> {
        self.deliverer.store.list(account, self.now()).await
    }

    /// An endpoint of an account.
    ///
    /// # Errors
    /// [`WebhookError::NoSuchEndpoint`], [`WebhookError::Unavailable`].
    pub async fn get(&self, account: AccountId, id: EndpointId) -> Result<EndpointRecord, WebhookError> {
        self.deliverer.store.get(account, id, self.now()).await
    }

    /// Blocks between the acknowledged position of an endpoint and the newest block; `None` where that is not known.
    pub fn blocks_behind(&self, endpoint: &EndpointRecord) -> Option<u32> {
        self.deliverer.source.blocks_behind(&endpoint.cursor)
    }

    /// Changes an endpoint; absent members stay unchanged.
    ///
    /// # Errors
    /// See [`WebhookError`].
    pub async fn update(
        &self,
        owner: Owner<'_>,
        id: EndpointId,
        request: EndpointRequest,
    ) -> Result<EndpointRecord, WebhookError> {
        let changes = self.checked(request).await?;
        let changed = self.deliverer.store.update(owner, id, &changes, self.now()).await?;
        self.wake.notify_one();
        Ok(changed)
    }

    /// Stops the delivery of an endpoint.
    ///
    /// # Errors
    /// As [`Webhooks::get`].
    pub async fn pause(&self, owner: Owner<'_>, id: EndpointId) -> Result<EndpointRecord, WebhookError> {
        self.deliverer.store.pause(owner, id, self.now()).await
    }

    /// Resumes the delivery of an endpoint at its position.
    ///
    /// # Errors
    /// As [`Webhooks::get`].
    pub async fn resume(&self, owner: Owner<'_>, id: EndpointId) -> Result<EndpointRecord, WebhookError> {
        let resumed = self.deliverer.store.resume(owner, id, self.now()).await?;
        self.wake.notify_one();
        Ok(resumed)
    }

    /// Gives an endpoint a new secret, which is shown this once. For [`crate::GRACE_MS`] the one before signs as well.
    ///
    /// # Errors
    /// As [`Webhooks::get`], and [`WebhookError::NoRandomness`].
    pub async fn rotate_secret(
        &self,
        owner: Owner<'_>,
        id: EndpointId,
    ) -> Result<(EndpointRecord, SigningSecret), WebhookError> {
        self.deliverer.store.rotate_secret(owner, id, self.now()).await
    }

    /// Ends an endpoint.
    ///
    /// # Errors
    /// As [`Webhooks::get`].
    pub async fn delete(&self, owner: Owner<'_>, id: EndpointId) -> Result<EndpointRecord, WebhookError> {
        self.deliverer.store.delete(owner, id, self.now()).await
    }

    /// Sends a ping once, now; also to an endpoint that is paused.
    ///
    /// # Errors
    /// As [`Webhooks::get`], and [`WebhookError::Busy`].
    pub async fn test(&self, account: AccountId, id: EndpointId) -> Result<TestOutcome, WebhookError> {
        let Ok(_permit) = self.pings.try_acquire() else { return Err(WebhookError::Busy) };
        let (began, store) = (self.now(), &self.deliverer.store);
        let endpoint = store.get(account, id, began).await?;
        let secrets = store.secrets(account, id, began).await?;
        let ping = Message::ping(id.0, began)?;
        let answer = self.deliverer.attempt(&endpoint.url, &secrets, &ping).await;
        let error = match &answer {
            Ok(200..=299) => None,
            Ok(status) => Some(format!("the server answered {status}")),
            Err(reason) => Some(reason.clone()),
        };
        let elapsed_ms = self.now().saturating_sub(began);
        Ok(TestOutcome { status: answer.ok(), error, message_id: ping.id, elapsed_ms })
    }

    /// Delivers until `stop` ends; messages on their way then have some seconds, and other instances take over at once.
    pub async fn run(&self, stop: impl Future<Output = ()> + Send) {
        let mut stop = std::pin::pin!(stop);
        let mut round = Round::new(Arc::clone(&self.deliverer));
        let mut look = tokio::time::interval(LOOK_EVERY);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let source = Arc::clone(&self.deliverer.source);
        let mut changed = source.changed();
        loop {
            tokio::select! {
                () = &mut stop => break,
                () = &mut changed => {
                    changed = source.changed();
                    round.idle.clear();
                    round.changes += 1;
                    round.look().await;
                }
                () = self.wake.notified() => round.look().await,
                _ = look.tick() => round.look().await,
                Some(ended) = round.running.join_next_with_id() => round.ended(ended),
            }
            round.begin();
        }
        round.stop().await;
        self.deliverer.store.close().await;
    }

    fn now(&self) -> UnixMillis {
        self.deliverer.now()
    }

    /// The request in its stored form.
    async fn checked(&self, request: EndpointRequest) -> Result<EndpointChanges, WebhookError> {
        let EndpointRequest { url, filter, start, description } = request;
        if let Some(url) = &url {
            self.check_url(url)?;
        }
        check_description(description.as_deref())?;
        let filter = match &filter {
            Some(filter) => Some(self.check_filter(filter).await?),
            None => None,
        };
        let cursor = match &start {
            Some(start) => Some(self.cursor(start).await?),
            None => None,
        };
        Ok(EndpointChanges { url, filter, cursor, description })
    }

    fn check_url(&self, url: &str) -> Result<(), WebhookError> {
        if url.len() > URL_BYTES_MAX {
            return Err(WebhookError::UrlTooLong);
        }
        Destination::parse(url, &self.deliverer.settings)?;
        Ok(())
    }

    async fn check_filter(&self, filter: &RawValue) -> Result<String, WebhookError> {
        let checked = self.deliverer.source.check(filter).await.map_err(WebhookError::Filter)?;
        Ok(checked.get().to_owned())
    }

    async fn cursor(&self, start: &Start) -> Result<String, WebhookError> {
        let source = &self.deliverer.source;
        match start {
            Start::Tip => Ok(source.tip().await?),
            Start::Height(height) => Ok(source.before_height(*height).await?),
            Start::Cursor(cursor) => source.check_cursor(cursor).map_err(WebhookError::Position),
        }
    }
}

fn check_description(description: Option<&str>) -> Result<(), WebhookError> {
    let is_long = description.is_some_and(|text| text.chars().count() > DESCRIPTION_CHARS_MAX);
    if is_long { Err(WebhookError::DescriptionTooLong) } else { Ok(()) }
}

/// An endpoint without anything to deliver.
struct Idle {
    token: i64,
    since: UnixMillis,
}

/// The deliveries in flight.
struct Round {
    deliverer: Arc<Deliverer>,
    running: JoinSet<Result<Progress, WebhookError>>,
    /// With the number of changes that had been reported when each began.
    tasks: HashMap<Id, (Due, u64)>,
    queue: DeliveryQueue,
    idle: HashMap<EndpointId, Idle>,
    changes: u64,
    renewed_at: UnixMillis,
}

impl Round {
    fn new(deliverer: Arc<Deliverer>) -> Self {
        Self {
            queue: DeliveryQueue::new(deliverer.settings.attempts_per_account_max),
            deliverer,
            running: JoinSet::new(),
            tasks: HashMap::new(),
            idle: HashMap::new(),
            changes: 0,
            renewed_at: 0,
        }
    }

    /// Reads the due endpoints from the database.
    async fn look(&mut self) {
        let now = self.deliverer.now();
        if now.saturating_sub(self.renewed_at) >= LEASE_MS / 3 {
            match self.deliverer.store.renew(now).await {
                Ok(()) => self.renewed_at = now,
                Err(error) => tracing::warn!(%error, "the leases of webhooks were not renewed"),
            }
        }
        match self.deliverer.store.due(now).await {
            Ok(due) => {
                let is_idle = |due: &Due| {
                    let idle = self.idle.get(&due.id);
                    idle.is_some_and(|idle| idle.token == due.token && now.saturating_sub(idle.since) < IDLE_MS)
                };
                self.queue.replace(due.into_iter().filter(|due| !is_idle(due)));
            }
            Err(error) => tracing::warn!(%error, "webhooks wait for their database"),
        }
    }

    /// Starts waiting deliveries, as many as may run.
    fn begin(&mut self) {
        while self.running.len() < self.deliverer.settings.attempts_max
            && let Some(due) = self.queue.begin()
        {
            let deliverer = Arc::clone(&self.deliverer);
            let task = self.running.spawn(async move {
                let mut progress = Progress::Moved;
                for _ in 0..MESSAGES_AT_ONCE {
                    progress = deliverer.deliver(due.id).await?;
                    if progress != Progress::Moved {
                        break;
                    }
                }
                Ok(progress)
            });
            self.tasks.insert(task.id(), (due, self.changes));
        }
    }

    fn ended(&mut self, ended: Result<(Id, Result<Progress, WebhookError>), tokio::task::JoinError>) {
        let (task, outcome) = match ended {
            Ok((task, outcome)) => (task, outcome),
            Err(error) => {
                tracing::error!(%error, "the delivery of a webhook has ended early");
                if let Some((due, _)) = self.tasks.remove(&error.id()) {
                    self.queue.end(due);
                }
                return;
            }
        };
        let Some((due, changes)) = self.tasks.remove(&task) else { return };
        self.queue.end(due);
        match outcome {
            Ok(Progress::Moved) => self.queue.push(due),
            // A change that came meanwhile may not have been seen.
            Ok(Progress::AtTip(_)) if changes != self.changes => self.queue.push(due),
            Ok(Progress::AtTip(token)) => {
                self.idle.insert(due.id, Idle { token, since: self.deliverer.now() });
            }
            Ok(Progress::Failed | Progress::Lost) => {}
            Err(error) => tracing::warn!(%error, endpoint = due.id.0, "a webhook was not delivered"),
        }
    }

    async fn stop(mut self) {
        let all = async { while self.running.join_next().await.is_some() {} };
        // Messages that are not acknowledged by then are sent again.
        let _ = tokio::time::timeout(STOP, all).await;
        self.running.shutdown().await;
    }
}
