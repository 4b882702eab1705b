//! The path of a request: it names one thing whatever its escapes and slashes, and a reserved word is never an alias.
#![no_main]

use libfuzzer_sys::fuzz_target;
use paraffin_gateway::fuzzing::{decode_segment, route};

fuzz_target!(|path: &str| {
    let meaning = route(path);
    assert_eq!(route(&format!("{path}/")), meaning, "a slash at the end changes nothing");
    assert_eq!(route(&path.replace('/', "//")), meaning, "an empty segment changes nothing");
    // Below `/api/v1` any word may stand where the key belongs; it is looked up and not found.
    if let Some(alias) = meaning.alias.as_ref().filter(|_| meaning.surface != "explorer") {
        assert!(!paraffin_access::RESERVED_WORDS.contains(&alias.as_str()), "{alias}");
        assert!(!(alias.len() == 32 && alias.bytes().all(|byte| byte.is_ascii_hexdigit())), "{alias}");
    }
    assert!(meaning.tail.iter().all(|segment| !segment.is_empty()));
    // The same path with every byte escaped means the same.
    if !path.contains('%') {
        let escape = |segment: &str| segment.bytes().map(|byte| format!("%{byte:02x}")).collect::<String>();
        let escaped: Vec<String> = path.split('/').map(escape).collect();
        assert_eq!(route(&escaped.join("/")), meaning);
        assert_eq!(decode_segment(path).as_deref(), Some(path));
    }
});
