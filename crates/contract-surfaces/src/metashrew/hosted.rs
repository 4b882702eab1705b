//! The family as answered by a hosted indexer program.

use std::sync::Arc;

use paraffin_primitives::Height;

use super::message;
use paraffin_gateway::alkanes::{Fault, hex};
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::hosted::{HostedProgram, ask};
use paraffin_gateway::methods::{BlockTag, Verbatim};
use paraffin_gateway::state::RequestContext;

/// The hosted program of this instance, if any.
pub(super) fn of(context: &RequestContext) -> Option<&Arc<dyn HostedProgram>> {
    context.shared().hosted.as_ref()
}

/// Newest height that the program has run.
pub(super) fn newest(context: &RequestContext, program: &dyn HostedProgram) -> Result<Height, ApiError> {
    program.newest(context.snapshot())?.ok_or_else(ApiError::starting)
}

/// The height that a tag means, at most the newest.
fn height(context: &RequestContext, program: &dyn HostedProgram, tag: Option<&BlockTag>) -> Result<Height, ApiError> {
    let newest = newest(context, program)?;
    let height = BlockTag::height_of(tag, context)?.unwrap_or(newest);
    if height > newest { Err(Fault::AboveTip { newest }.into()) } else { Ok(height) }
}

fn check_exported(program: &dyn HostedProgram, name: &str) -> Result<(), ApiError> {
    if program.has_view(name) { Ok(()) } else { Err(ApiError::method_not_found()) }
}

/// Any view that the program exports.
pub(super) async fn view(
    context: &RequestContext,
    program: &Arc<dyn HostedProgram>,
    name: String,
    input: Option<&Verbatim>,
    tag: Option<&BlockTag>,
) -> Result<String, ApiError> {
    check_exported(&**program, &name)?;
    let payload = message(input)?;
    let height = height(context, &**program, tag)?;
    let program = Arc::clone(program);
    let answer = ask(context, 1, move |snapshot, is_over| program.view(snapshot, height, &name, &payload, is_over));
    Ok(hex(&answer.await?))
}

/// Any view that the program exports, after one more block.
pub(super) async fn preview(
    context: &RequestContext,
    program: &Arc<dyn HostedProgram>,
    block: Vec<u8>,
    name: String,
    payload: Vec<u8>,
    tag: Option<&BlockTag>,
) -> Result<String, ApiError> {
    check_exported(&**program, &name)?;
    let height = height(context, &**program, tag)?;
    let program = Arc::clone(program);
    let permits = u32::try_from(context.limits().preview_permits()).unwrap_or(1);
    let answer = ask(context, permits, move |snapshot, is_over| {
        program.preview(snapshot, height, &block, &name, &payload, is_over)
    });
    Ok(hex(&answer.await?))
}

/// The digest of what the program wrote in a block.
pub(super) fn state_root(
    context: &RequestContext,
    program: &dyn HostedProgram,
    tag: Option<&BlockTag>,
) -> Result<String, ApiError> {
    let height = height(context, program, tag)?;
    let digest = program.digest(context.snapshot(), height)?;
    // Below its first block the program has written nothing.
    Ok(hex(&digest.unwrap_or_default()))
}
