//! Parameters of a call, read into the struct of its method. The errors are sentences that begin with the parameter.

use std::fmt::{self, Display};

use serde::de::value::StringDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, Expected, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::Form;
use super::types::VERBATIM;
use crate::errors::RpcError;
use crate::jsonrpc::Params;

/// Reads the parameters of a method.
///
/// # Errors
/// -32602 that names the parameter and says what it must be.
pub(super) fn params<T: DeserializeOwned>(params: &Params, form: Form) -> Result<T, RpcError> {
    match form {
        Form::Named if params.is_array() => {
            let sentence = "params must be an object: this surface takes no positional parameters";
            return Err(RpcError::invalid_params(sentence));
        }
        Form::NamedInArray => params.at_most(1)?,
        Form::NamedNothing if !params.is_empty() && params.is_array() => {
            let sentence = "params must be an object or an empty array: this method takes no parameters";
            return Err(RpcError::invalid_params(sentence));
        }
        Form::Nothing | Form::NamedNothing => params.none()?,
        Form::Named | Form::Positional | Form::Variadic => {}
    }
    let members = match form {
        Form::Nothing | Form::NamedNothing => Map::new(),
        Form::Named | Form::NamedInArray => match params.get(0) {
            Some(object) => {
                serde_json::from_str(object.get()).map_err(|_| RpcError::invalid_params("params must be an object"))?
            }
            None => Map::new(),
        },
        Form::Positional | Form::Variadic => positional(params, &fields::<T>(), form == Form::Variadic)?,
    };
    T::deserialize(Members(members)).map_err(|error| RpcError::invalid_params(error.to_string()))
}

/// The members of an array by the fields in their order.
fn positional(params: &Params, fields: &[&'static str], is_variadic: bool) -> Result<Map<String, Value>, RpcError> {
    let read = |raw: &RawValue| {
        serde_json::from_str::<Value>(raw.get()).map_err(|_| RpcError::invalid_params("params is not valid JSON"))
    };
    let mut members = Map::new();
    let single = match fields {
        [single @ .., rest] if is_variadic => {
            let items = params.raw().iter().skip(single.len()).map(|raw| read(raw)).collect::<Result<Vec<_>, _>>()?;
            members.insert((*rest).to_owned(), items.into());
            single
        }
        all => {
            params.at_most(all.len())?;
            all
        }
    };
    for (index, name) in single.iter().enumerate() {
        if let Some(raw) = params.get(index) {
            members.insert((*name).to_owned(), read(raw)?);
        }
    }
    Ok(members)
}

/// The fields of a struct, in their order.
pub(super) fn fields<T: DeserializeOwned>() -> Vec<&'static str> {
    let mut found: &[&str] = &[];
    // Ends with an error, once the fields are known.
    let _ = T::deserialize(Fields(&mut found));
    found.to_vec()
}

struct Fields<'f>(&'f mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Fields<'_> {
    type Error = ParamError;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, ParamError> {
        Err(de::Error::custom("a method's parameters are a struct"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ParamError> {
        *self.0 = fields;
        self.deserialize_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// What is wrong with a parameter.
#[derive(Debug)]
pub(super) struct ParamError {
    /// The parameter, and the place in it.
    path: String,
    /// Goes on after the path.
    sentence: String,
}

impl ParamError {
    fn new(sentence: String) -> Self {
        Self { path: String::new(), sentence }
    }

    /// The same, within a member of an object.
    fn in_member(self, name: &str) -> Self {
        let separator = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        Self { path: format!("{name}{separator}{}", self.path), ..self }
    }

    /// The same, within an item of an array, counted from 0.
    fn in_item(self, index: usize) -> Self {
        let separator = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        Self { path: format!("[{index}]{separator}{}", self.path), ..self }
    }
}

impl Display for ParamError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "params" } else { &self.path };
        write!(formatter, "{path} {}", self.sentence)
    }
}

impl std::error::Error for ParamError {}

/// The names that serde has for what it expects, for people who do not write Rust.
fn expected(expected: &dyn Expected) -> String {
    match expected.to_string().as_str() {
        "u32" => format!("an integer from 0 to {}", u32::MAX),
        "u64" | "u128" | "usize" => "a non-negative integer".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a sequence" => "an array".to_owned(),
        other => other.to_owned(),
    }
}

impl de::Error for ParamError {
    /// The message goes on after the name of the parameter.
    fn custom<T: Display>(message: T) -> Self {
        Self::new(message.to_string())
    }

    fn invalid_type(_: Unexpected<'_>, wanted: &dyn Expected) -> Self {
        Self::new(format!("must be {}", expected(wanted)))
    }

    fn invalid_value(_: Unexpected<'_>, wanted: &dyn Expected) -> Self {
        Self::new(format!("must be {}", expected(wanted)))
    }

    fn invalid_length(_: usize, wanted: &dyn Expected) -> Self {
        Self::new(format!("must be {}", expected(wanted)))
    }

    fn unknown_variant(_: &str, known: &'static [&'static str]) -> Self {
        Self::new(format!("must be one of {}", known.join(", ")))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new("is required".to_owned()).in_member(field)
    }
}

/// The members of an object; `null` is absent.
struct Members(Map<String, Value>);

impl<'de> Deserializer<'de> for Members {
    type Error = ParamError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ParamError> {
        visitor.visit_map(Remaining { members: self.0.into_iter(), current: None })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

struct Remaining {
    members: serde_json::map::IntoIter,
    current: Option<(String, Value)>,
}

impl<'de> MapAccess<'de> for Remaining {
    type Error = ParamError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, ParamError> {
        self.current = self.members.find(|(_, value)| !value.is_null());
        let Some((name, _)) = &self.current else { return Ok(None) };
        seed.deserialize(StringDeserializer::<ParamError>::new(name.clone())).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, ParamError> {
        let (name, value) = self.current.take().unwrap_or_default();
        seed.deserialize(Argument(value)).map_err(|error| error.in_member(&name))
    }
}

struct Items {
    items: std::iter::Enumerate<std::vec::IntoIter<Value>>,
}

impl<'de> SeqAccess<'de> for Items {
    type Error = ParamError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, ParamError> {
        let Some((index, value)) = self.items.next() else { return Ok(None) };
        seed.deserialize(Argument(value)).map(Some).map_err(|error| error.in_item(index))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

/// One value.
struct Argument(Value);

impl<'de> Deserializer<'de> for Argument {
    type Error = ParamError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ParamError> {
        match self.0 {
            Value::Null => visitor.visit_unit(),
            Value::Bool(flag) => visitor.visit_bool(flag),
            Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(natural), ..) => visitor.visit_u64(natural),
                (_, Some(integer), _) => visitor.visit_i64(integer),
                (.., float) => visitor.visit_f64(float.unwrap_or(f64::NAN)),
            },
            Value::String(text) => visitor.visit_string(text),
            Value::Array(items) => visitor.visit_seq(Items { items: items.into_iter().enumerate() }),
            Value::Object(members) => Members(members).deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ParamError> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ParamError> {
        match self.0 {
            value if name != VERBATIM => visitor.visit_newtype_struct(Self(value)),
            // A text may be a whole block: it is handed on as it is. Of everything else the JSON is.
            Value::String(text) => visitor.visit_string(text),
            value => visitor.visit_byte_buf(value.to_string().into_bytes()),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ParamError> {
        match self.0 {
            Value::String(text) => visitor.visit_enum(IntoDeserializer::<ParamError>::into_deserializer(text)),
            _ => Err(de::Error::unknown_variant("", variants)),
        }
    }

    /// An array is no struct.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ParamError> {
        match self.0 {
            Value::Object(members) => Members(members).deserialize_any(visitor),
            _ => Err(de::Error::custom("must be an object")),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        seq tuple tuple_struct map identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::super::{List, Natural, Verbatim};
    use super::*;

    #[derive(Debug, Deserialize)]
    struct Asked {
        name: String,
        count: Option<Natural>,
        flag: Option<bool>,
        list: Option<List<Inner, 2>>,
        #[serde(default)]
        kind: Kind,
        amount: Option<Verbatim>,
    }

    #[derive(Debug, Deserialize)]
    struct Called {
        method: String,
        arguments: Vec<Verbatim>,
    }

    #[derive(Debug, Deserialize)]
    struct Inner {
        of: u32,
    }

    #[derive(Debug, Deserialize, Default)]
    #[serde(rename_all = "snake_case")]
    enum Kind {
        #[default]
        All,
        FewOfThem,
    }

    fn asked(text: &str, form: Form) -> Result<Asked, String> {
        let params = Params::parse(Some(serde_json::from_str::<&RawValue>(text).unwrap())).unwrap();
        super::params(&params, form).map_err(|error| {
            assert_eq!(error.code, -32602);
            error.message.into_owned()
        })
    }

    #[test]
    fn fields_are_known_in_their_order() {
        assert_eq!(fields::<Asked>(), ["name", "count", "flag", "list", "kind", "amount"]);
        assert!(fields::<String>().is_empty());
    }

    #[test]
    fn what_is_written_well_is_read() {
        let text = r#"{"name":"a","count":340282366920938463463374607431768211456,"flag":false,"list":[{"of":1},{"of":2,"x":0}],
            "kind":"few_of_them","amount":1.10,"other":[]}"#;
        let read = asked(text, Form::Named).unwrap();
        assert_eq!((&*read.name, read.count.unwrap().get(), read.flag), ("a", u64::MAX, Some(false)));
        assert_eq!(read.list.unwrap().iter().map(|inner| inner.of).collect::<Vec<_>>(), [1, 2]);
        assert!(matches!(read.kind, Kind::FewOfThem));
        // The digits of a number are kept as they were written.
        assert_eq!(read.amount.unwrap().0.to_string(), "1.10");
        for absent in [r#"{"name":"a"}"#, r#"{"name":"a","count":null,"kind":null,"list":null}"#, r#"[{"name":"a"}]"#] {
            let read = asked(absent, Form::NamedInArray).unwrap();
            assert!(read.count.is_none() && read.list.is_none() && matches!(read.kind, Kind::All));
        }
    }

    #[test]
    fn members_of_an_array_are_the_fields_in_their_order() {
        let read = asked(r#"["a",7,null,[{"of":1}]]"#, Form::Positional).unwrap();
        assert_eq!((&*read.name, read.count.unwrap().get(), read.list.unwrap().len()), ("a", 7, 1));
        for (text, expected) in [
            ("[]", "name is required"),
            (r#"["a",true]"#, "count must be a non-negative integer"),
            (r#"["a",1,true,[],"all",1,2]"#, "this method takes at most 6 parameters"),
            (r#"{"name":"a"}"#, "name must be a string"),
        ] {
            assert_eq!(asked(text, Form::Positional).unwrap_err(), expected, "{text}");
        }
        let read = |text: &str| {
            let params = Params::parse(Some(serde_json::from_str::<&RawValue>(text).unwrap())).unwrap();
            super::params::<Called>(&params, Form::Variadic).map_err(|error| error.message)
        };
        let called = read(r#"["a",1.10,null]"#).unwrap();
        let arguments: Vec<String> = called.arguments.iter().map(|argument| argument.0.to_string()).collect();
        assert_eq!((&*called.method, arguments), ("a", vec!["1.10".to_owned(), "null".to_owned()]));
        assert!(read(r#"["a"]"#).unwrap().arguments.is_empty());
        assert_eq!(read("[]").unwrap_err(), "method is required");
    }

    #[test]
    fn an_error_names_the_parameter_and_what_it_must_be() {
        for (text, expected) in [
            ("[]", "params must be an object: this surface takes no positional parameters"),
            ("{}", "name is required"),
            (r#"{"name":null}"#, "name is required"),
            (r#"{"name":7}"#, "name must be a string"),
            (r#"{"name":"a","count":-1}"#, "count must be a non-negative integer"),
            (r#"{"name":"a","count":1.5}"#, "count must be a non-negative integer"),
            (r#"{"name":"a","count":"1"}"#, "count must be a non-negative integer"),
            (r#"{"name":"a","flag":0}"#, "flag must be true or false"),
            (r#"{"name":"a","kind":"few"}"#, "kind must be one of all, few_of_them"),
            (r#"{"name":"a","kind":{}}"#, "kind must be one of all, few_of_them"),
            (r#"{"name":"a","list":{}}"#, "list must be an array"),
            (r#"{"name":"a","list":[{"of":1},{}]}"#, "list[1].of is required"),
            (r#"{"name":"a","list":[[1]]}"#, "list[0] must be an object"),
            (r#"{"name":"a","list":[7]}"#, "list[0] must be an object"),
            (r#"{"name":"a","list":[{"of":"x"}]}"#, "list[0].of must be an integer from 0 to 4294967295"),
            (r#"{"name":"a","list":[{"of":4294967296}]}"#, "list[0].of must be an integer from 0 to 4294967295"),
            (r#"{"name":"a","list":[{"of":1},{"of":1},{"of":1}]}"#, "list may hold at most 2"),
        ] {
            assert_eq!(asked(text, Form::Named).unwrap_err(), expected, "{text}");
        }
        assert_eq!(asked("[{},{}]", Form::NamedInArray).unwrap_err(), "this method takes at most 1 parameters");
        assert_eq!(asked("[7]", Form::NamedInArray).unwrap_err(), "params must be an object");
        assert_eq!(asked(r#"{"name":"a"}"#, Form::Nothing).unwrap_err(), "this method takes no parameters");
    }
}
