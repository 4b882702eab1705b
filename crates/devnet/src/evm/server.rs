//! JSON-RPC by POST to any path.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

use super::answers::Answers;

/// Largest request body, bytes.
const BODY_BYTES_MAX: usize = 1 << 20;
/// Connections served at a time; further ones wait to be accepted.
const CONNECTIONS_MAX: usize = 64;
/// Time for a client to send its request.
const READ_TIMEOUT: Duration = Duration::from_secs(30);
/// Time that running requests get to finish at the end.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// Serves until `stop` turns true.
pub(super) async fn serve(listener: TcpListener, answers: Arc<Answers>, mut stop: watch::Receiver<bool>) {
    let permits = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let graceful = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            accepted = async { (Arc::clone(&permits).acquire_owned().await, listener.accept().await) } => accepted,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        let (Ok(permit), accepted) = accepted else { break };
        let Ok((stream, _)) = accepted else {
            // Out of file handles, most likely: wait for some to come back instead of spinning.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let answers = Arc::clone(&answers);
        let service = service_fn(move |request| {
            let answers = Arc::clone(&answers);
            async move { Ok::<_, Infallible>(handle(request, &answers).await) }
        });
        let connection = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(READ_TIMEOUT)
            .serve_connection(TokioIo::new(stream), service);
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection to the EVM endpoint ended early");
            }
            drop(permit);
        });
    }
    drop(listener);
    // What is still open after that is cut off.
    let _ = tokio::time::timeout(DRAIN_TIMEOUT, graceful.shutdown()).await;
}

async fn handle(request: Request<Incoming>, answers: &Answers) -> Response<Full<Bytes>> {
    let refuse = |status: StatusCode| {
        let mut response = Response::new(Full::default());
        *response.status_mut() = status;
        response
    };
    if request.method() != Method::POST {
        return refuse(StatusCode::METHOD_NOT_ALLOWED);
    }
    let body = Limited::new(request.into_body(), BODY_BYTES_MAX).collect();
    let Ok(body) = tokio::time::timeout(READ_TIMEOUT, body).await else { return refuse(StatusCode::REQUEST_TIMEOUT) };
    let Ok(body) = body else { return refuse(StatusCode::PAYLOAD_TOO_LARGE) };
    let answer = answers.answer(&body.to_bytes());
    if answer.is_empty() {
        return refuse(StatusCode::NO_CONTENT);
    }
    let mut response = Response::new(Full::new(Bytes::from(answer)));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
