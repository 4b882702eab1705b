//! Sends spans to an OpenTelemetry collector by OTLP over HTTP.
//!
//! OpenTelemetry's own libraries batch, encode and send; they are in the build with the feature `exporter` alone. Without it the settings are still
//! parsed, so that such an instance reports an error instead of recording nothing (docs/decisions/0068).
//!
//! Invariants: ending a span never waits for the collector; no more spans wait than [`TracingSettings::queue_spans`]; each span is exported or counted.
#![forbid(unsafe_code)]

#[cfg(not(feature = "exporter"))]
#[path = "absent.rs"]
mod exporter;
#[cfg(feature = "exporter")]
mod exporter;
mod settings;

pub use exporter::Exporter;
pub use settings::{ExportError, TracingSettings};
