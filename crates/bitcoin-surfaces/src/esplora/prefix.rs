use paraffin_bitcoin_index::{ReadError, addresses_with_prefix};

use super::{Fault, Outcome, json};
use paraffin_gateway::state::RequestContext;

/// Addresses in one answer.
const ADDRESSES_MAX: usize = 10;

/// `/address-prefix/:prefix`: up to ten addresses of the chain that begin so.
pub(super) async fn search(context: &RequestContext, prefix: &str) -> Outcome {
    let (network, prefix) = (context.network(), prefix.to_owned());
    let found = context.read(move |snapshot| addresses_with_prefix(snapshot, network, &prefix, ADDRESSES_MAX)).await?;
    let disabled = || {
        Fault::malformed(
            "address search disabled",
            "address search is switched off or still catching up: [index] address_search switches it on",
        )
    };
    json(&found.map_err(|error: ReadError| Fault::from(error))?.ok_or_else(disabled)?)
}
