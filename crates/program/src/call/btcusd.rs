//! `paraffin call btcusd quote`: what a trade with a `CryptoSwap` pool would pay in the next block.

use bitcoin::hex::{DisplayHex as _, FromHex as _};
use paraffin_cryptoswap::proto::{QuoteRequest, QuoteResponse};
use paraffin_cryptoswap_math::U256;
use paraffin_primitives::AlkaneId;
use prost::Message as _;
use serde_json::{Value, json};

use crate::client::{CallError, Client};

/// The word that stands for the pool index.
pub(super) const BTCUSD: &str = "btcusd";

/// The pool that is meant where none is named.
const POOL: AlkaneId = AlkaneId { block: 4, tx: 1778 };

/// Parameters of a quote: pool, sold token, amount.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Order {
    pool: AlkaneId,
    token: AlkaneId,
    amount: u128,
}

/// Asks for the quote that `parameters` describe; the answer as lines, or as JSON.
///
/// # Errors
/// The parameters describe none, there is no key, the instance refuses, or the pool would.
pub(super) async fn run(client: &Client, parameters: &[String], as_json: bool) -> Result<String, CallError> {
    let order = order(parameters)?;
    let id = |id: AlkaneId| Some(id.into());
    let request = QuoteRequest { pool: id(order.pool), token_in: id(order.token), amount_in: order.amount.to_string() };
    let input = format!("0x{}", request.encode_to_vec().to_lower_hex_string());
    let answer = client.surface_method(BTCUSD, "metashrew_view", json!(["quote", input, "latest"])).await?;
    let quote = read(&answer)?;
    if as_json {
        return Ok(format!("{:#}", to_json(&quote)));
    }
    lines(&order, &quote)
}

fn order(parameters: &[String]) -> Result<Order, CallError> {
    let wrong = || {
        CallError::Parameter(
            "btcusd takes `quote`, the token sold, its amount in base units, and the pool unless it is 4:1778, for example \
             `btcusd quote 32:0 1000000`"
                .to_owned(),
        )
    };
    let [view, token, amount, pool @ ..] = parameters else { return Err(wrong()) };
    if view != "quote" || pool.len() > 1 {
        return Err(wrong());
    }
    let id = |text: &String| text.parse::<AlkaneId>().map_err(|error| CallError::Parameter(error.to_string()));
    let pool = pool.first().map(id).transpose()?.unwrap_or(POOL);
    let token = id(token)?;
    for id in [pool, token] {
        if u32::try_from(id.block).is_err() || u64::try_from(id.tx).is_err() {
            return Err(CallError::Parameter(format!("the pool index cannot name {id}")));
        }
    }
    let amount = amount.parse().map_err(|_| {
        CallError::Parameter(format!("`{amount}`: the amount is a whole number of base units, for example 1000000"))
    })?;
    Ok(Order { pool, token, amount })
}

fn read(answer: &Value) -> Result<QuoteResponse, CallError> {
    let bytes = answer.as_str().and_then(|text| Vec::from_hex(text.strip_prefix("0x")?).ok());
    let quote = bytes.and_then(|bytes| QuoteResponse::decode(&bytes[..]).ok());
    quote.ok_or_else(|| CallError::Answer("the answer is no quote: is this a Paraffin instance?".to_owned()))
}

fn to_json(quote: &QuoteResponse) -> Value {
    let id = |id: Option<_>| id.map(|id| AlkaneId::from(id).to_string());
    json!({
        "found": quote.found,
        "ok": quote.ok,
        "pool": id(quote.pool),
        "token_in": id(quote.token_in),
        "amount_in": quote.amount_in,
        "token_out": id(quote.token_out),
        "amount_out": quote.amount_out,
        "fee_amount": quote.fee_amount,
        "fee": quote.fee,
        "effective_price_q": quote.effective_price_q,
        "spot_price_q": quote.spot_price_q,
        "marginal_price_q": quote.marginal_price_q,
        "price_impact": quote.price_impact,
        "is_killed": quote.is_killed,
        "ramping": quote.ramping,
        "conversion_cap": quote.conversion_cap,
        "exceeds_conversion_cap": quote.exceeds_conversion_cap,
        "for_height": quote.for_height,
        "refusal": quote.refusal,
        "price_q_scale": quote.price_q_scale,
    })
}

fn lines(order: &Order, quote: &QuoteResponse) -> Result<String, CallError> {
    if !quote.found {
        return Err(CallError::Answer(format!("{} is no CryptoSwap pool", order.pool)));
    }
    if !quote.ok {
        return Err(CallError::Answer(format!("pool {} would not trade: {}", order.pool, quote.refusal)));
    }
    let token_out = quote.token_out.map_or_else(AlkaneId::default, AlkaneId::from);
    let mut lines = vec![
        format!("sell    {} of {}", quote.amount_in, order.token),
        format!("get     {} of {token_out}", quote.amount_out),
        format!("fee     {} of {token_out}, {} % of the trade", quote.fee_amount, fraction(&quote.fee, 8)),
        format!("impact  {} % below the price of the smallest trade, fee left out", fraction(&quote.price_impact, 16)),
    ];
    for (name, price) in
        [("price ", &quote.effective_price_q), ("spot  ", &quote.spot_price_q), ("scale ", &quote.marginal_price_q)]
    {
        if let Some(price) = price {
            lines.push(format!("{name}  {} token 1 for one token 0{}", fraction(price, 18), inverse(price)));
        }
    }
    lines.push(format!("valid   in block {}", quote.for_height));
    if quote.ramping {
        lines.push("warning the curve moves between blocks: in a later block the pool pays something else".to_owned());
    }
    if let Some(cap) = &quote.conversion_cap {
        let above = if quote.exceeds_conversion_cap { ", which this is above" } else { "" };
        lines.push(format!("bridge  converts at most {cap} of {} in one deposit{above}", order.token));
    }
    Ok(lines.join("\n"))
}

/// A number with its last `places` digits behind the point, without zeros at its end.
fn fraction(number: &str, places: usize) -> String {
    let padded = format!("{number:0>width$}", width = places + 1);
    let (whole, rest) = padded.split_at(padded.len() - places);
    let rest = rest.trim_end_matches('0');
    if rest.is_empty() { whole.to_owned() } else { format!("{whole}.{rest}") }
}

/// The price seen from the other side in whole hundredths, rounded down; nothing for a price of 0.
fn inverse(price: &str) -> String {
    let hundredths =
        price.parse::<U256>().ok().and_then(|price| U256::from(100_000_000_000_000_000_000u128).checked_div(price));
    hundredths.map_or_else(String::new, |hundredths| {
        format!(", {} token 0 for one token 1", fraction(&hundredths.to_string(), 2))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn a_quote_is_asked_for_with_a_token_an_amount_and_perhaps_a_pool() {
        let id = |block, tx| AlkaneId { block, tx };
        let expected = Order { pool: POOL, token: id(32, 0), amount: 5 };
        assert_eq!(order(&words("quote 32:0 5")).unwrap(), expected);
        assert_eq!(order(&words("quote 32:0 5 2:77")).unwrap(), Order { pool: id(2, 77), ..expected });
        for wrong in [
            "",
            "quote",
            "quote 32:0",
            "price 32:0 5",
            "quote 32 5",
            "quote 32:0 five",
            "quote 32:0 -5",
            "quote 32:0 5 2:7 9",
        ] {
            assert!(matches!(order(&words(wrong)), Err(CallError::Parameter(_))), "{wrong}");
        }
        let unnameable = format!("quote 2:{} 5", u128::MAX);
        assert!(matches!(order(&words(&unnameable)), Err(CallError::Parameter(_))));
    }

    #[test]
    fn an_answer_is_printed_in_lines_and_a_refusal_is_an_error() {
        let asked = order(&words("quote 4:1776 10000000000")).unwrap();
        let text = |text: &str| text.to_owned();
        let mut quote = QuoteResponse {
            found: true,
            ok: true,
            token_out: Some(AlkaneId { block: 32, tx: 0 }.into()),
            amount_in: text("10000000000"),
            amount_out: text("155712"),
            fee_amount: text("346"),
            fee: text("22195432"),
            effective_price_q: Some(text("15571200000000")),
            price_impact: text("2100000000000000"),
            conversion_cap: Some(text("188121438907")),
            for_height: 962_503,
            ..QuoteResponse::default()
        };
        let printed = lines(&asked, &quote).unwrap();
        for part in [
            "sell    10000000000 of 4:1776",
            "get     155712 of 32:0",
            "fee     346 of 32:0, 0.22195432 %",
            "impact  0.21 %",
            "price   0.0000155712 token 1 for one token 0, 64221.12 token 0 for one token 1",
            "in block 962503",
            "at most 188121438907 of 4:1776 in one deposit",
        ] {
            assert!(printed.contains(part), "{printed}");
        }
        assert!(!printed.contains("warning") && !printed.contains("above"));
        (quote.ramping, quote.exceeds_conversion_cap) = (true, true);
        let printed = lines(&asked, &quote).unwrap();
        assert!(printed.contains("warning") && printed.contains("which this is above"));
        (quote.ok, quote.refusal) = (false, text("the pool is killed"));
        assert!(lines(&asked, &quote).unwrap_err().to_string().contains("the pool is killed"));
        assert!(lines(&asked, &QuoteResponse::default()).unwrap_err().to_string().contains("no CryptoSwap pool"));
        assert_eq!(to_json(&quote)["token_out"], "32:0");
    }

    #[test]
    fn numbers_keep_their_digits() {
        assert_eq!(fraction("0", 18), "0");
        assert_eq!(fraction("5", 2), "0.05");
        assert_eq!(fraction("1200", 2), "12");
        assert_eq!(inverse("0"), "");
        assert_eq!(inverse("15578067293288"), ", 64192.81 token 0 for one token 1");
        assert_eq!(inverse("15604533105145"), ", 64083.94 token 0 for one token 1");
    }

    #[test]
    fn only_a_message_in_digits_is_an_answer() {
        assert_eq!(read(&json!("0x")).unwrap(), QuoteResponse::default());
        for answer in [json!(null), json!("08"), json!("0xzz"), json!("0x08"), json!({})] {
            assert!(read(&answer).is_err(), "{answer}");
        }
    }
}
