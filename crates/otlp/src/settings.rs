use std::collections::BTreeMap;
use std::fmt;

use hyper::header::{HeaderName, HeaderValue};
use paraffin_spans::TracerSettings;
use serde::{Deserialize, Serialize};

/// Largest `spans_per_second` and `queue_spans`.
const SPANS_MAX: u32 = 100_000;

/// Traces cannot be exported as configured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    /// A member is wrong; the text names it and repeats no value.
    #[error("[tracing] {0}")]
    Setting(String),
    /// The exporter refuses its settings, those of the environment included.
    #[error("[tracing]: {0}")]
    Refused(String),
}

/// `[tracing]`: spans of requests and blocks, sent to an OpenTelemetry collector.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TracingSettings {
    /// Address of the collector, such as `http://127.0.0.1:4318`; `/v1/traces` is appended. Absent: nothing is recorded.
    pub endpoint: Option<String>,
    /// Part of the requests that is recorded, from 0 to 1. Requests with a `traceparent` follow its flag.
    pub sample: f64,
    /// Spans of requests recorded in a second at most, whatever callers ask for.
    pub spans_per_second: u32,
    /// Spans that may wait for the collector; about a KiB each.
    pub queue_spans: u32,
    /// `service.name` of the spans.
    pub service_name: String,
    /// Headers that are sent to the collector, such as a token. Never shown.
    pub headers: BTreeMap<String, String>,
    /// Whether the instances behind a gateway without a store get a `traceparent`.
    pub propagate: bool,
}

impl Default for TracingSettings {
    fn default() -> Self {
        Self {
            endpoint: None,
            sample: 0.01,
            spans_per_second: 500,
            queue_spans: 4_096,
            service_name: "paraffin".to_owned(),
            headers: BTreeMap::new(),
            propagate: false,
        }
    }
}

/// Shows no header and no address.
impl fmt::Debug for TracingSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("TracingSettings")
            .field("endpoint", &self.endpoint.is_some())
            .field("sample", &self.sample)
            .field("spans_per_second", &self.spans_per_second)
            .field("queue_spans", &self.queue_spans)
            .field("headers", &self.headers.len())
            .finish_non_exhaustive()
    }
}

impl TracingSettings {
    /// Whether spans are recorded.
    pub fn is_used(&self) -> bool {
        self.endpoint.is_some()
    }

    /// Finds what is wrong with the section, and whether this build can do what it asks for.
    ///
    /// # Errors
    /// [`ExportError::Setting`].
    pub fn check(&self) -> Result<(), ExportError> {
        let wrong = |text: &str| Err(ExportError::Setting(text.to_owned()));
        let Some(endpoint) = &self.endpoint else { return Ok(()) };
        if !cfg!(feature = "exporter") {
            return wrong(
                "endpoint needs a program built with the feature `otel`, and this one was built without it: build it with \
                 `cargo build --release --features otel`, or remove the setting",
            );
        }
        match paraffin_web::checked(endpoint) {
            Ok(uri) if uri.query().is_none() => {}
            Ok(_) => return wrong("endpoint must not hold a query"),
            Err(reason) => return Err(ExportError::Setting(format!("endpoint {reason}"))),
        }
        if !(0.0..=1.0).contains(&self.sample) {
            return wrong("sample must be from 0 to 1");
        }
        if !(1..=SPANS_MAX).contains(&self.spans_per_second) {
            return wrong("spans_per_second must be from 1 to 100000");
        }
        if !(64..=SPANS_MAX).contains(&self.queue_spans) {
            return wrong("queue_spans must be from 64 to 100000");
        }
        if self.service_name.is_empty() || self.service_name.len() > 255 {
            return wrong("service_name must have 1 to 255 bytes");
        }
        let is_header = |(name, value): (&String, &String)| {
            HeaderName::from_bytes(name.as_bytes()).is_ok() && HeaderValue::from_str(value).is_ok()
        };
        if !self.headers.iter().all(is_header) {
            return wrong("headers holds a name or a value that no HTTP header can have");
        }
        Ok(())
    }

    /// Which requests are recorded.
    pub fn tracer(&self) -> TracerSettings {
        TracerSettings { sample: self.sample, spans_per_second: self.spans_per_second, propagate: self.propagate }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn at(endpoint: &str) -> TracingSettings {
        TracingSettings { endpoint: Some(endpoint.to_owned()), ..TracingSettings::default() }
    }

    #[test]
    fn the_section_is_checked_and_never_shown() {
        assert_eq!(TracingSettings::default().check(), Ok(()));
        let mut secret = at("http://collector.example:4318");
        secret.headers.insert("authorization".to_owned(), "Bearer hunter2".to_owned());
        assert!(!format!("{secret:?}").contains("hunter2") && !format!("{secret:?}").contains("collector"));
        if !cfg!(feature = "exporter") {
            let refused = secret.check().unwrap_err().to_string();
            assert!(refused.contains("[tracing] endpoint") && refused.contains("--features otel"), "{refused}");
            return;
        }
        assert_eq!(secret.check(), Ok(()));
        let base = at("https://collector.example/prefix");
        for (bad, word) in [
            (at("collector:4318"), "endpoint"),
            (at("http://u:p@collector/"), "password"),
            (at("http://collector/?token=hunter2"), "query"),
            (TracingSettings { sample: 1.1, ..base.clone() }, "sample"),
            (TracingSettings { sample: f64::NAN, ..base.clone() }, "sample"),
            (TracingSettings { spans_per_second: 0, ..base.clone() }, "spans_per_second"),
            (TracingSettings { queue_spans: 1, ..base.clone() }, "queue_spans"),
            (TracingSettings { service_name: String::new(), ..base.clone() }, "service_name"),
            (
                TracingSettings { headers: BTreeMap::from([("a b".to_owned(), "hunter2".to_owned())]), ..base.clone() },
                "headers",
            ),
        ] {
            let refused = bad.check().unwrap_err().to_string();
            assert!(refused.contains(word) && !refused.contains("hunter2"), "{refused}");
        }
    }
}
