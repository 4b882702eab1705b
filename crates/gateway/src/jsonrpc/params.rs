use std::fmt::Display;

use serde_json::value::RawValue;

use crate::errors::ApiError;

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
    pub fn parse(raw: Option<&RawValue>) -> Result<Self, ApiError> {
        let Some(raw) = raw else { return Ok(Self::default()) };
        if raw.get() == "[]" {
            return Ok(Self { array: true, ..Self::default() });
        }
        match raw.get().as_bytes().first() {
            Some(b'[') => {
                let values =
                    serde_json::from_str(raw.get()).map_err(|_| ApiError::invalid("params is not valid JSON"))?;
                Ok(Self { values, object: false, array: true })
            }
            Some(b'{') => Ok(Self { values: vec![raw.to_owned()], object: true, array: false }),
            Some(b'n') => Ok(Self::default()),
            _ => Err(ApiError::invalid("params must be an array or an object")),
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
    pub fn none(&self) -> Result<(), ApiError> {
        let is_empty_object = |value: &RawValue| {
            let inner = value.get().strip_prefix('{').and_then(|text| text.strip_suffix('}'));
            inner.is_some_and(|text| text.trim().is_empty())
        };
        match self.values.as_slice() {
            [] => Ok(()),
            [only] if only.get() == "null" || is_empty_object(only) => Ok(()),
            _ => Err(ApiError::invalid("this method takes no parameters")),
        }
    }

    /// At most `count` parameters.
    ///
    /// # Errors
    /// -32602 when there are more.
    pub fn at_most(&self, count: usize) -> Result<(), ApiError> {
        if self.values.len() > count {
            return Err(ApiError::invalid(format!("this method takes at most {count} parameters")));
        }
        Ok(())
    }

    /// A text parameter that may be absent; a number is taken as its digits, as every Esplora client relies on.
    ///
    /// # Errors
    /// -32602 naming the parameter when it is neither text nor a number.
    pub fn optional_text(&self, index: usize, name: impl Display) -> Result<Option<String>, ApiError> {
        let Some(raw) = self.get(index) else { return Ok(None) };
        let wrong = || ApiError::invalid(format!("{name} must be a string"));
        match raw.get().as_bytes().first() {
            Some(b'"') => serde_json::from_str(raw.get()).map(Some).map_err(|_| wrong()),
            Some(b'-' | b'0'..=b'9') => Ok(Some(raw.get().to_owned())),
            _ => Err(wrong()),
        }
    }
}

/// Digits only, so that neither `+1` nor ` 1` nor `1.0` passes.
pub fn parse_unsigned(text: &str) -> Option<u64> {
    if text.is_empty() || !text.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(text: &str) -> Result<Params, ApiError> {
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
            assert_eq!(params(text).unwrap().none().unwrap_err().kind.rpc_code, -32602, "{text}");
        }
    }

    /// row GW17
    #[test]
    fn scalars_are_no_params() {
        for text in ["1", "\"a\"", "true", "false"] {
            assert_eq!(params(text).unwrap_err().kind.rpc_code, -32602, "{text}");
        }
    }

    #[test]
    fn numbers_and_text_stand_for_each_other_and_nothing_else_does() {
        let good = params(r#"["7", 7, null]"#).unwrap();
        let text = |params: &Params, index| params.optional_text(index, "hash");
        let unsigned = |params: &Params, index| text(params, index).map(|text| parse_unsigned(&text.unwrap()));
        assert_eq!((unsigned(&good, 0).unwrap(), unsigned(&good, 1).unwrap()), (Some(7), Some(7)));
        assert_eq!((text(&good, 1).unwrap().as_deref(), text(&good, 2).unwrap()), (Some("7"), None));
        let bad = params(r#"[-1, 1.5, "+1", " 1", 18446744073709551616, true, [], {}, "\ud800", 1e3]"#).unwrap();
        for index in 0..bad.len() {
            assert!(!matches!(unsigned(&bad, index), Ok(Some(_))), "{index}");
        }
        for index in [5, 6, 7, 8] {
            let error = text(&bad, index).unwrap_err();
            assert!(error.kind.rpc_code == -32602 && error.message.starts_with("hash"), "{index}");
        }
    }
}
