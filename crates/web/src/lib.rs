//! Requests to untrusted web servers: connections, addresses, bodies with a limit, failures without secrets.
//!
//! Redirects are not followed and requests are not retried; interpreting an answer is up to the caller.
#![forbid(unsafe_code)]

mod address;

use std::error::Error as StdError;
use std::io;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::header::CONTENT_LENGTH;
use hyper::{Request, Response, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::{self, connect::HttpConnector};
use hyper_util::rt::{TokioExecutor, TokioTimer};

pub use address::is_public;

/// Most bytes that are reserved for an answer before they arrive: its `Content-Length` is untrusted.
const RESERVE_BYTES_MAX: usize = 8 << 20;
/// Longest reason of a failure that is repeated, characters.
const REASON_CHARS_MAX: usize = 200;

/// A client for `http` alone.
#[derive(Debug, Clone)]
pub struct HttpClient(legacy::Client<HttpConnector, Full<Bytes>>);

impl HttpClient {
    /// Sends a request. Not generic, so that connections are compiled in this crate and not in each dependent.
    pub fn request(&self, request: Request<Full<Bytes>>) -> legacy::ResponseFuture {
        self.0.request(request)
    }
}

/// A client for `http` and `https`.
#[derive(Debug, Clone)]
pub struct HttpsClient(legacy::Client<HttpsConnector<HttpConnector>, Full<Bytes>>);

impl HttpsClient {
    /// As [`HttpClient::request`].
    pub fn request(&self, request: Request<Full<Bytes>>) -> legacy::ResponseFuture {
        self.0.request(request)
    }
}

/// Settings of connections.
#[derive(Debug, Clone, Copy)]
pub struct Connections {
    /// Timeout of connecting.
    pub timeout: Duration,
    /// How long an idle connection is kept.
    pub idle: Duration,
    /// Most idle connections to a host.
    pub per_host: usize,
}

impl Connections {
    /// A client that speaks plain HTTP.
    pub fn http(self) -> HttpClient {
        HttpClient(self.builder().build(self.connector()))
    }

    /// A client that speaks TLS as well, with the authorities of the web.
    pub fn https(self) -> HttpsClient {
        let mut connector = self.connector();
        connector.enforce_http(false);
        let tls = HttpsConnectorBuilder::new().with_webpki_roots().https_or_http().enable_http1();
        HttpsClient(self.builder().build(tls.wrap_connector(connector)))
    }

    fn connector(self) -> HttpConnector {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(self.timeout));
        connector
    }

    fn builder(self) -> legacy::Builder {
        let mut builder = legacy::Client::builder(TokioExecutor::new());
        builder.pool_timer(TokioTimer::new()).pool_idle_timeout(self.idle).pool_max_idle_per_host(self.per_host);
        builder
    }
}

/// Parses an `http` or `https` address for requests.
///
/// # Errors
/// The reason why it is invalid, to follow the name of the setting.
pub fn checked(url: &str) -> Result<Uri, &'static str> {
    let uri: Uri = url.parse().map_err(|_| "is not an address: write https://host/path")?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err("must begin with https:// or http://");
    }
    match uri.authority() {
        Some(authority) if authority.as_str().contains('@') => Err("must not hold a user and password"),
        Some(authority) if !authority.host().is_empty() => Ok(uri),
        _ => Err("names no host"),
    }
}

/// Errors of reading a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// It has, or announces, more bytes than the limit.
    #[error("an answer above the limit of {0} bytes")]
    TooLarge(usize),
    /// It exceeds the memory budget.
    #[error("there is no memory for the answer at the moment")]
    NoMemory,
    /// It ends too early.
    #[error("the connection closed in the middle of an answer")]
    Closed,
}

/// The whole body of an answer of at most `limit` bytes.
///
/// # Errors
/// See [`BodyError`].
pub async fn read_body(response: Response<Incoming>, limit: usize) -> Result<Bytes, BodyError> {
    read_body_while(response, limit, |_| true).await
}

/// As [`read_body`], and `keep` is called with the total bytes before more are buffered; `false` ends the read.
///
/// # Errors
/// See [`BodyError`].
pub async fn read_body_while(
    response: Response<Incoming>,
    limit: usize,
    mut keep: impl FnMut(usize) -> bool,
) -> Result<Bytes, BodyError> {
    let length = response.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse().ok());
    let length: u64 = length.unwrap_or(0);
    if length > limit as u64 {
        return Err(BodyError::TooLarge(limit));
    }
    if !keep(length as usize) {
        return Err(BodyError::NoMemory);
    }
    let mut body = response.into_body();
    let mut collected = BytesMut::with_capacity((length as usize).min(RESERVE_BYTES_MAX));
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame.map_err(|_| BodyError::Closed)?.into_data() else { continue };
        if collected.len() + data.len() > limit {
            return Err(BodyError::TooLarge(limit));
        }
        if !keep(collected.len() + data.len()) {
            return Err(BodyError::NoMemory);
        }
        collected.extend_from_slice(&data);
    }
    Ok(collected.freeze())
}

/// Why a request failed, without the address: the innermost I/O error if there is one, a failed handshake by its reason.
pub fn describe(error: &legacy::Error) -> String {
    let mut source: Option<&(dyn StdError + 'static)> = Some(error);
    while let Some(inner) = source {
        if let Some(io) = inner.downcast_ref::<io::Error>() {
            let reason = io.get_ref().map_or_else(|| io.kind().to_string(), |reason| one_line(&reason.to_string()));
            return if error.is_connect() { format!("cannot connect: {reason}") } else { reason };
        }
        source = inner.source();
    }
    if error.is_connect() { "cannot connect".to_owned() } else { "the connection closed before an answer".to_owned() }
}

/// The beginning of a text from outside, on one line, for logs and messages.
pub fn one_line(text: &str) -> String {
    text.chars().take(REASON_CHARS_MAX).map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use hyper::Method;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    const CONNECTIONS: Connections =
        Connections { timeout: Duration::from_secs(5), idle: Duration::from_secs(5), per_host: 1 };

    /// A server that gives every connection the same bytes and closes it.
    async fn server(answer: String) -> SocketAddr {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut request = [0; 1024];
                let _ = stream.read(&mut request).await;
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        address
    }

    fn request(address: SocketAddr) -> Request<Full<Bytes>> {
        Request::builder().method(Method::GET).uri(format!("http://{address}/")).body(Full::default()).unwrap()
    }

    async fn body(head: &str, body: &str, limit: usize) -> Result<Bytes, BodyError> {
        let address = server(format!("HTTP/1.1 200 OK\r\nconnection: close\r\n{head}\r\n{body}")).await;
        let response = CONNECTIONS.http().request(request(address)).await.unwrap();
        read_body(response, limit).await
    }

    #[tokio::test]
    async fn bodies_are_whole_and_within_the_limit_or_refused() {
        assert_eq!(body("content-length: 5\r\n", "12345", 5).await.as_deref(), Ok(b"12345".as_slice()));
        assert_eq!(body("", "12345", 5).await.as_deref(), Ok(b"12345".as_slice()));
        assert_eq!(body("content-length: 6\r\n", "123456", 5).await, Err(BodyError::TooLarge(5)));
        assert_eq!(body("", "123456", 5).await, Err(BodyError::TooLarge(5)));
        assert_eq!(body("content-length: 7\r\n", "12345", 10).await, Err(BodyError::Closed));
        // A length beyond any memory is refused before anything is reserved.
        assert_eq!(body("content-length: 4611686018427387904\r\n", "1", 10).await, Err(BodyError::TooLarge(10)));
    }

    #[tokio::test]
    async fn failures_are_described_by_their_kind_and_never_by_the_address() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let error = CONNECTIONS.http().request(request(address)).await.unwrap_err();
        assert_eq!(describe(&error), "cannot connect: connection refused");

        let address = server(String::new()).await;
        let error = CONNECTIONS.http().request(request(address)).await.unwrap_err();
        let description = describe(&error);
        assert!(!description.contains("127.0.0.1") && !description.is_empty(), "{description}");

        // Where TLS was expected and plain text came.
        let address = server("HTTP/1.1 400 Bad Request\r\n\r\n".to_owned()).await;
        let uri = format!("https://{address}/secret");
        let request = Request::builder().uri(uri).body(Full::default()).unwrap();
        let description = describe(&CONNECTIONS.https().request(request).await.unwrap_err());
        assert!(description.starts_with("cannot connect: ") && !description.contains("secret"), "{description}");
    }

    #[test]
    fn only_web_addresses_without_credentials_are_accepted() {
        for good in ["http://127.0.0.1:1", "https://host.example/v3/0123?app_id=x", "http://[::1]:1/?key=x"] {
            assert!(checked(good).is_ok(), "{good}");
        }
        for bad in ["", "host.example", "ftp://x", "ws://a", "https://user:pass@host/", "https://", "/path"] {
            assert!(checked(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_text_from_outside_becomes_one_short_line() {
        assert_eq!(one_line("a\nb\u{7}c"), "a b c");
        assert_eq!(one_line(&"é".repeat(1_000)).chars().count(), REASON_CHARS_MAX);
    }
}
