//! Settings of verification.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use paraffin_confine::{Isolation, ProcessLimits};
use serde::{Deserialize, Serialize};

use crate::archive::ArchiveLimits;
use crate::verdict::Verdict;

const MIB: u64 = 1 << 20;
/// The first user of builds: systemd gives containers the numbers up to it. Numbers of processes are below 2^22.
const USERS_FROM: u32 = 0x7000_0000;
/// The user id that systems name `nobody`.
const NOBODY: u32 = 65_534;
/// One file of a source tree, MiB: a file is answered in one piece.
const FILE_MIB_MAX: u64 = 32;

/// `[verify]`. Sizes in MiB, times in seconds.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Whether contracts can be verified. Without it the explorer surface is not served.
    pub enabled: bool,
    /// `required`: builds run in namespaces of their own or not at all. `limits`: without namespaces.
    pub isolation: Isolation,
    /// Hosts from which repositories are fetched, over https.
    pub git_hosts: Vec<String>,
    /// Whether `file://` repositories of this machine may be named.
    pub local_repositories: bool,
    /// Builds at the same time.
    pub runs_max: usize,
    /// Runs that wait for their turn; further ones are refused.
    pub queue_max: usize,
    /// Runs of one key that wait or are under way; further ones are refused.
    pub runs_per_key_max: usize,
    /// Runs that are remembered; the oldest that have ended are forgotten first.
    pub runs_kept: usize,
    /// Longest time to fetch a repository.
    pub fetch_seconds: u64,
    /// Longest time for a build, by the clock.
    pub build_seconds: u64,
    /// Longest processor time of one process.
    pub cpu_seconds: u64,
    /// Memory of all processes of a build together, and address space of each.
    pub memory_mib: u64,
    /// Disk that a build, or a fetched repository, may take.
    pub disk_mib: u64,
    /// Files and folders that a build may make.
    pub disk_entries_max: u64,
    /// Processes and threads of a build.
    pub processes_max: u64,
    /// Source tree, all files together.
    pub source_mib: u64,
    /// Files, folders and links of a source tree.
    pub source_entries_max: usize,
    /// All stored source trees together; a tree beyond it is compared and not stored.
    pub sources_mib: u64,
    /// Most of a build's output that is stored, in KiB.
    pub log_kib: usize,
    /// User of builds when this program runs as root; absent for one that each build has for itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_id: Option<u32>,
    /// The same of their group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_id: Option<u32>,
    /// Compilers by name; the first by name is used when none is requested. Without any, that of rustup or of the system.
    pub toolchains: BTreeMap<String, ToolchainSettings>,
}

/// `[verify.toolchains.<name>]`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolchainSettings {
    /// The compiler itself, not rustup's proxy.
    pub rustc: PathBuf,
    /// Cargo itself; that beside `rustc` when absent.
    #[serde(default)]
    pub cargo: Option<PathBuf>,
    /// Linker for wasm; the compiler's own when absent.
    #[serde(default)]
    pub linker: Option<PathBuf>,
    /// Further folders that builds may read, beside the system's and the compiler's.
    #[serde(default)]
    pub folders: Vec<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            enabled: true,
            isolation: Isolation::Required,
            git_hosts: ["github.com", "gitlab.com", "codeberg.org"].map(str::to_owned).to_vec(),
            local_repositories: false,
            runs_max: 1,
            queue_max: 16,
            runs_per_key_max: 2,
            runs_kept: 10_000,
            fetch_seconds: 120,
            build_seconds: 900,
            cpu_seconds: 1_200,
            memory_mib: 4_096,
            disk_mib: 4_096,
            disk_entries_max: 200_000,
            processes_max: 256,
            source_mib: 256,
            source_entries_max: 20_000,
            sources_mib: 8_192,
            log_kib: 64,
            user_id: None,
            group_id: None,
            toolchains: BTreeMap::new(),
        }
    }
}

impl Settings {
    /// Limits of a source tree.
    pub(crate) fn archive_limits(&self) -> ArchiveLimits {
        ArchiveLimits {
            bytes_max: self.source_mib * MIB,
            file_bytes_max: self.source_mib.min(FILE_MIB_MAX) * MIB,
            entries_max: self.source_entries_max,
        }
    }

    /// Bytes that a source of this verdict may take of `bytes_left`. Half of the store is reserved for sources which count as
    /// those of their contracts: submissions of other sources cannot fill it.
    pub(crate) const fn storable_bytes(&self, verdict: Verdict, bytes_left: u64) -> u64 {
        if verdict.promotes() { bytes_left } else { bytes_left.saturating_sub(self.sources_reserved()) }
    }

    /// The reserved half of the store in bytes.
    pub(crate) const fn sources_reserved(&self) -> u64 {
        self.sources_mib * MIB / 2
    }

    pub(crate) const fn process_limits(&self) -> ProcessLimits {
        ProcessLimits {
            cpu_seconds: self.cpu_seconds,
            memory_bytes: self.memory_mib * MIB,
            file_bytes: self.disk_mib * MIB,
            processes: self.processes_max,
            open_files: 4_096,
        }
    }

    pub(crate) const fn disk_bytes(&self) -> u64 {
        self.disk_mib * MIB
    }

    pub(crate) const fn memory_bytes(&self) -> u64 {
        self.memory_mib * MIB
    }

    pub(crate) const fn fetch_timeout(&self) -> Duration {
        Duration::from_secs(self.fetch_seconds)
    }

    pub(crate) const fn build_timeout(&self) -> Duration {
        Duration::from_secs(self.build_seconds)
    }

    /// Time after which the server kills a worker that should have ended by itself.
    pub(crate) const fn worker_timeout(&self) -> Duration {
        Duration::from_secs(self.fetch_seconds + self.build_seconds + 120)
    }

    /// User and group of builds, where this process is root's.
    pub(crate) fn build_user(&self) -> Option<(u32, u32)> {
        let own = || own_user(&std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default(), std::process::id());
        paraffin_confine::is_root().then(|| (self.user_id.unwrap_or_else(own), self.group_id.unwrap_or_else(own)))
    }
}

/// A user that no other program of the machine has: one for each worker, beyond what systems and containers give out. Where this
/// process is root of a namespace without such users, the user `nobody`.
fn own_user(users: &str, worker: u32) -> u32 {
    let user = USERS_FROM.saturating_add(worker);
    let is_known = |line: &str| {
        let mut numbers = line.split_ascii_whitespace().map(|number| number.parse::<u32>().unwrap_or(0));
        let (first, _, count) = (numbers.next()?, numbers.next()?, numbers.next()?);
        user.checked_sub(first).filter(|offset| *offset < count)
    };
    if users.lines().any(|line| is_known(line).is_some()) { user } else { NOBODY }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_store_is_for_sources_that_count() {
        let settings = Settings { sources_mib: 2, ..Settings::default() };
        let storable = |verdict, mib: u64| settings.storable_bytes(verdict, mib * MIB) / MIB;
        for verdict in [Verdict::Reproducible, Verdict::Verified] {
            assert_eq!((storable(verdict, 2), storable(verdict, 1)), (2, 1), "{verdict:?}");
        }
        for verdict in [Verdict::Partial, Verdict::Mismatch] {
            assert_eq!((storable(verdict, 2), storable(verdict, 1), storable(verdict, 0)), (1, 0, 0), "{verdict:?}");
        }
    }

    #[test]
    fn each_worker_has_a_user_of_its_own_where_there_are_so_many() {
        let whole = "         0          0 4294967295\n";
        assert_eq!((own_user(whole, 1), own_user(whole, 4_194_303)), (1_879_048_193, 1_883_242_495));
        for few in ["0 1000 1\n1 100000 65536\n", "", "x"] {
            assert_eq!(own_user(few, 1), NOBODY, "{few}");
        }
    }

    #[test]
    fn one_file_is_never_larger_than_what_is_answered_in_one_piece() {
        let file = |source_mib| Settings { source_mib, ..Settings::default() }.archive_limits().file_bytes_max / MIB;
        assert_eq!((file(8), file(32), file(256)), (8, 32, 32));
    }
}
