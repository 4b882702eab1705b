use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hickory_resolver::TokioResolver;
use hickory_resolver::config::{NameServerConfig, ResolverConfig};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::rr::Name;
use http_body_util::Full;
use hyper::client::conn::http1;
use hyper::rt::{Read, Write};
use hyper::{Method, Request};
use hyper_rustls::ConfigBuilderExt as _;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, Error as TlsError};

use crate::WebhookSettings;
use crate::destination::Destination;
use crate::source::BoxFuture;

/// Addresses of a server that are tried.
const ADDRESSES_MAX: usize = 3;
/// Longest head of an answer, bytes. Its body is not read.
const HEAD_BYTES_MAX: usize = 16 << 10;

/// One attempt to send a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// Address of the receiver.
    pub url: String,
    /// `webhook-id`.
    pub id: String,
    /// `webhook-timestamp`.
    pub timestamp_seconds: i64,
    /// `webhook-signature`.
    pub signature: String,
    /// Body, JSON.
    pub body: Bytes,
}

/// Transport of messages.
pub trait Transport: Send + Sync + 'static {
    /// Sends a message; returns the status of the answer, or a sentence for the owner of the endpoint.
    fn post(&self, attempt: Attempt) -> BoxFuture<'static, Result<u16, String>>;
}

/// HTTP over connections of one request each. The name is looked up here, every address of it is checked, and the connection is
/// made to a checked address; redirects are not followed.
#[derive(Clone)]
pub struct HttpTransport(Arc<Client>);

struct Client {
    settings: WebhookSettings,
    /// Or the reason why names cannot be looked up on this machine.
    resolver: Result<TokioResolver, String>,
    tls: Result<TlsConnector, String>,
}

impl HttpTransport {
    /// A transport with these settings. Where the machine cannot look up names, each attempt fails with that reason.
    pub fn new(settings: WebhookSettings) -> Self {
        let resolver = resolver(&settings.name_servers);
        Self(Arc::new(Client { settings, resolver, tls: tls() }))
    }
}

impl Transport for HttpTransport {
    fn post(&self, attempt: Attempt) -> BoxFuture<'static, Result<u16, String>> {
        let client = Arc::clone(&self.0);
        Box::pin(async move {
            let time = client.settings.attempt_time();
            let late = |_| Err(format!("no answer within {} seconds", time.as_secs()));
            tokio::time::timeout(time, client.post(attempt)).await.unwrap_or_else(late)
        })
    }
}

impl Client {
    async fn post(&self, attempt: Attempt) -> Result<u16, String> {
        let destination = Destination::parse(&attempt.url, &self.settings).map_err(|error| error.to_string())?;
        let stream = self.connect(&destination).await?;
        if !destination.is_encrypted {
            return send(TokioIo::new(stream), &destination, attempt).await;
        }
        let name = ServerName::try_from(destination.host.clone()).map_err(|_| "the name is none for TLS".to_owned())?;
        let stream = self.tls.as_ref().map_err(Clone::clone)?.connect(name, stream).await;
        let stream = stream.map_err(|error| format!("no TLS: {}", paraffin_web::one_line(&error.to_string())))?;
        send(TokioIo::new(stream), &destination, attempt).await
    }

    /// A connection to an address that was checked.
    async fn connect(&self, destination: &Destination) -> Result<TcpStream, String> {
        let mut reason = String::new();
        for address in self.addresses(destination).await?.into_iter().take(ADDRESSES_MAX) {
            match TcpStream::connect(address).await {
                Ok(stream) => {
                    // Only a matter of speed.
                    let _ = stream.set_nodelay(true);
                    return Ok(stream);
                }
                Err(error) => reason = format!("cannot connect: {}", error.kind()),
            }
        }
        Err(reason)
    }

    async fn addresses(&self, destination: &Destination) -> Result<Vec<SocketAddr>, String> {
        let found: Vec<IpAddr> = match destination.host.parse() {
            Ok(address) => vec![address],
            Err(_) => {
                let mut name =
                    Name::from_ascii(&destination.host).map_err(|_| "the host is no domain name".to_owned())?;
                // With its final dot no search domain of the system is tried.
                name.set_fqdn(true);
                let found = self.resolver.as_ref().map_err(Clone::clone)?.lookup_ip(name).await;
                found.map_err(|_| "the name has no address".to_owned())?.iter().collect()
            }
        };
        destination.choose(found, &self.settings).map_err(|error| error.to_string())
    }
}

/// Sends over a new connection and reads the head of the answer.
async fn send<S>(stream: S, destination: &Destination, attempt: Attempt) -> Result<u16, String>
where
    S: Read + Write + Unpin + Send + 'static,
{
    let failed = |_: hyper::Error| "the server does not speak HTTP, or closed the connection".to_owned();
    let (mut sender, connection) =
        http1::Builder::new().max_buf_size(HEAD_BYTES_MAX).handshake(stream).await.map_err(failed)?;
    let request = Request::builder()
        .method(Method::POST)
        .uri(&destination.path)
        .header("host", &destination.authority)
        .header("user-agent", concat!("paraffin/", env!("CARGO_PKG_VERSION")))
        .header("content-type", "application/json")
        .header("connection", "close")
        .header("webhook-id", attempt.id)
        .header("webhook-timestamp", attempt.timestamp_seconds)
        .header("webhook-signature", attempt.signature)
        .body(Full::new(attempt.body))
        .map_err(|_| "the address cannot stand in a request".to_owned())?;
    let mut answer = std::pin::pin!(sender.send_request(request));
    // The connection ends with this future: bytes after the head are never read. Where it ends by itself, it has passed on the
    // answer or will not.
    let answer = tokio::select! {
        answer = &mut answer => answer,
        _ = connection => answer.await,
    };
    answer.map(|answer| answer.status().as_u16()).map_err(failed)
}

/// TLS with the authorities of the web.
fn tls() -> Result<TlsConnector, String> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error: TlsError| format!("no TLS: {error}"))?
        .with_webpki_roots()
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

fn resolver(name_servers: &[SocketAddr]) -> Result<TokioResolver, String> {
    let failed = |error: &dyn std::fmt::Display| format!("no name servers: {error}");
    let mut builder = if name_servers.is_empty() {
        TokioResolver::builder_tokio().map_err(|error| failed(&error))?
    } else {
        let server = |server: &SocketAddr| {
            let mut config = NameServerConfig::udp_and_tcp(server.ip());
            for connection in &mut config.connections {
                connection.port = server.port();
            }
            config
        };
        let config = ResolverConfig::from_parts(None, Vec::new(), name_servers.iter().map(server).collect());
        TokioResolver::builder_with_config(config, TokioRuntimeProvider::default())
    };
    let options = builder.options_mut();
    options.timeout = Duration::from_secs(3);
    options.attempts = 2;
    builder.build().map_err(|error| failed(&error))
}
