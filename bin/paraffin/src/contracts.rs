//! Whether this instance indexes alkanes, and with which built-in contracts.

use std::path::PathBuf;
use std::sync::Arc;

use paraffin_alkanes::views::ViewLimits;
use paraffin_alkanes::{AlkanesModule, Builtins, BuiltinsError, CodeCache, Engine, NativeEngine, Parameters};
use paraffin_cryptoswap::PoolProbe;
use paraffin_gateway::{AlkanesParts, HostedProgram};
use paraffin_hosted::{LoadError, read_file};
use paraffin_primitives::Network;
use paraffin_store::{Module, Store};
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
    /// Newest height whose rules the native engine knows; above it, it halts. Absent: it is not told.
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

/// The built-in contracts that the configuration names; `file` holds the bytes of the indexer program, where one is named.
fn builtins(config: &Config, file: Option<&[u8]>) -> Result<Builtins, BuiltinsError> {
    let parameters = Parameters::of(config.network);
    match (file, &config.alkanes.builtins_folder) {
        (Some(file), _) => Builtins::from_operator_wasm(&parameters, file),
        (None, Some(folder)) => Builtins::from_folder(&parameters, folder),
        (None, None) if config.network == Network::Regtest => Ok(paraffin_devnet::market::builtins()),
        (None, None) => Ok(Builtins::default()),
    }
}

/// What engine and views share.
#[derive(Clone)]
pub(crate) struct Contracts {
    network: Network,
    builtins: Arc<Builtins>,
    codes: Arc<CodeCache>,
    known_until: Option<u64>,
    hosted: Option<Hosted>,
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
                tracing::info!(
                    "alkanes are not indexed: [alkanes] wasm_path names the indexer program that holds their built-in contracts"
                );
            }
            return Ok(None);
        }
        let file = config.alkanes.wasm_path.as_deref().map(read_file).transpose()?;
        let hosted = Hosted::of(config, file.as_deref())?;
        let found = builtins(config, file.as_deref()).and_then(|builtins| builtins.require().map(|()| builtins));
        let is_alone = config.alkanes.engine == EngineSetting::Hosted && config.alkanes.shadow == ShadowSetting::Off;
        let builtins = match found {
            Ok(builtins) => builtins,
            // A program for development has none in it.
            Err(_) if hosted.is_some() && config.network == Network::Regtest => paraffin_devnet::market::builtins(),
            // The program runs without them; only what is simulated here needs them.
            Err(error) if is_alone => {
                tracing::warn!(%error, "calls cannot be simulated by the native machine");
                Builtins::default()
            }
            Err(error) => return Err(error.into()),
        };
        Ok(Some(Self {
            network: config.network,
            builtins: Arc::new(builtins),
            codes: Arc::default(),
            known_until: config.alkanes.known_until.map(u64::from),
            hosted,
        }))
    }

    /// The indexer modules: that of the hosted program, where one runs, and that of alkanes.
    pub(crate) fn modules(&self, store: &Store) -> Vec<Box<dyn Module>> {
        let native = NativeEngine::new(self.network, Arc::clone(&self.builtins), Arc::clone(&self.codes))
            .with_known_until(self.known_until);
        let mut modules: Vec<Box<dyn Module>> = Vec::new();
        let engine: Box<dyn Engine> = match &self.hosted {
            None => Box::new(native),
            Some(hosted) => {
                modules.push(Box::new(hosted.module()));
                hosted.engine(native, store)
            }
        };
        modules.push(Box::new(AlkanesModule::new(engine, self.network)));
        modules
    }

    /// What answers `metashrew_*` in the place of the native views.
    pub(crate) fn hosted_views(&self, limits: &paraffin_gateway::Limits) -> Option<Arc<dyn HostedProgram>> {
        self.hosted.as_ref().and_then(|hosted| hosted.views(limits))
    }

    /// How both engines compare, where they run.
    pub(crate) fn shadow(&self) -> Option<Shadow> {
        self.hosted.as_ref().and_then(Hosted::shadow)
    }

    /// What the pool index asks contracts with.
    pub(crate) fn probe(&self) -> PoolProbe {
        PoolProbe {
            parameters: Parameters::of(self.network),
            builtins: Arc::clone(&self.builtins),
            codes: Arc::clone(&self.codes),
        }
    }

    /// What the gateway answers views with.
    pub(crate) fn parts(&self) -> AlkanesParts {
        AlkanesParts {
            parameters: Parameters::of(self.network),
            builtins: Arc::clone(&self.builtins),
            codes: Arc::clone(&self.codes),
            limits: ViewLimits::default(),
        }
    }
}
