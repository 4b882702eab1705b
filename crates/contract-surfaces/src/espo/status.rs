//! Liveness of the surface, and its newest height.

use paraffin_primitives::Height;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::failure::Failure;
use super::{Espo, EspoMethod, newest};
use paraffin_gateway::methods::Form;
use paraffin_gateway::state::RequestContext;

/// Liveness check of the surface: `pong`.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Ping {}

impl EspoMethod for Ping {
    const NAME: &'static str = "essentials.ping";
    const ALIASES: &'static [&'static str] = &["ping"];
    const FORM: Form = Form::NamedNothing;
    const EXAMPLE: &'static str = "{}";
    type Answer = &'static str;

    async fn answer(self, _context: &RequestContext, _espo: &Espo) -> Result<&'static str, Failure> {
        Ok("pong")
    }
}

/// Liveness check of the market methods: `pong`.
#[derive(Deserialize, JsonSchema)]
pub(super) struct MarketPing {}

impl EspoMethod for MarketPing {
    const NAME: &'static str = "ammdata.ping";
    const FORM: Form = Form::NamedNothing;
    const EXAMPLE: &'static str = "{}";
    type Answer = &'static str;

    async fn answer(self, _context: &RequestContext, _espo: &Espo) -> Result<&'static str, Failure> {
        Ok("pong")
    }
}

/// The newest height that every method of this instance can answer for.
#[derive(Deserialize, JsonSchema)]
pub(super) struct IndexHeight {}

/// A height.
#[derive(Serialize, JsonSchema)]
pub(super) struct IndexHeightAnswer {
    height: Height,
}

impl EspoMethod for IndexHeight {
    const NAME: &'static str = "essentials.get_espo_height";
    const ALIASES: &'static [&'static str] = &["get_espo_height"];
    const FORM: Form = Form::NamedNothing;
    const EXAMPLE: &'static str = "{}";
    type Answer = IndexHeightAnswer;

    async fn answer(self, context: &RequestContext, _espo: &Espo) -> Result<IndexHeightAnswer, Failure> {
        Ok(IndexHeightAnswer { height: newest(context)? })
    }
}
