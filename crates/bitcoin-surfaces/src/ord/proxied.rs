//! Answers of a server of `ord`, through its JSON interface, in the shapes and with the errors of our own.

use data_encoding::BASE64;
use std::collections::BTreeMap;

use bitcoin::BlockHash;
use http::StatusCode;
use http::header::HeaderValue;
use ordinals::Sat;
use paraffin_ordinals_index::reader::{InscriptionQuery, OutputKind, RuneQuery};
use paraffin_primitives::Height;
use serde_json::Value;
use serde_json::value::RawValue;

use super::not_indexed;
use super::params::BlockQuery;
use super::question::{NO_CONTENT, NO_DELEGATE, NO_METADATA, Question};
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::families::{FamilyAnswer, FamilyServer};
use paraffin_gateway::jsonrpc::nests_deeper_than;
use paraffin_gateway::state::RequestContext;
use paraffin_gateway::surface::{RpcResult, integer_to_raw, to_raw};

/// Longest answer that is not JSON: a hash, a number, a refusal.
const TEXT_BYTES_MAX: usize = 1024;
/// Longest name of an encoding that is requested.
const ENCODING_BYTES_MAX: usize = 32;
/// Messages of a server that was started without an index that the question needs.
const NOT_INDEXED: [&str; 3] =
    ["this server has no address index", "this server has no rune index", "this server has no sat index"];

/// A question to the server.
struct Exchange<'a> {
    context: &'a RequestContext,
    server: &'a FamilyServer,
    missing: &'static str,
}

/// Answers from the server.
pub(super) async fn answer(context: &RequestContext, server: &FamilyServer, question: Question) -> RpcResult {
    let exchange = Exchange { context, server, missing: question.missing() };
    match question {
        Question::BlockCount => integer_to_raw(exchange.number("/blockcount").await?),
        Question::BlockHeight => integer_to_raw(exchange.number("/blockheight").await?),
        Question::BlockTime => integer_to_raw(exchange.number("/blocktime").await?),
        Question::BlockHash(None) => to_raw(&exchange.hash("/blockhash").await?),
        Question::BlockHash(Some(height)) => to_raw(&exchange.hash(&format!("/blockhash/{height}")).await?),
        Question::Block(BlockQuery::Height(height)) => exchange.record(&format!("/block/{height}"), BLOCK).await,
        Question::Block(BlockQuery::Hash(hash)) => exchange.record(&format!("/block/{hash}"), BLOCK).await,
        Question::Blocks => exchange.record("/blocks", &["last", "blocks", "featured_blocks"]).await,
        Question::Inscription(query, child) => {
            let child = child.map(|child| format!("/{child}")).unwrap_or_default();
            exchange
                .record(&format!("/inscription/{}{child}", inscription(&query)), &["id", "number", "satpoint"])
                .await
        }
        Question::Inscriptions(page) => exchange.record(&format!("/inscriptions/{page}"), PAGE).await,
        Question::InscriptionsOfBlock(height, page) => {
            exchange.record(&format!("/inscriptions/block/{height}/{page}"), PAGE).await
        }
        Question::Children(id, page) => {
            exchange.record(&format!("/r/children/{id}/{page}"), &["ids", "more", "page"]).await
        }
        Question::Parents(id, page) => exchange.parents(&format!("/r/parents/{id}/{page}"), page).await,
        Question::Content(id) => exchange.content(&format!("/content/{id}")).await,
        Question::Metadata(id) => exchange.metadata(&format!("/r/metadata/{id}")).await,
        Question::Rune(query) => {
            exchange.record(&format!("/rune/{}", rune(&query)), &["entry", "id", "mintable"]).await
        }
        Question::Runes(page) => exchange.record(&format!("/runes/{page}"), &["entries", "more", "prev", "next"]).await,
        Question::Sat(Sat(number)) => exchange.record(&format!("/sat/{number}"), &["number", "name", "satpoint"]).await,
        Question::InscriptionsOnSat(number, page) => {
            exchange.record(&format!("/r/sat/{number}/{page}"), &["ids", "more", "page"]).await
        }
        Question::InscriptionOnSat(Sat(number), position) => {
            exchange.record(&format!("/r/sat/{number}/at/{position}"), &["id"]).await
        }
        Question::Output(outpoint) => {
            exchange.record(&format!("/output/{outpoint}"), &["outpoint", "value", "inscriptions"]).await
        }
        Question::Outputs(address, kind) => exchange.list(&format!("/outputs/{address}?type={}", name(kind))).await,
        Question::Address(address) => exchange.address(&format!("/address/{address}"), None).await,
        Question::AddressInscriptions(address) => {
            exchange.address(&format!("/address/{address}"), Some("inscriptions")).await
        }
        Question::Transaction(txid) => exchange.record(&format!("/tx/{txid}"), &["transaction", "txid"]).await,
    }
}

const BLOCK: &[&str] = &["hash", "height", "inscriptions", "runes", "transactions"];
const PAGE: &[&str] = &["ids", "more", "page_index"];

fn inscription(query: &InscriptionQuery) -> String {
    match query {
        InscriptionQuery::Id(id) => id.to_string(),
        InscriptionQuery::Number(number) => number.to_string(),
        InscriptionQuery::Sat(sat) => Sat(*sat).name(),
    }
}

fn rune(query: &RuneQuery) -> String {
    match query {
        RuneQuery::Name(rune) => rune.to_string(),
        RuneQuery::Id(id) => id.to_string(),
        RuneQuery::Number(number) => number.to_string(),
    }
}

const fn name(kind: OutputKind) -> &'static str {
    match kind {
        OutputKind::Any => "any",
        OutputKind::Cardinal => "cardinal",
        OutputKind::Inscribed => "inscribed",
        OutputKind::Runic => "runic",
    }
}

/// The members of an object, each as raw JSON.
type Members<'a> = BTreeMap<String, &'a RawValue>;

impl Exchange<'_> {
    /// The answer to a GET of `path`, which may not exist.
    async fn ask(&self, path: &str) -> Result<FamilyAnswer, ApiError> {
        let answer = self.server.get(self.context, path).await.map_err(|error| self.server.error(error))?;
        match answer.status {
            StatusCode::OK => Ok(answer),
            StatusCode::NOT_FOUND => Err(self.not_found(&answer)),
            status => Err(self.refused(status)),
        }
    }

    fn not_found(&self, answer: &FamilyAnswer) -> ApiError {
        match NOT_INDEXED.iter().find(|words| answer.body == words.as_bytes()) {
            Some(words) => {
                self.server.failed(words);
                not_indexed("the ord server does not keep the index that this needs".to_owned())
            }
            None => ApiError::not_found(self.missing),
        }
    }

    fn refused(&self, status: StatusCode) -> ApiError {
        if status == StatusCode::BAD_REQUEST {
            return ApiError::invalid("the ord server does not take these parameters");
        }
        self.server.error(self.server.failed_with(status))
    }

    /// The error for an answer that differs from those of the published program.
    fn garbage(&self, what: &str) -> ApiError {
        self.server.error(self.server.failed(what))
    }

    async fn text(&self, path: &str) -> Result<String, ApiError> {
        let FamilyAnswer { body, .. } = self.ask(path).await?;
        let text = (body.len() <= TEXT_BYTES_MAX).then(|| std::str::from_utf8(&body).ok()).flatten();
        text.map(|text| text.trim().to_owned()).ok_or_else(|| self.garbage("an answer that is no short text"))
    }

    async fn number(&self, path: &str) -> Result<Height, ApiError> {
        let text = self.text(path).await?;
        let number = paraffin_gateway::jsonrpc::parse_unsigned(&text).and_then(|number| u32::try_from(number).ok());
        number.ok_or_else(|| self.garbage("an answer that is no number"))
    }

    async fn hash(&self, path: &str) -> Result<BlockHash, ApiError> {
        self.text(path).await?.parse().map_err(|_| self.garbage("an answer that is no block hash"))
    }

    /// The body of an answer as JSON that is safe to pass on.
    fn json(&self, answer: &FamilyAnswer) -> Result<Box<RawValue>, ApiError> {
        if nests_deeper_than(&answer.body, self.context.limits().json_depth_max) {
            return Err(self.garbage("an answer nested too deep"));
        }
        serde_json::from_slice(&answer.body).map_err(|_| self.garbage("an answer that is no JSON"))
    }

    fn members<'a>(&self, json: &'a RawValue, wanted: &[&str]) -> Result<Members<'a>, ApiError> {
        let members: Option<Members<'_>> = serde_json::from_str(json.get()).ok();
        let members = members.filter(|members| wanted.iter().all(|name| members.contains_key(*name)));
        members.ok_or_else(|| self.garbage("an answer without the members that it should have"))
    }

    /// An object that has at least these members, as the server wrote it.
    async fn record(&self, path: &str, wanted: &[&str]) -> RpcResult {
        let json = self.json(&self.ask(path).await?)?;
        self.members(&json, wanted)?;
        Ok(json)
    }

    /// An array of at most as many elements as our own lists have.
    async fn list(&self, path: &str) -> RpcResult {
        let json = self.json(&self.ask(path).await?)?;
        self.check_list(&json)?;
        Ok(json)
    }

    fn check_list(&self, json: &RawValue) -> Result<(), ApiError> {
        let elements: Vec<&RawValue> =
            serde_json::from_str(json.get()).map_err(|_| self.garbage("an answer that is no list"))?;
        if elements.len() > self.context.limits().list_records_max {
            return Err(ApiError::response_too_large());
        }
        Ok(())
    }

    /// The record of an address, or one member of it.
    async fn address(&self, path: &str, member: Option<&str>) -> RpcResult {
        let json = self.json(&self.ask(path).await?)?;
        let members = self.members(&json, &["outputs", "inscriptions", "sat_balance", "runes_balances"])?;
        if let Some(outputs) = members.get("outputs") {
            self.check_list(outputs)?;
        }
        Ok(member.and_then(|name| members.get(name).copied()).map_or_else(|| json.clone(), RawValue::to_owned))
    }

    /// The page has both names that clients decode.
    async fn parents(&self, path: &str, page: u32) -> RpcResult {
        let json = self.json(&self.ask(path).await?)?;
        let mut members = self.members(&json, PAGE)?;
        let page = to_raw(&page)?;
        members.insert("page".to_owned(), &page);
        to_raw(&members)
    }

    async fn metadata(&self, path: &str) -> RpcResult {
        let answer = self.server.get(self.context, path).await.map_err(|error| self.server.error(error))?;
        if answer.status == StatusCode::NOT_FOUND {
            return Err(if answer.body.ends_with(b" metadata not found") {
                ApiError::not_found(NO_METADATA)
            } else {
                ApiError::not_found(self.missing)
            });
        }
        if answer.status != StatusCode::OK {
            return Err(self.refused(answer.status));
        }
        let json = self.json(&answer)?;
        match serde_json::from_str(json.get()) {
            Ok(Value::String(digits)) if digits.bytes().all(|digit| digit.is_ascii_hexdigit()) => Ok(json),
            _ => Err(self.garbage("metadata that are no hexadecimal digits")),
        }
    }

    /// Content as it is stored. The server gives encoded content only to who takes that encoding, and would pack other content
    /// for who prefers it, so each encoding is named with the weight of nothing.
    async fn content(&self, path: &str) -> RpcResult {
        let mut answer = self.encoded(path, "br").await?;
        if answer.status == StatusCode::NOT_ACCEPTABLE
            && let Some(encoding) = encoding_named(&answer.body)
        {
            answer = self.encoded(path, &encoding).await?;
        }
        match answer.status {
            StatusCode::OK => to_raw(&BASE64.encode(&answer.body)),
            StatusCode::NOT_FOUND if answer.body.starts_with(b"delegate ") => Err(ApiError::not_found(NO_DELEGATE)),
            StatusCode::NOT_FOUND if answer.body.ends_with(b" content not found") => {
                Err(ApiError::not_found(NO_CONTENT))
            }
            StatusCode::NOT_FOUND => Err(ApiError::not_found(self.missing)),
            status => Err(self.refused(status)),
        }
    }

    async fn encoded(&self, path: &str, encoding: &str) -> Result<FamilyAnswer, ApiError> {
        let accepted = format!("identity, {encoding};q=0");
        let answer = self.server.get_encoded(self.context, path, Some(&accepted)).await;
        let answer = answer.map_err(|error| self.server.error(error))?;
        match answer.encoding.as_ref().map(HeaderValue::as_bytes) {
            None | Some(b"identity") => Ok(answer),
            Some(given) if given == encoding.as_bytes() => Ok(answer),
            Some(_) => Err(self.garbage("content in an encoding that was not asked for")),
        }
    }
}

/// The encoding that a refusal names between backticks.
fn encoding_named(refusal: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(refusal.get(..TEXT_BYTES_MAX).unwrap_or(refusal)).ok()?;
    let name = text.split('`').nth(1)?;
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    ((1..=ENCODING_BYTES_MAX).contains(&name.len()) && name.bytes().all(is_word)).then(|| name.to_owned())
}
