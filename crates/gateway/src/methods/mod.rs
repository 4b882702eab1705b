//! JSON-RPC methods, each declared once.
//!
//! A method is the struct of its parameters with an implementation of [`Method`]: the doc comment says what it is for, the fields
//! are the parameters with their doc comments, [`Method::Answer`] is what it answers. A [`Surface`] lists the methods of one
//! endpoint. Routing, the reading of parameters and its errors, and the OpenRPC document all come from there, so a new method is
//! one struct and one line in its surface's list.

mod describe;
mod listed;
mod read;
mod types;

use std::future::{Future, ready};
use std::marker::PhantomData;
use std::sync::OnceLock;

use bytes::Bytes;
use hyper::StatusCode;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

pub use self::describe::{DISCOVER, Described, Generators, generators};
pub use self::listed::{Param, all_texts, needs, takes};
pub use self::read::{ParamError, fields, read_members};
pub use self::types::{
    BlockTag, ByName, Hash, HexBytes, HexText, List, Natural, NaturalText, Object, OrNull, RawParam, Text, TextOrHex,
    TxidText, Verbatim, scalar, schema,
};
use crate::bounded::to_raw_bounded;
use crate::errors::{ApiError, ErrorKind};
use crate::jsonrpc::Params;
use crate::state::{BoxFuture, RequestContext};
use crate::surface::RpcResult;

/// How the parameters of a method are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As an object; absent means an empty one.
    Named,
    /// As an object, also as the only member of an array.
    NamedInArray,
    /// As an array in the order of the fields; an object is the one member of an array.
    Positional,
    /// As an array whose first members are the fields in their order; what follows is the last field, a list.
    Variadic,
    /// For methods without parameters: `[]`, `{}`, `[{}]`, `null` or nothing.
    Nothing,
    /// As [`Self::Nothing`] on surfaces with named parameters, where `[{}]` is an array.
    NamedNothing,
}

/// A method: the struct of its parameters. Parameters that may be absent are `Option`; `null` counts as absent, and unknown
/// members are ignored.
pub trait Method: DeserializeOwned + JsonSchema + Send + 'static {
    /// Its name on the surface.
    const NAME: &'static str;
    /// Other names of the method.
    const ALIASES: &'static [&'static str] = &[];
    /// How parameters are written.
    const FORM: Form = Form::Named;
    /// Parameters of a call, as JSON.
    const EXAMPLE: &'static str;
    /// Errors beyond those that every method has.
    const ERRORS: &'static [ErrorCase] = &[];
    /// Whether the body may be as large as a transaction or a block.
    const TAKES_LARGE_BODY: bool = false;
    /// State that the surface keeps between calls.
    type Surface: Sync;
    /// Type of its answer.
    type Answer: Answer + JsonSchema + Send;

    /// Answers a call.
    fn call(
        self,
        context: &RequestContext,
        surface: &Self::Surface,
    ) -> impl Future<Output = Result<Self::Answer, ApiError>> + Send;
}

/// An error that a method has of its own.
#[derive(Debug)]
pub struct ErrorCase {
    /// Of the JSON-RPC error.
    pub code: i64,
    /// `data.code`.
    pub name: &'static str,
    /// When it occurs and what a caller can do.
    pub when: &'static str,
}

impl ErrorCase {
    /// The error of a call.
    pub fn error(&self, message: impl Into<std::borrow::Cow<'static, str>>) -> ApiError {
        let kind = ErrorKind { rpc_code: self.code, ..ErrorKind::new(self.name, StatusCode::BAD_REQUEST) };
        ApiError::new(kind, message)
    }
}

/// An answer that was serialised on a blocking thread; `T` is its schema.
pub struct Written<T> {
    text: Box<RawValue>,
    shape: PhantomData<fn() -> T>,
}

impl<T> Written<T> {
    /// JSON text of the schema `T`.
    pub fn raw(text: Box<RawValue>) -> Self {
        Self { text, shape: PhantomData }
    }
}

impl<T: Serialize> Written<T> {
    /// Writes an answer of at most `bytes_max` bytes.
    ///
    /// # Errors
    /// It is longer.
    pub fn new(answer: &T, bytes_max: usize) -> Result<Self, ApiError> {
        Ok(Self::raw(to_raw_bounded(answer, bytes_max)?))
    }
}

/// An answer of a method that can be serialised up to a size limit.
pub trait Answer {
    /// # Errors
    /// It is longer, or no JSON.
    fn write(self, bytes_max: usize) -> RpcResult;
}

impl<T: Serialize> Answer for T {
    fn write(self, bytes_max: usize) -> RpcResult {
        Ok(to_raw_bounded(&self, bytes_max)?)
    }
}

/// Passed on without a copy; its size was limited where it was written.
impl<T> Answer for Written<T> {
    fn write(self, bytes_max: usize) -> RpcResult {
        if self.text.get().len() > bytes_max { Err(ApiError::response_too_large()) } else { Ok(self.text) }
    }
}

impl<T: JsonSchema> JsonSchema for Written<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> std::borrow::Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// Makes the schema of parameters or of answers.
type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// How the parameters of a method are declared.
enum Declaration {
    /// As the fields of a struct, in their order; its doc comment says what the method is for.
    Struct { fields: fn() -> Vec<&'static str>, schema: SchemaOf },
    /// As a list of single parameters.
    ParamList { summary: &'static str, params: &'static [Param] },
}

/// A method as its surface lists it.
pub struct Declared<S: 'static> {
    name: &'static str,
    aliases: &'static [&'static str],
    form: Form,
    example: &'static str,
    errors: &'static [ErrorCase],
    takes_large_body: bool,
    params: Declaration,
    answer: SchemaOf,
    /// Whether parameters can be parsed.
    check: fn(&Params) -> Result<(), ApiError>,
    call: for<'a> fn(&'a RequestContext, &'a S, &'static Self, &Params) -> BoxFuture<'a, RpcResult>,
}

impl<S: Sync> Declared<S> {
    /// The declaration of a method.
    pub const fn of<M: Method<Surface = S>>() -> Self {
        Self {
            name: M::NAME,
            aliases: M::ALIASES,
            form: M::FORM,
            example: M::EXAMPLE,
            errors: M::ERRORS,
            takes_large_body: M::TAKES_LARGE_BODY,
            params: Declaration::Struct { fields: read::fields::<M>, schema: M::json_schema },
            answer: |generator| generator.subschema_for::<M::Answer>(),
            check: |params| read::params::<M>(params, M::FORM).map(drop),
            call: run::<M>,
        }
    }

    /// Its name on the surface.
    pub fn name(&self) -> &'static str {
        self.name
    }

    fn is_named(&self, method: &str) -> bool {
        self.name == method || self.aliases.contains(&method)
    }
}

fn run<'a, M: Method>(
    context: &'a RequestContext,
    surface: &'a M::Surface,
    _: &'static Declared<M::Surface>,
    params: &Params,
) -> BoxFuture<'a, RpcResult> {
    match read::params::<M>(params, M::FORM) {
        Err(error) => Box::pin(ready(Err(error))),
        Ok(method) => Box::pin(async move {
            let answer = method.call(context, surface).await?;
            answer.write(context.limits().response_bytes_max)
        }),
    }
}

/// A segment of the path of an endpoint that callers choose.
#[derive(Clone, Copy)]
pub struct PathVariable {
    /// Its name.
    pub name: &'static str,
    /// For examples.
    pub default: &'static str,
    /// Description.
    pub about: &'static str,
}

/// The JSON-RPC methods of an endpoint, or of a family of the main one. `S` is the state that the endpoint keeps between calls.
pub struct Surface<S: 'static> {
    /// Its segment in the path: `/v4/<key>/<name>`; for a family the prefix of its methods, before `_`.
    pub name: &'static str,
    introduction: &'static str,
    admit: fn(&RequestContext) -> Result<(), ApiError>,
    methods: &'static [Declared<S>],
    also: &'static [&'static Self],
    variable: Option<PathVariable>,
    /// The OpenRPC document, made at its first request.
    document: OnceLock<Bytes>,
}

impl<S> Surface<S> {
    /// Methods in the order in which they are described.
    pub const fn new(name: &'static str, methods: &'static [Declared<S>]) -> Self {
        Self {
            name,
            introduction: "",
            admit: |_| Ok(()),
            methods,
            also: &[],
            variable: None,
            document: OnceLock::new(),
        }
    }

    /// Sets the introduction to all methods, in Markdown.
    #[must_use]
    pub const fn introduced(mut self, introduction: &'static str) -> Self {
        self.introduction = introduction;
        self
    }

    /// Refuses a caller, or an instance that cannot answer, before parameters are read.
    #[must_use]
    pub const fn admitting(mut self, admit: fn(&RequestContext) -> Result<(), ApiError>) -> Self {
        self.admit = admit;
        self
    }

    /// Adds a path segment after the name.
    #[must_use]
    pub const fn with_variable(mut self, variable: PathVariable) -> Self {
        self.variable = Some(variable);
        self
    }

    /// Adds the methods of other surfaces, except those of the same name.
    #[must_use]
    pub const fn having(mut self, others: &'static [&'static Self]) -> Self {
        self.also = others;
        self
    }
}

impl<S: Sync> Surface<S> {
    /// The method, and the surface that lists it.
    fn find(&self, method: &str) -> Option<(&'static Declared<S>, &Self)> {
        let own = self.methods.iter().find(|declared| declared.is_named(method)).map(|declared| (declared, self));
        own.or_else(|| self.also.iter().find_map(|other| other.find(method)))
    }

    /// All methods, in their order.
    fn all(&self) -> impl Iterator<Item = &'static Declared<S>> {
        let others = self.also.iter().flat_map(|other| other.methods);
        let of_others = others.filter(|other| self.methods.iter().all(|own| own.name != other.name));
        self.methods.iter().chain(of_others)
    }

    /// Names and other names of the methods, in their order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.all().flat_map(|method| std::iter::once(method.name).chain(method.aliases.iter().copied()))
    }

    /// Whether a method's body may be as large as a transaction or a block.
    pub fn takes_large_body(&self, method: &str) -> bool {
        self.find(method).is_some_and(|(declared, _)| declared.takes_large_body)
    }

    /// Answers a call.
    pub fn call<'a>(
        &self,
        context: &'a RequestContext,
        surface: &'a S,
        method: &str,
        params: &Params,
    ) -> BoxFuture<'a, RpcResult> {
        let Some((declared, lister)) = self.find(method) else {
            return Box::pin(ready(Err(ApiError::method_not_found())));
        };
        match (self.admit)(context).and_then(|()| (lister.admit)(context)) {
            Ok(()) => (declared.call)(context, surface, declared, params),
            Err(refused) => Box::pin(ready(Err(refused))),
        }
    }

    /// Answers a call of an endpoint, which also describes itself.
    pub fn serve<'a>(
        &self,
        context: &'a RequestContext,
        surface: &'a S,
        method: &str,
        params: &Params,
    ) -> BoxFuture<'a, RpcResult> {
        if method == DISCOVER {
            return Box::pin(ready(self.discover(params)));
        }
        self.call(context, surface, method, params)
    }
}
