//! What happened on markets, as rows of histories and the pages of them (docs/api.md, "Markets").

use bitcoin::Address;
use paraffin_amm::{Action, Event, EventKind, PoolIdentity};
use paraffin_primitives::{AlkaneId, Network};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Number;

use super::record::Record;
use paraffin_gateway::api_types::{Digits, IdObject, Time};
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::methods::Hash;
use paraffin_gateway::rest::part::Part;

/// How many records there are, and which of them a page holds.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub(super) struct Counts {
    /// Of the whole listing.
    total: usize,
    /// Of the page.
    count: usize,
    limit: Option<usize>,
    offset: usize,
}

impl Counts {
    pub(super) fn new(total: usize, count: usize, part: Part) -> Self {
        Self { total, count, limit: part.limit, offset: part.offset }
    }
}

/// What every row has.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Happened {
    id: String,
    transaction_id: Hash,
    block_height: u32,
    transaction_index: u32,
    event_index: u32,
    vout: u32,
    timestamp: Time,
    successful: bool,
    /// Who did it; null where that has no address.
    address: Option<String>,
}

/// The kind of a row, where kinds are mixed.
#[derive(Default, Serialize, JsonSchema)]
struct Named {
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    kind: Option<&'static str>,
}

/// The pool of a row.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "members of the answer")]
struct OfPool {
    pool_block_id: Digits,
    pool_tx_id: Digits,
    pool_id: IdObject,
}

impl OfPool {
    fn new(pool: &PoolIdentity) -> Self {
        Self { pool_block_id: Digits(pool.id.block), pool_tx_id: Digits(pool.id.tx), pool_id: pool.id.into() }
    }
}

/// What went into a pool, or came out of it.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Deposited {
    #[serde(flatten)]
    pool: OfPool,
    token0_block_id: Digits,
    token0_tx_id: Digits,
    token1_block_id: Digits,
    token1_tx_id: Digits,
    token0_amount: Digits,
    token1_amount: Digits,
    lp_token_amount: Digits,
}

impl Deposited {
    fn new(pool: &PoolIdentity, [first, second]: [u128; 2], liquidity: u128) -> Self {
        let [token0, token1] = pool.tokens;
        Self {
            pool: OfPool::new(pool),
            token0_block_id: Digits(token0.block),
            token0_tx_id: Digits(token0.tx),
            token1_block_id: Digits(token1.block),
            token1_tx_id: Digits(token1.tx),
            token0_amount: Digits(first),
            token1_amount: Digits(second),
            lp_token_amount: Digits(liquidity),
        }
    }
}

/// An amount of an alkane.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct Paid {
    token_id: IdObject,
    amount: Digits,
}

/// The rows of all kinds, which have [`Happened`] at their beginning and [`Named`] at their end.
macro_rules! rows {
    ($($(#[$about:meta])* $row:ident { $($(#[$said:meta])* $member:ident: $type:ty,)* })*) => {
        $(
            $(#[$about])*
            #[derive(Serialize, JsonSchema)]
            #[serde(rename_all = "camelCase")]
            #[schemars(extend("x-twins" = true))]
            pub(super) struct $row {
                #[serde(flatten)]
                happened: Happened,
                $($(#[$said])* $member: $type,)*
                #[serde(flatten)]
                named: Named,
            }
        )*

        /// A row of any kind.
        #[derive(Serialize, JsonSchema)]
        #[serde(untagged)]
        #[schemars(inline)]
        pub(super) enum Row {
            $($row($row),)*
        }

        impl Row {
            fn named(&mut self) -> &mut Named {
                match self {
                    $(Self::$row(row) => &mut row.named,)*
                }
            }
        }
    };
}

rows! {
    /// A trade with a pool.
    Swap {
        seller_address: Option<String>,
        #[serde(flatten)]
        pool: OfPool,
        sold_token_block_id: Digits,
        sold_token_tx_id: Digits,
        bought_token_block_id: Digits,
        bought_token_tx_id: Digits,
        sold_amount: Digits,
        bought_amount: Digits,
        pay: Paid,
        receive: Paid,
        #[schemars(with = "Option<f64>")]
        price: Option<Number>,
    }
    /// A deposit into a pool.
    Mint {
        minter_address: Option<String>,
        #[serde(flatten)]
        deposited: Deposited,
    }
    /// A withdrawal from a pool.
    Burn {
        burner_address: Option<String>,
        #[serde(flatten)]
        deposited: Deposited,
    }
    /// The creation of a pool.
    Creation {
        creator_address: Option<String>,
        #[serde(flatten)]
        deposited: Deposited,
        token_supply: Digits,
    }
    /// Bitcoin that was wrapped.
    Wrap {
        amount: Digits,
    }
    /// Bitcoin that was unwrapped.
    Unwrap {
        amount: Digits,
    }
}

impl Row {
    /// The row of an event.
    pub(super) fn new(event: &Event, network: Network) -> Result<Self, ApiError> {
        let address = event.actor.as_ref().and_then(|script| Address::from_script(script, network.bitcoin()).ok());
        let address = address.map(|address| address.to_string());
        let id = match event.action.pool() {
            // Pools that no factory lists count their events for themselves.
            Some(pool) if pool.factory == AlkaneId::default() => {
                format!("{}:{}:{}", event.txid, pool.id, event.position.event)
            }
            _ => format!("{}:{}", event.txid, event.position.event),
        };
        let happened = Happened {
            id,
            transaction_id: Hash::of(event.txid),
            block_height: event.position.height,
            transaction_index: event.position.transaction,
            event_index: event.position.event,
            vout: event.vout,
            timestamp: Time::of(event.time)?,
            successful: event.successful,
            address: address.clone(),
        };
        let named = Named::default();
        Ok(match &event.action {
            Action::Creation { pool, amounts, liquidity } => Self::Creation(Creation {
                happened,
                creator_address: address,
                deposited: Deposited::new(pool, *amounts, *liquidity),
                token_supply: Digits(*liquidity),
                named,
            }),
            Action::Mint { pool, amounts, liquidity } => {
                let deposited = Deposited::new(pool, *amounts, *liquidity);
                Self::Mint(Mint { happened, minter_address: address, deposited, named })
            }
            Action::Burn { pool, amounts, liquidity } => {
                let deposited = Deposited::new(pool, *amounts, *liquidity);
                Self::Burn(Burn { happened, burner_address: address, deposited, named })
            }
            Action::Swap { pool, sold, bought } => Self::Swap(Swap {
                happened,
                seller_address: address,
                pool: OfPool::new(pool),
                sold_token_block_id: Digits(sold.id.block),
                sold_token_tx_id: Digits(sold.id.tx),
                bought_token_block_id: Digits(bought.id.block),
                bought_token_tx_id: Digits(bought.id.tx),
                sold_amount: Digits(sold.value),
                bought_amount: Digits(bought.value),
                pay: Paid { token_id: sold.id.into(), amount: Digits(sold.value) },
                receive: Paid { token_id: bought.id.into(), amount: Digits(bought.value) },
                price: event.action.price().and_then(|price| price.to_decimal().parse().ok()),
                named,
            }),
            Action::Wrap { amount } => Self::Wrap(Wrap { happened, amount: Digits(*amount), named }),
            Action::Unwrap { amount } => Self::Unwrap(Unwrap { happened, amount: Digits(*amount), named }),
        })
    }

    /// The same with the name of its kind.
    fn of_kind(mut self, name: &str) -> Self {
        self.named().name = Some(name.to_owned());
        self
    }
}

/// The pool of a page.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub(super) struct PoolName {
    pub(super) pool_id: IdObject,
    pub(super) pool_name: Option<String>,
}

/// What a history found, of which a page is made.
pub(super) struct Found {
    pub(super) counts: Counts,
    pub(super) events: Vec<Event>,
    /// The name of the pool whose swaps these are.
    pub(super) pool: Option<PoolName>,
    pub(super) network: Network,
    /// Whether rows have twins.
    pub(super) twins: bool,
}

/// A page of a history.
pub(super) trait Page: Sized + Serialize + JsonSchema + Send + 'static {
    /// The kind of all its rows, where they are of one.
    const KIND: Option<EventKind>;

    fn of(found: Found) -> Result<Self, ApiError>;
}

/// The pages of one kind.
macro_rules! pages {
    ($($page:ident: $row:ident in $rows:ident $(of $pool:ident)?;)*) => {$(
        #[doc = concat!("A page of ", stringify!($rows), ", newest first.")]
        #[derive(Serialize, JsonSchema)]
        pub(super) struct $page {
            #[serde(flatten)]
            counts: Counts,
            $(
                #[serde(skip_serializing_if = "Option::is_none")]
                #[schemars(with = "PoolName")]
                $pool: Option<PoolName>,
            )?
            $rows: Vec<Record<$row>>,
        }

        impl Page for $page {
            const KIND: Option<EventKind> = Some(EventKind::$row);

            fn of(found: Found) -> Result<Self, ApiError> {
                let mut rows = Vec::with_capacity(found.events.len());
                for event in &found.events {
                    if let Row::$row(row) = Row::new(event, found.network)? {
                        rows.push(Record::new(&row, found.twins)?);
                    }
                }
                Ok(Self { counts: found.counts, $($pool: found.$pool,)? $rows: rows })
            }
        }
    )*};
}

pages! {
    SwapPage: Swap in swaps of pool;
    MintPage: Mint in mints;
    BurnPage: Burn in burns;
    CreationPage: Creation in creations;
    WrapPage: Wrap in wraps;
    UnwrapPage: Unwrap in unwraps;
}

/// Everything, each with its kind.
#[derive(Serialize, JsonSchema)]
pub(super) struct Activity {
    #[serde(flatten)]
    counts: Counts,
    transactions: Vec<Row>,
}

impl Page for Activity {
    const KIND: Option<EventKind> = None;

    fn of(found: Found) -> Result<Self, ApiError> {
        let rows = found.events.iter().map(|event| {
            let row = Row::new(event, found.network)?;
            Ok(row.of_kind(event.action.kind().name()))
        });
        Ok(Self { transactions: rows.collect::<Result<_, ApiError>>()?, counts: found.counts })
    }
}

/// Everything, each with its kind, and once more by kinds.
#[derive(Serialize, JsonSchema)]
pub(super) struct TaggedActivity {
    #[serde(flatten)]
    counts: Counts,
    swaps: Vec<Record<Swap>>,
    mints: Vec<Record<Mint>>,
    burns: Vec<Record<Burn>>,
    creations: Vec<Record<Creation>>,
    transactions: Vec<Record<Row>>,
}

impl Page for TaggedActivity {
    const KIND: Option<EventKind> = None;

    fn of(found: Found) -> Result<Self, ApiError> {
        let twins = found.twins;
        let (mut swaps, mut mints, mut burns, mut creations) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut transactions = Vec::with_capacity(found.events.len());
        for event in &found.events {
            let kind = event.action.kind();
            let mut row = Row::new(event, found.network)?.of_kind(&capital(kind));
            row.named().kind = Some(kind.name());
            match &row {
                Row::Swap(row) => swaps.push(Record::new(row, twins)?),
                Row::Mint(row) => mints.push(Record::new(row, twins)?),
                Row::Burn(row) => burns.push(Record::new(row, twins)?),
                Row::Creation(row) => creations.push(Record::new(row, twins)?),
                Row::Wrap(_) | Row::Unwrap(_) => {}
            }
            transactions.push(Record::new(&row, twins)?);
        }
        Ok(Self { counts: found.counts, swaps, mints, burns, creations, transactions })
    }
}

/// The name of a kind with a capital letter at its beginning.
fn capital(kind: EventKind) -> String {
    let mut letters = kind.name().chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}
