//! Code of the contracts that are never on chain (protocol B18).

use std::collections::HashMap;
use std::path::Path;

use paraffin_primitives::{AlkaneId, Network};

use super::cache::{Code, CodeHash};
use super::memory_section::{WASM_HEADER, data_segments};
use crate::{Halt, Parameters};

/// The genesis token.
pub(crate) const DIESEL: AlkaneId = AlkaneId { block: 2, tx: 0 };
/// Wrapped bitcoin.
pub(crate) const WRAPPED_BITCOIN: AlkaneId = AlkaneId { block: 32, tx: 0 };
/// The token that authorises the owner of wrapped bitcoin.
pub(crate) const SIGNING_TOKEN: AlkaneId = AlkaneId { block: 32, tx: 1 };

/// The built-in contracts, in the order in which they are deployed (protocol B18).
pub(crate) const IDS: [AlkaneId; 3] = [DIESEL, WRAPPED_BITCOIN, SIGNING_TOKEN];

/// Largest file that is searched for built-ins, in bytes; the largest real one has a few million.
const FILE_LEN_MAX_BYTES: usize = 256 << 20;

/// Places in a file that begin like a module and are compared; a real file has a handful.
const CANDIDATES_MAX: usize = 4096;

/// Where to get what is missing.
const SOURCES: &str = "take the operator's alkanes.wasm of the release that your network runs (a release file of the \
                       alkanes indexer, or out of its container) and name it in `alkanes.wasm_path`, or read the modules \
                       from a synced node with the view `getbytecode` and name their folder";

/// One released module (protocol B18).
struct Release {
    name: &'static str,
    len_bytes: usize,
    sha256: &'static str,
}

const DIESEL_BASE: Release = Release {
    name: "2:0 (base)",
    len_bytes: 174_225,
    sha256: "58cca703f5462c733975c068c6d1e245cc32941741f4b6e61a468257b4b5ffb6",
};
const DIESEL_UPGRADED: Release = Release {
    name: "2:0 (upgraded)",
    len_bytes: 260_605,
    sha256: "1fe883c4fe06748a7ce4a06df1006b2f5697a6e3ff66e6b20ded46ce9374cccf",
};
const DIESEL_EOA: Release = Release {
    name: "2:0 (EOA)",
    len_bytes: 262_445,
    sha256: "f780aacd1718a312c9ac1a5f8b126a8b8e15708a4b0c908d4d633fbfdb847fd1",
};
const FRBTC_100: Release = Release {
    name: "32:0 (first)",
    len_bytes: 1_542_292,
    sha256: "ed3c1cc9af5a8727aacd5c096191699d1fd8c6d3b802c463c5832ca2091e83fc",
};
const FRBTC_110: Release = Release {
    name: "32:0 (1.1.0)",
    len_bytes: 1_542_742,
    sha256: "59d41a0f1e6587f9ca364dcd3f9523cf877e1acdf76b52965ac6de3627c0b7bf",
};
const FRBTC_120: Release = Release {
    name: "32:0 (1.2.0)",
    len_bytes: 304_864,
    sha256: "a44c14f4c35107afb1f2f730b12d679b7b2dde513fb1de526f795b8645e464e4",
};
const FRBTC_130: Release = Release {
    name: "32:0 (1.3.0)",
    len_bytes: 297_554,
    sha256: "c7f29e75cc496dbb009de58cc7547a1a0f3bb95462566c1df529d7a099414b96",
};
const FRBTC_131: Release = Release {
    name: "32:0 (1.3.1)",
    len_bytes: 315_879,
    sha256: "e67a857f56ca2a574fc1528caa38399a34cc2727057934553a63743c03d94a42",
};
const FRSIGIL: Release = Release {
    name: "32:1",
    len_bytes: 172_658,
    sha256: "e09ebe6d4c7315545e5ebbee1ea30205500d8fc9b896e9eb6cedb159d6b0fac8",
};

const RELEASES: [Release; 9] =
    [DIESEL_BASE, DIESEL_UPGRADED, DIESEL_EOA, FRBTC_100, FRBTC_110, FRBTC_120, FRBTC_130, FRBTC_131, FRSIGIL];

/// Built-ins cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum BuiltinsError {
    /// The file or folder cannot be read.
    #[error("the built-in contracts cannot be read from {path}: {source}")]
    Unreadable {
        /// The file or folder.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not an indexer program.
    #[error(
        "the file is no WebAssembly module of up to 256 MiB, so no built-in contracts can be taken from it: {SOURCES}"
    )]
    NoModule,
    /// Some built-ins that the network needs are not there.
    #[error("missing built-in contracts: {}; {SOURCES}", .0.join(", "))]
    Missing(Vec<String>),
}

/// Code of the contracts that are never on chain: which one runs depends on the height (protocol B18).
#[derive(Debug, Clone, Default)]
pub struct Builtins {
    /// In the order of their heights.
    spans: Vec<Span>,
}

/// Code of a contract from a height on.
#[derive(Debug, Clone)]
struct Span {
    id: AlkaneId,
    from: u64,
    code: Result<Code, &'static str>,
}

impl Builtins {
    /// Takes the built-ins out of an operator's indexer program: its data segments are laid into a memory image, which
    /// is searched for modules of the released sizes and hashes. See [`Builtins::require`] for what was not found.
    ///
    /// # Errors
    /// The file is no module.
    pub fn from_operator_wasm(parameters: &Parameters, program: &[u8]) -> Result<Self, BuiltinsError> {
        let image = memory_image(program).ok_or(BuiltinsError::NoModule)?;
        Ok(Self::released(parameters, &modules_in(&image, &RELEASES)))
    }

    /// Takes the built-ins from the files of a folder, whatever their names. See [`Builtins::require`].
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn from_folder(parameters: &Parameters, folder: &Path) -> Result<Self, BuiltinsError> {
        let unreadable = |source| BuiltinsError::Unreadable { path: folder.display().to_string(), source };
        let mut modules = HashMap::new();
        for entry in std::fs::read_dir(folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let len_bytes = entry.metadata().map_err(unreadable)?.len();
            if RELEASES.iter().any(|release| release.len_bytes as u64 == len_bytes) {
                let code = Code::new(std::fs::read(entry.path()).map_err(unreadable)?);
                modules.insert(code.hash, code);
            }
        }
        Ok(Self::released(parameters, &modules))
    }

    /// Contracts of our own, at every height: for development chains, which have no released ones. Any module will do.
    pub fn given(codes: impl IntoIterator<Item = (AlkaneId, Vec<u8>)>) -> Self {
        let spans = codes.into_iter().map(|(id, code)| Span { id, from: 0, code: Ok(Code::new(code)) });
        Self { spans: spans.collect() }
    }

    /// Names of those that the network needs and that are not there.
    pub fn missing(&self) -> Vec<String> {
        let absent = IDS.iter().filter(|id| self.spans.iter().all(|span| span.id != **id)).map(ToString::to_string);
        let unreleased = self.spans.iter().filter_map(|span| span.code.as_ref().err()).map(|name| (*name).to_owned());
        absent.chain(unreleased).collect()
    }

    /// Checks that nothing is missing, which a start does before the first block.
    ///
    /// # Errors
    /// The names of those that are missing, and where to get them.
    pub fn require(&self) -> Result<(), BuiltinsError> {
        let missing = self.missing();
        if missing.is_empty() { Ok(()) } else { Err(BuiltinsError::Missing(missing)) }
    }

    /// The module that runs at `height`; `None` for contracts that are not built in.
    ///
    /// # Errors
    /// It is needed and not there, without which the engine cannot go on.
    pub fn bytes(&self, id: AlkaneId, height: u64) -> Result<Option<Vec<u8>>, Halt> {
        Ok(self.code(id, height)?.map(|code| code.bytes.to_vec()))
    }

    pub(crate) fn code(&self, id: AlkaneId, height: u64) -> Result<Option<Code>, Halt> {
        let span = self.spans.iter().rev().find(|span| span.id == id && span.from <= height);
        match span.map(|span| &span.code) {
            Some(Ok(code)) => Ok(Some(code.clone())),
            Some(Err(name)) => Err(missing((*name).to_owned())),
            None if IDS.contains(&id) => Err(missing(id.to_string())),
            None => Ok(None),
        }
    }

    /// The released modules by height (protocol B18).
    fn released(parameters: &Parameters, modules: &HashMap<CodeHash, Code>) -> Self {
        let schedule: &[(AlkaneId, u64, &Release)] = match parameters.network {
            Network::Mainnet => &[
                (DIESEL, 0, &DIESEL_BASE),
                (DIESEL, parameters.diesel_upgrade, &DIESEL_UPGRADED),
                (DIESEL, parameters.diesel_eoa_upgrade, &DIESEL_EOA),
                (WRAPPED_BITCOIN, 0, &FRBTC_100),
                (WRAPPED_BITCOIN, parameters.diesel_eoa_upgrade, &FRBTC_110),
                (WRAPPED_BITCOIN, parameters.revert_survives, &FRBTC_120),
                (WRAPPED_BITCOIN, parameters.wrapped_bitcoin_130, &FRBTC_130),
                (WRAPPED_BITCOIN, parameters.wrapped_bitcoin_131, &FRBTC_131),
                (SIGNING_TOKEN, 0, &FRSIGIL),
            ],
            Network::Signet | Network::Regtest => {
                &[(DIESEL, 0, &DIESEL_EOA), (WRAPPED_BITCOIN, 0, &FRBTC_131), (SIGNING_TOKEN, 0, &FRSIGIL)]
            }
        };
        let spans = schedule.iter().map(|&(id, from, release)| {
            let code = modules.get(&release.hash()).filter(|code| code.bytes.len() == release.len_bytes);
            Span { id, from, code: code.cloned().ok_or(release.name) }
        });
        Self { spans: spans.collect() }
    }
}

impl Release {
    fn hash(&self) -> CodeHash {
        let digit = |digit: u8| char::from(digit).to_digit(16).expect("the table holds hexadecimal digits") as u8;
        let mut hash = CodeHash::default();
        for (byte, pair) in hash.iter_mut().zip(self.sha256.as_bytes().chunks_exact(2)) {
            *byte = digit(pair[0]) << 4 | digit(pair[1]);
        }
        hash
    }
}

fn missing(name: String) -> Halt {
    Halt::MissingBuiltin(BuiltinsError::Missing(vec![name]).to_string())
}

/// The memory of a program before it runs.
fn memory_image(program: &[u8]) -> Option<Vec<u8>> {
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

/// Everything in the image that begins like a module and has the size and hash of a released one.
fn modules_in(image: &[u8], releases: &[Release]) -> HashMap<CodeHash, Code> {
    let starts = image.windows(WASM_HEADER.len()).enumerate().filter(|(_, window)| *window == WASM_HEADER);
    let mut modules = HashMap::new();
    for (start, _) in starts.take(CANDIDATES_MAX) {
        for release in releases {
            if let Some(module) = image.get(start..start + release.len_bytes)
                && !modules.contains_key(&release.hash())
            {
                let code = Code::new(module.to_vec());
                if code.hash == release.hash() {
                    modules.insert(code.hash, code);
                }
            }
        }
    }
    modules
}

#[cfg(test)]
mod tests;
