//! `admin_*`: an account manages its own keys (docs/api.md, "Managing keys").

use std::time::Duration;

use paraffin_access::{
    AccessError, AccountId, CreatedKey, KeyId, KeyRecord, KeySelector, NewKey, WindowLimits, time_text,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::main_rpc::MethodFamily;
use super::{RpcResult, to_raw};
use crate::errors::{RpcError, rpc_code};
use crate::jsonrpc::Params;
use crate::state::{BoxFuture, Caller, RequestContext, unix_millis};

/// Longest grace after a reroll: 30 days.
const GRACE_SECONDS_MAX: u64 = 30 * 86_400;

/// All methods of the family.
const METHODS: [&str; 4] = ["createApiKey", "listApiKeys", "revokeApiKey", "rerollApiKey"];

pub(super) struct AdminFamily;

/// The family for a gateway that has no other methods of its own.
pub(crate) struct AdminAlone;

impl AdminAlone {
    /// Runs one method; `method` is what follows `admin_`.
    pub(crate) fn call<'a>(context: &'a RequestContext, method: &'a str, params: Params) -> BoxFuture<'a, RpcResult> {
        AdminFamily.call(context, method, params)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Create {
    name: String,
    per_minute: Option<u32>,
    per_day: Option<u32>,
}

#[derive(Deserialize)]
struct Revoke {
    id: Id,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Reroll {
    id: Id,
    grace_seconds: Option<u64>,
}

/// A number, or its digits as lists show it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Id {
    Number(i64),
    Text(String),
}

impl Id {
    fn key(&self) -> Result<KeyId, RpcError> {
        let number = match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) => text.parse().ok(),
        };
        number
            .map(KeyId)
            .ok_or_else(|| RpcError::invalid_params("id must be the id of a key, as admin_listApiKeys shows it"))
    }
}

impl MethodFamily for AdminFamily {
    fn name(&self) -> &'static str {
        "admin"
    }

    fn methods(&self) -> Vec<&'static str> {
        METHODS.to_vec()
    }

    fn call<'a>(&'a self, context: &'a RequestContext, method: &'a str, params: Params) -> BoxFuture<'a, RpcResult> {
        Box::pin(async move {
            if !METHODS.contains(&method) {
                return Err(RpcError::method_not_found());
            }
            let manager = manager(context)?;
            match method {
                "createApiKey" => create(context, manager, &params).await,
                "listApiKeys" => list(context, manager, &params).await,
                "revokeApiKey" => revoke(context, manager, &params).await,
                _ => reroll(context, manager, &params).await,
            }
        })
    }
}

/// Whose keys are managed, and by which key.
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

fn manager(context: &RequestContext) -> Result<Manager, RpcError> {
    match context.caller() {
        Caller::Key(record) if record.management => {
            Ok(Manager { account: record.account, key: record.id, admin: record.admin })
        }
        _ => Err(RpcError::new(rpc_code::NOT_ALLOWED, "management access required")),
    }
}

/// The one object, alone or in an array.
fn object<T: for<'de> Deserialize<'de>>(params: &Params, members: &str) -> Result<T, RpcError> {
    let wrong = || RpcError::invalid_params(format!("params must be an object with {members}"));
    params.at_most(1)?;
    let raw = params.get(0).filter(|raw| raw.get().starts_with('{')).ok_or_else(wrong)?;
    serde_json::from_str(raw.get()).map_err(|_| wrong())
}

async fn create(context: &RequestContext, manager: Manager, params: &Params) -> RpcResult {
    let wanted: Create = object(params, "name (text), perMinute and perDay (numbers, optional)")?;
    let limits = WindowLimits { per_minute: wanted.per_minute, per_day: wanted.per_day };
    let new = NewKey { limits, ..NewKey::in_account(wanted.name, manager.account) };
    let created = context.keys().create(new, &manager.actor(), unix_millis()).await.map_err(refused)?;
    to_raw(&shown_once(&created))
}

async fn list(context: &RequestContext, manager: Manager, params: &Params) -> RpcResult {
    params.none()?;
    let keys = context.keys().list_of(manager.account).await.map_err(refused)?;
    to_raw(&json!({ "keys": keys.iter().map(listed).collect::<Vec<_>>() }))
}

async fn revoke(context: &RequestContext, manager: Manager, params: &Params) -> RpcResult {
    let wanted: Revoke = object(params, "id")?;
    let id = own_key(context, manager, wanted.id.key()?).await?.id;
    let keys = context.keys();
    let revoked = keys.revoke(KeySelector::Id(id), &manager.actor(), unix_millis()).await.map_err(refused)?;
    keys.settle().await.map_err(refused)?;
    to_raw(
        &json!({ "id": revoked.id.to_string(), "name": revoked.name, "revokedAt": revoked.revoked_at.and_then(time_text) }),
    )
}

async fn reroll(context: &RequestContext, manager: Manager, params: &Params) -> RpcResult {
    let wanted: Reroll = object(params, "id, and graceSeconds (a number, optional)")?;
    let grace = wanted.grace_seconds.unwrap_or(0);
    if grace > GRACE_SECONDS_MAX {
        return Err(RpcError::invalid_params(format!("graceSeconds must be at most {GRACE_SECONDS_MAX}")));
    }
    let old = own_key(context, manager, wanted.id.key()?).await?;
    // The new key has the rights of the old one, and the manager sees it.
    if old.admin && !manager.admin {
        return Err(RpcError::new(rpc_code::NOT_ALLOWED, "this key has a right that yours lacks"));
    }
    let id = old.id;
    let (keys, now) = (context.keys(), unix_millis());
    let grace_span = Duration::from_secs(grace);
    let created = keys.reroll(KeySelector::Id(id), grace_span, &manager.actor(), now).await.map_err(refused)?;
    if grace == 0 {
        keys.settle().await.map_err(refused)?;
    }
    let mut answer = shown_once(&created);
    answer["replaces"] = json!(id.to_string());
    answer["graceSeconds"] = json!(grace);
    to_raw(&answer)
}

/// A key of another account does not exist for this one.
async fn own_key(context: &RequestContext, manager: Manager, id: KeyId) -> Result<KeyRecord, RpcError> {
    let keys = context.keys().list_of(manager.account).await.map_err(refused)?;
    keys.into_iter().find(|key| key.id == id).ok_or_else(|| RpcError::not_found("no such key"))
}

fn shown_once(created: &CreatedKey) -> Value {
    json!({
        "key": created.key.reveal(),
        "id": created.record.id.to_string(),
        "name": created.record.name,
        "createdAt": time_text(created.record.created_at),
    })
}

fn listed(record: &KeyRecord) -> Value {
    json!({
        "id": record.id.to_string(),
        "name": record.name,
        "prefix": record.prefix,
        "admin": record.admin,
        "plan": record.plan.name(),
        "perMinute": record.limits.per_minute,
        "perDay": record.limits.per_day,
        "createdAt": time_text(record.created_at),
        "lastUsedAt": record.last_used_at.and_then(time_text),
        "requestCount": record.request_count,
        "expiresAt": record.expires_at.and_then(time_text),
        "revokedAt": record.revoked_at.and_then(time_text),
    })
}

fn refused(error: AccessError) -> RpcError {
    match error {
        AccessError::InvalidName | AccessError::InvalidLimit | AccessError::Inactive => {
            RpcError::invalid_params(error.to_string())
        }
        AccessError::NoSuchKey => RpcError::not_found("no such key"),
        AccessError::KeyLimit { .. } => RpcError {
            data: Some(json!({ "code": "KEY_LIMIT_REACHED" })),
            ..RpcError::new(rpc_code::NOT_ALLOWED, error.to_string())
        },
        AccessError::Unavailable(_) => {
            RpcError { data: Some(json!({ "code": "AUTH_UNAVAILABLE" })), ..RpcError::internal(&error) }
        }
        other => RpcError::internal(&other),
    }
}
