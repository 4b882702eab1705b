use super::varint::{put_varint, take_varint};
use super::{RowError, finished};

/// What a script has received and spent in confirmed blocks, counted as Esplora counts. Sums are satoshis; they count
/// every passage of the same coin, hence may exceed the money supply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ScriptTotals {
    /// Outputs that pay the script.
    pub funded_txo_count: u64,
    /// Satoshis in these outputs.
    pub funded_txo_sum: u64,
    /// Those outputs that are spent.
    pub spent_txo_count: u64,
    /// Satoshis in the spent outputs.
    pub spent_txo_sum: u64,
    /// Distinct transactions that pay the script or spend from it.
    pub tx_count: u64,
}

impl ScriptTotals {
    /// Satoshis that the script holds now.
    pub fn balance(&self) -> u64 {
        self.funded_txo_sum.saturating_sub(self.spent_txo_sum)
    }

    /// Value of table `script_totals`: five varints in the order of the members.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut output = Vec::with_capacity(24);
        for number in
            [self.funded_txo_count, self.funded_txo_sum, self.spent_txo_count, self.spent_txo_sum, self.tx_count]
        {
            put_varint(&mut output, number);
        }
        output
    }

    pub(crate) fn decode(mut value: &[u8]) -> Result<Self, RowError> {
        let input = &mut value;
        let totals = Self {
            funded_txo_count: take_varint(input)?,
            funded_txo_sum: take_varint(input)?,
            spent_txo_count: take_varint(input)?,
            spent_txo_sum: take_varint(input)?,
            tx_count: take_varint(input)?,
        };
        finished(input)?;
        Ok(totals)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_round_trip() {
        let totals = ScriptTotals {
            funded_txo_count: 1,
            funded_txo_sum: u64::MAX,
            spent_txo_count: 0,
            spent_txo_sum: 300,
            tx_count: 70_000,
        };
        assert_eq!(ScriptTotals::decode(&totals.encode()), Ok(totals));
        assert!(ScriptTotals::decode(&[totals.encode(), vec![0]].concat()).is_err());
    }
}
