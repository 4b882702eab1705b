//! How the rows of a table become orders: which column is what.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::order::Status;

/// What an order is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// An asset is put up for sale.
    Listing,
    /// An asset is requested.
    Offer,
}

impl Kind {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Listing => "listing",
            Self::Offer => "offer",
        }
    }
}

/// A table whose rows are orders.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// `source` of its orders, the first part of their markets.
    pub source: String,
    /// `kind` of its orders.
    pub kind: Kind,
    /// `side` of its orders where no column states it.
    #[serde(default)]
    pub side: Option<String>,
    /// `priceUnit` of its orders where no column states it.
    #[serde(default)]
    pub price_unit: Option<String>,
    /// Put before every id. Ids must differ within a source; two tables that count from 1 need this.
    #[serde(default)]
    pub id_prefix: String,
    /// Names of the columns that every table has.
    #[serde(default)]
    pub columns: Columns,
    /// What an order exchanges.
    #[serde(default)]
    pub assets: Vec<AssetColumns>,
    /// Markets of an order beside the whole book, in this order.
    #[serde(default)]
    pub markets: Vec<MarketColumns>,
    /// Scope of the main market; where a row has none, the first of `markets` that it has, or the whole book.
    #[serde(default)]
    pub main_market: Option<String>,
    /// Columns that go to `ext` under another name and as text.
    #[serde(default)]
    pub ext: BTreeMap<String, String>,
}

/// Names of the columns that every table has. A row may lack any but the id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Columns {
    /// The id.
    pub id: String,
    /// Bitcoin network.
    pub network: String,
    /// The side.
    pub side: String,
    /// The price.
    pub price: String,
    /// Its unit.
    pub price_unit: String,
    /// Whose order it is.
    pub maker_address: String,
    /// The state.
    pub status: String,
    /// The transaction that the maker signed.
    pub psbt: String,
    /// When it was made.
    pub created_at: String,
    /// When it was changed.
    pub updated_at: String,
}

impl Default for Columns {
    fn default() -> Self {
        Self {
            id: "id".to_owned(),
            network: "network".to_owned(),
            side: "side".to_owned(),
            price: "price".to_owned(),
            price_unit: "price_unit".to_owned(),
            maker_address: "maker_address".to_owned(),
            status: "status".to_owned(),
            psbt: "psbt".to_owned(),
            created_at: "created_at".to_owned(),
            updated_at: "updated_at".to_owned(),
        }
    }
}

/// Columns of something that an order exchanges.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AssetColumns {
    /// Its role, such as `loan`.
    #[serde(default)]
    pub role: Option<String>,
    /// Columns of its id; the first that a row has counts.
    pub token: Vec<String>,
    /// Column of its amount.
    #[serde(default)]
    pub amount: Option<String>,
}

/// Columns of a market's key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MarketColumns {
    /// The scope, such as `pair`.
    pub scope: String,
    /// The columns whose values, joined by `_`, are the key.
    pub key: Vec<String>,
}

/// How rows become orders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tables {
    /// By name.
    pub tables: BTreeMap<String, Table>,
    /// Words of the rows' state beside our own, lower case.
    pub statuses: BTreeMap<String, Status>,
    /// Network of rows that state none.
    pub network: String,
}

fn text(word: &str) -> String {
    word.to_owned()
}

fn texts(words: &[&str]) -> Vec<String> {
    words.iter().copied().map(text).collect()
}

impl Tables {
    /// The default tables.
    pub fn shipped() -> BTreeMap<String, Table> {
        let orbital = |kind, side| Table {
            source: text("orbitals"),
            kind,
            side: Some(text(side)),
            price_unit: Some(text("DIESEL")),
            id_prefix: String::new(),
            columns: Columns::default(),
            assets: vec![AssetColumns {
                role: None,
                token: texts(&["token_id", "collection"]),
                amount: Some(text("amount")),
            }],
            markets: vec![
                MarketColumns { scope: text("module"), key: texts(&["module"]) },
                MarketColumns { scope: text("collection"), key: texts(&["collection"]) },
            ],
            main_market: Some(text("module")),
            ext: BTreeMap::new(),
        };
        let asset = |role: &str| AssetColumns {
            role: Some(text(role)),
            token: vec![format!("{role}_token_id")],
            amount: Some(format!("{role}_amount")),
        };
        let lending = Table {
            source: text("lending"),
            kind: Kind::Offer,
            side: None,
            price_unit: Some(text("apr-bp")),
            id_prefix: String::new(),
            columns: Columns { side: text("role"), price: text("apr_bp"), ..Columns::default() },
            assets: vec![asset("loan"), asset("collateral")],
            markets: vec![
                MarketColumns { scope: text("loan-token"), key: texts(&["loan_token_id"]) },
                MarketColumns { scope: text("pair"), key: texts(&["loan_token_id", "collateral_token_id"]) },
            ],
            main_market: Some(text("pair")),
            ext: [("apr_bp", "aprBp"), ("duration_blocks", "durationBlocks")]
                .map(|(column, name)| (text(column), text(name)))
                .into(),
        };
        BTreeMap::from([
            (text("orbital_listings"), orbital(Kind::Listing, "sell")),
            (text("orbital_offers"), orbital(Kind::Offer, "buy")),
            (text("lending_offers"), lending),
        ])
    }

    /// Words for a state that are understood without configuration, beside our own.
    pub fn shipped_statuses() -> BTreeMap<String, Status> {
        [
            ("active", Status::Open),
            ("listed", Status::Open),
            ("completed", Status::Filled),
            ("sold", Status::Filled),
            ("accepted", Status::Taken),
            ("canceled", Status::Cancelled),
            ("deleted", Status::Removed),
        ]
        .map(|(word, status)| (text(word), status))
        .into()
    }

    /// The shipped tables on a network.
    pub fn on(network: &str) -> Self {
        Self { tables: Self::shipped(), statuses: Self::shipped_statuses(), network: text(network) }
    }

    /// The state that a word stands for.
    pub(crate) fn status(&self, word: &str) -> Option<Status> {
        word.parse().ok().or_else(|| self.statuses.get(&word.to_ascii_lowercase()).copied())
    }
}
