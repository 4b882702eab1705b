//! An optional module: every address that the chain ever paid, as text, so that the beginning of one finds it.
//!
//! A module of its own, so that it can be switched on later (it then catches up by itself) and costs nothing while it is
//! off. Its rows are about 50 bytes for each address: nothing on a test chain, more than the rest of the index on mainnet.
//!
//! ```text
//! table      key                                    value
//! addresses  the address as it is written           nothing
//! ```

use std::collections::HashSet;

use bitcoin::Address;
use paraffin_primitives::{ConnectedBlock, Network};
use paraffin_store::{
    Module, ModuleError, ModuleId, ModuleSchema, ModuleWriter, Placement, Snapshot, Table, TableKind,
};

use crate::error::ReadError;

/// Number of the module on disk.
pub const ADDRESSES_MODULE: ModuleId = ModuleId(2);

const ADDRESSES: Table = Table {
    module: ADDRESSES_MODULE,
    id: 1,
    name: "addresses",
    kind: TableKind::WriteOnce,
    placement: Placement::Ordered,
};

/// What the store must know about the module.
pub const ADDRESSES_SCHEMA: ModuleSchema =
    ModuleSchema { id: ADDRESSES_MODULE, name: "addresses", version: 1, tables: &[ADDRESSES], reads: &[] };

/// Longest address in characters; a longer text is the beginning of none.
const ADDRESS_LEN_MAX: usize = 90;

/// The module that notes the addresses of each block.
#[derive(Debug, Clone, Copy)]
pub struct AddressModule {
    network: Network,
}

impl AddressModule {
    /// Notes addresses in the form of `network`.
    pub fn new(network: Network) -> Self {
        Self { network }
    }
}

impl Module for AddressModule {
    fn schema(&self) -> ModuleSchema {
        ADDRESSES_SCHEMA
    }

    fn connect(&mut self, block: &ConnectedBlock, rows: &mut ModuleWriter<'_>) -> Result<(), ModuleError> {
        let mut scripts = HashSet::new();
        for output in block.block.txdata.iter().flat_map(|transaction| &transaction.output) {
            if !scripts.insert(output.script_pubkey.as_script()) {
                continue;
            }
            let Ok(address) = Address::from_script(&output.script_pubkey, self.network.bitcoin()) else { continue };
            let address = address.to_string();
            if rows.get(&ADDRESSES, address.as_bytes())?.is_none() {
                rows.put(&ADDRESSES, address.as_bytes(), &[])?;
            }
        }
        Ok(())
    }
}

/// At most `limit` addresses of `network` that begin with `prefix`, in the order of their characters. Addresses of the
/// bech32 family may be written in capitals. `None` when the module is off or still behind the tip.
///
/// # Errors
/// [`ReadError`] when reading fails.
pub fn addresses_with_prefix(
    snapshot: &Snapshot,
    network: Network,
    prefix: &str,
    limit: usize,
) -> Result<Option<Vec<String>>, ReadError> {
    let tip = snapshot.tip().map(|record| record.id.height);
    if tip.is_none() || snapshot.module_height(ADDRESSES_MODULE)? != tip {
        return Ok(None);
    }
    if prefix.len() > ADDRESS_LEN_MAX {
        return Ok(Some(Vec::new()));
    }
    let lower = prefix.to_ascii_lowercase();
    let prefix = if lower.starts_with(bech32_beginning(network)) { lower.as_str() } else { prefix };
    let mut addresses = Vec::new();
    for row in snapshot.prefix(&ADDRESSES, prefix.as_bytes()).take(limit) {
        let damaged = ReadError::Damaged { table: ADDRESSES.name, reason: "an address is plain text" };
        addresses.push(String::from_utf8(row?.0).map_err(|_| damaged)?);
    }
    Ok(Some(addresses))
}

/// How every address of the bech32 family begins.
const fn bech32_beginning(network: Network) -> &'static str {
    match network {
        Network::Mainnet => "bc1",
        Network::Signet => "tb1",
        Network::Regtest => "bcrt1",
    }
}
