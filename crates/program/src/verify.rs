//! Verification of contracts against their source.

use std::path::Path;
use std::sync::Arc;

use figment::Figment;
use figment::providers::{Format as _, Toml};
use paraffin_verify::{OpenError, Settings, Verifier, VerifierOptions};
use serde::{Deserialize, Serialize};

use crate::config::{Config, ConfigError};
use crate::keys::now;

/// Folder of records, sources and runs in a data folder.
pub(crate) const FOLDER: &str = "verify";

/// `[verify]`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct VerifySection(pub Settings);

impl VerifySection {
    /// The section of a file for `dev`, which has no configuration of its own; the defaults without one.
    ///
    /// # Errors
    /// The file does not exist, or the section cannot be read.
    pub(crate) fn of_dev(file: Option<&Path>) -> Result<Self, ConfigError> {
        let Some(file) = file else { return Ok(Self::default()) };
        if !file.exists() {
            return Err(ConfigError::Missing(file.to_owned()));
        }
        let read = Figment::from(Toml::file(file)).extract_inner("verify");
        read.map_err(|error| ConfigError::Invalid(Box::new(error)))
    }
}

/// Opens the verifier of an instance; `None` where it is switched off or contracts are not indexed.
///
/// # Errors
/// The records cannot be opened.
pub(crate) async fn open(config: &Config, indexes_contracts: bool) -> Result<Option<Arc<Verifier>>, OpenError> {
    let settings = config.verify.0.clone();
    if !settings.enabled || !indexes_contracts {
        return Ok(None);
    }
    let folder = config.data_dir().join(FOLDER);
    let program = std::env::current_exe().map_err(|source| OpenError::Folder { folder: folder.clone(), source })?;
    let server = crate::accounts::server(&config.access);
    Verifier::open(VerifierOptions { folder, server, settings, program, clock: now }).await.map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_toolchain_is_added_by_name_and_unknown_settings_are_refused() {
        let read = |text: &str| Figment::from(Toml::string(text)).extract::<VerifySection>().map_err(Box::new);
        let section = read("runs_max = 2\n[toolchains.older]\nrustc = \"/opt/rust/bin/rustc\"").unwrap().0;
        assert_eq!(section.runs_max, 2);
        assert_eq!(section.toolchains["older"].rustc, Path::new("/opt/rust/bin/rustc"));
        assert_eq!(section.queue_max, Settings::default().queue_max);
        for bad in ["runs = 2", "isolation = \"none\"", "[toolchains.older]\ncargo = \"x\""] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
