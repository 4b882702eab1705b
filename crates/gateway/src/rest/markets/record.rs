//! Records as JSON objects, with each member in both ways of writing names.

use paraffin_primitives::AlkaneId;
use serde_json::{Map, Value};

use crate::alkanes::id_object;

/// Members of a record under their camelCase names.
#[derive(Default)]
pub(super) struct Record {
    members: Map<String, Value>,
    /// What stands under a `snake_case` name where it is not the same.
    others: Vec<(&'static str, Value)>,
}

impl Record {
    /// With one more member.
    #[must_use]
    pub(super) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.members.insert(name.to_owned(), value.into());
        self
    }

    /// With both parts of an id, as `<name>BlockId` and `<name>TxId`.
    #[must_use]
    pub(super) fn with_parts(self, name: &str, id: AlkaneId) -> Self {
        self.with(&format!("{name}BlockId"), id.block.to_string()).with(&format!("{name}TxId"), id.tx.to_string())
    }

    /// With an id as an object.
    #[must_use]
    pub(super) fn with_id(self, name: &str, id: AlkaneId) -> Self {
        self.with(name, id_object(id))
    }

    /// With an amount.
    #[must_use]
    pub(super) fn with_amount(self, name: &str, amount: u128) -> Self {
        self.with(name, amount.to_string())
    }

    /// With an amount that clients of the `snake_case` form read as a number: it stands there as an integer, digit for digit.
    #[must_use]
    pub(super) fn with_counted(mut self, name: &str, twin: &'static str, amount: u128) -> Self {
        self.others.push((twin, serde_json::json!(amount)));
        self.with_amount(name, amount)
    }

    /// The record; `twins` adds every member under its `snake_case` name (docs/api.md).
    pub(super) fn finish(self, twins: bool) -> Value {
        let Self { mut members, others } = self;
        if twins {
            let more: Vec<(String, Value)> = members
                .iter()
                .map(|(name, value)| (snake_case(name), value.clone()))
                .filter(|(name, _)| !members.contains_key(name))
                .collect();
            members.extend(more);
            members.extend(others.into_iter().map(|(name, value)| (name.to_owned(), value)));
        }
        Value::Object(members)
    }
}

/// `poolTvlInUsd` as `pool_tvl_in_usd`.
fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn twins_repeat_every_member_and_can_be_left_out() {
        let record = || {
            Record::default().with("id", "2:1").with_parts("soldToken", AlkaneId { block: 2, tx: 7 }).with_counted(
                "soldAmount",
                "sold_amount",
                u128::MAX,
            )
        };
        let plain =
            json!({ "id": "2:1", "soldTokenBlockId": "2", "soldTokenTxId": "7", "soldAmount": u128::MAX.to_string() });
        assert_eq!(record().finish(false), plain);
        let both = record().finish(true);
        assert_eq!(both["sold_token_block_id"], "2");
        assert_eq!(both["sold_token_tx_id"], "7");
        assert_eq!(both["soldAmount"], u128::MAX.to_string());
        assert_eq!(both["sold_amount"].to_string(), u128::MAX.to_string(), "a number, exactly");
        assert_eq!(both.as_object().map(Map::len), Some(7));
        assert_eq!(snake_case("token0TvlInUsd"), "token0_tvl_in_usd");
    }
}
