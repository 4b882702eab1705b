use bitcoin::hex::DisplayHex as _;
use sha2::{Digest as _, Sha256};

use super::*;
use crate::vm::memory_section::WASM_HEADER;

fn released(name: &'static str, module: &[u8]) -> Release {
    let sha256 = Sha256::digest(module).to_lower_hex_string();
    Release { name, file_name: "module.wasm", len_bytes: module.len(), sha256: Box::leak(sha256.into_boxed_str()) }
}

fn module(body: &[u8]) -> Vec<u8> {
    [&WASM_HEADER[..], body].concat()
}

/// An indexer program with `data` at 4096 and, over its first bytes, `overlay`.
fn program(data: &[u8], overlay: &[u8]) -> Vec<u8> {
    let text =
        |bytes: &[u8]| bytes.iter().flat_map(|byte| ["\\".to_owned(), format!("{byte:02x}")]).collect::<String>();
    wat::parse_str(format!(
        r#"(module (memory 2) (data (i32.const 4096) "{}") (data (i32.const 4096) "{}") (data "passive"))"#,
        text(data),
        text(overlay),
    ))
    .unwrap()
}

#[test]
fn modules_are_found_in_the_memory_of_a_program_by_size_and_hash() {
    let (first, second) = (module(b"first code"), module(b"second"));
    let data = [b"........", &first[..], b"noise", &WASM_HEADER, &second[..5], &second[..], b"end"].concat();
    let image = memory_image(&program(&data, b"")).unwrap();
    let releases = [released("first", &first), released("second", &second), released("third", b"\0asm\x01\0\0\0third")];
    let found = modules_in(&image, &releases);
    // One begins like a module and is no released one.
    assert_eq!((found.released.len(), found.count), (2, 3));
    for (release, module) in releases.iter().zip([first, second]) {
        assert!(found.released.values().any(|code| release.is(code) && *code.bytes == *module), "{}", release.name);
    }
}

#[test]
fn later_segments_lie_over_earlier_ones_as_they_do_when_the_program_starts() {
    let built = module(b"code");
    let image = memory_image(&program(&module(b"KODE"), b"\0asm\x01\0\0\0c")).unwrap();
    assert!(modules_in(&image, &[released("built", &built)]).released.is_empty());
    let image = memory_image(&program(&module(b"KODE"), &built)).unwrap();
    assert_eq!(modules_in(&image, &[released("built", &built)]).released.len(), 1);
}

#[test]
fn a_changed_byte_is_no_match() {
    let mut spoiled = module(b"first code");
    let release = released("first", &spoiled);
    *spoiled.last_mut().unwrap() ^= 1;
    assert!(modules_in(&spoiled, &[release]).released.is_empty());
}

#[test]
fn mainnet_needs_nine_modules_and_says_which_are_missing_and_where_to_get_them() {
    let parameters = Parameters::of(Network::Mainnet);
    let builtins = Builtins::from_operator_wasm(&parameters, &program(b"nothing", b"")).unwrap();
    assert_eq!(builtins.missing().len(), 9);
    let text = builtins.require().unwrap_err().to_string();
    assert!(
        text.contains("2:0 (EOA)") && text.contains("32:0 (1.3.1)") && text.contains("[alkanes] wasm_path"),
        "{text}"
    );
    let halt = builtins.code(DIESEL, 917_888).unwrap_err().to_string();
    assert!(halt.contains("2:0 (EOA)") && !halt.contains("base"), "{halt}");
    assert!(matches!(Builtins::from_operator_wasm(&parameters, b"no module"), Err(BuiltinsError::NoModule)));
}

#[test]
fn the_code_of_a_built_in_changes_at_its_heights() {
    let parameters = Parameters::of(Network::Mainnet);
    let name = |id, height| {
        let builtins = Builtins::released(&parameters, &Modules::default());
        builtins.spans.iter().rev().find(|span| span.id == id && span.from <= height).unwrap().name()
    };
    let diesel = [880_000, 908_887, 908_888, 917_887, 917_888].map(|height| name(DIESEL, height));
    assert_eq!(diesel, ["2:0 (base)", "2:0 (base)", "2:0 (upgraded)", "2:0 (upgraded)", "2:0 (EOA)"]);
    let heights = [917_887, 917_888, 949_999, 950_000, 956_999, 957_000, 959_999, 960_000];
    let wrapped = heights.map(|height| name(WRAPPED_BITCOIN, height));
    let versions = ["first", "1.1.0", "1.1.0", "1.2.0", "1.2.0", "1.3.0", "1.3.0", "1.3.1"];
    assert_eq!(wrapped, versions.map(|version| format!("32:0 ({version})")));
    assert_eq!(name(SIGNING_TOKEN, 1), "32:1");
}

#[test]
fn given_contracts_run_at_every_height_and_the_rest_is_missing() {
    let builtins = Builtins::given([(DIESEL, module(b"own"))]);
    assert_eq!(builtins.bytes(DIESEL, 0).unwrap(), Some(module(b"own")));
    assert_eq!(builtins.missing(), ["32:0", "32:1"]);
    assert!(matches!(builtins.code(WRAPPED_BITCOIN, 5), Err(Halt::MissingBuiltin(_))));
    assert!(builtins.code(AlkaneId { block: 2, tx: 1 }, 5).unwrap().is_none());
}

#[test]
fn a_folder_is_searched_whatever_the_names_of_its_files() {
    let parameters = Parameters::of(Network::Regtest);
    let folder = std::env::temp_dir().join(format!("paraffin-builtins-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("of the right size"), vec![0; FRSIGIL.len_bytes]).unwrap();
    let builtins = Builtins::from_folder(&parameters, &folder).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(builtins.missing(), ["2:0 (EOA)", "32:0 (1.3.1)", "32:1"], "a file of the right size is not enough");
    let gone = Builtins::from_folder(&parameters, &folder).unwrap_err();
    assert!(matches!(gone, BuiltinsError::Unreadable { .. }), "{gone}");
}

#[test]
fn signet_is_refused_with_the_code_that_no_program_holds_and_what_to_do_instead() {
    let parameters = Parameters::of(Network::Signet);
    let text =
        |program: &[u8]| Builtins::from_operator_wasm(&parameters, program).unwrap().require().unwrap_err().to_string();
    let nothing = text(&program(b"nothing", b""));
    assert!(nothing.contains("holds no contract at all"), "{nothing}");
    let other = text(&program(&module(b"a contract"), b""));
    for part in ["2:0 (the first of signet, SHA-256 584ef528…)", "another release or network", "engine = \"hosted\""]
    {
        assert!(other.contains(part), "{part}: {other}");
    }
    // All that regtest needs is not enough.
    for name in ["alkanes-2.2.1-mainnet.wasm", "alkanes-2.2.1-regtest.wasm"] {
        let Some(path) = paraffin_testkit::reference_program(name) else { return };
        let released = Builtins::from_operator_wasm(&parameters, &std::fs::read(path).unwrap()).unwrap();
        assert_eq!(released.missing(), ["2:0 (the first of signet, SHA-256 584ef528…)"], "{name}");
    }
}

#[test]
fn a_program_of_another_release_is_refused_and_what_it_lacks_is_named() {
    let Some(path) = paraffin_testkit::reference_program("alkanes-2025-07-regtest.wasm") else { return };
    let parameters = Parameters::of(Network::Regtest);
    let builtins = Builtins::from_operator_wasm(&parameters, &std::fs::read(path).unwrap()).unwrap();
    assert_eq!(builtins.modules_in_program(), Some(1));
    let text = builtins.require().unwrap_err().to_string();
    assert!(text.contains("2:0 (EOA), 32:0 (1.3.1), 32:1; the program holds other contracts"), "{text}");
}
