//! Compares two answers of a view and renders the difference.

use std::fmt::Write as _;

use bitcoin::hex::DisplayHex as _;
use paraffin_alkanes::proto::alkanes::{
    AlkaneInventoryResponse, AlkanesBlockTraceEvent, AlkanesTrace, MultiSimulateResponse, PendingUnwrapsResponse,
    SimulateBlockResponse, SimulateResponse, SimulateTransactionResponse,
};
use paraffin_alkanes::proto::protorune::{OutpointResponse, RunesResponse, WalletResponse};
use prost::Message;

/// The answer of a view: bytes, or the reason of its error.
pub(crate) type Answer = Result<Vec<u8>, String>;

/// The result of comparing two answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Compared {
    /// They are the same.
    Same,
    /// The reference traps, so that there is nothing to be equal to.
    Trapped,
    /// They differ; the text shows where.
    Parted(String),
}

/// Characters that are shown of an answer.
const SHOWN: usize = 6_000;

/// Compares two answers.
pub(crate) fn compare(view: &str, native: &Answer, reference: &Answer) -> Compared {
    match (native, reference) {
        (Ok(native), Ok(reference)) if form(view, native) == form(view, reference) => Compared::Same,
        (Err(_), Err(_)) => Compared::Same,
        (Ok(_), Err(why)) if why.starts_with("trapped: ") => Compared::Trapped,
        _ => Compared::Parted(difference(&readable(view, native), &readable(view, reference))),
    }
}

/// An answer as it is compared: to the byte, but for a list of what a contract ever held, which is a set here and repeats
/// itself in the reference (`docs/decisions/0026`).
fn form(view: &str, answer: &[u8]) -> Vec<Vec<u8>> {
    if view != "getinventory" {
        return vec![answer.to_vec()];
    }
    let inventory = AlkaneInventoryResponse::decode(answer).unwrap_or_default();
    let mut held: Vec<Vec<u8>> = inventory.alkanes.iter().map(Message::encode_to_vec).collect();
    held.sort();
    held.dedup();
    held
}

/// The lines in which two texts differ.
fn difference(native: &str, reference: &str) -> String {
    let (left, right): (Vec<&str>, Vec<&str>) = (native.lines().collect(), reference.lines().collect());
    let mut before = left.iter().zip(&right).take_while(|(left, right)| left == right).count();
    let behind = left[before..].iter().rev().zip(right[before..].iter().rev());
    let behind = behind.take_while(|(left, right)| left == right).count();
    let (left, right) = (&left[before..left.len() - behind], &right[before..right.len() - behind]);
    before += 1;
    let shown = |lines: &[&str]| lines.join("\n").chars().take(SHOWN).collect::<String>();
    format!("from line {before} on\nleft:\n{}\nright:\n{}", shown(left), shown(right))
}

fn message<T: Message + Default + std::fmt::Debug>(bytes: &[u8]) -> String {
    T::decode(bytes).map_or_else(|_| bytes.to_lower_hex_string(), |message| with_bytes(&format!("{message:#?}")))
}

/// Bytes that stand in a line each are put into one, as hexadecimal digits.
fn with_bytes(text: &str) -> String {
    let mut short = String::with_capacity(text.len());
    for line in text.lines() {
        let byte = line.trim_start().strip_suffix(',').and_then(|number| number.parse::<u8>().ok());
        match byte {
            Some(byte) => write!(short, "{byte:02x}").unwrap(),
            None => {
                short.push('\n');
                short.push_str(line);
            }
        }
    }
    short
}

/// An answer for people.
fn readable(view: &str, answer: &Answer) -> String {
    match answer {
        Err(error) => format!("error: {error}"),
        Ok(bytes) => match view {
            "simulate" => message::<SimulateResponse>(bytes),
            "multisimluate" => message::<MultiSimulateResponse>(bytes),
            "simulatetransaction" | "simulateprotostones" => message::<SimulateTransactionResponse>(bytes),
            "simulateblock" => message::<SimulateBlockResponse>(bytes),
            "protorunesbyoutpoint" | "runesbyoutpoint" => message::<OutpointResponse>(bytes),
            "protorunesbyaddress" | "spendablesbyaddress" | "runesbyaddress" => message::<WalletResponse>(bytes),
            "protorunesbyheight" | "runesbyheight" => message::<RunesResponse>(bytes),
            "getinventory" => message::<AlkaneInventoryResponse>(bytes),
            "unwrap" => message::<PendingUnwrapsResponse>(bytes),
            "trace" => message::<AlkanesTrace>(bytes),
            "traceblock" => message::<AlkanesBlockTraceEvent>(bytes),
            _ => bytes.to_lower_hex_string(),
        },
    }
}

#[test]
fn answers_are_compared_to_the_byte_and_inventories_as_sets() {
    use paraffin_alkanes::proto::alkanes::AlkaneTransfer;
    let held = |values: &[u64]| -> Answer {
        let transfer = |value: &u64| AlkaneTransfer { id: None, value: Some(u128::from(*value).into()) };
        Ok(AlkaneInventoryResponse { alkanes: values.iter().map(transfer).collect() }.encode_to_vec())
    };
    assert_eq!(compare("getinventory", &held(&[1, 2]), &held(&[2, 1, 2])), Compared::Same);
    assert!(matches!(compare("getinventory", &held(&[1]), &held(&[2, 1])), Compared::Parted(_)));
    assert!(matches!(compare("sequence", &held(&[1, 2]), &held(&[2, 1])), Compared::Parted(_)));
    let trapped = || Err("trapped: unreachable".to_owned());
    assert_eq!(compare("trace", &held(&[]), &trapped()), Compared::Trapped);
    assert!(matches!(compare("trace", &held(&[]), &Err("too long".to_owned())), Compared::Parted(_)));
    assert!(matches!(compare("trace", &trapped(), &held(&[])), Compared::Parted(_)));
}
