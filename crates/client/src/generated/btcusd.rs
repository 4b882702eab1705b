//! Paraffin JSON-RPC: btcusd.
// Written from the declarations: docs/clients.md says how.

use crate::method::{Form, Method};
#[allow(unused_imports, reason = "not every document has all")]
use crate::value::{Amount, NumberOrText, one_of};

/// A view of the pool index: a protobuf message in and out.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct MetashrewView {
    /// The name of the view.
    pub name: String,
    /// A message in hexadecimal digits, `0x` before them or not; empty when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Block to answer as of; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<NumberOrText>,
}

impl MetashrewView {
    /// With what must be given.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), input: None, tag: None }
    }
}

impl Method for MetashrewView {
    const NAME: &'static str = "metashrew_view";
    const SURFACE: &'static str = "btcusd";
    const FORM: Form = Form::Positional;
    const PARAMETERS: &'static [&'static str] = &["name", "input", "tag"];
    type Answer = String;
}

/// The newest height that views answer at, in decimal digits.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct MetashrewHeight {}

impl MetashrewHeight {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Method for MetashrewHeight {
    const NAME: &'static str = "metashrew_height";
    const SURFACE: &'static str = "btcusd";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &[];
    type Answer = String;
}
