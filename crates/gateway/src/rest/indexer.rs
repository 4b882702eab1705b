//! Where the index stands.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::part::Part;
use super::route::{Base, Declared, Group, Route, Verb, Wrapping};
use crate::errors::RestError;
use crate::methods::Hash;
use crate::state::RequestContext;

pub(super) static GROUP: Group = Group {
    tag: "Bitcoin",
    base: Base::Api,
    admit: |_| Ok(()),
    routes: &[
        Declared::of::<BareHeight>(),
        Declared::of::<IndexHeight>(),
        Declared::of::<IndexHash>(),
        Declared::of::<IndexPosition>(),
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

    async fn answer(self, context: &RequestContext, _: Part) -> Result<HeightAnswer, RestError> {
        let tip = context.tip().ok_or_else(RestError::starting)?;
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

    async fn answer(self, context: &RequestContext, part: Part) -> Result<HeightAnswer, RestError> {
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

    async fn answer(self, context: &RequestContext, _: Part) -> Result<HashAnswer, RestError> {
        let tip = context.tip().ok_or_else(RestError::starting)?;
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

    async fn answer(self, context: &RequestContext, _: Part) -> Result<PositionAnswer, RestError> {
        let tip = context.tip().ok_or_else(RestError::starting)?;
        Ok(PositionAnswer { height: tip.height, hash: Hash::of(tip.hash) })
    }
}
