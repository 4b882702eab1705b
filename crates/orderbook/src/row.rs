//! A row of a mapped table becomes an order.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::fields::{self, FieldError, WORD_BYTES_MAX};
use crate::market::Market;
use crate::members::Members;
use crate::name::Name;
use crate::order::{Asset, Head, Order, Position, Status, Tail};
use crate::tables::{Table, Tables};

/// Longest signed transaction, bytes of base64.
const PSBT_BYTES_MAX: usize = 400_000;
/// What a connector writes for a long value that did not change and that it does not have.
const UNAVAILABLE: &str = "\"__debezium_unavailable_value\"";

/// Position and time of an event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EventOrigin {
    /// The position that the event states.
    pub(crate) position: Option<Position>,
    /// When it came, Unix microseconds.
    pub(crate) received_at: u64,
}

struct Row<'r, 'e> {
    members: &'r Members<'e>,
}

impl<'e> Row<'_, 'e> {
    fn get(&self, column: &str) -> Option<&'e RawValue> {
        self.members.get(column).filter(|value| value.get() != UNAVAILABLE)
    }

    fn word(&self, column: &str) -> Result<Option<Cow<'e, str>>, FieldError> {
        self.get(column).map(|value| fields::word(column, value, WORD_BYTES_MAX)).transpose()
    }

    fn decimal(&self, column: &str) -> Result<Option<String>, FieldError> {
        self.get(column).map(|value| fields::decimal(column, value)).transpose()
    }

    fn time(&self, column: &str) -> Result<Option<u64>, FieldError> {
        self.get(column).map(|value| fields::time(column, value)).transpose()
    }
}

/// The order that a row is; in the state `forced` where the event states it.
pub(crate) fn order(
    members: &Members<'_>,
    name: &str,
    table: &Table,
    tables: &Tables,
    origin: EventOrigin,
    forced: Option<Status>,
) -> Result<Order, FieldError> {
    let row = Row { members };
    let columns = &table.columns;
    let id = row.word(&columns.id)?.ok_or_else(|| FieldError::new(&columns.id, "is required"))?;
    let id = Name::from(format!("{}{id}", table.id_prefix));
    let network = row.word(&columns.network)?.unwrap_or(Cow::Borrowed(tables.network.as_str()));
    let word = row.word(&columns.status)?;
    let mapped = word.as_deref().map(|word| {
        let unknown = || FieldError::new(&columns.status, "is no known state: name it in [orderbook.statuses]");
        tables.status(word).ok_or_else(unknown)
    });
    // A row without a state is new.
    let status = mapped.transpose()?.unwrap_or(Status::Open);
    let status = forced.unwrap_or(status);
    let price = row.decimal(&columns.price)?;
    let created_at = row.time(&columns.created_at)?;
    let updated_at = row.time(&columns.updated_at)?;
    let position = origin.position.or(updated_at.map(Position::Time)).unwrap_or(Position::Time(origin.received_at));
    let (topics, market_key) = topics(&row, table, &network)?;
    let side = row.word(&columns.side)?;
    let psbt = row.get(&columns.psbt).map(|value| fields::word(&columns.psbt, value, PSBT_BYTES_MAX)).transpose()?;
    let mut ext_texts = Vec::new();
    if let Some(word) = word.as_deref().filter(|word| *word != status.as_str()) {
        ext_texts.push(("status", quoted(word)?));
    }
    for (column, name) in &table.ext {
        if let Some(word) = row.word(column)? {
            ext_texts.push((name.as_str(), quoted(&word)?));
        }
    }
    let mut ext: BTreeMap<&str, &RawValue> = BTreeMap::new();
    for (column, value) in members.iter().filter(|(column, value)| value.get() != "null" && !is_known(table, column)) {
        fields::any(column, value)?;
        ext.insert(column, value);
    }
    ext.extend(ext_texts.iter().map(|(name, value)| (*name, value.as_ref())));
    let source: Name = table.source.as_str().into();
    let head = Head {
        source: &source,
        id,
        network: &network,
        kind: table.kind.as_str(),
        market_key,
        topics,
        side: side.as_deref().or(table.side.as_deref()),
        maker_address: row.word(&columns.maker_address)?.map(Cow::into_owned),
    };
    let tail = Tail {
        price: price.map(String::into_boxed_str),
        price_unit: row.word(&columns.price_unit)?.map(Cow::into_owned).or_else(|| table.price_unit.clone()),
        assets: assets(&row, table)?,
        psbt: psbt.map(Cow::into_owned),
        created_at,
        updated_at,
        ext,
    };
    Order::write(head, status, tail, name.into(), position)
        .map_err(|_| FieldError::new("the row", "cannot be written as JSON"))
}

fn quoted(text: &str) -> Result<Box<RawValue>, FieldError> {
    serde_json::value::to_raw_value(text).map_err(|_| FieldError::new("the row", "cannot be written as JSON"))
}

/// All markets of a row, and the main one.
fn topics(row: &Row<'_, '_>, table: &Table, network: &str) -> Result<(Vec<Name>, Name), FieldError> {
    let source = table.source.as_str();
    let named = |scope: &str, key: &str| -> Result<Name, FieldError> {
        let market = Market { source, network, scope, key }.to_string();
        match Market::parse(&market) {
            // A colon inside an early part would shift all that follow.
            Ok(parsed) if parsed == (Market { source, network, scope, key }) => Ok(market.into()),
            _ => Err(FieldError::new(&market, "is no name of a market")),
        }
    };
    let book = named("book", "*")?;
    let mut topics = vec![book.clone()];
    let mut main: Option<Name> = None;
    let mut first: Option<Name> = None;
    for market in &table.markets {
        let words: Result<Vec<_>, _> = market.key.iter().map(|column| row.word(column)).collect();
        let Some(words) = words?.into_iter().collect::<Option<Vec<_>>>() else { continue };
        let topic = named(&market.scope, &words.join("_"))?;
        if table.main_market.as_deref() == Some(market.scope.as_str()) {
            main = Some(topic.clone());
        }
        first.get_or_insert_with(|| topic.clone());
        if !topics.contains(&topic) {
            topics.push(topic);
        }
    }
    Ok((topics, main.or(first).unwrap_or(book)))
}

fn assets<'t>(row: &Row<'_, '_>, table: &'t Table) -> Result<Vec<Asset<'t>>, FieldError> {
    let mut assets = Vec::new();
    for asset in &table.assets {
        let amount_raw = asset.amount.as_deref().map(|column| row.decimal(column)).transpose()?.flatten();
        let mut token = None;
        for column in &asset.token {
            token = match token {
                Some(token) => Some(token),
                None => row.word(column)?,
            };
        }
        if let Some(token) = token {
            assets.push(Asset { role: asset.role.as_deref(), token_id: token.into_owned(), amount_raw });
        }
    }
    Ok(assets)
}

/// Whether the mapping of the table names a column.
fn is_known(table: &Table, column: &str) -> bool {
    let columns = &table.columns;
    let named = [
        &columns.id,
        &columns.network,
        &columns.side,
        &columns.price,
        &columns.price_unit,
        &columns.maker_address,
        &columns.status,
        &columns.psbt,
        &columns.created_at,
        &columns.updated_at,
    ];
    named.into_iter().any(|name| name == column)
        || table.ext.contains_key(column)
        || table.markets.iter().any(|market| market.key.iter().any(|name| name == column))
        || table
            .assets
            .iter()
            .any(|asset| asset.amount.as_deref() == Some(column) || asset.token.iter().any(|name| name == column))
}
