//! The path of a request: it names one thing whatever its escapes and slashes, and a reserved word is never an alias.

use paraffin_gateway::fuzzing::{self, decode_segment};
use paraffin_surfaces::SURFACES;

pub(crate) fn run(input: &[u8]) {
    let Ok(path) = std::str::from_utf8(input) else { return };
    let route = |path: &str| fuzzing::route(&SURFACES, path);
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
        let escape = |segment: &str| segment.bytes().fold(String::new(), |text, byte| format!("{text}%{byte:02x}"));
        let escaped: Vec<String> = path.split('/').map(escape).collect();
        assert_eq!(route(&escaped.join("/")), meaning);
        assert_eq!(decode_segment(path).as_deref(), Some(path));
    }
}
