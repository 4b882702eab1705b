use super::*;

fn paths() -> ToolPaths {
    ToolPaths {
        compiler: "/rust/bin/rustc".into(),
        linker: "/rust/bin/rust-lld".into(),
        linker_entry: "/build/tools/rust-lld".into(),
        record: "/build/record".into(),
        inputs: vec!["/build/target".into(), "/tmp".into(), "/rust/lib/rustlib".into()],
    }
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

#[test]
fn variables_pass_a_list() {
    for (name, value) in [
        (
            "RUSTFLAGS",
            "-Zunstable-options -Cpanic=immediate-abort -Zlocation-detail=none -Clink-arg=--stack-first -Clink-arg=-zstack-size=65536",
        ),
        ("RUSTFLAGS", "-C link-arg=-z -C link-arg=stack-size=65536  --remap-path-prefix=/a=/b --cfg x -O"),
        ("CARGO_BUILD_RUSTFLAGS", "-Clink-args=--stack-first"),
        ("RUSTC_BOOTSTRAP", "1"),
        ("CARGO_UNSTABLE_BUILD_STD", "core,alloc"),
        ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "z"),
        ("CONTRACT_NETWORK", "mainnet"),
        ("CC_wasm32_unknown_unknown", "clang"),
    ] {
        assert_eq!(variable(name, value), Ok(()), "{name}={value}");
    }
    for name in [
        "",
        "PATH",
        "HOME",
        "RUSTC",
        "RUSTC_WRAPPER",
        "RUSTC_WORKSPACE_WRAPPER",
        "RUSTC_LINKER",
        "RUSTDOC",
        "RUSTUP_TOOLCHAIN",
        "RUST_TARGET_PATH",
        "CARGO",
        "CARGO_HOME",
        "CARGO_TARGET_DIR",
        "CARGO_ENCODED_RUSTFLAGS",
        "CARGO_BUILD_RUSTC",
        "CARGO_BUILD_RUSTC_WRAPPER",
        "CARGO_BUILD_TARGET",
        "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER",
        "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER",
        "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_AR",
        "CARGO_HOST_LINKER",
        "CARGO_UNSTABLE_HOST_CONFIG",
        "CARGO_PROFILE_RELEASE_RUSTFLAGS",
        "CARGO_PROFILE_RELEASE_CODEGEN_BACKEND",
        "CARGO_ALIAS_BUILD",
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "GLIBC_TUNABLES",
        "GCC_EXEC_PREFIX",
        "COMPILER_PATH",
        "LIBRARY_PATH",
        "BASH_ENV",
        "A1",
        "A=B",
        "1A",
        "A-B",
        "ä",
    ] {
        assert!(variable(name, "1").is_err(), "{name}");
    }
    assert!(variable("CONTRACT_X", "a\nb").is_err());
}

/// In a list, as configuration has them, a flag may hold spaces.
#[test]
fn several_arguments_for_the_linker_stand_in_one_flag() {
    assert_eq!(flags(["-Clink-args=-z stack-size=1024 --stack-first"].into_iter()), Ok(()));
    assert_eq!(flags(["-C", "link-args=--export answer"].into_iter()), Ok(()));
}

#[test]
fn flags_that_name_a_program_or_a_file_are_refused() {
    for text in [
        "-Clinker=/x",
        "-C linker=/x",
        "--codegen linker=/x",
        "--codegen=linker=/x",
        "-C\u{a0}linker=/x",
        "-Clinker-flavor=gcc",
        "-Clink-self-contained=no",
        "-Clink-arg=/build/source/x.o",
        "-Clink-arg=x.o",
        "-Clink-arg=@x",
        "-Clink-arg=--export=../x",
        "-Clink-arg=-mllvm",
        "-Clink-arg=--reproduce=x",
        "-Clink-args=--stack-first x.o",
        "-Clink-args=-z x.o",
        "-Cllvm-args=-load=x",
        "-Cpasses=x",
        "-Car=x",
        "-Clinker-plugin-lto=x",
        "-Cmetadata=x",
        "-Zcodegen-backend=x",
        "-Zllvm-plugins=x",
        "-Zpre-link-arg=x",
        "-Zunstable-options,x",
        "-L /x",
        "-lx",
        "--extern x=/x.rlib",
        "--target=x.json",
        "--sysroot=/x",
        "--sysroot /x",
        "--emit=link=/x",
        "--out-dir /x",
        "-o x",
        "@x",
        "x.rs",
        "-",
        "-C",
        "--print=cfg",
    ] {
        assert!(flags(text.split(' ')).is_err(), "{text}");
    }
}

const CALL: &str = "--crate-name guest --edition=2021 src/lib.rs --error-format=json --json=artifacts --crate-type cdylib --emit=dep-info,link \
                    -C opt-level=3 -C embed-bitcode=no --check-cfg cfg(docsrs,test) -C metadata=e1c1 -C extra-filename=-e1c1 \
                    --out-dir /build/target/wasm32-unknown-unknown/release/deps --target wasm32-unknown-unknown -C linker=/build/tools/rust-lld \
                    -C strip=debuginfo -C linker-plugin-lto -L dependency=/build/target/release/deps --extern proc_macro \
                    --extern noprelude:core=/build/target/release/deps/libcore.rmeta -L native=/build/target/x/out -l static=secp256k1 --cap-lints allow";

#[test]
fn calls_of_the_compiler_are_those_of_cargo() {
    assert_eq!(compiler(&words(CALL), &paths()), Ok(()));
    assert_eq!(compiler(&words("-vV"), &paths()), Ok(()));
    assert_eq!(
        compiler(
            &words("- --crate-name ___ --print=cfg --crate-type bin --target wasm32-unknown-unknown -Wwarnings"),
            &paths()
        ),
        Ok(())
    );
    for more in [
        "-C linker=/build/source/ld",
        "-Clinker=/build/tools/../source/ld",
        "--target /build/source/x.json",
        "--target=x86_64-unknown-linux-gnu",
        "--extern x=/build/source/libx.rlib",
        "--extern x=/build/target/../source/libx.rlib",
        "-L native=/build/source/lib",
        "-L/build/source/lib",
        "-l static=/x",
        "-C link-arg=/build/source/x.o",
        "-Zcodegen-backend=/build/source/x.so",
        "-Clinker-plugin-lto=/build/source/x.so",
        "--sysroot=/build/source",
        "--emit=link=/build/x",
        "--out-dir /build/source",
        "-o /build/source/x",
        "-C incremental=/build/source",
        "@/build/source/x",
        "/build/source/x.so",
    ] {
        let call = format!("{CALL} {more}");
        assert!(compiler(&words(&call), &paths()).is_err(), "{more}");
    }
}

const LINK: &str = "-flavor wasm --export seven --export=__heap_base -z stack-size=1048576 --stack-first --no-demangle --no-entry \
                    /build/target/release/deps/guest.o /tmp/rustcX/symbols.o -L /rust/lib/rustlib/wasm32-unknown-unknown/lib/self-contained \
                    -zstack-size=65536 -o /build/target/release/deps/guest.wasm --gc-sections -O3 --strip-debug -lc";

#[test]
fn calls_of_the_linker_have_inputs_of_the_build_alone() {
    assert_eq!(linker(&words(LINK), &paths()), Ok(()));
    for more in [
        "/build/source/x.o",
        "x.o",
        "/build/target/../source/x.o",
        "-L /build/source",
        "-L/build/source",
        "-l:x.o",
        "-l../x",
        "-o /build/source/x",
        "-flavor gnu",
        "@/build/target/x",
        "-mllvm -load=/x",
        "--reproduce=/x",
        "--lto-obj-path=/x",
        "--why-extract=/x",
        "--Map=/x",
        "--export /x",
        "--entry",
        "-z",
    ] {
        let call = format!("{LINK} {more}");
        assert!(linker(&words(&call), &paths()).is_err(), "{more}");
    }
}

#[test]
fn what_loader_compiler_and_linker_obey_is_not_for_build_scripts() {
    for name in [
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "RUSTC_WRAPPER",
        "RUST_TARGET_PATH",
        "GLIBC_TUNABLES",
        "LLD_REPRODUCE",
        "PATH",
        "TMPDIR",
    ] {
        assert!(is_read_by_tools(name), "{name}");
    }
    for name in ["OUT_DIR", "VERGEN_GIT_SHA", "BUILD_TARGET"] {
        assert!(!is_read_by_tools(name), "{name}");
    }
}
