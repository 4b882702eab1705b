//! `[memory]`: one figure for the memory of the program, from which the parts of it follow that have a setting.

use figment::Figment;
use figment::providers::Serialized;
use paraffin_gateway::Metrics;
use serde::{Deserialize, Serialize};

use crate::config::Config;

/// The sum, in MiB, for which every part has the default that its own section documents. It suits a host with 4 GiB.
const DEFAULT_MIB: u64 = 3_072;
/// Below it a caller's share of the gateway's part does not hold the largest answer.
const TOTAL_MIB_MIN: u64 = 1_536;
const TOTAL_MIB_MAX: u64 = 1 << 20;
/// What of the sum the parts may take, percent. The rest is for what has no setting: connections, blocks being indexed, the
/// program itself.
const PARTS_PERCENT_MAX: u64 = 80;

/// `[memory]`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct MemorySection {
    /// Memory of the program, in MiB, from 1,536 to 1,048,576. Parts that have a setting of their own in the file keep it, the
    /// others grow and shrink with this. Absent: the defaults, which suit 3,072.
    pub total_mib: Option<u64>,
}

impl MemorySection {
    /// Gives every part that has no setting of its own its share of `[memory] total_mib`.
    ///
    /// # Errors
    /// The sum is out of its range, or no number.
    pub(crate) fn share_out(figment: Figment) -> Result<Figment, Problem> {
        if !figment.contains("memory.total_mib") {
            return Ok(figment);
        }
        let total = figment.extract_inner::<u64>("memory.total_mib").map_err(|error| Problem::Type(Box::new(error)))?;
        if !(TOTAL_MIB_MIN..=TOTAL_MIB_MAX).contains(&total) {
            let range = format!("[memory] total_mib must be from {TOTAL_MIB_MIN} to {TOTAL_MIB_MAX}");
            return Err(Problem::Value(range));
        }
        let share = |default: u64| default * total / DEFAULT_MIB;
        let shares = [
            ("index.memory_mib", share(1_024)),
            ("gateway.limits.held_bytes_max", share(512) << 20),
            ("mempool.size_mb", share(300)),
            ("mempool.replay_mb", share(256)),
            ("lua.scripts_max", share(4).max(1)),
        ];
        // `join` keeps what is there.
        Ok(shares.into_iter().fold(figment, |figment, (name, part)| figment.join(Serialized::default(name, part))))
    }

    /// Compares the parts with the sum.
    ///
    /// # Errors
    /// They take more of it than they may; the sentence has all of them.
    pub(crate) fn check(config: &Config) -> Result<(), String> {
        let Some(total) = config.memory.total_mib else { return Ok(()) };
        let parts = parts(config);
        let mib = |bytes: u64| bytes >> 20;
        let sum: u64 = mib(parts.iter().map(|part| part.bytes).sum());
        let sum_max = total * PARTS_PERCENT_MAX / 100;
        if sum <= sum_max {
            return Ok(());
        }
        let listed: Vec<String> =
            parts.iter().map(|part| format!("{} {} ({})", part.name, mib(part.bytes), part.setting)).collect();
        Err(format!(
            "[memory] total_mib = {total} leaves {sum_max} MiB to its parts, and they take {sum}: {}; lower one or raise the sum",
            listed.join(", ")
        ))
    }

    /// Reports to operators what each part may take.
    #[allow(clippy::cast_precision_loss)] // far below 2^52
    pub(crate) fn measure(config: &Config, metrics: &Metrics) {
        let text = "Memory that a part of the program may take, by its setting";
        for part in parts(config) {
            metrics.meter().gauge("paraffin_memory_limit_bytes", text, &[("part", part.name)], part.bytes as f64);
        }
    }
}

/// Why the memory cannot be shared out.
pub(crate) enum Problem {
    Type(Box<figment::Error>),
    Value(String),
}

/// A part of the memory that has a setting.
struct Part {
    name: &'static str,
    setting: &'static str,
    bytes: u64,
}

fn parts(config: &Config) -> Vec<Part> {
    let wide = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    let mut parts = Vec::new();
    let mut add = |name, setting, bytes| parts.push(Part { name, setting, bytes });
    if !config.upstream.is_used() {
        add("index", "[index] memory_mib", config.index.memory_mib << 20);
        if config.mempool.enabled {
            let (set, replay) = (wide(config.mempool.size_mb) * 1_000_000, wide(config.mempool.replay_mb) << 20);
            add("mempool", "[mempool] size_mb and replay_mb", set + replay);
        }
        if config.lua.enabled {
            let scripts = wide(config.lua.scripts_max) * wide(config.lua.memory_bytes_max);
            add("scripts", "[lua] scripts_max times memory_bytes_max", scripts);
        }
    }
    add("gateway", "[gateway.limits] held_bytes_max", wide(config.gateway.limits.held_bytes_max));
    parts
}

#[cfg(test)]
mod tests {
    use figment::providers::{Format, Toml};

    use super::*;

    fn load(text: &str) -> Result<Config, String> {
        let text = format!("[node]\nurl = \"http://127.0.0.1:8332\"\n{text}");
        let figment =
            MemorySection::share_out(Figment::from(Toml::string(&text))).map_err(|problem| match problem {
                Problem::Type(error) => error.to_string(),
                Problem::Value(text) => text,
            })?;
        let config: Config = figment.extract().map_err(|error| error.to_string())?;
        MemorySection::check(&config).map(|()| config)
    }

    fn figures(config: &Config) -> [u64; 5] {
        let wide = |number: usize| number as u64;
        [
            config.index.memory_mib,
            wide(config.gateway.limits.held_bytes_max) >> 20,
            wide(config.mempool.size_mb),
            wide(config.mempool.replay_mb),
            wide(config.lua.scripts_max),
        ]
    }

    #[test]
    fn the_sum_that_the_defaults_suit_gives_the_defaults() {
        let defaults = figures(&load("").unwrap());
        assert_eq!(figures(&load(&format!("[memory]\ntotal_mib = {DEFAULT_MIB}")).unwrap()), defaults);
        assert_eq!(figures(&load("[memory]\ntotal_mib = 6144").unwrap()), defaults.map(|part| 2 * part));
        assert_eq!(figures(&load("[memory]\ntotal_mib = 1536").unwrap()), defaults.map(|part| part / 2));
    }

    #[test]
    fn a_part_with_a_setting_of_its_own_keeps_it_and_must_fit() {
        let text =
            "[memory]\ntotal_mib = 8192\n[index]\nmemory_mib = 300\n[gateway.limits]\nheld_bytes_max = 400000000";
        assert_eq!(figures(&load(text).unwrap())[..2], [300, 381]);
        let error = load("[memory]\ntotal_mib = 4096\n[index]\nmemory_mib = 4000").unwrap_err();
        assert!(error.contains("index 4000 ([index] memory_mib)") && error.contains("gateway 682"), "{error}");
        // Without a sum there is nothing that they must fit.
        assert!(load("[index]\nmemory_mib = 40000").is_ok());
    }

    #[test]
    fn a_sum_that_makes_no_sense_is_refused_by_name() {
        for text in
            ["total_mib = 1535", "total_mib = 1048577", "total_mib = \"all\"", "total_mib = -1", "totalmib = 4096"]
        {
            let error = load(&format!("[memory]\n{text}")).unwrap_err();
            assert!(error.contains("total_mib") || error.contains("totalmib"), "{text}: {error}");
        }
    }
}
