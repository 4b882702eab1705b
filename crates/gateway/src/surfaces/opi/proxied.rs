//! Answers of a server of OPI, in the envelope and with the errors of our own.

use bitcoin::hex::DisplayHex as _;
use hyper::StatusCode;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Request, absent, enveloped, indexer};
use crate::errors::RestError;
use crate::families::{FamilyAnswer, FamilyServer};
use crate::jsonrpc::{nests_deeper_than, parse_unsigned};
use crate::respond::Reply;
use crate::rest::RestResult;
use crate::routes::push_encoded;

/// Longest answer that is no JSON.
const TEXT_BYTES_MAX: usize = 32;

/// What a path takes, in the order in which it is looked at.
#[derive(Clone, Copy)]
enum Parameter {
    Ticker,
    OptionalTicker,
    /// `address` or `pkscript`.
    Wallet,
    OptionalWallet,
    /// `pkscript` alone.
    Script,
    BlockHeight,
    /// `height`.
    OptionalHeight,
    Inscription,
    /// `cursor` and `limit` of a history.
    Page,
    /// `offset` and `limit` of a list.
    Part,
}

/// How a path is answered.
enum Form {
    /// By ourselves: it is about the caller.
    Own,
    /// A number as plain text.
    Number,
    /// JSON in the envelope.
    Enveloped,
    /// As [`Form::Enveloped`], and it may take as long as a request may.
    Slow,
}

/// Each path of [`super::ROUTES`] after `opi/v1/brc20/`: its name there, what it takes, and its form. OPI has no `balance`, which
/// is another name for one of its own.
const ASKED: &[(&str, &str, &[Parameter], Form)] = {
    use Parameter::{
        BlockHeight, Inscription, OptionalHeight, OptionalTicker, OptionalWallet, Page, Part, Script, Ticker, Wallet,
    };
    const BALANCE: &str = "get_current_balance_of_wallet";
    &[
        ("block_height", "block_height", &[], Form::Number),
        ("extras_block_height", "extras_block_height", &[], Form::Number),
        ("db_version", "db_version", &[], Form::Number),
        ("event_hash_version", "event_hash_version", &[], Form::Number),
        ("ip", "ip", &[], Form::Own),
        ("balance", BALANCE, &[Ticker, Wallet], Form::Enveloped),
        (BALANCE, BALANCE, &[Ticker, Wallet], Form::Enveloped),
        ("balance_on_block", "balance_on_block", &[Ticker, BlockHeight, Script], Form::Enveloped),
        ("get_hash_of_all_current_balances", "get_hash_of_all_current_balances", &[], Form::Slow),
        ("history", "history", &[OptionalTicker, OptionalWallet, OptionalHeight, Page], Form::Enveloped),
        ("activity_on_block", "activity_on_block", &[BlockHeight], Form::Enveloped),
        ("event", "event", &[Inscription], Form::Enveloped),
        ("bitcoin_rpc_results_on_block", "bitcoin_rpc_results_on_block", &[BlockHeight], Form::Enveloped),
        ("get_hash_of_all_activity", "get_hash_of_all_activity", &[BlockHeight], Form::Enveloped),
        ("token_summary", "token_summary", &[Ticker], Form::Enveloped),
        ("holders", "holders", &[Ticker, Part], Form::Enveloped),
        ("get_valid_tx_notes_of_wallet", "get_valid_tx_notes_of_wallet", &[Wallet, Part], Form::Enveloped),
        ("get_valid_tx_notes_of_ticker", "get_valid_tx_notes_of_ticker", &[Ticker, Part], Form::Enveloped),
    ]
};

/// What OPI and we say of what is not there. Other words of the server are not repeated.
const ABSENT: [&str; 5] = [
    "block not indexed yet",
    "no balance found",
    "no unused tx found",
    "no ticker found",
    "the hashes begin at a later block",
];
/// What OPI says when it does not keep the tables that a path needs.
const NOT_KEPT: &str = "not supported";

/// Asks the server for what the path `opi/v1/brc20/<name>` returns.
pub(super) async fn answer(server: &FamilyServer, name: &str, request: Request<'_>) -> RestResult {
    let Some((_, asked, parameters, form)) = ASKED.iter().find(|(known, ..)| *known == name) else {
        return Err(RestError::not_found("There is no such route"));
    };
    let path = format!("/v1/brc20/{asked}{}", query(request, parameters)?);
    let answer = match form {
        Form::Own => return indexer::ip(request).await,
        Form::Slow => server.get_patiently(request.context, &path).await,
        Form::Number | Form::Enveloped => server.get(request.context, &path).await,
    };
    let answer = answer.map_err(|error| server.rest_error(error))?;
    match (answer.status, form) {
        (StatusCode::OK, Form::Number) => number(server, &answer),
        (StatusCode::OK, _) => result(server, request, &answer),
        (StatusCode::BAD_REQUEST, _) => Err(refused(server, &answer)),
        (StatusCode::NOT_FOUND, _) => Err(RestError::not_found("the OPI server has no such route")),
        (status, _) => Err(server.rest_error(server.failed_with(status))),
    }
}

/// The query for the server, made of parameters that have been read.
fn query(request: Request<'_>, parameters: &[Parameter]) -> Result<String, RestError> {
    let mut query = Query::default();
    for parameter in parameters {
        match parameter {
            Parameter::Ticker => query.put("ticker", &request.ticker()?),
            Parameter::OptionalTicker => query.put_some("ticker", request.optional_ticker()?),
            Parameter::Wallet => {
                request.wallet()?;
                query.put_wallet(request)?;
            }
            Parameter::OptionalWallet => query.put_wallet(request)?,
            Parameter::Script => {
                let script = request.pkscript()?.ok_or_else(|| RestError::bad_request("pkscript is required"))?;
                query.put("pkscript", &script.as_bytes().to_lower_hex_string());
            }
            Parameter::BlockHeight => query.put("block_height", &request.block_height()?.to_string()),
            Parameter::OptionalHeight => query.put_some("height", request.optional_height("height")?),
            Parameter::Inscription => query.put("inscription_id", &request.inscription()?.to_string()),
            Parameter::Page => {
                let cursor = request.cursor()?.map(|(height, place)| format!("{height}:{place}"));
                query.put_some("cursor", cursor);
                query.put("limit", &request.page()?.to_string());
                request.check_history()?;
            }
            Parameter::Part => {
                let part = request.part()?;
                query.put_some("offset", Some(part.offset).filter(|offset| *offset > 0));
                query.put_some("limit", part.limit);
            }
        }
    }
    Ok(query.0)
}

/// A query with its `?`, or nothing.
#[derive(Default)]
struct Query(String);

impl Query {
    fn put(&mut self, name: &str, value: &str) {
        self.0.push(if self.0.is_empty() { '?' } else { '&' });
        self.0.push_str(name);
        self.0.push('=');
        push_encoded(value, &mut self.0);
    }

    fn put_some(&mut self, name: &str, value: Option<impl ToString>) {
        if let Some(value) = value {
            self.put(name, &value.to_string());
        }
    }

    /// The address as it was given, for OPI keeps those beside the scripts; else the script.
    fn put_wallet(&mut self, request: Request<'_>) -> Result<(), RestError> {
        let Some(script) = request.optional_wallet()? else { return Ok(()) };
        match request.query.optional_text("address")? {
            Some(address) => self.put("address", address),
            None => self.put("pkscript", &script.as_bytes().to_lower_hex_string()),
        }
        Ok(())
    }
}

fn number(server: &FamilyServer, answer: &FamilyAnswer) -> RestResult {
    let text = std::str::from_utf8(&answer.body).ok().map(str::trim);
    let text = text.filter(|text| text.len() <= TEXT_BYTES_MAX && parse_unsigned(text).is_some());
    let text = text.ok_or_else(|| server.rest_error(server.failed("an answer that is no number")))?;
    Ok(Reply::text(StatusCode::OK, text.to_owned()))
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(default)]
    error: Option<String>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

/// The envelope of an answer, once it is safe to be read.
fn envelope<'a>(server: &FamilyServer, answer: &'a FamilyAnswer) -> Result<Envelope<'a>, RestError> {
    let garbage = || server.rest_error(server.failed("an answer that is not in OPI's envelope"));
    serde_json::from_slice(&answer.body).map_err(|_| garbage())
}

fn result(server: &FamilyServer, request: Request<'_>, answer: &FamilyAnswer) -> RestResult {
    if nests_deeper_than(&answer.body, request.context.limits().json_depth_max) {
        return Err(server.rest_error(server.failed("an answer nested too deep")));
    }
    match envelope(server, answer)? {
        Envelope { error: None, result: Some(result) } => enveloped(&result),
        _ => Err(server.rest_error(server.failed("an answer without a result"))),
    }
}

/// What the server does not have, in its own words where we know them.
fn refused(server: &FamilyServer, answer: &FamilyAnswer) -> RestError {
    let words = match envelope(server, answer) {
        Ok(envelope) => envelope.error.unwrap_or_default(),
        Err(error) => return error,
    };
    if words == NOT_KEPT {
        let words = "the OPI server does not keep the tables that this needs";
        return RestError::new(StatusCode::SERVICE_UNAVAILABLE, "BRC20_NOT_INDEXED", words);
    }
    match ABSENT.iter().find(|known| **known == words) {
        Some(known) => absent(known),
        None => RestError::bad_request("the OPI server does not take these parameters"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_can_be_asked_for_elsewhere() {
        let names = |path: &&str| path.strip_prefix("opi/v1/brc20/").unwrap().to_owned();
        let routes: Vec<String> = super::super::ROUTES.iter().map(|(path, _)| names(path)).collect();
        let asked: Vec<&str> = ASKED.iter().map(|(name, ..)| *name).collect();
        assert_eq!(routes, asked);
    }

    #[test]
    fn values_of_a_query_cannot_leave_it() {
        let mut query = Query::default();
        query.put("ticker", "a&b=c#/../\r\n é%00");
        query.put_some("limit", Some(7));
        query.put_some("cursor", None::<String>);
        assert_eq!(query.0, "?ticker=a%26b%3Dc%23%2F%2E%2E%2F%0D%0A%20%C3%A9%2500&limit=7");
    }
}
