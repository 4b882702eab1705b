//! Which package of a workspace is built.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::job::{Failure, FailureCode};

/// Longest name of a package or library in bytes.
const NAME_BYTES_MAX: usize = 64;

/// Whether a text is the name of a package or library: nothing that could be an option or a path.
pub(crate) fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    name.len() <= NAME_BYTES_MAX
        && name.bytes().all(plain)
        && name.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '_')
}

/// What `cargo metadata` prints, as far as it is needed.
#[derive(Debug, Deserialize)]
pub(crate) struct Metadata {
    packages: Vec<Package>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    manifest_path: PathBuf,
    targets: Vec<Target>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Target {
    pub(crate) name: String,
    kind: Vec<String>,
    crate_types: Vec<String>,
    pub(crate) src_path: PathBuf,
}

impl Target {
    pub(crate) fn is_module(&self) -> bool {
        self.crate_types.iter().any(|kind| kind == "cdylib")
    }

    fn is_library(&self) -> bool {
        const LIBRARIES: [&str; 3] = ["lib", "rlib", "cdylib"];
        self.kind.iter().any(|kind| LIBRARIES.contains(&kind.as_str()))
    }
}

impl Metadata {
    /// The package of that name; without one, that of the folder, or the only one that makes modules, or the only one.
    pub(crate) fn choose(&self, name: Option<&str>, folder: &Path) -> Result<(&Package, &Target), Failure> {
        let libraries: Vec<(&Package, &Target)> = self
            .packages
            .iter()
            .filter_map(|package| Some((package, package.targets.iter().find(|target| target.is_library())?)))
            // The source names them, and such a name determines the path of the module.
            .filter(|(package, library)| is_name(&package.name) && is_name(&library.name))
            .collect();
        let only = |mut candidates: Vec<(&'_ Package, &'_ Target)>| {
            if candidates.len() == 1 {
                candidates.pop().map(|(package, target)| (package.name.clone(), target.name.clone()))
            } else {
                None
            }
        };
        let chosen = match name {
            Some(name) => libraries.iter().find(|(package, _)| package.name == name).copied(),
            None => {
                let modules = libraries.iter().copied().filter(|(_, target)| target.is_module()).collect();
                let alone = only(modules).or_else(|| only(libraries.clone()));
                let here = folder.join("Cargo.toml");
                libraries
                    .iter()
                    .find(|(package, _)| package.manifest_path == here)
                    .or_else(|| {
                        libraries
                            .iter()
                            .find(|(package, _)| alone.as_ref().is_some_and(|(name, _)| package.name == *name))
                    })
                    .copied()
            }
        };
        chosen.ok_or_else(|| {
            const NAMES_MAX: usize = 50;
            let names: Vec<&str> = libraries.iter().take(NAMES_MAX).map(|(package, _)| package.name.as_str()).collect();
            Failure {
                code: FailureCode::PackageNotFound,
                reason: format!("name one of the libraries of the workspace in `package`: {}", names.join(", ")),
                log: String::new(),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(packages: &[(&str, &str, &[&str])]) -> Metadata {
        let packages = packages.iter().map(|(name, folder, kinds)| Package {
            name: (*name).to_owned(),
            manifest_path: Path::new("/build/source").join(folder).join("Cargo.toml"),
            targets: vec![Target {
                name: name.replace('-', "_"),
                kind: kinds.iter().map(|kind| (*kind).to_owned()).collect(),
                crate_types: kinds.iter().map(|kind| (*kind).to_owned()).collect(),
                src_path: PathBuf::from("src/lib.rs"),
            }],
        });
        Metadata { packages: packages.collect() }
    }

    #[test]
    fn a_package_is_chosen_by_name_folder_or_because_it_is_alone() {
        let name = |metadata: &Metadata, requested, folder: &str| {
            metadata
                .choose(requested, &Path::new("/build/source").join(folder))
                .map(|(package, _)| package.name.clone())
                .map_err(|failure| failure.reason)
        };
        let several =
            metadata(&[("sdk", "sdk", &["lib"]), ("coin", "coin", &["cdylib", "rlib"]), ("tool", "tool", &["bin"])]);
        assert_eq!(name(&several, Some("sdk"), ""), Ok("sdk".to_owned()));
        assert_eq!(name(&several, None, ""), Ok("coin".to_owned()));
        assert_eq!(name(&several, None, "sdk"), Ok("sdk".to_owned()));
        assert!(name(&several, Some("tool"), "").unwrap_err().ends_with("sdk, coin"));
        let two = metadata(&[("a", "a", &["cdylib"]), ("b", "b", &["cdylib"])]);
        assert!(name(&two, None, "").is_err());
        assert_eq!(name(&metadata(&[("a", "a", &["lib"])]), None, ""), Ok("a".to_owned()));
        assert!(name(&metadata(&[]), None, "").is_err());
    }

    #[test]
    fn names_of_the_source_that_are_paths_options_or_endless_are_not_taken() {
        for bad in
            ["", "../../x", "/etc/x", "-Zx", "--config=x", "a b", "a\nb", "größe", &"x".repeat(NAME_BYTES_MAX + 1)]
        {
            let hostile = metadata(&[(bad, "x", &["cdylib"]), ("good", "good", &["rlib"])]);
            let chosen = hostile.choose(None, Path::new("/build/source")).map(|(package, _)| package.name.clone());
            assert_eq!(chosen.unwrap(), "good", "{bad:?}");
            let reason = hostile.choose(Some("other"), Path::new("/build/source")).unwrap_err().reason;
            assert!(reason.ends_with(": good"), "{reason}");
        }
        // A library may have another name than its package.
        let mut led_out = metadata(&[("coin", "coin", &["cdylib"])]);
        led_out.packages[0].targets[0].name = "/etc/secret".to_owned();
        assert!(led_out.choose(Some("coin"), Path::new("/build/source")).is_err());
        assert!(is_name("_coin") && is_name("my-coin_2"));
    }
}
