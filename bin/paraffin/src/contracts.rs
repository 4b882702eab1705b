//! Whether this instance indexes alkanes, and with which built-in contracts.

use std::path::PathBuf;
use std::sync::Arc;

use paraffin_alkanes::views::ViewLimits;
use paraffin_alkanes::{AlkanesModule, Builtins, BuiltinsError, CodeCache, NativeEngine, Parameters};
use paraffin_cryptoswap::PoolProbe;
use paraffin_gateway::AlkanesParts;
use paraffin_primitives::Network;
use serde::{Deserialize, Serialize};

use crate::config::Config;

/// `[alkanes]`: the contract index.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct AlkanesSection {
    /// Whether contracts are indexed. Absent: where their built-in code is known, that is on regtest, and elsewhere when
    /// `wasm_path` or `builtins_folder` is given.
    pub enabled: Option<bool>,
    /// The network operator's indexer program, out of which the built-in contracts are taken.
    pub wasm_path: Option<PathBuf>,
    /// A folder with the built-in contracts as files of any name, instead of `wasm_path`.
    pub builtins_folder: Option<PathBuf>,
}

impl Config {
    /// Whether contracts are indexed.
    pub(crate) fn indexes_alkanes(&self) -> bool {
        let section = &self.alkanes;
        let is_given = section.wasm_path.is_some() || section.builtins_folder.is_some();
        section.enabled.unwrap_or(is_given || self.network == Network::Regtest)
    }
}

/// What engine and views share.
#[derive(Clone)]
pub(crate) struct Contracts {
    network: Network,
    builtins: Arc<Builtins>,
    codes: Arc<CodeCache>,
}

impl Contracts {
    /// Reads the built-in contracts; `None` when contracts are not indexed.
    ///
    /// # Errors
    /// They cannot be read, or some that the network needs are missing.
    pub(crate) fn of(config: &Config) -> Result<Option<Self>, BuiltinsError> {
        if !config.indexes_alkanes() {
            if config.alkanes.enabled.is_none() {
                tracing::info!(
                    "alkanes are not indexed: [alkanes] wasm_path names the indexer program that holds their built-in contracts"
                );
            }
            return Ok(None);
        }
        let parameters = Parameters::of(config.network);
        let builtins = match (&config.alkanes.wasm_path, &config.alkanes.builtins_folder) {
            (Some(path), _) => {
                let unreadable = |source| BuiltinsError::Unreadable { path: path.display().to_string(), source };
                Builtins::from_operator_wasm(&parameters, &std::fs::read(path).map_err(unreadable)?)?
            }
            (None, Some(folder)) => Builtins::from_folder(&parameters, folder)?,
            (None, None) if config.network == Network::Regtest => paraffin_devnet::market::builtins(),
            (None, None) => Builtins::default(),
        };
        builtins.require()?;
        Ok(Some(Self { network: config.network, builtins: Arc::new(builtins), codes: Arc::default() }))
    }

    /// The indexer module.
    pub(crate) fn module(&self) -> AlkanesModule {
        let engine = NativeEngine::new(self.network, Arc::clone(&self.builtins), Arc::clone(&self.codes));
        AlkanesModule::new(Box::new(engine), self.network)
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
