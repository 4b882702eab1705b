//! What inscriptions say: it stands in their transactions, nowhere else.

use bitcoin::hex::DisplayHex as _;
use data_encoding::BASE64;
use paraffin_ordinals_index::OrdinalsIndex;
use paraffin_ordinals_index::envelope::inscription_of;
use paraffin_ordinals_index::event::InscriptionId;
use paraffin_ordinals_index::inscription::Inscription;
use paraffin_ordinals_index::reader::InscriptionQuery;

use super::question::{NO_CONTENT, NO_DELEGATE, NO_INSCRIPTION, NO_METADATA};
use super::{Call, confirmed, failed, read, sequence};
use crate::errors::ApiError;
use crate::surfaces::{RpcResult, to_raw};

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
    let said = said_by(call, facts.id).await?;
    let delegate = match said.delegate() {
        None => None,
        Some(delegate) => delegate_of(call, delegate).await?,
    };
    // Properties may be packed and large, so they are read away from the async threads as well.
    let written = move |index: &OrdinalsIndex| {
        to_raw(&facts.record(&said, delegate.as_ref(), &|bytes| index.keep(bytes).is_ok()))
    };
    read(call, written).await
}

/// The content in base64, the delegate's where there is one. Encoded content (`br`) is answered as it is stored.
pub(super) async fn content(call: &Call<'_>, id: InscriptionId) -> RpcResult {
    let mut said = known(call, id).await?;
    if let Some(delegate) = said.delegate() {
        let found = delegate_of(call, delegate).await?;
        said = found.ok_or_else(|| ApiError::not_found(NO_DELEGATE))?;
    }
    let body = said.body.ok_or_else(|| ApiError::not_found(NO_CONTENT))?;
    read(call, move |_| to_raw(&BASE64.encode(&body))).await
}

/// The metadata, CBOR in hexadecimal digits.
pub(super) async fn metadata(call: &Call<'_>, id: InscriptionId) -> RpcResult {
    let said = known(call, id).await?;
    let metadata = said.metadata.ok_or_else(|| ApiError::not_found(NO_METADATA))?;
    read(call, move |_| to_raw(&metadata.to_lower_hex_string())).await
}

/// What an inscription of the index says.
async fn known(call: &Call<'_>, id: InscriptionId) -> Result<Inscription, ApiError> {
    delegate_of(call, id).await?.ok_or_else(|| ApiError::not_found(NO_INSCRIPTION))
}

/// What an inscription says that may not exist.
async fn delegate_of(call: &Call<'_>, id: InscriptionId) -> Result<Option<Inscription>, ApiError> {
    match sequence(call, InscriptionQuery::Id(id)).await? {
        None => Ok(None),
        Some(_) => said_by(call, id).await.map(Some),
    }
}

async fn said_by(call: &Call<'_>, id: InscriptionId) -> Result<Inscription, ApiError> {
    let missing = move || ApiError::inconsistent(format!("inscription {id} is not in its transaction"));
    let transaction = confirmed(call, id.txid).await?.ok_or_else(missing)?;
    read(call, move |_| inscription_of(&transaction, &id).ok_or_else(missing)).await
}
