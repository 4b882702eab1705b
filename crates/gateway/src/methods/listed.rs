//! Methods that are lines of a list: they are answered in one way, by their names, and parameters are texts or are handed on as they came.

use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};

use super::{Declaration, Declared, Form, SchemaOf};
use crate::errors::ApiError;
use crate::jsonrpc::Params;
use crate::state::{BoxFuture, RequestContext};
use crate::surfaces::RpcResult;

/// A parameter by its place.
pub(crate) struct Param {
    name: &'static str,
    /// What it is, for people; what is a node's own has none.
    text: &'static str,
    is_needed: bool,
    schema: SchemaOf,
}

/// A parameter that must be there.
pub(crate) const fn needs<T: JsonSchema>(name: &'static str) -> Param {
    Param { name, text: "", is_needed: true, schema: |generator| generator.subschema_for::<T>() }
}

/// A parameter that may be absent.
pub(crate) const fn takes<T: JsonSchema>(name: &'static str) -> Param {
    Param { name, text: "", is_needed: false, schema: |generator| generator.subschema_for::<Option<T>>() }
}

impl Param {
    /// The same with words for people.
    pub(crate) const fn that_is(self, text: &'static str) -> Self {
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
    pub(crate) const fn listed<A: JsonSchema>(
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
            params: Declaration::Listed { summary, params },
            answer: |generator| generator.subschema_for::<A>(),
            #[cfg(test)]
            check: |_| Ok(()),
            call,
        }
    }

    /// The same with a body as large as a transaction or a block.
    pub(crate) const fn of_large_body(self) -> Self {
        Self { takes_large_body: true, ..self }
    }

    /// The parameters as texts, in their order; numbers as their digits.
    ///
    /// # Errors
    /// -32602 when there are too many, one is missing, or one is neither a text nor a number.
    pub(crate) fn texts(&self, params: &Params) -> Result<Vec<String>, ApiError> {
        self.check_number(params)?;
        self.all_texts(params)
    }

    /// -32602 when there are more parameters than the method has.
    pub(crate) fn check_number(&self, params: &Params) -> Result<(), ApiError> {
        match self.listed_params() {
            [] => params.none(),
            known => params.at_most(known.len()),
        }
    }

    /// As [`Self::texts`], also what stands after the parameters that the method has.
    ///
    /// # Errors
    /// -32602 when one is missing, or one is neither a text nor a number.
    pub(crate) fn all_texts(&self, params: &Params) -> Result<Vec<String>, ApiError> {
        let known = self.listed_params();
        let texts = all_texts(params, |index| known.get(index).map(|param| param.name))?;
        match known.iter().enumerate().find(|(index, param)| param.is_needed && texts.get(*index).is_none()) {
            Some((_, param)) => Err(ApiError::invalid(format!("{} is required", param.name))),
            None => Ok(texts),
        }
    }

    fn listed_params(&self) -> &'static [Param] {
        match self.params {
            Declaration::Listed { params, .. } => params,
            Declaration::Struct { .. } => &[],
        }
    }
}

/// Parameters as texts: `null` is an absent one, and an empty object is a way to give none.
///
/// # Errors
/// -32602 when one is neither a text nor a number.
pub(crate) fn all_texts(
    params: &Params,
    name: impl Fn(usize) -> Option<&'static str>,
) -> Result<Vec<String>, ApiError> {
    if params.none().is_ok() {
        return Ok(Vec::new());
    }
    let text = |index| match name(index) {
        Some(name) => params.optional_text(index, name),
        None => params.optional_text(index, format_args!("parameter {}", index + 1)),
    };
    (0..params.len()).map(text).filter_map(Result::transpose).collect()
}
