//! What cargo is going to compile, as cargo reports before anything of a submission has run.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::job::{Program, ProgramKind};

/// Most programs that a result names.
const PROGRAMS_MAX: usize = 500;

/// The units of one build: calls of the compiler, and runs of build scripts.
#[derive(Debug, Deserialize)]
pub(crate) struct Graph {
    pub(crate) units: Vec<Unit>,
    pub(crate) roots: Vec<usize>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Unit {
    pkg_id: String,
    pub(crate) target: UnitTarget,
    /// The target that it is compiled for; none for the machine that builds.
    pub(crate) platform: Option<String>,
    mode: String,
    pub(crate) features: Vec<String>,
    #[serde(default)]
    is_std: bool,
    pub(crate) dependencies: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct UnitTarget {
    kind: Vec<String>,
    pub(crate) crate_types: Vec<String>,
    pub(crate) name: String,
    pub(crate) src_path: PathBuf,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) index: usize,
    pub(crate) extern_crate_name: String,
}

impl Unit {
    pub(crate) fn is_compiled(&self) -> bool {
        self.mode == "build"
    }

    fn kind(&self) -> Option<ProgramKind> {
        let is_macro = self.target.kind.iter().chain(&self.target.crate_types).any(|kind| kind == "proc-macro");
        if self.is_compiled() {
            is_macro.then_some(ProgramKind::Macro)
        } else {
            // Every mode of cargo other than compiling runs something.
            Some(ProgramKind::BuildScript)
        }
    }
}

impl Graph {
    /// Whether a build script influences how a unit is compiled.
    pub(crate) fn has_build_script(&self, unit: &Unit) -> bool {
        let needed = unit.dependencies.iter().filter_map(|dependency| self.units.get(dependency.index));
        needed.into_iter().any(|needed| !needed.is_compiled())
    }

    /// Programs that cargo runs besides the toolchain's own, sorted. `library` is where the toolchain has the sources of the standard
    /// library, whose build scripts are its own.
    pub(crate) fn programs(&self, library: &[PathBuf]) -> Vec<Program> {
        let is_own = |unit: &Unit| unit.is_std && library.iter().any(|folder| unit.target.src_path.starts_with(folder));
        let foreign = self.units.iter().filter(|unit| !is_own(unit));
        let mut programs: Vec<Program> = foreign
            .filter_map(|unit| {
                let (name, version) = name_and_version(&unit.pkg_id);
                Some(Program { kind: unit.kind()?, name, version })
            })
            .collect();
        programs.sort();
        programs.dedup();
        programs.truncate(PROGRAMS_MAX);
        programs
    }
}

/// From `path+file:///x/name#1.0.0`, `registry+https://…#name@1.0.0`, or the older `name 1.0.0 (…)`.
fn name_and_version(id: &str) -> (String, String) {
    let plain = |text: &str| text.chars().filter(|letter| !letter.is_control()).take(64).collect::<String>();
    let (name, version) = match id.rsplit_once('#') {
        Some((path, last)) => last.split_once('@').unwrap_or_else(|| {
            let folder = Path::new(path.split('?').next().unwrap_or_default());
            (folder.file_name().and_then(|name| name.to_str()).unwrap_or_default(), last)
        }),
        None => {
            let mut words = id.split(' ');
            (words.next().unwrap_or_default(), words.next().unwrap_or_default())
        }
    };
    (plain(name), plain(version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_named_from_all_forms_of_their_ids() {
        for (id, name) in [
            ("path+file:///build/source/guest#1.0.0", "guest"),
            ("path+file:///build/source#guest@1.0.0", "guest"),
            ("registry+https://github.com/rust-lang/crates.io-index#guest@1.0.0", "guest"),
            ("git+https://host/a/guest?rev=1#1.0.0", "guest"),
            ("guest 1.0.0 (path+file:///build/source)", "guest"),
        ] {
            assert_eq!(name_and_version(id), (name.to_owned(), "1.0.0".to_owned()), "{id}");
        }
    }

    #[test]
    fn build_scripts_and_macros_are_programs_and_those_of_the_toolchain_are_its_own() {
        let unit = |id: &str, kind: &str, mode: &str, path: &str, is_std: bool| {
            serde_json::json!({
                "pkg_id": id, "mode": mode, "platform": null, "features": [], "is_std": is_std, "dependencies": [],
                "target": { "kind": [kind], "crate_types": ["bin"], "name": "x", "src_path": path },
            })
        };
        let graph: Graph = serde_json::from_value(serde_json::json!({ "roots": [0], "units": [
            unit("x#guest@1.0.0", "custom-build", "run-custom-build", "/build/source/build.rs", false),
            unit("x#guest@1.0.0", "custom-build", "build", "/build/source/build.rs", false),
            unit("x#derive@2.0.0", "proc-macro", "build", "/build/source/vendor/derive/src/lib.rs", false),
            unit("x#std@0.0.0", "custom-build", "run-custom-build", "/usr/library/std/build.rs", true),
            unit("x#libc@0.2.0", "custom-build", "run-custom-build", "/build/source/vendor/libc/build.rs", true),
            unit("x#plain@1.0.0", "lib", "build", "/build/source/src/lib.rs", false),
        ]}))
        .unwrap();
        let programs = graph.programs(&[PathBuf::from("/usr/library")]);
        let named: Vec<_> = programs.iter().map(|program| (program.kind, program.name.as_str())).collect();
        let expected =
            [(ProgramKind::BuildScript, "guest"), (ProgramKind::BuildScript, "libc"), (ProgramKind::Macro, "derive")];
        assert_eq!(named, expected);
    }
}
