use std::fmt;
use std::str::FromStr;

use crate::{AccessError, AccountId, Plan, UnixMillis};

/// Longest pattern and longest accepted `Origin`, in bytes: a host name has at most 253.
const ORIGIN_BYTES_MAX: usize = 280;

/// Most labels of a host name: each stands for one more pattern that has to be looked for.
const LABELS_MAX: usize = 10;

/// Number of a registered origin; never reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OriginId(pub i64);

/// Which pages a registration stands for (docs/access.md): one origin exactly, or `https://*.example.com` for all names
/// of one or more labels below a domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OriginPattern {
    text: String,
    host: String,
    scheme: &'static str,
    port: Option<u16>,
}

impl OriginPattern {
    /// The pattern as a browser would write the origin.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The domain whose ownership has to be proved; `None` for the own machine, which has no owner.
    pub fn domain(&self) -> Option<&str> {
        let local = matches!(self.host.as_str(), "localhost" | "127.0.0.1");
        (!local).then(|| self.host.strip_prefix("*.").unwrap_or(&self.host))
    }

    /// The port at which a plain HTTP server of that origin listens; `None` when the origin has TLS.
    pub(crate) fn http_port(&self) -> Option<u16> {
        (self.scheme == "http").then(|| self.port.unwrap_or(80))
    }
}

impl fmt::Display for OriginPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl FromStr for OriginPattern {
    type Err = AccessError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let refuse = |reason| Err(AccessError::InvalidOrigin(reason));
        if text.len() > ORIGIN_BYTES_MAX {
            return refuse("it is too long");
        }
        let text = text.to_ascii_lowercase();
        let (scheme, default_port, rest) = if let Some(rest) = text.strip_prefix("https://") {
            ("https", 443, rest)
        } else if let Some(rest) = text.strip_prefix("http://") {
            ("http", 80, rest)
        } else {
            return refuse("it must begin with https:// or http://");
        };
        let (host, port) = match rest.split_once(':') {
            None => (rest, None),
            Some((host, port)) => match port.parse::<u16>() {
                Ok(number) if number > 0 && number.to_string() == port => (host, Some(number)),
                _ => return refuse("what follows the host must be a port, with no path"),
            },
        };
        let name = host.strip_prefix("*.").unwrap_or(host);
        let wildcard = name.len() != host.len();
        if !is_host(name) {
            return refuse("the host must be a plain domain name, without a path and in its ASCII form");
        }
        if wildcard && (scheme != "https" || !name.contains('.') || name.parse::<std::net::Ipv4Addr>().is_ok()) {
            return refuse("a wildcard is https://*.domain.tld");
        }
        let port = port.filter(|port| *port != default_port);
        let text = port.map_or_else(|| format!("{scheme}://{host}"), |port| format!("{scheme}://{host}:{port}"));
        Ok(Self { text, host: host.to_owned(), scheme, port })
    }
}

/// Labels of letters, digits and inner hyphens.
fn is_host(name: &str) -> bool {
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    name.len() <= 253 && name.split('.').count() <= LABELS_MAX && name.split('.').all(label)
}

/// The patterns under which an `Origin` may be registered, the exact one first; empty when it is no origin of a page on
/// the web (`null`, another scheme, a path).
pub(crate) fn patterns_of(origin: &str) -> Vec<String> {
    // Browsers send the normalized form in which patterns are stored.
    let Ok(parsed) = origin.parse::<OriginPattern>() else { return Vec::new() };
    if parsed.text != origin || parsed.host.starts_with("*.") {
        return Vec::new();
    }
    let mut patterns = vec![parsed.text.clone()];
    if parsed.scheme == "https" && parsed.host.parse::<std::net::Ipv4Addr>().is_err() {
        let port = parsed.port.map_or_else(String::new, |port| format!(":{port}"));
        let mut rest = parsed.host.as_str();
        while let Some((_, parent)) = rest.split_once('.') {
            if parent.contains('.') {
                patterns.push(format!("https://*.{parent}{port}"));
            }
            rest = parent;
        }
    }
    patterns
}

/// One registered origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OriginRecord {
    /// Number of the registration.
    pub id: OriginId,
    /// The account that its requests count for.
    pub account: AccountId,
    /// Plan of the account.
    pub plan: Plan,
    /// The pages that it covers.
    pub pattern: String,
    /// The token by which the owner proves control of the domain.
    pub token: String,
    /// When it was registered.
    pub created_at: UnixMillis,
    /// Since when it is served; `None` until the ownership of the domain is proved.
    pub verified_at: Option<UnixMillis>,
    /// When a request was last counted.
    pub last_used_at: Option<UnixMillis>,
    /// Requests counted so far.
    pub request_count: i64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// row AU06
    #[test]
    fn patterns_are_exact_origins_one_wildcard_and_the_own_machine() {
        for (text, normalized, domain) in [
            ("https://app.example.com", "https://app.example.com", Some("app.example.com")),
            ("HTTPS://App.Example.com:443", "https://app.example.com", Some("app.example.com")),
            ("https://*.example.com", "https://*.example.com", Some("example.com")),
            ("http://example.com:8080", "http://example.com:8080", Some("example.com")),
            ("http://localhost:3000", "http://localhost:3000", None),
            ("http://127.0.0.1:5173", "http://127.0.0.1:5173", None),
        ] {
            let pattern: OriginPattern = text.parse().unwrap();
            assert_eq!((pattern.as_str(), pattern.domain()), (normalized, domain), "{text}");
        }
        for text in [
            "",
            "null",
            "*",
            "https://",
            "https://*",
            "https://*.com",
            "http://*.example.com",
            "https://a.*.com",
            "https://example.com/",
            "https://example.com/path",
            "https://user@example.com",
            "https://exam ple.com",
            "https://example.com:0",
            "https://example.com:99999",
            "https://example.com:080",
            "ftp://example.com",
            "https://-a.com",
            "https://é.com",
            "https://[::1]",
            "https://*.127.0.0.1",
            "https://example..com",
            "https://a.b.c.d.e.f.g.h.i.example.com",
        ] {
            assert!(text.parse::<OriginPattern>().is_err(), "{text}");
        }
    }

    /// row AU06
    #[test]
    fn a_wildcard_covers_one_or_more_labels_and_not_the_domain_itself() {
        let covered = |origin: &str| patterns_of(origin).contains(&"https://*.example.com".to_owned());
        assert!(covered("https://a.example.com") && covered("https://a.b.example.com"));
        for origin in [
            "https://example.com",
            "http://a.example.com",
            "https://a.example.com:8443",
            "https://a.example.com.evil.org",
            "https://aexample.com",
            "https://*.example.com",
            "https://a.example.com/",
            "null",
            "",
        ] {
            assert!(!covered(origin), "{origin}");
        }
        assert_eq!(patterns_of("http://localhost:3000"), ["http://localhost:3000"]);
        assert_eq!(patterns_of("https://a.b.c.d.e.f.g.h.example.com").len(), 9);
        assert!(patterns_of(&format!("https://{}example.com", "a.".repeat(9))).is_empty());
        assert!(patterns_of("null").is_empty() && patterns_of("https://A.example.com").is_empty());
    }

    proptest! {
        #[test]
        fn no_origin_panics(origin in "\\PC{0,300}") {
            let _ = patterns_of(&origin);
        }
    }
}
