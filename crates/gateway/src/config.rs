use std::net::{Ipv4Addr, SocketAddr};

use hyper::header::HeaderName;
use serde::{Deserialize, Serialize};

use paraffin_access::{ProofSettings, Secret, ThrottleSettings};

use crate::clients::ProxyNet;
use crate::limits::Limits;

/// `[access]`: who may call beyond the holder of a key in the path; every member has a default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AccessConfig {
    /// Whether an alias that allows it may stand in the path of a keyed surface.
    pub keyed_surfaces_by_alias: bool,
    /// Whether `/v4/jsonrpc/<surface>` takes the key of a keyed surface from a header.
    pub keyed_surfaces_by_header: bool,
    /// Proxies whose `X-Forwarded-For` is trusted: addresses or networks.
    pub trusted_proxies: Vec<ProxyNet>,
    /// How callers without credentials are slowed down.
    pub keyless: ThrottleSettings,
    /// How the owner of an origin proves ownership.
    pub proof: ProofSettings,
    /// `postgres://user:password@host:port/database`: accounts, saved scripts and records of verification are there, for several
    /// gateways. Absent: in files of the data folder. The program that starts the gateway opens it.
    pub database_url: Option<Secret>,
    /// `redis://user:password@host:port/number`: windows that gateways share exactly; with `database_url`. Absent: each counts by
    /// itself and learns of the others within half a second.
    pub redis_url: Option<Secret>,
    /// Gateways that share `redis_url`; while it is unavailable each grants this part of every limit.
    pub gateways: u32,
    /// Longest wait for an answer of Redis, in milliseconds; beyond it a gateway decides alone.
    pub redis_timeout_ms: u64,
}

impl Default for AccessConfig {
    fn default() -> Self {
        Self {
            keyed_surfaces_by_alias: false,
            keyed_surfaces_by_header: false,
            trusted_proxies: Vec::new(),
            keyless: ThrottleSettings::default(),
            proof: ProofSettings::default(),
            database_url: None,
            redis_url: None,
            gateways: 1,
            redis_timeout_ms: 100,
        }
    }
}

impl AccessConfig {
    /// Checks for values with which no caller could be served.
    pub(crate) fn check(&self) -> Result<(), String> {
        let ThrottleSettings { burst, refill_per_minute, clients_max, .. } = self.keyless;
        if burst == 0 || refill_per_minute == 0 || clients_max == 0 {
            return Err("access.keyless: burst, refill_per_minute and clients_max must be at least 1".to_owned());
        }
        if refill_per_minute > 60_000_000 || burst > 1_000_000 {
            return Err("access.keyless: burst or refill_per_minute is too large".to_owned());
        }
        Ok(())
    }
}

/// Upper limit of `drain_seconds`: load balancers check more often.
const DRAIN_SECONDS_MAX: u64 = 600;

/// Settings of the gateway; every member has a default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GatewayConfig {
    /// Listening address of the API.
    pub listen: SocketAddr,
    /// Listening address of `/metrics`; `None`: not served. Never the API's own address.
    pub metrics_listen: Option<SocketAddr>,
    /// Names of the headers that may carry a key, any letter case (docs/configuration.md).
    pub key_headers: Vec<String>,
    /// One log line per request.
    pub access_log: bool,
    /// Seconds, at most 600, during which a stopping server still answers while its health reports `draining`.
    pub drain_seconds: u64,
    /// All limits.
    pub limits: Limits,
}

impl GatewayConfig {
    /// Checks for values with which no request could be served.
    pub(crate) fn check(&self) -> Result<(), String> {
        let limits = &self.limits;
        for (name, value) in [
            ("body_bytes_max", limits.body_bytes_max),
            ("header_bytes_max", limits.header_bytes_max),
            ("json_depth_max", limits.json_depth_max),
            ("batch_entries_max", limits.batch_entries_max),
            ("batch_parallel_max", limits.batch_parallel_max),
            ("calls_per_request_max", limits.calls_per_request_max),
            ("held_bytes_max", limits.held_bytes_max),
            ("simulation_bytes_max", limits.simulation_bytes_max),
            ("contracts_bytes_max", limits.contracts_bytes_max),
            ("hosted_views_max", limits.hosted_views_max),
            ("response_bytes_max", limits.response_bytes_max),
            ("connections_max", limits.connections_max),
            ("connections_per_client_max", limits.connections_per_client_max),
            ("store_reads_max", limits.store_reads_max),
            ("list_records_max", limits.list_records_max),
            ("family_requests_max", limits.family_requests_max),
            ("family_answer_bytes_max", limits.family_answer_bytes_max),
            ("forwarded_requests_max", limits.forwarded_requests_max),
        ] {
            if value == 0 || value > isize::MAX as usize / 8 {
                return Err(format!("gateway.limits.{name} must be at least 1 and a sensible number"));
            }
        }
        if self.drain_seconds > DRAIN_SECONDS_MAX {
            return Err(format!("gateway.drain_seconds must be at most {DRAIN_SECONDS_MAX}"));
        }
        if limits.large_body_bytes_max < limits.body_bytes_max {
            return Err("gateway.limits.large_body_bytes_max must not be below body_bytes_max".to_owned());
        }
        if !(1..=100).contains(&limits.caller_held_percent) {
            return Err("gateway.limits.caller_held_percent must be from 1 to 100".to_owned());
        }
        let (share, percent) = (limits.caller_held_bytes_max(), limits.caller_held_percent);
        if share < limits.response_bytes_max.max(limits.large_body_bytes_max) {
            return Err(format!(
                "gateway.limits.held_bytes_max gives one caller {share} bytes ({percent} percent): that must be enough for \
                 response_bytes_max ({}) and for large_body_bytes_max ({})",
                limits.response_bytes_max, limits.large_body_bytes_max
            ));
        }
        match self.key_headers.iter().find(|name| HeaderName::try_from(name.as_str()).is_err()) {
            Some(name) => Err(format!("gateway.key_headers holds `{}`, which is no header name", name.escape_debug())),
            None => Ok(()),
        }
    }
}

impl Default for GatewayConfig {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8787)),
            metrics_listen: None,
            key_headers: vec!["x-service-api-key".to_owned(), "x-subfrost-api-key".to_owned()],
            access_log: true,
            drain_seconds: 5,
            limits: Limits::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_with_which_nothing_could_be_served_are_named() {
        assert_eq!(GatewayConfig::default().check(), Ok(()));
        let with = |change: fn(&mut GatewayConfig)| {
            let mut config = GatewayConfig::default();
            change(&mut config);
            config.check().unwrap_err()
        };
        assert!(with(|config| config.limits.connections_max = 0).contains("connections_max"));
        assert!(with(|config| config.limits.store_reads_max = usize::MAX).contains("store_reads_max"));
        assert!(with(|config| config.drain_seconds = 601).contains("drain_seconds"));
        assert!(with(|config| config.limits.large_body_bytes_max = 1).contains("large_body_bytes_max"));
        assert!(with(|config| config.limits.caller_held_percent = 0).contains("caller_held_percent"));
        assert!(with(|config| config.limits.held_bytes_max = 200 << 20).contains("response_bytes_max (67108864)"));
        assert!(with(|config| config.key_headers.push("a b".to_owned())).contains("key_headers"));
    }
}
