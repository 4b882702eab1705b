use std::sync::Arc;

use super::super::cache::{Code, CodeCache};
use super::*;

/// The modules of our contracts; the indexer program among them is none.
fn contracts() -> Vec<(String, Vec<u8>)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contracts/wasm");
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let modules = paths.filter(|path| path.extension().is_some_and(|extension| extension == "wasm"));
    let modules = modules.filter(|path| !path.ends_with("block-counter.wasm"));
    modules.map(|path| (path.display().to_string(), std::fs::read(&path).unwrap())).collect()
}

#[test]
fn every_contract_of_ours_can_be_machine_code() {
    let codes = CodeCache::default();
    let mut count = 0;
    for (path, bytes) in contracts() {
        let compiled: Arc<Compiled> = codes.compile(&Code::new(bytes)).unwrap();
        let machine = MachineCode::of(&compiled);
        assert!(machine.is_ok(), "{path}: {:?}", machine.err());
        count += 1;
    }
    assert!(count >= 14, "{count} contracts");
}
