//! The code of a contract: bytes of anyone, or a real module with some of its bytes changed. Whatever it is, it runs or fails
//! alone, and what it writes stays within what its fuel pays for.

use crate::alkanes::{PROBE, PROBE_CODE, block, call, deployed, output, stones, transaction};
use bitcoin::OutPoint;
use paraffin_alkanes::codec::gzip;
use paraffin_alkanes::{Engine, StateKey};

/// Fuel of a message over the price of a byte that is stored, and something for what the protocol itself keeps.
const STORED_BYTES_MAX: usize = 3_500_000 / 40 + (1 << 16);

/// Opcodes of the probe that end soon.
const OPCODES: [u128; 8] = [1, 10, 11, 13, 30, 31, 60, 85];

pub(crate) fn run(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else { return };
    let code = if first % 4 == 0 {
        [b"\0asm\x01\0\0\0", rest].concat()
    } else {
        // Three bytes change one: where (two), to what.
        let mut code = PROBE_CODE.to_vec();
        for change in rest.chunks_exact(3) {
            let place = usize::from(u16::from_le_bytes([change[0], change[1]])) * 7 % code.len();
            code[place] = change[2];
        }
        code
    };
    let stage = deployed();
    let mut state = stage.state.clone();
    state.values.insert(StateKey::Code(PROBE), gzip(&code));
    let opcode = OPCODES[usize::from(*first / 4) % OPCODES.len()];
    let message = stones(&[call(PROBE, &[opcode, 1, 2, 3])]);
    let block = block(2, vec![transaction(OutPoint::null(), vec![output(1)], &message)]);
    // A halt is the protocol's own answer to some modules.
    if let Ok(effects) = stage.engine().run_block(2, &block, &state) {
        let written: usize = effects.writes.iter().map(|(_, value)| value.len()).sum();
        assert!(written <= STORED_BYTES_MAX, "{written} bytes were written");
    }
}
