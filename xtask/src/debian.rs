//! Programs of Debian packages that tests start.

use std::path::PathBuf;
use std::process::Command;

use crate::process::{Failure, Outcome, run};

/// Where Debian keeps servers, which the `PATH` of a user need not name.
const SERVERS: &str = "/usr/sbin";

/// Programs, and the packages that bring them.
pub(crate) struct Programs {
    pub(crate) programs: &'static [&'static str],
    pub(crate) packages: &'static [&'static str],
}

/// The message server of the tests of the orderbook, and what makes its certificates.
pub(crate) const NATS: Programs =
    Programs { programs: &["nats-server", "openssl"], packages: &["nats-server", "openssl"] };

/// The balancer of the test of a rolling upgrade.
pub(crate) const NGINX: Programs = Programs { programs: &["nginx"], packages: &["nginx-light"] };

/// The cache of the tests of many gateways.
pub(crate) const REDIS: Programs = Programs { programs: &["redis-server"], packages: &["redis-server"] };

/// The database server of the tests of accounts. Its wrapper stands for the programs, which Debian keeps in a folder for each version.
pub(crate) const POSTGRES: Programs = Programs { programs: &["psql", "pg_createcluster"], packages: &["postgresql"] };

impl Programs {
    /// Whether all are there.
    pub(crate) fn are_found(&self) -> bool {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders: Vec<PathBuf> = std::env::split_paths(&path).chain([SERVERS.into()]).collect();
        self.programs.iter().all(|program| folders.iter().any(|folder| folder.join(program).is_file()))
    }

    /// What to do where one is missing, for the list of what a run left out.
    pub(crate) fn how(&self) -> String {
        format!("`apt-get install {}`", self.packages.join(" "))
    }

    /// Installs what is missing; on a build machine, as root.
    pub(crate) fn install(&self) -> Outcome {
        if self.are_found() {
            return Ok(());
        }
        let mut update = Command::new("apt-get");
        run(update.args(["update", "-q"]).env("DEBIAN_FRONTEND", "noninteractive"))?;
        let mut install = Command::new("apt-get");
        install.args(["install", "-y", "-q", "--no-install-recommends"]).args(self.packages);
        run(install.env("DEBIAN_FRONTEND", "noninteractive"))?;
        if self.are_found() {
            return Ok(());
        }
        let names = self.programs.join(" and ");
        Err(Failure::new(format!("{} was run, yet {names} cannot be found", self.how())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_with_its_packages() {
        let shell = Programs { programs: &["sh"], packages: &["dash"] };
        assert!(shell.are_found());
        shell.install().unwrap();
        let nothing = Programs { programs: &["sh", "no-such-program"], packages: &["one", "two"] };
        assert!(!nothing.are_found());
        assert_eq!(nothing.how(), "`apt-get install one two`");
    }
}
