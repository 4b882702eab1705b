//! Headers as a node sends them: a chain is verified link by link, and a refused header changes nothing.

use bitcoin::block::Header;
use bitcoin::consensus::deserialize;
use paraffin_chain::HeaderVerifier;
use paraffin_primitives::Network;

pub(crate) fn run(bytes: &[u8]) {
    for network in Network::ALL {
        let genesis = bitcoin::blockdata::constants::genesis_block(network.bitcoin()).header;
        // One before a change of difficulty, so that its arithmetic is reached.
        for height in [0, 2015] {
            let mut verifier = HeaderVerifier::anchored(network, height, &genesis, None);
            for chunk in bytes.chunks_exact(Header::SIZE) {
                let mut header: Header = deserialize(chunk).expect("any 80 bytes are a header");
                // Random bytes never link.
                header.prev_blockhash = verifier.tip().hash;
                let before = verifier.tip();
                match verifier.push(&header) {
                    Ok(tip) => assert_eq!((tip.height, tip.hash), (before.height + 1, header.block_hash())),
                    Err(_) => assert_eq!(verifier.tip(), before),
                }
            }
        }
    }
}
