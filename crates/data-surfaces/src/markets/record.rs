//! Records as JSON objects, with each member in both ways of writing names.

use std::borrow::Cow;
use std::marker::PhantomData;

use paraffin_primitives::AlkaneId;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use serde_json::{Map, Number, Value};

use paraffin_gateway::alkanes::id_object;
use paraffin_gateway::errors::ApiError;

/// Amounts that clients of the `snake_case` form read as numbers: they stand there as integers, digit for digit.
const COUNTED: [&str; 2] = ["soldAmount", "boughtAmount"];

/// A record that is put together already; `T` is its shape.
pub(crate) struct Record<T> {
    members: Map<String, Value>,
    shape: PhantomData<fn() -> T>,
}

impl<T> Record<T> {
    /// `twins` adds every member under its `snake_case` name (docs/api.md).
    fn of(mut members: Map<String, Value>, twins: bool) -> Self {
        if twins {
            let twin = |(name, value): (&String, &Value)| {
                let number = value.as_str().filter(|_| COUNTED.contains(&name.as_str()));
                let number = number.and_then(|digits| digits.parse::<Number>().ok());
                (snake_case(name), number.map_or_else(|| value.clone(), Value::Number))
            };
            let more: Vec<(String, Value)> =
                members.iter().map(twin).filter(|(name, _)| !members.contains_key(name)).collect();
            members.extend(more);
        }
        Self { members, shape: PhantomData }
    }

    #[cfg(test)]
    fn into_value(self) -> Value {
        Value::Object(self.members)
    }
}

impl<T: Serialize> Record<T> {
    /// Of a struct, with its twins or without.
    ///
    /// # Errors
    /// 500 when it is no object.
    pub(super) fn new(record: &T, twins: bool) -> Result<Self, ApiError> {
        match serde_json::to_value(record).map_err(|error| ApiError::internal(&error))? {
            Value::Object(members) => Ok(Self::of(members, twins)),
            other => Err(ApiError::inconsistent(format!("{other} is no record"))),
        }
    }
}

impl<T> Serialize for Record<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.members.serialize(serializer)
    }
}

impl<T: JsonSchema> JsonSchema for Record<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// Members of a record under their camelCase names.
#[derive(Default)]
pub(super) struct Members(Map<String, Value>);

impl Members {
    /// With one more member.
    #[must_use]
    pub(super) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.insert(name.to_owned(), value.into());
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

    /// The record, with twins or without.
    pub(super) fn finish<T>(self, twins: bool) -> Record<T> {
        Record::of(self.0, twins)
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
        let record = |twins: bool| {
            let members = Members::default().with("id", "2:1").with_parts("soldToken", AlkaneId { block: 2, tx: 7 });
            members.with_amount("soldAmount", u128::MAX).finish::<()>(twins).into_value()
        };
        let plain =
            json!({ "id": "2:1", "soldTokenBlockId": "2", "soldTokenTxId": "7", "soldAmount": u128::MAX.to_string() });
        assert_eq!(record(false), plain);
        let both = record(true);
        assert_eq!(both["sold_token_block_id"], "2");
        assert_eq!(both["sold_token_tx_id"], "7");
        assert_eq!(both["soldAmount"], u128::MAX.to_string());
        assert_eq!(both["sold_amount"].to_string(), u128::MAX.to_string(), "a number, exactly");
        assert_eq!(both.as_object().map(Map::len), Some(7));
        assert_eq!(snake_case("token0TvlInUsd"), "token0_tvl_in_usd");
    }
}
