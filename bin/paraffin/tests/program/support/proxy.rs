//! A small reverse proxy: asks each instance for its health and hands requests to those that are well.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONNECTION, HOST};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpListener;

/// Time between two questions for the health of an instance.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How often a request is tried at all.
const TRIES: u32 = 50;
/// Wait while no instance is well.
const WAIT: Duration = Duration::from_millis(50);

type Http = Client<HttpConnector, Full<Bytes>>;

/// An instance behind the proxy.
#[derive(Debug)]
pub struct Behind {
    address: String,
    is_well: AtomicBool,
    /// Requests that it answered.
    pub answered: AtomicU64,
}

impl Behind {
    pub fn is_well(&self) -> bool {
        self.is_well.load(Ordering::Relaxed)
    }
}

/// The proxy; it runs as long as the runtime.
#[derive(Debug)]
pub struct Proxy {
    pub address: SocketAddr,
    pub behind: Vec<Arc<Behind>>,
    /// Requests that an instance took and did not answer, so that another was asked.
    pub repeated: Arc<AtomicU64>,
}

impl Proxy {
    pub async fn start(addresses: &[String]) -> Self {
        let behind: Vec<Arc<Behind>> = addresses
            .iter()
            .map(|address| {
                Arc::new(Behind {
                    address: address.clone(),
                    is_well: AtomicBool::new(false),
                    answered: AtomicU64::new(0),
                })
            })
            .collect();
        let http: Http = Client::builder(TokioExecutor::new()).retry_canceled_requests(false).build_http();
        for one in &behind {
            tokio::spawn(watch(Arc::clone(one), http.clone()));
        }
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let repeated = Arc::new(AtomicU64::new(0));
        let next = Arc::new(AtomicUsize::new(0));
        let all = Arc::new((behind.clone(), http, Arc::clone(&repeated), next));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let _ = stream.set_nodelay(true);
                let all = Arc::clone(&all);
                let service = service_fn(move |request| {
                    let all = Arc::clone(&all);
                    async move { Ok::<_, Infallible>(forward(&all.0, &all.1, &all.2, &all.3, request).await) }
                });
                tokio::spawn(
                    hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service),
                );
            }
        });
        Self { address, behind, repeated }
    }
}

async fn watch(one: Arc<Behind>, http: Http) {
    loop {
        let uri = format!("http://{}/v4/api/health", one.address).parse().unwrap();
        let asked = tokio::time::timeout(Duration::from_secs(2), http.get(uri)).await;
        let is_well = matches!(asked, Ok(Ok(answer)) if answer.status() == StatusCode::OK);
        one.is_well.store(is_well, Ordering::Relaxed);
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Hands a request that may be repeated to an instance that is well, and to another when it fails.
async fn forward(
    behind: &[Arc<Behind>],
    http: &Http,
    repeated: &AtomicU64,
    next: &AtomicUsize,
    request: Request<Incoming>,
) -> Response<Full<Bytes>> {
    let (head, body) = request.into_parts();
    let Ok(body) = body.collect().await else { return failed("the body was cut") };
    let body = body.to_bytes();
    for _ in 0..TRIES {
        let turn = next.fetch_add(1, Ordering::Relaxed);
        let Some(one) = (0..behind.len()).map(|step| &behind[(turn + step) % behind.len()]).find(|one| one.is_well())
        else {
            tokio::time::sleep(WAIT).await;
            continue;
        };
        let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
        let mut again = Request::builder().method(Method::POST).uri(format!("http://{}{path}", one.address));
        for (name, value) in head.headers.iter().filter(|(name, _)| **name != HOST && **name != CONNECTION) {
            again = again.header(name, value);
        }
        let Ok(answer) = http.request(again.body(Full::new(body.clone())).unwrap()).await else {
            repeated.fetch_add(1, Ordering::Relaxed);
            continue;
        };
        let (mut head, body) = answer.into_parts();
        let Ok(body) = body.collect().await else {
            repeated.fetch_add(1, Ordering::Relaxed);
            continue;
        };
        head.headers.remove(CONNECTION);
        one.answered.fetch_add(1, Ordering::Relaxed);
        return Response::from_parts(head, Full::new(body.to_bytes()));
    }
    failed("no instance answers")
}

fn failed(text: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())));
    *response.status_mut() = StatusCode::BAD_GATEWAY;
    response
}
