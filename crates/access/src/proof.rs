//! Proof that the account that registers an origin owns its domain: a DNS record or a file on its web server has the token.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use bytes::Bytes;
use hickory_resolver::TokioResolver;
use hickory_resolver::config::{NameServerConfig, ResolverConfig};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::rr::{Name, RData};
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::{Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use paraffin_web::is_public;
use serde::{Deserialize, Serialize};
use tokio::net::TcpStream;

use crate::store::AccessFuture;
use crate::{AccessError, KeyStore, OriginId, OriginPattern, OriginRecord, UnixMillis};

/// Label of the TXT record below the domain.
const DNS_LABEL: &str = "_paraffin";
/// Prefix of the token in the record.
const DNS_PREFIX: &str = "paraffin-verify=";
/// The file that holds the token.
const FILE: &str = "/.well-known/paraffin-verify.txt";
/// Time for one proof.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Largest file that is read.
const FILE_BYTES_MAX: usize = 4096;
/// Addresses of a web server that are tried.
const ADDRESSES_MAX: usize = 4;

/// Accepted proofs of ownership.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProofSettings {
    /// The token may be in a DNS TXT record.
    pub dns: bool,
    /// The token may be in a file on the web server, over plain HTTP.
    pub well_known: bool,
    /// Name servers; empty: those of the system.
    pub name_servers: Vec<SocketAddr>,
    /// Port of the web server for the file of an `https://` origin.
    pub http_port: u16,
    /// Whether web servers in private networks are queried. Not for an instance with which third parties may register origins.
    pub private_addresses: bool,
}

impl Default for ProofSettings {
    fn default() -> Self {
        Self { dns: true, well_known: true, name_servers: Vec::new(), http_port: 80, private_addresses: false }
    }
}

/// Checks the tokens of registered origins.
#[derive(Debug, Clone, Default)]
pub struct OwnershipProver(ProofSettings);

impl OwnershipProver {
    /// A prover with these settings.
    pub fn new(settings: ProofSettings) -> Self {
        Self(settings)
    }

    /// Whether ownership has to be proved: not when both kinds of proof are disabled.
    pub fn is_required(&self) -> bool {
        self.0.dns || self.0.well_known
    }

    /// Human-readable instructions for the owner of a domain; `None` when no proof is needed.
    pub fn instructions(&self, origin: &OriginRecord) -> Option<String> {
        let pattern: OriginPattern = origin.pattern.parse().ok()?;
        let domain = pattern.domain().filter(|_| origin.verified_at.is_none())?;
        let token = &origin.token;
        let dns = format!("set the DNS TXT record {DNS_LABEL}.{domain} to {DNS_PREFIX}{token}");
        let port = pattern.http_port().unwrap_or(self.0.http_port);
        let host = if port == 80 { domain.to_owned() } else { format!("{domain}:{port}") };
        let file = format!("serve a file at http://{host}{FILE} that holds {token}");
        match (self.0.dns, self.0.well_known) {
            (true, true) => Some(format!("{dns}\nor {file}")),
            (true, false) => Some(dns),
            (false, true) => Some(file),
            (false, false) => None,
        }
    }

    /// Registers an origin; one that needs no proof is served at once.
    ///
    /// # Errors
    /// As [`KeyStore::register_origin`].
    pub async fn register(
        &self,
        store: &dyn KeyStore,
        account: crate::AccountId,
        pattern: OriginPattern,
        actor: &str,
        now: UnixMillis,
    ) -> Result<OriginRecord, AccessError> {
        store.register_origin(account, pattern, !self.is_required(), actor, now).await
    }

    /// Looks up the token of a registered origin and, when it is there, activates the origin.
    ///
    /// # Errors
    /// [`AccessError::NotProved`] with the reasons; [`AccessError::NoSuchOrigin`]; those of the store.
    pub fn verify<'a>(
        &'a self,
        store: &'a dyn KeyStore,
        id: OriginId,
        actor: &'a str,
        now: UnixMillis,
    ) -> AccessFuture<'a, OriginRecord> {
        Box::pin(async move {
            let origins = store.origins().await?;
            let origin = origins.into_iter().find(|origin| origin.id == id).ok_or(AccessError::NoSuchOrigin)?;
            if origin.verified_at.is_some() {
                return Ok(origin);
            }
            let by = if self.is_required() { self.find(&origin).await? } else { "nothing asked for" };
            store.confirm_origin(id, by, actor, now).await
        })
    }

    async fn find(&self, origin: &OriginRecord) -> Result<&'static str, AccessError> {
        let pattern: OriginPattern = origin.pattern.parse()?;
        let Some(domain) = pattern.domain() else { return Ok("own machine") };
        let resolver = self.resolver()?;
        let mut reasons = Vec::new();
        if self.0.dns {
            match limited(in_dns(&resolver, domain, &origin.token)).await {
                Ok(()) => return Ok("dns"),
                Err(reason) => reasons.push(format!("DNS: {reason}")),
            }
        }
        if self.0.well_known {
            let port = pattern.http_port().unwrap_or(self.0.http_port);
            match limited(self.in_file(&resolver, domain, port, &origin.token)).await {
                Ok(()) => return Ok("well-known file"),
                Err(reason) => reasons.push(format!("file: {reason}")),
            }
        }
        Err(AccessError::NotProved(reasons.join("; ")))
    }

    fn resolver(&self) -> Result<TokioResolver, AccessError> {
        let failed = |error: &dyn std::fmt::Display| AccessError::NotProved(format!("no name servers: {error}"));
        let mut builder = if self.0.name_servers.is_empty() {
            TokioResolver::builder_tokio().map_err(|error| failed(&error))?
        } else {
            let servers = self.0.name_servers.iter().map(|server| name_server(*server)).collect();
            let config = ResolverConfig::from_parts(None, Vec::new(), servers);
            TokioResolver::builder_with_config(config, TokioRuntimeProvider::default())
        };
        let options = builder.options_mut();
        // A record that was set a moment ago must be seen, so nothing is cached.
        options.cache_size = 0;
        options.timeout = Duration::from_secs(3);
        options.attempts = 2;
        builder.build().map_err(|error| failed(&error))
    }

    async fn in_file(&self, resolver: &TokioResolver, domain: &str, port: u16, token: &str) -> Result<(), String> {
        let addresses: Vec<IpAddr> = match domain.parse() {
            Ok(address) => vec![address],
            Err(_) => {
                let name = absolute(domain)?;
                let found = resolver.lookup_ip(name).await.map_err(|_| format!("{domain} has no address"))?;
                found.iter().collect()
            }
        };
        // Who registers a name decides where it points; it must not point us at our own network (SSRF).
        let mut allowed =
            addresses.into_iter().filter(|address| self.0.private_addresses || is_public(*address)).peekable();
        if allowed.peek().is_none() {
            return Err(format!("{domain} has no public address"));
        }
        let mut reason = String::new();
        for address in allowed.take(ADDRESSES_MAX) {
            match fetch(SocketAddr::new(address, port), domain, port).await {
                Ok(text) if text.trim() == token => return Ok(()),
                Ok(_) => "the file holds another token".clone_into(&mut reason),
                Err(error) => reason = error,
            }
        }
        Err(reason)
    }
}

async fn limited(proof: impl Future<Output = Result<(), String>>) -> Result<(), String> {
    tokio::time::timeout(TIMEOUT, proof).await.unwrap_or_else(|_| Err("no answer in time".to_owned()))
}

fn name_server(server: SocketAddr) -> NameServerConfig {
    let mut config = NameServerConfig::udp_and_tcp(server.ip());
    for connection in &mut config.connections {
        connection.port = server.port();
    }
    config
}

/// The name with its final dot, so that no search domain is tried.
fn absolute(domain: &str) -> Result<Name, String> {
    let mut name = Name::from_ascii(domain).map_err(|_| format!("{domain} is no domain name"))?;
    name.set_fqdn(true);
    Ok(name)
}

async fn in_dns(resolver: &TokioResolver, domain: &str, token: &str) -> Result<(), String> {
    let name = absolute(&format!("{DNS_LABEL}.{domain}"))?;
    let found = resolver.txt_lookup(name).await.map_err(|_| format!("no TXT record {DNS_LABEL}.{domain}"))?;
    let wanted = format!("{DNS_PREFIX}{token}");
    let holds = found.answers().iter().any(|record| match &record.data {
        RData::TXT(text) => text.txt_data.concat() == wanted.as_bytes(),
        _ => false,
    });
    if holds { Ok(()) } else { Err(format!("the TXT record {DNS_LABEL}.{domain} holds another value")) }
}

/// GETs the file from one address. No redirect is followed and at most [`FILE_BYTES_MAX`] are read.
async fn fetch(address: SocketAddr, domain: &str, port: u16) -> Result<String, String> {
    let stream = TcpStream::connect(address).await.map_err(|_| "the web server does not answer".to_owned())?;
    let failed = |_: hyper::Error| "the web server does not speak HTTP".to_owned();
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(failed)?;
    let connection = tokio::spawn(connection);
    let host = if port == 80 { domain.to_owned() } else { format!("{domain}:{port}") };
    let request = Request::get(Uri::from_static(FILE))
        .header("host", host)
        .header("connection", "close")
        .body(Empty::<Bytes>::new())
        .map_err(|_| "the domain cannot stand in a request".to_owned())?;
    let response = sender.send_request(request).await.map_err(failed);
    let text = match response {
        Ok(response) if response.status() == StatusCode::OK => {
            let body = Limited::new(response.into_body(), FILE_BYTES_MAX).collect().await;
            let body = body.map_err(|_| "the file is too long".to_owned())?.to_bytes();
            Ok(String::from_utf8_lossy(&body).into_owned())
        }
        Ok(response) => Err(format!("the web server answered {}", response.status().as_u16())),
        Err(error) => Err(error),
    };
    connection.abort();
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_our_own_networks_are_not_public() {
        for text in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "192.0.2.1",
            "198.18.0.1",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "ff02::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "::ffff:127.0.0.1",
            "64:ff9b::7f00:1",
        ] {
            assert!(!is_public(text.parse().unwrap()), "{text}");
        }
        for text in ["1.1.1.1", "93.184.215.14", "2606:4700::1111", "2a00:1450::1"] {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
    }
}
