//! Surfaces that are plugged in from outside, as those of later builds are.

use std::sync::Arc;

use hyper::{Method, StatusCode};
use paraffin_gateway::{
    ApiError, BoxFuture, Caller, ErrorKind, Flavour, HttpRequest, HttpSurface, KeyedHandler, Params, Reply,
    RequestContext, RpcResult, RpcSurface, kind,
};
use paraffin_surfaces::handlers;
use serde_json::json;
use serde_json::value::to_raw_value;

use crate::instance::{Instance, Setup};

/// Answers like a bitcoind whose height is the number in the path, and explains how to use it.
struct Rollback;

impl RpcSurface for Rollback {
    fn flavour(&self) -> Flavour {
        Flavour::Bitcoind
    }

    fn family(&self, _method: &str) -> &'static str {
        "reorg"
    }

    fn call<'a>(&'a self, context: &'a RequestContext, method: &'a str, params: Params) -> BoxFuture<'a, RpcResult> {
        Box::pin(async move {
            params.none()?;
            match method {
                "getblockcount" => Ok(to_raw_value(&context.segments()[0]).unwrap()),
                _ => Err(ApiError::new(ErrorKind::of_node(-5), "Block not found")),
            }
        })
    }
}

impl HttpSurface for Rollback {
    fn body_limit(&self, verb: &Method, _segments: &[String]) -> Option<usize> {
        (*verb == Method::GET || *verb == Method::PUT).then_some(10)
    }

    fn handle<'a>(
        &'a self,
        context: &'a RequestContext,
        request: HttpRequest,
    ) -> BoxFuture<'a, Result<Reply, ApiError>> {
        Box::pin(async move {
            if request.verb == Method::PUT {
                return Err(ApiError::new(kind::ADMIN_KEY_REQUIRED, "an admin key is required"));
            }
            let Caller::Key(record) = context.caller() else { panic!("a keyed surface without a key") };
            Ok(Reply::text(StatusCode::OK, format!("usage for {}: {:?}", record.name, request.query)))
        })
    }
}

async fn instance() -> Instance {
    let handler = KeyedHandler { http: Some(Arc::new(Rollback)), rpc: Some(Arc::new(Rollback)), ..handlers::reorg() };
    Instance::with(Setup { keyed: vec![handler], ..Setup::default() }).await
}

/// row GW13
#[tokio::test]
async fn the_bitcoind_flavour_has_result_and_error_in_every_answer() {
    let instance = instance().await;
    let path = instance.keyed("/reorg/77");
    let good = instance.post(&path, r#"{"version":"1.1","method":"getblockcount","params":[],"id":"a"}"#).await;
    assert_eq!(good.text(), r#"{"jsonrpc":"2.0","result":"77","error":null,"id":"a"}"#);
    let bad = instance.post(&path, r#"{"method":"getblock","id":0}"#).await;
    assert_eq!(bad.text(), r#"{"jsonrpc":"2.0","result":null,"error":{"code":-5,"message":"Block not found"},"id":0}"#);
    for body in ["nonsense", "[]", "[5]"] {
        let answer = instance.post(&path, body).await.json();
        let answer = if answer.is_array() { answer[0].clone() } else { answer };
        assert!(answer.get("result").is_some() && answer["error"]["code"].is_i64(), "{answer}");
    }
    let batch =
        instance.post(&path, r#"[{"method":"getblockcount","id":"1-0"},{"method":"x","id":"1-1"}]"#).await.json();
    assert!(batch.as_array().unwrap().iter().all(|answer| answer.as_object().unwrap().len() == 4));
}

#[tokio::test]
async fn a_surface_may_answer_plain_http_beside_json_rpc() {
    let instance = instance().await;
    let path = instance.keyed("/reorg/77?a=b");
    let usage = instance.get(&path).await;
    assert_eq!((usage.status, usage.text()), (200, "usage for test: Some(\"a=b\")"));
    let forbidden = instance.send("PUT", &path, &[], "").await;
    assert_eq!(
        forbidden.json(),
        json!({ "statusCode": 403, "code": "ADMIN_KEY_REQUIRED", "error": "an admin key is required" })
    );
    assert_eq!(instance.send("PUT", &path, &[], "more than ten").await.status, 413);
    assert_eq!(instance.send("DELETE", &path, &[], "").await.status, 405);
    assert_eq!(instance.get("/v4/reorg/77").await.status, 401);
}
