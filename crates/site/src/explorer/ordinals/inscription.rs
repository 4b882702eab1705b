//! The page of an inscription: facts, location, and content.

use askama::Template;
use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use hyper::HeaderMap;
use hyper::header::{CONTENT_SECURITY_POLICY, HeaderValue};
use serde::Deserialize;
use serde_json::json;

use super::brc20::{Event, EventRow};
use super::kind::Kind;
use super::{Query, cbor, content, encoded, inscription_id, natural, reveal, txid_of};
use crate::api::Call;
use crate::explorer::{AskError, Part, Reader, View, text};
use crate::failure::Failure;
use crate::html::{Page, grouped, moment};

/// Longest text that is shown, characters.
const TEXT_SHOWN: usize = 20_000;
/// Longest text that is fetched to be shown, bytes.
const TEXT_BYTES_MAX: u64 = 400_000;

#[derive(Deserialize)]
struct Inscription {
    id: String,
    number: i64,
    address: Option<String>,
    content_type: Option<String>,
    content_length: Option<u64>,
    effective_content_type: Option<String>,
    fee: u64,
    height: u32,
    sat: Option<u64>,
    satpoint: String,
    timestamp: i64,
    value: Option<u64>,
    charms: Vec<String>,
    child_count: u64,
    parents: Vec<String>,
    previous: Option<String>,
    next: Option<String>,
    rune: Option<String>,
    metaprotocol: Option<String>,
}

#[derive(Deserialize)]
struct Sat {
    name: String,
    rarity: String,
}

#[derive(Deserialize)]
struct Children {
    ids: Vec<String>,
    more: bool,
}

/// The content, as the page shows it.
enum Shown {
    Nothing,
    Image,
    Text {
        text: String,
        is_cut: bool,
    },
    Html {
        runs: bool,
        can_run: bool,
    },
    Audio,
    Video,
    File,
    /// A sentence instead of the content.
    Missing(String),
}

/// A link to an id, with its text.
struct Link {
    id: String,
    short: String,
}

impl Link {
    fn new(id: &str) -> Option<Self> {
        inscription_id(id).map(|id| Self { short: text::short(&id), id })
    }
}

/// The children of a page of them.
struct ChildPage {
    links: Vec<Link>,
    before: String,
    after: String,
}

#[derive(Template)]
#[template(path = "explorer/inscription.html")]
struct InscriptionPage {
    view: View,
    id: String,
    number: String,
    shown: Shown,
    /// An image of few pixels, as far as its length says, which are kept sharp.
    is_small: bool,
    /// The declared and the effective content type; the second only where it differs.
    content_type: String,
    effective_content_type: String,
    length: String,
    address: Option<String>,
    value: String,
    height: u32,
    age: String,
    moment: String,
    fee: String,
    reveal: String,
    satpoint: String,
    output_txid: String,
    sat: String,
    sat_name: String,
    charms: String,
    metaprotocol: String,
    rune: String,
    rune_path: String,
    delegate: Option<Link>,
    parents: Vec<Link>,
    child_count: String,
    children: Part<Option<ChildPage>>,
    metadata: Part<String>,
    events: Part<Vec<EventRow>>,
    previous: String,
    next: String,
}

/// The page.
pub(crate) async fn page(
    reader: Reader,
    Path(named): Path<String>,
    query: Query,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let identifier = named_inscription(&named)?;
    let one: Inscription = reader.ask(Call::rpc("ord_inscription", json!([identifier]))).await?;
    let id = inscription_id(&one.id).ok_or_else(|| Failure::NotServed("This answer cannot be shown.".to_owned()))?;
    let own = one.content_type.clone().unwrap_or_default();
    let effective = one.effective_content_type.clone().unwrap_or_default();
    // Content of another type than its own is a delegate's.
    let has_delegate = one.content_length.is_none() || own != effective;
    let delegate =
        if has_delegate { absent_or(reveal::reveal(&reader, &id).await)?.and_then(Result::ok) } else { None };
    let delegate = delegate.flatten().and_then(|envelope| Link::new(&envelope.delegate?));
    // Scripts run only where the browser reports the purpose of a request.
    let can_run = headers.contains_key("sec-fetch-dest");
    let runs = can_run && query.contains_key("run");
    let is_known = has_delegate || one.content_length.is_some_and(|length| length <= TEXT_BYTES_MAX);
    let shown = shown(&reader, &id, &effective, is_known, (runs, can_run)).await?;
    let is_brc20 = matches!(&shown, Shown::Text { text, .. } if text.contains("brc-20"));
    let events = if is_brc20 { events(&reader, &id).await? } else { Ok(Vec::new()) };
    let metadata = match absent_or(reader.ask::<String>(Call::rpc("ord_metadata", json!([id]))).await)? {
        None => Ok(String::new()),
        Some(digits) => digits.map(|digits| cbor::written(&digits)),
    };
    let sat = match one.sat {
        None => None,
        Some(sat) => reader.part::<Sat>(Call::rpc("ord_sat", json!([sat.to_string()]))).await?.ok(),
    };
    let children = children(&reader, &id, one.child_count, natural(&query, "children")).await?;
    let link = |id: Option<String>| id.as_deref().and_then(inscription_id).unwrap_or_default();
    let page = InscriptionPage {
        number: grouped(one.number),
        is_small: one.content_length.is_none_or(|length| length <= super::SMALL_BYTES_MAX),
        shown,
        effective_content_type: if own == effective { String::new() } else { text::clean(&effective, 100) },
        content_type: text::clean(&own, 100),
        length: one.content_length.map(grouped).unwrap_or_default(),
        address: one.address.map(|address| text::clean(&address, 100)),
        value: one.value.map(grouped).unwrap_or_default(),
        height: one.height,
        age: reader.age(one.timestamp),
        moment: moment(one.timestamp.saturating_mul(1_000)),
        fee: grouped(one.fee),
        reveal: txid_of(&id).unwrap_or_default().to_owned(),
        output_txid: txid_of(&one.satpoint).unwrap_or_default().to_owned(),
        satpoint: text::clean(&one.satpoint, 100),
        sat: one.sat.map(grouped).unwrap_or_default(),
        sat_name: sat.map(|sat| text::clean(&format!("{}, {}", sat.name, sat.rarity), 60)).unwrap_or_default(),
        charms: text::clean(&one.charms.join(", "), 200),
        metaprotocol: text::clean(&one.metaprotocol.unwrap_or_default(), 100),
        rune_path: one.rune.as_deref().map(encoded).unwrap_or_default(),
        rune: text::clean(&one.rune.unwrap_or_default(), 60),
        delegate,
        parents: one.parents.iter().filter_map(|id| Link::new(id)).collect(),
        child_count: grouped(one.child_count),
        children,
        metadata,
        events,
        previous: link(one.previous),
        next: link(one.next),
        id,
        view: reader.view("inscriptions"),
    };
    // The content is in a frame, or audio or video; each from this site.
    let policy = format!("{}; frame-src 'self'; media-src 'self'", crate::POLICY);
    let mut response = Page(page).into_response();
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
    }
    Ok(response)
}

/// Parses the identifier of an inscription: its id, its number, or the name of its sat.
fn named_inscription(named: &str) -> Result<String, Failure> {
    let missing =
        || Failure::NotThere("An inscription is named by its id, its number, or the name of its sat.".to_owned());
    if let Some(id) = inscription_id(named) {
        return Ok(id);
    }
    let number = named.replace(',', "");
    if let Ok(number) = number.parse::<i64>() {
        return Ok(number.to_string());
    }
    let is_sat = (1..=11).contains(&named.len()) && named.bytes().all(|byte| byte.is_ascii_lowercase());
    is_sat.then(|| named.to_owned()).ok_or_else(missing)
}

/// An answer, `None` if it does not exist, or the sentence of another error.
fn absent_or<T>(answer: Result<T, AskError>) -> Result<Option<Part<T>>, Failure> {
    match answer {
        Ok(answer) => Ok(Some(Ok(answer))),
        Err(AskError::Missing(_)) => Ok(None),
        Err(error @ AskError::Later(..)) => Err(error.into()),
        Err(error) => Ok(Some(Err(error.sentence()))),
    }
}

async fn shown(
    reader: &Reader,
    id: &str,
    content_type: &str,
    is_short: bool,
    (runs, can_run): (bool, bool),
) -> Result<Shown, Failure> {
    if content_type.is_empty() {
        return Ok(Shown::Nothing);
    }
    let kind = Kind::of(content_type);
    Ok(match kind {
        Kind::Image(_) | Kind::Svg => Shown::Image,
        Kind::Html => Shown::Html { runs, can_run },
        Kind::Audio(_) => Shown::Audio,
        Kind::Video(_) => Shown::Video,
        Kind::Text(_) if is_short => match absent_or(content::read(reader, id, kind).await)? {
            None => Shown::Nothing,
            Some(Err(sentence)) => Shown::Missing(sentence),
            Some(Ok(content)) => match content.encoding {
                Some(_) => Shown::File,
                None => lines(&String::from_utf8_lossy(&content.bytes)),
            },
        },
        Kind::Text(_) | Kind::Other => Shown::File,
    })
}

/// A text of several lines, cleaned and cut.
fn lines(whole: &str) -> Shown {
    let mut left = TEXT_SHOWN;
    let mut text = String::new();
    for line in whole.lines() {
        if left == 0 {
            break;
        }
        let tabs = line.replace('\t', "    ");
        text.push_str(&text::clean(&tabs, left));
        text.push('\n');
        left = left.saturating_sub(line.chars().count() + 1);
    }
    Shown::Text { text: text.trim_end().to_owned(), is_cut: left == 0 }
}

/// Its BRC-20 events.
async fn events(reader: &Reader, id: &str) -> Result<Part<Vec<EventRow>>, Failure> {
    let path = format!("/v4/opi/v1/brc20/event?inscription_id={id}");
    let events = reader.part::<Vec<Event>>(Call::get(path)).await?;
    Ok(events.map(|events| events.into_iter().take(4).map(EventRow::new).collect()))
}

/// A page of the children.
async fn children(reader: &Reader, id: &str, count: u64, page: u32) -> Result<Part<Option<ChildPage>>, Failure> {
    if count == 0 {
        return Ok(Ok(None));
    }
    let answer = reader.part::<Children>(Call::rpc("ord_children", json!([id, page]))).await?;
    let at = |page: u32| format!("/explorer/inscription/{id}?children={page}");
    Ok(answer.map(|answer| {
        Some(ChildPage {
            links: answer.ids.iter().take(100).filter_map(|id| Link::new(id)).collect(),
            before: page.checked_sub(1).map(at).unwrap_or_default(),
            after: if answer.more { at(page.saturating_add(1)) } else { String::new() },
        })
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inscriptions_are_named_as_the_api_reads_them() {
        let id = format!("{}i1", "ab".repeat(32));
        assert_eq!(named_inscription(&id.to_uppercase()).unwrap(), id);
        assert_eq!(named_inscription("1,234").unwrap(), "1234");
        assert_eq!(named_inscription("-5").unwrap(), "-5");
        assert_eq!(named_inscription("nvtdijuwxlp").unwrap(), "nvtdijuwxlp");
        for wrong in ["", "A", "<b>", "abcdefghijkl", "99999999999999999999", "0x1"] {
            assert!(matches!(named_inscription(wrong), Err(Failure::NotThere(_))), "{wrong}");
        }
    }

    #[test]
    fn texts_are_cut_and_keep_their_lines() {
        let Shown::Text { text, is_cut } = lines("a\u{202e}b\n\tc\n\n") else { panic!() };
        assert_eq!((text.as_str(), is_cut), ("ab\n    c", false));
        let Shown::Text { text, is_cut } = lines(&"x\n".repeat(400_000)) else { panic!() };
        assert!(is_cut && text.len() <= 2 * TEXT_SHOWN);
        let Shown::Text { text, is_cut } = lines(&"é".repeat(400_000)) else { panic!() };
        assert!(is_cut && text.chars().count() == TEXT_SHOWN + 1);
        let Shown::Text { text, .. } = lines(&"\t".repeat(400_000)) else { panic!() };
        assert!(text.len() <= TEXT_SHOWN + 3);
    }
}
