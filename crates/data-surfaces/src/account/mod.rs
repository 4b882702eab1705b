//! Routes about an account: every address of a descriptor or extended key at once.

#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod scan;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use bitcoin::{Address, OutPoint, Txid};
use paraffin_bitcoin_index::{BitcoinIndex, ReadError, ScriptKey};
use paraffin_wallet::parse_account;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use self::scan::{Bounds, ScanError, UsedScript, used_scripts};
use super::address::{Balance, SharedText, UTXOS_LIMIT_MAX, Utxo, UtxoPage, outpoint_of, outpoints_of};
use super::alkanes::alkanes_in;
use paraffin_bitcoin_surfaces::esplora::{
    Fault, Pending, TransactionStatus, UNSPENT_BYTES, UnspentOutput, View, unconfirmed_view,
};
use paraffin_gateway::api_types::Count;
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::interrupt::Interrupt;
use paraffin_gateway::rest::part::Part;
use paraffin_gateway::rest::{Route, Verb};
use paraffin_gateway::state::RequestContext;

const EXAMPLE: &str = r#"{"account":"bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"}"#;

/// Balance of all addresses of an account, in satoshis.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct AccountBalance {
    account: AccountText,
}

/// An account as text, parsed once the network is known.
#[derive(Deserialize)]
#[serde(transparent)]
struct AccountText(String);

impl JsonSchema for AccountText {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Account".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "description": "An output descriptor, an extended public key, or one address" })
    }
}

impl Route for AccountBalance {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Post, "get-account-balance")];
    const EXAMPLE: &'static str = EXAMPLE;
    type Answer = Balance;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<Balance, ApiError> {
        let account = Account::open(context, &self.account.0).await?;
        let confirmed: u128 = account.scripts.iter().map(|script| u128::from(script.totals.balance())).sum();
        let mut unconfirmed = 0_i128;
        for pending in account.pending.values() {
            let paid = pending.transaction.output.iter().filter(|output| account.owns(&output.script_pubkey));
            let spent = pending.prevouts.iter().flatten().filter(|output| account.owns(&output.script_pubkey));
            unconfirmed += paid.map(|output| i128::from(output.value.to_sat())).sum::<i128>();
            unconfirmed -= spent.map(|output| i128::from(output.value.to_sat())).sum::<i128>();
        }
        let whole = |error| ApiError::internal(&error);
        Ok(Balance {
            balance: u64::try_from(confirmed).map_err(whole)?,
            unconfirmed_balance: i64::try_from(unconfirmed).map_err(whole)?,
        })
    }
}

/// Unspent outputs of all addresses of an account, newest first.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct AccountUtxos {
    account: AccountText,
    /// All when absent; more than 200,000 is taken as 200,000.
    limit: Option<Count>,
}

impl Route for AccountUtxos {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Post, "get-account-utxos")];
    const EXAMPLE: &'static str = EXAMPLE;
    type Answer = UtxoPage;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<UtxoPage, ApiError> {
        let limit = self.limit.map(|limit| limit.at_most(UTXOS_LIMIT_MAX));
        let account = Arc::new(Account::open(context, &self.account.0).await?);
        let records_max = context.limits().list_records_max;
        let count: u64 = account.scripts.iter().map(UsedScript::unspent_count).sum();
        if limit.is_none() && count > records_max as u64 {
            return Err(Fault::Failed(ApiError::response_too_large()).into());
        }
        let copy = Arc::clone(&account);
        let network = context.network();
        let unspent = context.read_rows(move |snapshot, interrupt| {
            copy.unspent(&BitcoinIndex::new(snapshot.clone(), network), limit, interrupt)
        });
        let (unspent, kept) = unspent.await.map_err(Fault::from)?;
        let Unspent { outputs, total } = unspent?;
        let scripts: Vec<(Option<SharedText>, SharedText)> = account
            .scripts
            .iter()
            .map(|one| {
                let address = Address::from_script(&one.script, network.bitcoin()).ok();
                let address = address.map(|address| SharedText::new(&address.to_string()));
                (address, SharedText::new(&one.script.to_hex_string()))
            })
            .collect();
        let tip = context.tip().map_or(0, |tip| tip.height);
        let mut held = alkanes_in(context, outpoints_of(outputs.iter().map(|(_, output)| output))).await?;
        let utxos = outputs.iter().map(|(script_index, output)| {
            let (address, script) = scripts[*script_index].clone();
            let alkanes = held.remove(&outpoint_of(output)).unwrap_or_default();
            Utxo::new(output, address, script, tip).holding(alkanes)
        });
        Ok(UtxoPage { utxos: utxos.collect(), total, kept })
    }
}

/// Unspent outputs of an account.
struct Unspent {
    /// Each with the index of its script.
    outputs: Vec<(usize, UnspentOutput)>,
    /// Number of all outputs, including those beyond the limit.
    total: u64,
}

/// An account as of one snapshot.
struct Account {
    scripts: Vec<UsedScript>,
    indices: HashMap<[u8; 32], usize>,
    /// Unconfirmed transactions that involve the account.
    pending: HashMap<Txid, Arc<Pending>>,
}

impl Account {
    async fn open(context: &RequestContext, text: &str) -> Result<Self, ApiError> {
        let (network, text) = (context.network(), text.to_owned());
        let view = unconfirmed_view(context).await;
        let keys_max = context.limits().account_scripts_max;
        // Deriving keys takes long, as does reading the index for them: both run in the lane for scans, not among the short reads.
        let opened = context.scan_account(move |snapshot, interrupt| {
            let index = &BitcoinIndex::new(snapshot.clone(), network);
            let branches = match parse_account(network, &text) {
                Ok(branches) => branches,
                Err(error) => return Ok(Err(ApiError::invalid(error.to_string()))),
            };
            let bounds = Bounds { keys_max, interrupt };
            let scripts = used_scripts(index, &branches, |key| view.is_touched(key), &bounds);
            Ok(match scripts {
                Ok(scripts) => Ok(Self::of(index, scripts, &view)?),
                Err(ScanError::Read(error)) => return Err(error),
                Err(ScanError::TooManyScripts(_)) => Err(ApiError::invalid(format!(
                    "account has more than {keys_max} addresses or keys: ask for parts of it, as descriptors"
                ))),
                Err(ScanError::NoMemory) => Err(ApiError::panicked()),
                Err(ScanError::TimedOut) => Err(Fault::Failed(ApiError::timeout()).into()),
            })
        });
        opened.await.map_err(Fault::from)?.map_err(Fault::from)?
    }

    fn of(index: &BitcoinIndex, scripts: Vec<UsedScript>, view: &View) -> Result<Self, ReadError> {
        let mut pending = HashMap::new();
        for script in &scripts {
            for (txid, one) in view.touching(&script.key) {
                // Transactions that the snapshot has confirmed are in the totals already.
                if !pending.contains_key(&txid) && index.transaction_location(&txid)?.is_none() {
                    pending.insert(txid, one);
                }
            }
        }
        let indices =
            scripts.iter().enumerate().map(|(script_index, script)| (*script.key.digest(), script_index)).collect();
        Ok(Self { scripts, indices, pending })
    }

    fn index_of(&self, script: &bitcoin::Script) -> Option<usize> {
        self.indices.get(ScriptKey::from_script(script).digest()).copied()
    }

    fn owns(&self, script: &bitcoin::Script) -> bool {
        self.index_of(script).is_some()
    }

    /// Unspent outputs, unconfirmed first, then the newest first, at most `limit`.
    fn unspent(&self, index: &BitcoinIndex, limit: Option<usize>, interrupt: &Interrupt) -> Result<Unspent, Fault> {
        let inputs = self.pending.values().flat_map(|one| &one.transaction.input);
        let spent: HashSet<OutPoint> = inputs.map(|input| input.previous_output).collect();
        let mut unspent = Vec::new();
        for (txid, one) in &self.pending {
            for (vout, output) in (0..).zip(&one.transaction.output) {
                if let Some(script_index) = self.index_of(&output.script_pubkey)
                    && !spent.contains(&OutPoint { txid: *txid, vout })
                {
                    let status = TransactionStatus::UNCONFIRMED;
                    unspent.push((
                        script_index,
                        UnspentOutput { txid: *txid, vout, status, value: output.value.to_sat() },
                    ));
                }
            }
        }
        let mut total = unspent.len() as u64;
        let kept = limit.unwrap_or(usize::MAX);
        let wanted = limit.map(|limit| limit.saturating_add(spent.len()));
        for (script_index, script) in self.scripts.iter().enumerate() {
            if interrupt.is_over() {
                return Err(Fault::Failed(ApiError::timeout()));
            }
            if script.unspent_count() == 0 {
                continue;
            }
            let listed = script.unspent_count().min(wanted.unwrap_or(usize::MAX) as u64);
            if !interrupt.keep(usize::try_from(listed).unwrap_or(usize::MAX).saturating_mul(UNSPENT_BYTES)) {
                return Err(Fault::Failed(ApiError::panicked()));
            }
            let outputs = index.unspent(&script.key, None, wanted)?;
            let confirmed = outputs.into_iter();
            unspent.extend(
                confirmed
                    .filter(|output| !spent.contains(&output.outpoint))
                    .map(|output| (script_index, output.into())),
            );
            // Bounds memory when there is a limit.
            if unspent.len() / 2 > kept {
                newest_first(&mut unspent);
                unspent.truncate(kept);
            }
        }
        newest_first(&mut unspent);
        unspent.truncate(kept);
        total += self.scripts.iter().map(UsedScript::unspent_count).sum::<u64>();
        total = total.saturating_sub(self.spent_by_pending() as u64);
        Ok(Unspent { outputs: unspent, total })
    }

    /// Confirmed outputs of the account that unconfirmed transactions spend.
    fn spent_by_pending(&self) -> usize {
        let mut spent = HashSet::new();
        for one in self.pending.values() {
            for (input, prevout) in one.transaction.input.iter().zip(&one.prevouts) {
                let is_ours = prevout.as_ref().is_some_and(|output| self.owns(&output.script_pubkey));
                if is_ours && !self.pending.contains_key(&input.previous_output.txid) {
                    spent.insert(input.previous_output);
                }
            }
        }
        spent.len()
    }
}

impl UsedScript {
    fn unspent_count(&self) -> u64 {
        self.totals.funded_txo_count.saturating_sub(self.totals.spent_txo_count)
    }
}

/// Unconfirmed outputs, then those of the newest block; within a block by txid and index, so that the order is deterministic.
fn newest_first(unspent: &mut [(usize, UnspentOutput)]) {
    unspent.sort_unstable_by_key(|(_, output)| {
        (std::cmp::Reverse(output.status.height().unwrap_or(u32::MAX)), output.txid, output.vout)
    });
}
