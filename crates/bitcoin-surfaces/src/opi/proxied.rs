//! Answers of a server of OPI, in our own envelope and with our own errors.

use http::StatusCode;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::absent;
use super::ask::Script;
use paraffin_gateway::api_types::AddressText;
use paraffin_gateway::errors::{ApiError, kind};
use paraffin_gateway::families::{FamilyAnswer, FamilyServer};
use paraffin_gateway::jsonrpc::{nests_deeper_than, parse_unsigned};
use paraffin_gateway::respond::Reply;
use paraffin_gateway::rest::{Enveloped, RestResult};
use paraffin_gateway::routes::push_encoded;
use paraffin_gateway::state::RequestContext;

/// Longest answer that is not JSON, bytes.
const TEXT_BYTES_MAX: usize = 32;

/// Messages of OPI and this instance for missing records. Other messages of the server are not passed on.
const ABSENT: [&str; 5] = [
    "block not indexed yet",
    "no balance found",
    "no unused tx found",
    "no ticker found",
    "the hashes begin at a later block",
];
/// OPI's message when it does not have the tables that a path needs.
const NOT_SUPPORTED: &str = "not supported";

/// A path of the server with its query. OPI has no `balance`, which is another name for one of its own.
pub(super) struct Query {
    path: String,
    has_member: bool,
}

impl Query {
    /// The path of a name.
    pub(super) fn of(name: &'static str) -> Self {
        Self { path: format!("/v1/brc20/{name}"), has_member: false }
    }

    pub(super) fn put(&mut self, name: &str, value: &str) {
        self.path.push(if std::mem::replace(&mut self.has_member, true) { '&' } else { '?' });
        self.path.push_str(name);
        self.path.push('=');
        push_encoded(value, &mut self.path);
    }

    pub(super) fn put_some(&mut self, name: &str, value: Option<String>) {
        if let Some(value) = value {
            self.put(name, &value);
        }
    }

    /// The address as given, as OPI stores addresses beside scripts; else the script.
    pub(super) fn put_wallet(&mut self, address: Option<AddressText>, script: Option<Script>) {
        match (address, script) {
            (Some(AddressText(address)), _) => self.put("address", &address),
            (None, script) => self.put_some("pkscript", script.map(|script| script.hex())),
        }
    }
}

/// A number as plain text, of the path of a name.
pub(super) async fn number(server: &FamilyServer, context: &RequestContext, name: &'static str) -> RestResult {
    let answer = server.get(context, &Query::of(name).path).await.map_err(|error| server.error(error))?;
    check(server, &answer)?;
    let text = std::str::from_utf8(&answer.body).ok().map(str::trim);
    let text = text.filter(|text| text.len() <= TEXT_BYTES_MAX && parse_unsigned(text).is_some());
    let text = text.ok_or_else(|| server.error(server.failed("an answer that is no number")))?;
    Ok(Reply::text(StatusCode::OK, text.to_owned()))
}

/// The result of a query, with the longest time a request may take for a slow one.
pub(super) async fn result(
    server: &FamilyServer,
    context: &RequestContext,
    query: &Query,
    is_slow: bool,
) -> RestResult {
    let answer =
        if is_slow { server.get_patiently(context, &query.path).await } else { server.get(context, &query.path).await };
    let answer = answer.map_err(|error| server.error(error))?;
    check(server, &answer)?;
    if nests_deeper_than(&answer.body, context.limits().json_depth_max) {
        return Err(server.error(server.failed("an answer nested too deep")));
    }
    match envelope(server, &answer)? {
        Envelope { error: None, result: Some(result) } => Reply::bare(&Enveloped { error: None, result }),
        _ => Err(server.error(server.failed("an answer without a result"))),
    }
}

/// Refuses an unusable answer.
fn check(server: &FamilyServer, answer: &FamilyAnswer) -> Result<(), ApiError> {
    match answer.status {
        StatusCode::OK => Ok(()),
        StatusCode::BAD_REQUEST => Err(refused(server, answer)),
        StatusCode::NOT_FOUND => Err(ApiError::not_found("the OPI server has no such route")),
        status => Err(server.error(server.failed_with(status))),
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(default)]
    error: Option<String>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

/// The envelope of an answer, after validation.
fn envelope<'a>(server: &FamilyServer, answer: &'a FamilyAnswer) -> Result<Envelope<'a>, ApiError> {
    let garbage = || server.error(server.failed("an answer that is not in OPI's envelope"));
    serde_json::from_slice(&answer.body).map_err(|_| garbage())
}

/// The error for a missing record, with the server's message where it is a known one.
fn refused(server: &FamilyServer, answer: &FamilyAnswer) -> ApiError {
    let words = match envelope(server, answer) {
        Ok(envelope) => envelope.error.unwrap_or_default(),
        Err(error) => return error,
    };
    if words == NOT_SUPPORTED {
        let words = "the OPI server does not keep the tables that this needs";
        return ApiError::new(kind::BRC20_NOT_INDEXED, words);
    }
    match ABSENT.iter().find(|message| **message == words) {
        Some(message) => absent(message),
        None => ApiError::invalid("the OPI server does not take these parameters"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_a_query_cannot_leave_it() {
        let mut query = Query::of("event");
        query.put("ticker", "a&b=c#/../\r\n é%00");
        query.put_some("limit", Some("7".to_owned()));
        query.put_some("cursor", None);
        assert_eq!(query.path, "/v1/brc20/event?ticker=a%26b%3Dc%23%2F%2E%2E%2F%0D%0A%20%C3%A9%2500&limit=7");
    }
}
