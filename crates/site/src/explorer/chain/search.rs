//! Search: by the form of the query, then by names.

use askama::Template;
use axum::extract::Query;
use axum::response::{IntoResponse, Redirect, Response};
use hyper::StatusCode;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;

use super::calls::Id;
use super::sides::is_address;
use super::{Pairs, percent, value};
use crate::api::Call;
use crate::explorer::{AskError, Reader, View, text};
use crate::failure::Failure;
use crate::html::Page;

/// Longest query, characters: longer than an address, a hash or a name.
const QUERY_MAX: usize = 200;
/// Tokens and pools that are read from an answer.
const HITS_MAX: usize = 20;
const NAME_MAX: usize = 60;
/// Longest name of a rune, and longest ticker, bytes.
const RUNE_NAME_MAX: usize = 28;
const TICKER_BYTES_MAX: usize = 6;

/// A search hit.
struct Hit {
    kind: &'static str,
    path: String,
    name: String,
    detail: String,
}

impl Hit {
    fn new(kind: &'static str, path: String, name: &str) -> Self {
        Self { kind, path, name: text::clean(name, NAME_MAX), detail: String::new() }
    }
}

#[derive(Template)]
#[template(path = "explorer/chain/search.html")]
struct SearchPage {
    view: View,
    wanted: String,
    hits: Vec<Hit>,
    /// Error of the query, or empty.
    sentence: String,
}

#[derive(Deserialize)]
struct SearchResults {
    #[serde(default)]
    tokens: Vec<TokenHit>,
    #[serde(default)]
    pools: Vec<PoolHit>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TokenHit {
    alkane_id: Id,
    name: Option<String>,
    symbol: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PoolHit {
    pool_id: Id,
    pool_name: Option<String>,
}

#[derive(Deserialize)]
struct Inscription {
    id: String,
}

#[derive(Deserialize)]
struct Rune {
    entry: RuneEntry,
}

#[derive(Deserialize)]
struct RuneEntry {
    spaced_rune: String,
}

#[derive(Deserialize)]
struct Ticker {
    tick: String,
}

pub(super) async fn page(Query(query): Query<Pairs>, reader: Reader) -> Result<Response, Failure> {
    let wanted = value(&query, "q").unwrap_or_default();
    let shown = text::clean(wanted, QUERY_MAX);
    let mut sentence = String::new();
    let mut hits = Vec::new();
    if wanted.chars().count() > QUERY_MAX {
        sentence = format!("That is too long: at most {QUERY_MAX} characters are searched for.");
    } else if !shown.trim().is_empty() {
        hits = find(shown.trim(), &reader).await?;
        sentence = if hits.is_empty() { "Nothing was found.".to_owned() } else { sentence };
    }
    if let [only] = hits.as_slice() {
        return Ok(Redirect::to(&only.path).into_response());
    }
    let status = if sentence.is_empty() { StatusCode::OK } else { StatusCode::NOT_FOUND };
    let page = SearchPage { wanted: shown, hits, sentence, view: reader.view("") };
    Ok((status, Page(page)).into_response())
}

/// Whether an object exists; a failed call fails the page only when the caller is rate-limited.
async fn exists(call: Call, reader: &Reader) -> Result<bool, Failure> {
    Ok(reader.part::<IgnoredAny>(call).await?.is_ok())
}

async fn find(wanted: &str, reader: &Reader) -> Result<Vec<Hit>, Failure> {
    let wanted = &text::clean(wanted, QUERY_MAX);
    if super::is_hash(wanted) {
        return by_hash(&wanted.to_ascii_lowercase(), reader).await;
    }
    if let Some(id) = inscription_id(wanted) {
        let path = format!("/explorer/inscription/{id}");
        let is_there = exists(Call::rpc("ord_inscription", json!([id])), reader).await?;
        return Ok(if is_there { vec![Hit::new("Inscription", path, &id)] } else { Vec::new() });
    }
    if let Some(id) = contract_id(wanted) {
        return Ok(vec![Hit::new("Contract", format!("/explorer/contract/{id}"), &id)]);
    }
    if let Ok(number) = wanted.replace(',', "").parse::<u32>() {
        return by_number(number, reader).await;
    }
    if is_address(wanted) && wanted.bytes().any(|byte| byte.is_ascii_digit()) {
        let address = if wanted.bytes().any(|byte| byte.is_ascii_lowercase()) {
            wanted.clone()
        } else {
            wanted.to_ascii_lowercase()
        };
        match reader.ask::<IgnoredAny>(Call::rpc("esplora_address", json!([address]))).await {
            Ok(_) => return Ok(vec![Hit::new("Address", format!("/explorer/address/{address}"), &address)]),
            Err(AskError::Later(seconds, sentence)) => return Err(Failure::Later(seconds, sentence)),
            Err(_) => {}
        }
    }
    by_name(wanted, reader).await
}

/// A block or a transaction.
async fn by_hash(hash: &str, reader: &Reader) -> Result<Vec<Hit>, Failure> {
    if exists(Call::rpc("esplora_tx", json!([hash])), reader).await? {
        return Ok(vec![Hit::new("Transaction", format!("/explorer/tx/{hash}"), hash)]);
    }
    if exists(Call::rpc("esplora_block", json!([hash])), reader).await? {
        return Ok(vec![Hit::new("Block", format!("/explorer/block/{hash}"), hash)]);
    }
    Ok(Vec::new())
}

/// A block by its height and an inscription by its number.
async fn by_number(number: u32, reader: &Reader) -> Result<Vec<Hit>, Failure> {
    let mut hits = Vec::new();
    if reader.tip().height.is_some_and(|tip| number <= tip) {
        hits.push(Hit::new("Block", format!("/explorer/block/{number}"), &number.to_string()));
    }
    // `ord` takes the number as text.
    let call = Call::rpc("ord_inscription", json!([number.to_string()]));
    if let Ok(inscription) = reader.part::<Inscription>(call).await?
        && let Some(id) = inscription_id(&inscription.id)
    {
        let mut hit = Hit::new("Inscription", format!("/explorer/inscription/{id}"), &format!("number {number}"));
        hit.detail = text::short(&id);
        hits.push(hit);
    }
    Ok(hits)
}

/// Tokens, contracts, pools, runes and BRC-20 tokens.
async fn by_name(wanted: &str, reader: &Reader) -> Result<Vec<Hit>, Failure> {
    let mut hits = Vec::new();
    let params = json!({ "searchQuery": wanted, "limit": HITS_MAX });
    if let Ok(results) = reader.part::<SearchResults>(Call::rest("global-alkanes-search", &params)).await? {
        let pools = results.pools.iter().take(HITS_MAX);
        let pools: Vec<Hit> =
            pools.filter_map(|pool| named("Pool", "pool", &pool.pool_id, pool.pool_name.as_deref(), None)).collect();
        let tokens = results.tokens.iter().take(HITS_MAX).filter_map(|token| {
            named("Token", "token", &token.alkane_id, token.name.as_deref(), token.symbol.as_deref())
        });
        // The token of a pool has the pool's own id.
        let is_pool = |hit: &Hit| pools.iter().any(|pool| pool.path.replace("/pool/", "/token/") == hit.path);
        hits.extend(tokens.filter(|hit| !is_pool(hit)));
        hits.extend(pools);
    }
    if let Some(name) = rune_name(wanted)
        && let Ok(rune) = reader.part::<Rune>(Call::rpc("ord_rune", json!([name]))).await?
    {
        let spaced = rune.entry.spaced_rune;
        hits.push(Hit::new("Rune", format!("/explorer/rune/{}", percent(&spaced)), &spaced));
    }
    if (4..=TICKER_BYTES_MAX).contains(&wanted.len()) {
        let path = format!("/v4/opi/v1/brc20/token_summary?ticker={}", percent(wanted));
        if let Ok(ticker) = reader.part::<Ticker>(Call::get(path)).await? {
            hits.push(Hit::new("BRC-20", format!("/explorer/brc20/{}", percent(&ticker.tick)), &ticker.tick));
        }
    }
    Ok(hits)
}

fn named(kind: &'static str, page: &str, id: &Id, name: Option<&str>, symbol: Option<&str>) -> Option<Hit> {
    let id = contract_id(&id.name())?;
    let name = name.filter(|name| !name.is_empty()).or(symbol).unwrap_or(&id);
    let mut hit = Hit::new(kind, format!("/explorer/{page}/{id}"), name);
    hit.detail = match symbol {
        Some(symbol) if !symbol.is_empty() && symbol != name => format!("{id}, {}", text::clean(symbol, 16)),
        _ => id,
    };
    Some(hit)
}

/// `block:tx` with numbers of 128 bits.
fn contract_id(text: &str) -> Option<String> {
    let (block, tx) = text.split_once(':')?;
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits(block) || !is_digits(tx) {
        return None;
    }
    let (block, tx) = (block.parse::<u128>().ok()?, tx.parse::<u128>().ok()?);
    Some(format!("{block}:{tx}"))
}

/// 64 hexadecimal digits, `i` and a number.
fn inscription_id(text: &str) -> Option<String> {
    let (txid, index) = text.split_at_checked(64)?;
    let index = index.strip_prefix(['i', 'I'])?;
    if !super::is_hash(txid) || !index.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let index = index.parse::<u32>().ok()?;
    Some(format!("{}i{index}", txid.to_ascii_lowercase()))
}

/// The name of a rune in capital letters, with bullets where there were bullets or dots.
fn rune_name(text: &str) -> Option<String> {
    let name: String =
        text.chars().map(|letter| if letter == '.' { '•' } else { letter.to_ascii_uppercase() }).collect();
    let letters = name.chars().filter(char::is_ascii_uppercase).count();
    let is_name = name.chars().all(|letter| letter.is_ascii_uppercase() || letter == '•');
    (is_name && (1..=RUNE_NAME_MAX).contains(&letters)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_distinguished() {
        assert_eq!(contract_id("02:0").as_deref(), Some("2:0"));
        for text in ["2", "2:", ":0", "2:+1", "2:0:1", "2:-1", &format!("2:{}", "9".repeat(40))] {
            assert_eq!(contract_id(text), None, "{text}");
        }
        let txid = "aB".repeat(32);
        assert_eq!(inscription_id(&format!("{txid}i0")), Some(format!("{}i0", txid.to_ascii_lowercase())));
        for tail in ["", "i", "i-1", "ix", "i99999999999", "x0"] {
            assert_eq!(inscription_id(&format!("{txid}{tail}")), None, "{tail}");
        }
        assert_eq!(inscription_id(&"é".repeat(40)), None);
    }

    #[test]
    fn runes_have_capital_letters_and_bullets() {
        assert_eq!(rune_name("paraffin.candles").as_deref(), Some("PARAFFIN•CANDLES"));
        assert_eq!(rune_name("PARAFFIN•CANDLES").as_deref(), Some("PARAFFIN•CANDLES"));
        for text in ["", "•", "A B", "A1", &"A".repeat(29)] {
            assert_eq!(rune_name(text), None, "{text}");
        }
    }
}
