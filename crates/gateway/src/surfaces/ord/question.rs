//! What a call asks, whichever server answers it.

use bitcoin::{Address, OutPoint, Txid};
use ordinals::Sat;
use paraffin_ordinals_index::event::InscriptionId;
use paraffin_ordinals_index::reader::{InscriptionQuery, OutputKind, RuneQuery};
use paraffin_primitives::Height;

use super::params::{self, BlockQuery};
use crate::describe::ORD_METHODS;
use crate::errors::RpcError;
use crate::jsonrpc::Params;
use crate::state::RequestContext;

/// A call with its parameters read.
pub(super) enum Question {
    BlockCount,
    BlockHeight,
    /// Of the newest block without a height.
    BlockHash(Option<Height>),
    BlockTime,
    Block(BlockQuery),
    Blocks,
    /// With the place of a child that is wanted instead.
    Inscription(InscriptionQuery, Option<u64>),
    /// A page.
    Inscriptions(u32),
    InscriptionsOfBlock(Height, u32),
    Children(InscriptionId, u32),
    Parents(InscriptionId, u32),
    Content(InscriptionId),
    Metadata(InscriptionId),
    Rune(RuneQuery),
    /// A page.
    Runes(u32),
    Sat(Sat),
    /// The number of a sat, also one that no sat has, and a page.
    InscriptionsOnSat(u64, u32),
    /// Counted from the oldest, or below 0 from the newest.
    InscriptionOnSat(Sat, i64),
    Output(OutPoint),
    Outputs(Address, OutputKind),
    Address(Address),
    AddressInscriptions(Address),
    Transaction(Txid),
}

impl Question {
    /// Reads the parameters of a method.
    ///
    /// # Errors
    /// -32601 for a method that does not exist, -32602 naming the parameter that is wrong.
    pub(super) fn read(context: &RequestContext, method: &str, params: &Params) -> Result<Self, RpcError> {
        let known = ORD_METHODS.iter().find(|(name, ..)| *name == method);
        let (.., takes, _) = known.ok_or_else(RpcError::method_not_found)?;
        match takes.split_whitespace().count() {
            0 => params.none()?,
            most => params.at_most(most)?,
        }
        let id = || params::inscription_id(params, 0);
        let page = |index| params::page(params, index);
        let address = || {
            let text = params.text(0, "the address")?;
            context.network().parse_address(&text).map_err(RpcError::invalid_params)
        };
        Ok(match method {
            "blockcount" => Self::BlockCount,
            "blockheight" => Self::BlockHeight,
            "blockhash" => Self::BlockHash(params::optional_height(params, 0)?),
            "blocktime" => Self::BlockTime,
            "block" => Self::Block(params::block(params, 0)?),
            "blocks" => Self::Blocks,
            "inscription" => {
                let query = params::parsed(params, 0, "the inscription")?;
                let child = params.get(1).map(|_| params.unsigned(1, "the place of the child")).transpose()?;
                Self::Inscription(query, child)
            }
            "inscriptions" => Self::Inscriptions(params::page_or_empty(params, 0)?),
            "inscriptions::block" => Self::InscriptionsOfBlock(params::height(params, 0)?, page(1)?),
            "children" => Self::Children(id()?, page(1)?),
            "parents" => Self::Parents(id()?, page(1)?),
            "content" => Self::Content(id()?),
            "metadata" => Self::Metadata(id()?),
            "rune" => Self::Rune(params::parsed(params, 0, "the rune")?),
            "runes" => Self::Runes(page(0)?),
            "sat" => Self::Sat(params::sat(params, 0)?),
            "r:sat" => Self::InscriptionsOnSat(params.unsigned(0, "the number of the sat")?, page(1)?),
            "r:sat::at" => Self::InscriptionOnSat(params::sat(params, 0)?, params::position(params, 1)?),
            "output" => Self::Output(params::outpoint(params, 0)?),
            "outputs" => {
                let address = address()?;
                let kind = params.optional_text(1, "the kind of outputs")?;
                let kind = kind.map_or(Ok(OutputKind::Any), |kind| kind.parse().map_err(RpcError::invalid_params))?;
                Self::Outputs(address, kind)
            }
            "address" => Self::Address(address()?),
            "address::inscriptions" => Self::AddressInscriptions(address()?),
            "tx" => Self::Transaction(params::txid(params, 0)?),
            _ => return Err(RpcError::method_not_found()),
        })
    }

    /// What is said when there is none of it.
    pub(super) const fn missing(&self) -> &'static str {
        match self {
            Self::BlockHash(_) | Self::BlockTime => "there is no block at this height",
            Self::Block(_) => "there is no such block in the chain",
            Self::Inscription(..) | Self::Children(..) | Self::Parents(..) | Self::Content(_) | Self::Metadata(_) => {
                NO_INSCRIPTION
            }
            Self::Rune(_) => "there is no such rune",
            Self::Output(_) => "there is no such output",
            Self::Transaction(_) => "there is no such transaction",
            _ => "",
        }
    }
}

pub(super) const NO_INSCRIPTION: &str = "there is no such inscription";
pub(super) const NO_DELEGATE: &str = "there is no such delegate";
pub(super) const NO_CONTENT: &str = "the inscription has no content";
pub(super) const NO_METADATA: &str = "the inscription has no metadata";
