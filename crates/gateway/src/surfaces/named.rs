//! The members of a call's parameters, on the surfaces that take them by name.

use serde_json::{Map, Value};

use crate::errors::RpcError;
use crate::jsonrpc::Params;

/// The parameters of one call. `null` is absent; members that a method does not know are passed over.
#[derive(Debug, Default)]
pub(super) struct Named(Map<String, Value>);

/// -32602, saying what the member must be.
pub(super) fn wrong(name: &str, what: &str) -> RpcError {
    RpcError::invalid_params(format!("{name} must be {what}"))
}

impl Named {
    /// An object, or nothing.
    ///
    /// # Errors
    /// -32602 for anything else, also for an empty array.
    pub(super) fn read(params: &Params) -> Result<Self, RpcError> {
        if params.is_array() {
            let sentence = "params must be an object: this surface takes no positional parameters";
            return Err(RpcError::invalid_params(sentence));
        }
        Self::first(params)
    }

    /// As [`Named::read`], and an array that holds one object or nothing (docs/api.md).
    pub(super) fn read_in_array(params: &Params) -> Result<Self, RpcError> {
        params.at_most(1)?;
        Self::first(params)
    }

    fn first(params: &Params) -> Result<Self, RpcError> {
        let Some(object) = params.get(0) else { return Ok(Self::default()) };
        let members = serde_json::from_str(object.get());
        members.map(Self).map_err(|_| RpcError::invalid_params("params must be an object"))
    }

    /// A member that is there and not `null`.
    pub(super) fn member(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// A text that must be there.
    pub(super) fn text(&self, name: &str) -> Result<&str, RpcError> {
        self.optional_text(name)?.ok_or_else(|| RpcError::invalid_params(format!("{name} is required")))
    }

    /// A text that may be absent.
    pub(super) fn optional_text(&self, name: &str) -> Result<Option<&str>, RpcError> {
        match self.member(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(wrong(name, "a string")),
        }
    }

    /// A yes or no.
    pub(super) fn flag(&self, name: &str, default: bool) -> Result<bool, RpcError> {
        match self.member(name) {
            None => Ok(default),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(_) => Err(wrong(name, "true or false")),
        }
    }

    /// A non-negative JSON integer; one above 64 bits stands for the greatest.
    pub(super) fn integer(&self, name: &str) -> Result<Option<u64>, RpcError> {
        let Some(value) = self.member(name) else { return Ok(None) };
        let digits = match value {
            Value::Number(number) => number.to_string(),
            _ => String::new(),
        };
        if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return Err(wrong(name, "a non-negative integer"));
        }
        Ok(Some(digits.parse().unwrap_or(u64::MAX)))
    }
}
