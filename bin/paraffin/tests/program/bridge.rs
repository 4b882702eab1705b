//! `paraffin bridge` as a person at a terminal uses it: published payloads are written, read back and judged.

use crate::support::process::paraffin;
use serde_json::{Value, json};

/// A taproot script, and the payload of a direct transfer to it.
const TAPROOT: &str = "5120abababababababababababababababababababababababababababababababab";
const DIRECT: &str = "0x12225120abababababababababababababababababababababababababababababababab";

/// Exit code, standard output and standard error.
fn bridge(arguments: &[&str]) -> (i32, String, String) {
    let output = paraffin().arg("bridge").args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn json_of(arguments: &[&str]) -> (i32, Value) {
    let (code, stdout, stderr) = bridge(&[arguments, &["--json"]].concat());
    (code, serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {stdout} {stderr}")))
}

/// row BR01
#[test]
fn a_deposit_is_encoded_and_read_back() {
    let (code, stdout, _) = bridge(&["encode", "deposit", "--recipient", TAPROOT]);
    assert_eq!((code, stdout.trim()), (0, format!("bridge data: {DIRECT}").as_str()));
    let destination = "0014cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd";
    let conversion = [
        &["encode", "deposit", "--recipient", TAPROOT, "--convert-bps", "10000", "--btc-destination", destination][..],
        &["--max-slippage-bps", "100"],
    ]
    .concat();
    let (code, written) = json_of(&conversion);
    assert_eq!(code, 0, "{written}");
    assert_eq!(
        written["bridge_data"],
        "0x12225120abababababababababababababababababababababababababababababababab221d08904e12160014\
         cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd1864"
    );
    let (code, read) = json_of(&["decode", "bridge-data", written["bridge_data"].as_str().unwrap()]);
    assert_eq!((code, &read["dispatch"], &read["convert_bps"]), (0, &json!("conversion"), &json!(10_000)));
}

/// row BR05
#[test]
fn a_conversion_over_the_cap_is_refused_with_the_largest_share() {
    let cap = ["--reserve", "585400000000", "--amount", "100000000000", "--convert-bps"];
    let (code, refused) = json_of(&[&["check", "cap"][..], &cap, &["59"]].concat());
    assert_eq!((code, &refused["accepted"], &refused["largest_bps"]), (2, &json!(false), &json!(58)));
    let (code, accepted) = json_of(&[&["check", "cap"][..], &cap, &["58"]].concat());
    assert_eq!((code, &accepted["accepted"]), (0, &json!(true)));
    let deposit = ["encode", "deposit", "--recipient", TAPROOT, "--btc-destination", TAPROOT];
    let (code, stdout, _) = bridge(&[&deposit[..], &cap, &["59"]].concat());
    assert_eq!(code, 2);
    assert!(stdout.contains("at most 58 bps"), "{stdout}");
}

/// row BR06
#[test]
fn the_two_calls_of_a_deposit_are_printed_in_order() {
    let (code, calls) =
        json_of(&["encode", "deposit-calls", "--asset", "usdt", "--amount", "100000000", "--bridge-data", DIRECT]);
    assert_eq!(code, 0, "{calls}");
    let names: Vec<_> = calls["calls"].as_array().unwrap().iter().map(|call| &call["function"]).collect();
    assert_eq!(names, ["approve", "depositAndBridge"]);
    let deposit = calls["calls"][1]["data"].as_str().unwrap();
    assert!(deposit.starts_with("0xbedb65ee"), "{deposit}");
    let (code, read) = json_of(&["decode", "calldata", deposit]);
    assert_eq!((code, &read["asset"], &read["bridge_data"]), (0, &json!("usdt"), &json!(DIRECT)));
}

/// row BR09
#[test]
fn a_swap_without_a_floor_needs_an_explicit_word() {
    let swap = |minimum: &'static str| {
        let to = "0x1111111111111111111111111111111111111111";
        let fixed = ["encode", "burn-data", "--amount-in", "1000000", "--to", to, "--deadline", "1800000000"];
        [&fixed[..], &["--amount-out-min", minimum]].concat()
    };
    let (code, written) = json_of(&swap("900000"));
    assert_eq!(code, 0, "{written}");
    let data = written["burn_data"].as_str().unwrap();
    assert!(data.starts_with("0x01017a250d5630b4cf539739df2c5dacb4c659f2488d18cbafe5"), "{data}");
    assert_eq!(data.len(), 2 + 282 * 2);
    let (code, read) = json_of(&["decode", "burn-data", data]);
    assert_eq!((code, &read["effect"], &read["warnings"]), (0, &json!("swap"), &json!([])));

    let (code, stdout, _) = bridge(&swap("0"));
    assert_eq!(code, 2);
    assert!(stdout.contains("--allow-zero-min"), "{stdout}");
    let (code, written) = json_of(&[&swap("0")[..], &["--allow-zero-min"]].concat());
    assert_eq!(code, 0, "{written}");
    let (code, read) = json_of(&["decode", "burn-data", written["burn_data"].as_str().unwrap()]);
    assert_eq!((code, read["warnings"].as_array().unwrap().len()), (0, 1), "{read}");
}

/// row BR08
#[test]
fn a_burn_prints_the_words_of_its_cellpack() {
    let evm = "0x977744000000000000000000000000000000cf06";
    let (code, burn) = json_of(&["encode", "burn", "--evm-address", evm, "--asset", "usdc"]);
    assert_eq!(code, 0, "{burn}");
    assert_eq!(burn["cellpack"], json!(["4", "1776", "5", "2541175808", "52998", "0"]));
    let (code, burn) = json_of(&["encode", "burn", "--evm-address", evm, "--asset", "usdc", "--burn-data", "0x090909"]);
    assert_eq!(code, 0, "{burn}");
    assert_eq!(burn["cellpack"][7], "1", "{burn}");
    assert_eq!(burn["cellpack"][8], "12009965175477489169824853534747656192", "{burn}");
    let (code, plain, _) = bridge(&["encode", "burn-data"]);
    assert_eq!((code, plain.trim()), (0, "burn data: 0x0100"));
}

/// row BR02
/// row BR03
/// row BR07
#[test]
fn what_would_lose_money_is_refused_with_code_2() {
    for (arguments, reason) in [
        (&["check", "script", "6a0400000000", "--role", "destination"][..], "refused: "),
        (&["check", "script", "5114abababababababababababababababababababab", "--role", "recipient"], "refused: "),
        (&["check", "script", "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx", "--role", "recipient"], "mainnet"),
        (&["check", "bridge-data", ""], "refused: "),
        (&["check", "bridge-data", "0xzz"], "not hexadecimal"),
        (&["encode", "deposit", "--recipient", TAPROOT, "--convert-bps", "10001"], "refused: "),
        (&["decode", "calldata", "0xdeadbeef"], "refused: "),
    ] {
        let (code, stdout, _) = bridge(arguments);
        assert_eq!(code, 2, "{arguments:?}: {stdout}");
        assert!(stdout.contains(reason), "{arguments:?}: {stdout}");
        let (code, verdict) = json_of(arguments);
        assert_eq!((code, &verdict["accepted"]), (2, &json!(false)), "{arguments:?}");
    }
    let (code, _, _) =
        bridge(&["check", "script", "5114abababababababababababababababababababab", "--role", "destination"]);
    assert_eq!(code, 0);
}
