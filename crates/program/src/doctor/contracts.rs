//! Whether alkanes are indexed, and with which built-in contracts and program.

use super::{Report, Verdict};
use crate::config::Config;
use crate::contracts::{Contracts, NOT_INDEXED};
use crate::hosted::EngineSetting;

/// Checks the section `[alkanes]`: the file is read, searched and, where it is run, compiled.
pub(super) fn check(report: &mut Report, config: &Config) {
    let section = &config.alkanes;
    let (verdict, text) = match Contracts::of(config) {
        Ok(None) if section.enabled == Some(false) => {
            (Verdict::Good, "alkanes are not indexed, as [alkanes] enabled = false says".to_owned())
        }
        Ok(None) => (Verdict::Warning, NOT_INDEXED.to_owned()),
        Ok(Some(contracts)) => match (contracts.lacks(), contracts.released_builtins()) {
            (Some(lacks), _) => (
                Verdict::Warning,
                format!("the indexer program serves, but calls cannot be simulated by the native machine: {lacks}"),
            ),
            (None, 0) => (Verdict::Good, "the built-in contracts are our own, for development".to_owned()),
            (None, count) => {
                let runs = match (section.engine, section.runs_program()) {
                    (EngineSetting::Hosted, _) => "; the indexer program serves",
                    (EngineSetting::Native, true) => "; the indexer program runs beside the native engine",
                    (EngineSetting::Native, false) => "",
                };
                (Verdict::Good, format!("all {count} built-in contracts of {} are there{runs}", config.network))
            }
        },
        Err(error) => (Verdict::Bad, error.to_string()),
    };
    report.say(verdict, "contracts", text);
}
