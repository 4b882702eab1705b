use bitcoin::{OutPoint, Txid};
use paraffin_primitives::Network;

use crate::trace_log::LARGE_TRACES_BYTES;
use crate::vm::BLOCK_CODE_BYTES;
use crate::{BLOCK_WORK, MESSAGE_BYTES_MAX, STATE_BYTES_MAX};

/// Parameters of a network: first heights, forks and fuel (protocol B2). Heights are inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameters {
    /// The network.
    pub network: Network,
    /// First height at which messages are run (`GENESIS_BLOCK`).
    pub genesis_height: u64,
    /// Height of the transaction of [`Parameters::genesis_outpoint`].
    pub genesis_outpoint_height: u64,
    /// From here on fuel is ten times as much, and costs of storage and deployment change (`FUEL_CHANGE1`).
    pub fuel_change: u64,
    /// The second code of 2:0.
    pub diesel_upgrade: u64,
    /// The third code of 2:0, and version 1.1.0 of 32:0.
    pub diesel_eoa_upgrade: u64,
    /// Host functions deduct fuel, and a spread edict passes over `OP_RETURN` outputs (V217).
    pub host_fuel_deducted: u64,
    /// A child call that reverts no longer fails its caller (V220), and version 1.2.0 of 32:0.
    pub revert_survives: u64,
    /// Version 1.3.0 of 32:0.
    pub wrapped_bitcoin_130: u64,
    /// Version 1.3.1 of 32:0.
    pub wrapped_bitcoin_131: u64,
    /// A message always gets exactly the minimum of fuel (builds with regtest parameters, protocol B12).
    pub fuel_is_minimum: bool,
    /// Unmetered work that the transactions of a block may do beyond [`TRANSACTION_WORK`](crate::TRANSACTION_WORK)
    /// of each: [`BLOCK_WORK`] but in tests.
    pub block_work: u64,
    /// Bytes that the changes of a block may take while messages make them: [`STATE_BYTES_MAX`] but in tests and for views.
    pub state_bytes: usize,
    /// Memory that its messages may take at a time, in bytes: [`MESSAGE_BYTES_MAX`] but in tests and for views.
    pub message_bytes: u64,
    /// Bytes of large traces of a block; small ones share twice as much: [`LARGE_TRACES_BYTES`] but for views.
    pub trace_bytes: u64,
    /// Bytes of compiled code that a block keeps: [`BLOCK_CODE_BYTES`] but for views.
    pub code_bytes: u64,
}

/// The height by which fuel, code of built-in contracts and what calls may do are chosen. The reference looks at 32 bits, which
/// the caller of a view can exceed.
pub(crate) const fn fork_height(height: u64) -> u64 {
    height as u32 as u64
}

impl Parameters {
    /// The parameters of a network. Signet and regtest share theirs.
    pub const fn of(network: Network) -> Self {
        match network {
            Network::Mainnet => Self {
                network,
                genesis_height: 880_000,
                genesis_outpoint_height: 872_101,
                fuel_change: 899_087,
                diesel_upgrade: 908_888,
                diesel_eoa_upgrade: 917_888,
                host_fuel_deducted: 943_500,
                revert_survives: 950_000,
                wrapped_bitcoin_130: 957_000,
                wrapped_bitcoin_131: 960_000,
                fuel_is_minimum: false,
                block_work: BLOCK_WORK,
                state_bytes: STATE_BYTES_MAX,
                message_bytes: MESSAGE_BYTES_MAX,
                trace_bytes: LARGE_TRACES_BYTES,
                code_bytes: BLOCK_CODE_BYTES,
            },
            Network::Signet | Network::Regtest => Self {
                network,
                genesis_height: 0,
                genesis_outpoint_height: 0,
                fuel_change: 0,
                diesel_upgrade: 0,
                diesel_eoa_upgrade: 0,
                host_fuel_deducted: 0,
                revert_survives: 0,
                wrapped_bitcoin_130: 0,
                wrapped_bitcoin_131: 0,
                fuel_is_minimum: true,
                block_work: BLOCK_WORK,
                state_bytes: STATE_BYTES_MAX,
                message_bytes: MESSAGE_BYTES_MAX,
                trace_bytes: LARGE_TRACES_BYTES,
                code_bytes: BLOCK_CODE_BYTES,
            },
        }
    }

    /// The same for what callers try, which then takes about `bytes` of memory: three quarters for memories and tables, the rest
    /// for changes, reads, traces and code. A block that is indexed never has these bounds.
    #[must_use]
    pub fn within(self, bytes: usize) -> Self {
        let wide = bytes as u64;
        Self {
            message_bytes: self.message_bytes.min(wide / 4 * 3),
            state_bytes: self.state_bytes.min(bytes / 32 * 3),
            trace_bytes: self.trace_bytes.min(wide / 64),
            code_bytes: self.code_bytes.min(wide / 16),
            ..self
        }
    }

    /// The output that receives the alkanes issued by the deployment of built-in contracts (`GENESIS_OUTPOINT`).
    pub fn genesis_outpoint(&self) -> OutPoint {
        let txid: Txid = "3977b30a97c9b9d609afb4b7cc138e17b21d1e0c5e360d25debf1441de933bf4"
            .parse()
            .expect("the constant is 64 hexadecimal digits");
        OutPoint { txid, vout: 0 }
    }

    /// Fuel of all messages of a block (protocol B2).
    pub const fn block_fuel(&self, height: u64) -> u64 {
        if fork_height(height) >= self.fuel_change { 1_000_000_000 } else { 100_000_000 }
    }

    /// Least fuel of a message (protocol B12).
    pub const fn minimum_fuel(&self, height: u64) -> u64 {
        if fork_height(height) >= self.fuel_change { 3_500_000 } else { 350_000 }
    }

    /// Fuel for each byte of a storage map (protocol B12).
    pub const fn store_byte_fuel(&self, height: u64) -> u64 {
        if fork_height(height) >= self.fuel_change { 40 } else { 8 }
    }

    /// Fuel of creating a contract by an extcall (protocol B11, B12).
    pub const fn deploy_fuel(&self, height: u64) -> u64 {
        if fork_height(height) >= self.fuel_change { 100_000 } else { 10_000 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_callers_try_has_bounds_that_add_up() {
        for network in [Network::Mainnet, Network::Regtest] {
            let whole = Parameters::of(network);
            for bytes in [64 << 20, 288 << 20, 1_088 << 20] {
                let tried = whole.within(bytes);
                // Changes, reads, and large and small traces beside the contracts.
                let sum =
                    tried.message_bytes + tried.state_bytes as u64 / 3 * 4 + 3 * tried.trace_bytes + tried.code_bytes;
                assert!(sum <= bytes as u64 && sum > bytes as u64 / 10 * 9, "{sum} of {bytes}");
                let same = Parameters {
                    message_bytes: whole.message_bytes,
                    state_bytes: whole.state_bytes,
                    trace_bytes: whole.trace_bytes,
                    code_bytes: whole.code_bytes,
                    ..tried
                };
                assert_eq!(same, whole);
            }
            assert_eq!(whole.within(usize::MAX), whole, "never more than a block has");
        }
    }
}
