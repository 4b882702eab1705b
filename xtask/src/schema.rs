//! Installs schemathesis, with which a test of the program tries every REST route as its description says.

use std::path::{Path, PathBuf};

use xtask::process::{Outcome, run};

use crate::python;
use crate::test::cargo;

/// Runs that test alone.
pub(crate) fn check(root: &Path) -> Outcome {
    let program = provide(root)?;
    let mut test = cargo(root);
    test.args(["test", "--locked", "--package", "paraffin", "--test", "program", "schema::", "--", "--nocapture"]);
    run(test.env("PARAFFIN_SCHEMATHESIS", program))
}

/// The program, installed into `target/tools`.
pub(crate) fn provide(root: &Path) -> Outcome<PathBuf> {
    Ok(python::provide(root, "schemathesis")?.join("bin/schemathesis"))
}
