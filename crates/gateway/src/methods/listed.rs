//! Methods that are lines of a list: they are answered in one way, by their names, and parameters are texts or are handed on as they came.

use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};

use super::{Declaration, Declared, Form, SchemaOf};
use crate::errors::RpcError;
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
    pub(crate) fn texts(&self, params: &Params) -> Result<Vec<String>, RpcError> {
        let Declaration::Listed { params: known, .. } = &self.params else { return Ok(Vec::new()) };
        if known.is_empty() {
            return params.none().map(|()| Vec::new());
        }
        params.at_most(known.len())?;
        // An empty object is a way to give nothing.
        let nothing = Params::default();
        let params = if params.none().is_ok() { &nothing } else { params };
        let mut texts = Vec::new();
        for (index, Param { name, is_needed, .. }) in known.iter().enumerate() {
            match params.optional_text(index, name)? {
                Some(text) => texts.push(text),
                None if *is_needed => return Err(RpcError::invalid_params(format!("{name} is required"))),
                None => {}
            }
        }
        Ok(texts)
    }
}
