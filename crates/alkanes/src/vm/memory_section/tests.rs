use proptest::prelude::*;
use wasmi::{Config, Engine, Linker, Module, Store};

use super::*;

fn wat(text: &str) -> Vec<u8> {
    wat::parse_str(text).unwrap()
}

/// Pages that the copy of a module starts with; `None` when there is no copy.
fn pages(text: &str) -> Option<u32> {
    let copy = with_call_pages(&wat(text))?;
    let engine = Engine::default();
    let module = Module::new(&engine, &copy).unwrap();
    let mut store = Store::new(&engine, ());
    let instance = Linker::new(&engine).instantiate(&mut store, &module).unwrap().start(&mut store).unwrap();
    Some(instance.get_memory(&store, "memory").unwrap().size(&store))
}

fn compiles(code: &[u8]) -> bool {
    Module::new(&Engine::new(&Config::default()), code).is_ok()
}

#[test]
fn a_memory_without_maximum_or_with_a_great_one_starts_at_512_pages() {
    assert_eq!(pages(r#"(module (memory (export "memory") 0))"#), Some(512));
    assert_eq!(
        pages(r#"(module (memory (export "memory") 17) (data (i32.const 1048576) "x") (data "passive"))"#),
        Some(512)
    );
    assert_eq!(pages(r#"(module (memory (export "memory") 1 512))"#), Some(512));
    assert_eq!(pages(r#"(module (memory (export "memory") 1 60000) (data (i32.const 65535) "x"))"#), Some(512));
}

#[test]
fn what_could_be_told_apart_is_left_as_it_is() {
    for text in [
        r#"(module (memory (export "memory") 1 511))"#,
        r#"(module (memory (export "memory") 512))"#,
        r#"(module (memory (export "memory") 600))"#,
        r#"(module (memory (export "memory") 1) (memory 1))"#,
        r#"(module (import "env" "memory" (memory 1)))"#,
        r#"(module (memory (export "memory") 1) (data (i32.const 65536) "x"))"#,
        r#"(module (memory (export "memory") 1) (data (i32.const 65535) "xy"))"#,
        r#"(module (memory (export "memory") 1) (data (i32.const -1) "x"))"#,
        r#"(module (import "env" "place" (global i32)) (memory (export "memory") 1) (data (global.get 0) "x"))"#,
        r#"(module (memory (export "memory") 1) (data (i32.add (i32.const 1) (i32.const 2)) "x"))"#,
        "(module)",
    ] {
        assert_eq!(with_call_pages(&wat(text)), None, "{text}");
    }
    assert_eq!(with_call_pages(b""), None);
    assert_eq!(with_call_pages(b"\0asm\x01\0\0\0\x05"), None);
}

#[test]
fn bytes_behind_the_memory_make_a_module_invalid_and_are_not_hidden_by_the_copy() {
    let code = wat("(module (memory 1))");
    let section = code.windows(4).position(|window| window == [5, 3, 1, 0]).unwrap();
    let mut spoiled = code.clone();
    spoiled[section + 1] = 4;
    spoiled.insert(section + 5, 0);
    assert!(!compiles(&spoiled));
    assert_eq!(with_call_pages(&spoiled), None);
}

#[test]
fn segments_are_listed_with_their_offsets() {
    let code = wat(r#"(module (memory 2) (data (i32.const 70000) "ab") (data "passive") (data (i32.const 3) "c"))"#);
    assert_eq!(data_segments(&code).unwrap(), [(70_000, &b"ab"[..]), (3, b"c")]);
    assert_eq!(data_segments(&code[..code.len() - 1]), None);
}

proptest! {
    /// A copy is valid exactly when the module is, whatever is wrong with it.
    #[test]
    fn a_copy_hides_no_error(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4), cut in 0_usize..40) {
        let mut code = wat(
            r#"(module (import "env" "f" (func (param i32))) (import "env" "g" (global i32)) (table 2 funcref)
            (memory (export "memory") 1 600) (global (mut i32) (i32.const 5)) (elem (i32.const 0) 0)
            (func (export "__execute") (result i32) (memory.init 1 (i32.const 0) (i32.const 0) (i32.const 1)) (i32.const 4))
            (data (i32.const 9) "abc") (data "passive"))"#,
        );
        for (at, byte) in changes {
            let offset = at.index(code.len());
            code[offset] = byte;
        }
        code.truncate(code.len() - cut.saturating_sub(20));
        if let Some(copy) = with_call_pages(&code) {
            prop_assert_eq!(compiles(&copy), compiles(&code));
        }
        let _ = data_segments(&code);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes: Vec<u8>) {
        let opened = [&WASM_HEADER[..], &bytes].concat();
        let _ = (with_call_pages(&opened), data_segments(&opened), with_call_pages(&bytes));
    }
}

#[test]
fn each_segment_of_data_may_lie_in_a_page_of_its_own() {
    let of = |segments: usize| {
        let data: String =
            (0..segments).flat_map(|page| [format!("(data (i32.const {}) \"a\")", page * 4096)]).collect();
        start_work(&wat::parse_str(format!("(module (memory 512) {data})")).unwrap())
    };
    assert!(of(8000) >= 8000 * cost::TOUCHED_PAGE && of(8000) < 8000 * 2 * cost::TOUCHED_PAGE, "{}", of(8000));
}
