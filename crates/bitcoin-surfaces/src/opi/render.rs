//! Events with OPI's member names. Amounts are texts in units of the 18th decimal place.

use bitcoin::hex::DisplayHex as _;
use bitcoin::{Address, Script};
use paraffin_ordinals_index::brc20::{Action, Amount, PlacedEvent, Ticker};
use paraffin_primitives::Network;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};

use paraffin_gateway::api_types::Digits;
use paraffin_gateway::methods::{Hash, OrNull, schema};

pub(super) fn hex(script: &Script) -> ScriptHex {
    ScriptHex(script.as_bytes().to_lower_hex_string())
}

/// The address of a script; the empty text for one that has none, as OPI has it.
pub(super) fn wallet(script: &Script, network: Network) -> WalletText {
    let address = Address::from_script(script, network.bitcoin());
    WalletText(address.map(|address| address.to_string()).unwrap_or_default())
}

/// A script.
#[derive(Serialize)]
pub(super) struct ScriptHex(String);

schema!(ScriptHex, "ScriptHex", inline {
    "description": "A script in hexadecimal digits",
    "type": "string",
    "pattern": "^([0-9a-fA-F]{2})*$",
});

/// The address of a script.
#[derive(Serialize)]
pub(super) struct WalletText(String);

schema!(WalletText, "WalletText", inline { "description": "Empty for a script without address", "type": "string" });

/// An amount of a token.
pub(super) struct BaseUnits(pub(super) Amount);

impl Serialize for BaseUnits {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl JsonSchema for BaseUnits {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "BaseUnits".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = generator.subschema_for::<Digits>();
        let about = "In units of the 18th decimal place, whatever the token's own decimals are";
        schema.insert("description".to_owned(), about.into());
        schema
    }
}

/// Bytes of an event in memory and in the answer, without its scripts, about.
const EVENT_BYTES: usize = 3_072;

/// Multiple of a script's length that it takes: in its event, in hexadecimal digits in the record, and in the answer.
pub(super) fn script_bytes(script: &Script) -> usize {
    script.len().saturating_mul(5)
}

/// Bytes of an event in memory and in the answer, about.
pub(super) fn event_bytes(placed: &PlacedEvent) -> usize {
    let (one, other) = placed.event.action.parties();
    EVENT_BYTES + script_bytes(one) + script_bytes(other.unwrap_or(one))
}

/// An event of a token. Its members depend on `event_type`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Brc20Event")]
#[allow(clippy::struct_field_names)] // the members of OPI
pub(super) struct Event {
    #[schemars(with = "EventType")]
    event_type: &'static str,
    inscription_id: String,
    #[serde(rename = "predeployer_pkScript", skip_serializing_if = "Option::is_none")]
    predeployer_script: Option<ScriptHex>,
    #[serde(skip_serializing_if = "Option::is_none")]
    predeployer_wallet: Option<WalletText>,
    /// As written in the inscription.
    #[serde(skip_serializing_if = "Option::is_none")]
    hash: Option<String>,
    /// Of a predeploy, as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Digits>")]
    block_height: Option<String>,
    #[serde(rename = "deployer_pkScript", skip_serializing_if = "Option::is_none")]
    deployer_script: Option<ScriptHex>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deployer_wallet: Option<WalletText>,
    #[serde(rename = "minted_pkScript", skip_serializing_if = "Option::is_none")]
    minted_script: Option<ScriptHex>,
    #[serde(skip_serializing_if = "Option::is_none")]
    minted_wallet: Option<WalletText>,
    #[serde(rename = "source_pkScript", skip_serializing_if = "Option::is_none")]
    source_script: Option<ScriptHex>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source_wallet: Option<WalletText>,
    /// `null` when the inscription was paid as a fee.
    #[serde(rename = "spent_pkScript", skip_serializing_if = "Option::is_none")]
    spent_script: Option<OrNull<ScriptHex>>,
    /// `null` when the inscription was paid as a fee.
    #[serde(skip_serializing_if = "Option::is_none")]
    spent_wallet: Option<OrNull<WalletText>>,
    /// In lower case.
    #[serde(skip_serializing_if = "Option::is_none")]
    tick: Option<String>,
    /// As written in the inscription.
    #[serde(skip_serializing_if = "Option::is_none")]
    original_tick: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_supply: Option<BaseUnits>,
    /// As text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Digits>")]
    decimals: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit_per_mint: Option<BaseUnits>,
    /// `true` or `false`, as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    is_self_mint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    amount: Option<BaseUnits>,
    /// The first parent of a mint; empty without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_id: Option<String>,
    /// The transaction that moved the inscription; OPI has a number of its own database there.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Hash>")]
    using_tx_id: Option<String>,
    height: u32,
    /// Index of the event in its block.
    place: u32,
    /// All zeros for a refund that no transaction made.
    #[schemars(with = "Hash")]
    txid: String,
}

struct EventType;

schema!(EventType, "EventType", inline {
    "enum": ["predeploy-inscribe", "deploy-inscribe", "mint-inscribe", "transfer-inscribe", "transfer-transfer"],
});

impl Event {
    fn new(placed: &PlacedEvent) -> Self {
        Self {
            event_type: placed.event.action.name(),
            inscription_id: placed.event.inscription.to_string(),
            predeployer_script: None,
            predeployer_wallet: None,
            hash: None,
            block_height: None,
            deployer_script: None,
            deployer_wallet: None,
            minted_script: None,
            minted_wallet: None,
            source_script: None,
            source_wallet: None,
            spent_script: None,
            spent_wallet: None,
            tick: None,
            original_tick: None,
            max_supply: None,
            decimals: None,
            limit_per_mint: None,
            is_self_mint: None,
            amount: None,
            parent_id: None,
            using_tx_id: None,
            height: placed.height,
            place: placed.place,
            txid: placed.event.txid.to_string(),
        }
    }

    fn of_token(self, ticker: &Ticker) -> Self {
        Self { tick: Some(ticker.lower().to_owned()), original_tick: Some(ticker.original().to_owned()), ..self }
    }
}

/// An event: OPI's members, then height, index in the block and transaction.
pub(super) fn event(placed: &PlacedEvent, network: Network) -> Event {
    let new = Event::new(placed);
    let party = |script: &Script| (Some(hex(script)), Some(wallet(script, network)));
    match &placed.event.action {
        Action::Predeploy { owner, hash, height } => {
            let (predeployer_script, predeployer_wallet) = party(owner);
            let (hash, block_height) = (Some(hash.as_str().to_owned()), Some(height.to_string()));
            Event { predeployer_script, predeployer_wallet, hash, block_height, ..new }
        }
        Action::Deploy { owner, ticker, decimals, max_supply, limit_per_mint, is_self_mint } => {
            let (deployer_script, deployer_wallet) = party(owner);
            Event {
                deployer_script,
                deployer_wallet,
                max_supply: Some(BaseUnits(*max_supply)),
                decimals: Some(decimals.to_string()),
                limit_per_mint: Some(BaseUnits(*limit_per_mint)),
                is_self_mint: Some(is_self_mint.to_string()),
                ..new.of_token(ticker)
            }
        }
        Action::Mint { owner, ticker, amount, parent, .. } => {
            let (minted_script, minted_wallet) = party(owner);
            let parent_id = Some(parent.map(|parent| parent.to_string()).unwrap_or_default());
            let amount = Some(BaseUnits(*amount));
            Event { minted_script, minted_wallet, amount, parent_id, ..new.of_token(ticker) }
        }
        Action::TransferInscribe { source, ticker, amount, .. } => {
            let (source_script, source_wallet) = party(source);
            Event { source_script, source_wallet, amount: Some(BaseUnits(*amount)), ..new.of_token(ticker) }
        }
        Action::TransferTransfer { source, target, ticker, amount, .. } => {
            let (source_script, source_wallet) = party(source);
            let (spent_script, spent_wallet) = target.as_ref().map(|target| party(target)).unwrap_or_default();
            Event {
                source_script,
                source_wallet,
                spent_script: Some(OrNull(spent_script)),
                spent_wallet: Some(OrNull(spent_wallet)),
                amount: Some(BaseUnits(*amount)),
                using_tx_id: Some(placed.event.txid.to_string()),
                ..new.of_token(ticker)
            }
        }
    }
}
