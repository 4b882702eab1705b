//! From a transaction to its protostones and contract code, and back.
//!
//! ```text
//!  output script ─▶ Runestone ─protocol integers─▶ chunks ─bytes─▶ Protostone ─message─▶ Cellpack
//!  input witness ─▶ Envelope ─gzip─▶ contract code
//! ```
//!
//! Each step is a decoder and its encoder. Rules are cited as `protocol B3` and so on: the section of that number
//! on the pages of `docs/protocol/`. "The transaction is void" below means what B1.6 and B5 say: everything that the
//! protostones would have done is undone, and alkanes on its inputs are lost.

mod cellpack;
mod chunks;
mod edict;
mod envelope;
mod gzip;
mod protostone;
mod runestone;
mod varint;
mod vout;

pub use cellpack::{Cellpack, CellpackError};
pub use chunks::{CHUNK_LEN_BYTES, pack_chunks, unpack_chunks};
pub use edict::Edict;
pub(crate) use envelope::leaf_script;
pub use envelope::{Envelope, append_envelope};
pub use gzip::{CODE_LEN_MAX_BYTES, GzipError, gunzip, gzip};
pub use protostone::{
    ALKANES_PROTOCOL, Protostone, ProtostoneEncodeError, ProtostoneError, decode_protostones, encode_protostones,
};
pub use runestone::{Artifact, Runestone, RunestoneEncodeError};
pub use varint::{VARINT_LEN_MAX_BYTES, VarintError, VarintList, append_varint, decode_varint};
pub use vout::{
    MessageRoute, RUNTIME_VOUT, RouteError, SHADOW_VOUTS_MAX, default_destination, first_op_return, shadow_vout,
};
