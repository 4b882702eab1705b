//! Edicts of a protostone: move an amount of one alkane to one output (protocol B4).

use paraffin_primitives::{AlkaneId, Amount};

/// Moves `amount` of `id` to `output`; its meaning to the ledger is protocol B5.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edict {
    /// The alkane. Any 128-bit parts can be written; 0:n with n > 0 voids the transaction when it is applied (B5).
    pub id: AlkaneId,
    /// Base units; 0 means all (B5).
    pub amount: Amount,
    /// The whole integer as written. The ledger compares its low 32 bits with the number of outputs (B22.1).
    pub output: u128,
}

/// Reads groups of four integers: block delta, transaction delta, amount, output (protocol B4).
///
/// A transaction delta counts from the previous edict only while the block stays the same.
/// `None`: the integers are no multiple of four, or an id overflows; the protostone then has no edicts at all.
pub(super) fn decode_edicts(mut integers: impl Iterator<Item = u128>) -> Option<Vec<Edict>> {
    let mut edicts = Vec::with_capacity(integers.size_hint().0 / 4);
    let mut id = AlkaneId::default();
    while let Some(block_delta) = integers.next() {
        let (tx_delta, amount, output) = (integers.next()?, integers.next()?, integers.next()?);
        id = AlkaneId {
            block: id.block.checked_add(block_delta)?,
            tx: if block_delta == 0 { id.tx.checked_add(tx_delta)? } else { tx_delta },
        };
        edicts.push(Edict { id, amount: Amount(amount), output });
    }
    Some(edicts)
}

/// Appends the edicts as integers, ordered by id, equal ids in the order given (protocol B4).
pub(super) fn append_edicts(edicts: &[Edict], integers: &mut Vec<u128>) {
    let mut sorted: Vec<&Edict> = edicts.iter().collect();
    sorted.sort_by_key(|edict| edict.id);
    let mut previous = AlkaneId::default();
    for edict in sorted {
        // Neither subtraction can go below zero: the ids are in order.
        let block_delta = edict.id.block - previous.block;
        let tx_delta = if block_delta == 0 { edict.id.tx - previous.tx } else { edict.id.tx };
        integers.extend([block_delta, tx_delta, edict.amount.0, edict.output]);
        previous = edict.id;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edict(block: u128, tx: u128, amount: u128, output: u128) -> Edict {
        Edict { id: AlkaneId { block, tx }, amount: Amount(amount), output }
    }

    #[test]
    fn a_transaction_delta_counts_within_its_block() {
        let integers = [2, 5, 10, 0, 0, 3, 20, 1, 2, 1, 30, 2];
        let expected = [edict(2, 5, 10, 0), edict(2, 8, 20, 1), edict(4, 1, 30, 2)];
        assert_eq!(decode_edicts(integers.into_iter()).unwrap(), expected);
    }

    #[test]
    fn an_incomplete_group_or_an_overflow_leaves_no_edicts() {
        for integers in [
            &[2_u128, 5, 10][..],
            &[2, 5, 10, 0, 1],
            &[u128::MAX, 0, 1, 0, 1, 0, 1, 0],
            &[2, u128::MAX, 1, 0, 0, 1, 1, 0],
        ] {
            assert_eq!(decode_edicts(integers.iter().copied()), None, "{integers:?}");
        }
    }

    #[test]
    fn edicts_are_written_in_the_order_of_their_ids() {
        let mut integers = Vec::new();
        append_edicts(&[edict(4, 1, 30, 2), edict(2, 5, 1, 9), edict(2, 5, 2, 8)], &mut integers);
        assert_eq!(integers, [2, 5, 1, 9, 0, 0, 2, 8, 2, 1, 30, 2]);
    }
}
