use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use http_body_util::Full;
use hyper::{Request, Response};
use opentelemetry_http::{Bytes, HttpClient, HttpError};
use paraffin_web::{Connections, HttpsClient, describe, read_body};
use tokio::runtime::Handle;

/// Longest answer of a collector.
const ANSWER_BYTES_MAX: usize = 64 << 10;
/// How long an idle connection is kept.
const IDLE: Duration = Duration::from_secs(30);

/// Our HTTP client, for a thread outside the runtime.
pub(super) struct CollectorClient {
    client: HttpsClient,
    runtime: Handle,
    timeout: Duration,
}

impl CollectorClient {
    pub(super) fn new(timeout: Duration) -> Self {
        let client = Connections { timeout, idle: IDLE, per_host: 1 }.https();
        Self { client, runtime: Handle::current(), timeout }
    }
}

impl fmt::Debug for CollectorClient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("CollectorClient")
    }
}

#[async_trait]
impl HttpClient for CollectorClient {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (client, timeout) = (self.client.clone(), self.timeout);
        let exchange = async move {
            let response = client.request(request.map(Full::new)).await.map_err(|error| describe(&error))?;
            let (mut answer, status) = (Response::new(Bytes::new()), response.status());
            *answer.status_mut() = status;
            answer.headers_mut().clone_from(response.headers());
            *answer.body_mut() = read_body(response, ANSWER_BYTES_MAX).await?;
            Ok::<_, HttpError>(answer)
        };
        // Timers and connections can be created only within the runtime.
        self.runtime.spawn(async move { tokio::time::timeout(timeout, exchange).await }).await??
    }
}
