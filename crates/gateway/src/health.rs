use hyper::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::alkanes;
use crate::errors::ApiError;
use crate::hosted::ShadowState;
use crate::respond::Reply;
use crate::rest::part::Part;
use crate::rest::{Base, Changes, Declared, Group, Made, Route, Statuses, Verb, Wrapping};
use crate::state::{IndexingStatus, RequestContext, Shared, unix_millis};

/// An index at most so many blocks behind the node is still ready: it is just processing new blocks.
const BLOCKS_BEHIND_MAX: u32 = 6;

/// The one check of health.
pub static GROUPS: [&Group; 1] =
    [&Group { tag: "Instance", base: Base::Open, admit: |_| Ok(()), routes: &[Declared::of::<HealthCheck>()] }];

/// Whether the instance answers from the newest blocks; needs no key and is not counted.
///
/// JSON at `/v4/api/health`; plain `OK` at `/health` and below a key.
#[derive(Deserialize, JsonSchema)]
struct HealthCheck {}

impl Route for HealthCheck {
    const PATHS: &'static [(Verb, &'static str)] = &[(Verb::Get, "health"), (Verb::Post, "health")];
    const WRAPPING: Wrapping = Wrapping::Bare;
    const CHANGES: Changes = Changes::Anytime;
    const MEDIA_TYPES: &'static [&'static str] = &["application/json", "text/plain"];
    const STATUSES: Statuses = &[
        (
            StatusCode::OK,
            "`ok`, or `degraded` while the node or the durable stream of the orderbook is away, or when the native engine has stopped \
             beside a hosted program",
        ),
        (StatusCode::SERVICE_UNAVAILABLE, "`starting`, `stalled`, or `draining` when it is about to stop"),
    ];
    type Answer = Made<Health>;

    async fn answer(self, context: &RequestContext, _: Part) -> Result<Made<Health>, ApiError> {
        Ok(json(context.shared()).into())
    }
}

/// `status` of `/v4/api/health` (docs/api.md, "Health").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum HealthStatus {
    /// All is well.
    Ok,
    /// Not yet caught up with the node.
    Starting,
    /// Serving what there is, while the node or the durable stream of the orderbook is away, the native engine has stopped
    /// beside a hosted program, or such a program writes what cannot be read.
    Degraded,
    /// Indexing has stopped and will not go on by itself.
    Stalled,
    /// About to stop: what comes is answered, but it should go elsewhere.
    Draining,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct Health {
    status: HealthStatus,
    /// Unix seconds.
    timestamp: i64,
    network: &'static str,
    height: Option<u32>,
    node: NodeHealth,
    /// The durable stream of change events; absent where there is no orderbook.
    #[serde(skip_serializing_if = "Option::is_none")]
    orderbook: Option<OrderbookHealth>,
    /// Absent where no other instances answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    upstreams: Option<UpstreamsHealth>,
    /// The native engine beside a hosted indexer program; absent where only one of them runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    shadow: Option<ShadowState>,
    /// Absent where other instances answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    contracts: Option<ContractsHealth>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct ContractsHealth {
    /// Whether what depends on the contract index is answered.
    answered: bool,
    /// Why not, and what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl ContractsHealth {
    fn of(shared: &Shared) -> Self {
        let reason = match (&shared.alkanes, alkanes::unknown_key(shared, &shared.chain.snapshot())) {
            (None, _) => Some(
                "alkanes are not indexed: every method and route about them answers ALKANES_NOT_INDEXED until the operator names the \
                 network's indexer program in [alkanes] wasm_path"
                    .to_owned(),
            ),
            (Some(_), Ok(None)) => None,
            (Some(_), Ok(Some(from))) => Some(format!(
                "the indexer program writes under keys of no known kind since block {from}: every method and route about alkanes but \
                 metashrew_* answers ALKANES_UNREADABLE"
            )),
            (Some(_), Err(_)) => Some("the contract index cannot be read".to_owned()),
        };
        Self { answered: reason.is_none(), reason }
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct UpstreamsHealth {
    /// Instances behind this gateway that answer.
    reachable: usize,
    /// All of them.
    configured: usize,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct OrderbookHealth {
    /// How its durable stream is: `ready`, `away` or `mismatch`.
    stream: &'static str,
}

#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct NodeHealth {
    reachable: bool,
    height: Option<u32>,
    /// A class, since the text of an error could reveal where the node is.
    error: Option<&'static str>,
}

pub(crate) fn status(height: Option<u32>, indexing: IndexingStatus, node_reachable: bool) -> HealthStatus {
    match indexing {
        IndexingStatus::Stopped => HealthStatus::Stalled,
        // Started while the node is unreachable: indexed data is served nevertheless.
        IndexingStatus::Starting if height.is_some() && !node_reachable => HealthStatus::Degraded,
        IndexingStatus::Starting => HealthStatus::Starting,
        IndexingStatus::Importing { blocks_left } if blocks_left > BLOCKS_BEHIND_MAX => HealthStatus::Starting,
        _ if height.is_none() => HealthStatus::Starting,
        _ if !node_reachable => HealthStatus::Degraded,
        _ => HealthStatus::Ok,
    }
}

/// JSON health: 200 when all is well or degraded, 503 otherwise.
pub(crate) fn json(shared: &Shared) -> Reply {
    let height = shared.height();
    let node = shared.node.status();
    let mut surfaces = shared.keyed.values().filter_map(|handler| handler.http.as_ref());
    let stream = surfaces.find_map(|surface| surface.durable_stream());
    let shadow = shared.chain.shadow();
    let contracts = shared.upstreams.is_none().then(|| ContractsHealth::of(shared));
    let is_unreadable = shared.alkanes.is_some() && contracts.as_ref().is_some_and(|contracts| !contracts.answered);
    let status = match status(height, shared.chain.indexing(), node.reachable) {
        HealthStatus::Ok if stream.is_some_and(|stream| stream != "ready") => HealthStatus::Degraded,
        HealthStatus::Ok if shadow.is_some_and(|shadow| !shadow.comparing) => HealthStatus::Degraded,
        HealthStatus::Ok if is_unreadable => HealthStatus::Degraded,
        status => status,
    };
    let status = if shared.draining.has_begun() { HealthStatus::Draining } else { status };
    let health = Health {
        status,
        timestamp: unix_millis() / 1000,
        network: shared.chain.network().name(),
        height,
        node: NodeHealth {
            reachable: node.reachable,
            height: node.height,
            error: if node.reachable { node.error.map(|_| "invalid_answer") } else { Some("unavailable") },
        },
        upstreams: shared.upstreams.as_ref().map(|upstreams| {
            let (reachable, configured) = upstreams.reachable();
            UpstreamsHealth { reachable, configured }
        }),
        shadow,
        contracts,
        orderbook: stream.map(|stream| OrderbookHealth { stream }),
    };
    let code = match status {
        HealthStatus::Ok | HealthStatus::Degraded => StatusCode::OK,
        HealthStatus::Starting | HealthStatus::Stalled | HealthStatus::Draining => StatusCode::SERVICE_UNAVAILABLE,
    };
    match serde_json::to_vec(&health) {
        Ok(body) => Reply::json(code, body),
        Err(_) => Reply::empty(StatusCode::INTERNAL_SERVER_ERROR),
    }
}

/// Plain `OK`: the process answers, and is not about to stop.
pub(crate) fn plain(shared: &Shared) -> Reply {
    if shared.draining.has_begun() {
        return Reply::text(StatusCode::SERVICE_UNAVAILABLE, "draining");
    }
    Reply::text(StatusCode::OK, "OK")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_follows_the_index_first_and_the_node_second() {
        use HealthStatus::{Degraded, Ok, Stalled, Starting};
        use IndexingStatus as Indexing;
        for (height, indexing, reachable, expected) in [
            (Some(7), Indexing::Synced, true, Ok),
            (Some(7), Indexing::Synced, false, Degraded),
            (Some(7), Indexing::Importing { blocks_left: 1 }, true, Ok),
            (Some(7), Indexing::Importing { blocks_left: 7 }, true, Starting),
            (Some(7), Indexing::Starting, false, Degraded),
            (Some(7), Indexing::Starting, true, Starting),
            (None, Indexing::Starting, false, Starting),
            (None, Indexing::Synced, true, Starting),
            (Some(7), Indexing::Stopped, true, Stalled),
            (None, Indexing::Stopped, false, Stalled),
        ] {
            assert_eq!(status(height, indexing, reachable), expected, "{height:?} {indexing:?} {reachable}");
        }
    }
}
