//! A client of the Paraffin API.
//!
//! Every method of JSON-RPC and every route of HTTP is a struct of its parameters, generated from the declarations of the
//! server: [`jsonrpc`] holds those of the main endpoint, [`rest`] the routes, and other surfaces have modules of their own.
//! [`Client::call`] calls a method, [`Client::ask`] requests a route, [`Client::batch`] calls many methods at once. [`MempoolMirror`] follows
//! the unconfirmed transactions, [`OrderbookMirror`] a market of the order book, [`EventStream`] the events of the chain.
//!
//! ```no_run
//! # async fn example() -> Result<(), paraffin_client::Error> {
//! use paraffin_client::{Client, jsonrpc, rest};
//!
//! let client = Client::new("http://127.0.0.1:8787")?.with_key("KEY")?;
//! let height = client.call(&jsonrpc::BtcGetblockcount::new()).await?;
//! let pools = client.ask(&rest::GetAlkanes { limit: Some(10_u64.into()), ..rest::GetAlkanes::new() }).await?;
//! println!("{height} {}", pools.tokens.len());
//! # Ok(())
//! # }
//! ```
//!
//! Amounts are [`Amount`]s or texts of digits and numbers with a fraction keep their digits: no floating-point numbers are involved.
#![forbid(unsafe_code)]

mod batch;
mod client;
mod error;
// Formatted by the generator.
#[rustfmt::skip]
#[allow(clippy::all, clippy::pedantic, reason = "written by a program from the descriptions")]
mod generated;
mod method;
mod mirror;
mod route;
mod socket;
mod value;

pub use batch::{Answers, Batch, Slot};
pub use client::{Client, Waiting};
pub use error::{Error, Refusal};
pub use generated::*;
pub use method::{Form, Method};
pub use mirror::{
    CallStatus, CallType, ChainEvent, Direction, EventContent, EventFilter, EventKind, EventStart, EventStream, Holder,
    InscriptionAction, InscriptionLocation, MempoolEvent, MempoolMirror, OrderbookEvent, OrderbookMirror, TokenAmount,
};
pub use route::{Base, Route, Verb, Wrapping};
pub use value::{Amount, NumberOrText};
