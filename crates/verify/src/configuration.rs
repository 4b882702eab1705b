//! Cargo's configuration in a source. Cargo never reads these files: the allowed settings are written into another one, and the
//! others are named in the result.

use std::path::{Component, Path, PathBuf};

use toml::{Table, Value};

use crate::allowed;
use crate::paths::shown;
use crate::toolchain::TARGET;

/// Largest file of settings, bytes.
const BYTES_MAX: usize = 64 << 10;
/// Most ignored settings that are named.
const IGNORED_MAX: usize = 20;
/// Tables that concern no build that runs without network and without a terminal; they need not be reported.
const UNUSED: [&str; 12] = [
    "alias",
    "cache",
    "cargo-new",
    "credential-alias",
    "doc",
    "future-incompat-report",
    "http",
    "install",
    "net",
    "registries",
    "registry",
    "term",
];
/// Settings of a profile that are allowed here as in a manifest.
const PROFILE: [&str; 11] = [
    "opt-level",
    "lto",
    "codegen-units",
    "panic",
    "strip",
    "debug",
    "overflow-checks",
    "debug-assertions",
    "incremental",
    "split-debuginfo",
    "inherits",
];

/// The allowed part of one file, and the names of the ignored settings.
#[derive(Debug, Default)]
pub(crate) struct Configuration {
    pub(crate) allowed: Table,
    pub(crate) ignored: Vec<String>,
}

/// Reads the text of a file in `.cargo` below a folder of the source. `folder` and `source` are paths as the build sees them.
///
/// # Errors
/// A message for the submitter.
pub(crate) fn read(text: &str, folder: &Path, source: &Path) -> Result<Configuration, String> {
    if text.len() > BYTES_MAX {
        return Err(format!("cargo's configuration is longer than {BYTES_MAX} bytes"));
    }
    let table: Table = text.parse().map_err(|_| "cargo's configuration cannot be read".to_owned())?;
    let mut configuration = Configuration::default();
    for (name, value) in table {
        let below = configuration
            .of(&name, value, folder, source)
            .map_err(|error| format!("cargo's configuration: {error}"))?;
        if let Some(below) = below {
            configuration.allowed.insert(name, below);
        }
    }
    configuration.ignored.truncate(IGNORED_MAX);
    Ok(configuration)
}

impl Configuration {
    fn of(&mut self, name: &str, value: Value, folder: &Path, source: &Path) -> Result<Option<Value>, String> {
        if UNUSED.contains(&name) {
            return Ok(None);
        }
        let Value::Table(table) = value else {
            self.ignore(&[name]);
            return Ok(None);
        };
        let allowed = match name {
            "build" => self.flags(&[name], table, &["incremental"])?,
            "target" => self.targets(table)?,
            "env" => self.variables(table),
            "profile" => self.profile(&[name], table),
            "source" => with_paths(table, &["directory", "local-registry"], folder, source)?,
            "patch" => patches(table, folder, source)?,
            "unstable" => self.chosen(&[name], table, &["build-std", "build-std-features"]),
            _ => {
                self.ignore(&[name]);
                return Ok(None);
            }
        };
        Ok((!allowed.is_empty()).then_some(Value::Table(allowed)))
    }

    fn ignore(&mut self, names: &[&str]) {
        if self.ignored.len() < IGNORED_MAX {
            self.ignored.push(shown(names.join(".").as_bytes()));
        }
    }

    fn chosen(&mut self, above: &[&str], table: Table, names: &[&str]) -> Table {
        let (chosen, left): (Table, Table) = table.into_iter().partition(|(name, _)| names.contains(&name.as_str()));
        for name in left.keys() {
            self.ignore(&[above, &[name.as_str()]].concat());
        }
        chosen
    }

    /// A table with `rustflags`; the number of jobs and the target are the worker's choice and are ignored without a report.
    fn flags(&mut self, above: &[&str], mut table: Table, names: &[&str]) -> Result<Table, String> {
        for name in ["jobs", "target", "target-dir", "build-dir", "rustdocflags"] {
            table.remove(name);
        }
        let table = self.chosen(above, table, &[&["rustflags"], names].concat());
        match table.get("rustflags") {
            Some(Value::String(words)) => allowed::flags(words.split(' ').filter(|word| !word.is_empty()))?,
            Some(Value::Array(words)) => {
                let texts: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
                allowed::flags(texts.ok_or("rustflags must be text")?.into_iter())?;
            }
            Some(_) => return Err("rustflags must be text".to_owned()),
            None => {}
        }
        Ok(table)
    }

    /// Tables of the one target that is built for, and of conditions; those of other machines do not influence a build.
    fn targets(&mut self, table: Table) -> Result<Table, String> {
        let mut targets = Table::new();
        for (name, value) in table {
            if name != TARGET && !name.starts_with("cfg(") {
                continue;
            }
            let Value::Table(mut table) = value else { continue };
            // Modules are built and not run.
            table.remove("runner");
            let table = self.flags(&["target", &name], table, &[])?;
            if !table.is_empty() {
                targets.insert(name, Value::Table(table));
            }
        }
        Ok(targets)
    }

    fn variables(&mut self, table: Table) -> Table {
        let mut variables = Table::new();
        for (name, value) in table {
            let text = match &value {
                Value::Table(table) => table.get("value").and_then(Value::as_str),
                value => value.as_str(),
            };
            // A flag of the compiler in `[env]` is no flag to cargo, and the tools' own variables are not for sources.
            let is_allowed = text.is_some_and(|text| allowed::variable(&name, text).is_ok())
                && !allowed::is_read_by_tools(&name)
                && !value.get("relative").is_some_and(|relative| relative != &Value::Boolean(false));
            if is_allowed {
                variables.insert(name, value);
            } else {
                self.ignore(&["env", &name]);
            }
        }
        variables
    }

    /// Profiles, and within them the settings of single packages.
    fn profile(&mut self, above: &[&str], table: Table) -> Table {
        let mut profiles = Table::new();
        for (name, value) in table {
            let path = [above, &[name.as_str()]].concat();
            let value = match value {
                Value::Table(table) => Value::Table(self.profile(&path, table)),
                value if PROFILE.contains(&name.as_str()) => value,
                _ => {
                    self.ignore(&path);
                    continue;
                }
            };
            profiles.insert(name, value);
        }
        profiles
    }
}

/// Tables of `[source]`, whose folders must be in the tree.
fn with_paths(table: Table, names: &[&str], folder: &Path, source: &Path) -> Result<Table, String> {
    let mut all = Table::new();
    for (key, value) in table {
        let Value::Table(mut table) = value else { continue };
        for name in names {
            if let Some(path) = table.get(*name) {
                let inside = inside(path, folder, source)?;
                table.insert((*name).to_owned(), inside);
            }
        }
        all.insert(key, Value::Table(table));
    }
    Ok(all)
}

fn patches(table: Table, folder: &Path, source: &Path) -> Result<Table, String> {
    let mut all = Table::new();
    for (registry, value) in table {
        let Value::Table(table) = value else { continue };
        all.insert(registry, Value::Table(with_paths(table, &["path"], folder, source)?));
    }
    Ok(all)
}

/// A folder that settings name, made absolute; one outside of the tree is refused.
fn inside(path: &Value, folder: &Path, source: &Path) -> Result<Value, String> {
    let outside = || "a folder is outside of the source".to_owned();
    let mut whole = PathBuf::new();
    for part in folder.join(path.as_str().ok_or_else(outside)?).components() {
        match part {
            Component::ParentDir => {
                whole.pop();
            }
            Component::CurDir => {}
            part => whole.push(part),
        }
    }
    if whole.starts_with(source) { Ok(Value::String(whole.display().to_string())) } else { Err(outside()) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::Strategy as _;

    use super::*;

    fn read_in_tree(text: &str) -> Result<Configuration, String> {
        read(text, Path::new("/build/source/work"), Path::new("/build/source"))
    }

    #[test]
    fn what_names_a_program_is_left_out_and_named() {
        let text = r#"
            include = "more.toml"
            paths = ["other"]
            [build]
            rustc = "a"
            rustc-wrapper = "a"
            rustc-workspace-wrapper = "a"
            target = "evil.json"
            rustflags = ["-Copt-level=s"]
            [target.wasm32-unknown-unknown]
            linker = "a"
            ar = "a"
            runner = "a"
            rustflags = "-C link-arg=--stack-first"
            [target.x86_64-unknown-linux-gnu]
            linker = "clang"
            rustflags = ["-Clink-arg=-fuse-ld=mold"]
            [host]
            linker = "a"
            [env]
            LD_PRELOAD = "a"
            RUSTC_WRAPPER = { value = "a", force = true }
            PATH = "a"
            CONTRACT_NETWORK = "main"
            [alias]
            build = "run"
            [profile.release]
            opt-level = "s"
            rustflags = ["-Clinker=a"]
            [profile.release.package.x]
            opt-level = 3
            [unstable]
            build-std = ["core"]
            host-config = true
        "#;
        let read = read_in_tree(text).unwrap();
        let expected = r#"
            build.rustflags = ["-Copt-level=s"]
            target.wasm32-unknown-unknown.rustflags = "-C link-arg=--stack-first"
            env.CONTRACT_NETWORK = "main"
            profile.release.opt-level = "s"
            profile.release.package.x.opt-level = 3
            unstable.build-std = ["core"]
        "#;
        assert_eq!(read.allowed, expected.parse::<Table>().unwrap());
        let mut ignored = read.ignored;
        ignored.sort();
        let mut named = [
            "include",
            "paths",
            "build.rustc",
            "build.rustc-wrapper",
            "build.rustc-workspace-wrapper",
            "target.wasm32-unknown-unknown.linker",
            "target.wasm32-unknown-unknown.ar",
            "host",
            "env.LD_PRELOAD",
            "env.RUSTC_WRAPPER",
            "env.PATH",
            "profile.release.rustflags",
            "unstable.host-config",
        ];
        named.sort_unstable();
        assert_eq!(ignored, named);
    }

    proptest::proptest! {
        /// Random texts of words and signs of configuration.
        #[test]
        fn no_text_panics(words in proptest::collection::vec(proptest::prelude::prop_oneof![
            proptest::sample::select(vec!["[", "]", "=", ".", "{", "}", "\"", "'", "\n", ",", "build", "target", "env", "profile", "source", "patch",
                "rustflags", "directory", "path", "cfg(all())", "-C", "linker=x", "..", "/"]).prop_map(str::to_owned),
            ".{0,8}",
        ], 0..60)) {
            let _ = read_in_tree(&words.concat());
            let _ = read_in_tree(&format!("build.rustflags = [\"{}\"]", words.join("\", \"")));
        }
    }

    #[test]
    fn flags_that_are_not_allowed_and_folders_out_of_the_tree_are_refused() {
        for text in [
            "build.rustflags = [\"-Clinker=a\"]",
            "build.rustflags = \"-C linker=a\"",
            "build.rustflags = [1]",
            "target.'cfg(all())'.rustflags = [\"-C\", \"linker=a\"]",
            "source.x.directory = \"/etc\"",
            "source.x.directory = \"../../../etc\"",
            "patch.crates-io.x.path = \"/usr/lib\"",
            "x = ",
        ] {
            assert!(read_in_tree(text).is_err(), "{text}");
        }
        let vendored =
            read_in_tree("source.v.directory = \"../vendor\"\nsource.crates-io.replace-with = \"v\"").unwrap();
        assert_eq!(vendored.allowed["source"]["v"]["directory"].as_str(), Some("/build/source/vendor"));
        assert!(read_in_tree(&"#".repeat(BYTES_MAX + 1)).is_err());
    }
}
