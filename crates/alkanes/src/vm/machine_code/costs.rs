//! What wasmi's translation of a module costs: fuel of each block of each function, and registers.
//!
//! wasmi 0.37.2 keeps both to itself, but prints them with everything else that an engine holds. Nothing is kept of the print
//! beside these numbers. The version is pinned; whatever else it printed would not fit the module, which is then not compiled.

use std::fmt::{self, Write};

use wasmi::Engine;

/// Costs of one function of a module.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct FunctionCosts {
    /// Fuel of its body, of each of its loops, and of each branch of an `if`, in the order of the code, as far as wasmi takes the code
    /// for reachable. All of a block is charged when it is entered; a `block` belongs to what it is in.
    pub(super) blocks: Vec<u32>,
    /// Registers of a call, 8 bytes each on wasmi's stack.
    pub(super) registers: u32,
}

/// Before the fuel of a block, before the number of registers, and at the begin of a function.
const FUEL: &str = "BlockFuel(";
const REGISTERS: &str = "len_registers: ";
const FUNCTION: &str = "CompiledFuncEntity {";

/// Costs of all functions of the only module of an engine, in its order and without those that it imports.
pub(super) fn costs_of(engine: &Engine) -> Option<Vec<FunctionCosts>> {
    let mut reader = Reader::default();
    write!(reader, "{engine:?}").ok()?;
    reader.read(reader.pending.len()).ok()?;
    Some(reader.functions)
}

/// Reads a print piece by piece, so that it is never in memory as a whole.
#[derive(Default)]
struct Reader {
    functions: Vec<FunctionCosts>,
    /// What was printed and not yet read.
    pending: String,
}

/// Bytes of the print that are read together.
const WINDOW_BYTES: usize = 64 << 10;

impl Reader {
    /// Reads what is pending up to `end`, which is in none of the words and in no number.
    fn read(&mut self, end: usize) -> fmt::Result {
        let mut rest = &self.pending[..end];
        loop {
            let next = [FUEL, REGISTERS, FUNCTION].into_iter().filter_map(|word| Some((rest.find(word)?, word))).min();
            let Some((offset, word)) = next else { break };
            rest = &rest[offset + word.len()..];
            if word == FUNCTION {
                self.functions.push(FunctionCosts::default());
                continue;
            }
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let number = rest[..digits].parse().map_err(|_| fmt::Error)?;
            let function = self.functions.last_mut().ok_or(fmt::Error)?;
            if word == FUEL {
                function.blocks.push(number);
            } else {
                function.registers = number;
            }
        }
        self.pending.drain(..end);
        Ok(())
    }
}

impl Write for Reader {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.pending.push_str(text);
        match self.pending.rfind(',') {
            Some(end) if self.pending.len() >= WINDOW_BYTES => self.read(end),
            _ => Ok(()),
        }
    }
}
