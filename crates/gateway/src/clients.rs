//! The client address of a request that came through proxies.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use hyper::HeaderMap;
use hyper::header::HeaderName;
use serde::{Deserialize, Serialize};

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
/// Entries of `X-Forwarded-For` that are read; no deployment has that many proxies of its own.
const ENTRIES_MAX: usize = 32;

/// An address or a network such as `10.0.0.0/8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ProxyNet {
    address: IpAddr,
    bits: u8,
}

/// The text is neither an address nor a network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a proxy is an address such as 192.0.2.7 or a network such as 10.0.0.0/8")]
pub struct ParseProxyError;

impl ProxyNet {
    fn contains(self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(net), IpAddr::V4(address)) => {
                let shift = 32 - u32::from(self.bits);
                u32::from(net).checked_shr(shift) == u32::from(address).checked_shr(shift)
            }
            (IpAddr::V6(net), IpAddr::V6(address)) => {
                let shift = 128 - u32::from(self.bits);
                u128::from(net).checked_shr(shift) == u128::from(address).checked_shr(shift)
            }
            _ => false,
        }
    }
}

impl FromStr for ProxyNet {
    type Err = ParseProxyError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (address, bits) = text.split_once('/').map_or((text, None), |(address, bits)| (address, Some(bits)));
        let address: IpAddr = address.parse().map_err(|_| ParseProxyError)?;
        let width = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(width), str::parse).map_err(|_| ParseProxyError)?;
        if bits > width { Err(ParseProxyError) } else { Ok(Self { address, bits }) }
    }
}

impl TryFrom<String> for ProxyNet {
    type Error = ParseProxyError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<ProxyNet> for String {
    fn from(net: ProxyNet) -> Self {
        net.to_string()
    }
}

impl fmt::Display for ProxyNet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.address, self.bits)
    }
}

pub(crate) fn is_trusted(trusted: &[ProxyNet], address: IpAddr) -> bool {
    trusted.iter().any(|net| net.contains(address))
}

/// The client of a request: the peer, unless the peer is a proxy of ours; then the right-most address of
/// `X-Forwarded-For` that is none of ours, since everything to its left was written by the client. An entry that is
/// no address ends the search at the proxy that passed it on.
pub(crate) fn client_address(peer: SocketAddr, headers: &HeaderMap, trusted: &[ProxyNet]) -> IpAddr {
    let mut client = peer.ip();
    if trusted.is_empty() || !is_trusted(trusted, client) {
        return client;
    }
    let values: Vec<&str> = headers.get_all(FORWARDED_FOR).iter().map(|value| value.to_str().unwrap_or("")).collect();
    let entries = values.iter().rev().flat_map(|value| value.rsplit(',')).take(ENTRIES_MAX);
    for entry in entries {
        let Some(address) = entry_address(entry.trim()) else { return client };
        client = address;
        if !is_trusted(trusted, client) {
            return client;
        }
    }
    client
}

/// Whether a `Host` may be that of a public name. A page whose name resolves to this machine (DNS rebinding) sends its own name here.
pub(crate) fn is_public_name(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => name,
        _ => host,
    };
    let name = name.trim_end_matches('.');
    let is_address = name.starts_with('[') || name.parse::<IpAddr>().is_ok();
    let is_own = name.rsplit('.').next().is_some_and(|last| last.eq_ignore_ascii_case("localhost"));
    name.contains('.') && !is_address && !is_own
}

/// `192.0.2.1`, `192.0.2.1:1234`, `2001:db8::1`, `[2001:db8::1]` and `[2001:db8::1]:1234` are in use.
fn entry_address(entry: &str) -> Option<IpAddr> {
    let plain = entry.parse().ok();
    let with_port = || entry.parse::<SocketAddr>().ok().map(|address| address.ip());
    let bracketed = || entry.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    plain.or_else(with_port).or_else(bracketed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    fn client(peer: &str, forwarded: &[&str], trusted: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append(FORWARDED_FOR, HeaderValue::from_str(value).unwrap());
        }
        let trusted: Vec<ProxyNet> = trusted.iter().map(|net| net.parse().unwrap()).collect();
        client_address(SocketAddr::new(peer.parse().unwrap(), 1), &headers, &trusted).to_string()
    }

    #[test]
    fn the_header_counts_only_from_a_proxy_of_ours_and_only_its_right_most_foreign_entry() {
        let own = ["10.0.0.0/8", "::1"];
        assert_eq!(client("203.0.113.9", &["198.51.100.1"], &own), "203.0.113.9");
        assert_eq!(client("10.0.0.1", &["198.51.100.1"], &[]), "10.0.0.1");
        assert_eq!(client("10.0.0.1", &["198.51.100.1"], &own), "198.51.100.1");
        assert_eq!(client("10.0.0.1", &["1.2.3.4, 198.51.100.1"], &own), "198.51.100.1");
        assert_eq!(client("10.0.0.1", &["1.2.3.4, 198.51.100.1, 10.9.9.9"], &own), "198.51.100.1");
        assert_eq!(client("10.0.0.1", &["1.2.3.4", "198.51.100.1:4711"], &own), "198.51.100.1");
        assert_eq!(client("10.0.0.1", &["[2001:db8::1]:443"], &own), "2001:db8::1");
        assert_eq!(client("10.0.0.1", &["2001:db8::1"], &own), "2001:db8::1");
        assert_eq!(client("10.0.0.1", &["1.2.3.4, nonsense, 10.9.9.9"], &own), "10.9.9.9");
        assert_eq!(client("10.0.0.1", &[""], &own), "10.0.0.1");
        assert_eq!(client("10.0.0.1", &[], &own), "10.0.0.1");
        assert_eq!(client("10.0.0.1", &["10.0.0.2"], &own), "10.0.0.2");
        assert_eq!(client("::ffff:10.0.0.1", &["198.51.100.1"], &own), "198.51.100.1");
        assert_eq!(client("::1", &["198.51.100.1"], &own), "198.51.100.1");
    }

    #[test]
    fn a_public_name_has_a_domain() {
        for host in
            ["localhost", "localhost:8787", "127.0.0.1:8787", "[::1]:8787", "::1", "", "paraffin:8787", "a.localhost"]
        {
            assert!(!is_public_name(host), "{host}");
        }
        for host in ["evil.example", "EVIL.example:8787", "a.b.c:1", "evil.example.:80", "127.0.0.1.evil.example"] {
            assert!(is_public_name(host), "{host}");
        }
    }

    #[test]
    fn networks_have_a_length_that_fits() {
        for (text, inside, outside) in [
            ("10.0.0.0/8", "10.255.0.1", "11.0.0.1"),
            ("192.0.2.7", "192.0.2.7", "192.0.2.8"),
            ("2001:db8::/32", "2001:db8:5::1", "2001:db9::1"),
            ("0.0.0.0/0", "8.8.8.8", "::1"),
        ] {
            let net: ProxyNet = text.parse().unwrap();
            assert!(net.contains(inside.parse().unwrap()), "{text}");
            assert!(!net.contains(outside.parse().unwrap()), "{text}");
        }
        for text in ["", "10.0.0.0/33", "::/129", "10.0.0/8", "10.0.0.0/-1", "proxy.example.com"] {
            assert!(text.parse::<ProxyNet>().is_err(), "{text}");
        }
    }
}
