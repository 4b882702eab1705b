//! The HTTP server: JSON-RPC by POST to `/`, REST under `/rest/`.

use data_encoding::BASE64;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::header::{ALLOW, AUTHORIZATION, CONTENT_TYPE, HeaderValue, WWW_AUTHENTICATE};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

use super::RpcContext;
use crate::rest;

/// Largest request body, in bytes; Bitcoin Core's limit.
const BODY_BYTES_MAX: usize = 32 << 20;
/// Largest body of a REST request, in bytes; it needs no credentials and holds a few outpoints at most.
const REST_BODY_BYTES_MAX: usize = 64 << 10;
/// Connections served at a time; further ones wait to be accepted.
const CONNECTIONS_MAX: usize = 256;
/// Time for a client to send its request.
const READ_TIMEOUT: Duration = Duration::from_secs(30);
/// The content type of answers that neither JSON-RPC nor REST gives.
const HTML: &str = "text/html; charset=ISO-8859-1";
/// Time that running requests get to finish at the end.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// The `Authorization` header that lets a client in.
pub(crate) fn basic_authorization(user: &str, password: &str) -> String {
    format!("Basic {}", BASE64.encode(format!("{user}:{password}").as_bytes()))
}

/// Compares without revealing by its duration where the texts differ.
fn same_secret(left: &[u8], right: &[u8]) -> bool {
    left.len() == right.len() && left.iter().zip(right).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}

/// Serves until `stop` turns true.
pub(crate) async fn serve(
    listener: TcpListener,
    context: Arc<RpcContext>,
    authorization: String,
    mut stop: watch::Receiver<bool>,
) {
    let authorization: Arc<str> = authorization.into();
    let permits = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let graceful = GracefulShutdown::new();
    loop {
        let permit = tokio::select! {
            permit = Arc::clone(&permits).acquire_owned() => permit,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        let Ok(permit) = permit else { break };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Out of file handles, most likely: wait for some to come back instead of spinning.
                tracing::warn!(%error, "the devnet could not accept a connection");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let _ = stream.set_nodelay(true);
        let (context, authorization) = (Arc::clone(&context), Arc::clone(&authorization));
        let service = service_fn(move |request| {
            let (context, authorization) = (Arc::clone(&context), Arc::clone(&authorization));
            async move { Ok::<_, Infallible>(handle(request, context, &authorization).await) }
        });
        let connection = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(READ_TIMEOUT)
            .serve_connection(TokioIo::new(stream), service);
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection to the devnet ended early");
            }
            drop(permit);
        });
    }
    drop(listener);
    if tokio::time::timeout(DRAIN_TIMEOUT, graceful.shutdown()).await.is_err() {
        tracing::debug!("some connections to the devnet were still open at the end");
    }
}

type Reply = Response<Full<Bytes>>;

fn respond(status: StatusCode, content_type: Option<&'static str>, body: impl Into<Bytes>) -> Reply {
    let mut reply = Response::new(Full::new(body.into()));
    *reply.status_mut() = status;
    if let Some(content_type) = content_type {
        reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    }
    reply
}

async fn handle(request: Request<Incoming>, context: Arc<RpcContext>, authorization: &str) -> Reply {
    let path = request.uri().path();
    if path.starts_with("/rest/") {
        return handle_rest(request, context).await;
    }
    if path != "/" {
        return respond(StatusCode::NOT_FOUND, Some(HTML), "");
    }
    if request.method() != Method::POST {
        let text = "JSONRPC server handles only POST requests";
        let mut reply = respond(StatusCode::METHOD_NOT_ALLOWED, Some(HTML), text);
        reply.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
        return reply;
    }
    let given = request.headers().get(AUTHORIZATION).map_or(&b""[..], |value| value.as_bytes().trim_ascii());
    if !same_secret(given, authorization.as_bytes()) {
        let mut reply = respond(StatusCode::UNAUTHORIZED, Some(HTML), "");
        reply.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Basic realm=\"jsonrpc\""));
        return reply;
    }
    let body = match read_body(request, BODY_BYTES_MAX).await {
        Ok(body) => body,
        Err(reply) => return reply,
    };
    let answer = tokio::task::spawn_blocking(move || {
        let answer = super::answer(&context, &body);
        let body = answer.body.map(|body| format!("{body}\n"));
        (answer.status, body)
    });
    let Ok((status, body)) = answer.await else {
        return respond(StatusCode::INTERNAL_SERVER_ERROR, Some("text/plain"), "the request could not be finished");
    };
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    match body {
        Some(body) => respond(status, Some("application/json"), body),
        None => respond(status, None, ""),
    }
}

async fn handle_rest(request: Request<Incoming>, context: Arc<RpcContext>) -> Reply {
    let uri = request.uri().clone();
    let body = match read_body(request, REST_BODY_BYTES_MAX).await {
        Ok(body) => body,
        Err(reply) => return reply,
    };
    let answer = tokio::task::spawn_blocking(move || {
        rest::answer(&context.node, uri.path(), uri.query().unwrap_or_default(), &body)
    });
    match answer.await {
        Ok(answer) => {
            let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            respond(status, Some(answer.content_type), answer.body)
        }
        Err(_) => respond(StatusCode::INTERNAL_SERVER_ERROR, Some("text/plain"), "the request could not be finished"),
    }
}

async fn read_body(request: Request<Incoming>, bytes_max: usize) -> Result<Bytes, Reply> {
    let body = Limited::new(request.into_body(), bytes_max).collect();
    match tokio::time::timeout(READ_TIMEOUT, body).await {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(respond(
            StatusCode::PAYLOAD_TOO_LARGE,
            Some("text/plain"),
            format!("the body is larger than {bytes_max} bytes"),
        )),
        Ok(Err(_)) => Err(respond(StatusCode::BAD_REQUEST, Some("text/plain"), "the body could not be read")),
        Err(_) => Err(respond(StatusCode::REQUEST_TIMEOUT, Some("text/plain"), "the body did not arrive in time")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_of_dev_and_dev_is_the_one_of_rfc_7617() {
        assert_eq!(basic_authorization("dev", "dev"), "Basic ZGV2OmRldg==");
    }
}
