//! Reorganisations that the index followed, and branches that the node has seen.

use askama::Template;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;

use crate::api::Call;
use crate::explorer::{Reader, View, text};
use crate::failure::Failure;
use crate::html::{Page, grouped, moment};

/// Branches on the page, and those whose header is requested.
const SHOWN: usize = 50;
const HEADERS_ASKED: usize = 8;
/// Reorganisations of the page, and blocks of each.
const FOLLOWED_SHOWN: u32 = 20;
const BLOCKS_SHOWN: usize = 20;

#[derive(Deserialize)]
struct ChainTip {
    height: u32,
    hash: String,
    branchlen: u32,
    status: String,
}

impl ChainTip {
    fn is_branch(&self) -> bool {
        self.status != "active"
    }
}

#[derive(Deserialize)]
struct Header {
    time: i64,
}

/// Reorganisations that the index followed.
#[derive(Deserialize)]
pub(super) struct Followed {
    reorgs: Vec<Reorganisation>,
    count: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Reorganisation {
    fork_height: u32,
    depth: u32,
    blocks: Vec<LeftBlock>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LeftBlock {
    height: u32,
    hash: String,
    time: i64,
    replaced_by: Option<String>,
}

/// A disconnected block, with its replacement.
struct LeftRow {
    /// Number of disconnected blocks, on the first row of a reorganisation.
    depth: Option<String>,
    fork: String,
    height: String,
    hash: String,
    short_hash: String,
    age: String,
    moment: String,
    replaced_by: Option<(String, String)>,
}

struct Row {
    hash: String,
    short_hash: String,
    height: String,
    /// The last common block of the branch and the chain.
    fork: String,
    length: String,
    status: &'static str,
    age: String,
    moment: String,
}

#[derive(Template)]
#[template(path = "explorer/chain/reorgs.html")]
struct Reorgs {
    view: View,
    followed: Vec<LeftRow>,
    followed_sentence: String,
    rows: Vec<Row>,
    branches_sentence: String,
    left_out: String,
}

/// The call for the reorganisations that the index followed.
pub(super) fn followed_call(limit: u32) -> Call {
    Call::get(format!("/v4/api/reorgs?limit={limit}"))
}

/// The rows of all disconnected blocks, and a sentence about them.
fn left_rows(reader: &Reader, followed: &Followed) -> (Vec<LeftRow>, String) {
    let mut rows = Vec::new();
    for reorganisation in &followed.reorgs {
        for (number, block) in reorganisation.blocks.iter().enumerate().take(BLOCKS_SHOWN) {
            rows.push(LeftRow {
                depth: (number == 0).then(|| grouped(reorganisation.depth)),
                fork: reorganisation.fork_height.to_string(),
                height: block.height.to_string(),
                hash: text::clean(&block.hash, 64),
                short_hash: text::short(&block.hash),
                age: reader.age(block.time),
                moment: moment(block.time.saturating_mul(1_000)),
                replaced_by: block.replaced_by.as_deref().map(|hash| (text::clean(hash, 64), text::short(hash))),
            });
        }
    }
    (rows, followed.sentence())
}

impl Followed {
    pub(super) fn sentence(&self) -> String {
        match self.count {
            0 => "None: no block that was indexed has left the best chain.".to_owned(),
            1 => "The index followed 1 reorganisation.".to_owned(),
            count => format!("The index followed {} reorganisations.", grouped(count)),
        }
    }
}

pub(super) async fn page(reader: Reader) -> Result<Response, Failure> {
    let followed = reader.part::<Followed>(followed_call(FOLLOWED_SHOWN)).await?;
    let (followed, followed_sentence) = match &followed {
        Ok(followed) => left_rows(&reader, followed),
        Err(sentence) => (Vec::new(), sentence.clone()),
    };
    // The node may be unavailable; the reorganisations of the index are shown nevertheless.
    let tips = reader.part::<Vec<ChainTip>>(Call::rpc("btc_getchaintips", json!([]))).await?;
    let (tips, branches_sentence) = match tips {
        Ok(tips) if tips.iter().any(ChainTip::is_branch) => (tips, String::new()),
        Ok(_) => (Vec::new(), "None: every block that the node knows is of its best chain.".to_owned()),
        Err(sentence) => (Vec::new(), sentence),
    };
    let mut branches: Vec<ChainTip> = tips.into_iter().filter(ChainTip::is_branch).collect();
    branches.sort_by_key(|tip| std::cmp::Reverse(tip.height));
    let mut rows = Vec::new();
    for (index, tip) in branches.iter().take(SHOWN).enumerate() {
        let mut row = Row::of(tip);
        if index < HEADERS_ASKED && super::is_hash(&tip.hash) {
            let header = reader.part::<Header>(Call::rpc("btc_getblockheader", json!([tip.hash]))).await?;
            if let Ok(header) = header {
                row.age = reader.age(header.time);
                row.moment = moment(header.time.saturating_mul(1_000));
            }
        }
        rows.push(row);
    }
    let left_out = super::stones::left_out(branches.len(), SHOWN, "branches");
    Ok(Page(Reorgs { followed, followed_sentence, rows, branches_sentence, left_out, view: reader.view("status") })
        .into_response())
}

impl Row {
    fn of(tip: &ChainTip) -> Self {
        Self {
            short_hash: text::short(&tip.hash),
            hash: text::clean(&tip.hash, 64),
            height: tip.height.to_string(),
            fork: tip.height.saturating_sub(tip.branchlen).to_string(),
            length: grouped(tip.branchlen),
            status: match tip.status.as_str() {
                "valid-fork" => "was valid, and left",
                "valid-headers" => "headers are valid, blocks were not checked",
                "headers-only" => "only headers are known",
                "invalid" => "invalid",
                _ => "unknown",
            },
            age: "—".to_owned(),
            moment: String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_leaves_the_chain_at_its_fork() {
        let tip = |status: &str, branchlen| ChainTip {
            height: 160,
            hash: "\u{202e}<b>".to_owned(),
            branchlen,
            status: status.to_owned(),
        };
        let row = Row::of(&tip("valid-fork", 2));
        assert_eq!((&*row.fork, &*row.length, row.status), ("158", "2", "was valid, and left"));
        assert_eq!((&*Row::of(&tip("x", 999)).fork, &*row.hash), ("0", "<b>"));
        assert!(!tip("active", 0).is_branch());
    }
}
