//! Answers of routes.

use std::marker::PhantomData;

use hyper::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;

use super::Wrapping;
use crate::respond::Reply;
use crate::rest::RestResult;

/// The answer of a route: a value that is serialised as JSON, or a finished reply.
pub trait Answer {
    /// The type that the schema describes.
    type Shape: JsonSchema;

    /// # Errors
    /// 500 when it cannot be written as JSON.
    fn into_reply(self, status: StatusCode, wrapping: Wrapping) -> RestResult;
}

impl<T: Serialize + JsonSchema> Answer for T {
    type Shape = T;

    fn into_reply(self, status: StatusCode, wrapping: Wrapping) -> RestResult {
        let reply = match wrapping {
            Wrapping::Enveloped => Reply::enveloped(&self)?,
            Wrapping::Bare | Wrapping::Flat => Reply::bare(&self)?,
            Wrapping::WithError => Reply::bare(&Enveloped { error: None, result: &self })?,
        };
        Ok(Reply { status, ..reply })
    }
}

/// `{"error":null,"result":…}`.
#[derive(Serialize)]
pub struct Enveloped<T> {
    /// Always `null`.
    pub error: Option<()>,
    /// The answer.
    pub result: T,
}

/// An answer rendered by other means: streamed in parts, text, bytes. `T` is its shape.
pub struct Made<T> {
    reply: Reply,
    shape: PhantomData<fn() -> T>,
}

impl<T> From<Reply> for Made<T> {
    fn from(reply: Reply) -> Self {
        Self { reply, shape: PhantomData }
    }
}

impl<T: JsonSchema> Answer for Made<T> {
    type Shape = T;

    fn into_reply(self, _: StatusCode, _: Wrapping) -> RestResult {
        Ok(self.reply)
    }
}
