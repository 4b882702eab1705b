//! Why an execution ends early.

use std::fmt;

/// The reason of a trap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrapCode {
    /// `unreachable` was executed.
    UnreachableCodeReached,
    /// A load, store or bulk operation reaches past the end of a memory or data segment.
    MemoryOutOfBounds,
    /// An element past the end of a table or element segment.
    TableOutOfBounds,
    /// An indirect call of a null reference.
    IndirectCallToNull,
    /// A division or remainder by zero.
    IntegerDivisionByZero,
    /// The quotient, or the whole part of a float, is outside the range of the integer.
    IntegerOverflow,
    /// A float that is not a number has no integer.
    BadConversionToInteger,
    /// More calls or values than the interpreter's stack holds.
    StackOverflow,
    /// An indirect call of a function of another type.
    BadSignature,
    /// The fuel is used up.
    OutOfFuel,
    /// The embedder's limiter ends an execution that grows a memory or table.
    GrowthOperationLimited,
}

impl TrapCode {
    /// The text of the standard's tests, which is part of what a failed message reports.
    pub fn trap_message(&self) -> &'static str {
        match self {
            Self::UnreachableCodeReached => "wasm `unreachable` instruction executed",
            Self::MemoryOutOfBounds => "out of bounds memory access",
            Self::TableOutOfBounds => "undefined element: out of bounds table access",
            // The number is in the text whatever the index was.
            Self::IndirectCallToNull => "uninitialized element 2",
            Self::IntegerDivisionByZero => "integer divide by zero",
            Self::IntegerOverflow => "integer overflow",
            Self::BadConversionToInteger => "invalid conversion to integer",
            Self::StackOverflow => "call stack exhausted",
            Self::BadSignature => "indirect call type mismatch",
            Self::OutOfFuel => "all fuel consumed by WebAssembly",
            Self::GrowthOperationLimited => "growth operation limited",
        }
    }
}

impl fmt::Display for TrapCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.trap_message())
    }
}
