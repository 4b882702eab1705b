//! From the integers of a cellpack to a handler's parameters, and from its result to a response.

use alloc::string::String;
use alloc::vec::Vec;

use crate::call::Response;
use crate::codec::decimal;
use crate::environment::Environment;
use crate::id::AlkaneId;
use crate::revert::Revert;

/// One opcode of a contract, for its interface description.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Method {
    /// Name of the handler.
    pub name: &'static str,
    /// The first input.
    pub opcode: u128,
    /// Name and type of each parameter.
    pub parameters: &'static [(&'static str, &'static str)],
    /// Type of the returned data, `void` for none.
    pub returns: &'static str,
}

/// What the macro `contract!` makes of a contract.
pub trait Contract {
    /// Name of the contract.
    const NAME: &'static str;
    /// Its opcodes.
    const METHODS: &'static [Method];

    /// Runs the handler of the opcode.
    fn dispatch(env: &mut Environment) -> Result<Response, Revert>;

    /// The interface description in JSON, as `__meta` answers it.
    fn description() -> String {
        let mut json = String::from("{\"contract\":\"");
        json.push_str(Self::NAME);
        json.push_str("\",\"methods\":[");
        for (index, method) in Self::METHODS.iter().enumerate() {
            json.push_str(if index == 0 { "{\"name\":\"" } else { ",{\"name\":\"" });
            json.push_str(method.name);
            json.push_str("\",\"opcode\":");
            json.push_str(&decimal(method.opcode));
            json.push_str(",\"params\":[");
            for (index, (name, kind)) in method.parameters.iter().enumerate() {
                json.push_str(if index == 0 { "{\"name\":\"" } else { ",{\"name\":\"" });
                json.push_str(name);
                json.push_str("\",\"type\":\"");
                json.push_str(kind);
                json.push_str("\"}");
            }
            json.push_str("],\"returns\":\"");
            json.push_str(method.returns);
            json.push_str("\"}");
        }
        json.push_str("]}");
        json
    }
}

/// The integers behind the opcode, taken off one by one. What is left over is ignored: calldata is padded with zeros.
#[derive(Debug, Clone)]
pub struct Inputs {
    values: Vec<u128>,
    next: usize,
}

impl Inputs {
    /// All inputs of a call, from the opcode on.
    pub fn of(env: &Environment) -> Self {
        Self { values: env.context().inputs.clone(), next: 0 }
    }

    /// The next integer.
    pub fn word(&mut self) -> Option<u128> {
        let value = self.values.get(self.next).copied()?;
        self.next += 1;
        Some(value)
    }

    /// How many integers are left.
    pub const fn remaining(&self) -> usize {
        self.values.len() - self.next
    }

    /// The next parameter; reverts with its name when the inputs end before it.
    pub fn parameter<T: Parameter>(&mut self, missing: &'static str) -> Result<T, Revert> {
        T::take(self).ok_or_else(|| Revert::from(missing))
    }
}

/// A type that a handler may take.
pub trait Parameter: Sized {
    /// Takes the value off the inputs; `None` when there are too few.
    fn take(inputs: &mut Inputs) -> Option<Self>;
}

impl Parameter for u128 {
    fn take(inputs: &mut Inputs) -> Option<Self> {
        inputs.word()
    }
}

impl Parameter for AlkaneId {
    /// Two integers: block, tx.
    fn take(inputs: &mut Inputs) -> Option<Self> {
        Some(Self::new(inputs.word()?, inputs.word()?))
    }
}

impl<T: Parameter> Parameter for Vec<T> {
    /// The number of elements, then the elements.
    fn take(inputs: &mut Inputs) -> Option<Self> {
        let count = inputs.word()?;
        if count > inputs.remaining() as u128 {
            return None;
        }
        (0..count).map(|_| T::take(inputs)).collect()
    }
}

impl Parameter for String {
    /// UTF-8 bytes, sixteen to an integer, little-endian, ended by the first zero byte or by the end of the inputs.
    fn take(inputs: &mut Inputs) -> Option<Self> {
        let mut bytes = Vec::new();
        let mut word = inputs.word()?;
        loop {
            for byte in word.to_le_bytes() {
                if byte == 0 {
                    return Self::from_utf8(bytes).ok();
                }
                bytes.push(byte);
            }
            match inputs.word() {
                Some(next) => word = next,
                None => return Self::from_utf8(bytes).ok(),
            }
        }
    }
}

/// A type that a handler may return. All but [`Response`] send back everything that came in.
pub trait Reply {
    /// The response to the caller.
    fn into_response(self, env: &Environment) -> Response;
}

impl Reply for Response {
    fn into_response(self, _: &Environment) -> Response {
        self
    }
}

impl Reply for () {
    fn into_response(self, env: &Environment) -> Response {
        env.forward()
    }
}

impl Reply for u128 {
    /// Sixteen bytes, little-endian.
    fn into_response(self, env: &Environment) -> Response {
        env.forward().with_data(self.to_le_bytes())
    }
}

impl Reply for u64 {
    /// Eight bytes, little-endian.
    fn into_response(self, env: &Environment) -> Response {
        env.forward().with_data(self.to_le_bytes())
    }
}

impl Reply for String {
    /// UTF-8.
    fn into_response(self, env: &Environment) -> Response {
        env.forward().with_data(self)
    }
}

impl Reply for Vec<u8> {
    fn into_response(self, env: &Environment) -> Response {
        env.forward().with_data(self)
    }
}

impl Reply for AlkaneId {
    /// Thirty-two bytes: block and tx, little-endian.
    fn into_response(self, env: &Environment) -> Response {
        env.forward().with_data(self.to_bytes())
    }
}
