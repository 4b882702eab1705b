//! Texts that clients send as ids, amounts, outpoints, networks and addresses: what is accepted is printed and read back equal.

use paraffin_primitives::{AlkaneId, Amount, Network, format_outpoint, parse_outpoint};

pub(crate) fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    if let Ok(id) = text.parse::<AlkaneId>() {
        assert_eq!(id.to_string().parse(), Ok(id));
    }
    if let Ok(amount) = text.parse::<Amount>() {
        assert_eq!(amount.to_string().parse(), Ok(amount));
    }
    if let Ok(outpoint) = parse_outpoint(text) {
        assert_eq!(parse_outpoint(&format_outpoint(&outpoint)), Ok(outpoint));
    }
    for network in Network::ALL {
        if let Ok(address) = network.parse_address(text) {
            assert_eq!(network.parse_address(&address.to_string()), Ok(address));
        }
    }
    if let Ok(network) = text.parse::<Network>() {
        assert_eq!(network.name(), text);
    }
}
