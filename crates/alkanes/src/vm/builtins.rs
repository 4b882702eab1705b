//! Code of the contracts that are never on chain (protocol B18).

mod releases;

use std::path::Path;

use paraffin_primitives::{AlkaneId, Network};

use self::releases::{
    DIESEL_BASE, DIESEL_EOA, DIESEL_FIRST_ELSEWHERE, DIESEL_UPGRADED, FRBTC_100, FRBTC_110, FRBTC_120, FRBTC_130,
    FRBTC_131, FRSIGIL, Modules, RELEASES, Release, memory_image, modules_in,
};
use super::cache::Code;
use crate::parameters::fork_height;
use crate::{Halt, Parameters};

/// The genesis token.
pub(crate) const DIESEL: AlkaneId = AlkaneId { block: 2, tx: 0 };
/// Wrapped bitcoin.
pub(crate) const WRAPPED_BITCOIN: AlkaneId = AlkaneId { block: 32, tx: 0 };
/// The token that authorises the owner of wrapped bitcoin.
pub(crate) const SIGNING_TOKEN: AlkaneId = AlkaneId { block: 32, tx: 1 };

/// The built-in contracts, in the order in which they are deployed (protocol B18).
pub(crate) const IDS: [AlkaneId; 3] = [DIESEL, WRAPPED_BITCOIN, SIGNING_TOKEN];

/// Where to get missing built-ins.
const SOURCES: &str = "take the operator's alkanes.wasm of the release that your network runs (a release file of the \
                       alkanes indexer, or out of its container) and name it in `[alkanes] wasm_path`, or read the modules \
                       from a synced node with the view `getbytecode` and name their folder in `[alkanes] builtins_folder`";

/// The advice where [`DIESEL_FIRST_ELSEWHERE`] is missing.
const NO_CLAIM: &str = "no program that we know holds the first code of 2:0 on signet, so what the native engine would do there is \
                        not known to be right: give the network's own program as `[alkanes] wasm_path` with engine = \
                        \"hosted\" and shadow = \"off\", which needs no built-in contracts";

/// Built-ins cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum BuiltinsError {
    /// The file or folder cannot be read.
    #[error("the built-in contracts cannot be read from {path}: {source}")]
    Unreadable {
        /// The file or folder.
        path: String,
        /// The error of the file system.
        source: std::io::Error,
    },
    /// The file is not an indexer program.
    #[error(
        "the file is no WebAssembly module of up to 256 MiB, so no built-in contracts can be taken from it: {SOURCES}"
    )]
    NoModule,
    /// Some built-ins that the network needs are not there.
    #[error("missing built-in contracts: {}; {}{}", names.join(", "), in_program(*modules), sources(names))]
    Missing {
        /// Names of the missing built-ins.
        names: Vec<String>,
        /// Number of modules in the searched program; `None` where it was no program.
        modules: Option<usize>,
    },
}

/// Describes the modules in a program that lacks built-ins.
const fn in_program(modules: Option<usize>) -> &'static str {
    match modules {
        None => "",
        Some(0) => "the program holds no contract at all, so it is no indexer of alkanes; ",
        Some(_) => "the program holds other contracts, so it is of another release or network; ",
    }
}

fn sources(missing: &[String]) -> &'static str {
    if missing.iter().any(|name| name == DIESEL_FIRST_ELSEWHERE.name) { NO_CLAIM } else { SOURCES }
}

/// Code of the contracts that are never on chain: which one runs depends on the height (protocol B18).
#[derive(Debug, Clone, Default)]
pub struct Builtins {
    /// In the order of their heights.
    spans: Vec<Span>,
    /// How many modules the program holds that they were taken from.
    modules: Option<usize>,
}

/// Code of a contract from a height on.
#[derive(Debug, Clone)]
struct Span {
    id: AlkaneId,
    from: u64,
    /// The release it must match; `None` for a contract of our own.
    release: Option<&'static Release>,
    code: Option<Code>,
}

impl Span {
    fn name(&self) -> String {
        self.release.map_or_else(|| self.id.to_string(), |release| release.name.to_owned())
    }
}

/// A released module that was found.
#[derive(Debug, Clone, Copy)]
pub struct ReleasedModule<'b> {
    /// Contract and release, human-readable.
    pub name: &'static str,
    /// Name of its file.
    pub file_name: &'static str,
    /// First height at which it runs.
    pub from: u64,
    /// SHA-256.
    pub hash: [u8; 32],
    /// Its bytes.
    pub code: &'b [u8],
}

impl Builtins {
    /// Takes the built-ins out of an operator's indexer program: its data segments are laid into a memory image, which
    /// is searched for modules of the released sizes and hashes. See [`Builtins::require`] for what was not found.
    ///
    /// # Errors
    /// The file is no module.
    pub fn from_operator_wasm(parameters: &Parameters, program: &[u8]) -> Result<Self, BuiltinsError> {
        let image = memory_image(program).ok_or(BuiltinsError::NoModule)?;
        let found = modules_in(&image, &RELEASES);
        Ok(Self { modules: Some(found.count), ..Self::released(parameters, &found) })
    }

    /// Takes the built-ins from the files of a folder, whatever their names. See [`Builtins::require`].
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn from_folder(parameters: &Parameters, folder: &Path) -> Result<Self, BuiltinsError> {
        let unreadable = |source| BuiltinsError::Unreadable { path: folder.display().to_string(), source };
        let mut found = Modules::default();
        for entry in std::fs::read_dir(folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let len_bytes = entry.metadata().map_err(unreadable)?.len();
            if RELEASES.iter().any(|release| release.len_bytes as u64 == len_bytes) {
                let code = Code::new(std::fs::read(entry.path()).map_err(unreadable)?);
                found.released.insert(code.hash, code);
            }
        }
        Ok(Self::released(parameters, &found))
    }

    /// Contracts of our own, at every height: for development chains, which have no released ones. Any module will do.
    pub fn given(codes: impl IntoIterator<Item = (AlkaneId, Vec<u8>)>) -> Self {
        let own = |(id, code)| Span { id, from: 0, release: None, code: Some(Code::new(code)) };
        Self { spans: codes.into_iter().map(own).collect(), modules: None }
    }

    /// Names of those that the network needs and that are not there.
    pub fn missing(&self) -> Vec<String> {
        let absent = IDS.iter().filter(|id| self.spans.iter().all(|span| span.id != **id)).map(ToString::to_string);
        let unreleased = self.spans.iter().filter(|span| span.code.is_none()).map(Span::name);
        absent.chain(unreleased).collect()
    }

    /// How many modules the program holds that they were taken from; 0 where it is no indexer of alkanes, `None` where they do not come
    /// from a program.
    pub const fn modules_in_program(&self) -> Option<usize> {
        self.modules
    }

    /// The released modules that were found, in the order of the table of protocol B18.
    pub fn released_modules(&self) -> impl Iterator<Item = ReleasedModule<'_>> {
        self.spans.iter().filter_map(|span| {
            let (release, code) = (span.release?, span.code.as_ref()?);
            let Release { name, file_name, .. } = release;
            Some(ReleasedModule { name, file_name, from: span.from, hash: code.hash, code: &code.bytes })
        })
    }

    /// Checks that nothing is missing, which a start does before the first block.
    ///
    /// # Errors
    /// The names of those that are missing, and where to get them.
    pub fn require(&self) -> Result<(), BuiltinsError> {
        let missing = self.missing();
        if missing.is_empty() { Ok(()) } else { Err(BuiltinsError::Missing { names: missing, modules: self.modules }) }
    }

    /// The module that runs at `height`; `None` for contracts that are not built in.
    ///
    /// # Errors
    /// It is needed and not there, without which the engine cannot go on.
    pub fn bytes(&self, id: AlkaneId, height: u64) -> Result<Option<Vec<u8>>, Halt> {
        Ok(self.code(id, height)?.map(|code| code.bytes.to_vec()))
    }

    pub(crate) fn code(&self, id: AlkaneId, height: u64) -> Result<Option<Code>, Halt> {
        let height = fork_height(height);
        let span = self.spans.iter().rev().find(|span| span.id == id && span.from <= height);
        let name = match span {
            Some(Span { code: Some(code), .. }) => return Ok(Some(code.clone())),
            Some(span) => span.name(),
            None if IDS.contains(&id) => id.to_string(),
            None => return Ok(None),
        };
        Err(Halt::MissingBuiltin(BuiltinsError::Missing { names: vec![name], modules: self.modules }.to_string()))
    }

    /// The released modules by height (protocol B18).
    fn released(parameters: &Parameters, found: &Modules) -> Self {
        let schedule: &[(AlkaneId, u64, &'static Release)] = match parameters.network {
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
            Network::Signet => &[
                (DIESEL, 0, &DIESEL_FIRST_ELSEWHERE),
                (DIESEL, parameters.diesel_eoa_upgrade, &DIESEL_EOA),
                (WRAPPED_BITCOIN, parameters.wrapped_bitcoin_131, &FRBTC_131),
                (SIGNING_TOKEN, 0, &FRSIGIL),
            ],
            Network::Regtest => {
                &[(DIESEL, 0, &DIESEL_EOA), (WRAPPED_BITCOIN, 0, &FRBTC_131), (SIGNING_TOKEN, 0, &FRSIGIL)]
            }
        };
        let spans = schedule.iter().map(|&(id, from, release)| {
            let code = found.released.values().find(|code| release.is(code)).cloned();
            Span { id, from, release: Some(release), code }
        });
        Self { spans: spans.collect(), modules: None }
    }
}

#[cfg(test)]
mod tests;
