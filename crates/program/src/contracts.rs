//! Whether this instance indexes alkanes, and with which built-in contracts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use paraffin_alkanes::views::ViewLimits;
use paraffin_alkanes::{AlkanesModule, Builtins, BuiltinsError, CodeCache, Engine, NativeEngine, Parameters};
use paraffin_cryptoswap::PoolProbe;
use paraffin_gateway::{AlkanesParts, HostedProgram};
use paraffin_hosted::{HostedModule, LoadError, ReadError, UnknownKey, read_file};
use paraffin_primitives::Network;
use paraffin_store::Store;
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::hosted::{EngineSetting, Hosted, Shadow, ShadowSetting};

/// `[alkanes]`: the contract index.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct AlkanesSection {
    /// Whether contracts are indexed. Absent: where their built-in code is known, that is on regtest, and elsewhere when
    /// `wasm_path` or `builtins_folder` is given.
    pub enabled: Option<bool>,
    /// The network operator's indexer program, out of which the built-in contracts are taken.
    pub wasm_path: Option<PathBuf>,
    /// A folder with the built-in contracts as files of any name, instead of `wasm_path`.
    pub builtins_folder: Option<PathBuf>,
    /// Which engine's answers are served: `native`, or `hosted`, the operator's indexer program itself.
    pub engine: EngineSetting,
    /// Whether the other engine runs beside, and what a difference does: `off`, `halt` or `report`.
    pub shadow: ShadowSetting,
    /// Newest height whose rules the native engine knows; above it, it halts. Absent: no limit.
    pub known_until: Option<u32>,
    /// Longest time that the program may take for one block, in seconds.
    pub block_seconds: u64,
    /// Largest memory of the program while it runs a block, in MiB; at most 4,096.
    pub block_memory_mib: u64,
}

impl Default for AlkanesSection {
    fn default() -> Self {
        Self {
            enabled: None,
            wasm_path: None,
            builtins_folder: None,
            engine: EngineSetting::Native,
            shadow: ShadowSetting::Off,
            known_until: None,
            block_seconds: 600,
            block_memory_mib: 4096,
        }
    }
}

impl Config {
    /// Whether contracts are indexed.
    pub(crate) fn indexes_alkanes(&self) -> bool {
        let section = &self.alkanes;
        let is_given = section.wasm_path.is_some() || section.builtins_folder.is_some();
        section.enabled.unwrap_or(is_given || self.network == Network::Regtest)
    }
}

/// The message to an operator whose instance does not index alkanes and whose configuration does not say that this is meant.
pub(crate) const NOT_INDEXED: &str = "alkanes are not indexed: some ninety methods and routes answer ALKANES_NOT_INDEXED until [alkanes] \
                                      wasm_path names the network's indexer program, which holds the built-in contracts \
                                      (docs/hosted.md; `paraffin doctor` checks it). [alkanes] enabled = false says that it is \
                                      meant so";

/// Where built-in contracts come from.
pub(crate) struct Sources<'s> {
    /// The bytes of an indexer program.
    pub program: Option<&'s [u8]>,
    /// A folder, where no program is named.
    pub folder: Option<&'s Path>,
    /// Whether the program is run as well. It may then be one that has nothing to do with alkanes.
    pub runs_program: bool,
}

/// The built-in contracts of a network; on regtest those of our own where no others are named.
///
/// # Errors
/// They cannot be read, or some that the network needs are missing.
pub(crate) fn builtins(network: Network, sources: &Sources<'_>) -> Result<Builtins, BuiltinsError> {
    let parameters = Parameters::of(network);
    let found = match (sources.program, sources.folder) {
        (Some(program), _) => Builtins::from_operator_wasm(&parameters, program)?,
        (None, Some(folder)) => Builtins::from_folder(&parameters, folder)?,
        (None, None) if network == Network::Regtest => paraffin_builtin_contracts::builtins(),
        (None, None) => Builtins::default(),
    };
    // A program of another kind has no contracts that could be missed.
    let is_of_another_kind = sources.runs_program && found.modules_in_program() == Some(0);
    if is_of_another_kind && network == Network::Regtest {
        tracing::info!("the indexer program holds no contracts: the built-in contracts are our own");
        return Ok(paraffin_builtin_contracts::builtins());
    }
    found.require().map(|()| found)
}

/// State shared by engine and views.
#[derive(Clone)]
pub(crate) struct Contracts {
    network: Network,
    builtins: Arc<Builtins>,
    codes: Arc<CodeCache>,
    known_until: Option<u64>,
    hosted: Option<Hosted>,
    /// What keeps the native machine from simulating beside a program that serves alone.
    lacks: Option<String>,
}

/// Contracts cannot be indexed as configured.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ContractsError {
    /// The built-in contracts cannot be had.
    #[error(transparent)]
    Builtins(#[from] BuiltinsError),
    /// The indexer program cannot be run.
    #[error(transparent)]
    Program(#[from] LoadError),
}

impl Contracts {
    /// Reads the built-in contracts and the indexer program, where that runs; `None` when contracts are not indexed.
    ///
    /// # Errors
    /// They cannot be read, or some that the network needs are missing.
    pub(crate) fn of(config: &Config) -> Result<Option<Self>, ContractsError> {
        if !config.indexes_alkanes() {
            if config.alkanes.enabled.is_none() {
                tracing::warn!("{NOT_INDEXED}");
            }
            return Ok(None);
        }
        let file = config.alkanes.wasm_path.as_deref().map(read_file).transpose()?;
        let hosted = Hosted::of(config, file.as_deref())?;
        let section = &config.alkanes;
        let sources = Sources {
            program: file.as_deref(),
            folder: section.builtins_folder.as_deref(),
            runs_program: section.runs_program(),
        };
        let is_alone = section.engine == EngineSetting::Hosted && section.shadow == ShadowSetting::Off;
        let (builtins, lacks) = match builtins(config.network, &sources) {
            Ok(builtins) => (builtins, None),
            // The program runs without them; only what is simulated here needs them.
            Err(error) if is_alone => {
                tracing::warn!(%error, "calls cannot be simulated by the native machine");
                (Builtins::default(), Some(error.to_string()))
            }
            Err(error) => return Err(error.into()),
        };
        Ok(Some(Self {
            network: config.network,
            builtins: Arc::new(builtins),
            codes: Arc::default(),
            known_until: config.alkanes.known_until.map(u64::from),
            hosted,
            lacks,
        }))
    }

    /// How many released built-in contracts there are; 0 where they are our own.
    pub(crate) fn released_builtins(&self) -> usize {
        self.builtins.released_modules().count()
    }

    /// Why the native machine cannot simulate beside a program that serves alone.
    pub(crate) fn lacks(&self) -> Option<&str> {
        self.lacks.as_deref()
    }

    /// The indexer module of the hosted program, where one runs.
    pub(crate) fn hosted_module(&self) -> Option<HostedModule> {
        self.hosted.as_ref().map(Hosted::module)
    }

    /// The indexer module of alkanes.
    pub(crate) fn module(&self, store: &Store) -> AlkanesModule {
        let native = NativeEngine::new(self.network, Arc::clone(&self.builtins), Arc::clone(&self.codes))
            .with_speculation()
            .with_known_until(self.known_until);
        let engine: Box<dyn Engine> = match &self.hosted {
            None => Box::new(native),
            Some(hosted) => hosted.engine(native, store),
        };
        AlkanesModule::new(engine, self.network)
    }

    /// Logs at each start that the index may be incomplete because the hosted program wrote an unknown key, where that program serves.
    ///
    /// # Errors
    /// The store cannot be read.
    pub(crate) fn warn_of_unknown_keys(&self, store: &Store) -> Result<(), ReadError> {
        if !self.hosted.as_ref().is_some_and(Hosted::serves) {
            return Ok(());
        }
        if let Some(UnknownKey { height, key }) = UnknownKey::first(&store.snapshot())? {
            tracing::error!(
                height,
                key,
                "the indexer program writes under keys of no known kind: what depends on the contract index is refused"
            );
        }
        Ok(())
    }

    /// The hosted views that answer `metashrew_*` instead of the native ones.
    pub(crate) fn hosted_views(&self, limits: &paraffin_gateway::Limits) -> Option<Arc<dyn HostedProgram>> {
        self.hosted.as_ref().and_then(|hosted| hosted.views(limits))
    }

    /// State of the comparison of both engines, where both run.
    pub(crate) fn shadow(&self) -> Option<Shadow> {
        self.hosted.as_ref().and_then(Hosted::shadow)
    }

    /// Calls contracts for the pool index.
    pub(crate) fn probe(&self) -> PoolProbe {
        PoolProbe {
            parameters: Parameters::of(self.network),
            builtins: Arc::clone(&self.builtins),
            codes: Arc::clone(&self.codes),
        }
    }

    /// Parts of the gateway that answer views.
    pub(crate) fn parts(&self) -> AlkanesParts {
        AlkanesParts {
            parameters: Parameters::of(self.network),
            builtins: Arc::clone(&self.builtins),
            codes: Arc::clone(&self.codes),
            limits: ViewLimits::default(),
        }
    }
}
