//! One order as its readers see it, written once.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::checksum::Piece;
use crate::name::Name;

/// State of an order. The first three are active: such an order is in the book.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Anyone may take it.
    Open,
    /// It is matched with a counterpart.
    Matched,
    /// Its settlement is under way.
    Pending,
    /// It was settled.
    Filled,
    /// A loan offer was taken.
    Taken,
    /// Its maker withdrew it.
    Cancelled,
    /// Its time ran out.
    Expired,
    /// Its row was deleted.
    Removed,
}

impl Status {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Open,
        Self::Matched,
        Self::Pending,
        Self::Filled,
        Self::Taken,
        Self::Cancelled,
        Self::Expired,
        Self::Removed,
    ];

    /// Whether such an order is in the book.
    pub fn is_active(self) -> bool {
        matches!(self, Self::Open | Self::Matched | Self::Pending)
    }

    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Matched => "matched",
            Self::Pending => "pending",
            Self::Filled => "filled",
            Self::Taken => "taken",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
            Self::Removed => "removed",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl FromStr for Status {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|status| status.as_str().eq_ignore_ascii_case(word)).ok_or(())
    }
}

/// Position of a change in the history of its database. An offset in the database's log comes after every time: one table
/// should state only one of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Position {
    /// Unix time, microseconds.
    Time(u64),
    /// Number of the log file (0 where there is one log) and offset in it.
    Log(u64, u64),
}

/// An order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    source: Name,
    id: Name,
    market_key: Name,
    topics: Vec<Name>,
    status: Status,
    price: Option<Box<str>>,
    table: Name,
    position: Position,
    /// The envelope as JSON.
    #[serde(with = "text")]
    text: Bytes,
    /// Where in the envelope the word of the state begins.
    status_at: usize,
}

/// The envelope is JSON and is embedded without escaping.
mod text {
    use bytes::Bytes;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_json::value::RawValue;

    pub(super) fn serialize<S: Serializer>(text: &Bytes, serializer: S) -> Result<S::Ok, S::Error> {
        let text = serde_json::from_slice::<&RawValue>(text).map_err(serde::ser::Error::custom)?;
        text.serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
        let text = Box::<RawValue>::deserialize(deserializer)?;
        Ok(Bytes::from(String::from(Box::<str>::from(text)).into_bytes()))
    }
}

/// Something that an order exchanges.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Asset<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) role: Option<&'r str>,
    pub(crate) token_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) amount_raw: Option<String>,
}

/// Members of the envelope before the state.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Head<'r> {
    pub(crate) source: &'r Name,
    pub(crate) id: Name,
    pub(crate) network: &'r str,
    pub(crate) kind: &'r str,
    pub(crate) market_key: Name,
    pub(crate) topics: Vec<Name>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) side: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) maker_address: Option<String>,
}

/// Members of the envelope after the state.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Tail<'r> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) price: Option<Box<str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) price_unit: Option<String>,
    pub(crate) assets: Vec<Asset<'r>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) psbt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) created_at: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) updated_at: Option<u64>,
    pub(crate) ext: std::collections::BTreeMap<&'r str, &'r serde_json::value::RawValue>,
}

impl Order {
    /// Writes the envelope.
    ///
    /// # Errors
    /// A value cannot be written as JSON.
    pub(crate) fn write(
        head: Head<'_>,
        status: Status,
        tail: Tail<'_>,
        table: Name,
        position: Position,
    ) -> Result<Self, serde_json::Error> {
        let mut text = serde_json::to_vec(&head)?;
        // The brace that ends the first members.
        text.pop();
        text.extend_from_slice(b",\"status\":\"");
        let status_at = text.len();
        text.extend_from_slice(status.as_str().as_bytes());
        text.extend_from_slice(b"\",");
        let start = text.len();
        serde_json::to_writer(&mut text, &tail)?;
        // The brace that begins the last members.
        text.remove(start);
        let Head { source, id, market_key, topics, .. } = head;
        let source = source.clone();
        Ok(Self {
            source,
            id,
            market_key,
            topics,
            status,
            price: tail.price,
            table,
            position,
            text: text.into(),
            status_at,
        })
    }

    /// The same order in another state.
    pub(crate) fn with_status(&self, status: Status) -> Self {
        let after = self.status_at + self.status.as_str().len();
        let text = [&self.text[..self.status_at], status.as_str().as_bytes(), &self.text[after..]].concat();
        Self { status, text: text.into(), ..self.clone() }
    }

    /// Where it comes from.
    pub fn source(&self) -> &Name {
        &self.source
    }

    /// Its id, one of a kind within its source.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Its state.
    pub fn status(&self) -> Status {
        self.status
    }

    /// Its price as it was given.
    pub fn price(&self) -> Option<&str> {
        self.price.as_deref()
    }

    /// Its main market.
    pub fn market_key(&self) -> &Name {
        &self.market_key
    }

    /// All markets that it is in.
    pub fn topics(&self) -> &[Name] {
        &self.topics
    }

    /// The table that it comes from.
    pub fn table(&self) -> &Name {
        &self.table
    }

    /// Where in that table's history.
    pub fn position(&self) -> Position {
        self.position
    }

    /// The envelope, JSON in UTF-8.
    pub fn text(&self) -> &Bytes {
        &self.text
    }

    /// What the checksum of a market holds of it: id, state and price, parted by spaces and ended by a line feed.
    pub fn checked_text(&self) -> String {
        format!("{} {} {}\n", self.id, self.status, self.price().unwrap_or_default())
    }

    pub(crate) fn piece(&self) -> Piece {
        Piece::of(self.checked_text().as_bytes())
    }

    /// Which of two states of one order wins: the later one. At the same position one that ended wins over one that did not,
    /// and then the greater text, so that the order in which they come does not matter.
    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        let rank = |order: &Self| (order.position, order.status == Status::Removed, !order.status.is_active());
        rank(self).cmp(&rank(other)).then_with(|| self.text.cmp(&other.text))
    }

    /// Bytes that it holds, about.
    pub(crate) fn bytes(&self) -> usize {
        /// The order, its names, and its entries in the book.
        const ORDER_BYTES: usize = 700;
        ORDER_BYTES + self.text.len()
    }
}

#[cfg(test)]
impl Order {
    pub(crate) fn sample(id: &str, status: Status, price: &str) -> Self {
        let source: Name = "orbitals".into();
        let market: Name = "orbitals:regtest:book:*".into();
        let head = Head {
            source: &source,
            id: id.into(),
            network: "regtest",
            kind: "listing",
            market_key: market.clone(),
            topics: vec![market],
            side: Some("sell"),
            maker_address: None,
        };
        let tail = Tail {
            price: Some(price.into()),
            price_unit: None,
            assets: Vec::new(),
            psbt: None,
            created_at: None,
            updated_at: None,
            ext: std::collections::BTreeMap::new(),
        };
        Self::write(head, status, tail, "orbital_listings".into(), Position::Time(1)).unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_in_another_state_differs_in_nothing_else() {
        let order = Order::sample("clx1", Status::Open, "12");
        let removed = order.with_status(Status::Removed);
        let mut value: serde_json::Value = serde_json::from_slice(order.text()).unwrap();
        value["status"] = "removed".into();
        assert_eq!(serde_json::from_slice::<serde_json::Value>(removed.text()).unwrap(), value);
        assert_eq!(removed.with_status(Status::Open), order);
        let restored: Order = serde_json::from_str(&serde_json::to_string(&order).unwrap()).unwrap();
        assert_eq!(restored, order);
    }
}
