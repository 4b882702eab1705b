//! The records of the Esplora API, member for member in its order and spelling.

mod block;
mod script;
mod transaction;

pub use block::{BlockStatus, EsploraBlock, difficulty};
pub use script::{EsploraOutput, script_type};
pub use transaction::{EsploraInput, EsploraTransaction, MerkleProof, OutputSpend, TransactionStatus, UnspentOutput};
