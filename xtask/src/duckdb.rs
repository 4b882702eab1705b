//! Installs DuckDB, with which a test of the program reads exports.

use std::path::{Path, PathBuf};

use xtask::process::{Outcome, run};

use crate::python;
use crate::test::cargo;

/// Runs that test alone.
pub(crate) fn check(root: &Path) -> Outcome {
    let program = provide(root)?;
    let mut test = cargo(root);
    test.args(["test", "--locked", "--package", "paraffin", "--features", "parquet", "--test", "program", "export::"]);
    run(test.args(["--", "--nocapture"]).env("PARAFFIN_DUCKDB", program))
}

/// The Python that has it, installed into `target/tools`.
pub(crate) fn provide(root: &Path) -> Outcome<PathBuf> {
    Ok(python::provide(root, "duckdb")?.join("bin/python"))
}
