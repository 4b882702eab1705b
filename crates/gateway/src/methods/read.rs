//! Parameters of a call, read into the struct of its method. The errors are sentences that begin with the parameter.

use std::cell::Cell;
use std::fmt::{self, Display};
use std::iter::Enumerate;

use serde::de::value::StringDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, Expected, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::Form;
use super::types::{RAW, SCALAR, VERBATIM};
use crate::errors::ApiError;
use crate::jsonrpc::Params;

/// Reads the parameters of a method.
///
/// # Errors
/// -32602 that names the parameter and says what it must be.
pub(super) fn params<T: DeserializeOwned>(params: &Params, form: Form) -> Result<T, ApiError> {
    match form {
        Form::Named if params.is_array() => {
            let sentence = "params must be an object: this surface takes no positional parameters";
            return Err(ApiError::invalid(sentence));
        }
        Form::NamedInArray => params.at_most(1)?,
        Form::NamedNothing if !params.is_empty() && params.is_array() => {
            let sentence = "params must be an object or an empty array: this method takes no parameters";
            return Err(ApiError::invalid(sentence));
        }
        Form::Nothing | Form::NamedNothing => params.none()?,
        Form::Named | Form::Positional | Form::Variadic => {}
    }
    let members = match form {
        Form::Nothing | Form::NamedNothing => Members::none(),
        Form::Named | Form::NamedInArray => match params.get(0) {
            Some(object) => {
                let members = serde_json::from_str(object.get());
                Members::of(members.map_err(|_| ApiError::invalid("params must be an object"))?)
            }
            None => Members::none(),
        },
        Form::Positional | Form::Variadic => positional(params, &fields::<T>(), form == Form::Variadic)?,
    };
    T::deserialize(members).map_err(|error| ApiError::invalid(error.to_string()))
}

/// The members of an array by the fields in their order, as they were written; values that a field does not accept are never parsed.
fn positional<'p>(params: &'p Params, fields: &[&'static str], is_variadic: bool) -> Result<Members<'p>, ApiError> {
    let (single, rest) = match fields {
        [single @ .., rest] if is_variadic => (single, Some(*rest)),
        all => {
            params.at_most(all.len())?;
            (all, None)
        }
    };
    let mut members: Vec<(String, Argument<'p>)> = Vec::with_capacity(fields.len());
    for (name, raw) in single.iter().zip(params.raw()) {
        members.push(((*name).to_owned(), Argument::Raw(raw)));
    }
    if let Some(rest) = rest {
        members.push((rest.to_owned(), Argument::Rest(params.raw().get(single.len()..).unwrap_or_default())));
    }
    Ok(Members(Box::new(members.into_iter())))
}

/// Reads members of an object into a struct.
///
/// # Errors
/// The field, and what it must be.
pub fn read_members<T: DeserializeOwned>(members: Map<String, Value>) -> Result<T, ParamError> {
    T::deserialize(Members::of(members))
}

/// The fields of a struct, in their order.
pub fn fields<T: DeserializeOwned>() -> Vec<&'static str> {
    let mut names: &[&str] = &[];
    // Always an error, after `Fields` has recorded the names.
    let _ = T::deserialize(Fields(&mut names));
    names.to_vec()
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
pub struct ParamError {
    /// Path of the parameter, and of the member or item in it.
    path: String,
    /// Rest of the sentence after the path.
    sentence: String,
    /// Whether a value of another type is wanted.
    is_of_type: bool,
}

impl ParamError {
    /// Rest of the sentence about a missing parameter.
    const MISSING: &'static str = "is required";

    fn new(sentence: String) -> Self {
        Self { path: String::new(), sentence, is_of_type: false }
    }

    /// The parameter.
    pub fn field(&self) -> &str {
        self.path.split(['.', '[']).next().unwrap_or_default()
    }

    /// Whether the parameter itself is missing.
    pub fn is_missing(&self) -> bool {
        self.sentence == Self::MISSING && self.path == self.field()
    }

    /// Whether a value of another type is wanted.
    pub fn is_of_type(&self) -> bool {
        self.is_of_type
    }

    /// Prefixes the path with a member of an object.
    fn in_member(self, name: &str) -> Self {
        let separator = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        Self { path: format!("{name}{separator}{}", self.path), ..self }
    }

    /// Prefixes the path with the index of an array item, from 0.
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

/// Serde's names of expected types, without terms of Rust.
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
    /// The message continues the sentence after the name of the parameter.
    fn custom<T: Display>(message: T) -> Self {
        Self::new(message.to_string())
    }

    fn invalid_type(_: Unexpected<'_>, wanted: &dyn Expected) -> Self {
        Self { is_of_type: true, ..Self::new(format!("must be {}", expected(wanted))) }
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
        Self::new(Self::MISSING.to_owned()).in_member(field)
    }
}

thread_local! {
    /// Passes a value from the reader to a type that takes it verbatim, between two calls on the same thread: `serde` cannot pass a
    /// number with all its digits, and serialising and parsing the value again would hold it twice.
    static HANDED: Cell<Option<Value>> = const { Cell::new(None) };
}

/// The value that the reader has passed.
pub(super) fn take_handed() -> Option<Value> {
    HANDED.take()
}

/// The members of an object; `null` is absent.
struct Members<'p>(Box<dyn Iterator<Item = (String, Argument<'p>)> + 'p>);

impl Members<'_> {
    fn none() -> Self {
        Self(Box::new(std::iter::empty()))
    }

    fn of(members: Map<String, Value>) -> Self {
        Self(Box::new(members.into_iter().map(|(name, value)| (name, Argument::Value(value)))))
    }
}

impl<'de> Deserializer<'de> for Members<'_> {
    type Error = ParamError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ParamError> {
        visitor.visit_map(Remaining { members: self.0, current: None })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

struct Remaining<'p> {
    members: Box<dyn Iterator<Item = (String, Argument<'p>)> + 'p>,
    current: Option<(String, Argument<'p>)>,
}

impl<'de> MapAccess<'de> for Remaining<'_> {
    type Error = ParamError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, ParamError> {
        self.current = self.members.find(|(_, argument)| !argument.is_absent());
        let Some((name, _)) = &self.current else { return Ok(None) };
        seed.deserialize(StringDeserializer::<ParamError>::new(name.clone())).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, ParamError> {
        let Some((name, argument)) = self.current.take() else { return Err(de::Error::custom("has no value")) };
        seed.deserialize(argument).map_err(|error| error.in_member(&name))
    }
}

struct Items<'p>(Enumerate<Box<dyn Iterator<Item = Argument<'p>> + 'p>>);

impl<'p> Items<'p> {
    fn new(items: impl Iterator<Item = Argument<'p>> + 'p) -> Self {
        let items: Box<dyn Iterator<Item = Argument<'p>> + 'p> = Box::new(items);
        Self(items.enumerate())
    }
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = ParamError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, ParamError> {
        let Some((index, argument)) = self.0.next() else { return Ok(None) };
        seed.deserialize(argument).map(Some).map_err(|error| error.in_item(index))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.size_hint().0)
    }
}

/// One value, or the rest of the values.
enum Argument<'p> {
    Raw(&'p RawValue),
    Value(Value),
    Rest(&'p [Box<RawValue>]),
}

impl Argument<'_> {
    fn is_absent(&self) -> bool {
        match self {
            Self::Raw(raw) => raw.get() == "null",
            Self::Value(value) => value.is_null(),
            Self::Rest(_) => false,
        }
    }

    /// Whether it is an array or an object, which can be far larger parsed than as text.
    fn is_container(&self) -> bool {
        match self {
            Self::Raw(raw) => raw.get().starts_with(['[', '{']),
            Self::Value(value) => value.is_array() || value.is_object(),
            Self::Rest(_) => true,
        }
    }

    fn into_value(self) -> Result<Value, ParamError> {
        let read = |raw: &RawValue| {
            serde_json::from_str(raw.get()).map_err(|_| <ParamError as de::Error>::custom("is not valid JSON"))
        };
        match self {
            Self::Raw(raw) => read(raw),
            Self::Value(value) => Ok(value),
            Self::Rest(items) => items.iter().map(|raw| read(raw)).collect(),
        }
    }
}

/// Scalar types: arrays and objects are refused without being parsed.
macro_rules! scalars {
    ($($method:ident)*) => {
        $(
            fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ParamError> {
                if self.is_container() {
                    return Err(de::Error::invalid_type(Unexpected::Other("a list or an object"), &visitor));
                }
                self.deserialize_any(visitor)
            }
        )*
    };
}

impl<'de> Deserializer<'de> for Argument<'_> {
    type Error = ParamError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ParamError> {
        if let Self::Rest(items) = self {
            return visitor.visit_seq(Items::new(items.iter().map(|raw| Argument::Raw(raw))));
        }
        match self.into_value()? {
            Value::Null => visitor.visit_unit(),
            Value::Bool(flag) => visitor.visit_bool(flag),
            Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
                (Some(natural), ..) => visitor.visit_u64(natural),
                (_, Some(integer), _) => visitor.visit_i64(integer),
                (.., float) => visitor.visit_f64(float.unwrap_or(f64::NAN)),
            },
            Value::String(text) => visitor.visit_string(text),
            Value::Array(items) => visitor.visit_seq(Items::new(items.into_iter().map(Argument::Value))),
            Value::Object(members) => Members::of(members).deserialize_any(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ParamError> {
        if self.is_absent() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ParamError> {
        match name {
            VERBATIM => HANDED.set(Some(self.into_value()?)),
            SCALAR => HANDED.set(Some(if self.is_container() { Value::Null } else { self.into_value()? })),
            RAW => match self {
                Self::Raw(raw) => return visitor.visit_str(raw.get()),
                other => return visitor.visit_string(other.into_value()?.to_string()),
            },
            _ => return visitor.visit_newtype_struct(self),
        }
        visitor.visit_unit()
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ParamError> {
        let value = if self.is_container() { Value::Null } else { self.into_value()? };
        match value {
            Value::String(text) => visitor.visit_enum(IntoDeserializer::<ParamError>::into_deserializer(text)),
            _ => Err(de::Error::unknown_variant("", variants)),
        }
    }

    /// Refuses arrays, which serde would accept for a struct.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ParamError> {
        let is_object = match &self {
            Self::Raw(raw) => raw.get().starts_with('{'),
            Self::Value(value) => value.is_object(),
            Self::Rest(_) => false,
        };
        if is_object { self.deserialize_any(visitor) } else { Err(de::Error::custom("must be an object")) }
    }

    scalars! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128 deserialize_u8
        deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128 deserialize_f32 deserialize_f64 deserialize_char
        deserialize_str deserialize_string
    }

    forward_to_deserialize_any! {
        bytes byte_buf unit unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::super::{List, Natural, RawParam, Text, Verbatim};
    use super::*;

    #[derive(Debug, Deserialize)]
    struct TestParams {
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
        arguments: Vec<RawParam>,
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

    fn parse(text: &str, form: Form) -> Result<TestParams, String> {
        let params = Params::parse(Some(serde_json::from_str::<&RawValue>(text).unwrap())).unwrap();
        super::params(&params, form).map_err(|error| {
            assert_eq!(error.kind.rpc_code, -32602);
            error.message.into_owned()
        })
    }

    #[test]
    fn fields_are_known_in_their_order() {
        assert_eq!(fields::<TestParams>(), ["name", "count", "flag", "list", "kind", "amount"]);
        assert!(fields::<String>().is_empty());
    }

    #[test]
    fn valid_parameters_are_read() {
        let text = r#"{"name":"a","count":340282366920938463463374607431768211456,"flag":false,"list":[{"of":1},{"of":2,"x":0}],
            "kind":"few_of_them","amount":1.10,"other":[]}"#;
        let read = parse(text, Form::Named).unwrap();
        assert_eq!((&*read.name, read.count.unwrap().get(), read.flag), ("a", u64::MAX, Some(false)));
        assert_eq!(read.list.unwrap().iter().map(|inner| inner.of).collect::<Vec<_>>(), [1, 2]);
        assert!(matches!(read.kind, Kind::FewOfThem));
        // The digits of a number are kept as they were written.
        assert_eq!(read.amount.unwrap().0.to_string(), "1.10");
        for absent in [r#"{"name":"a"}"#, r#"{"name":"a","count":null,"kind":null,"list":null}"#, r#"[{"name":"a"}]"#] {
            let read = parse(absent, Form::NamedInArray).unwrap();
            assert!(read.count.is_none() && read.list.is_none() && matches!(read.kind, Kind::All));
        }
    }

    #[test]
    fn members_of_an_array_are_the_fields_in_their_order() {
        let read = parse(r#"["a",7,null,[{"of":1}]]"#, Form::Positional).unwrap();
        assert_eq!((&*read.name, read.count.unwrap().get(), read.list.unwrap().len()), ("a", 7, 1));
        for (text, expected) in [
            ("[]", "name is required"),
            (r#"["a",true]"#, "count must be a non-negative integer"),
            (r#"["a",1,true,[],"all",1,2]"#, "this method takes at most 6 parameters"),
            (r#"{"name":"a"}"#, "name must be a string"),
        ] {
            assert_eq!(parse(text, Form::Positional).unwrap_err(), expected, "{text}");
        }
        let read = |text: &str| {
            let params = Params::parse(Some(serde_json::from_str::<&RawValue>(text).unwrap())).unwrap();
            super::params::<Called>(&params, Form::Variadic).map_err(|error| error.message)
        };
        let called = read(r#"["a",1.10,null]"#).unwrap();
        let arguments: Vec<String> = called.arguments.iter().map(|argument| argument.0.get().to_owned()).collect();
        assert_eq!((&*called.method, arguments), ("a", vec!["1.10".to_owned(), "null".to_owned()]));
        assert!(read(r#"["a"]"#).unwrap().arguments.is_empty());
        assert_eq!(read("[]").unwrap_err(), "method is required");
    }

    /// An array of 32 MiB would take many times as much memory parsed. An invalid escape in it shows that it is not parsed.
    #[test]
    fn a_list_in_the_place_of_a_text_or_number_is_refused_unread() {
        #[derive(Debug, Deserialize)]
        #[expect(dead_code, reason = "only read")]
        struct Scalars {
            text: Option<Text>,
            plain: Option<String>,
            count: Option<Natural>,
            flag: Option<bool>,
            inner: Option<Inner>,
            kind: Option<Kind>,
        }
        let names = fields::<Scalars>();
        for (index, name) in names.iter().enumerate() {
            for list in [r#"["\ud800"]"#, r#"{"a":"\ud800"}"#] {
                let mut items = vec!["null"; names.len()];
                items[index] = list;
                let params = format!("[{}]", items.join(","));
                let params = Params::parse(Some(serde_json::from_str::<&RawValue>(&params).unwrap())).unwrap();
                let error = super::params::<Scalars>(&params, Form::Positional).unwrap_err().message;
                let is_object = *name == "inner" && list.starts_with('{');
                let expected =
                    if is_object { "inner is not valid JSON".to_owned() } else { format!("{name} must be ") };
                assert!(error.starts_with(&expected), "{error}");
            }
        }
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
            assert_eq!(parse(text, Form::Named).unwrap_err(), expected, "{text}");
        }
        assert_eq!(parse("[{},{}]", Form::NamedInArray).unwrap_err(), "this method takes at most 1 parameters");
        assert_eq!(parse("[7]", Form::NamedInArray).unwrap_err(), "params must be an object");
        assert_eq!(parse(r#"{"name":"a"}"#, Form::Nothing).unwrap_err(), "this method takes no parameters");
    }
}
