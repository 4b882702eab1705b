//! Methods that are declared as rows of a table: one handler answers them by name, with textual or raw parameters.

use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};

use super::{Declaration, Declared, Form, SchemaOf};
use crate::errors::ApiError;
use crate::jsonrpc::Params;
use crate::state::{BoxFuture, RequestContext};
use crate::surface::RpcResult;

/// A positional parameter.
pub struct Param {
    name: &'static str,
    /// Description; empty for parameters of the node's own methods.
    text: &'static str,
    is_needed: bool,
    schema: SchemaOf,
}

/// A required parameter.
pub const fn needs<T: JsonSchema>(name: &'static str) -> Param {
    Param { name, text: "", is_needed: true, schema: |generator| generator.subschema_for::<T>() }
}

/// An optional parameter.
pub const fn takes<T: JsonSchema>(name: &'static str) -> Param {
    Param { name, text: "", is_needed: false, schema: |generator| generator.subschema_for::<Option<T>>() }
}

impl Param {
    /// Adds a description.
    #[must_use]
    pub const fn that_is(self, text: &'static str) -> Self {
        Self { text, ..self }
    }

    pub(super) fn describe(&self, generator: &mut SchemaGenerator) -> Value {
        let mut param = json!({ "name": self.name, "required": self.is_needed, "schema": (self.schema)(generator) });
        if !self.text.is_empty() {
            param["description"] = self.text.into();
        }
        param
    }
}

impl<S: Sync> Declared<S> {
    /// A method that `call` answers, as all of its list, with an answer of the shape `A`. The example is an array.
    pub const fn listed<A: JsonSchema>(
        name: &'static str,
        summary: &'static str,
        params: &'static [Param],
        example: &'static str,
        call: for<'a> fn(&'a RequestContext, &'a S, &'static Self, &Params) -> BoxFuture<'a, RpcResult>,
    ) -> Self {
        Self {
            name,
            aliases: &[],
            form: if params.is_empty() { Form::Nothing } else { Form::Positional },
            example,
            errors: &[],
            takes_large_body: false,
            params: Declaration::ParamList { summary, params },
            answer: |generator| generator.subschema_for::<A>(),
            check: |_| Ok(()),
            call,
        }
    }

    /// Allows a body as large as a transaction or a block.
    #[must_use]
    pub const fn of_large_body(self) -> Self {
        Self { takes_large_body: true, ..self }
    }

    /// The parameters as texts, in their order; numbers as their digits.
    ///
    /// # Errors
    /// -32602 when there are too many, one is missing, or one is neither a text nor a number.
    pub fn texts(&self, params: &Params) -> Result<Vec<String>, ApiError> {
        self.check_number(params)?;
        self.all_texts(params)
    }

    /// Checks the number of parameters.
    ///
    /// # Errors
    /// -32602 when there are more than the method has.
    pub fn check_number(&self, params: &Params) -> Result<(), ApiError> {
        match self.listed_params() {
            [] => params.none(),
            declared => params.at_most(declared.len()),
        }
    }

    /// As [`Self::texts`], with further parameters after those that are declared.
    ///
    /// # Errors
    /// -32602 when one is missing, or one is neither a text nor a number.
    pub fn all_texts(&self, params: &Params) -> Result<Vec<String>, ApiError> {
        let declared = self.listed_params();
        let texts = all_texts(params, |index| declared.get(index).map(|param| param.name))?;
        match declared.iter().enumerate().find(|(index, param)| param.is_needed && texts.get(*index).is_none()) {
            Some((_, param)) => Err(ApiError::invalid(format!("{} is required", param.name))),
            None => Ok(texts),
        }
    }

    fn listed_params(&self) -> &'static [Param] {
        match self.params {
            Declaration::ParamList { params, .. } => params,
            Declaration::Struct { .. } => &[],
        }
    }
}

/// Parameters as texts: `null` counts as absent, and an empty object as no parameters.
///
/// # Errors
/// -32602 when one is neither a text nor a number.
pub fn all_texts(params: &Params, name: impl Fn(usize) -> Option<&'static str>) -> Result<Vec<String>, ApiError> {
    if params.none().is_ok() {
        return Ok(Vec::new());
    }
    let text = |index| match name(index) {
        Some(name) => params.optional_text(index, name),
        None => params.optional_text(index, format_args!("parameter {}", index + 1)),
    };
    (0..params.len()).map(text).filter_map(Result::transpose).collect()
}
