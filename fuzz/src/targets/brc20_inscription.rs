//! Bodies of inscriptions as BRC-20 reads them: JSON exactly as the reference reads it, and blocks that leave a ledger whose sums
//! fit together. The bytes are cut into bodies at every zero byte.

use paraffin_ordinals_index::brc20::fuzzing::{block, json};

pub(crate) fn run(bytes: &[u8]) {
    let bodies: Vec<&[u8]> = bytes.split(|byte| *byte == 0).take(32).collect();
    for body in &bodies {
        json(body);
    }
    block(&bodies);
}
