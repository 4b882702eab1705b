//! Histories: pages of events, newest first (docs/api.md, "Markets").

use paraffin_amm::{Event, EventKind, Page, Scope, Status, merged, pool_state};
use paraffin_primitives::AlkaneId;
use serde_json::{Map, Value, json};

use super::super::{RestBody, RestResult};
use super::cryptoswap;
use super::events::{plural, row};
use super::fields::{
    FACTORY_FIELDS, POOL_FIELDS, factory_id, kind, optional_id, owner, require_factory, require_token, required_id,
    status, token_id,
};
use super::problem::{Problem, read};
use crate::alkanes::id_object;
use crate::errors::RestError;
use crate::markets::{self, MarketMoment, NamedPool};
use crate::respond::Reply;
use crate::rest::part::Part;
use crate::state::{BoxFuture, RequestContext};

/// Rows of a page where nothing is said.
const LIMIT_DEFAULT: usize = 50;

/// Which history a route is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum History {
    /// Events of a kind on a pool, or on all pools where none is named.
    OfPool(EventKind),
    /// Swaps with a token on either side.
    OfToken,
    /// Pools that a factory created.
    Creations,
    /// All events of a kind.
    All(EventKind),
    /// Events of a kind by an address.
    OfAddress(EventKind),
    /// Swaps of an address with a pool.
    OfAddressOnPool,
    /// Swaps of an address with a token on either side.
    OfAddressWithToken,
    /// Everything, or one kind.
    Mixed,
    /// Everything that an address did, or one kind.
    MixedOfAddress,
    /// Everything on a pool, or on all pools of the network's factory, as clients of older hosts read it.
    Activity,
}

/// How the rows of a page are rendered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Under the name of the kind.
    Single(EventKind),
    /// As `transactions`, each with its `type`.
    Mixed,
    /// As `transactions` whose `type` begins with a capital letter, and once more under the names of their kinds.
    Tagged,
}

/// What is asked for.
struct Wanted {
    scope: Scope,
    kind: Option<EventKind>,
    status: Status,
    part: Part,
    form: Form,
    /// What must exist.
    pool: Option<AlkaneId>,
    token: Option<AlkaneId>,
    factory: Option<AlkaneId>,
}

impl Wanted {
    fn new(scope: Scope, kind: Option<EventKind>, form: Form) -> Self {
        let part = Part { offset: 0, limit: Some(LIMIT_DEFAULT) };
        Self { scope, kind, status: Status::Successful, part, form, pool: None, token: None, factory: None }
    }

    fn single(scope: Scope, kind: EventKind) -> Self {
        Self::new(scope, Some(kind), Form::Single(kind))
    }

    fn on_pool(id: AlkaneId, kind: EventKind) -> Self {
        Self { pool: Some(id), ..Self::single(Scope::Pool(id), kind) }
    }

    /// What a request asks for.
    fn of(context: &RequestContext, body: &RestBody, history: History) -> Result<Self, RestError> {
        let wanted = match history {
            History::OfPool(kind) => match optional_id(body, &POOL_FIELDS)? {
                Some(id) => Self::on_pool(id, kind),
                None => Self::single(Scope::All, kind),
            },
            History::OfToken => {
                let id = token_id(body)?;
                Self { token: Some(id), ..Self::single(Scope::Token(id), EventKind::Swap) }
            }
            History::Creations => {
                let factory = factory_id(context, body)?;
                let named = optional_id(body, &FACTORY_FIELDS)?;
                match optional_id(body, &POOL_FIELDS)? {
                    Some(id) => Self { factory: named, ..Self::on_pool(id, EventKind::Creation) },
                    None => {
                        Self { factory: Some(factory), ..Self::single(Scope::Factory(factory), EventKind::Creation) }
                    }
                }
            }
            History::All(kind) => Self::single(Scope::All, kind),
            History::OfAddress(kind) => Self::single(Scope::Script(owner(context, body)?), kind),
            History::OfAddressOnPool => {
                let (owner, id) = (owner(context, body)?, required_id(body, &POOL_FIELDS)?);
                Self { pool: Some(id), ..Self::single(Scope::ScriptPool(owner, id), EventKind::Swap) }
            }
            History::OfAddressWithToken => {
                let (owner, id) = (owner(context, body)?, token_id(body)?);
                Self { token: Some(id), ..Self::single(Scope::ScriptToken(owner, id), EventKind::Swap) }
            }
            History::Mixed => Self::new(Scope::All, kind(body, "transactionType", false)?, Form::Mixed),
            History::MixedOfAddress => {
                let scope = Scope::Script(owner(context, body)?);
                Self::new(scope, kind(body, "transactionType", false)?, Form::Mixed)
            }
            History::Activity => {
                let kind = kind(body, "category", true)?;
                match optional_id(body, &POOL_FIELDS)? {
                    Some(id) => Self { pool: Some(id), ..Self::new(Scope::Pool(id), kind, Form::Tagged) },
                    None => Self::new(Scope::Factory(markets::of(context)?.factory), kind, Form::Tagged),
                }
            }
        };
        Ok(Self { status: status(body)?, part: Part::limited(body)?, ..wanted })
    }

    /// 404 where something that is asked about does not exist; the pool if one is asked about.
    fn check(&self, moment: &MarketMoment<'_>) -> Result<Option<NamedPool>, Problem> {
        if let Some(id) = self.token {
            require_token(moment, id)?;
        }
        if let Some(id) = self.factory {
            require_factory(moment, id)?;
        }
        let Some(id) = self.pool else { return Ok(None) };
        let pool = moment.named_pool(id)?;
        let pool = pool.ok_or_else(|| RestError::not_found(format!("there is no pool {id}")))?;
        match self.factory {
            Some(factory) if factory != pool.identity.factory => {
                Err(RestError::not_found(format!("there is no pool {id} of factory {factory}")).into())
            }
            _ => Ok(Some(pool)),
        }
    }

    /// Of a pool its own; of a token or an address those of all pools together (docs/api.md).
    fn events(&self, moment: &MarketMoment<'_>, pool: Option<&NamedPool>) -> Result<Page<Event>, Problem> {
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let (offset, limit) = (number(self.part.offset), number(self.part.limit.unwrap_or(LIMIT_DEFAULT)));
        let markets = pool.map_or(&moment.markets, |pool| &pool.markets);
        let list = markets.list(self.scope, self.kind, self.status)?;
        if let (Form::Single(kind), Scope::Token(_) | Scope::Script(_) | Scope::ScriptToken(..)) =
            (self.form, self.scope)
            && let Some(other) = moment.cryptoswap_list(self.scope, kind, self.status)?
        {
            return Ok(merged(&list, &other, offset, limit)?);
        }
        Ok(list.page(offset, limit)?)
    }
}

fn history(context: &RequestContext, body: RestBody, history: History) -> BoxFuture<'_, RestResult> {
    Box::pin(async move { Reply::enveloped(&page(context, Wanted::of(context, &body, history)?).await?) })
}

/// A handler for each history.
macro_rules! routes {
    ($($name:ident: $history:expr, $path:literal;)*) => {$(
        #[doc = concat!("POST `/", $path, "`.")]
        pub(in crate::rest) fn $name(context: &RequestContext, body: RestBody) -> BoxFuture<'_, RestResult> {
            history(context, body, $history)
        }
    )*};
}

routes! {
    pool_swaps: History::OfPool(EventKind::Swap), "get-pool-swap-history";
    pool_mints: History::OfPool(EventKind::Mint), "get-pool-mint-history";
    pool_burns: History::OfPool(EventKind::Burn), "get-pool-burn-history";
    creations: History::Creations, "get-pool-creation-history";
    activity: History::Activity, "get-pool-history";
    token_swaps: History::OfToken, "get-token-swap-history";
    wraps: History::All(EventKind::Wrap), "get-all-wrap-history";
    unwraps: History::All(EventKind::Unwrap), "get-all-unwrap-history";
    address_wraps: History::OfAddress(EventKind::Wrap), "get-address-wrap-history";
    address_unwraps: History::OfAddress(EventKind::Unwrap), "get-address-unwrap-history";
    address_creations: History::OfAddress(EventKind::Creation), "get-address-pool-creation-history";
    address_mints: History::OfAddress(EventKind::Mint), "get-address-pool-mint-history";
    address_burns: History::OfAddress(EventKind::Burn), "get-address-pool-burn-history";
    address_swaps_on_pool: History::OfAddressOnPool, "get-address-swap-history-for-pool";
    address_swaps_with_token: History::OfAddressWithToken, "get-address-swap-history-for-token";
    everything: History::Mixed, "get-all-amm-tx-history";
    everything_of_address: History::MixedOfAddress, "get-all-address-amm-tx-history";
}

/// Everything that happened on a pool, newest first, as GET routes give it.
pub(super) async fn of_pool(context: &RequestContext, id: AlkaneId) -> Result<Value, RestError> {
    page(context, Wanted { pool: Some(id), ..Wanted::new(Scope::Pool(id), None, Form::Mixed) }).await
}

/// The newest swaps of a pool, as GET routes give them.
pub(super) async fn swaps_of_pool(context: &RequestContext, id: AlkaneId) -> Result<Value, RestError> {
    page(context, Wanted::on_pool(id, EventKind::Swap)).await
}

async fn page(context: &RequestContext, wanted: Wanted) -> Result<Value, RestError> {
    let network = context.network();
    let read = read(context, move |moment| {
        let pool = wanted.check(moment)?;
        let page = wanted.events(moment, pool.as_ref())?;
        let twins = moment.parts.snake_case_twins;
        let mut answer = Map::new();
        let mut put = |name: &str, value: Value| answer.insert(name.to_owned(), value);
        put("total", json!(page.total));
        put("count", json!(page.items.len()));
        put("limit", json!(wanted.part.limit));
        put("offset", json!(wanted.part.offset));
        if let (Some(pool), Form::Single(EventKind::Swap)) = (pool, wanted.form) {
            let name = match pool.cryptoswap {
                None => json!(pool_state(&moment.contracts, pool.identity)?.name),
                Some(_) => json!(cryptoswap::name(moment, pool.identity.id)?),
            };
            put("pool", json!({ "poolId": id_object(pool.identity.id), "poolName": name }));
        }
        match wanted.form {
            Form::Single(kind) => {
                let rows = page.items.iter().map(|event| Ok(row(event, network)?.finish(twins)));
                put(plural(kind), rows.collect::<Result<Vec<_>, RestError>>()?.into());
            }
            Form::Mixed => {
                let rows = page.items.iter().map(|event| {
                    let row = row(event, network)?.with("type", event.action.kind().name());
                    Ok(row.finish(false))
                });
                put("transactions", rows.collect::<Result<Vec<_>, RestError>>()?.into());
            }
            Form::Tagged => {
                let mut rows = Vec::with_capacity(page.items.len());
                for event in &page.items {
                    let kind = event.action.kind();
                    let row = row(event, network)?.with("type", capital(kind.name())).with("kind", kind.name());
                    rows.push((kind, row.finish(twins)));
                }
                for listed in [EventKind::Swap, EventKind::Mint, EventKind::Burn, EventKind::Creation] {
                    let of_kind: Vec<Value> =
                        rows.iter().filter(|(kind, _)| *kind == listed).map(|(_, row)| row.clone()).collect();
                    put(plural(listed), of_kind.into());
                }
                put("transactions", rows.into_iter().map(|(_, row)| row).collect());
            }
        }
        Ok(Value::Object(answer))
    });
    read.await
}

/// A word with a capital letter at its beginning.
fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

/// POST `/get-total-unwrap-amount`: all that was ever unwrapped, less what was returned.
pub(in crate::rest) fn total_unwrapped(context: &RequestContext, _: RestBody) -> BoxFuture<'_, RestResult> {
    Box::pin(async move {
        let total = read(context, |moment| Ok(moment.markets.sum(EventKind::Unwrap)?)).await?;
        Reply::enveloped(&json!({ "totalAmount": total.to_string() }))
    })
}
