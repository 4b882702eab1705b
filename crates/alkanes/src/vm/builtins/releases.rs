//! The released modules of the built-in contracts (protocol B18), and how they are found in an indexer program.

use std::collections::HashMap;

use bitcoin::hex::DisplayHex as _;

use crate::vm::cache::{Code, CodeHash};
use crate::vm::memory_section::{WASM_HEADER, data_segments};

/// Largest file that is searched for built-ins, in bytes; the largest real one has a few million.
const FILE_LEN_MAX_BYTES: usize = 256 << 20;

/// Most offsets in a file that begin like a module and are compared; a real file has a handful.
const CANDIDATES_MAX: usize = 4096;

/// One released module (protocol B18).
#[derive(Debug)]
pub(super) struct Release {
    pub(super) name: &'static str,
    pub(super) file_name: &'static str,
    pub(super) len_bytes: usize,
    /// The digits of its SHA-256; of one whose file is not public, the first ones that are published.
    pub(super) sha256: &'static str,
}

pub(super) const DIESEL_BASE: Release = Release {
    name: "2:0 (base)",
    file_name: "diesel-base.wasm",
    len_bytes: 174_225,
    sha256: "58cca703f5462c733975c068c6d1e245cc32941741f4b6e61a468257b4b5ffb6",
};
pub(super) const DIESEL_UPGRADED: Release = Release {
    name: "2:0 (upgraded)",
    file_name: "diesel-upgraded.wasm",
    len_bytes: 260_605,
    sha256: "1fe883c4fe06748a7ce4a06df1006b2f5697a6e3ff66e6b20ded46ce9374cccf",
};
pub(super) const DIESEL_EOA: Release = Release {
    name: "2:0 (EOA)",
    file_name: "diesel-eoa.wasm",
    len_bytes: 262_445,
    sha256: "f780aacd1718a312c9ac1a5f8b126a8b8e15708a4b0c908d4d633fbfdb847fd1",
};
pub(super) const FRBTC_100: Release = Release {
    name: "32:0 (first)",
    file_name: "frbtc-1.0.0.wasm",
    len_bytes: 1_542_292,
    sha256: "ed3c1cc9af5a8727aacd5c096191699d1fd8c6d3b802c463c5832ca2091e83fc",
};
pub(super) const FRBTC_110: Release = Release {
    name: "32:0 (1.1.0)",
    file_name: "frbtc-1.1.0.wasm",
    len_bytes: 1_542_742,
    sha256: "59d41a0f1e6587f9ca364dcd3f9523cf877e1acdf76b52965ac6de3627c0b7bf",
};
pub(super) const FRBTC_120: Release = Release {
    name: "32:0 (1.2.0)",
    file_name: "frbtc-1.2.0.wasm",
    len_bytes: 304_864,
    sha256: "a44c14f4c35107afb1f2f730b12d679b7b2dde513fb1de526f795b8645e464e4",
};
pub(super) const FRBTC_130: Release = Release {
    name: "32:0 (1.3.0)",
    file_name: "frbtc-1.3.0.wasm",
    len_bytes: 297_554,
    sha256: "c7f29e75cc496dbb009de58cc7547a1a0f3bb95462566c1df529d7a099414b96",
};
pub(super) const FRBTC_131: Release = Release {
    name: "32:0 (1.3.1)",
    file_name: "frbtc-1.3.1.wasm",
    len_bytes: 315_879,
    sha256: "e67a857f56ca2a574fc1528caa38399a34cc2727057934553a63743c03d94a42",
};
pub(super) const FRSIGIL: Release = Release {
    name: "32:1",
    file_name: "frsigil.wasm",
    len_bytes: 172_658,
    sha256: "e09ebe6d4c7315545e5ebbee1ea30205500d8fc9b896e9eb6cedb159d6b0fac8",
};

/// What `2:0` begins with on networks that are neither mainnet nor regtest. No program at hand holds it, and of its digest no more is
/// published (protocol B18).
pub(super) const DIESEL_FIRST_ELSEWHERE: Release = Release {
    name: "2:0 (the first of signet, SHA-256 584ef528…)",
    file_name: "diesel-first.wasm",
    len_bytes: 224_756,
    sha256: "584ef528",
};

pub(super) const RELEASES: [Release; 10] = [
    DIESEL_BASE,
    DIESEL_UPGRADED,
    DIESEL_EOA,
    FRBTC_100,
    FRBTC_110,
    FRBTC_120,
    FRBTC_130,
    FRBTC_131,
    FRSIGIL,
    DIESEL_FIRST_ELSEWHERE,
];

impl Release {
    /// Whether this is the module.
    pub(super) fn is(&self, code: &Code) -> bool {
        code.bytes.len() == self.len_bytes && code.hash.to_lower_hex_string().starts_with(self.sha256)
    }
}

/// The memory of a program before it runs.
pub(super) fn memory_image(program: &[u8]) -> Option<Vec<u8>> {
    if program.len() > FILE_LEN_MAX_BYTES {
        return None;
    }
    let segments = data_segments(program)?;
    let end = segments.iter().map(|(offset, bytes)| *offset as usize + bytes.len()).max().unwrap_or(0);
    if end > FILE_LEN_MAX_BYTES {
        return None;
    }
    let mut image = vec![0; end];
    for (offset, bytes) in segments {
        image[offset as usize..][..bytes.len()].copy_from_slice(bytes);
    }
    Some(image)
}

/// Modules that were found in a memory.
#[derive(Debug, Default)]
pub(super) struct Modules {
    /// Those that are released ones, by size and digest.
    pub(super) released: HashMap<CodeHash, Code>,
    /// How many there are in all, those within others among them.
    pub(super) count: usize,
}

/// Searches a memory for modules.
pub(super) fn modules_in(image: &[u8], releases: &[Release]) -> Modules {
    let starts = image.windows(WASM_HEADER.len()).enumerate().filter(|(_, window)| *window == WASM_HEADER);
    let mut modules = Modules::default();
    for (start, _) in starts.take(CANDIDATES_MAX) {
        modules.count += 1;
        for release in releases.iter().filter(|release| !modules.released.values().any(|code| release.is(code))) {
            if let Some(module) = image.get(start..start + release.len_bytes) {
                let code = Code::new(module.to_vec());
                if release.is(&code) {
                    modules.released.insert(code.hash, code);
                    break;
                }
            }
        }
    }
    modules
}
