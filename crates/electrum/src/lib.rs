//! The Electrum protocol, versions 1.4 to 1.6 (docs/electrum.md): messages, methods, sessions with their subscriptions, and the listener.
//!
//! ```text
//!  TCP, TLS ─▶ listener ─▶ session ─┬─▶ message ─▶ methods ─▶ Api (the instance)
//!                                   └─◀ changes of scripts and of the tip
//! ```
//!
//! Invariants: it depends on no store, no node and no HTTP; data comes from an [`Api`]. Every line, batch, answer and subscription is
//! bounded, each alone and all of a client together.
#![forbid(unsafe_code)]

mod api;
mod clients;
mod listener;
mod merkle;
mod message;
mod methods;
mod output;
mod script_hash;
mod session;
mod settings;
mod tls;
mod version;

pub use api::{
    Api, ApiFuture, Balance, Changes, Confirmed, Estimate, Fault, FeeHistogram, History, Holder, Identity, MempoolFees,
    PackageResult, Proof, ScriptAnswer, ScriptAnswers, ScriptQuestion, Server, Tip, Touched, Unconfirmed, Unspent,
    Wanted,
};
pub use clients::Caller;
pub use listener::{ListenError, Listener, Sessions};
pub use merkle::{CHUNK_HEADERS, HeaderProof, HeaderTree};
pub use script_hash::{ScriptHash, Status};
pub use settings::ElectrumSettings;
