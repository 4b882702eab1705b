//! Lists the message files of `proto/`, so that all of them are served and none has to be named twice.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = Path::new(&variable("CARGO_MANIFEST_DIR")?).join("../../proto");
    println!("cargo::rerun-if-changed={}", folder.display());
    println!("cargo::rerun-if-changed=build.rs");
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "proto") {
            paths.push(path);
        }
    }
    paths.sort();
    let mut list = "[\n".to_owned();
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let place = path.canonicalize()?.to_string_lossy().into_owned();
        let _ = writeln!(list, "({name:?}, include_str!({place:?})),");
    }
    list.push_str("]\n");
    fs::write(Path::new(&variable("OUT_DIR")?).join("protos.rs"), list)
}

fn variable(name: &str) -> io::Result<String> {
    env::var(name).map_err(io::Error::other)
}
