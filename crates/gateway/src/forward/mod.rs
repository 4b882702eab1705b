//! A gateway without a store: it authenticates and rate-limits callers, and forwards their requests to instances that have an index
//! (`docs/decisions/0023`).
//!
//! Requests are forwarded with a key of our own; the caller's key is never passed on. Requests that only read are repeated with the
//! next instance when one does not answer; those that may change state are sent once.

mod answer;
mod body;
mod instance;
#[doc(hidden)] // for the tests that the lists of all surfaces are needed for
pub mod rules;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::http::request::Parts;
use hyper::{Method, Uri};
use paraffin_access::ApiKey;
use paraffin_chain::{NodeError, NodeStatus};
use paraffin_primitives::{Height, Network};
use paraffin_store::Snapshot;
use paraffin_web::{Connections, HttpsClient};
use serde_json::value::RawValue;

use crate::body::{BodyLimit, RequestBody};
use crate::errors::{ApiError, Refusal};
use crate::fairness::{CallerId, FairSemaphore};
use crate::jsonrpc::{self, Params, top_level_method};
use crate::limits::Limits;
use crate::methods::Surface;
use crate::metrics::Meter;
use crate::request::Refused;
use crate::request_id::RequestId;
use crate::respond::Reply;
use crate::routes::{ErrorForm, Route, Target};
use crate::state::{BoxFuture, ChainState, IndexingStatus, Node, RequestContext, Shared};
use crate::surface::{Forwarding, RpcResult, RpcSurface};
use crate::websocket::{self, Upgrade};

pub(crate) use answer::{Forwarded, Received};
pub(crate) use body::{AnswerBody, Streamed};
use instance::{Instance, Standing};

/// Time-out of a connection attempt to an instance.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// How long an idle connection is kept: shorter than an instance keeps it.
const POOL_IDLE: Duration = Duration::from_secs(5);
/// One caller may have one of so many parts of the concurrent requests to instances.
const FORWARD_PARTS: usize = 4;
/// Idle connections kept for an instance.
const POOL_SIZE_MAX: usize = 256;

/// The instances behind a gateway that has no store.
pub struct Upstreams {
    network: Network,
    instances: Vec<Arc<Instance>>,
    key: ApiKey,
    client: HttpsClient,
    requests: FairSemaphore,
}

impl Upstreams {
    /// Begins to watch the instances at these addresses (`http` or `https`, without a query), which identify us by `key`. They are
    /// asked in this order, healthy ones first.
    pub fn start(network: Network, addresses: &[Uri], key: ApiKey, limits: &Limits) -> Arc<Self> {
        let client = Connections { timeout: CONNECT_TIMEOUT, idle: POOL_IDLE, per_host: POOL_SIZE_MAX }.https();
        let instances: Vec<Arc<Instance>> = addresses.iter().map(|uri| Arc::new(Instance::new(uri))).collect();
        for (index, instance) in instances.iter().enumerate() {
            instance::watch(index, Arc::downgrade(instance), client.clone(), network);
        }
        let requests = FairSemaphore::new(limits.forwarded_requests_max, FORWARD_PARTS);
        Arc::new(Self { network, instances, key, client, requests })
    }

    /// Reports which instances answer.
    pub(crate) fn measure(&self, meter: &Meter<'_>) {
        for (index, instance) in self.instances.iter().enumerate() {
            let is_ready = matches!(instance.standing(), Standing::Ready { .. });
            let text = "1 when the instance behind this gateway answers that it is well";
            meter.gauge(
                "paraffin_upstream_ready",
                text,
                &[("instance", &index.to_string())],
                if is_ready { 1.0 } else { 0.0 },
            );
        }
    }

    /// How many instances answer, and how many there are.
    pub(crate) fn reachable(&self) -> (usize, usize) {
        let is_ready = |instance: &&Arc<Instance>| matches!(instance.standing(), Standing::Ready { .. });
        (self.instances.iter().filter(is_ready).count(), self.instances.len())
    }

    /// Height of the instance that is asked first.
    pub(crate) fn height(&self) -> Option<Height> {
        self.in_order().first().and_then(|instance| instance.height())
    }

    /// The instances in the order in which they should be asked.
    fn in_order(&self) -> Vec<&Arc<Instance>> {
        let mut instances: Vec<&Arc<Instance>> = self.instances.iter().collect();
        instances.sort_by_key(|instance| instance.rank());
        instances
    }
}

impl ChainState for Upstreams {
    fn network(&self) -> Network {
        self.network
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot::of_nothing()
    }

    fn indexing(&self) -> IndexingStatus {
        let standings: Vec<Standing> = self.instances.iter().map(|instance| instance.standing()).collect();
        if standings.iter().any(|standing| matches!(standing, Standing::Ready { .. })) {
            return IndexingStatus::Synced;
        }
        let is_open = |standing: &Standing| matches!(standing, Standing::Unknown | Standing::NotReady);
        if standings.iter().any(is_open) { IndexingStatus::Starting } else { IndexingStatus::Stopped }
    }
}

impl Node for Upstreams {
    fn rpc<'a>(
        &'a self,
        _method: &'a str,
        _params: &'a [Box<RawValue>],
    ) -> BoxFuture<'a, Result<Box<RawValue>, NodeError>> {
        Box::pin(async { Err(no_node()) })
    }

    fn block_part(
        &self,
        _hash: bitcoin::BlockHash,
        _offset: u32,
        _size: u32,
    ) -> BoxFuture<'_, Result<Bytes, NodeError>> {
        Box::pin(async { Err(no_node()) })
    }

    fn block(&self, _hash: bitcoin::BlockHash) -> BoxFuture<'_, Result<Bytes, NodeError>> {
        Box::pin(async { Err(no_node()) })
    }

    fn raw_transaction(&self, _txid: bitcoin::Txid) -> BoxFuture<'_, Result<Option<Bytes>, NodeError>> {
        Box::pin(async { Err(no_node()) })
    }

    /// Whether all instances answer and have a node that does.
    fn status(&self) -> NodeStatus {
        let is_well = |instance: &Arc<Instance>| matches!(instance.standing(), Standing::Ready { is_well: true, .. });
        NodeStatus { reachable: self.instances.iter().all(is_well), height: self.height(), error: None, since_unix: 0 }
    }
}

fn no_node() -> NodeError {
    NodeError::Unavailable("this gateway has no node".to_owned())
}

/// Answers an admitted request.
///
/// # Errors
/// A refusal in the form of the path, or that an admin key is needed.
pub(crate) async fn answer(
    upstreams: &Upstreams,
    context: Arc<RequestContext>,
    route: &Route,
    head: &Parts,
    id: &RequestId,
    body: &mut RequestBody,
) -> Result<Answered, Refused> {
    if matches!(&route.target, Target::Surface(surface, _) if surface.forwarded == Forwarding::Nothing) {
        return Err(Refusal::SurfaceNotAvailable.into());
    }
    if needs_admin(&route.target, &head.method) {
        context.require_admin()?;
    }
    let limits = context.limits();
    let main: &dyn RpcSurface = context.shared().main.as_ref();
    let is_large = |beginning: &[u8]| {
        let method = top_level_method(beginning).and_then(|method| std::str::from_utf8(method).ok());
        route.target == Target::Main && method.is_some_and(|method| main.takes_large_body(method))
    };
    let bytes_max = if takes_large_body(route) { limits.large_body_bytes_max } else { limits.body_bytes_max };
    let limit =
        BodyLimit { context: &context, bytes_max, large_bytes_max: limits.large_body_bytes_max, is_large: &is_large };
    let body = body.read(&limit, context.body_timer(), limits.body_read_timeout()).await?;
    if route.target == Target::Main && rules::names_own(&body, &own_prefix(context.shared()), limits.json_depth_max) {
        let accounts: Arc<dyn RpcSurface> = Arc::new(Accounts(context.shared().surfaces.own_family));
        let answer = jsonrpc::answer(&accounts, &context, &body).await;
        return Ok(Answered::Own(
            answer.body.map_or_else(|| Reply::empty(answer.status), |body| Reply::json(answer.status, body)),
        ));
    }
    let is_repeatable = rules::is_repeatable(context.shared().surfaces, route, &head.method, &body);
    let request = Admitted { caller: context.caller_id(), route, head, id, body, is_repeatable };
    match tokio::time::timeout(limits.handler_timeout(), upstreams.ask_in_turn(&request)).await {
        Ok(answer) => match answer? {
            Forwarded { headers, body: Received::Stream(instance), .. } => {
                let upgrade = Upgrade::of(head, &route.credential, &context.shared().config.key_headers);
                Ok(Answered::Own(websocket::join(&context, upgrade, &headers, instance)?))
            }
            answer => Ok(Answered::Forwarded(answer.held(&context).await?)),
        },
        Err(_) => Err(Refusal::HandlerTimeout.into()),
    }
}

/// The origin of an answer.
pub(crate) enum Answered {
    /// This gateway: a request about its accounts, or a stream that it relays.
    Own(Reply),
    /// An instance.
    Forwarded(Forwarded),
}

/// An admitted request with its whole body.
struct Admitted<'a> {
    caller: CallerId,
    route: &'a Route,
    head: &'a Parts,
    id: &'a RequestId,
    body: Bytes,
    /// Whether it may be sent again after an instance has received it.
    is_repeatable: bool,
}

/// Whether only an admin may do this, which the instance cannot check by our key.
fn needs_admin(target: &Target, verb: &Method) -> bool {
    let Target::Surface(surface, tail) = target else { return false };
    *verb == Method::POST && surface.for_admins.is_some() && tail.first().map(String::as_str) == surface.for_admins
}

/// Whether bodies may carry transactions, events or archives; the instance applies the exact limit.
fn takes_large_body(route: &Route) -> bool {
    matches!(&route.target, Target::Surface(surface, _) if surface.takes_large_bodies && route.form == ErrorForm::Rest)
}

/// What the names of the methods that a gateway without a store answers itself begin with.
fn own_prefix(shared: &Shared) -> String {
    format!("{}_", shared.surfaces.own_family.name)
}

/// Answers only the methods of [`crate::Surfaces::own_family`], for the accounts of this gateway.
struct Accounts(&'static Surface<()>);

impl RpcSurface for Accounts {
    fn family(&self, _method: &str) -> &'static str {
        self.0.name
    }

    fn call<'a>(&'a self, context: &'a RequestContext, method: &'a str, params: Params) -> BoxFuture<'a, RpcResult> {
        match method.strip_prefix(self.0.name).and_then(|rest| rest.strip_prefix('_')) {
            Some(rest) => self.0.call(context, &(), rest, &params),
            None => Box::pin(async {
                let sentence =
                    format!("{}_* stands alone in a request here, and not inside other methods", self.0.name);
                Err(ApiError::invalid_request(sentence))
            }),
        }
    }
}
