//! The records of the Esplora API, member for member in its order and spelling. What a method describes as its answer has no comments on
//! its members, because these would be part of the description.

mod block;
mod script;
mod transaction;

pub use block::{BlockStatus, EsploraBlock};
pub use script::script_type;
pub use transaction::{EsploraSpend, EsploraTransaction, MerkleProof, TransactionStatus, UnspentOutput};
