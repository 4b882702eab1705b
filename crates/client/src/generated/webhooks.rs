//! Paraffin JSON-RPC: webhooks.
// Written from the declarations: docs/clients.md says how.

use crate::method::{Form, Method};
#[allow(unused_imports, reason = "not every document has all")]
use crate::value::{Amount, NumberOrText, one_of};

/// Creates an endpoint. Its secret is shown in this answer only.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct WebhooksCreate {
    /// URL that messages are sent to.
    pub url: String,
    /// Filter of events; all when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<serde_json::Value>,
    /// Start of the events: the height of a block, or a cursor; the next block when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<WebhooksCreateFrom>,
    /// Free-form description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

impl WebhooksCreate {
    /// With what must be given.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), filter: None, from: None, description: None }
    }
}

impl Method for WebhooksCreate {
    const NAME: &'static str = "webhooks_create";
    const SURFACE: &'static str = "webhooks";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &["url", "filter", "from", "description"];
    type Answer = WithSecret;
}

/// All endpoints of the account, by number.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize)]
pub struct WebhooksList {}

impl WebhooksList {
    /// With what must be given.
    #[must_use]
    pub fn new() -> Self {
        Self {  }
    }
}

impl Method for WebhooksList {
    const NAME: &'static str = "webhooks_list";
    const SURFACE: &'static str = "webhooks";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &[];
    type Answer = Vec<Endpoint>;
}

/// One endpoint, with its state and its last error.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct WebhooksGet {
    /// Number of the endpoint.
    pub id: i64,
}

impl WebhooksGet {
    /// With what must be given.
    #[must_use]
    pub fn new(id: i64) -> Self {
        Self { id }
    }
}

impl Method for WebhooksGet {
    const NAME: &'static str = "webhooks_get";
    const SURFACE: &'static str = "webhooks";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &["id"];
    type Answer = Endpoint;
}

/// Changes an endpoint; absent members stay unchanged.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct WebhooksUpdate {
    /// Number of an endpoint.
    pub id: i64,
    /// URL that messages are sent to, including the pending one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Filter of events, applied after the pending message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<serde_json::Value>,
    /// New position: the height of a block, or a cursor. The pending message is dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<WebhooksCreateFrom>,
    /// Free-form description; empty for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

impl WebhooksUpdate {
    /// With what must be given.
    #[must_use]
    pub fn new(id: i64) -> Self {
        Self { id, url: None, filter: None, from: None, description: None }
    }
}

impl Method for WebhooksUpdate {
    const NAME: &'static str = "webhooks_update";
    const SURFACE: &'static str = "webhooks";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &["id", "url", "filter", "from", "description"];
    type Answer = Endpoint;
}

/// Stops the delivery.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct WebhooksPause {
    /// Number of the endpoint.
    pub id: i64,
}

impl WebhooksPause {
    /// With what must be given.
    #[must_use]
    pub fn new(id: i64) -> Self {
        Self { id }
    }
}

impl Method for WebhooksPause {
    const NAME: &'static str = "webhooks_pause";
    const SURFACE: &'static str = "webhooks";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &["id"];
    type Answer = Endpoint;
}

/// Resumes the delivery with the message that was not acknowledged.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct WebhooksResume {
    /// Number of the endpoint.
    pub id: i64,
}

impl WebhooksResume {
    /// With what must be given.
    #[must_use]
    pub fn new(id: i64) -> Self {
        Self { id }
    }
}

impl Method for WebhooksResume {
    const NAME: &'static str = "webhooks_resume";
    const SURFACE: &'static str = "webhooks";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &["id"];
    type Answer = Endpoint;
}

/// Replaces the secret; the new one is shown in this answer only. For a day messages are signed with the previous one as well.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct WebhooksRotateSecret {
    /// Number of the endpoint.
    pub id: i64,
}

impl WebhooksRotateSecret {
    /// With what must be given.
    #[must_use]
    pub fn new(id: i64) -> Self {
        Self { id }
    }
}

impl Method for WebhooksRotateSecret {
    const NAME: &'static str = "webhooks_rotate_secret";
    const SURFACE: &'static str = "webhooks";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &["id"];
    type Answer = WithSecret;
}

/// Deletes an endpoint; the answer is its last state.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct WebhooksDelete {
    /// Number of the endpoint.
    pub id: i64,
}

impl WebhooksDelete {
    /// With what must be given.
    #[must_use]
    pub fn new(id: i64) -> Self {
        Self { id }
    }
}

impl Method for WebhooksDelete {
    const NAME: &'static str = "webhooks_delete";
    const SURFACE: &'static str = "webhooks";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &["id"];
    type Answer = Endpoint;
}

/// Sends a message of type `ping` once, now, also to an endpoint that is paused.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct WebhooksTest {
    /// Number of the endpoint.
    pub id: i64,
}

impl WebhooksTest {
    /// With what must be given.
    #[must_use]
    pub fn new(id: i64) -> Self {
        Self { id }
    }
}

impl Method for WebhooksTest {
    const NAME: &'static str = "webhooks_test";
    const SURFACE: &'static str = "webhooks";
    const FORM: Form = Form::Named;
    const PARAMETERS: &'static [&'static str] = &["id"];
    type Answer = Tested;
}

/// An endpoint.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Endpoint {
    /// `created_at`.
    #[serde(default)]
    pub created_at: Option<String>,
    /// The position after the last message that was acknowledged.
    pub cursor: String,
    /// `description`.
    #[serde(default)]
    pub description: Option<String>,
    /// `failing_since`.
    #[serde(default)]
    pub failing_since: Option<String>,
    /// Attempts that have failed since the last success.
    pub failures: u32,
    /// The filter in its normalised form.
    pub filter: serde_json::Value,
    /// `id`.
    pub id: i64,
    /// Why the last attempt failed.
    #[serde(default)]
    pub last_error: Option<String>,
    /// `last_error_at`.
    #[serde(default)]
    pub last_error_at: Option<String>,
    /// `last_success_at`.
    #[serde(default)]
    pub last_success_at: Option<String>,
    /// `webhook-id` of the message that is not acknowledged yet.
    #[serde(default)]
    pub message_id: Option<String>,
    /// When the pending message is sent again, after a failure.
    #[serde(default)]
    pub next_attempt_at: Option<String>,
    /// Until when messages are also signed with the previous secret.
    #[serde(default)]
    pub old_secret_until: Option<String>,
    /// `active`; `paused` by its owner; `failing` for too long, `gone` (the server answered 410) or `lost` (the cursor is unknown),
    /// which are paused as well.
    pub state: String,
    /// `url`.
    pub url: String,
}

/// Result of the delivery.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Tested {
    /// Whether the server acknowledged it.
    pub delivered: bool,
    /// `elapsed_ms`.
    pub elapsed_ms: i64,
    /// `error`.
    #[serde(default)]
    pub error: Option<String>,
    /// `message_id`.
    pub message_id: String,
    /// HTTP status of the server's answer, if there was one.
    #[serde(default)]
    pub status: Option<u32>,
}

one_of! {
/// `WebhooksCreateFrom` of the descriptions.
WebhooksCreateFrom {
    Integer(i64),
    Text(String),
} }

/// An endpoint and its secret, which is not shown again.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct WithSecret {
    /// `created_at`.
    #[serde(default)]
    pub created_at: Option<String>,
    /// The position after the last message that was acknowledged.
    pub cursor: String,
    /// `description`.
    #[serde(default)]
    pub description: Option<String>,
    /// `failing_since`.
    #[serde(default)]
    pub failing_since: Option<String>,
    /// Attempts that have failed since the last success.
    pub failures: u32,
    /// The filter in its normalised form.
    pub filter: serde_json::Value,
    /// `id`.
    pub id: i64,
    /// Why the last attempt failed.
    #[serde(default)]
    pub last_error: Option<String>,
    /// `last_error_at`.
    #[serde(default)]
    pub last_error_at: Option<String>,
    /// `last_success_at`.
    #[serde(default)]
    pub last_success_at: Option<String>,
    /// `webhook-id` of the message that is not acknowledged yet.
    #[serde(default)]
    pub message_id: Option<String>,
    /// When the pending message is sent again, after a failure.
    #[serde(default)]
    pub next_attempt_at: Option<String>,
    /// Until when messages are also signed with the previous secret.
    #[serde(default)]
    pub old_secret_until: Option<String>,
    /// `whsec_` and the base64 of 32 bytes.
    pub secret: String,
    /// `active`; `paused` by its owner; `failing` for too long, `gone` (the server answered 410) or `lost` (the cursor is unknown),
    /// which are paused as well.
    pub state: String,
    /// `url`.
    pub url: String,
}
