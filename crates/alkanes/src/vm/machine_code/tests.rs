use std::sync::Arc;

use super::super::cache::{Code, CodeCache};
use super::*;

/// The modules of our contracts, without the indexer program among them, and of those in the folder that `PARAFFIN_MORE_WASM` names.
fn contracts() -> Vec<(String, Vec<u8>)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contracts/wasm");
    let more = std::env::var("PARAFFIN_MORE_WASM").ok().map(|folder| std::fs::read_dir(folder).unwrap());
    let entries = std::fs::read_dir(folder).unwrap().chain(more.into_iter().flatten());
    let paths = entries.map(|entry| entry.unwrap().path());
    let modules = paths.filter(|path| path.extension().is_some_and(|extension| extension == "wasm"));
    let modules = modules.filter(|path| !path.ends_with("block-counter.wasm"));
    modules.map(|path| (path.display().to_string(), std::fs::read(&path).unwrap())).collect()
}

#[test]
fn every_contract_that_is_short_enough_can_be_machine_code() {
    let codes = CodeCache::default();
    let mut count = 0;
    for (path, bytes) in contracts().into_iter().filter(|(_, bytes)| bytes.len() <= 512 << 10) {
        let compiled: Arc<Compiled> = codes.compile(&Code::new(bytes)).unwrap();
        let machine = MachineCode::of(&compiled);
        assert!(machine.is_ok(), "{path}: {:?}", machine.err());
        count += 1;
    }
    assert!(count >= 14, "{count} contracts");
}

/// The slot of a contract that has run so often, once nothing is compiled any more.
fn slot_after(code: &[u8], runs: u32, is_built_in: bool) -> Arc<Compiled> {
    let compiled = CodeCache::default().compile(&Code::new(code.to_vec())).unwrap();
    if is_built_in {
        compiled.note_built_in();
    }
    for _ in 0..runs {
        Slot::count_run(&compiled);
    }
    for _ in 0..6_000 {
        if Slot::is_idle() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    compiled
}

#[test]
fn built_in_contracts_alone_are_compiled_once_they_have_run_often() {
    let (_, code) = contracts().into_iter().find(|(path, _)| path.ends_with("counter.wasm")).unwrap();
    assert!(slot_after(&code, 3_000, true).machine.code().is_some());
    assert!(slot_after(&code, 1_000, true).machine.code().is_none());
    assert!(slot_after(&code, 3_000, false).machine.code().is_none());
}
