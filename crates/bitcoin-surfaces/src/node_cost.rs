//! Bounds on the cost of a call to the node, checked before it is passed on: a node does not stop when the caller disconnects.

use serde::Deserialize;
use serde_json::value::RawValue;

use paraffin_gateway::errors::ApiError;

/// Longest descriptor, bytes; one of 20 keys with their origins has about 3,000.
const DESCRIPTOR_BYTES_MAX: usize = 4_096;
/// Most indices of a descriptor in one call. Bitcoin Core itself takes a million.
const RANGE_MAX: u64 = 1_000;
/// Most child keys that one call may make the node derive: the steps of all keys, for each index and each of their alternatives.
const DERIVATIONS_MAX: u64 = 20_000;
/// Indices that Bitcoin Core takes of a descriptor that comes without a range, in a list of descriptors.
const RANGE_DEFAULT: u64 = 1_001;
/// Verbosity of `getblock` at which the inputs of each transaction are shown with what they spend: about 100 MB for a full block.
const VERBOSITY_OF_TRANSACTIONS: i64 = 2;

/// Refuses calls that would keep the node busy for long.
///
/// # Errors
/// -32602 with the allowed bounds.
pub(crate) fn check(method: &str, params: &[Box<RawValue>], has_key: bool) -> Result<(), ApiError> {
    let first = params.first().map(AsRef::as_ref);
    let second = params.get(1).map(AsRef::as_ref).filter(|raw| raw.get() != "null");
    match method {
        "getblock" => check_verbosity(second, has_key),
        "getdescriptorinfo" => check_descriptor(first, None),
        "deriveaddresses" => check_descriptor(first, Some(second.map_or(Ok(1), indices)?)),
        "utxoupdatepsbt" => second.map_or(Ok(()), check_descriptors),
        _ => Ok(()),
    }
}

fn check_verbosity(raw: Option<&RawValue>, has_key: bool) -> Result<(), ApiError> {
    let most = if has_key { VERBOSITY_OF_TRANSACTIONS } else { VERBOSITY_OF_TRANSACTIONS - 1 };
    // A verbosity that is not a number is 0, 1, or refused by the node.
    let Some(raw) = raw.filter(|raw| raw.get().starts_with(|first: char| first == '-' || first.is_ascii_digit()))
    else {
        return Ok(());
    };
    match serde_json::from_str::<i64>(raw.get()) {
        Ok(verbosity) if verbosity <= most => Ok(()),
        _ if has_key => Err(ApiError::invalid(format!("verbosity must be at most {most}"))),
        _ => Err(ApiError::invalid(format!(
            "verbosity must be at most {most} without a key, and {VERBOSITY_OF_TRANSACTIONS} with one"
        ))),
    }
}

/// How many indices a range names: a number is the last one from 0 on, two are the first and the last.
fn indices(raw: &RawValue) -> Result<u64, ApiError> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Range {
        To(u64),
        Between([u64; 2]),
    }
    let count = match serde_json::from_str(raw.get()) {
        Ok(Range::To(last)) => last.saturating_add(1),
        Ok(Range::Between([first, last])) => last.saturating_sub(first).saturating_add(1),
        Err(_) => return Err(ApiError::invalid("range must be an index, or the first and the last one")),
    };
    // Both ends count, so that `1000` is allowed, too.
    if count > RANGE_MAX + 1 {
        return Err(ApiError::invalid(format!("range must be at most {RANGE_MAX}")));
    }
    Ok(count)
}

/// A descriptor, and the number of indices for which it is derived.
fn check_descriptor(raw: Option<&RawValue>, count: Option<u64>) -> Result<(), ApiError> {
    // A descriptor that is not a string is refused by the node.
    let Some(text) = raw.and_then(|raw| serde_json::from_str::<String>(raw.get()).ok()) else { return Ok(()) };
    if text.len() > DESCRIPTOR_BYTES_MAX {
        return Err(ApiError::invalid(format!("a descriptor has at most {DESCRIPTOR_BYTES_MAX} characters")));
    }
    bounded(count.map_or(0, |count| derivations(&text, count)))
}

/// The second parameter of `utxoupdatepsbt`: descriptors, alone or with ranges.
fn check_descriptors(raw: &RawValue) -> Result<(), ApiError> {
    #[derive(Deserialize)]
    struct Ranged {
        desc: String,
        #[serde(default)]
        range: Option<Box<RawValue>>,
    }
    let wrong = |_| ApiError::invalid("descriptors must be texts, or objects with desc and range");
    let entries: Vec<Box<RawValue>> = serde_json::from_str(raw.get()).map_err(wrong)?;
    let mut total = 0_u64;
    for entry in entries {
        let (text, count) = if entry.get().starts_with('"') {
            (serde_json::from_str::<String>(entry.get()).map_err(wrong)?, RANGE_DEFAULT)
        } else {
            let Ranged { desc, range } = serde_json::from_str(entry.get()).map_err(wrong)?;
            (desc, range.as_deref().map_or(Ok(RANGE_DEFAULT), indices)?)
        };
        if text.len() > DESCRIPTOR_BYTES_MAX {
            return Err(ApiError::invalid(format!("a descriptor has at most {DESCRIPTOR_BYTES_MAX} characters")));
        }
        total = total.saturating_add(derivations(&text, if text.contains('*') { count } else { 1 }));
    }
    bounded(total)
}

/// Child keys that a node derives for a descriptor, at most: every step, for each of its alternatives (`<0;1>`).
fn derivations(descriptor: &str, count: u64) -> u64 {
    let number = |letter: u8| descriptor.bytes().filter(|byte| *byte == letter).count() as u64;
    let each = (number(b'/') + 1).saturating_mul(number(b';') + 1);
    each.saturating_mul(count)
}

fn bounded(derivations: u64) -> Result<(), ApiError> {
    if derivations > DERIVATIONS_MAX {
        return Err(ApiError::invalid(
            "these descriptors stand for too many keys: ask for a shorter range, or for fewer of them",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(method: &str, params: &serde_json::Value, has_key: bool) -> bool {
        let params: Vec<Box<RawValue>> = serde_json::from_str(&params.to_string()).unwrap();
        match check(method, &params, has_key) {
            Ok(()) => true,
            Err(error) => {
                assert_eq!(error.kind.rpc_code, -32602);
                false
            }
        }
    }

    #[test]
    fn a_block_is_shown_with_its_transactions_to_keys_alone_and_never_with_what_they_spend() {
        use serde_json::json;
        for (verbosity, anonymous, keyed) in [
            (json!(0), true, true),
            (json!(1), true, true),
            (json!(true), true, true),
            (json!(null), true, true),
            (json!(2), false, true),
            (json!(3), false, false),
            (json!(100_000_000_000_000_000_000_f64), false, false),
            (json!(2.5), false, false),
            (json!("3"), true, true),
        ] {
            let params = json!(["00", verbosity]);
            assert_eq!(
                (allowed("getblock", &params, false), allowed("getblock", &params, true)),
                (anonymous, keyed),
                "{verbosity}"
            );
        }
        assert!(allowed("getblock", &json!(["00"]), false));
    }

    #[test]
    fn a_descriptor_is_derived_a_bounded_number_of_times() {
        use serde_json::json;
        let deep = format!("wpkh(tpub{}/*)", "/1".repeat(200));
        for (params, expected) in [
            (json!(["wpkh([d34db33f/84h/0h/0h]xpub/0/*)#abc", 1000]), true),
            (json!(["wpkh([d34db33f/84h/0h/0h]xpub/0/*)#abc", [5_000_000, 5_001_000]]), true),
            (json!(["wpkh(xpub/0/*)"]), true),
            (json!(["wpkh(xpub/<0;1>/*)", 1000]), true),
            (json!(["wpkh(xpub/0/*)", 1001]), false),
            (json!(["wpkh(xpub/0/*)", [0, 1_000_000]]), false),
            (json!(["wpkh(xpub/0/*)", "0"]), false),
            (json!(["wpkh(xpub/0/*)", -1]), false),
            (json!(["wpkh(xpub/0/*)", 1e3]), false),
            (json!([deep, 1000]), false),
            (json!([deep, 10]), true),
            (json!([deep]), true),
            (json!([format!("wpkh(xpub/<{}>/*)", vec!["0"; 100].join(";")), 1000]), false),
            (json!(["x".repeat(5000)]), false),
            (json!([5, 5]), true),
        ] {
            assert_eq!(allowed("deriveaddresses", &params, true), expected, "{params}");
        }
        assert!(!allowed("getdescriptorinfo", &json!(["x".repeat(5000)]), true));
        assert!(allowed("getdescriptorinfo", &json!(["wpkh(xpub/0/*)"]), false));
    }

    #[test]
    fn descriptors_beside_a_psbt_count_together() {
        use serde_json::json;
        let one = json!({ "desc": "wpkh(xpub/0/*)", "range": [0, 1000] });
        for (descriptors, expected) in [
            (json!(null), true),
            (json!([]), true),
            (json!(["wpkh(xpub/0/*)", "pkh(02aa)"]), true),
            (json!([one, one, one]), true),
            (json!(vec![&one; 10]), false),
            (json!(vec!["wpkh(xpub/0/*)"; 10]), false),
            (json!([{ "desc": "wpkh(xpub/0/*)", "range": 1_000_000 }]), false),
            (json!([{ "range": 5 }]), false),
            (json!([5]), false),
            (json!("wpkh(xpub/0/*)"), false),
        ] {
            assert_eq!(allowed("utxoupdatepsbt", &json!(["cHNidP8=", descriptors]), true), expected, "{descriptors}");
        }
        assert!(allowed("utxoupdatepsbt", &json!(["cHNidP8="]), true));
    }
}
