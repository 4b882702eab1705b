//! Holdings of an address beside bitcoin: alkanes, runes, BRC-20 and inscriptions.

use serde::Deserialize;
use serde_json::json;

use super::calls::Id;
use super::percent;
use super::stones::left_out;
use crate::api::Call;
use crate::explorer::{Part, Reader, text};
use crate::failure::Failure;

/// Rows of each list.
const SHOWN: usize = 50;
/// BRC-20 tokens whose balance is requested, and events that are searched for their tickers.
const TICKERS_ASKED: usize = 4;
const EVENTS_READ: usize = 100;
/// Decimal places of the amounts of BRC-20.
const BRC20_DECIMALS: u32 = 18;
const DECIMALS_MAX: u32 = 255;
const NAME_MAX: usize = 60;

/// An amount of something with a page.
pub(super) struct Holding {
    pub(super) path: String,
    pub(super) name: String,
    pub(super) id: String,
    pub(super) amount: String,
}

/// One kind of holdings, or why it is not shown.
#[derive(Default)]
pub(super) struct List {
    pub(super) title: &'static str,
    /// Id of the list on its page.
    pub(super) id: &'static str,
    pub(super) rows: Vec<Holding>,
    /// Why it is not shown, or how many rows are left out.
    pub(super) sentence: String,
}

impl List {
    /// The rows, or the sentence of a failed call.
    fn of<T>(title: &'static str, id: &'static str, part: Part<Vec<T>>, row: impl Fn(&T) -> Holding) -> Self {
        match part {
            Ok(all) => Self {
                title,
                id,
                rows: all.iter().take(SHOWN).map(row).collect(),
                sentence: left_out(all.len(), SHOWN, "entries"),
            },
            Err(sentence) => Self { title, id, rows: Vec::new(), sentence },
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AlkaneBalance {
    alkane_id: Id,
    name: Option<String>,
    symbol: Option<String>,
    decimals: Option<u32>,
    balance: Option<String>,
}

/// A balance of `ord`: name, amount with its decimals, symbol.
#[derive(Deserialize)]
struct RuneBalance(String, String, Option<String>);

#[derive(Deserialize)]
struct OrdAddress {
    inscriptions: Option<Vec<String>>,
    runes_balances: Option<Vec<RuneBalance>>,
}

#[derive(Deserialize)]
struct Events {
    events: Vec<TickerEvent>,
}

#[derive(Deserialize)]
struct TickerEvent {
    #[serde(default)]
    tick: String,
}

#[derive(Deserialize)]
struct TickerBalance {
    overall_balance: String,
    available_balance: String,
}

/// Reads all holdings of an address.
pub(super) async fn holdings(address: &str, reader: &Reader) -> Result<Vec<List>, Failure> {
    let alkanes = Call::rest("get-alkanes-by-address", &json!({ "address": address }));
    let alkanes = reader.part::<Vec<AlkaneBalance>>(alkanes).await?;
    let ord = reader.part::<OrdAddress>(Call::rpc("ord_address", json!([address]))).await?;
    let (runes, inscriptions) = match ord {
        Ok(ord) => (Ok(ord.runes_balances.unwrap_or_default()), Ok(ord.inscriptions.unwrap_or_default())),
        Err(sentence) => (Err(sentence.clone()), Err(sentence)),
    };
    Ok(vec![
        List::of("Alkanes", "alkanes", alkanes, alkane),
        List::of("Runes", "runes", runes, rune),
        brc20(address, reader).await?,
        List::of("Inscriptions", "inscriptions", inscriptions, |id: &String| inscription(id)),
    ])
}

fn alkane(balance: &AlkaneBalance) -> Holding {
    let id = balance.alkane_id.name();
    let named = balance.name.as_deref().filter(|name| !name.is_empty()).or(balance.symbol.as_deref());
    let decimals = balance.decimals.unwrap_or(8).min(DECIMALS_MAX);
    let symbol = text::clean(balance.symbol.as_deref().unwrap_or_default(), 16);
    let amount = text::amount_text(balance.balance.as_deref().unwrap_or_default(), decimals);
    Holding {
        path: format!("/explorer/token/{}", percent(&id).replace("%3A", ":")),
        name: text::clean(named.unwrap_or(&id), NAME_MAX),
        amount: format!("{amount} {symbol}"),
        id,
    }
}

fn rune(balance: &RuneBalance) -> Holding {
    let RuneBalance(name, amount, symbol) = balance;
    Holding {
        path: format!("/explorer/rune/{}", percent(name)),
        name: text::clean(name, NAME_MAX),
        id: String::new(),
        amount: format!("{} {}", text::clean(amount, 80), text::clean(symbol.as_deref().unwrap_or_default(), 4)),
    }
}

fn inscription(id: &str) -> Holding {
    Holding { path: format!("/explorer/inscription/{}", percent(id)), name: text::short(id), ..no_amount(id) }
}

fn no_amount(id: &str) -> Holding {
    Holding { path: String::new(), name: String::new(), id: text::clean(id, 80), amount: String::new() }
}

/// Balances of the tokens that the newest events of an address name.
async fn brc20(address: &str, reader: &Reader) -> Result<List, Failure> {
    let path = format!("/v4/opi/v1/brc20/history?address={address}&limit={EVENTS_READ}");
    let mut list = List { title: "BRC-20", id: "brc20", ..List::default() };
    let events = match reader.part::<Events>(Call::get(path)).await? {
        Ok(events) => events.events,
        Err(sentence) => return Ok(List { sentence, ..list }),
    };
    let mut tickers: Vec<String> = Vec::new();
    for event in events.into_iter().take(EVENTS_READ) {
        if !event.tick.is_empty() && event.tick.len() <= 32 && !tickers.contains(&event.tick) {
            tickers.push(event.tick);
        }
    }
    list.sentence = left_out(tickers.len(), TICKERS_ASKED, "tokens");
    for ticker in tickers.iter().take(TICKERS_ASKED) {
        let ticker_in_path = percent(ticker);
        let path = format!("/v4/opi/v1/brc20/balance?ticker={ticker_in_path}&address={address}");
        let Ok(balance) = reader.part::<TickerBalance>(Call::get(path)).await? else { continue };
        let available = text::amount_text(&balance.available_balance, BRC20_DECIMALS);
        let overall = text::amount_text(&balance.overall_balance, BRC20_DECIMALS);
        list.rows.push(Holding {
            path: format!("/explorer/brc20/{ticker_in_path}"),
            name: text::clean(ticker, 16),
            id: String::new(),
            amount: if available == overall { overall } else { format!("{overall}, {available} of it available") },
        });
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_holdings_are_plain() {
        let balance = |id: &str, decimals| AlkaneBalance {
            alkane_id: Id { block: id.to_owned(), tx: "1".to_owned() },
            name: Some(format!("N\u{202e}{}", "x".repeat(100_000))),
            symbol: None,
            decimals,
            balance: Some(u128::MAX.to_string()),
        };
        let row = alkane(&balance("2", Some(u32::MAX)));
        assert_eq!((&*row.path, row.name.chars().count()), ("/explorer/token/2:1", NAME_MAX + 1));
        assert!(row.amount.len() < 300 && !row.name.contains('\u{202e}'));
        assert_eq!(alkane(&balance("../x", None)).path, "/explorer/token/%E2%80%94");
        let row = rune(&RuneBalance("A•B".to_owned(), "1.5".to_owned(), None));
        assert_eq!((&*row.path, &*row.amount), ("/explorer/rune/A%E2%80%A2B", "1.5 "));
        assert_eq!(inscription("\"/>").path, "/explorer/inscription/%22%2F%3E");
    }

    #[test]
    fn lists_are_bounded() {
        let list = List::of("A", "a", Ok(vec![0_u8; 1_000]), |_| no_amount("x"));
        assert_eq!((list.rows.len(), &*list.sentence), (SHOWN, "950 more entries are left out."));
        let away = List::of("A", "a", Err("Sign in".to_owned()), |_: &u8| no_amount("x"));
        assert_eq!((away.rows.len(), &*away.sentence), (0, "Sign in"));
    }
}
