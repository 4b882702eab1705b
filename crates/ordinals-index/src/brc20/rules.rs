//! Heights and scripts that differ between networks. Source of all of them: the settings of OPI's BRC-20 indexer
//! (bestinslot-xyz/OPI, `modules/brc20_index`); those of the refund of the swap module also in okx/ord.

use bitcoin::ScriptBuf;
use bitcoin::hex::FromHex as _;
use paraffin_primitives::{Height, Network};

/// Blocks before the height of 6-byte tickers from which on a predeploy counts.
const PREDEPLOY_LEAD: Height = 10;
/// Least distance in blocks between a predeploy and its deploy.
pub(super) const PREDEPLOY_DELAY: Height = 3;

/// What differs between networks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// First block that has a hash of events; the cumulative hash begins here, long before the first event.
    pub first_hash: Height,
    /// First block whose inscriptions count.
    pub first_event: Height,
    /// First block in which 5-byte tickers can be deployed.
    pub self_mint: Height,
    /// First block in which 6-byte tickers count.
    pub six_bytes: Height,
    /// The one refund of what was sent to the swap module of old.
    pub swap_refund: Option<SwapRefund>,
}

/// At the beginning of one block, everything that one script owns goes to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwapRefund {
    /// The block.
    pub height: Height,
    /// The script of the module.
    pub module: ScriptBuf,
    /// Who gets it.
    pub receiver: ScriptBuf,
}

impl Rules {
    /// The rules of a network.
    pub fn of(network: Network) -> Self {
        match network {
            Network::Mainnet => Self {
                first_hash: 767_430,
                first_event: 779_832,
                self_mint: 837_090,
                six_bytes: 912_690,
                swap_refund: refund(
                    932_888,
                    "6a208cbc2ac9896cac98d304aa42f43b98208ce8ae31c25e48d84ee852834a1a8066",
                    network,
                    "bc1qrj03km5h9ag24cpynyn3l5tvny9cyd0x0le42u",
                ),
            },
            Network::Signet => Self {
                first_hash: 112_402,
                first_event: 112_402,
                self_mint: 0,
                six_bytes: 230_000,
                swap_refund: refund(
                    283_888,
                    "6a2031152ea2364a6dbaab9013be8d656a34256d7e89f0c30714bbb04a9d85e63e5b",
                    network,
                    "tb1qkrewl9zclku2qngth52eezdyrwmjpcspttdypa",
                ),
            },
            Network::Regtest => Self { first_hash: 0, first_event: 0, self_mint: 0, six_bytes: 0, swap_refund: None },
        }
    }

    /// First block in which a predeploy counts.
    pub(super) fn predeploy(&self) -> Height {
        self.six_bytes.saturating_sub(PREDEPLOY_LEAD)
    }
}

/// `None` only if one of the constants above were no script or address, which a test excludes.
fn refund(height: Height, module: &str, network: Network, receiver: &str) -> Option<SwapRefund> {
    let module = ScriptBuf::from(Vec::from_hex(module).ok()?);
    let receiver = network.parse_address(receiver).ok()?.script_pubkey();
    Some(SwapRefund { height, module, receiver })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_refund_of_both_public_networks_is_known() {
        for (network, height) in [(Network::Mainnet, 932_888), (Network::Signet, 283_888)] {
            let refund = Rules::of(network).swap_refund.unwrap();
            assert_eq!(refund.height, height);
            assert!(refund.module.is_op_return() && refund.module.len() == 34);
            assert!(refund.receiver.is_p2wpkh());
        }
        assert_eq!(Rules::of(Network::Regtest).swap_refund, None);
    }

    #[test]
    fn predeploys_count_ten_blocks_before_six_byte_tickers_and_never_below_zero() {
        assert_eq!(Rules::of(Network::Mainnet).predeploy(), 912_680);
        assert_eq!(Rules::of(Network::Regtest).predeploy(), 0);
    }
}
