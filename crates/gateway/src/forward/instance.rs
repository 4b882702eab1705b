//! One instance and its health.

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

/// Time between two health checks.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Time-out of a health check.
const LOOK_TIMEOUT: Duration = Duration::from_secs(2);
/// Largest answer to a health check, bytes.
const HEALTH_BYTES_MAX: usize = 64 << 10;

/// Last known state of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// Not checked yet.
    Unknown,
    /// It answers.
    Ready {
        /// Height of its index.
        height: Height,
        /// Whether its health is `ok`, not `degraded`.
        is_well: bool,
    },
    /// It reports that it is not ready: it is starting or stopping.
    NotReady,
    /// It does not answer, or is not an instance of this network.
    Away,
}

pub(super) struct Instance {
    /// Prefix of the URL of every request; never disclosed.
    pub(super) base: String,
    standing: watch::Sender<Standing>,
    /// A request has failed since the last health check.
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

    /// Records a failed request: other instances are asked first until the next health check.
    pub(super) fn failed(&self) {
        self.has_failed.store(true, Ordering::Relaxed);
    }

    /// Sort key: instances with the lowest rank are asked first.
    pub(super) fn rank(&self) -> (bool, u8) {
        let rank = match self.standing() {
            Standing::Ready { .. } => 0,
            Standing::Unknown => 1,
            Standing::NotReady => 2,
            Standing::Away => 3,
        };
        (self.has_failed.load(Ordering::Relaxed), rank)
    }

    /// Resolves when a later health check finds the instance unreachable.
    pub(super) async fn goes_away(&self) {
        let mut standing = self.standing.subscribe();
        while standing.changed().await.is_ok() {
            if *standing.borrow_and_update() == Standing::Away {
                return;
            }
        }
    }
}

/// The members of an instance's health that are read.
#[derive(Deserialize)]
struct Health {
    status: String,
    network: String,
    #[serde(default)]
    height: Option<Height>,
}

/// Checks the health of an instance until it is dropped.
pub(super) fn watch(index: usize, instance: Weak<Instance>, client: HttpsClient, network: Network) {
    tokio::spawn(async move {
        let mut logged = Standing::Unknown;
        loop {
            let Some(instance) = instance.upgrade() else { return };
            let found = match tokio::time::timeout(LOOK_TIMEOUT, look(&instance.base, &client, network)).await {
                Ok(Ok(standing)) => Ok(standing),
                Ok(Err(reason)) => Err(reason),
                Err(_) => Err("no answer in time".to_owned()),
            };
            let standing = *found.as_ref().unwrap_or(&Standing::Away);
            if std::mem::discriminant(&standing) != std::mem::discriminant(&logged) {
                let reason = found.as_ref().err().map(|reason| crate::redact::redact(reason));
                tracing::warn!(instance = index, ?standing, reason, "an instance behind this gateway has changed");
            }
            logged = standing;
            instance.has_failed.store(false, Ordering::Relaxed);
            instance.standing.send_if_modified(|known| std::mem::replace(known, standing) != standing);
            drop(instance);
            tokio::time::sleep(LOOK_EVERY).await;
        }
    });
}

async fn look(base: &str, client: &HttpsClient, network: Network) -> Result<Standing, String> {
    let request = Request::builder().uri(format!("{base}/v4/api/health")).body(Full::<Bytes>::default());
    let request = request.map_err(|_| "the address is invalid".to_owned())?;
    let response = client.request(request).await.map_err(|error| describe(&error))?;
    let status = response.status();
    if !matches!(status, StatusCode::OK | StatusCode::SERVICE_UNAVAILABLE) {
        return Err(format!("HTTP {} for a health check", status.as_u16()));
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
