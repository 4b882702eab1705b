//! `[memory]`: one figure for the memory of the program, from which the parts of it follow that have a setting.

use std::fs;
use std::path::Path;

use figment::Figment;
use figment::providers::Serialized;
use paraffin_gateway::Metrics;
use serde::{Deserialize, Serialize};

use crate::config::Config;

/// The sum, in MiB, for which every part has the default that its own section documents. It suits a host with 4 GiB.
const DEFAULT_MIB: u64 = 3_968;
/// Below it a caller's share of the gateway's part does not hold the largest answer.
const TOTAL_MIB_MIN: u64 = 1_536;
const TOTAL_MIB_MAX: u64 = 1 << 20;
/// What of the sum the parts may take, percent. The rest is for what has no setting: connections, blocks being indexed, the
/// program itself.
const PARTS_PERCENT_MAX: u64 = 90;
/// Of the gateway's part one caller has a quarter, which holds the largest answer.
const HELD_MIB_MIN: u64 = 256;
/// Memory of one call of contracts that is tried for a client: five contracts that call each other and some more, and as many as
/// the rules allow.
const SIMULATION_MIB_MIN: u64 = 272;
const SIMULATION_MIB_MAX: u64 = 1_088;
/// Memory of a view that runs contracts.
const VIEW_MIB: u64 = 144;
/// Memory of a view of a hosted program.
const HOSTED_VIEW_MIB: u64 = 256;
/// Memory of accounts that are searched for.
const SCANS_MIB: u64 = 32;
/// Messages of webhooks on their way and memory of their reads, beyond which more is of no use.
const WEBHOOK_ATTEMPTS_MAX: u64 = 1_000;
const WEBHOOK_READS_MIB_MAX: u64 = 1_024;
/// The store does not run with less.
const INDEX_MIB_MIN: u64 = 256;
/// Share of the index where no setting gives it: a 256 MiB step for each 2 GiB of the machine, an eighth of it, so that larger machines
/// import with fewer merges, and what suits a host with 4 GiB at least.
const INDEX_STEP_MIB: u64 = 256;
const HOST_STEP_MIB: u64 = 2_048;
const INDEX_DEFAULT_MIB: std::ops::RangeInclusive<u64> = 1_024..=8_192;

/// `[memory]`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct MemorySection {
    /// Memory of the program, in MiB, from 1,536 to 1,048,576. Parts that have a setting of their own in the file keep it, the
    /// others grow and shrink with this. Absent: the defaults, which suit 3,968, but for the index, which has an eighth of the machine.
    pub total_mib: Option<u64>,
}

impl MemorySection {
    /// Gives every part that has no setting of its own its share of `[memory] total_mib`; without that, the index its share of
    /// the machine, which has `host_mib` MiB.
    ///
    /// # Errors
    /// The sum is out of its range, or no number.
    pub(crate) fn share_out(figment: Figment, host_mib: u64) -> Result<Figment, Problem> {
        if !figment.contains("memory.total_mib") {
            return Ok(figment.join(Serialized::default("index.memory_mib", index_default_mib(host_mib))));
        }
        let total = figment.extract_inner::<u64>("memory.total_mib").map_err(|error| Problem::Type(Box::new(error)))?;
        if !(TOTAL_MIB_MIN..=TOTAL_MIB_MAX).contains(&total) {
            let range = format!("[memory] total_mib must be from {TOTAL_MIB_MIN} to {TOTAL_MIB_MAX}");
            return Err(Problem::Value(range));
        }
        let share = |default: u64| default * total / DEFAULT_MIB;
        let contracts = share(576).max(SIMULATION_MIB_MIN);
        let simulation = (contracts / 2).clamp(SIMULATION_MIB_MIN, SIMULATION_MIB_MAX);
        let mut shares = vec![
            ("gateway.limits.held_bytes_max", share(320).max(HELD_MIB_MIN) << 20),
            ("gateway.limits.contracts_bytes_max", contracts << 20),
            ("gateway.limits.simulation_bytes_max", simulation << 20),
            ("gateway.limits.simulations_max", contracts / simulation),
            ("gateway.limits.views_max", (share(576) / VIEW_MIB).max(1)),
            ("gateway.limits.hosted_views_max", (share(512) / HOSTED_VIEW_MIB).max(1)),
            ("mempool.size_mb", share(300)),
            ("mempool.replay_mb", share(256)),
            ("lua.scripts_max", share(4).max(1)),
            ("webhooks.attempts_max", share(64).min(WEBHOOK_ATTEMPTS_MAX)),
            ("webhooks.read_bytes_max", share(192).min(WEBHOOK_READS_MIB_MAX) << 20),
            ("electrum.sessions_max", share(10_000)),
            ("electrum.subscriptions_max", share(1_000_000)),
        ];
        // `join` keeps what is there.
        let join = |figment: Figment, shares: &[(&str, u64)]| {
            shares.iter().fold(figment, |figment, (name, part)| figment.join(Serialized::default(name, *part)))
        };
        let with_others = join(figment.clone(), &shares);
        // The index has what the others leave, at most its share: below the default they cannot all shrink alike.
        let others: u64 = match with_others.extract::<Config>() {
            Ok(config) => {
                let others = parts(&config).into_iter().filter(|part| part.name != "index");
                others.map(|part| part.bytes).sum::<u64>().div_ceil(1 << 20)
            }
            // It is reported when the configuration is read.
            Err(_) => 0,
        };
        let left = (total * PARTS_PERCENT_MAX / 100).saturating_sub(others);
        shares.push(("index.memory_mib", share(1_024).min(left).max(INDEX_MIB_MIN)));
        Ok(join(figment, &shares))
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
            "[memory] total_mib = {total} gives {sum_max} MiB to its parts, and they take {sum}: {}; lower one or raise the sum",
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

/// What the index takes on a machine with so many MiB where no setting gives it, MiB.
fn index_default_mib(host_mib: u64) -> u64 {
    (host_mib.div_ceil(HOST_STEP_MIB) * INDEX_STEP_MIB).clamp(*INDEX_DEFAULT_MIB.start(), *INDEX_DEFAULT_MIB.end())
}

/// Memory of this machine in MiB, or of the least control group that this process is in; 0 where the system does not report it.
pub(crate) fn host_mib() -> u64 {
    host_mib_under(Path::new("/"))
}

/// The same of a system whose files are below `root`.
fn host_mib_under(root: &Path) -> u64 {
    let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
    let total = read(&root.join("proc/meminfo"));
    let total = total.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?.parse().ok());
    let total: u64 = total.unwrap_or(0) << 10;
    let groups = read(&root.join("proc/self/cgroup"));
    let limits = groups.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        let (top, file) = match controllers {
            "" => ("sys/fs/cgroup", "memory.max"),
            "memory" => ("sys/fs/cgroup/memory", "memory.limit_in_bytes"),
            _ => return None,
        };
        // Groups within groups; in a container the path may be one of the host, and only the root is there.
        let folders = Path::new(path)
            .ancestors()
            .map(|part| root.join(top).join(part.strip_prefix("/").unwrap_or(part)).join(file));
        folders.filter_map(|file| read(&file).trim().parse::<u64>().ok()).min()
    });
    limits.min().map_or(total, |limit| limit.min(total)) >> 20
}

/// The memory cannot be divided among the parts.
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
        if config.electrum.is_used() {
            add("electrum", "[electrum] sessions_max and subscriptions_max", config.electrum.memory_bytes());
        }
        if config.webhooks.enabled {
            let setting = "[webhooks] attempts_max times twice message_bytes_max, read_bytes_max and 16 MiB";
            add("webhooks", setting, config.webhooks.memory_bytes());
        }
        if config.lua.enabled {
            let scripts = wide(config.lua.scripts_max) * wide(config.lua.memory_bytes_max);
            add("scripts", "[lua] scripts_max times memory_bytes_max", scripts);
        }
    }
    let limits = &config.gateway.limits;
    add("gateway", "[gateway.limits] held_bytes_max", wide(limits.held_bytes_max));
    if !config.upstream.is_used() {
        add("scans", "no setting", SCANS_MIB << 20);
        if config.indexes_alkanes() {
            let contracts = wide(limits.contracts_bytes_max).max(wide(limits.simulation_bytes_max));
            add("contracts", "[gateway.limits] contracts_bytes_max", contracts);
            let views = wide(limits.views_max) * (VIEW_MIB << 20);
            add("views", "[gateway.limits] views_max times 144 MiB", views);
        }
        if config.serves_program() {
            let views = wide(limits.hosted_views_max) * (HOSTED_VIEW_MIB << 20);
            add("hosted_views", "[gateway.limits] hosted_views_max times 256 MiB", views);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use figment::providers::{Format, Toml};

    use super::*;

    fn load(text: &str) -> Result<Config, String> {
        load_on(4_096, text)
    }

    fn load_on(host_mib: u64, text: &str) -> Result<Config, String> {
        // Where contracts are indexed without an operator's file.
        let text = format!("network = \"regtest\"\n[node]\nurl = \"http://127.0.0.1:8332\"\n{text}");
        let figment =
            MemorySection::share_out(Figment::from(Toml::string(&text)), host_mib).map_err(
                |problem| match problem {
                    Problem::Type(error) => error.to_string(),
                    Problem::Value(text) => text,
                },
            )?;
        let config: Config = figment.extract().map_err(|error| error.to_string())?;
        MemorySection::check(&config).map(|()| config)
    }

    fn figures(config: &Config) -> [u64; 12] {
        let wide = |number: usize| number as u64;
        let limits = &config.gateway.limits;
        [
            config.index.memory_mib,
            wide(limits.held_bytes_max) >> 20,
            wide(limits.contracts_bytes_max) >> 20,
            wide(limits.simulation_bytes_max) >> 20,
            wide(limits.simulations_max),
            wide(limits.views_max),
            wide(limits.hosted_views_max),
            wide(config.mempool.size_mb),
            wide(config.mempool.replay_mb),
            wide(config.lua.scripts_max),
            wide(config.webhooks.attempts_max),
            wide(config.webhooks.read_bytes_max) >> 20,
        ]
    }

    #[test]
    fn the_sum_that_the_defaults_suit_gives_the_defaults() {
        let mut defaults = figures(&load("").unwrap());
        // Without a sum a hosted program has as many views as it can take.
        assert_eq!(std::mem::replace(&mut defaults[6], 2), 16);
        assert_eq!(defaults, [1_024, 320, 576, 288, 2, 4, 2, 300, 256, 4, 64, 192]);
        assert_eq!(figures(&load(&format!("[memory]\ntotal_mib = {DEFAULT_MIB}")).unwrap()), defaults);
        let twice = figures(&load("[memory]\ntotal_mib = 7936").unwrap());
        assert_eq!(twice, [2_048, 640, 1_152, 576, 2, 8, 4, 600, 512, 8, 128, 384]);
        let half = figures(&load("[memory]\ntotal_mib = 1984").unwrap());
        assert_eq!(half, [393, 256, 288, 272, 1, 2, 1, 150, 128, 2, 32, 96]);
        let least = figures(&load("[memory]\ntotal_mib = 1536").unwrap());
        assert_eq!(least, [302, 256, 272, 272, 1, 1, 1, 116, 99, 1, 24, 74]);
    }

    #[test]
    fn without_a_setting_the_index_has_an_eighth_of_a_larger_machine() {
        let index = |host_mib, text| load_on(host_mib, text).unwrap().index.memory_mib;
        // A machine reports somewhat less than it is sold with.
        let hosts = [
            (0, 1_024),
            (3_900, 1_024),
            (7_900, 1_024),
            (15_900, 2_048),
            (24_105, 3_072),
            (64_000, 8_192),
            (1 << 20, 8_192),
        ];
        for (host_mib, memory_mib) in hosts {
            assert_eq!(index(host_mib, ""), memory_mib, "{host_mib}");
            assert_eq!(index(host_mib, "[index]\nmemory_mib = 700"), 700);
            assert_eq!(index(host_mib, "[memory]\ntotal_mib = 3968"), 1_024);
        }
        let mut larger = figures(&load_on(64_000, "").unwrap());
        larger[0] = 1_024;
        assert_eq!(larger, figures(&load("").unwrap()), "the other parts are as they are");
        assert!(host_mib() > 0);
    }

    #[test]
    fn the_machine_is_the_least_control_group_of_the_process_in_either_version_and_in_a_container() {
        const GIB: u64 = 1 << 30;
        let host_mib = |groups: &str, limits: &[(&str, &str)]| {
            let root = tempfile::tempdir().unwrap();
            let files =
                [("proc/meminfo", "MemFree: 9 kB\nMemTotal:       16777216 kB\n"), ("proc/self/cgroup", groups)];
            for (path, text) in files.iter().chain(limits) {
                let path = root.path().join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            host_mib_under(root.path())
        };
        let (two, three, most) = ((2 * GIB).to_string(), (3 * GIB).to_string(), (i64::MAX - 4_095).to_string());
        assert_eq!(host_mib("", &[]), 16 << 10);
        let service = "0::/system.slice/paraffin.service\n";
        let file = "sys/fs/cgroup/system.slice/paraffin.service/memory.max";
        assert_eq!(host_mib(service, &[(file, "max\n")]), 16 << 10);
        assert_eq!(host_mib(service, &[(file, &format!("{three}\n"))]), 3 << 10);
        assert_eq!(host_mib(service, &[(file, &three), ("sys/fs/cgroup/system.slice/memory.max", &two)]), 2 << 10);
        // The path is the host's, and the container sees its own group as the top.
        assert_eq!(host_mib("0::/docker/1234\n", &[("sys/fs/cgroup/memory.max", &two)]), 2 << 10);
        let older = "9:memory:/a\n8:pids:/a\n0::/\n";
        let file = "sys/fs/cgroup/memory/a/memory.limit_in_bytes";
        assert_eq!(host_mib(older, &[(file, &most)]), 16 << 10);
        assert_eq!(host_mib(older, &[(file, &three), ("sys/fs/cgroup/pids/a/memory.max", &two)]), 3 << 10);
    }

    /// From the least to the largest sum, with everything that takes memory switched on.
    #[test]
    fn whatever_the_sum_the_parts_that_follow_from_it_fit() {
        for total in (1_536..40_000).step_by(97).chain([1 << 20]) {
            let config =
                load(&format!("[memory]\ntotal_mib = {total}")).unwrap_or_else(|error| panic!("{total}: {error}"));
            let limits = &config.gateway.limits;
            assert!(parts(&config).iter().any(|part| part.name == "webhooks"), "{total}");
            assert!(limits.simulations_max * limits.simulation_bytes_max <= limits.contracts_bytes_max, "{total}");
        }
    }

    #[test]
    fn a_part_with_a_setting_of_its_own_keeps_it_and_must_fit() {
        let text =
            "[memory]\ntotal_mib = 8192\n[index]\nmemory_mib = 300\n[gateway.limits]\nheld_bytes_max = 400000000";
        assert_eq!(figures(&load(text).unwrap())[..2], [300, 381]);
        let error = load("[memory]\ntotal_mib = 4096\n[index]\nmemory_mib = 4000").unwrap_err();
        assert!(error.contains("index 4000 ([index] memory_mib)") && error.contains("gateway 330"), "{error}");
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
