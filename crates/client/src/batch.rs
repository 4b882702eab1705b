//! Many methods in one request.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::client::{Client, read, result};
use crate::error::{Error, Refusal};
use crate::method::Method;

/// Methods of one surface that are called together. An instance accepts at most 1,000.
#[derive(Debug, Default)]
pub struct Batch {
    surface: Option<String>,
    requests: Vec<Value>,
}

/// Index of the answer of a method, with its type.
#[derive(Debug)]
pub struct Slot<A> {
    number: u64,
    answer: PhantomData<fn() -> A>,
}

/// The answers of a batch.
#[derive(Debug)]
pub struct Answers(BTreeMap<u64, Value>);

impl Batch {
    /// An empty batch.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a method.
    ///
    /// # Errors
    /// [`Error::Request`]: it is of another surface than those before it.
    pub fn add<M: Method>(&mut self, method: &M) -> Result<Slot<M::Answer>, Error> {
        let surface = method.surface();
        let number = self.add_raw(&surface, M::NAME, &method.parameters()?)?;
        Ok(Slot { number, answer: PhantomData })
    }

    /// Adds a method by its name, and returns the number of its answer.
    ///
    /// # Errors
    /// [`Error::Request`]: it is of another surface than those before it.
    pub fn add_raw(&mut self, surface: &str, name: &str, parameters: &Value) -> Result<u64, Error> {
        if self.surface.get_or_insert_with(|| surface.to_owned()) != surface {
            return Err(Error::Request("the methods of a batch are of one surface".to_owned()));
        }
        let number = self.requests.len() as u64;
        self.requests.push(json!({ "jsonrpc": "2.0", "id": number, "method": name, "params": parameters }));
        Ok(number)
    }
}

impl Client {
    /// Calls all methods of a batch; nothing is sent for an empty one.
    ///
    /// # Errors
    /// [`Error`] of the whole batch; single methods may fail as well.
    pub async fn batch(&self, batch: Batch) -> Result<Answers, Error> {
        let count = batch.requests.len();
        if count == 0 {
            return Ok(Answers(BTreeMap::new()));
        }
        let path = self.surface_path(batch.surface.as_deref().unwrap_or_default())?;
        let answer = self.post(&path, &Value::Array(batch.requests)).await?;
        let Value::Array(answers) = answer else {
            let refusal = Refusal::of_method(&answer).map(Refusal::into_error);
            return Err(refusal.unwrap_or_else(|| Error::Answer("a batch was answered with no list".to_owned())));
        };
        Answers::new(answers, count)
    }
}

impl Answers {
    fn new(answers: Vec<Value>, count: usize) -> Result<Self, Error> {
        let by_number: BTreeMap<u64, Value> =
            answers.into_iter().filter_map(|answer| Some((answer["id"].as_u64()?, answer))).collect();
        if by_number.len() == count && by_number.keys().copied().eq(0..count as u64) {
            return Ok(Self(by_number));
        }
        Err(Error::Answer("a batch has not one answer for each method".to_owned()))
    }

    /// Takes the answer of a method.
    ///
    /// # Errors
    /// See [`Error`].
    #[allow(clippy::needless_pass_by_value, reason = "an answer is taken once")]
    pub fn take<A: DeserializeOwned>(&mut self, slot: Slot<A>) -> Result<A, Error> {
        read(self.take_raw(slot.number)?)
    }

    /// Takes the answer of a method by its number.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn take_raw(&mut self, number: u64) -> Result<Value, Error> {
        let answer = self.0.remove(&number);
        result(answer.ok_or_else(|| Error::Request("the slot is of another batch, or was taken".to_owned()))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_found_by_their_ids_in_any_order_and_none_may_be_missing() {
        let answer = |id: u64| json!({ "id": id, "result": id * 2 });
        let mut answers = Answers::new(vec![answer(1), answer(0)], 2).unwrap();
        assert_eq!(answers.take(Slot::<u64> { number: 1, answer: PhantomData }), Ok(2));
        assert_eq!(answers.take_raw(0), Ok(json!(0)));
        assert!(matches!(answers.take_raw(0), Err(Error::Request(_))));
        assert!(Answers::new(vec![answer(0)], 2).is_err());
        assert!(Answers::new(vec![answer(0), answer(0)], 2).is_err());
        assert!(Answers::new(vec![answer(0), answer(2)], 2).is_err());
    }

    #[test]
    fn one_method_may_fail_alone() {
        let failed = json!({ "id": 0, "error": { "code": -32601, "message": "no" } });
        let refused = Answers::new(vec![failed], 1).unwrap().take_raw(0);
        assert!(matches!(refused, Err(Error::Refused(refusal)) if refusal.is_unknown()));
    }

    #[test]
    fn a_batch_is_of_one_surface() {
        let mut batch = Batch::new();
        batch.add_raw("", "btc_getblockcount", &json!([])).unwrap();
        assert!(batch.add_raw("mempool", "mempool_info", &json!({})).is_err());
    }
}
