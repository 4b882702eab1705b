//! One instance, and whether it is well.

use std::sync::Weak;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::{Request, StatusCode, Uri};
use paraffin_primitives::{Height, Network};
use paraffin_web::{HttpsClient, describe, read_body};
use serde::Deserialize;
use tokio::sync::watch;

/// Time between two questions for its health.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How long such a question may take.
const LOOK_TIMEOUT: Duration = Duration::from_secs(2);
/// Largest answer about health.
const HEALTH_BYTES_MAX: usize = 64 << 10;

/// What is known of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// Not asked yet.
    Unknown,
    /// It answers.
    Ready {
        /// Of its index.
        height: Height,
        /// Whether nothing that it needs is away.
        is_well: bool,
    },
    /// It answers that it is not ready: it starts, or stops.
    NotReady,
    /// It does not answer, or is none of ours.
    Away,
}

pub(super) struct Instance {
    /// What stands before the path of every request; never disclosed.
    pub(super) base: String,
    standing: watch::Sender<Standing>,
    /// A request failed since its health was asked for.
    has_failed: AtomicBool,
}

impl Instance {
    pub(super) fn new(address: &Uri) -> Self {
        let base = address.to_string().trim_end_matches('/').to_owned();
        Self { base, standing: watch::Sender::new(Standing::Unknown), has_failed: AtomicBool::new(false) }
    }

    pub(super) fn standing(&self) -> Standing {
        *self.standing.borrow()
    }

    pub(super) fn height(&self) -> Option<Height> {
        match self.standing() {
            Standing::Ready { height, .. } => Some(height),
            _ => None,
        }
    }

    /// A request failed: until its health is asked for again others are asked first.
    pub(super) fn failed(&self) {
        self.has_failed.store(true, Ordering::Relaxed);
    }

    /// Those with the lowest are asked first.
    pub(super) fn rank(&self) -> (bool, u8) {
        let rank = match self.standing() {
            Standing::Ready { .. } => 0,
            Standing::Unknown => 1,
            Standing::NotReady => 2,
            Standing::Away => 3,
        };
        (self.has_failed.load(Ordering::Relaxed), rank)
    }

    /// Ends once the instance is found to have gone away from now on.
    pub(super) async fn goes_away(&self) {
        let mut standing = self.standing.subscribe();
        while standing.changed().await.is_ok() {
            if *standing.borrow_and_update() == Standing::Away {
                return;
            }
        }
    }
}

/// The part of an instance's health that is looked at.
#[derive(Deserialize)]
struct Health {
    status: String,
    network: String,
    #[serde(default)]
    height: Option<Height>,
}

/// Asks for the health of an instance until the instance is dropped.
pub(super) fn watch(place: usize, instance: Weak<Instance>, client: HttpsClient, network: Network) {
    tokio::spawn(async move {
        let mut told = Standing::Unknown;
        loop {
            let Some(instance) = instance.upgrade() else { return };
            let found = match tokio::time::timeout(LOOK_TIMEOUT, look(&instance.base, &client, network)).await {
                Ok(Ok(standing)) => Ok(standing),
                Ok(Err(reason)) => Err(reason),
                Err(_) => Err("no answer in time".to_owned()),
            };
            let standing = *found.as_ref().unwrap_or(&Standing::Away);
            if std::mem::discriminant(&standing) != std::mem::discriminant(&told) {
                let reason = found.as_ref().err().map(|reason| crate::redact::redact(reason));
                tracing::warn!(instance = place, ?standing, reason, "an instance behind this gateway has changed");
            }
            told = standing;
            instance.has_failed.store(false, Ordering::Relaxed);
            instance.standing.send_if_modified(|known| std::mem::replace(known, standing) != standing);
            drop(instance);
            tokio::time::sleep(LOOK_EVERY).await;
        }
    });
}

async fn look(base: &str, client: &HttpsClient, network: Network) -> Result<Standing, String> {
    let request = Request::builder().uri(format!("{base}/v4/api/health")).body(Full::<Bytes>::default());
    let request = request.map_err(|_| "the address cannot be asked".to_owned())?;
    let response = client.request(request).await.map_err(|error| describe(&error))?;
    let status = response.status();
    if !matches!(status, StatusCode::OK | StatusCode::SERVICE_UNAVAILABLE) {
        return Err(format!("HTTP {} where its health was asked for", status.as_u16()));
    }
    let body = read_body(response, HEALTH_BYTES_MAX).await.map_err(|error| error.to_string())?;
    let health: Health = serde_json::from_slice(&body).map_err(|_| "no health in its answer".to_owned())?;
    if health.network != network.name() {
        return Err("it serves another network".to_owned());
    }
    Ok(match health.height {
        Some(height) if status == StatusCode::OK => Standing::Ready { height, is_well: health.status == "ok" },
        _ => Standing::NotReady,
    })
}
