//! When two answers of a view are the same, and how they are shown.

use bitcoin::hex::DisplayHex as _;
use paraffin_alkanes::proto::alkanes::{
    AlkaneInventoryResponse, AlkanesBlockTraceEvent, AlkanesTrace, MultiSimulateResponse, PendingUnwrapsResponse,
    SimulateResponse,
};
use paraffin_alkanes::proto::protorune::{OutpointResponse, RunesResponse, WalletResponse};
use prost::Message;

/// What a view said: bytes, or why it said nothing.
type Answer = Result<Vec<u8>, String>;

/// Characters that are shown of an answer.
const SHOWN: usize = 4_000;

/// Whether both sides said the same. An answer without content and none are one for a caller.
pub(crate) fn same(view: &str, native: &Answer, reference: &Answer) -> bool {
    let _ = view;
    match (native, reference) {
        (Ok(native), Ok(reference)) => native == reference,
        (Err(_), Err(_)) => true,
        _ => false,
    }
}

fn shown<T: Message + Default + std::fmt::Debug>(bytes: &[u8]) -> String {
    T::decode(bytes).map_or_else(|_| bytes.to_lower_hex_string(), |message| format!("{message:?}"))
}

/// An answer for people.
pub(crate) fn readable(view: &str, answer: &Answer) -> String {
    let text = match answer {
        Err(error) => format!("error: {error}"),
        Ok(bytes) => match view {
            "simulate" => shown::<SimulateResponse>(bytes),
            "multisimluate" => shown::<MultiSimulateResponse>(bytes),
            "protorunesbyoutpoint" | "runesbyoutpoint" => shown::<OutpointResponse>(bytes),
            "protorunesbyaddress" | "spendablesbyaddress" | "runesbyaddress" => shown::<WalletResponse>(bytes),
            "protorunesbyheight" | "runesbyheight" => shown::<RunesResponse>(bytes),
            "getinventory" => shown::<AlkaneInventoryResponse>(bytes),
            "unwrap" => shown::<PendingUnwrapsResponse>(bytes),
            "trace" => shown::<AlkanesTrace>(bytes),
            "traceblock" => shown::<AlkanesBlockTraceEvent>(bytes),
            _ => bytes.to_lower_hex_string(),
        },
    };
    text.chars().take(SHOWN).collect()
}
