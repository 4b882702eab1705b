//! The parser of accounts, exposed to the fuzz targets.

use bitcoin::secp256k1::Secp256k1;
use paraffin_primitives::Network;
use paraffin_wallet::parse_account;

/// Reads an account and derives the scripts of every chain of addresses at `indexes`.
///
/// # Errors
/// The message for the caller.
pub fn account(network: Network, text: &str, indexes: &[u32]) -> Result<Vec<bitcoin::ScriptBuf>, String> {
    let secp = Secp256k1::verification_only();
    let branches = parse_account(network, text).map_err(|error| error.to_string())?;
    let scripts = branches.iter().flat_map(|branch| indexes.iter().filter_map(|index| branch.script(&secp, *index)));
    Ok(scripts.collect())
}
