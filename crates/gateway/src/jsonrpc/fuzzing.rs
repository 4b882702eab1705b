//! The envelope, opened for the fuzz targets.

use serde_json::value::RawValue;

use super::envelope::{BadRequest, Body, Request, read_body, read_request, write_answer};
use super::{Flavour, scan};
use crate::errors::ApiError;

/// One parsed entry of a body, and the answers to it.
#[derive(Debug)]
pub struct Entry {
    /// The id as it was written; `None` for a notification and for a request without a usable id.
    pub id: Option<String>,
    /// The method; or the code of the refusal.
    pub method: Result<String, i64>,
    /// As they were written.
    pub params: Option<String>,
    /// The answer in both flavours, a refusal or `null`.
    pub answers: [String; 2],
}

/// Reads a body.
///
/// # Errors
/// The code that answers a body which holds no request.
pub fn read(body: &[u8], depth_max: usize, entries_max: usize) -> Result<Vec<Entry>, i64> {
    match read_body(body, depth_max, entries_max) {
        Ok(Body::Single(read)) => Ok(vec![entry(read)]),
        Ok(Body::Batch(entries)) => Ok(entries.into_iter().map(|raw| entry(read_request(raw))).collect()),
        Err(error) => Err(error.kind.rpc_code),
    }
}

fn entry(read: Result<Request<'_>, BadRequest<'_>>) -> Entry {
    let written = |id: Option<&RawValue>, outcome: &Result<Box<RawValue>, ApiError>| {
        [Flavour::Standard, Flavour::Bitcoind].map(|flavour| {
            let mut out = String::new();
            write_answer(&mut out, flavour, id, outcome);
            out
        })
    };
    let text = |raw: &RawValue| raw.get().to_owned();
    match read {
        Ok(request) => Entry {
            id: request.id.map(text),
            method: Ok(request.method.into_owned()),
            params: request.params.map(text),
            answers: written(request.id, &Ok(RawValue::NULL.to_owned())),
        },
        Err(bad) => {
            let (id, code) = (bad.id, bad.error.kind.rpc_code);
            Entry { id: id.map(text), method: Err(code), params: None, answers: written(id, &Err(bad.error)) }
        }
    }
}

/// See `scan::nests_deeper_than`.
pub fn nests_deeper_than(text: &[u8], limit: usize) -> bool {
    scan::nests_deeper_than(text, limit)
}

/// See `scan::top_level_method`.
pub fn top_level_method(beginning: &[u8]) -> Option<&[u8]> {
    scan::top_level_method(beginning)
}
