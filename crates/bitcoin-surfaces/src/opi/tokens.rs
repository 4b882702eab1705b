//! Tokens, their holders, and transfer inscriptions that have not moved.

use bitcoin::Script;
use paraffin_ordinals_index::brc20::{Action, Holder, LedgerError, OpenNote};
use paraffin_primitives::Height;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ask::{ListPart, Script as ScriptParam, Ticker, wallet as wallet_of};
use super::balances::Balances;
use super::proxied::Query;
use super::render::{BaseUnits, ScriptHex, WalletText, hex, script_bytes, wallet};
use super::{absent, answer, failed};
use paraffin_gateway::api_types::{AddressText, Count, Offset};
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::interrupt::Interrupt;
use paraffin_gateway::rest::part::Part;
use paraffin_gateway::rest::{Changes, Made, Route, Verb, Wrapping};
use paraffin_gateway::state::RequestContext;

const EXAMPLE: &str = r#"{"ticker":"ordi"}"#;

/// Bytes of a record in memory and in the answer, without its script, about.
const RECORD_BYTES: usize = 640;
/// Rows read between two checks for cancellation of the request.
const ROWS_BETWEEN_LOOKS: usize = 256;

/// A token.
#[derive(Deserialize, JsonSchema)]
pub(super) struct TokenSummary {
    /// The token.
    ticker: Ticker,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct Summary {
    /// In lower case.
    tick: String,
    /// As deployed.
    original_tick: String,
    max_supply: BaseUnits,
    minted_supply: BaseUnits,
    remaining_supply: BaseUnits,
    burned_supply: BaseUnits,
    limit_per_mint: BaseUnits,
    /// At most 18.
    decimals: u8,
    is_self_mint: bool,
    deploy_inscription_id: String,
    deploy_block_height: Height,
    #[serde(rename = "deployer_pkScript")]
    deployer_script: ScriptHex,
    deployer_wallet: WalletText,
    holders: u64,
    mints: u64,
    transfers: u64,
    block_height: Height,
}

impl Route for TokenSummary {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Get, "opi/v1/brc20/token_summary")];
    const EXAMPLE: &'static str = EXAMPLE;
    const WRAPPING: Wrapping = Wrapping::WithError;
    const CHANGES: Changes = super::CHANGES;
    type Answer = Made<Summary>;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<Made<Summary>, ApiError> {
        let (Ticker(ticker), network) = (self.ticker, context.network());
        let mut query = Query::of("token_summary");
        query.put("ticker", &ticker);
        answer(context, &query, move |index, newest, _| {
            let token = index.token(&ticker).map_err(|error| failed(&error))?;
            let token = token.ok_or_else(|| absent("no ticker found"))?;
            let deployment = index.event(token.deployed_at, token.deployed_as).map_err(|error| failed(&error))?;
            let Some(Action::Deploy { owner, .. }) = deployment.map(|placed| placed.event.action) else {
                return Err(failed(&LedgerError::Damaged("the deployment of a token is missing")));
            };
            Ok(Summary {
                tick: token.ticker.lower().to_owned(),
                original_tick: token.ticker.original().to_owned(),
                max_supply: BaseUnits(token.max_supply),
                minted_supply: BaseUnits(token.minted()),
                remaining_supply: BaseUnits(token.remaining),
                burned_supply: BaseUnits(token.burned),
                limit_per_mint: BaseUnits(token.limit_per_mint),
                decimals: token.decimals,
                is_self_mint: token.is_self_mint,
                deploy_inscription_id: token.deployment.to_string(),
                deploy_block_height: token.deployed_at,
                deployer_script: hex(&owner),
                deployer_wallet: wallet(&owner, network),
                holders: token.holders,
                mints: token.mints,
                transfers: token.transfers,
                block_height: newest,
            })
        })
        .await
    }
}

/// A list under OPI's name for all lists.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct Listed<T> {
    unused_txes: Vec<T>,
    block_height: Height,
}

/// Holders of a token, the greatest balance first.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Holders {
    /// The token.
    ticker: Ticker,
    /// All when absent; a list of more than 200,000 needs one.
    limit: Option<Count>,
    /// Records to skip.
    offset: Option<Offset>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct HolderRecord {
    pkscript: ScriptHex,
    wallet: WalletText,
    #[serde(flatten)]
    balances: Balances,
}

impl Route for Holders {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Get, "opi/v1/brc20/holders")];
    const EXAMPLE: &'static str = EXAMPLE;
    const WRAPPING: Wrapping = Wrapping::WithError;
    const CHANGES: Changes = super::CHANGES;
    type Answer = Made<Listed<HolderRecord>>;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<Self::Answer, ApiError> {
        let (Ticker(ticker), part) = (self.ticker, ListPart::of(context, self.limit, self.offset)?);
        let (network, list_max) = (context.network(), context.limits().list_records_max);
        let query = of_list("holders", &ticker, part);
        answer(context, &query, move |index, newest, interrupt| {
            let render = |holder: Holder| HolderRecord {
                pkscript: hex(&holder.script),
                wallet: wallet(&holder.script, network),
                balances: holder.balance.into(),
            };
            listed(index.holders(&ticker), |holder| &holder.script, part, list_max, render, newest, interrupt)
        })
        .await
    }
}

fn of_list(name: &'static str, ticker: &str, part: ListPart) -> Query {
    let mut query = Query::of(name);
    query.put("ticker", ticker);
    query.put_some("offset", part.offset_text());
    query.put_some("limit", part.limit_text());
    query
}

/// Transfer inscriptions of a script that have not moved, by ticker.
#[derive(Deserialize, JsonSchema)]
pub(super) struct NotesOfWallet {
    /// This or `pkscript`; where both stand they must agree.
    address: Option<AddressText>,
    /// The script.
    pkscript: Option<ScriptParam>,
    /// All when absent; a list of more than 200,000 needs one.
    limit: Option<Count>,
    /// Records to skip.
    offset: Option<Offset>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct NoteRecord {
    tick: String,
    #[serde(flatten)]
    owner: Option<NoteOwner>,
    inscription_id: String,
    amount: BaseUnits,
    genesis_height: Height,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct NoteOwner {
    current_holder_pkscript: ScriptHex,
    current_holder_wallet: WalletText,
}

impl NoteRecord {
    fn of(note: OpenNote, owner: Option<NoteOwner>) -> Self {
        Self {
            tick: note.ticker,
            owner,
            inscription_id: note.inscription.to_string(),
            amount: BaseUnits(note.amount),
            genesis_height: note.height,
        }
    }
}

impl Route for NotesOfWallet {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Get, "opi/v1/brc20/get_valid_tx_notes_of_wallet")];
    const EXAMPLE: &'static str = r#"{"pkscript":"51"}"#;
    const WRAPPING: Wrapping = Wrapping::WithError;
    const CHANGES: Changes = super::CHANGES;
    type Answer = Made<Listed<NoteRecord>>;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<Self::Answer, ApiError> {
        let script = wallet_of(context, self.address.as_ref(), self.pkscript.as_ref())?;
        let part = ListPart::of(context, self.limit, self.offset)?;
        let list_max = context.limits().list_records_max;
        let mut query = Query::of("get_valid_tx_notes_of_wallet");
        query.put_wallet(self.address, self.pkscript);
        query.put_some("offset", part.offset_text());
        query.put_some("limit", part.limit_text());
        answer(context, &query, move |index, newest, interrupt| {
            let render = |note| NoteRecord::of(note, None);
            listed(index.notes_of_script(&script), |_| Script::new(), part, list_max, render, newest, interrupt)
        })
        .await
    }
}

/// Transfer inscriptions of a token that have not moved, by owner.
#[derive(Deserialize, JsonSchema)]
pub(super) struct NotesOfTicker {
    /// The token.
    ticker: Ticker,
    /// All when absent; a list of more than 200,000 needs one.
    limit: Option<Count>,
    /// Records to skip.
    offset: Option<Offset>,
}

impl Route for NotesOfTicker {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Get, "opi/v1/brc20/get_valid_tx_notes_of_ticker")];
    const EXAMPLE: &'static str = EXAMPLE;
    const WRAPPING: Wrapping = Wrapping::WithError;
    const CHANGES: Changes = super::CHANGES;
    type Answer = Made<Listed<NoteRecord>>;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<Self::Answer, ApiError> {
        let (Ticker(ticker), part) = (self.ticker, ListPart::of(context, self.limit, self.offset)?);
        let (network, list_max) = (context.network(), context.limits().list_records_max);
        let query = of_list("get_valid_tx_notes_of_ticker", &ticker, part);
        answer(context, &query, move |index, newest, interrupt| {
            let render = |note: OpenNote| {
                let owner = NoteOwner {
                    current_holder_pkscript: hex(&note.source),
                    current_holder_wallet: wallet(&note.source, network),
                };
                NoteRecord::of(note, Some(owner))
            };
            listed(index.notes_of_ticker(&ticker), |note| &note.source, part, list_max, render, newest, interrupt)
        })
        .await
    }
}

/// A part of a list, or all of it where that is not too large. The record of a row contains its `script`.
fn listed<T, R>(
    rows: impl Iterator<Item = Result<T, LedgerError>>,
    script: impl Fn(&T) -> &Script,
    part: ListPart,
    list_max: usize,
    render: impl Fn(T) -> R,
    newest: u32,
    interrupt: &Interrupt,
) -> Result<Listed<R>, ApiError> {
    let mut records = Vec::new();
    for (place, row) in rows.enumerate() {
        if place % ROWS_BETWEEN_LOOKS == 0 && interrupt.is_over() {
            return Err(ApiError::timeout());
        }
        if place < part.offset {
            row.map_err(|error| failed(&error))?;
            continue;
        }
        if part.limit == Some(records.len()) {
            break;
        }
        if records.len() == list_max {
            return Err(ApiError::invalid(format!("more than {list_max} records: give limit and offset")));
        }
        let row = row.map_err(|error| failed(&error))?;
        if !interrupt.keep(RECORD_BYTES + script_bytes(script(&row))) {
            return Err(ApiError::panicked());
        }
        records.push(render(row));
    }
    if records.is_empty() && part.offset == 0 {
        return Err(absent("no unused tx found"));
    }
    Ok(Listed { unused_txes: records, block_height: newest })
}
