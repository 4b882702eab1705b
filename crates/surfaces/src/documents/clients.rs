//! The typed part of the clients, from the documents (docs/clients.md).

use std::path::Path;

use serde_json::Value;

use crate::{SURFACES, VERIFY_DOCUMENT};

/// Every document by the module that it has in the clients.
fn documents() -> Vec<(&'static str, Value)> {
    let others = SURFACES
        .described()
        .map(|surface| (surface.name(), serde_json::from_slice(&surface.document()).unwrap_or_default()));
    let mut documents = vec![("jsonrpc", SURFACES.openrpc())];
    documents.extend(others);
    documents.push(("rest", SURFACES.openapi(true)));
    documents.push(("verification", VERIFY_DOCUMENT.write()));
    documents
}

#[test]
fn the_types_of_the_clients_are_those_of_the_declarations() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let is_asked_for = std::env::var_os("PARAFFIN_WRITE_DOCS").is_some();
    let mut stale = Vec::new();
    for (path, text) in paraffin_client_generator::files(&documents()) {
        if is_asked_for {
            std::fs::write(root.join(&path), &text).unwrap();
        }
        if std::fs::read_to_string(root.join(&path)).unwrap_or_default() != text {
            stale.push(path);
        }
    }
    assert!(
        stale.is_empty(),
        "{stale:?} are not those of the declarations: \
         PARAFFIN_WRITE_DOCS=1 cargo nextest run -p paraffin-surfaces types_of_the_clients writes them anew"
    );
}
