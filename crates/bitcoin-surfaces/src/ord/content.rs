//! Envelopes of inscriptions, which are parsed from their transactions as the index does not store them.

use bitcoin::hex::DisplayHex as _;
use data_encoding::BASE64;
use paraffin_ordinals_index::OrdinalsIndex;
use paraffin_ordinals_index::envelope::inscription_of;
use paraffin_ordinals_index::event::InscriptionId;
use paraffin_ordinals_index::inscription::Inscription;
use paraffin_ordinals_index::reader::InscriptionQuery;

use super::question::{NO_CONTENT, NO_DELEGATE, NO_INSCRIPTION, NO_METADATA};
use super::{Call, confirmed, failed, read, sequence};
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::surface::{RpcResult, to_raw};

pub(super) async fn inscription(call: &Call<'_>, query: InscriptionQuery, child: Option<u64>) -> RpcResult {
    let find = move |index: &OrdinalsIndex| {
        let Some(mut sequence) = index.sequence(&query)? else { return Ok(None) };
        if let Some(child) = child {
            let Some(found) = index.child(sequence, child)? else { return Ok(None) };
            sequence = found;
        }
        index.facts(sequence)
    };
    let facts = read(call, move |index| find(index).map_err(|error| failed(&error))).await?;
    let facts = facts.ok_or_else(|| ApiError::not_found(NO_INSCRIPTION))?;
    let inscription = envelope_of(call, facts.id).await?;
    let delegate = match inscription.delegate() {
        None => None,
        Some(delegate) => delegate_of(call, delegate).await?,
    };
    // Properties may be compressed and large, so they too are read off the async threads.
    let written = move |index: &OrdinalsIndex| {
        to_raw(&facts.record(&inscription, delegate.as_ref(), &|bytes| index.keep(bytes).is_ok()))
    };
    read(call, written).await
}

/// The content in base64, the delegate's where there is one. Encoded content (`br`) is answered as it is stored.
pub(super) async fn content(call: &Call<'_>, id: InscriptionId) -> RpcResult {
    let mut inscription = indexed(call, id).await?;
    if let Some(delegate) = inscription.delegate() {
        let target = delegate_of(call, delegate).await?;
        inscription = target.ok_or_else(|| ApiError::not_found(NO_DELEGATE))?;
    }
    let body = inscription.body.ok_or_else(|| ApiError::not_found(NO_CONTENT))?;
    read(call, move |_| to_raw(&BASE64.encode(&body))).await
}

/// The metadata, CBOR in hexadecimal digits.
pub(super) async fn metadata(call: &Call<'_>, id: InscriptionId) -> RpcResult {
    let inscription = indexed(call, id).await?;
    let metadata = inscription.metadata.ok_or_else(|| ApiError::not_found(NO_METADATA))?;
    read(call, move |_| to_raw(&metadata.to_lower_hex_string())).await
}

/// An inscription that must be in the index.
async fn indexed(call: &Call<'_>, id: InscriptionId) -> Result<Inscription, ApiError> {
    delegate_of(call, id).await?.ok_or_else(|| ApiError::not_found(NO_INSCRIPTION))
}

/// An inscription that may not exist.
async fn delegate_of(call: &Call<'_>, id: InscriptionId) -> Result<Option<Inscription>, ApiError> {
    match sequence(call, InscriptionQuery::Id(id)).await? {
        None => Ok(None),
        Some(_) => envelope_of(call, id).await.map(Some),
    }
}

/// An inscription, parsed from its transaction.
async fn envelope_of(call: &Call<'_>, id: InscriptionId) -> Result<Inscription, ApiError> {
    let missing = move || ApiError::inconsistent(format!("inscription {id} is not in its transaction"));
    let transaction = confirmed(call, id.txid).await?.ok_or_else(missing)?;
    read(call, move |_| inscription_of(&transaction, &id).ok_or_else(missing)).await
}
