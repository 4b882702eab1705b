//! Reorganisations: blocks that the node has seen and that are not of its chain.

use askama::Template;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;

use crate::api::Call;
use crate::explorer::{Reader, View, text};
use crate::failure::Failure;
use crate::html::{Page, grouped, moment};

/// Branches of the page, and those whose header is asked for.
const SHOWN: usize = 50;
const HEADERS_ASKED: usize = 8;

#[derive(Deserialize)]
pub(super) struct ChainTip {
    pub(super) height: u32,
    pub(super) hash: String,
    pub(super) branchlen: u32,
    pub(super) status: String,
}

impl ChainTip {
    pub(super) fn is_branch(&self) -> bool {
        self.status != "active"
    }
}

#[derive(Deserialize)]
struct Header {
    time: i64,
}

struct Row {
    hash: String,
    short_hash: String,
    height: String,
    /// The last block that the branch has in common with the chain.
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
    rows: Vec<Row>,
    left_out: String,
}

pub(super) async fn page(reader: Reader) -> Result<Response, Failure> {
    let tips: Vec<ChainTip> = reader.ask(Call::rpc("btc_getchaintips", json!([]))).await?;
    let mut branches: Vec<ChainTip> = tips.into_iter().filter(ChainTip::is_branch).collect();
    branches.sort_by_key(|tip| std::cmp::Reverse(tip.height));
    let mut rows = Vec::new();
    for (place, tip) in branches.iter().take(SHOWN).enumerate() {
        let mut row = Row::of(tip);
        if place < HEADERS_ASKED && super::is_hash(&tip.hash) {
            let header = reader.part::<Header>(Call::rpc("btc_getblockheader", json!([tip.hash]))).await?;
            if let Ok(header) = header {
                row.age = reader.age(header.time);
                row.moment = moment(header.time.saturating_mul(1_000));
            }
        }
        rows.push(row);
    }
    let left_out = super::stones::left_out(branches.len(), SHOWN, "branches");
    Ok(Page(Reorgs { rows, left_out, view: reader.view("status") }).into_response())
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
