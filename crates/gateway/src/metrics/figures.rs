//! Figures that surfaces tell of what stands behind them.

use metrics::{Key, Label, Recorder as _, Unit};
use metrics_exporter_prometheus::PrometheusRecorder;

use super::METADATA;

/// One figure of a surface. Names and labels are closed sets, never anything that a caller chose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    name: &'static str,
    about: &'static str,
    label: Option<(&'static str, &'static str)>,
    value: u64,
    is_total: bool,
}

impl Figure {
    /// Something that is counted since the start.
    pub fn total(name: &'static str, about: &'static str, value: u64) -> Self {
        Self { name, about, label: None, value, is_total: true }
    }

    /// Something that rises and falls.
    pub fn gauge(name: &'static str, about: &'static str, value: u64) -> Self {
        Self { name, about, label: None, value, is_total: false }
    }

    /// The same under a label.
    #[must_use]
    pub fn with(self, name: &'static str, value: &'static str) -> Self {
        Self { label: Some((name, value)), ..self }
    }

    /// Hands the figure to the recorder.
    pub(super) fn publish(&self, recorder: &PrometheusRecorder) {
        let labels = self.label.map(|(name, value)| Label::from_static_parts(name, value));
        let key = Key::from_parts(self.name, labels.into_iter().collect::<Vec<_>>());
        if self.is_total {
            recorder.describe_counter(self.name.into(), Some(Unit::Count), self.about.into());
            recorder.register_counter(&key, &METADATA).absolute(self.value);
        } else {
            recorder.describe_gauge(self.name.into(), Some(Unit::Count), self.about.into());
            let value = u32::try_from(self.value).unwrap_or(u32::MAX);
            recorder.register_gauge(&key, &METADATA).set(f64::from(value));
        }
    }
}
