use std::fmt::Display;

use serde_json::value::RawValue;

use crate::errors::RpcError;

/// The parameters of one call, each as the caller wrote it.
///
/// Positional: an array as it is, an object as the one member of an array. Absent and `null` are no parameters.
#[derive(Debug, Default)]
pub struct Params {
    values: Vec<Box<RawValue>>,
    object: bool,
    array: bool,
}

impl Params {
    /// Reads the `params` member of a request.
    ///
    /// # Errors
    /// -32602 for anything but an array, an object, `null` or nothing.
    pub fn parse(raw: Option<&RawValue>) -> Result<Self, RpcError> {
        let Some(raw) = raw else { return Ok(Self::default()) };
        if raw.get() == "[]" {
            return Ok(Self { array: true, ..Self::default() });
        }
        match raw.get().as_bytes().first() {
            Some(b'[') => {
                let values = serde_json::from_str(raw.get())
                    .map_err(|_| RpcError::invalid_params("params is not valid JSON"))?;
                Ok(Self { values, object: false, array: true })
            }
            Some(b'{') => Ok(Self { values: vec![raw.to_owned()], object: true, array: false }),
            Some(b'n') => Ok(Self::default()),
            _ => Err(RpcError::invalid_params("params must be an array or an object")),
        }
    }

    /// Whether `params` was an object.
    pub fn is_object(&self) -> bool {
        self.object
    }

    /// Whether `params` was an array, also an empty one.
    pub fn is_array(&self) -> bool {
        self.array
    }

    /// Number of parameters.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The parameters as they came.
    pub fn raw(&self) -> &[Box<RawValue>] {
        &self.values
    }

    /// The parameter at `index`; `null` counts as absent.
    pub fn get(&self, index: usize) -> Option<&RawValue> {
        self.values.get(index).map(AsRef::as_ref).filter(|value| value.get() != "null")
    }

    /// For a method that takes none: nothing, `null`, `[]`, `{}` and `[{}]` are accepted.
    ///
    /// # Errors
    /// -32602 when there are parameters.
    pub fn none(&self) -> Result<(), RpcError> {
        let is_empty_object = |value: &RawValue| {
            let inner = value.get().strip_prefix('{').and_then(|text| text.strip_suffix('}'));
            inner.is_some_and(|text| text.trim().is_empty())
        };
        match self.values.as_slice() {
            [] => Ok(()),
            [only] if only.get() == "null" || is_empty_object(only) => Ok(()),
            _ => Err(RpcError::invalid_params("this method takes no parameters")),
        }
    }

    /// At most `count` parameters.
    ///
    /// # Errors
    /// -32602 when there are more.
    pub fn at_most(&self, count: usize) -> Result<(), RpcError> {
        if self.values.len() > count {
            return Err(RpcError::invalid_params(format!("this method takes at most {count} parameters")));
        }
        Ok(())
    }

    /// A text parameter; a number is taken as its digits, as every Esplora client relies on.
    ///
    /// # Errors
    /// -32602 naming the parameter when it is missing or of another type.
    pub fn text(&self, index: usize, name: impl Display) -> Result<String, RpcError> {
        self.optional_text(index, &name)?.ok_or_else(|| RpcError::invalid_params(format!("missing parameter: {name}")))
    }

    /// As [`Params::text`], absent allowed.
    ///
    /// # Errors
    /// -32602 naming the parameter when it is neither text nor a number.
    pub fn optional_text(&self, index: usize, name: impl Display) -> Result<Option<String>, RpcError> {
        let Some(raw) = self.get(index) else { return Ok(None) };
        let wrong = || RpcError::invalid_params(format!("{name} must be a string"));
        match raw.get().as_bytes().first() {
            Some(b'"') => serde_json::from_str(raw.get()).map(Some).map_err(|_| wrong()),
            Some(b'-' | b'0'..=b'9') => Ok(Some(raw.get().to_owned())),
            _ => Err(wrong()),
        }
    }

    /// A non-negative integer, as a number or as decimal text.
    ///
    /// # Errors
    /// -32602 naming the parameter when it is missing, negative, no integer or over 64 bits.
    pub fn unsigned(&self, index: usize, name: impl Display) -> Result<u64, RpcError> {
        let text = self.text(index, &name)?;
        parse_unsigned(&text).ok_or_else(|| RpcError::invalid_params(format!("{name} must be a non-negative integer")))
    }
}

/// Digits only, so that neither `+1` nor ` 1` nor `1.0` passes.
pub(crate) fn parse_unsigned(text: &str) -> Option<u64> {
    if text.is_empty() || !text.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(text: &str) -> Result<Params, RpcError> {
        Params::parse(Some(serde_json::from_str::<&RawValue>(text).unwrap()))
    }

    /// row MR01
    #[test]
    fn a_method_without_parameters_takes_every_way_to_write_none() {
        assert!(Params::parse(None).unwrap().none().is_ok());
        for text in ["null", "{}", "{ }", "[]", "[ ]", "[{}]", "[ { } ]", "[null]"] {
            assert!(params(text).unwrap().none().is_ok(), "{text}");
        }
        for text in ["[1]", "{\"a\":1}", "[[]]", "[{},{}]", "[\"\"]"] {
            assert_eq!(params(text).unwrap().none().unwrap_err().code, -32602, "{text}");
        }
    }

    /// row GW17
    #[test]
    fn scalars_are_no_params() {
        for text in ["1", "\"a\"", "true", "false"] {
            assert_eq!(params(text).unwrap_err().code, -32602, "{text}");
        }
    }

    #[test]
    fn numbers_and_text_stand_for_each_other_and_nothing_else_does() {
        let good = params(r#"["7", 7, null]"#).unwrap();
        assert_eq!(good.unsigned(0, "h").unwrap(), 7);
        assert_eq!(good.unsigned(1, "h").unwrap(), 7);
        assert_eq!(good.text(1, "h").unwrap(), "7");
        assert_eq!(good.optional_text(2, "h").unwrap(), None);
        assert!(good.text(2, "hash").unwrap_err().message.contains("hash"));
        let bad = params(r#"[-1, 1.5, "+1", " 1", 18446744073709551616, true, [], {}, "\ud800", 1e3]"#).unwrap();
        for index in 0..bad.len() {
            assert_eq!(bad.unsigned(index, "height").unwrap_err().code, -32602, "{index}");
        }
        for index in [5, 6, 7, 8] {
            assert_eq!(bad.text(index, "hash").unwrap_err().code, -32602, "{index}");
        }
    }
}
