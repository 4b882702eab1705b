//! Tests of what is derived from the declarations of all surfaces: documents, pages, names in spans.

mod clients;
mod markdown;
mod paths;

use std::collections::BTreeSet;

use hyper::Method;
use paraffin_gateway::template;

use crate::SURFACES;
use paraffin_gateway::methods::Described;
use paraffin_gateway::rest::{Base, Group, Verb};
use paraffin_gateway::routes::Route;

#[test]
fn no_route_is_declared_twice() {
    let mut seen = BTreeSet::new();
    for route in SURFACES.groups().flat_map(Group::paths) {
        assert!(seen.insert((route.path, route.verb == Verb::Post)), "{} is declared twice", route.path);
    }
}

#[test]
fn the_routes_of_every_surface_are_listed() {
    for surface in SURFACES.keyed {
        let is_listed = |group: &&Group| SURFACES.groups().any(|listed| std::ptr::eq(listed, *group));
        assert!(surface.routes.iter().all(is_listed), "{surface:?}");
    }
}

/// Pages that list routes list all of them.
#[test]
fn pages_about_surfaces_have_every_route() {
    let pages = [
        (Base::BesideApi, "opi/v1/brc20", include_str!("../../../../docs/api.md")),
        (Base::Keyed, "orderbook", include_str!("../../../../docs/orderbook.md")),
        (Base::Keyed, "udf", include_str!("../../../../docs/listings.md")),
        (Base::Keyed, "dexscreener", include_str!("../../../../docs/listings.md")),
        (Base::Keyed, "coingecko", include_str!("../../../../docs/listings.md")),
        (Base::Apart, "", include_str!("../../../../docs/verification.md")),
        (Base::Open, "", include_str!("../../../../docs/api.md")),
    ];
    for group in SURFACES.groups().filter(|group| group.base != Base::Api) {
        for route in group.paths() {
            let is_about =
                |(base, before, _): &&(Base, &str, &str)| *base == group.base && route.path.starts_with(before);
            let (_, before, page) = pages.iter().find(is_about).unwrap_or_else(|| panic!("no page has {}", route.path));
            let below = route.path.strip_prefix(before).unwrap().trim_start_matches('/');
            let written = [format!("/{below}"), format!("/{below}").replace('{', "<").replace('}', ">")];
            assert!(written.iter().any(|path| page.contains(path)), "{} is not in its page", route.path);
        }
    }
}

/// Every `$ref` of a document resolves, and every schema is used.
fn check_references(document: &serde_json::Value) {
    let text = document.to_string();
    let mut used = BTreeSet::new();
    for piece in text.split("\"$ref\":\"#").skip(1) {
        let pointer = piece.split('"').next().unwrap();
        assert!(document.pointer(pointer).is_some(), "{pointer}");
        used.insert(pointer.to_owned());
    }
    for name in document["components"]["schemas"].as_object().unwrap().keys() {
        assert!(used.contains(&format!("/components/schemas/{name}")), "{name} is used nowhere");
    }
}

#[test]
fn references_resolve_and_every_schema_is_used() {
    check_references(&SURFACES.openapi(true));
    check_references(&SURFACES.openapi(false));
    for document in SURFACES.documents {
        check_references(&document.write());
    }
    check_references(&SURFACES.openrpc());
    for surface in SURFACES.described() {
        check_references(&serde_json::from_slice(&surface.document()).unwrap());
    }
}

#[test]
fn every_declaration_has_its_sentences_and_an_example_that_can_be_read() {
    let families = SURFACES.families.iter().map(|family| *family as &dyn Described);
    for surface in families.chain(SURFACES.described()) {
        assert_eq!(surface.finding(), None, "{}", surface.name());
    }
    for group in SURFACES.groups() {
        assert_eq!(group.finding(), None, "{}", group.tag);
    }
}

#[test]
fn a_route_has_placeholders_for_the_segments_that_callers_choose() {
    let key = "0123456789abcdef0123456789abcdef";
    let get = &Method::GET;
    for (path, expected) in [
        (format!("/v4/{key}"), Some("/v4/{key}")),
        ("/v4/jsonrpc".to_owned(), Some("/v4/jsonrpc")),
        ("/v4/api".to_owned(), Some("/v4/api")),
        (format!("/v4/{key}/blockheight"), Some("/v4/{key}/blockheight")),
        ("/v4/my-alias/no/such".to_owned(), Some("/v4/{key}/{route}")),
        (format!("/v4/{key}/mempool/socket"), Some("/v4/{key}/mempool")),
        (format!("/api/v1/{key}/anything"), Some("/api/v1/{key}")),
        ("/health".to_owned(), Some("/health")),
        (format!("/v4/{key}/health"), Some("/v4/{key}/health")),
        ("/v4/jsonrpc/mempool".to_owned(), Some("/v4/jsonrpc/mempool")),
        ("/v4/opi/v1/brc20/block_height".to_owned(), Some("/v4/opi/v1/brc20/block_height")),
        (format!("/{key}"), None),
    ] {
        assert_eq!(template(&SURFACES, &Route::parse(&SURFACES, &path), get).as_deref(), expected, "{path}");
    }
}
