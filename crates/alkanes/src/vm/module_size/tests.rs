use super::*;

/// A module with a function of three `nop`s and a segment of four bytes.
fn module() -> Vec<u8> {
    wat::parse_str(r#"(module (memory 1) (data (i32.const 0) "abcd") (func (export "f") nop nop nop))"#).unwrap()
}

/// A custom section with this name and content, the length of the name as given.
fn custom(name_len: u8, name: &[u8], content: &[u8]) -> Vec<u8> {
    let body = [&[name_len][..], name, content].concat();
    [&[section::CUSTOM, body.len() as u8][..], &body].concat()
}

#[test]
fn custom_sections_are_left_out_wherever_they_stand() {
    let plain = module();
    let (header, sections) = plain.split_at(8);
    let first = custom(1, b"x", &[0; 100]);
    let with = [header, &first, sections, &custom(0, b"", b""), &custom(4, "näh".as_bytes(), b"more")].concat();
    assert_eq!(without_custom_sections(&with).unwrap(), plain);
    assert_eq!(without_custom_sections(&plain), None);
}

#[test]
fn what_may_be_why_a_module_is_invalid_is_left_in() {
    let with = |section: &[u8]| [&module(), section].concat();
    for section in [
        // No text, a name longer than its section, a section longer than the module, no name at all.
        custom(2, b"\xff\xfe", b""),
        custom(9, b"short", b""),
        vec![section::CUSTOM, 9, 1, b'x'],
        vec![section::CUSTOM, 0],
    ] {
        assert_eq!(without_custom_sections(&with(&section)), None, "{section:?}");
    }
    let long = |len: usize| {
        let mut body = vec![0; 3];
        body[0] = len as u8 | 0x80;
        body[1] = (len >> 7) as u8 | 0x80;
        body[2] = (len >> 14) as u8;
        body.extend(vec![b'a'; len]);
        let mut section = vec![section::CUSTOM];
        crate::codec::append_varint(body.len() as u128, &mut section);
        with(&[section, body].concat())
    };
    assert!(without_custom_sections(&long(NAME_LEN_MAX_BYTES)).is_some());
    assert!(without_custom_sections(&long(NAME_LEN_MAX_BYTES + 1)).is_none());
}

#[test]
fn custom_sections_cost_nothing_to_compile_and_instructions_most() {
    let plain = ModuleSize::of(&module());
    let with = ModuleSize::of(&[module(), custom(1, b"x", &[7; 100])].concat());
    assert_eq!((with.compiled_bytes, with.compile_work), (plain.compiled_bytes, plain.compile_work));
    assert_eq!(with.len, plain.len + 104);
    let longer =
        wat::parse_str(r#"(module (memory 1) (data (i32.const 0) "abcdefgh") (func (export "f") nop nop nop))"#);
    let longer = ModuleSize::of(&longer.unwrap());
    assert_eq!(longer.compiled_bytes, plain.compiled_bytes + 4);
    let busy = wat::parse_str(
        r#"(module (memory 1) (data (i32.const 0) "abcd") (func (export "f") unreachable unreachable unreachable))"#,
    );
    let busy = ModuleSize::of(&busy.unwrap());
    assert_eq!(busy.compiled_bytes, plain.compiled_bytes + 3 * BYTES_PER_INSTRUCTION_BYTE);
    assert_eq!(busy.compile_work, plain.compile_work);
}

#[test]
fn what_handles_many_values_at_once_costs_as_many_times_more() {
    let of = |values: usize| {
        let types = "i64 ".repeat(values);
        let text = format!("(module (type (func (param {types}) (result {types}))) (func unreachable))");
        ModuleSize::of(&wat::parse_str(text).unwrap())
    };
    let (narrow, wide) = (of(1), of(1000));
    // The code section has five bytes, one of which looks like a `nop`; the type section grows by 1998 values and two bytes of its counts.
    let declared = 2000;
    assert_eq!(
        wide.compile_work - narrow.compile_work,
        5 * (2000 - cost::COMPILED_BYTE) + declared * cost::COMPILED_BYTE
    );
    assert_eq!(
        wide.compiled_bytes - narrow.compiled_bytes,
        4 * (1500 - BYTES_PER_INSTRUCTION_BYTE) + declared * BYTES_PER_DECLARATION_BYTE
    );
}
