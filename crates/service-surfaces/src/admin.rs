//! `admin_*`: an account manages its own keys (docs/api.md, "Managing keys").

use std::time::Duration;

use paraffin_access::{
    AccessError, AccountId, AccountUsage, CreatedKey, Grace, KEY_LIFE_DAYS_MAX, KeyId, KeyRecord, KeySelector, NewKey,
    USAGE_DAYS_MAX, UsageCounts, Used, WindowLimits, day_text, expiry_in_days, time_text,
};
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use paraffin_gateway::errors::{ApiError, kind, rpc_code};
use paraffin_gateway::methods::{Declared, ErrorCase, Form, Method, Surface, Verbatim, scalar};
use paraffin_gateway::state::{Caller, RequestContext, unix_millis};

/// Longest grace after a reroll: 30 days.
const GRACE_SECONDS_MAX: u64 = 30 * 86_400;

/// The methods by which an account manages its keys.
pub static ADMIN: Surface<()> = Surface::new(
    "admin",
    &[
        Declared::of::<CreateApiKey>(),
        Declared::of::<ListApiKeys>(),
        Declared::of::<RevokeApiKey>(),
        Declared::of::<RerollApiKey>(),
        Declared::of::<GetUsage>(),
    ],
)
.admitting(|context| manager(context).map(drop));

const KEY_LIMIT_REACHED: ErrorCase = ErrorCase {
    code: rpc_code::NOT_ALLOWED,
    name: "KEY_LIMIT_REACHED",
    when: "The account has as many keys as it may: revoke one",
};

const KEY_IN_GRACE: ErrorCase = ErrorCase {
    code: rpc_code::NOT_ALLOWED,
    name: "KEY_IN_GRACE",
    when: "The key was rerolled before, or a grace is asked for while another rerolled key of the account still works: revoke that one, or ask for no grace",
};

/// The account whose keys are managed, and the managing key.
#[derive(Clone, Copy)]
struct Manager {
    account: AccountId,
    key: KeyId,
    admin: bool,
}

impl Manager {
    fn actor(self) -> String {
        format!("key:{}", self.key)
    }
}

fn manager(context: &RequestContext) -> Result<Manager, ApiError> {
    match context.caller() {
        Caller::Key(record) if record.management => {
            Ok(Manager { account: record.account, key: record.id, admin: record.admin })
        }
        _ => Err(ApiError::new(kind::NOT_ALLOWED, "management access required")),
    }
}

/// The id of a key as a number, or its digits as `admin_listApiKeys` shows it.
#[derive(JsonSchema)]
#[schemars(inline, with = "Verbatim", extend("type" = ["integer", "string"]))]
struct IdParam(KeyId);

impl<'de> Deserialize<'de> for IdParam {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = match scalar(deserializer)? {
            Value::Number(number) => number.as_i64(),
            Value::String(text) => text.parse().ok(),
            _ => None,
        };
        let wrong = || D::Error::custom("must be the id of a key, as admin_listApiKeys shows it");
        number.map(|number| Self(KeyId(number))).ok_or_else(wrong)
    }
}

/// Creates a key of the caller's account. The key itself is shown in this answer only.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CreateApiKey {
    /// Name of the key in listings.
    name: String,
    /// Requests per minute; those of the account's plan when absent.
    per_minute: Option<u32>,
    /// Requests per day; those of the account's plan when absent.
    per_day: Option<u32>,
    /// Days after which it expires, 1 to 36,500; it does not expire when absent.
    expires_in_days: Option<u32>,
}

/// A new key. The key itself is not shown again.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CreatedApiKey {
    /// The key as requests send it.
    key: String,
    id: String,
    name: String,
    created_at: Option<String>,
    /// When it expires, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    /// The id of the key that it replaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    replaces: Option<String>,
    /// Seconds for which the old key still works.
    #[serde(skip_serializing_if = "Option::is_none")]
    grace_seconds: Option<u64>,
}

fn shown_once(created: &CreatedKey) -> CreatedApiKey {
    CreatedApiKey {
        created_at: time_text(created.record.created_at),
        expires_at: created.record.expires_at.and_then(time_text),
        grace_seconds: None,
        id: created.record.id.to_string(),
        key: created.key.reveal(),
        name: created.record.name.clone(),
        replaces: None,
    }
}

impl Method for CreateApiKey {
    const NAME: &'static str = "createApiKey";
    const FORM: Form = Form::NamedInArray;
    const EXAMPLE: &'static str = r#"{"name":"staging","perMinute":60}"#;
    const ERRORS: &'static [ErrorCase] = &[KEY_LIMIT_REACHED];
    type Surface = ();
    type Answer = CreatedApiKey;

    async fn call(self, context: &RequestContext, (): &()) -> Result<CreatedApiKey, ApiError> {
        let manager = manager(context)?;
        let limits = WindowLimits { per_minute: self.per_minute, per_day: self.per_day };
        let now = unix_millis();
        let expires_at = self.expires_in_days.map(|days| expiry_in_days(days, now)).transpose();
        let expires_at = expires_at
            .map_err(|_| ApiError::invalid(format!("expiresInDays must be from 1 to {KEY_LIFE_DAYS_MAX}")))?;
        let new = NewKey { limits, expires_at, ..NewKey::in_account(self.name, manager.account) };
        let created = context.keys().create(new, &manager.actor(), now).await.map_err(refused)?;
        Ok(shown_once(&created))
    }
}

/// The keys of the caller's account.
#[derive(Deserialize, JsonSchema)]
struct ListApiKeys {}

/// Keys, without the secret part.
#[derive(Serialize, JsonSchema)]
struct ListedApiKeys {
    keys: Vec<ListedApiKey>,
}

/// A key in listings. Times are ISO 8601 in UTC.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ListedApiKey {
    id: String,
    name: String,
    /// First characters of the key.
    prefix: String,
    /// Whether it has the rights of an operator's key.
    admin: bool,
    plan: String,
    per_minute: Option<u32>,
    per_day: Option<u32>,
    created_at: Option<String>,
    last_used_at: Option<String>,
    request_count: i64,
    /// When it ends, if an end is set.
    expires_at: Option<String>,
    revoked_at: Option<String>,
}

impl Method for ListApiKeys {
    const NAME: &'static str = "listApiKeys";
    const FORM: Form = Form::Nothing;
    const EXAMPLE: &'static str = "[]";
    type Surface = ();
    type Answer = ListedApiKeys;

    async fn call(self, context: &RequestContext, (): &()) -> Result<ListedApiKeys, ApiError> {
        let keys = context.keys().list_of(manager(context)?.account).await.map_err(refused)?;
        Ok(ListedApiKeys { keys: keys.into_iter().map(listed).collect() })
    }
}

fn listed(record: KeyRecord) -> ListedApiKey {
    ListedApiKey {
        admin: record.admin,
        created_at: time_text(record.created_at),
        expires_at: record.expires_at.and_then(time_text),
        id: record.id.to_string(),
        last_used_at: record.last_used_at.and_then(time_text),
        per_day: record.limits.per_day,
        per_minute: record.limits.per_minute,
        plan: record.plan.name().to_owned(),
        prefix: record.prefix,
        request_count: record.request_count,
        revoked_at: record.revoked_at.and_then(time_text),
        name: record.name,
    }
}

/// Revokes a key.
#[derive(Deserialize, JsonSchema)]
struct RevokeApiKey {
    /// Id of the key.
    id: IdParam,
}

/// The revoked key.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RevokedApiKey {
    id: String,
    name: String,
    revoked_at: Option<String>,
}

impl Method for RevokeApiKey {
    const NAME: &'static str = "revokeApiKey";
    const FORM: Form = Form::NamedInArray;
    const EXAMPLE: &'static str = r#"{"id":"7"}"#;
    type Surface = ();
    type Answer = RevokedApiKey;

    async fn call(self, context: &RequestContext, (): &()) -> Result<RevokedApiKey, ApiError> {
        let manager = manager(context)?;
        let id = own_key(context, manager, self.id.0).await?.id;
        let keys = context.keys();
        let revoked = keys.revoke(KeySelector::Id(id), &manager.actor(), unix_millis()).await.map_err(refused)?;
        keys.settle().await.map_err(refused)?;
        Ok(RevokedApiKey {
            id: revoked.id.to_string(),
            revoked_at: revoked.revoked_at.and_then(time_text),
            name: revoked.name,
        })
    }
}

/// Replaces a key by a new one with the same settings.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RerollApiKey {
    /// The old key.
    id: IdParam,
    /// Seconds for which the old key still works, at most 30 days; 0 when absent.
    grace_seconds: Option<u64>,
}

impl Method for RerollApiKey {
    const NAME: &'static str = "rerollApiKey";
    const FORM: Form = Form::NamedInArray;
    const EXAMPLE: &'static str = r#"{"id":"7","graceSeconds":3600}"#;
    const ERRORS: &'static [ErrorCase] = &[KEY_LIMIT_REACHED, KEY_IN_GRACE];
    type Surface = ();
    type Answer = CreatedApiKey;

    async fn call(self, context: &RequestContext, (): &()) -> Result<CreatedApiKey, ApiError> {
        let manager = manager(context)?;
        let grace = self.grace_seconds.unwrap_or(0);
        if grace > GRACE_SECONDS_MAX {
            return Err(ApiError::invalid(format!("graceSeconds must be at most {GRACE_SECONDS_MAX}")));
        }
        let old = own_key(context, manager, self.id.0).await?;
        // The new key has the rights of the old one, and the manager sees it.
        if old.admin && !manager.admin {
            return Err(ApiError::new(kind::NOT_ALLOWED, "this key has a right that yours lacks"));
        }
        let id = old.id;
        let (keys, now) = (context.keys(), unix_millis());
        // As in the console, the operator's keys are exempt.
        let span = Duration::from_secs(grace);
        let grace_given = if manager.admin { Grace::of(span) } else { Grace::one_at_a_time(span) };
        let created = keys.reroll(KeySelector::Id(id), grace_given, &manager.actor(), now).await.map_err(refused)?;
        if grace == 0 {
            keys.settle().await.map_err(refused)?;
        }
        Ok(CreatedApiKey { grace_seconds: Some(grace), replaces: Some(id.to_string()), ..shown_once(&created) })
    }
}

/// Requests of the caller's account: by UTC day and surface, and by key, alias and origin.
#[derive(Deserialize, JsonSchema)]
struct GetUsage {
    /// The newest UTC days, today included, 1 to 90; 30 when absent.
    days: Option<u32>,
}

/// Default number of days of usage.
const USAGE_DAYS_DEFAULT: u32 = 30;

/// Requests of an account.
#[derive(Serialize, JsonSchema)]
struct Usage {
    /// Days and then surfaces ascending; without those in which there was no request.
    surfaces: Vec<UsageOfSurface>,
    /// Most requests first; at most 1,000.
    callers: Vec<UsageOfCaller>,
}

/// Requests on one surface in one UTC day.
#[derive(Serialize, JsonSchema)]
struct UsageOfSurface {
    /// Such as `2026-11-28`.
    day: Option<String>,
    surface: String,
    #[serde(flatten)]
    counts: Counts,
}

/// Requests of one key, alias or origin in all of the days.
#[derive(Serialize, JsonSchema)]
struct UsageOfCaller {
    /// `key`, `alias` or `origin`.
    kind: &'static str,
    /// Its number; of a key, as `admin_listApiKeys` shows it.
    id: String,
    #[serde(flatten)]
    counts: Counts,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Counts {
    /// All requests, whatever their status.
    requests: i64,
    /// Refused by a rate limit: 429.
    rate_limited: i64,
    /// Answered with any other status of 400 or above.
    errors: i64,
}

impl From<UsageCounts> for Counts {
    fn from(counts: UsageCounts) -> Self {
        Self { requests: counts.requests, rate_limited: counts.rate_limited, errors: counts.failed }
    }
}

impl Method for GetUsage {
    const NAME: &'static str = "getUsage";
    const FORM: Form = Form::NamedInArray;
    const EXAMPLE: &'static str = r#"{"days":7}"#;
    type Surface = ();
    type Answer = Usage;

    async fn call(self, context: &RequestContext, (): &()) -> Result<Usage, ApiError> {
        let manager = manager(context)?;
        let days = self.days.unwrap_or(USAGE_DAYS_DEFAULT);
        if !(1..=USAGE_DAYS_MAX).contains(&days) {
            return Err(ApiError::invalid(format!("days must be from 1 to {USAGE_DAYS_MAX}")));
        }
        let usage = context.keys().usage(manager.account, days, unix_millis()).await.map_err(refused)?;
        let AccountUsage { surfaces, callers } = usage;
        let surfaces = surfaces.into_iter().map(|one| UsageOfSurface {
            day: day_text(one.day),
            surface: one.surface,
            counts: one.counts.into(),
        });
        let callers = callers.into_iter().map(|one| {
            let (kind, id) = match one.used {
                Used::Key(id) => ("key", id.0),
                Used::Alias(id) => ("alias", id.0),
                Used::Origin(id) => ("origin", id.0),
            };
            UsageOfCaller { kind, id: id.to_string(), counts: one.counts.into() }
        });
        Ok(Usage { surfaces: surfaces.collect(), callers: callers.collect() })
    }
}

/// A key of the caller's account; a key of another account is not found.
async fn own_key(context: &RequestContext, manager: Manager, id: KeyId) -> Result<KeyRecord, ApiError> {
    let keys = context.keys().list_of(manager.account).await.map_err(refused)?;
    keys.into_iter().find(|key| key.id == id).ok_or_else(|| ApiError::not_found("no such key"))
}

fn refused(error: AccessError) -> ApiError {
    match error {
        AccessError::InvalidName | AccessError::InvalidLimit | AccessError::InvalidExpiry | AccessError::Inactive => {
            ApiError::invalid(error.to_string())
        }
        AccessError::NoSuchKey => ApiError::not_found("no such key"),
        AccessError::RerolledBefore | AccessError::OtherInGrace => KEY_IN_GRACE.error(error.to_string()),
        AccessError::KeyLimit { .. } => KEY_LIMIT_REACHED.error(error.to_string()),
        AccessError::Unavailable(_) => ApiError { kind: kind::AUTH_UNAVAILABLE, ..ApiError::internal(&error) },
        other => ApiError::internal(&other),
    }
}
