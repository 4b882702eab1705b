//! The OpenAPI 3.1 documents.

use hyper::StatusCode;
use serde_json::{Map, Value, json};

use super::rest;
pub use super::rest::error;
use crate::rest::route::{DescribedField, DescribedRoute};
use crate::rest::{Base, Group, Verb};
use crate::schema::{component, natural, text};
use crate::surface::Surfaces;

const INTRODUCTION: &str = "\
Alkanes, pools, histories, balances, prices and BRC-20. A key stands in the path (`/v4/<key>/<route>`) or in a header \
(`/v4/api/<route>`); without one a client may send 60 requests at once and one a second after that. Bodies are read whatever \
their `Content-Type` is, a member that is `null` counts as absent, and members that a route does not know are ignored. \
A trailing slash changes nothing. \
Answers may gain members. `/v4/<key>/mempool` is a preview and `/v4/<key>/orderbook` is beta: their shapes may change.";

/// The document of the REST data API, and of what else is below `/v4`.
pub(super) fn document(surfaces: &Surfaces, with_beside: bool) -> Value {
    let groups = surfaces.groups().filter(|group| match group.base {
        Base::Apart => false,
        Base::BesideApi => with_beside,
        Base::Api | Base::Keyed | Base::Open => true,
    });
    let (routes, schemas) = rest::describe(groups);
    json!({
        "openapi": "3.1.0",
        "info": info("Paraffin REST data API", INTRODUCTION),
        "servers": [
            { "url": "/v4/api", "description": "A key in a header, a registered browser origin, or no credentials" },
            keyed_server(""),
        ],
        "security": [{}, { "key": [] }],
        "tags": tags(&routes),
        "paths": paths(&routes),
        "components": {
            "securitySchemes": { "key": { "type": "apiKey", "in": "header", "name": "x-service-api-key" } },
            "schemas": schemas,
            "headers": headers(),
            "responses": refusals(&routes),
        },
    })
}

/// The document of routes at [`Base::Apart`].
pub fn apart(title: &str, introduction: &str, groups: &[&'static Group]) -> Value {
    let (routes, schemas) = rest::describe(groups.iter().copied());
    json!({
        "openapi": "3.1.0",
        "info": info(title, introduction),
        "servers": [{
            "url": "/api/v1/{key}",
            "variables": { "key": { "default": "KEY", "description": "An API key" } },
        }],
        "paths": paths(&routes),
        "components": { "schemas": schemas, "headers": headers(), "responses": refusals(&routes) },
    })
}

/// Title, version and licence of a document.
pub fn info(title: &str, introduction: &str) -> Value {
    json!({
        "title": title,
        "version": env!("CARGO_PKG_VERSION"),
        "description": introduction,
        "license": { "name": "MIT OR Apache-2.0" },
    })
}

fn paths(routes: &[DescribedRoute]) -> Map<String, Value> {
    let mut paths = Map::new();
    for route in routes {
        let verb = match route.verb {
            Verb::Get => "get",
            Verb::Post => "post",
        };
        let item = paths.entry(format!("/{}", route.path)).or_insert_with(|| json!({}));
        item[verb] = operation(route);
        if route.base == Base::BesideApi {
            item["servers"] = json!([
                { "url": "/v4", "description": "A key in a header, or no credentials" },
                keyed_server(""),
            ]);
        }
    }
    paths
}

/// A server URL with a key or an alias in the path; the document describes the paths at `below`.
pub fn keyed_server(below: &str) -> Value {
    json!({
        "url": format!("/v4/{{key}}{below}"),
        "description": "A key or an alias in the path",
        "variables": { "key": { "default": "KEY", "description": "An API key, or an alias" } },
    })
}

fn tags(routes: &[DescribedRoute]) -> Value {
    let mut names: Vec<&str> = Vec::new();
    for name in routes.iter().map(|route| route.tag) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.into_iter().map(|name| json!({ "name": name })).collect()
}

fn operation(route: &DescribedRoute) -> Value {
    let mut operation = json!({
        "operationId": operation_id(route),
        "summary": route.summary,
        "tags": [route.tag],
        "responses": responses(route),
    });
    if !route.description.is_empty() {
        operation["description"] = json!(route.description);
    }
    if route.base == Base::Keyed {
        operation["servers"] = json!([keyed_server("")]);
        operation["security"] = json!([]);
    }
    if route.base == Base::Open {
        operation["security"] = json!([{}]);
    }
    let mut parameters: Vec<Value> = route.fields.iter().filter(|field| field.is_in_path).map(in_path).collect();
    match route.verb {
        Verb::Post if route.base == Base::Open => {}
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
fn operation_id(route: &DescribedRoute) -> String {
    let verb = if route.verb == Verb::Get { "read-" } else { "" };
    let name: String = route.path.chars().map(|letter| if letter == '/' { '-' } else { letter }).collect();
    format!("{verb}{}", name.replace(['{', '}'], ""))
}

fn in_path(field: &DescribedField) -> Value {
    json!({ "name": field.names.first(), "in": "path", "required": true, "schema": field.schema })
}

fn query_parameters(field: &DescribedField) -> Vec<Value> {
    let is_needed = field.is_needed && field.names.len() == 1;
    let of = |name: &&str| json!({ "name": name, "in": "query", "required": is_needed, "schema": field.schema });
    field.names.iter().map(of).collect()
}

fn responses(route: &DescribedRoute) -> Value {
    let headers = answer_headers(route.has_tag);
    let mut content = Map::new();
    for (index, media_type) in route.media_types.iter().enumerate() {
        let schema = if index == 0 { json!({ "schema": route.answer }) } else { json!({}) };
        content.insert((*media_type).to_owned(), schema);
    }
    let mut codes = vec![401, 429, 431];
    if route.base != Base::Open {
        codes.extend([403, 500, 503, 504]);
    }
    codes.extend(route.refusals.iter().map(StatusCode::as_u16));
    match route.verb {
        Verb::Post if route.base != Base::Open => codes.extend([400, 408, 413]),
        Verb::Get if !route.fields.is_empty() => codes.push(400),
        _ => {}
    }
    if route.may_be_missing {
        codes.push(404);
    }
    let mut responses: Map<String, Value> = codes
        .into_iter()
        .map(|code| (code.to_string(), json!({ "$ref": format!("#/components/responses/{code}") })))
        .collect();
    if route.has_tag {
        let unchanged = json!({ "description": "What the caller has is still the answer" });
        responses.insert("304".to_owned(), unchanged);
    }
    for (status, about) in route.statuses {
        let answer = json!({ "description": about, "headers": headers, "content": content });
        responses.insert(status.as_str().to_owned(), answer);
    }
    responses.into()
}

fn header(name: &str) -> Value {
    json!({ "$ref": format!("#/components/headers/{name}") })
}

/// Headers of an answer.
pub fn answer_headers(has_tag: bool) -> Value {
    let mut headers = json!({
        "X-Request-Id": header("RequestId"),
        "X-Indexed-Height": header("IndexedHeight"),
        "X-RateLimit-Limit": header("Limit"),
        "X-RateLimit-Remaining": header("Remaining"),
        "X-RateLimit-Reset": header("Reset"),
    });
    if has_tag {
        headers["ETag"] = header("ETag");
    }
    headers
}

/// The headers that answers refer to.
pub fn headers() -> Value {
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

/// Error answers by their status, as far as a route has them.
fn refusals(routes: &[DescribedRoute]) -> Value {
    refusals_with(|status| routes.iter().any(|route| route.refusals.iter().any(|code| code.as_str() == status)), &[])
}

/// Error answers by their status, of the rare ones those for which `has` holds; those in `texts` may also be plain text.
pub fn refusals_with(has: impl Fn(&str) -> bool, texts: &[&str]) -> Value {
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
        ("410", "The requested events are no longer available; the message states where to begin (`EVENTS_GONE`)"),
        ("413", "The body is too large (`BODY_TOO_LARGE`)"),
        ("422", "A field has a value of another type than it takes (`INVALID_FIELD_TYPE`)"),
        ("429", "Too many requests (`RATE_LIMITED`)"),
        ("431", "The headers are too large (`HEADERS_TOO_LARGE`)"),
        ("500", "Something failed here (`INTERNAL_ERROR`)"),
        ("502", "The records of verification cannot be read (`VERIFIER_UNREACHABLE`)"),
        (
            "503",
            "Nothing is indexed yet (`STARTING`), the node or the key store is away (`UPSTREAM_UNAVAILABLE`, \
             `AUTH_UNAVAILABLE`), this instance lacks what is asked about (`ALKANES_NOT_INDEXED`, \
             `ALKANES_UNREADABLE`, `BRC20_NOT_INDEXED`, `PRICES_NOT_CONFIGURED`), nothing can be built at the moment (`VERIFICATION_UNAVAILABLE`), or the durable stream of the orderbook is away (`INGEST_UNAVAILABLE`, \
             `EVENTS_UNAVAILABLE`)",
        ),
        ("504", "The answer took too long (`TIMEOUT`)"),
    ];
    let mut all = Map::new();
    let is_rare = |status: &str| matches!(status, "410" | "422" | "502");
    for (status, about) in refusals.into_iter().filter(|(status, _)| !is_rare(status) || has(status)) {
        let mut headers = json!({ "X-Request-Id": header("RequestId") });
        if status == "429" {
            headers["Retry-After"] = header("RetryAfter");
        }
        let mut content = json!({ "application/json": { "schema": component("Error") } });
        if texts.contains(&status) {
            content["text/plain"] = json!({ "schema": text() });
        }
        all.insert(status.to_owned(), json!({ "description": about, "headers": headers, "content": content }));
    }
    Value::Object(all)
}
