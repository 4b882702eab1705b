//! Tokens, who owns them, and transfer inscriptions that have not moved.

use bitcoin::Script;
use hyper::StatusCode;
use paraffin_ordinals_index::brc20::{Action, LedgerError, OpenNote};
use serde_json::{Value, json};

use super::ask::Part;
use super::render::{amount, as_of, hex, script_bytes, wallet, with_balance};
use super::{Request, absent, enveloped, failed};
use crate::errors::RestError;
use crate::interrupt::Interrupt;
use crate::rest::RestResult;
use crate::state::BoxFuture;

/// About what a record takes beside its script until it is written, and what is written of it, bytes.
const RECORD_BYTES: usize = 640;
/// Rows that a walk reads between two checks whether the request is cancelled.
const ROWS_BETWEEN_LOOKS: usize = 256;

/// GET `/token_summary`.
pub(super) fn summary(request: Request<'_>) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let (ticker, network) = (request.ticker()?, request.context.network());
        let answer = request.read(move |index, newest| {
            let token = index.token(&ticker).map_err(|error| failed(&error))?;
            let token = token.ok_or_else(|| absent("no ticker found"))?;
            let deployment = index.event(token.deployed_at, token.deployed_as).map_err(|error| failed(&error))?;
            let Some(Action::Deploy { owner, .. }) = deployment.map(|placed| placed.event.action) else {
                return Err(failed(&LedgerError::Damaged("the deployment of a token is missing")));
            };
            let summary = json!({
                "tick": token.ticker.lower(),
                "original_tick": token.ticker.original(),
                "max_supply": amount(token.max_supply),
                "minted_supply": amount(token.minted()),
                "remaining_supply": amount(token.remaining),
                "burned_supply": amount(token.burned),
                "limit_per_mint": amount(token.limit_per_mint),
                "decimals": token.decimals,
                "is_self_mint": token.is_self_mint,
                "deploy_inscription_id": token.deployment.to_string(),
                "deploy_block_height": token.deployed_at,
                "deployer_pkScript": hex(&owner),
                "deployer_wallet": wallet(&owner, network),
                "holders": token.holders,
                "mints": token.mints,
                "transfers": token.transfers,
            });
            Ok(as_of(summary, newest))
        });
        enveloped(&answer.await?)
    })
}

/// GET `/holders`: the richest first. The list has OPI's name.
pub(super) fn holders(request: Request<'_>) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let (ticker, part) = (request.ticker()?, request.part()?);
        let (network, list_max) = (request.context.network(), request.context.limits().list_records_max);
        let walked = request.walk(move |index, newest, interrupt| {
            let render = |holder: paraffin_ordinals_index::brc20::Holder| {
                let record = json!({ "pkscript": hex(&holder.script), "wallet": wallet(&holder.script, network) });
                with_balance(record, holder.balance)
            };
            listed(index.holders(&ticker), |holder| &holder.script, part, list_max, render, newest, interrupt)
        });
        let (answer, _kept) = walked.await?;
        enveloped(&answer)
    })
}

/// GET `/get_valid_tx_notes_of_wallet`: by ticker.
pub(super) fn notes_of_wallet(request: Request<'_>) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let (script, part) = (request.wallet()?, request.part()?);
        let list_max = request.context.limits().list_records_max;
        let walked = request.walk(move |index, newest, interrupt| {
            let render = |note: OpenNote| {
                json!({
                    "tick": note.ticker,
                    "inscription_id": note.inscription.to_string(),
                    "amount": amount(note.amount),
                    "genesis_height": note.height,
                })
            };
            listed(index.notes_of_script(&script), |_| Script::new(), part, list_max, render, newest, interrupt)
        });
        let (answer, _kept) = walked.await?;
        enveloped(&answer)
    })
}

/// GET `/get_valid_tx_notes_of_ticker`: by owner.
pub(super) fn notes_of_ticker(request: Request<'_>) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let (ticker, part) = (request.ticker()?, request.part()?);
        let (network, list_max) = (request.context.network(), request.context.limits().list_records_max);
        let walked = request.walk(move |index, newest, interrupt| {
            let render = |note: OpenNote| {
                json!({
                    "tick": note.ticker,
                    "current_holder_pkscript": hex(&note.source),
                    "current_holder_wallet": wallet(&note.source, network),
                    "inscription_id": note.inscription.to_string(),
                    "amount": amount(note.amount),
                    "genesis_height": note.height,
                })
            };
            listed(index.notes_of_ticker(&ticker), |note| &note.source, part, list_max, render, newest, interrupt)
        });
        let (answer, _kept) = walked.await?;
        enveloped(&answer)
    })
}

/// A part of a list, or all of it where that is not too much. The record of a row contains its `script`.
fn listed<T>(
    rows: impl Iterator<Item = Result<T, LedgerError>>,
    script: impl Fn(&T) -> &Script,
    part: Part,
    list_max: usize,
    render: impl Fn(T) -> Value,
    newest: u32,
    interrupt: &Interrupt,
) -> Result<Value, RestError> {
    let mut records = Vec::new();
    for (place, row) in rows.enumerate() {
        if place % ROWS_BETWEEN_LOOKS == 0 && interrupt.is_over() {
            return Err(RestError::new(StatusCode::GATEWAY_TIMEOUT, "TIMEOUT", "timeout"));
        }
        if place < part.offset {
            row.map_err(|error| failed(&error))?;
            continue;
        }
        if part.limit == Some(records.len()) {
            break;
        }
        if records.len() == list_max {
            return Err(RestError::bad_request(format!("more than {list_max} records: give limit and offset")));
        }
        let row = row.map_err(|error| failed(&error))?;
        if !interrupt.keep(RECORD_BYTES + script_bytes(script(&row))) {
            return Err(RestError::panicked());
        }
        records.push(render(row));
    }
    if records.is_empty() && part.offset == 0 {
        return Err(absent("no unused tx found"));
    }
    Ok(as_of(json!({ "unused_txes": records }), newest))
}
