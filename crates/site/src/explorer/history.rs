//! History of pools: trades, and added and removed liquidity.

use std::collections::BTreeMap;

use serde::Deserialize;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::alkane::{AlkaneId, Coin};
use super::{Reader, text};
use crate::html::moment;

/// A page of a history.
#[derive(Deserialize)]
pub(crate) struct Events {
    pub(crate) total: u64,
    #[serde(alias = "swaps", alias = "mints", alias = "burns")]
    events: Vec<Record>,
}

/// A trade has `pay` and `receive`, other events the amounts of both alkanes.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    transaction_id: String,
    timestamp: String,
    pool_id: AlkaneId,
    address: Option<String>,
    pay: Option<Payment>,
    receive: Option<Payment>,
    token0_block_id: Option<String>,
    token0_tx_id: Option<String>,
    token1_block_id: Option<String>,
    token1_tx_id: Option<String>,
    token0_amount: Option<String>,
    token1_amount: Option<String>,
    lp_token_amount: Option<String>,
    burner_address: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Payment {
    token_id: AlkaneId,
    amount: String,
}

/// A row of a history.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) age: String,
    pub(crate) moment: String,
    pub(crate) kind: &'static str,
    pub(crate) pool: String,
    pub(crate) paid_in: String,
    pub(crate) paid_out: String,
    pub(crate) price: String,
    pub(crate) address: String,
    pub(crate) short_address: String,
    pub(crate) txid: String,
    pub(crate) short_txid: String,
}

impl Events {
    /// As rows, with amounts in whole units of the alkanes in `coins`, of others in base units.
    pub(crate) fn rows(&self, reader: &Reader, coins: &BTreeMap<AlkaneId, Coin>) -> Vec<Event> {
        self.events.iter().map(|record| record.row(reader, coins)).collect()
    }
}

impl Record {
    fn row(&self, reader: &Reader, coins: &BTreeMap<AlkaneId, Coin>) -> Event {
        let time = unix_seconds(&self.timestamp);
        let (kind, paid_in, paid_out, price) = self.amounts(coins);
        let txid = text::clean(&self.transaction_id, 64);
        let is_txid = txid.len() == 64 && txid.bytes().all(|byte| byte.is_ascii_hexdigit());
        let address =
            self.address.as_deref().filter(|address| address.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        let address = text::clean(address.unwrap_or_default(), 100);
        Event {
            age: time.map(|time| reader.age(time)).unwrap_or_default(),
            moment: time.map(|time| moment(time.saturating_mul(1_000))).unwrap_or_default(),
            kind,
            pool: self.pool_id.to_string(),
            paid_in,
            paid_out,
            price,
            short_address: text::short(&address),
            address,
            short_txid: if is_txid { text::short(&txid) } else { String::new() },
            txid: if is_txid { txid } else { String::new() },
        }
    }

    /// Kind, amounts in and out, and the price.
    fn amounts(&self, coins: &BTreeMap<AlkaneId, Coin>) -> (&'static str, String, String, String) {
        if let (Some(pay), Some(receive)) = (&self.pay, &self.receive) {
            let price = match (coins.get(&pay.token_id), coins.get(&receive.token_id)) {
                (Some(sold), Some(bought)) => price((sold, &pay.amount), (bought, &receive.amount)),
                _ => "—".to_owned(),
            };
            let amount = |payment: &Payment| amount(coins.get(&payment.token_id), payment.token_id, &payment.amount);
            return ("trade", amount(pay), amount(receive), price);
        }
        let side = |block: &Option<String>, tx: &Option<String>, digits: &Option<String>| {
            let id: AlkaneId = format!("{}:{}", block.as_deref()?, tx.as_deref()?).parse().ok()?;
            let digits = digits.as_deref()?;
            Some(amount(coins.get(&id), id, digits))
        };
        let sides = [
            side(&self.token0_block_id, &self.token0_tx_id, &self.token0_amount),
            side(&self.token1_block_id, &self.token1_tx_id, &self.token1_amount),
        ];
        let both = sides.into_iter().flatten().collect::<Vec<_>>().join(" + ");
        let liquidity = self.lp_token_amount.as_deref().map(|digits| match coins.get(&self.pool_id) {
            Some(coin) => format!("{} LP", coin.digits(digits)),
            None => format!("{} LP", text::amount_text(digits, 8)),
        });
        let liquidity = liquidity.unwrap_or_default();
        if self.burner_address.is_some() {
            ("liquidity removed", liquidity, both, "—".to_owned())
        } else {
            ("liquidity added", both, liquidity, "—".to_owned())
        }
    }
}

fn amount(coin: Option<&Coin>, id: AlkaneId, digits: &str) -> String {
    coin.map_or_else(|| format!("{} base units of {id}", text::amount_text(digits, 0)), |coin| coin.amount(digits))
}

/// Price of a trade: in bitcoin where one side is wrapped bitcoin, else in the alkane that was sold.
fn price(sold: (&Coin, &str), bought: (&Coin, &str)) -> String {
    let is_bitcoin = bought.0.id == "32:0";
    let ((unit, unit_digits), (one, one_digits)) = if is_bitcoin { (bought, sold) } else { (sold, bought) };
    let ratio = unit.units(unit_digits) / one.units(one_digits);
    if ratio.is_finite() { format!("{} {}", text::number(ratio), unit.symbol) } else { "—".to_owned() }
}

/// The Unix seconds of a moment in ISO 8601.
pub(super) fn unix_seconds(moment: &str) -> Option<i64> {
    OffsetDateTime::parse(moment, &Rfc3339).ok().map(OffsetDateTime::unix_timestamp)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn coins() -> BTreeMap<AlkaneId, Coin> {
        let of = |id: &str, symbol: &str, decimals| {
            let id: AlkaneId = id.parse().unwrap();
            (id, Coin::new(id, None, Some(symbol), Some(decimals)))
        };
        BTreeMap::from([of("2:3", "PUSD", 8), of("32:0", "frBTC", 8)])
    }

    fn amounts(mut record: serde_json::Value) -> (&'static str, String, String, String) {
        let base = json!({ "transactionId": "ab", "timestamp": "2023-11-16T00:03:20Z", "poolId": { "block": "2", "tx": "6" } });
        let members = record.as_object_mut().unwrap();
        members.extend(base.as_object().unwrap().clone());
        serde_json::from_value::<Record>(record).unwrap().amounts(&coins())
    }

    #[test]
    fn trades_have_amounts_and_a_price() {
        let payment =
            |tx: &str, block: &str, amount: &str| json!({ "tokenId": { "block": block, "tx": tx }, "amount": amount });
        let of = |pay, receive| amounts(json!({ "pay": pay, "receive": receive }));
        let bought = of(payment("0", "32", "8057836"), payment("3", "2", "3983979280"));
        assert_eq!(bought.1, "0.08057836 frBTC");
        assert_eq!((bought.2.as_str(), bought.3.as_str()), ("39.8397928 PUSD", "0.0020226 frBTC"));
        let sold = of(payment("3", "2", "3983979280"), payment("0", "32", "8057836"));
        assert_eq!(sold.3, "0.0020226 frBTC");
        let unknown = of(payment("9", "2", "5"), payment("0", "32", "0"));
        assert_eq!((unknown.1.as_str(), unknown.3.as_str()), ("5 base units of 2:9", "—"));
        let nothing = of(payment("3", "2", "0"), payment("0", "32", "0"));
        assert_eq!(nothing.3, "—");
    }

    #[test]
    fn liquidity_is_added_and_removed() {
        let sides = json!({ "token0BlockId": "2", "token0TxId": "3", "token0Amount": "100000000",
            "token1BlockId": "32", "token1TxId": "0", "token1Amount": "1", "lpTokenAmount": "5" });
        let added = amounts(sides.clone());
        assert_eq!((added.0, added.1.as_str()), ("liquidity added", "1 PUSD + 0.00000001 frBTC"));
        let mut burn = sides;
        burn["burnerAddress"] = json!("bcrt1");
        let removed = amounts(burn);
        assert_eq!((removed.0, removed.1.as_str()), ("liquidity removed", "0.00000005 LP"));
    }

    #[test]
    fn moments_are_read() {
        assert_eq!(unix_seconds("2023-11-16T00:03:20Z"), Some(1_700_093_000));
        assert_eq!(unix_seconds("yesterday"), None);
    }
}
