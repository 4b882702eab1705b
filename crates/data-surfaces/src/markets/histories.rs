//! Histories: pages of events, newest first (docs/api.md, "Markets").

use paraffin_amm::{Event, EventKind, Page as EventPage, Scope, Status, merged, pool_state};
use paraffin_primitives::AlkaneId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::cryptoswap;
use super::events::{
    Activity, BurnPage, Counts, CreationPage, Found, MintPage, Page, PoolName, SwapPage, TaggedActivity, UnwrapPage,
    WrapPage,
};
use super::fields::{
    Category, FACTORY, Kind, Outcome, POOL, TOKEN, admit, factory_of, owner, require_factory, require_token, status,
};
use super::problem::{Problem, read};
use paraffin_gateway::api_types::{AddressText, AlkaneIdParam, Digits, FactoryIdParam, PoolIdParam};
use paraffin_gateway::errors::ApiError;
use paraffin_gateway::markets::{MarketMoment, NamedPool};
use paraffin_gateway::rest::part::{LIMIT_MAX, Part};
use paraffin_gateway::rest::route::{OtherNames, Pages, Paths};
use paraffin_gateway::rest::{Base, Declared, Group, Route, Verb};
use paraffin_gateway::state::RequestContext;

pub(crate) static GROUP: Group = Group {
    tag: "History",
    base: Base::Api,
    admit,
    routes: &[
        Declared::of::<PoolSwaps>(),
        Declared::of::<TokenSwaps>(),
        Declared::of::<PoolMints>(),
        Declared::of::<PoolBurns>(),
        Declared::of::<Creations>(),
        Declared::of::<PoolActivity>(),
        Declared::of::<Wraps>(),
        Declared::of::<Unwraps>(),
        Declared::of::<AddressWraps>(),
        Declared::of::<AddressUnwraps>(),
        Declared::of::<AddressSwapsOnPool>(),
        Declared::of::<AddressSwapsWithToken>(),
        Declared::of::<AddressCreations>(),
        Declared::of::<AddressMints>(),
        Declared::of::<AddressBurns>(),
        Declared::of::<Everything>(),
        Declared::of::<EverythingOfAddress>(),
        Declared::of::<TotalUnwrapped>(),
    ],
};

/// Rows of a page where nothing is said.
const LIMIT_DEFAULT: usize = 50;

/// What is asked for.
pub(super) struct Wanted {
    scope: Scope,
    /// Of pages whose rows are of many kinds.
    kind: Option<EventKind>,
    status: Status,
    part: Part,
    /// What must exist.
    pool: Option<AlkaneId>,
    token: Option<AlkaneId>,
    factory: Option<AlkaneId>,
}

impl Wanted {
    fn of(scope: Scope) -> Self {
        let part = Part { offset: 0, limit: Some(LIMIT_DEFAULT) };
        Self { scope, kind: None, status: Status::Successful, part, pool: None, token: None, factory: None }
    }

    /// Of a pool.
    pub(super) fn on_pool(id: AlkaneId) -> Self {
        Self { pool: Some(id), ..Self::of(Scope::Pool(id)) }
    }

    /// Of a pool, or of all pools where none is named.
    fn on_some_pool(id: Option<PoolIdParam>) -> Self {
        id.map_or_else(|| Self::of(Scope::All), |id| Self::on_pool(id.get()))
    }

    fn of_address(context: &RequestContext, address: &AddressText) -> Result<Self, ApiError> {
        Ok(Self::of(Scope::Script(owner(context, address)?)))
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
        let pool = pool.ok_or_else(|| ApiError::not_found(format!("there is no pool {id}")))?;
        match self.factory {
            Some(factory) if factory != pool.identity.factory => {
                Err(ApiError::not_found(format!("there is no pool {id} of factory {factory}")).into())
            }
            _ => Ok(Some(pool)),
        }
    }

    /// Of a pool its own; of a token or an address those of all pools together (docs/api.md).
    fn events(
        &self,
        moment: &MarketMoment<'_>,
        pool: Option<&NamedPool>,
        kind_of_page: Option<EventKind>,
    ) -> Result<EventPage<Event>, Problem> {
        let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let (offset, limit) = (number(self.part.offset), number(self.part.limit.unwrap_or(LIMIT_DEFAULT)));
        let markets = pool.map_or(&moment.markets, |pool| &pool.markets);
        let list = markets.list(self.scope, kind_of_page.or(self.kind), self.status)?;
        if let (Some(kind), Scope::Token(_) | Scope::Script(_) | Scope::ScriptToken(..)) = (kind_of_page, self.scope)
            && let Some(other) = moment.cryptoswap_list(self.scope, kind, self.status)?
        {
            return Ok(merged(&list, &other, offset, limit)?);
        }
        Ok(list.page(offset, limit)?)
    }
}

/// Histories as routes: their members beside those that all of them take, and what these ask for.
macro_rules! histories {
    ($(
        $(#[$about:meta])*
        $name:ident($($path:literal),*) -> $page:ty {
            $($(#[$said:meta])* $member:ident: $type:ty,)*
        }
        other names [$($others:ident),*], example $example:literal, $wanted:expr;
    )*) => {$(
        $(#[$about])*
        #[derive(Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase")]
        struct $name {
            $($(#[$said])* $member: $type,)*
            /// true when absent; "all" for failed attempts as well.
            successful: Option<Outcome>,
            /// Another way to say it: true is true, false is "all".
            #[schemars(extend("x-same-as" = "successful"))]
            successful_only: Option<bool>,
        }

        impl Route for $name {
            const PATHS: Paths = &[$((Verb::Post, $path)),*];
            const EXAMPLE: &'static str = $example;
            const OTHER_NAMES: OtherNames = &[("successfulOnly", &["successful_only"]), $($others),*];
            const PAGES: Option<Pages> = Some(Pages { default: Some(LIMIT_DEFAULT), max: LIMIT_MAX });
            // What is named by an id may not exist.
            const MAY_BE_MISSING: bool = Self::OTHER_NAMES.len() > 1;
            type Answer = $page;

            async fn answer(self, context: &RequestContext, part: Part) -> Result<$page, ApiError> {
                let status = status(self.successful, self.successful_only)?;
                let wanted: fn(Self, &RequestContext) -> Result<Wanted, ApiError> = $wanted;
                page(context, Wanted { status, part, ..wanted(self, context)? }).await
            }
        }
    )*};
}

histories! {
    /// Swaps of a pool, newest first.
    PoolSwaps("get-pool-swap-history", "get-swap-history") -> SwapPage {
        /// A pool; all pools when absent.
        pool_id: Option<PoolIdParam>,
    }
    other names [POOL], example r#"{"poolId":"2:5"}"#, |asked, _| Ok(Wanted::on_some_pool(asked.pool_id));

    /// Swaps with an alkane on either side, newest first.
    TokenSwaps("get-token-swap-history") -> SwapPage {
        /// The alkane.
        alkane_id: AlkaneIdParam,
    }
    other names [TOKEN], example r#"{"alkaneId":"2:0"}"#, |asked, _| {
        let id = asked.alkane_id.0;
        Ok(Wanted { token: Some(id), ..Wanted::of(Scope::Token(id)) })
    };

    /// Deposits into a pool, newest first.
    PoolMints("get-pool-mint-history", "get-mint-history") -> MintPage {
        /// A pool; all pools when absent.
        pool_id: Option<PoolIdParam>,
    }
    other names [POOL], example r#"{"poolId":"2:5"}"#, |asked, _| Ok(Wanted::on_some_pool(asked.pool_id));

    /// Withdrawals from a pool, newest first.
    PoolBurns("get-pool-burn-history", "get-burn-history") -> BurnPage {
        /// A pool; all pools when absent.
        pool_id: Option<PoolIdParam>,
    }
    other names [POOL], example r#"{"poolId":"2:5"}"#, |asked, _| Ok(Wanted::on_some_pool(asked.pool_id));

    /// Pools that a factory created, newest first.
    Creations("get-pool-creation-history") -> CreationPage {
        /// The factory; the network's own when absent.
        factory_id: Option<FactoryIdParam>,
        /// A pool; all pools when absent.
        pool_id: Option<PoolIdParam>,
    }
    other names [FACTORY, POOL], example "{}", |asked, context| {
        if let Some(id) = asked.pool_id {
            let factory = asked.factory_id.map(FactoryIdParam::get);
            return Ok(Wanted { factory, ..Wanted::on_pool(id.get()) });
        }
        let factory = factory_of(context, asked.factory_id)?;
        Ok(Wanted { factory: Some(factory), ..Wanted::of(Scope::Factory(factory)) })
    };

    /// Everything on a pool, newest first, also by kinds.
    PoolActivity("get-pool-history", "get-all-history") -> TaggedActivity {
        /// A pool; all pools of the network's factory when absent.
        pool_id: Option<PoolIdParam>,
        /// Everything when absent.
        category: Option<Category>,
    }
    other names [POOL], example r#"{"poolId":"2:5","category":"swaps"}"#, |asked, context| {
        let wanted = match asked.pool_id {
            Some(id) => Wanted::on_pool(id.get()),
            None => Wanted::of(Scope::Factory(factory_of(context, None)?)),
        };
        Ok(Wanted { kind: asked.category.and_then(|category| category.0), ..wanted })
    };

    /// Bitcoin that was wrapped, newest first.
    Wraps("get-all-wrap-history") -> WrapPage {}
    other names [], example "{}", |_, _| Ok(Wanted::of(Scope::All));

    /// Bitcoin that was unwrapped, newest first.
    Unwraps("get-all-unwrap-history") -> UnwrapPage {}
    other names [], example "{}", |_, _| Ok(Wanted::of(Scope::All));

    /// Bitcoin that an address wrapped, newest first.
    AddressWraps("get-address-wrap-history") -> WrapPage {
        address: AddressText,
    }
    other names [], example r#"{"address":"bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"}"#, |asked, context| Wanted::of_address(context, &asked.address);

    /// Bitcoin that an address unwrapped, newest first.
    AddressUnwraps("get-address-unwrap-history") -> UnwrapPage {
        address: AddressText,
    }
    other names [], example r#"{"address":"bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"}"#, |asked, context| Wanted::of_address(context, &asked.address);

    /// Swaps of an address with a pool, newest first.
    AddressSwapsOnPool("get-address-swap-history-for-pool") -> SwapPage {
        address: AddressText,
        pool_id: PoolIdParam,
    }
    other names [POOL], example r#"{"address":"bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq","poolId":"2:5"}"#, |asked, context| {
        let id = asked.pool_id.get();
        let scope = Scope::ScriptPool(owner(context, &asked.address)?, id);
        Ok(Wanted { pool: Some(id), ..Wanted::of(scope) })
    };

    /// Swaps of an address with an alkane on either side, newest first.
    AddressSwapsWithToken("get-address-swap-history-for-token") -> SwapPage {
        address: AddressText,
        /// The alkane.
        alkane_id: AlkaneIdParam,
    }
    other names [TOKEN], example r#"{"address":"bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq","alkaneId":"2:0"}"#, |asked, context| {
        let id = asked.alkane_id.0;
        let scope = Scope::ScriptToken(owner(context, &asked.address)?, id);
        Ok(Wanted { token: Some(id), ..Wanted::of(scope) })
    };

    /// Pools that an address created, newest first.
    AddressCreations("get-address-pool-creation-history") -> CreationPage {
        address: AddressText,
    }
    other names [], example r#"{"address":"bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"}"#, |asked, context| Wanted::of_address(context, &asked.address);

    /// Deposits of an address, newest first.
    AddressMints("get-address-pool-mint-history") -> MintPage {
        address: AddressText,
    }
    other names [], example r#"{"address":"bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"}"#, |asked, context| Wanted::of_address(context, &asked.address);

    /// Withdrawals of an address, newest first.
    AddressBurns("get-address-pool-burn-history") -> BurnPage {
        address: AddressText,
    }
    other names [], example r#"{"address":"bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"}"#, |asked, context| Wanted::of_address(context, &asked.address);

    /// Everything on markets, newest first.
    Everything("get-all-amm-tx-history") -> Activity {
        /// Everything when absent.
        transaction_type: Option<Kind>,
    }
    other names [], example r#"{"transactionType":"swap"}"#, |asked, _| {
        Ok(Wanted { kind: asked.transaction_type.map(|kind| kind.0), ..Wanted::of(Scope::All) })
    };

    /// Everything that an address did on markets, newest first.
    EverythingOfAddress("get-all-address-amm-tx-history") -> Activity {
        address: AddressText,
        /// Everything when absent.
        transaction_type: Option<Kind>,
    }
    other names [], example r#"{"address":"bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq","transactionType":"swap"}"#, |asked, context| {
        let kind = asked.transaction_type.map(|kind| kind.0);
        Ok(Wanted { kind, ..Wanted::of_address(context, &asked.address)? })
    };
}

/// A page of what is asked for.
pub(super) async fn page<P: Page>(context: &RequestContext, wanted: Wanted) -> Result<P, ApiError> {
    let network = context.network();
    read(context, move |moment| {
        let pool = wanted.check(moment)?;
        let page = wanted.events(moment, pool.as_ref(), P::KIND)?;
        let pool = match pool.filter(|_| P::KIND == Some(EventKind::Swap)) {
            None => None,
            Some(NamedPool { identity, cryptoswap, .. }) => Some(PoolName {
                pool_id: identity.id.into(),
                pool_name: match cryptoswap {
                    None => Some(pool_state(&moment.contracts, identity)?.name),
                    Some(_) => cryptoswap::name(moment, identity.id)?,
                },
            }),
        };
        let counts = Counts::new(page.total as usize, page.items.len(), wanted.part);
        Ok(P::of(Found { counts, events: page.items, pool, network, twins: moment.parts.snake_case_twins })?)
    })
    .await
}

/// All bitcoin that was ever unwrapped, less what was returned, in satoshis.
#[derive(Deserialize, JsonSchema)]
struct TotalUnwrapped {}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct TotalAnswer {
    #[schemars(with = "Digits")]
    total_amount: String,
}

impl Route for TotalUnwrapped {
    const PATHS: Paths = &[(Verb::Post, "get-total-unwrap-amount")];
    type Answer = TotalAnswer;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<TotalAnswer, ApiError> {
        let total = read(context, |moment| Ok(moment.markets.sum(EventKind::Unwrap)?)).await?;
        Ok(TotalAnswer { total_amount: total.to_string() })
    }
}
