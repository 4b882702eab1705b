//! Methods of JSON-RPC.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::Error;

/// How the parameters of a method are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As an object.
    Named,
    /// As an array.
    Positional,
    /// As an array; the items of the last parameter, a list, follow each other in it.
    Variadic,
}

/// A method: the struct of its parameters.
pub trait Method: Serialize {
    /// Its name on the surface.
    const NAME: &'static str;
    /// Path segment of its surface; empty for the main endpoint.
    const SURFACE: &'static str;
    /// How parameters are written.
    const FORM: Form;
    /// Names of the parameters in their order.
    const PARAMETERS: &'static [&'static str];
    /// Type of its answer.
    type Answer: DeserializeOwned;

    /// The path of its surface behind the key.
    fn surface(&self) -> String {
        Self::SURFACE.to_owned()
    }

    /// The parameters as they are sent.
    ///
    /// # Errors
    /// [`Error::Request`]: they cannot be serialised.
    fn parameters(&self) -> Result<Value, Error> {
        let written = serde_json::to_value(self).map_err(|error| Error::Request(error.to_string()))?;
        let members = match written {
            Value::Object(members) => members,
            Value::Null => Map::new(),
            _ => return Err(Error::Request("parameters are an object".to_owned())),
        };
        Ok(arranged(members, Self::FORM, Self::PARAMETERS))
    }
}

fn arranged(mut members: Map<String, Value>, form: Form, names: &[&str]) -> Value {
    if form == Form::Named {
        return members.into();
    }
    let mut list: Vec<Value> = names.iter().map(|name| members.remove(*name).unwrap_or_default()).collect();
    if form == Form::Variadic {
        match list.pop() {
            Some(Value::Array(items)) => list.extend(items),
            other => list.extend(other),
        }
    }
    // `null` counts as absent.
    while list.last().is_some_and(Value::is_null) {
        list.pop();
    }
    list.into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn arrange(members: &Value, form: Form) -> Value {
        arranged(members.as_object().unwrap().clone(), form, &["a", "b", "c"])
    }

    #[test]
    fn parameters_stand_in_their_order_without_what_is_absent_at_the_end() {
        assert_eq!(arrange(&json!({ "b": 2, "a": 1 }), Form::Positional), json!([1, 2]));
        assert_eq!(arrange(&json!({ "c": 3 }), Form::Positional), json!([null, null, 3]));
        assert_eq!(arrange(&json!({}), Form::Positional), json!([]));
        assert_eq!(arrange(&json!({ "a": 1, "b": 2, "c": [3, 4] }), Form::Variadic), json!([1, 2, 3, 4]));
        assert_eq!(arrange(&json!({ "c": 3 }), Form::Named), json!({ "c": 3 }));
    }
}
