//! Figures that a part of the program keeps itself, read when the metrics are scraped.

use metrics::{Key, Label, Recorder, Unit};
use metrics_exporter_prometheus::PrometheusRecorder;

use super::METADATA;

/// Records the figures of a surface. Names begin with `paraffin_` and the crate's name; labels are closed sets.
pub struct Meter<'r>(&'r PrometheusRecorder);

impl<'r> Meter<'r> {
    pub(super) fn new(recorder: &'r PrometheusRecorder) -> Self {
        Self(recorder)
    }

    /// Something that only grows, by its total.
    pub fn count(&self, name: &'static str, text: &'static str, labels: &[(&'static str, &str)], total: u64) {
        self.0.describe_counter(name.into(), Some(Unit::Count), text.into());
        self.0.register_counter(&key(name, labels), &METADATA).absolute(total);
    }

    /// Something that goes up and down; `NaN` where it is not known.
    pub fn gauge(&self, name: &'static str, text: &'static str, labels: &[(&'static str, &str)], value: f64) {
        self.0.describe_gauge(name.into(), None, text.into());
        self.0.register_gauge(&key(name, labels), &METADATA).set(value);
    }
}

fn key(name: &'static str, labels: &[(&'static str, &str)]) -> Key {
    let labels: Vec<Label> = labels.iter().map(|(key, value)| Label::new(*key, (*value).to_owned())).collect();
    Key::from_parts(name, labels)
}
