//! The hash over all balances. It reads every balance, which takes minutes on a large chain, so it is computed once per block by
//! one thread, and concurrent requests wait for it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bitcoin::hex::DisplayHex as _;
use http::StatusCode;
use paraffin_ordinals_index::brc20::{BalancesDigest, Brc20Index};
use paraffin_primitives::{BlockId, Height};
use paraffin_store::Snapshot;
use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::proxied::Query;
use super::{indexer, newest, proxied};
use paraffin_gateway::errors::{ApiError, kind};
use paraffin_gateway::methods::Hash;
use paraffin_gateway::rest::part::Part;
use paraffin_gateway::rest::{Answer as _, Changes, Made, Route, Verb, Wrapping};
use paraffin_gateway::state::RequestContext;
use paraffin_ordinals_index::OPI_SERVER;

/// After this time a computation ends without a hash.
const TIME_MAX: Duration = Duration::from_secs(600);

/// Outcome of a computation: the hash, or `None` when it took too long or failed.
type Outcome = Option<[u8; 32]>;

/// The newest computation, running or finished.
#[derive(Default)]
pub struct BalancesHash(Mutex<Option<Computation>>);

#[derive(Clone)]
struct Computation {
    tip: BlockId,
    height: Height,
    outcome: watch::Receiver<Option<Outcome>>,
}

impl Computation {
    /// Whether it is still of use to a request at `tip`: it is for that block, or still running.
    fn serves(&self, tip: BlockId) -> bool {
        let outcome = *self.outcome.borrow();
        match outcome {
            // The sender is dropped when the thread panics.
            None => self.outcome.has_changed().is_ok(),
            Some(outcome) => self.tip == tip && outcome.is_some(),
        }
    }

    fn start(snapshot: Snapshot, tip: BlockId, height: Height) -> Self {
        let (sender, outcome) = watch::channel(None);
        let deadline = Instant::now() + TIME_MAX;
        tokio::task::spawn_blocking(move || {
            let is_over = || sender.is_closed() || Instant::now() >= deadline;
            let hash = match Brc20Index::new(&snapshot).balances_digest(&is_over) {
                Ok(BalancesDigest::Hash(hash)) => Some(hash),
                Ok(BalancesDigest::OutOfTime) => None,
                Err(error) => {
                    tracing::error!(%error, "the hash over all balances could not be computed");
                    None
                }
            };
            let _ = sender.send(Some(hash));
        });
        Self { tip, height, outcome }
    }
}

impl BalancesHash {
    fn get(&self, context: &RequestContext) -> Result<Computation, ApiError> {
        let snapshot = context.snapshot();
        let (tip, height) = (context.tip().ok_or_else(ApiError::starting)?, newest(snapshot)?);
        let mut newest = self.0.lock();
        match newest.as_ref().filter(|running| running.serves(tip)) {
            Some(running) => Ok(running.clone()),
            None => Ok(newest.insert(Computation::start(snapshot.clone(), tip, height)).clone()),
        }
    }
}

/// A hash over all balances; may take minutes.
///
/// It is that of the newest block, or of one shortly before it whose hash is being computed.
#[derive(Deserialize, JsonSchema)]
pub(super) struct HashOfBalances {}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct BalancesHashAnswer {
    #[schemars(with = "Hash")]
    current_balances_hash: String,
    indexer_version: String,
    block_height: Height,
}

impl Route for HashOfBalances {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Get, "opi/v1/brc20/get_hash_of_all_current_balances")];
    const WRAPPING: Wrapping = Wrapping::WithError;
    const CHANGES: Changes = Changes::Anytime;
    type Answer = Made<BalancesHashAnswer>;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<Made<BalancesHashAnswer>, ApiError> {
        let shared = Arc::clone(context.shared_handle());
        if let Some(server) = shared.families.of(OPI_SERVER) {
            let query = Query::of("get_hash_of_all_current_balances");
            return proxied::result(server, context, &query, true).await.map(Made::from);
        }
        let mut computation = shared.state_of::<BalancesHash>()?.get(context)?;
        let block_height = computation.height;
        let outcome = computation.outcome.wait_for(Option::is_some).await.ok().and_then(|outcome| (*outcome).flatten());
        let too_long = || {
            let words = "the hash over all balances took too long";
            ApiError::new(kind::TIMEOUT, words)
        };
        let answer = BalancesHashAnswer {
            current_balances_hash: outcome.ok_or_else(too_long)?.to_lower_hex_string(),
            indexer_version: indexer::version(),
            block_height,
        };
        answer.into_reply(StatusCode::OK, Wrapping::WithError).map(Made::from)
    }
}
