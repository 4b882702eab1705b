//! Submissions, and the parts of them on which a build may depend.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use paraffin_primitives::AlkaneId;
use serde_json::{Value, json};

use crate::allowed;
use crate::job::{BuildOptions, Source};
use crate::package::is_name;
use crate::paths::{shown, tree_path};
use crate::repository::{Repository, RepositoryError, check_commit};
use crate::settings::Settings;

/// Longest path of a home folder, and all environment variables together, bytes.
const HOME_BYTES_MAX: usize = 128;
const ENVIRONMENT_BYTES_MAX: usize = 8 << 10;
/// Folders that cannot contain a home folder, because the build sees those of the system there, or its own.
const SYSTEM: [&str; 12] = ["usr", "bin", "sbin", "lib", "lib32", "lib64", "etc", "dev", "proc", "sys", "tmp", "build"];

/// A submission as it was sent, checked for types alone.
#[derive(Debug, Clone)]
pub struct Submission {
    /// The contract.
    pub alkane: AlkaneId,
    /// Its module as deployed, unpacked.
    pub deployed: Vec<u8>,
    /// The repository; with an archive only where it comes from.
    pub repo_url: String,
    /// Commit, branch or tag; the default branch when absent.
    pub commit: Option<String>,
    /// Folder inside the source.
    pub subdir: Option<String>,
    /// Package.
    pub package: Option<String>,
    /// Compiler.
    pub rustc: Option<String>,
    /// Home folder of the build.
    pub home_dir: Option<String>,
    /// `KEY=VALUE` lines.
    pub build_env: Vec<String>,
    /// A tar.gz with the source.
    pub archive: Option<Vec<u8>>,
    /// Further fields, which are stored with the run and change nothing of the build.
    pub noted: Value,
}

/// A submission is refused.
#[derive(Debug, thiserror::Error)]
pub enum SubmitError {
    /// A field cannot be used; the sentence names it.
    #[error("{0}")]
    Field(String),
    /// The repository cannot be used.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// There are as many runs as there may be.
    #[error("{0}; try again later")]
    Busy(&'static str),
    /// Nothing can be built on this instance; the reason is in the operator's log.
    #[error("verification is temporarily unavailable")]
    Unavailable,
}

/// The submission as it is stored, without archive and module.
pub(crate) fn described(submission: &Submission, source: &Source, options: &BuildOptions) -> Value {
    let commit = match source {
        Source::Repository(_, commit) => Some(commit.clone()),
        Source::Archive => submission.commit.clone(),
    };
    let repo_url = match source {
        Source::Repository(repository, _) => repository.to_string(),
        Source::Archive => submission.repo_url.clone(),
    };
    json!({
        "repo_url": repo_url,
        "commit": commit,
        "package": options.package,
        "subdir": options.subdir,
        "home_dir": options.home_dir,
        "build_env": options.environment,
        "is_archive": *source == Source::Archive,
        "noted": submission.noted,
    })
}

/// Whether the build would still see its compiler: a home folder around it, or in it, would hide it.
pub(crate) fn leaves_compiler(home: &str, folders: &[PathBuf]) -> bool {
    let home = Path::new(home);
    !folders.iter().any(|folder| folder.starts_with(home) || home.starts_with(folder))
}

/// Checks every field that a build depends on.
pub(crate) fn check(submission: &Submission, settings: &Settings) -> Result<(Source, BuildOptions), SubmitError> {
    let field = |text: String| SubmitError::Field(text);
    let source = if submission.archive.is_some() {
        const PROVENANCE_BYTES_MAX: usize = 512;
        for (name, text) in [("repo_url", Some(&submission.repo_url)), ("commit", submission.commit.as_ref())] {
            if text.is_some_and(|text| text.len() > PROVENANCE_BYTES_MAX || text.contains(char::is_control)) {
                return Err(field(format!("{name} is too long or not plain text")));
            }
        }
        Source::Archive
    } else {
        let repository = Repository::parse(&submission.repo_url, &settings.git_hosts, settings.local_repositories)?;
        let commit = submission.commit.clone().unwrap_or_else(|| "HEAD".to_owned());
        check_commit(&commit)?;
        Source::Repository(repository, commit)
    };
    let subdir = match &submission.subdir {
        None => String::new(),
        Some(subdir) => {
            tree_path(subdir.as_bytes()).map_err(|error| field(format!("subdir: {error}")))?.unwrap_or_default()
        }
    };
    if submission.package.as_deref().is_some_and(|name| !is_name(name)) {
        return Err(field("package must be the name of a package".to_owned()));
    }
    if submission.home_dir.as_deref().is_some_and(|home| !is_home(home)) {
        return Err(field("home_dir must be a plain absolute path outside the system's folders".to_owned()));
    }
    Ok((
        source,
        BuildOptions {
            subdir,
            package: submission.package.clone(),
            home_dir: submission.home_dir.clone(),
            environment: environment(&submission.build_env).map_err(field)?,
        },
    ))
}

fn is_home(home: &str) -> bool {
    let Some(rest) = home.strip_prefix('/') else { return false };
    let parts: Vec<&str> = rest.trim_end_matches('/').split('/').collect();
    let plain = |part: &&str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
    };
    home.len() <= HOME_BYTES_MAX
        && parts.iter().all(plain)
        && parts.first().is_some_and(|first| !SYSTEM.contains(first))
}

fn environment(lines: &[String]) -> Result<BTreeMap<String, String>, String> {
    let mut environment = BTreeMap::new();
    let mut bytes = 0;
    for line in lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once('=').ok_or("build_env must be lines of KEY=VALUE")?;
        allowed::variable(name, value)
            .map_err(|reason| format!("build_env: `{}`: {reason}", shown(name.as_bytes())))?;
        bytes += line.len();
        if bytes > ENVIRONMENT_BYTES_MAX {
            return Err(format!("build_env is longer than {ENVIRONMENT_BYTES_MAX} bytes"));
        }
        environment.insert(name.to_owned(), value.to_owned());
    }
    Ok(environment)
}

#[cfg(test)]
pub(crate) mod tests;
