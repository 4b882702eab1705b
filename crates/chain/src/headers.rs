//! Verification of a chain of headers: links, proof of work, difficulty, cumulative work.

use bitcoin::block::Header;
use bitcoin::{BlockHash, CompactTarget, Target, Work};
use paraffin_primitives::{BlockId, Height, Network};

/// Blocks between two changes of the difficulty.
pub(crate) const RETARGET_INTERVAL: Height = 2016;

/// Why a header cannot follow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HeaderFault {
    /// It names another predecessor.
    #[error("the header at height {height} follows {follows}, not {expected}")]
    Link {
        /// Height at which it was offered.
        height: Height,
        /// Hash of the expected predecessor.
        expected: BlockHash,
        /// Hash of its predecessor.
        follows: BlockHash,
    },
    /// Its target is malformed or easier than the network allows.
    #[error("the header at height {0} has a difficulty that the network does not allow")]
    Limit(Height),
    /// Its hash does not meet its own target.
    #[error("the header at height {0} has no valid proof of work")]
    ProofOfWork(Height),
    /// Its target is not the one that the retarget rule gives.
    #[error("the header at height {height} has the difficulty {bits:08x}, which breaks the retarget rule")]
    Retarget {
        /// Height of the header.
        height: Height,
        /// Its compact target.
        bits: u32,
    },
}

/// A verified position in a chain of headers, and the work since it was anchored.
///
/// On mainnet every change of difficulty is computed anew; on signet, where a signature guards blocks, and on regtest only
/// the proof of work against the header's own target and the network's limit count.
#[derive(Debug, Clone)]
pub struct HeaderVerifier {
    network: Network,
    tip: BlockId,
    bits: CompactTarget,
    time: u32,
    /// Time of the first header of the current difficulty period; unknown when anchored inside one.
    period_start: Option<u32>,
    work: Option<Work>,
}

impl HeaderVerifier {
    /// Anchors at a header that is trusted: the genesis, or one that the local chain holds.
    /// `period_start` is the time of the header at the last height divisible by 2016 up to `height`; without it the next
    /// change of difficulty is checked only to stay within a factor of four.
    pub fn anchored(network: Network, height: Height, header: &Header, period_start: Option<u32>) -> Self {
        let at_start = height.is_multiple_of(RETARGET_INTERVAL);
        Self {
            network,
            tip: BlockId { height, hash: header.block_hash() },
            bits: header.bits,
            time: header.time,
            period_start: if at_start { Some(header.time) } else { period_start },
            work: None,
        }
    }

    /// The last verified header.
    pub fn tip(&self) -> BlockId {
        self.tip
    }

    /// Work of all headers since the anchor, without it; `None` while there are none.
    pub fn work(&self) -> Option<Work> {
        self.work
    }

    /// Verifies `header` as the next one and moves on to it.
    ///
    /// # Errors
    /// [`HeaderFault`]; the position is unchanged.
    pub fn push(&mut self, header: &Header) -> Result<BlockId, HeaderFault> {
        let height = self.tip.height + 1;
        if header.prev_blockhash != self.tip.hash {
            return Err(HeaderFault::Link { height, expected: self.tip.hash, follows: header.prev_blockhash });
        }
        let target = target_within(self.network, header.bits).ok_or(HeaderFault::Limit(height))?;
        let hash = header.validate_pow(target).map_err(|_| HeaderFault::ProofOfWork(height))?;
        if self.network == Network::Mainnet && !self.follows_retarget_rule(height, header.bits) {
            return Err(HeaderFault::Retarget { height, bits: header.bits.to_consensus() });
        }
        self.tip = BlockId { height, hash };
        self.bits = header.bits;
        self.time = header.time;
        if height.is_multiple_of(RETARGET_INTERVAL) {
            self.period_start = Some(header.time);
        }
        let work = target.to_work();
        self.work = Some(self.work.map_or(work, |sum| sum + work));
        Ok(self.tip)
    }

    fn follows_retarget_rule(&self, height: Height, bits: CompactTarget) -> bool {
        if !height.is_multiple_of(RETARGET_INTERVAL) {
            return bits == self.bits;
        }
        let params = &bitcoin::params::MAINNET;
        let required = |timespan: u64| CompactTarget::from_next_work_required(self.bits, timespan, params);
        let Some(start) = self.period_start else {
            let (hardest, easiest) = (Target::from(required(0)), Target::from(required(u64::from(u32::MAX))));
            return (hardest..=easiest).contains(&Target::from(bits));
        };
        // A negative time span counts as the shortest one, as in Bitcoin Core.
        bits == required(u64::from(self.time.saturating_sub(start)))
    }
}

/// The target of `bits` if it is well-formed and not easier than the network's limit.
///
/// The exponent is checked first: a larger one would be shifted out of 256 bits.
fn target_within(network: Network, bits: CompactTarget) -> Option<Target> {
    let compact = bits.to_consensus();
    let (exponent, mantissa) = (compact >> 24, compact & 0x00ff_ffff);
    if exponent > 32 || mantissa > 0x007f_ffff {
        return None;
    }
    let limit = match network {
        Network::Mainnet => Target::MAX_ATTAINABLE_MAINNET,
        Network::Signet => Target::MAX_ATTAINABLE_SIGNET,
        Network::Regtest => Target::MAX_ATTAINABLE_REGTEST,
    };
    let target = Target::from(bits);
    (target > Target::ZERO && target <= limit).then_some(target)
}

/// Work of one block with the compact target `bits`; `None` when it is not a target of the network.
pub(crate) fn work_of(network: Network, bits: CompactTarget) -> Option<Work> {
    target_within(network, bits).map(Target::to_work)
}

#[cfg(test)]
mod tests {
    use bitcoin::constants::genesis_block;
    use bitcoin::hashes::Hash;
    use bitcoin::{TxMerkleNode, block::Version};
    use proptest::prelude::*;

    use super::*;

    fn mine(prev: BlockHash, time: u32, bits: u32) -> Header {
        let mut header = Header {
            version: Version::from_consensus(0x2000_0000),
            prev_blockhash: prev,
            merkle_root: TxMerkleNode::all_zeros(),
            time,
            bits: CompactTarget::from_consensus(bits),
            nonce: 0,
        };
        while !header.target().is_met_by(header.block_hash()) {
            header.nonce += 1;
        }
        header
    }

    /// Mainnet block 1.
    fn first_header() -> Header {
        Header {
            version: Version::ONE,
            prev_blockhash: genesis_block(bitcoin::Network::Bitcoin).block_hash(),
            merkle_root: "0e3e2357e806b6cdb1f70b54c3a3a17b6714ee1f0e68bebb44a74b1efd512098".parse().unwrap(),
            time: 1_231_469_665,
            bits: CompactTarget::from_consensus(0x1d00_ffff),
            nonce: 2_573_394_689,
        }
    }

    fn regtest() -> HeaderVerifier {
        HeaderVerifier::anchored(Network::Regtest, 0, &genesis_block(bitcoin::Network::Regtest).header, None)
    }

    #[test]
    fn the_first_real_mainnet_header_follows_the_genesis() {
        let genesis = genesis_block(bitcoin::Network::Bitcoin).header;
        let mut verifier = HeaderVerifier::anchored(Network::Mainnet, 0, &genesis, None);
        let first = first_header();
        let tip = verifier.push(&first).unwrap();
        assert_eq!(tip.hash.to_string(), "00000000839a8e6886ab5951d76f411475428afc90947ee320161bbf18eb6048");
        assert_eq!(verifier.work(), Some(first.work()));
    }

    #[test]
    fn a_mainnet_header_that_changes_the_difficulty_inside_a_period_is_refused() {
        let genesis = genesis_block(bitcoin::Network::Bitcoin).header;
        let honest = HeaderVerifier::anchored(Network::Mainnet, 0, &genesis, None);
        let mut harder = HeaderVerifier { bits: CompactTarget::from_consensus(0x1c00_ffff), ..honest };
        assert_eq!(harder.push(&first_header()), Err(HeaderFault::Retarget { height: 1, bits: 0x1d00_ffff }));
    }

    #[test]
    fn a_header_that_does_not_link_or_has_no_work_is_refused_and_changes_nothing() {
        let mut verifier = regtest();
        let tip = verifier.tip();
        let unlinked = mine(BlockHash::all_zeros(), 1, 0x207f_ffff);
        assert!(matches!(verifier.push(&unlinked), Err(HeaderFault::Link { height: 1, .. })));
        let mut weak = mine(tip.hash, 1, 0x207f_ffff);
        while weak.target().is_met_by(weak.block_hash()) {
            weak.nonce += 1;
        }
        assert_eq!(verifier.push(&weak), Err(HeaderFault::ProofOfWork(1)));
        assert_eq!((verifier.tip(), verifier.work()), (tip, None));
    }

    #[test]
    fn a_target_easier_than_the_network_allows_is_refused() {
        let genesis = genesis_block(bitcoin::Network::Bitcoin).header;
        let easy = mine(genesis.block_hash(), 1, 0x207f_ffff);
        for network in [Network::Mainnet, Network::Signet] {
            let mut verifier = HeaderVerifier::anchored(network, 0, &genesis, None);
            assert_eq!(verifier.push(&easy), Err(HeaderFault::Limit(1)));
        }
        for bits in [0, 0xffff_ffff, 0x2100_ffff, 0x2280_0001, 0x1d80_0001, 0x2000_0000] {
            assert_eq!(work_of(Network::Regtest, CompactTarget::from_consensus(bits)), None, "{bits:08x}");
        }
    }

    /// The retarget of mainnet block 32256: block 30240 was mined at 1261130161, block 32255 at 1262152739.
    #[test]
    fn the_retarget_rule_gives_the_difficulty_of_mainnet_block_32256() {
        let verifier = HeaderVerifier {
            network: Network::Mainnet,
            tip: BlockId { height: 32_255, hash: BlockHash::all_zeros() },
            bits: CompactTarget::from_consensus(0x1d00_ffff),
            time: 1_262_152_739,
            period_start: Some(1_261_130_161),
            work: None,
        };
        assert!(verifier.follows_retarget_rule(32_256, CompactTarget::from_consensus(0x1d00_d86a)));
        assert!(!verifier.follows_retarget_rule(32_256, CompactTarget::from_consensus(0x1d00_d86b)));
        assert!(
            !verifier.follows_retarget_rule(32_255, CompactTarget::from_consensus(0x1d00_d86a)),
            "only at a boundary"
        );

        let inside = HeaderVerifier { period_start: None, ..verifier };
        for (bits, allowed) in [(0x1d00_d86a, true), (0x1c3f_ffc0, true), (0x1c3f_ffbf, false), (0x1d00_ffff, true)] {
            assert_eq!(
                inside.follows_retarget_rule(32_256, CompactTarget::from_consensus(bits)),
                allowed,
                "{bits:08x}"
            );
        }
    }

    #[test]
    fn time_that_runs_backwards_counts_as_the_shortest_period() {
        let verifier = HeaderVerifier {
            network: Network::Mainnet,
            tip: BlockId { height: 2015, hash: BlockHash::all_zeros() },
            bits: CompactTarget::from_consensus(0x1c00_ffff),
            time: 10,
            period_start: Some(1_000_000),
            work: None,
        };
        assert!(verifier.follows_retarget_rule(2016, CompactTarget::from_consensus(0x1b3f_ffc0)));
    }

    #[test]
    fn work_adds_up() {
        let mut verifier = regtest();
        for height in 1..=5 {
            let header = mine(verifier.tip().hash, height, 0x207f_ffff);
            verifier.push(&header).unwrap();
        }
        assert_eq!(verifier.tip().height, 5);
        let mut expected = [0; 32];
        expected[31] = 10;
        assert_eq!(verifier.work(), Some(Work::from_be_bytes(expected)));
    }

    proptest! {
        #[test]
        fn arbitrary_headers_never_panic(bytes in prop::array::uniform32(any::<u8>()), bits in any::<u32>(), time in any::<u32>(), nonce in any::<u32>()) {
            for network in Network::ALL {
                let anchor = genesis_block(network.bitcoin()).header;
                let mut verifier = HeaderVerifier::anchored(network, 2015, &anchor, Some(time));
                let header = Header {
                    version: Version::ONE,
                    prev_blockhash: anchor.block_hash(),
                    merkle_root: TxMerkleNode::from_byte_array(bytes),
                    time, bits: CompactTarget::from_consensus(bits), nonce,
                };
                let _ = verifier.push(&header);
            }
        }
    }
}
