//! `/v4/<KEY>/webhooks`: the endpoints of the caller's account (docs/webhooks.md).

use std::sync::Arc;

use paraffin_access::{AccountId, UnixMillis, time_text};
use paraffin_webhooks::{
    DESCRIPTION_CHARS_MAX, EndpointId, EndpointRecord, EndpointRequest, Owner, SourceError, Start, URL_BYTES_MAX,
    WebhookError, Webhooks,
};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use paraffin_gateway::errors::{ApiError, kind, rpc_code};
use paraffin_gateway::jsonrpc::Params;
use paraffin_gateway::methods::{Declared, ErrorCase, Form, Method, RawParam, Surface, Verbatim, scalar};
use paraffin_gateway::state::{BoxFuture, Caller, RequestContext};
use paraffin_gateway::surface::{Forwarding, KeyedSurface, RpcResult, RpcSurface};

/// Longest position, bytes.
const CURSOR_BYTES_MAX: usize = 200;

/// The surface over one set of endpoints.
pub(crate) struct WebhooksRpc(pub(crate) Arc<Webhooks>);

/// `/v4/<KEY>/webhooks`. It takes a key and nothing else (docs/webhooks.md).
pub static SURFACE: KeyedSurface =
    KeyedSurface { takes_alias: false, forwarded: Forwarding::Nothing, ..KeyedSurface::rpc("webhooks", &WEBHOOKS) };

static WEBHOOKS: Surface<Webhooks> = Surface::new(
    "webhooks",
    &[
        Declared::of::<Create>(),
        Declared::of::<List>(),
        Declared::of::<Get>(),
        Declared::of::<Update>(),
        Declared::of::<Pause>(),
        Declared::of::<Resume>(),
        Declared::of::<RotateSecret>(),
        Declared::of::<Delete>(),
        Declared::of::<Test>(),
    ],
)
.introduced(
    "Servers of the caller's account to which events are delivered, signed as Standard Webhooks asks (docs/webhooks.md). A key \
    sees the endpoints of its account alone; aliases and origins see none. Times are ISO 8601 in UTC. Parameters are members of \
    an object.",
)
.admitting(|context| account(context).map(drop));

impl RpcSurface for WebhooksRpc {
    fn family(&self, _method: &str) -> &'static str {
        "webhooks"
    }

    fn call<'a>(&'a self, context: &'a RequestContext, method: &'a str, params: Params) -> BoxFuture<'a, RpcResult> {
        WEBHOOKS.serve(context, &*self.0, method, &params)
    }
}

/// The account of the caller's key, and the key as the audit log has it.
fn caller(context: &RequestContext) -> Result<(AccountId, String), ApiError> {
    match context.caller() {
        Caller::Key(record) => Ok((record.account, format!("key:{}", record.id))),
        _ => Err(ApiError::new(kind::NOT_ALLOWED, "webhooks take a key")),
    }
}

fn account(context: &RequestContext) -> Result<AccountId, ApiError> {
    caller(context).map(|(account, _)| account)
}

const NO_SUCH_ENDPOINT: ErrorCase =
    ErrorCase { code: rpc_code::NOT_FOUND, name: "NOT_FOUND", when: "The account has no endpoint of this number" };

const ENDPOINT_LIMIT_REACHED: ErrorCase = ErrorCase {
    code: rpc_code::NOT_ALLOWED,
    name: "ENDPOINT_LIMIT_REACHED",
    when: "The account, or the instance, has as many endpoints as it may: delete one",
};

const INVALID_ENDPOINT: ErrorCase = ErrorCase {
    code: rpc_code::INVALID_PARAMS,
    name: "INVALID_ENDPOINT",
    when: "Nothing can be delivered to the address, or filter, position or description cannot be: the message says why",
};

const UNAVAILABLE: ErrorCase = ErrorCase {
    code: rpc_code::INTERNAL,
    name: "WEBHOOKS_UNAVAILABLE",
    when: "The database of the accounts or the index does not answer, or too many pings are on their way: try again in some seconds",
};

fn refused(error: &WebhookError) -> ApiError {
    match error {
        WebhookError::NoSuchEndpoint => NO_SUCH_ENDPOINT.error("no such endpoint"),
        WebhookError::TooManyEndpoints(_) | WebhookError::Full => ENDPOINT_LIMIT_REACHED.error(error.to_string()),
        WebhookError::Destination(_)
        | WebhookError::UrlTooLong
        | WebhookError::DescriptionTooLong
        | WebhookError::Filter(_)
        | WebhookError::Position(_)
        | WebhookError::Source(SourceError::UnknownCursor(_)) => INVALID_ENDPOINT.error(error.to_string()),
        WebhookError::Busy => UNAVAILABLE.error(error.to_string()),
        WebhookError::Source(SourceError::Unavailable(_)) => UNAVAILABLE.error("events cannot be read at the moment"),
        WebhookError::Unavailable(reason) => {
            tracing::error!(%reason, "webhooks were not served");
            UNAVAILABLE.error("the webhooks are not available")
        }
        WebhookError::NoRandomness(_) | WebhookError::Message(_) => ApiError::internal(error),
    }
}

/// Number of an endpoint.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
struct Id(i64);

/// An address as text, `https://host/path`.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, extend("maxLength" = URL_BYTES_MAX))]
struct Url(String);

/// A free-form description.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, extend("maxLength" = DESCRIPTION_CHARS_MAX))]
struct Description(String);

/// Start of the events: the height of a block, or a cursor.
#[derive(JsonSchema)]
#[schemars(inline, with = "Verbatim", extend("type" = ["integer", "string"]))]
struct StartParam(Start);

impl<'de> Deserialize<'de> for StartParam {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let start = match scalar(deserializer)? {
            Value::Number(number) => number.to_string().parse().ok().map(Start::Height),
            Value::String(cursor) if cursor.len() <= CURSOR_BYTES_MAX => Some(Start::Cursor(cursor)),
            _ => None,
        };
        start.map(Self).ok_or_else(|| serde::de::Error::custom("must be the height of a block or a cursor"))
    }
}

/// An endpoint.
#[derive(Serialize, JsonSchema)]
struct Endpoint {
    id: i64,
    url: String,
    /// The filter in its normalised form.
    #[schemars(with = "RawParam")]
    filter: Box<RawValue>,
    description: Option<String>,
    /// `active`; `paused` by its owner; `failing` for too long, `gone` (the server answered 410) or `lost` (the cursor is unknown),
    /// which are paused as well.
    state: &'static str,
    /// The position after the last message that was acknowledged.
    cursor: String,
    created_at: Option<String>,
    last_success_at: Option<String>,
    /// Why the last attempt failed.
    last_error: Option<String>,
    last_error_at: Option<String>,
    /// Attempts that have failed since the last success.
    failures: u32,
    failing_since: Option<String>,
    /// When the pending message is sent again, after a failure.
    next_attempt_at: Option<String>,
    /// `webhook-id` of the message that is not acknowledged yet.
    message_id: Option<String>,
    /// Until when messages are also signed with the previous secret.
    old_secret_until: Option<String>,
}

/// An endpoint and its secret, which is not shown again.
#[derive(Serialize, JsonSchema)]
struct WithSecret {
    /// `whsec_` and the base64 of 32 bytes.
    secret: String,
    #[serde(flatten)]
    endpoint: Endpoint,
}

fn endpoint(record: EndpointRecord) -> Result<Endpoint, ApiError> {
    let time = |at: Option<UnixMillis>| at.and_then(time_text);
    Ok(Endpoint {
        id: record.id.0,
        url: record.url,
        filter: RawValue::from_string(record.filter).map_err(|error| ApiError::internal(&error))?,
        description: record.description,
        state: record.state.name(),
        cursor: record.cursor,
        created_at: time_text(record.created_at),
        last_success_at: time(record.last_success_at),
        last_error: record.last_error,
        last_error_at: time(record.last_error_at),
        failures: record.failures,
        failing_since: time(record.failing_since),
        next_attempt_at: time(record.next_attempt_at),
        message_id: record.message_id,
        old_secret_until: time(record.old_secret_until),
    })
}

fn answer(outcome: Result<EndpointRecord, WebhookError>) -> Result<Endpoint, ApiError> {
    endpoint(outcome.map_err(|error| refused(&error))?)
}

/// Creates an endpoint. Its secret is shown in this answer only.
#[derive(Deserialize, JsonSchema)]
struct Create {
    /// URL that messages are sent to.
    url: Url,
    /// Filter of events; all when absent.
    filter: Option<RawParam>,
    /// Start of the events: the height of a block, or a cursor; the next block when absent.
    from: Option<StartParam>,
    /// Free-form description.
    description: Option<Description>,
}

impl Method for Create {
    const NAME: &'static str = "webhooks_create";
    const EXAMPLE: &'static str = r#"{"url":"https://hooks.example.com/paraffin","description":"deposits"}"#;
    const ERRORS: &'static [ErrorCase] = &[INVALID_ENDPOINT, ENDPOINT_LIMIT_REACHED, UNAVAILABLE];
    type Surface = Webhooks;
    type Answer = WithSecret;

    async fn call(self, context: &RequestContext, webhooks: &Webhooks) -> Result<WithSecret, ApiError> {
        let (account, actor) = caller(context)?;
        let request = EndpointRequest {
            url: Some(self.url.0),
            filter: self.filter.map(|filter| filter.0),
            start: self.from.map(|from| from.0),
            description: self.description.map(|description| description.0),
        };
        let made = webhooks.create(Owner { account, actor: &actor }, request).await;
        let (made, secret) = made.map_err(|error| refused(&error))?;
        Ok(WithSecret { secret: secret.reveal(), endpoint: endpoint(made)? })
    }
}

/// All endpoints of the account, by number.
#[derive(Deserialize, JsonSchema)]
struct List {}

impl Method for List {
    const NAME: &'static str = "webhooks_list";
    const FORM: Form = Form::NamedNothing;
    const EXAMPLE: &'static str = "{}";
    const ERRORS: &'static [ErrorCase] = &[UNAVAILABLE];
    type Surface = Webhooks;
    type Answer = Vec<Endpoint>;

    async fn call(self, context: &RequestContext, webhooks: &Webhooks) -> Result<Vec<Endpoint>, ApiError> {
        let all = webhooks.list(account(context)?).await.map_err(|error| refused(&error))?;
        all.into_iter().map(endpoint).collect()
    }
}

/// Changes an endpoint; absent members stay unchanged.
#[derive(Deserialize, JsonSchema)]
struct Update {
    id: Id,
    /// URL that messages are sent to, including the pending one.
    url: Option<Url>,
    /// Filter of events, applied after the pending message.
    filter: Option<RawParam>,
    /// New position: the height of a block, or a cursor. The pending message is dropped.
    from: Option<StartParam>,
    /// Free-form description; empty for none.
    description: Option<Description>,
}

impl Method for Update {
    const NAME: &'static str = "webhooks_update";
    const EXAMPLE: &'static str = r#"{"id":1,"url":"https://hooks.example.com/new"}"#;
    const ERRORS: &'static [ErrorCase] = &[NO_SUCH_ENDPOINT, INVALID_ENDPOINT, UNAVAILABLE];
    type Surface = Webhooks;
    type Answer = Endpoint;

    async fn call(self, context: &RequestContext, webhooks: &Webhooks) -> Result<Endpoint, ApiError> {
        let (account, actor) = caller(context)?;
        let request = EndpointRequest {
            url: self.url.map(|url| url.0),
            filter: self.filter.map(|filter| filter.0),
            start: self.from.map(|from| from.0),
            description: self.description.map(|description| description.0),
        };
        answer(webhooks.update(Owner { account, actor: &actor }, EndpointId(self.id.0), request).await)
    }
}

/// Declares a method that changes an endpoint and answers it.
macro_rules! of_endpoint {
    ($(#[$about:meta])* $method:ident, $name:literal, $operation:ident) => {
        $(#[$about])*
        #[derive(Deserialize, JsonSchema)]
        struct $method {
            /// Number of the endpoint.
            id: Id,
        }

        impl Method for $method {
            const NAME: &'static str = $name;
            const EXAMPLE: &'static str = r#"{"id":1}"#;
            const ERRORS: &'static [ErrorCase] = &[NO_SUCH_ENDPOINT, UNAVAILABLE];
            type Surface = Webhooks;
            type Answer = Endpoint;

            async fn call(self, context: &RequestContext, webhooks: &Webhooks) -> Result<Endpoint, ApiError> {
                let (account, actor) = caller(context)?;
                answer(webhooks.$operation(Owner { account, actor: &actor }, EndpointId(self.id.0)).await)
            }
        }
    };
}

/// One endpoint, with its state and its last error.
#[derive(Deserialize, JsonSchema)]
struct Get {
    /// Number of the endpoint.
    id: Id,
}

impl Method for Get {
    const NAME: &'static str = "webhooks_get";
    const EXAMPLE: &'static str = r#"{"id":1}"#;
    const ERRORS: &'static [ErrorCase] = &[NO_SUCH_ENDPOINT, UNAVAILABLE];
    type Surface = Webhooks;
    type Answer = Endpoint;

    async fn call(self, context: &RequestContext, webhooks: &Webhooks) -> Result<Endpoint, ApiError> {
        answer(webhooks.get(account(context)?, EndpointId(self.id.0)).await)
    }
}

of_endpoint! {
    /// Stops the delivery.
    Pause, "webhooks_pause", pause
}

of_endpoint! {
    /// Resumes the delivery with the message that was not acknowledged.
    Resume, "webhooks_resume", resume
}

of_endpoint! {
    /// Deletes an endpoint; the answer is its last state.
    Delete, "webhooks_delete", delete
}

/// Replaces the secret; the new one is shown in this answer only. For a day messages are signed with the previous one as well.
#[derive(Deserialize, JsonSchema)]
struct RotateSecret {
    /// Number of the endpoint.
    id: Id,
}

impl Method for RotateSecret {
    const NAME: &'static str = "webhooks_rotate_secret";
    const EXAMPLE: &'static str = r#"{"id":1}"#;
    const ERRORS: &'static [ErrorCase] = &[NO_SUCH_ENDPOINT, UNAVAILABLE];
    type Surface = Webhooks;
    type Answer = WithSecret;

    async fn call(self, context: &RequestContext, webhooks: &Webhooks) -> Result<WithSecret, ApiError> {
        let (account, actor) = caller(context)?;
        let rotated = webhooks.rotate_secret(Owner { account, actor: &actor }, EndpointId(self.id.0)).await;
        let (rotated, secret) = rotated.map_err(|error| refused(&error))?;
        Ok(WithSecret { secret: secret.reveal(), endpoint: endpoint(rotated)? })
    }
}

/// Sends a message of type `ping` once, now, also to an endpoint that is paused.
#[derive(Deserialize, JsonSchema)]
struct Test {
    /// Number of the endpoint.
    id: Id,
}

/// Result of the delivery.
#[derive(Serialize, JsonSchema)]
struct Tested {
    /// Whether the server acknowledged it.
    delivered: bool,
    /// HTTP status of the server's answer, if there was one.
    status: Option<u16>,
    error: Option<String>,
    message_id: String,
    elapsed_ms: i64,
}

impl Method for Test {
    const NAME: &'static str = "webhooks_test";
    const EXAMPLE: &'static str = r#"{"id":1}"#;
    const ERRORS: &'static [ErrorCase] = &[NO_SUCH_ENDPOINT, UNAVAILABLE];
    type Surface = Webhooks;
    type Answer = Tested;

    async fn call(self, context: &RequestContext, webhooks: &Webhooks) -> Result<Tested, ApiError> {
        let outcome = webhooks.test(account(context)?, EndpointId(self.id.0)).await.map_err(|error| refused(&error))?;
        Ok(Tested {
            delivered: outcome.error.is_none(),
            status: outcome.status,
            error: outcome.error,
            message_id: outcome.message_id,
            elapsed_ms: outcome.elapsed_ms,
        })
    }
}
