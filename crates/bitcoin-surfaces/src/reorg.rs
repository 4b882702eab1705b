//! `/v4/<KEY>/reorg/<N>`: a bitcoind whose chain ends at height N, so that an indexer that starts against it walks back to N.
//! `docs/reorg.md` describes how it is used.
//!
//! It is stateless. Real blocks come from the node itself, hashes included, so that a hash and the block requested by it belong to
//! one chain.

use std::future::ready;

use http::{Method, StatusCode};
use serde_json::json;
use serde_json::value::RawValue;

use super::btc::{NODE, pass};
use paraffin_gateway::errors::{ApiError, Refusal};
use paraffin_gateway::jsonrpc::{Flavour, Params, parse_unsigned};
use paraffin_gateway::methods::{Declared, Hash, NaturalText, PathVariable, Surface, needs};
use paraffin_gateway::respond::Reply;
use paraffin_gateway::state::{BoxFuture, RequestContext};
use paraffin_gateway::surface::{HttpRequest, HttpSurface, KeyedSurface, RpcResult, RpcSurface, to_raw};

/// `/v4/<KEY>/reorg/<N>`.
pub static SURFACE: KeyedSurface = KeyedSurface::rpc("reorg", &REORG);

/// The methods of the rollback endpoint.
static REORG: Surface<()> =
    Surface::new("reorg", &[
        Declared::listed::<u64>(
            "getblockcount",
            "The height at which the chain ends: that in the path, whatever the real one is",
            &[],
            "[]",
            |context, (), method, params| {
                let answer = method.texts(params).and_then(|_| to_raw(&target(context)?));
                Box::pin(ready(answer))
            },
        ),
        Declared::listed::<Hash>(
            "getbestblockhash",
            "Hash of the block at which the chain ends",
            &[],
            "[]",
            |context, (), method, params| {
                let height = method.texts(params).and_then(|_| to_raw(&target(context)?));
                Box::pin(async move { pass(context, "getblockhash", vec![height?]).await })
            },
        ),
        Declared::listed::<Hash>(
            "getblockhash",
            "Hash of the block at a height; above the end of the chain one that no block has",
            &[needs::<NaturalText>("height").that_is("An integer.")],
            "[140]",
            |context, (), _, params| {
                let params = params.raw().to_vec();
                Box::pin(async move {
                    match requested_height(&params) {
                        Some(height) if height > target(context)? => to_raw(&synthetic_hash(height)),
                        // Invalid parameters go to the node too: their errors are its own.
                        _ => pass(context, "getblockhash", params).await,
                    }
                })
            },
        ),
    ])
.introduced("POST at `/v4/<key>/reorg/<height>`: a bitcoind whose chain ends at the height, so that an indexer that starts \
        against it walks back (docs/reorg.md). A `btc_` before a name is taken. All but the first three methods go to the real node.")
.admitting(|context| target(context).map(drop))
.with_variable(PathVariable { name: "height", default: "0", about: "The height at which the chain ends." })
.having(&[&NODE]);

/// The height in the path.
fn target(context: &RequestContext) -> Result<u64, ApiError> {
    match Target::of(context.segments()) {
        Target::Height(target) => Ok(target),
        Target::Bad | Target::Longer => Err(ApiError::invalid(BAD_HEIGHT)),
    }
}

/// Bodies of requests that are refused for their path are read up to this, bytes, so that the answer arrives.
const REFUSED_BODY_BYTES_MAX: usize = 64 << 10;

/// The JSON-RPC half of the surface.
pub(crate) struct ReorgRpc;

impl RpcSurface for ReorgRpc {
    fn flavour(&self) -> Flavour {
        Flavour::Bitcoind
    }

    fn family(&self, _method: &str) -> &'static str {
        "reorg"
    }

    fn takes_large_body(&self, method: &str) -> bool {
        REORG.takes_large_body(plain(method))
    }

    fn call<'a>(&'a self, context: &'a RequestContext, method: &'a str, params: Params) -> BoxFuture<'a, RpcResult> {
        REORG.serve(context, &(), plain(method), &params)
    }
}

/// The name without the prefix that it may have on the main endpoint.
fn plain(method: &str) -> &str {
    method.strip_prefix("btc_").unwrap_or(method)
}

/// The height of a `getblockhash`, when it is a non-negative integer.
fn requested_height(params: &[Box<RawValue>]) -> Option<u64> {
    match params {
        [only] => parse_unsigned(only.get()),
        _ => None,
    }
}

/// A hash that no block has: 48 `f`, then the height as 16 hex digits (docs/reorg.md). Read as a number it is far above
/// every target, so proof of work can never make it.
fn synthetic_hash(height: u64) -> String {
    format!("{:f<48}{height:016x}", "")
}

/// The path after `reorg/`.
#[derive(Debug, PartialEq, Eq)]
enum Target {
    Height(u64),
    /// Missing, or not a non-negative integer of 64 bits.
    Bad,
    /// A height followed by further segments.
    Longer,
}

impl Target {
    fn of(segments: &[String]) -> Self {
        match segments {
            [] => Self::Bad,
            [height] => parse_unsigned(height).map_or(Self::Bad, Self::Height),
            _ => Self::Longer,
        }
    }
}

const BAD_HEIGHT: &str = "the path ends with the height to roll back to, a non-negative integer: /v4/<KEY>/reorg/<N>";

/// The plain HTTP half: the usage text, and every request whose path has no usable height.
pub(crate) struct ReorgHttp;

impl HttpSurface for ReorgHttp {
    fn body_limit(&self, verb: &Method, segments: &[String]) -> Option<usize> {
        let is_rpc = *verb != Method::GET && matches!(Target::of(segments), Target::Height(_));
        (!is_rpc).then_some(REFUSED_BODY_BYTES_MAX)
    }

    fn handle<'a>(
        &'a self,
        context: &'a RequestContext,
        _request: HttpRequest,
    ) -> BoxFuture<'a, Result<Reply, ApiError>> {
        Box::pin(async move {
            Ok(match Target::of(context.segments()) {
                Target::Height(target) => Reply::text(StatusCode::OK, usage(target)),
                Target::Bad => refusal(&ApiError::invalid(BAD_HEIGHT)),
                Target::Longer => refusal(&Refusal::NotFound.error()),
            })
        })
    }
}

/// An error body as JSON-RPC clients of a bitcoind read it, with the stable code at the top.
fn refusal(error: &ApiError) -> Reply {
    let code = error.kind.name;
    let body = json!({ "jsonrpc": "2.0", "result": null, "error": error, "id": null, "code": code });
    Reply::json(error.kind.status, body.to_string())
}

/// The answer to GET: a short usage text.
fn usage(target: u64) -> String {
    format!(
        "Rollback endpoint for height {target}.

POST bitcoind JSON-RPC here. An indexer that starts with this URL as its node finds a chain that ends at height
{target}, walks back from its own tip, and rolls back to it.

  getblockcount     {target}, whatever the real height is
  getblockhash h    h > {target}: a made-up hash that matches no block; else the real hash at h
  getbestblockhash  the real hash at {target}
  all other read methods, sendrawtransaction, submitpackage and testmempoolaccept go to the real node

Order of operations:
  1. Install the indexer version that is to index from height {target} on. It must be in place before the rollback.
  2. Set the indexer's maximum reorg depth above (its tip - {target}). The usual default is 100; with less it stops
     short. There is no safety cap here: height 0 rolls back to the genesis block.
  3. Start the indexer with this URL as its node and wait until it has rolled back.
  4. Stop it, point it back to a real node, and start it: it goes on from height {next}.
",
        next = u128::from(target) + 1
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// row RO02
    #[test]
    fn a_synthetic_hash_has_48_f_and_the_height_in_16_digits() {
        let expected = "ffffffffffffffffffffffffffffffffffffffffffffffff00000000000e82d8";
        assert_eq!(synthetic_hash(951_000), expected);
        assert_eq!(synthetic_hash(u64::MAX), "f".repeat(64));
        assert_eq!(synthetic_hash(951_000).len(), 64);
    }

    #[test]
    fn only_a_non_negative_integer_is_a_target() {
        let of = |segments: &[&str]| Target::of(&segments.iter().map(|&text| text.to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["0"]), Target::Height(0));
        assert_eq!(of(&["950564"]), Target::Height(950_564));
        assert_eq!(of(&["18446744073709551615"]), Target::Height(u64::MAX));
        for bad in ["-1", "+1", "1.0", "1e3", "0x10", "abc", " 1", "", "18446744073709551616", "١"] {
            assert_eq!(of(&[bad]), Target::Bad, "{bad}");
        }
        assert_eq!(of(&[]), Target::Bad);
        assert_eq!(of(&["1", "2"]), Target::Longer);
    }

    /// row RO09
    #[test]
    fn the_usage_text_tells_the_depth_rule_and_the_order_of_operations() {
        let text = usage(950_564);
        for sentence in ["maximum reorg depth above (its tip - 950564)", "default is 100", "no safety cap", "950565"] {
            assert!(text.contains(sentence), "{sentence}");
        }
        let places: Vec<_> = ["1. Install", "2. Set", "3. Start", "4. Stop"].map(|step| text.find(step)).into();
        assert!(places.is_sorted() && places.iter().all(Option::is_some), "{places:?}");
        assert!(usage(u64::MAX).contains("18446744073709551616"));
    }

    proptest! {
        #[test]
        fn a_synthetic_hash_encodes_its_height_and_meets_no_target(height: u64) {
            let hash = synthetic_hash(height);
            prop_assert_eq!(u64::from_str_radix(&hash[48..], 16), Ok(height));
            prop_assert!(hash.parse::<bitcoin::BlockHash>().is_ok());
        }
    }
}
