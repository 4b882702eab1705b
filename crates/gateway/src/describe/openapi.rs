//! The OpenAPI 3.1 document of the REST data API.

use serde_json::{Map, Value, json};

use super::rest::{self, Answer, Field, Route};
use super::schema::{about, component, integer, natural, or_null, record, record_and, text};
use crate::rest::Verb;

const INTRODUCTION: &str = "\
Alkanes, pools, histories, balances, prices and BRC-20. A key stands in the path (`/v4/<key>/<route>`) or in a header \
(`/v4/api/<route>`); without one a client may send 60 requests at once and one a second after that. Bodies are read whatever \
their `Content-Type` is, a member that is `null` counts as absent, and members that a route does not know are ignored. \
A trailing slash changes nothing. \
Answers may gain members. `/v4/<key>/mempool` is a preview and `/v4/<key>/orderbook` is beta: their shapes may change.";

/// Whether the document describes the routes of BRC-20.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tokens {
    Told,
    Untold,
}

/// The routes that the document describes.
fn routes(tokens: Tokens) -> impl Iterator<Item = Route> {
    rest::routes().into_iter().filter(move |route| tokens == Tokens::Told || !route.is_beside_the_api())
}

/// The whole document.
pub(super) fn document(tokens: Tokens) -> Value {
    let mut paths = Map::new();
    for route in routes(tokens) {
        let path = format!("/{}", route.path);
        let verb = match route.verb {
            Verb::Get => "get",
            Verb::Post => "post",
        };
        let item = paths.entry(path).or_insert_with(|| json!({}));
        item[verb] = operation(&route);
        if route.is_beside_the_api() {
            item["servers"] = json!([
                { "url": "/v4", "description": "A key in a header, or nobody" },
                keyed_server(),
            ]);
        }
    }
    paths.insert("/health".to_owned(), health());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Paraffin REST data API",
            "version": env!("CARGO_PKG_VERSION"),
            "description": INTRODUCTION,
            "license": { "name": "MIT OR Apache-2.0" },
        },
        "servers": [
            { "url": "/v4/api", "description": "A key in a header, a registered browser origin, or nobody" },
            keyed_server(),
        ],
        "security": [{}, { "key": [] }],
        "tags": tags(tokens),
        "paths": paths,
        "components": {
            "securitySchemes": { "key": { "type": "apiKey", "in": "header", "name": "x-service-api-key" } },
            "schemas": schemas(tokens),
            "headers": headers(),
            "responses": refusals(),
        },
    })
}

fn keyed_server() -> Value {
    json!({
        "url": "/v4/{key}",
        "description": "A key or an alias in the path",
        "variables": { "key": { "default": "KEY", "description": "An API key, or an alias" } },
    })
}

fn schemas(tokens: Tokens) -> Map<String, Value> {
    let mut schemas = rest::schemas();
    if tokens == Tokens::Untold {
        for name in rest::TOKEN_SCHEMAS {
            schemas.remove(name);
        }
    }
    schemas
}

fn tags(tokens: Tokens) -> Value {
    let mut names: Vec<&str> = Vec::new();
    for route in routes(tokens) {
        if !names.contains(&route.tag) {
            names.push(route.tag);
        }
    }
    names.push("Instance");
    names.into_iter().map(|name| json!({ "name": name })).collect()
}

fn operation(route: &Route) -> Value {
    let mut operation = json!({
        "operationId": operation_id(route),
        "summary": route.summary,
        "tags": [route.tag],
        "responses": responses(route),
    });
    if !route.description.is_empty() {
        operation["description"] = json!(route.description);
    }
    if route.is_keyed {
        operation["servers"] = json!([keyed_server()]);
        operation["security"] = json!([]);
    }
    let mut parameters: Vec<Value> = placeholders(route.path)
        .map(|placeholder| {
            let mut fields = route.fields.iter().filter(|field| field.is_in_path);
            match fields.find(|field| field.names.contains(&placeholder.1)) {
                Some(field) => in_path(placeholder.1, &field.schema),
                None => path_parameter(placeholder),
            }
        })
        .collect();
    match route.verb {
        Verb::Post => {
            operation["requestBody"] = json!({
                "required": true,
                "content": { "application/json": { "schema": rest::body(route) } },
            });
            if let Some(example) = &route.example {
                operation["requestBody"]["content"]["application/json"]["example"] = example.clone();
            }
        }
        Verb::Get => {
            parameters.extend(route.fields.iter().filter(|field| !field.is_in_path).flat_map(query_parameters));
            if route.has_tag {
                let about = "The ETag of an answer that the caller has: 304 when nothing changed";
                parameters
                    .push(json!({ "name": "If-None-Match", "in": "header", "description": about, "schema": text() }));
            }
        }
    }
    if !parameters.is_empty() {
        operation["parameters"] = json!(parameters);
    }
    operation
}

/// `get-alkanes`, `get alkanes/{id}` as a name that programs can have.
fn operation_id(route: &Route) -> String {
    let verb = if route.verb == Verb::Get { "read-" } else { "" };
    let name: String = route.path.chars().map(|letter| if letter == '/' { '-' } else { letter }).collect();
    format!("{verb}{}", name.replace(['{', '}'], ""))
}

/// The placeholders of a path, each with the first segment.
fn placeholders(path: &str) -> impl Iterator<Item = (&str, &str)> {
    let area = path.split('/').next().unwrap_or_default();
    path.split('/').filter_map(move |segment| Some((area, segment.strip_prefix('{')?.strip_suffix('}')?)))
}

fn path_parameter((area, name): (&str, &str)) -> Value {
    let schema = match name {
        "source" if area == "orderbook" => component("OrderSource"),
        "id" if area == "orderbook" => component("OrderId"),
        "id" => component("AlkaneIdText"),
        "address" => component("Address"),
        "outpoint" => component("Outpoint"),
        _ => text(),
    };
    in_path(name, &schema)
}

fn in_path(name: &str, schema: &Value) -> Value {
    json!({ "name": name, "in": "path", "required": true, "schema": schema })
}

fn query_parameters(field: &Field) -> Vec<Value> {
    let is_needed = field.is_needed && field.names.len() == 1;
    let of = |name: &&str| json!({ "name": name, "in": "query", "required": is_needed, "schema": field.schema });
    field.names.iter().map(of).collect()
}

fn responses(route: &Route) -> Value {
    let (status, schema) = match &route.answer {
        Answer::Enveloped(data) => ("200", record(&[("statusCode", json!({ "const": 200 })), ("data", data.clone())])),
        Answer::Bare(answer) | Answer::Text(answer) => ("200", answer.clone()),
        Answer::Accepted(answer) => ("202", answer.clone()),
    };
    let media_type = if matches!(route.answer, Answer::Text(_)) { "text/plain" } else { "application/json" };
    let mut headers = json!({
        "X-Request-Id": header("RequestId"),
        "X-Indexed-Height": header("IndexedHeight"),
        "X-RateLimit-Limit": header("Limit"),
        "X-RateLimit-Remaining": header("Remaining"),
        "X-RateLimit-Reset": header("Reset"),
    });
    if route.has_tag {
        headers["ETag"] = header("ETag");
    }
    let mut responses = json!({
        status: {
            "description": "The answer",
            "headers": headers,
            "content": { media_type: { "schema": schema } },
        },
    });
    let mut codes = vec!["401", "403", "429", "431", "500", "503", "504"];
    codes.extend(route.further);
    match route.verb {
        Verb::Post => codes.extend(["400", "408", "413"]),
        Verb::Get => {
            if route.has_tag {
                responses["304"] = json!({ "description": "What the caller has is still the answer" });
            }
            if route.path.contains('{') || !route.fields.is_empty() || route.is_beside_the_api() {
                codes.push("400");
            }
        }
    }
    if route.may_be_missing {
        codes.push("404");
    }
    for code in codes {
        responses[code] = json!({ "$ref": format!("#/components/responses/{code}") });
    }
    responses
}

fn header(name: &str) -> Value {
    json!({ "$ref": format!("#/components/headers/{name}") })
}

fn headers() -> Value {
    let of = |about: &str, schema: Value| json!({ "description": about, "schema": schema });
    json!({
        "RequestId": { "description": "Names the request in the log", "required": true, "schema": text() },
        "IndexedHeight": of("Height of the chain data in the answer", natural()),
        "ETag": of("Changes with the newest block", text()),
        "Limit": of("Requests of the minute, or of the day where less is left of it", natural()),
        "Remaining": of("Requests that are left", natural()),
        "Reset": of("Unix seconds at which the count begins anew", natural()),
        "RetryAfter": { "description": "Seconds until a further try", "required": true, "schema": natural() },
    })
}

/// Answers other than success, by their status.
fn refusals() -> Value {
    let refusals = [
        ("400", "The body or the path is not what the route takes; the sentence names the member (`INVALID_REQUEST`)"),
        ("401", "The key is unknown, revoked or expired (`INVALID_API_KEY`)"),
        (
            "403",
            "The origin is not registered, the alias may not be used for this, or an admin key is needed (`ORIGIN_NOT_ALLOWED`, \
             `SURFACE_NOT_ALLOWED`, `ADMIN_KEY_REQUIRED`)",
        ),
        (
            "404",
            "What is asked about does not exist (`NOT_FOUND`), or this instance lacks it (`SURFACE_NOT_AVAILABLE`)",
        ),
        ("408", "The body came too slowly (`REQUEST_TIMEOUT`)"),
        ("410", "What is asked for is not kept any more; the sentence tells where to begin (`EVENTS_GONE`)"),
        ("413", "The body is too large (`BODY_TOO_LARGE`)"),
        ("429", "Too many requests (`RATE_LIMITED`)"),
        ("431", "The headers are too large (`HEADERS_TOO_LARGE`)"),
        ("500", "Something failed here (`INTERNAL_ERROR`)"),
        (
            "503",
            "Nothing is indexed yet (`STARTING`), the node or the key store is away (`UPSTREAM_UNAVAILABLE`, \
             `AUTH_UNAVAILABLE`), this instance lacks what is asked about (`ALKANES_NOT_INDEXED`, \
             `ALKANES_UNREADABLE`, `BRC20_NOT_INDEXED`, `PRICES_NOT_CONFIGURED`), or the durable stream of the orderbook is away (`INGEST_UNAVAILABLE`, \
             `EVENTS_UNAVAILABLE`)",
        ),
        ("504", "The answer took too long (`TIMEOUT`)"),
    ];
    let mut all = Map::new();
    for (status, about) in refusals {
        let mut headers = json!({ "X-Request-Id": header("RequestId") });
        if status == "429" {
            headers["Retry-After"] = header("RetryAfter");
        }
        all.insert(
            status.to_owned(),
            json!({
                "description": about,
                "headers": headers,
                "content": { "application/json": { "schema": component("Error") } },
            }),
        );
    }
    Value::Object(all)
}

/// Health: JSON at `/v4/api`, plain text below a key.
fn health() -> Value {
    let orderbook = record(&[("stream", json!({ "enum": ["ready", "away", "mismatch"] }))]);
    let about_orderbook = about(orderbook, "The durable stream of change events; absent where there is no orderbook");
    let always = [
        ("status", json!({ "enum": ["ok", "degraded", "starting", "stalled", "draining"] })),
        ("timestamp", about(integer(), "Unix seconds")),
        ("network", text()),
        ("height", or_null(natural())),
        (
            "node",
            record(&[
                ("reachable", super::schema::boolean()),
                ("height", or_null(natural())),
                ("error", or_null(text())),
            ]),
        ),
    ];
    let shadow =
        record(&[("compared", natural()), ("differences", natural()), ("comparing", super::schema::boolean())]);
    let about_shadow =
        about(shadow, "The native engine beside a hosted indexer program; absent where only one of them runs");
    let contracts = record_and(&[("answered", super::schema::boolean())], &[("reason", text())]);
    let about_contracts = about(contracts, "Whether what depends on the contract index is answered, and why not");
    let health = record_and(
        &always,
        &[("orderbook", about_orderbook), ("shadow", about_shadow), ("contracts", about_contracts)],
    );
    let told = |about: &str| {
        json!({
            "description": about,
            "headers": { "X-Request-Id": header("RequestId") },
            "content": {
                "application/json": { "schema": health },
                "text/plain": { "schema": { "enum": ["OK", "draining"] } },
            },
        })
    };
    let operation = |id: &str| {
        json!({
            "operationId": id,
            "summary": "Whether the instance answers from the newest blocks; needs no key and is not counted",
            "description": "JSON at `/v4/api/health`; plain `OK` at `/health` and below a key",
            "tags": ["Instance"],
            "security": [{}],
            "responses": {
                "200": told("`ok`, or `degraded` while the node or the durable stream of the orderbook is away, or when the native engine has stopped beside a hosted program"),
                "503": told("`starting`, `stalled`, or `draining` when it is about to stop"),
                "401": { "$ref": "#/components/responses/401" },
                "431": { "$ref": "#/components/responses/431" },
            },
        })
    };
    json!({ "get": operation("read-health"), "post": operation("health") })
}
