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

/// What is looked for: the begin of a function, what stands before the fuel of a block, the number of registers and a register, and an instruction.
const WORDS: [&str; 5] = ["CompiledFuncEntity {", "BlockFuel(", "len_registers: ", "Reg(", "BranchCmpFallback"];
const FUNCTION: usize = 0;
const FUEL: usize = 1;
const REGISTERS: usize = 2;
const REGISTER: usize = 3;

/// Highest register that is taken for what it says. wasmi lets registers overlap in functions with more than it can count.
const REGISTER_MAX: u32 = 8_191;

/// Costs of all functions of the only module of an engine, in its order and without those that it imports. `None` where wasmi's own translation
/// does not do what the module says: branches that are too far for it (`BranchCmpFallback`) go elsewhere, and registers overlap where there are too many.
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
        let text = &self.pending[..end];
        let find = |word: usize, from: usize| text[from..].find(WORDS[word]).map_or(end, |offset| from + offset);
        let mut next: [usize; WORDS.len()] = std::array::from_fn(|word| find(word, 0));
        while let Some((word, at)) = next.into_iter().enumerate().min_by_key(|(_, at)| *at).filter(|(_, at)| *at < end)
        {
            let after = at + WORDS[word].len();
            next[word] = find(word, after);
            if word == FUNCTION {
                self.functions.push(FunctionCosts::default());
                continue;
            }
            let function = self.functions.last_mut().ok_or(fmt::Error)?;
            let digits = text[after..].trim_start_matches('-');
            let digits = &digits[..digits.bytes().take_while(u8::is_ascii_digit).count()];
            let number = || digits.parse().map_err(|_| fmt::Error);
            match word {
                FUEL => function.blocks.push(number()?),
                REGISTERS => function.registers = number()?,
                REGISTER if number()? <= REGISTER_MAX => {}
                _ => return Err(fmt::Error),
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
