//! Base runes, by output, by address and by height (protocol B20, B21).

use bitcoin::OutPoint;
use paraffin_primitives::{AlkaneId, Height};

use super::outputs::{OutputHoldings, answer, placed, script_of, sheet};
use super::{ViewContext, ViewError, outpoint};
use crate::proto;
use crate::proto::alkanes::Outpoint;
use crate::proto::protorune::{
    BalanceSheetItem, OutpointResponse, Rune, RunesByHeightRequest, RunesResponse, WalletRequest, WalletResponse,
};
use crate::{Etching, StateKey};

/// The terms of a base rune as etched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuneTerms {
    /// Name, without dots.
    pub name: String,
    /// One character.
    pub symbol: String,
    /// Decimal places.
    pub divisibility: u32,
    /// Positions of dots in the name, one bit for each gap.
    pub spacers: u32,
}

impl From<Etching> for RuneTerms {
    fn from(etching: Etching) -> Self {
        Self {
            name: ordinals::Rune(etching.name).to_string(),
            symbol: etching.symbol.to_string(),
            divisibility: u32::from(etching.divisibility),
            spacers: etching.spacers,
        }
    }
}

/// The base rune of an id; `None` when there is none.
///
/// # Errors
/// [`ViewError::State`].
pub fn rune(id: AlkaneId, context: &ViewContext<'_>) -> Result<Option<RuneTerms>, ViewError> {
    match context.state.get(&StateKey::Etching(id))? {
        None => Ok(None),
        Some(bytes) => Ok(Some(Etching::decode(&bytes)?.into())),
    }
}

pub(super) fn by_outpoint(payload: &[u8], context: &ViewContext<'_>) -> Result<OutpointResponse, ViewError> {
    let request: Outpoint = proto::decode(payload)?;
    let response = held(&outpoint(&request.txid, request.vout)?, context)?;
    Ok(response.unwrap_or_default())
}

pub(super) fn by_address(payload: &[u8], context: &ViewContext<'_>) -> Result<WalletResponse, ViewError> {
    let request: WalletRequest = proto::decode(payload)?;
    let script = script_of(&request.wallet, context)?;
    let mut outpoints = Vec::new();
    for outpoint in context.chain.unspent(&script)? {
        context.check()?;
        outpoints.extend(held(&outpoint, context)?);
    }
    Ok(WalletResponse { outpoints, balances: None })
}

/// The base runes of an output, with the placeholders that the reference gives instead of their names.
fn held(outpoint: &OutPoint, context: &ViewContext<'_>) -> Result<Option<OutpointResponse>, ViewError> {
    let Some(placed) = placed(outpoint, context)? else { return Ok(None) };
    let sheet = sheet(context.state, &StateKey::BaseSheet(*outpoint))?;
    let held = OutputHoldings::new(*outpoint, placed, &sheet);
    let entries = held.listed().into_iter().map(|transfer| BalanceSheetItem {
        rune: Some(Rune {
            rune_id: Some(transfer.id.into()),
            name: "UNKNOWN".to_owned(),
            divisibility: 1,
            spacers: 1,
            symbol: "0".to_owned(),
        }),
        balance: Some(transfer.value.into()),
    });
    let entries = entries.collect();
    Ok(Some(answer(&held, entries)))
}

pub(super) fn by_height(payload: &[u8], context: &ViewContext<'_>) -> Result<RunesResponse, ViewError> {
    let request: RunesByHeightRequest = proto::decode(payload)?;
    let height = Height::try_from(request.height).ok().filter(|height| *height <= context.height);
    let Some(height) = height else { return Ok(RunesResponse::default()) };
    let etched = context.state.etched(height)?.into_iter().map(|(id, etching)| {
        let terms = RuneTerms::from(etching);
        Rune {
            rune_id: Some(id.into()),
            name: terms.name,
            divisibility: terms.divisibility,
            spacers: terms.spacers,
            symbol: terms.symbol,
        }
    });
    Ok(RunesResponse { runes: etched.collect() })
}
