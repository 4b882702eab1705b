//! The newest indexed block, and the reorganisations that the index followed.

use paraffin_store::{Snapshot, StoreError, UndoneBlock};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use paraffin_gateway::errors::ApiError;
use paraffin_gateway::methods::Hash;
use paraffin_gateway::rest::part::Part;
use paraffin_gateway::rest::route::Pages;
use paraffin_gateway::rest::{Base, Declared, Group, Route, Verb, Wrapping};
use paraffin_gateway::state::RequestContext;

pub(crate) static GROUP: Group = Group {
    tag: "Bitcoin",
    base: Base::Api,
    admit: |_| Ok(()),
    routes: &[
        Declared::of::<BareHeight>(),
        Declared::of::<IndexHeight>(),
        Declared::of::<IndexHash>(),
        Declared::of::<IndexPosition>(),
        Declared::of::<Reorganisations>(),
    ],
};

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct HeightAnswer {
    height: u32,
}

/// Height of the newest indexed block, without envelope.
#[derive(Deserialize, JsonSchema)]
struct BareHeight {}

impl Route for BareHeight {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Get, "indexer/height")];
    const WRAPPING: Wrapping = Wrapping::Bare;
    type Answer = HeightAnswer;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<HeightAnswer, ApiError> {
        let tip = context.tip().ok_or_else(ApiError::starting)?;
        Ok(HeightAnswer { height: tip.height })
    }
}

/// Height of the newest indexed block.
#[derive(Deserialize, JsonSchema)]
struct IndexHeight {}

impl Route for IndexHeight {
    const PATHS: &'static [(Verb, &'static str)] =
        &[(Verb::Get, "blockheight"), (Verb::Post, "blockheight"), (Verb::Post, "get-block-height")];
    type Answer = HeightAnswer;

    async fn answer(self, context: &RequestContext, part: Part) -> Result<HeightAnswer, ApiError> {
        BareHeight {}.answer(context, part).await
    }
}

/// Hash of the newest indexed block.
#[derive(Deserialize, JsonSchema)]
struct IndexHash {}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct HashAnswer {
    hash: Hash,
}

impl Route for IndexHash {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Get, "blockhash"), (Verb::Post, "get-block-hash")];
    type Answer = HashAnswer;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<HashAnswer, ApiError> {
        let tip = context.tip().ok_or_else(ApiError::starting)?;
        Ok(HashAnswer { hash: Hash::of(tip.hash) })
    }
}

/// Height and hash of the newest indexed block.
#[derive(Deserialize, JsonSchema)]
struct IndexPosition {}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct PositionAnswer {
    height: u32,
    hash: Hash,
}

impl Route for IndexPosition {
    const PATHS: &'static [(Verb, &'static str)] =
        &[(Verb::Get, "indexer-position"), (Verb::Post, "get-indexer-position")];
    type Answer = PositionAnswer;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<PositionAnswer, ApiError> {
        let tip = context.tip().ok_or_else(ApiError::starting)?;
        Ok(PositionAnswer { height: tip.height, hash: Hash::of(tip.hash) })
    }
}

/// Reorganisations that this instance followed, the newest first: of the newest 1,000 blocks that left the best chain after they
/// were indexed. A copy that starts from a snapshot has those of the instance that wrote it.
#[derive(Deserialize, JsonSchema)]
struct Reorganisations {}

/// A block that left the best chain.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct LeftBlock {
    height: u32,
    hash: Hash,
    /// Header time, Unix seconds.
    time: u32,
    /// Hash of the block at this height in the best chain; null above the tip.
    replaced_by: Option<Hash>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct Reorganisation {
    /// Height of the last common block of both branches.
    fork_height: u32,
    /// Its hash.
    fork_hash: Hash,
    /// Number of removed blocks.
    depth: usize,
    /// The removed blocks, the newest first.
    blocks: Vec<LeftBlock>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct ReorganisationsAnswer {
    reorgs: Vec<Reorganisation>,
    /// Number of all recorded reorganisations.
    count: usize,
}

impl Route for Reorganisations {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Get, "reorgs"), (Verb::Post, "get-reorgs")];
    const PAGES: Option<Pages> = Some(Pages { default: Some(20), max: 100 });
    type Answer = ReorganisationsAnswer;

    async fn answer(self, context: &RequestContext, part: Part) -> Result<ReorganisationsAnswer, ApiError> {
        let read = move |snapshot: &Snapshot| {
            let all = grouped(snapshot.undone_blocks(usize::MAX)?);
            let count = all.len();
            let reorgs = part.of(all).into_iter().map(|left| reorganisation(snapshot, &left));
            Ok(ReorganisationsAnswer { reorgs: reorgs.collect::<Result<_, StoreError>>()?, count })
        };
        let answer = context.read(read).await.map_err(|error| ApiError::internal(&error))?;
        answer.map_err(|error: StoreError| ApiError::internal(&error))
    }
}

/// Consecutively removed blocks, each the parent of the previous one, are one reorganisation.
fn grouped(undone: Vec<UndoneBlock>) -> Vec<Vec<UndoneBlock>> {
    // Oldest first: a branch is undone from its tip down.
    let mut all: Vec<Vec<UndoneBlock>> = Vec::new();
    for block in undone.into_iter().rev() {
        match all.last_mut().filter(|branch| branch.last().is_some_and(|above| above.previous == block.id.hash)) {
            Some(branch) => branch.push(block),
            None => all.push(vec![block]),
        }
    }
    all.reverse();
    all
}

fn reorganisation(snapshot: &Snapshot, left: &[UndoneBlock]) -> Result<Reorganisation, StoreError> {
    let lowest = left.last().map(|block| (block.id.height.saturating_sub(1), Hash::of(block.previous)));
    let (fork_height, fork_hash) =
        lowest.ok_or_else(|| StoreError::Corrupt("a reorganisation of no block".to_owned()))?;
    let blocks = left.iter().map(|block| {
        let present = snapshot.block(block.id.height)?;
        Ok(LeftBlock {
            height: block.id.height,
            hash: Hash::of(block.id.hash),
            time: block.time,
            replaced_by: present.map(|record| Hash::of(record.id.hash)),
        })
    });
    Ok(Reorganisation { fork_height, fork_hash, depth: left.len(), blocks: blocks.collect::<Result<_, StoreError>>()? })
}
