//! What inscriptions say: it stands in their transactions, nowhere else.

use bitcoin::hex::DisplayHex as _;
use paraffin_ordinals_index::envelope::inscription_of;
use paraffin_ordinals_index::event::InscriptionId;
use paraffin_ordinals_index::inscription::Inscription;
use paraffin_ordinals_index::reader::InscriptionQuery;

use super::question::{NO_CONTENT, NO_DELEGATE, NO_INSCRIPTION, NO_METADATA};
use super::{confirmed, failed, read, sequence};
use crate::alkanes::base64;
use crate::errors::RpcError;
use crate::state::RequestContext;
use crate::surfaces::{RpcResult, to_raw};

pub(super) async fn inscription(context: &RequestContext, query: InscriptionQuery, child: Option<u64>) -> RpcResult {
    let find = move |index: &paraffin_ordinals_index::OrdinalsIndex| {
        let Some(mut sequence) = index.sequence(&query)? else { return Ok(None) };
        if let Some(child) = child {
            let Some(found) = index.child(sequence, child)? else { return Ok(None) };
            sequence = found;
        }
        index.facts(sequence)
    };
    let facts = read(context, move |index| find(index).map_err(|error| failed(&error))).await?;
    let facts = facts.ok_or_else(|| RpcError::not_found(NO_INSCRIPTION))?;
    let said = said_by(context, facts.id).await?;
    let delegate = match said.delegate() {
        None => None,
        Some(delegate) => delegate_of(context, delegate).await?,
    };
    // Properties may be packed and large, so they are read away from the async threads as well.
    read(context, move |_| to_raw(&facts.record(&said, delegate.as_ref()))).await
}

/// The content in base64, the delegate's where there is one. Encoded content (`br`) is answered as it is stored.
pub(super) async fn content(context: &RequestContext, id: InscriptionId) -> RpcResult {
    let mut said = known(context, id).await?;
    if let Some(delegate) = said.delegate() {
        let found = delegate_of(context, delegate).await?;
        said = found.ok_or_else(|| RpcError::not_found(NO_DELEGATE))?;
    }
    let body = said.body.ok_or_else(|| RpcError::not_found(NO_CONTENT))?;
    read(context, move |_| to_raw(&base64(&body))).await
}

/// The metadata, CBOR in hexadecimal digits.
pub(super) async fn metadata(context: &RequestContext, id: InscriptionId) -> RpcResult {
    let said = known(context, id).await?;
    let metadata = said.metadata.ok_or_else(|| RpcError::not_found(NO_METADATA))?;
    read(context, move |_| to_raw(&metadata.to_lower_hex_string())).await
}

/// What an inscription of the index says.
async fn known(context: &RequestContext, id: InscriptionId) -> Result<Inscription, RpcError> {
    delegate_of(context, id).await?.ok_or_else(|| RpcError::not_found(NO_INSCRIPTION))
}

/// What an inscription says that may not exist.
async fn delegate_of(context: &RequestContext, id: InscriptionId) -> Result<Option<Inscription>, RpcError> {
    match sequence(context, InscriptionQuery::Id(id)).await? {
        None => Ok(None),
        Some(_) => said_by(context, id).await.map(Some),
    }
}

async fn said_by(context: &RequestContext, id: InscriptionId) -> Result<Inscription, RpcError> {
    let missing = move || RpcError::internal(&format!("inscription {id} is not in its transaction"));
    let transaction = confirmed(context, id.txid).await?.ok_or_else(missing)?;
    read(context, move |_| inscription_of(&transaction, &id).ok_or_else(missing)).await
}
