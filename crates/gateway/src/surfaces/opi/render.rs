//! Events and balances with OPI's member names. Amounts are texts in units of the 18th decimal place.

use bitcoin::hex::DisplayHex as _;
use bitcoin::{Address, Script};
use paraffin_ordinals_index::brc20::{Action, Amount, Balance, PlacedEvent, Ticker};
use paraffin_primitives::Network;
use serde_json::{Map, Value, json};

pub(super) fn hex(script: &Script) -> String {
    script.as_bytes().to_lower_hex_string()
}

/// The address of a script; the empty text for one that has none, as OPI has it.
pub(super) fn wallet(script: &Script, network: Network) -> String {
    Address::from_script(script, network.bitcoin()).map(|address| address.to_string()).unwrap_or_default()
}

pub(super) fn amount(amount: Amount) -> Value {
    Value::String(amount.to_string())
}

/// Adds a balance to a record.
pub(super) fn with_balance(mut record: Value, balance: Balance) -> Value {
    record["overall_balance"] = amount(balance.overall);
    record["available_balance"] = amount(balance.available);
    record
}

/// Puts the members of an event together.
struct Members {
    network: Network,
    members: Map<String, Value>,
}

impl Members {
    fn put(&mut self, name: &str, value: impl Into<Value>) {
        self.members.insert(name.to_owned(), value.into());
    }

    /// The script and the address of a party.
    fn party(&mut self, name: &str, script: &Script) {
        self.put(&format!("{name}_pkScript"), hex(script));
        self.put(&format!("{name}_wallet"), wallet(script, self.network));
    }

    fn token(&mut self, ticker: &Ticker) {
        self.put("tick", ticker.lower());
        self.put("original_tick", ticker.original());
    }
}

/// About what an event takes beside its scripts until it is written, and what is written of it, bytes.
const EVENT_BYTES: usize = 3_072;

/// What a script takes: in its event, in hexadecimal digits in the record, and in the answer.
pub(super) fn script_bytes(script: &Script) -> usize {
    script.len().saturating_mul(5)
}

/// About what an event takes until it is written, and what is written of it.
pub(super) fn event_bytes(placed: &PlacedEvent) -> usize {
    let (one, other) = placed.event.action.parties();
    EVENT_BYTES + script_bytes(one) + script_bytes(other.unwrap_or(one))
}

/// An event: OPI's members, then height, place in the block and transaction. `using_tx_id` is the transaction that moved the
/// inscription; OPI has a number of its own database there.
pub(super) fn event(placed: &PlacedEvent, network: Network) -> Value {
    let mut event = Members { network, members: Map::new() };
    event.put("event_type", placed.event.action.name());
    event.put("inscription_id", placed.event.inscription.to_string());
    match &placed.event.action {
        Action::Predeploy { owner, hash, height } => {
            event.party("predeployer", owner);
            event.put("hash", hash.as_str());
            event.put("block_height", height.to_string());
        }
        Action::Deploy { owner, ticker, decimals, max_supply, limit_per_mint, is_self_mint } => {
            event.party("deployer", owner);
            event.token(ticker);
            event.put("max_supply", amount(*max_supply));
            event.put("decimals", decimals.to_string());
            event.put("limit_per_mint", amount(*limit_per_mint));
            event.put("is_self_mint", is_self_mint.to_string());
        }
        Action::Mint { owner, ticker, amount: minted, parent, .. } => {
            event.party("minted", owner);
            event.token(ticker);
            event.put("amount", amount(*minted));
            event.put("parent_id", parent.map(|parent| parent.to_string()).unwrap_or_default());
        }
        Action::TransferInscribe { source, ticker, amount: set_aside, .. } => {
            event.party("source", source);
            event.token(ticker);
            event.put("amount", amount(*set_aside));
        }
        Action::TransferTransfer { source, target, ticker, amount: sent, .. } => {
            event.party("source", source);
            match target {
                Some(target) => event.party("spent", target),
                None => {
                    event.put("spent_pkScript", Value::Null);
                    event.put("spent_wallet", Value::Null);
                }
            }
            event.token(ticker);
            event.put("amount", amount(*sent));
            event.put("using_tx_id", placed.event.txid.to_string());
        }
    }
    event.put("height", placed.height);
    event.put("place", placed.place);
    event.put("txid", placed.event.txid.to_string());
    Value::Object(event.members)
}

/// A record with the height up to which it is true.
pub(super) fn as_of(mut record: Value, height: u32) -> Value {
    record["block_height"] = json!(height);
    record
}
