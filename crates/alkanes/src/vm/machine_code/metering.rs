//! A module that counts the fuel that wasmi would charge for it.
//!
//! ```text
//!  function, loop, branch of an if ─▶ fuel left − cost of the block, a trap below zero
//!  call                            ─▶ registers in use + those of the caller, a trap beyond the stack that wasmi has, and back
//!  memory.grow, .copy, .fill       ─▶ a function that does it and charges for the bytes; a refused growth is a trap
//! ```
//!
//! Invariant: a call that ends without a trap has done what wasmi does, and has as much fuel left. A trap says nothing.

use wasm_encoder::reencode::{Reencode, RoundtripReencoder};
use wasm_encoder::{
    BlockType, CodeSection, ConstExpr, ExportKind, ExportSection, Function, FunctionSection, GlobalSection, GlobalType,
    Instruction, Module, RawSection, TypeSection, ValType,
};
use wasmparser::{
    BinaryReaderError, CompositeInnerType, FunctionBody, Operator, Parser, Payload, TypeRef, Validator, WasmFeatures,
};

use super::costs::FunctionCosts;

/// Name under which the fuel that is left is exported, in an `i64`.
pub(super) const FUEL_EXPORT: &str = "paraffin:fuel";

/// Bytes that wasmi grows, copies or fills for one unit of fuel.
const BYTES_PER_FUEL: u32 = 64;
const PAGE_FUEL: i64 = (64 << 10) / BYTES_PER_FUEL as i64;

/// wasmi's stack: registers, and calls.
const REGISTERS_MAX: u32 = (1 << 20) / 8;
const DEPTH_MAX: u32 = 1024;
/// Every call counts as so many registers, so that one limit is that of both.
const REGISTERS_MIN: u32 = REGISTERS_MAX / DEPTH_MAX;

/// What takes seconds to compile, as measured; a function of 128 KiB with 300 locals takes minutes.
const MODULE_LEN_MAX_BYTES: usize = 512 << 10;
const FUNCTION_LEN_MAX_BYTES: usize = 64 << 10;
const LOCALS_MAX: u32 = 1_000;
/// Parameters of a function or a block, and its results: each of them is a value at every branch.
const VALUES_MAX: usize = 64;

/// What the module may use: floating-point numbers, whose results wasmi computes with our arithmetic, and references are no part of it.
const FEATURES: WasmFeatures = WasmFeatures::MUTABLE_GLOBAL
    .union(WasmFeatures::SIGN_EXTENSION)
    .union(WasmFeatures::BULK_MEMORY)
    .union(WasmFeatures::MULTI_VALUE)
    .union(WasmFeatures::CALL_INDIRECT_OVERLONG);

/// Why a module is not compiled.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unfit {
    /// It is no module, or one that uses more than integers.
    #[error("{0}")]
    Invalid(#[from] BinaryReaderError),
    /// It lacks a section, or uses an instruction that is not counted.
    #[error("it has {0}")]
    Unsupported(&'static str),
    /// The costs are those of other code.
    #[error("its blocks are not those that are charged")]
    OtherCosts,
}

impl From<wasm_encoder::reencode::Error> for Unfit {
    fn from(_: wasm_encoder::reencode::Error) -> Self {
        Self::Unsupported("something that cannot be written again")
    }
}

/// The module with counted fuel; `costs` are those of its functions in wasmi.
///
/// # Errors
/// It cannot be counted.
pub(super) fn metered(code: &[u8], costs: &[FunctionCosts]) -> Result<Vec<u8>, Unfit> {
    if code.len() > MODULE_LEN_MAX_BYTES {
        return Err(Unfit::Unsupported("more code than is compiled"));
    }
    Validator::new_with_features(FEATURES).validate_all(code)?;
    let meter = Meter::of(code, costs)?;
    let mut module = Module::new();
    let mut bodies = CodeSection::new();
    for payload in Parser::new(0).parse_all(code) {
        match payload? {
            Payload::TypeSection(reader) => {
                let mut types = TypeSection::new();
                RoundtripReencoder.parse_type_section(&mut types, reader)?;
                types.ty().function([ValType::I32], [ValType::I32]);
                types.ty().function([ValType::I32; 3], []);
                module.section(&types);
            }
            Payload::FunctionSection(reader) => {
                let mut functions = FunctionSection::new();
                RoundtripReencoder.parse_function_section(&mut functions, reader)?;
                functions.function(meter.types).function(meter.types + 1).function(meter.types + 1);
                module.section(&functions);
            }
            Payload::GlobalSection(reader) => {
                let mut globals = GlobalSection::new();
                RoundtripReencoder.parse_global_section(&mut globals, reader)?;
                let global = |val_type| GlobalType { val_type, mutable: true, shared: false };
                globals.global(global(ValType::I64), &ConstExpr::i64_const(0));
                globals.global(global(ValType::I32), &ConstExpr::i32_const(0));
                module.section(&globals);
            }
            Payload::ExportSection(reader) => {
                let mut exports = ExportSection::new();
                RoundtripReencoder.parse_export_section(&mut exports, reader)?;
                exports.export(FUEL_EXPORT, ExportKind::Global, meter.fuel());
                module.section(&exports);
            }
            Payload::CodeSectionStart { .. } | Payload::CustomSection(_) | Payload::Version { .. } => {}
            Payload::CodeSectionEntry(body) => {
                let index = bodies.len() as usize;
                bodies.function(&meter.function(index, &body, costs.get(index).ok_or(Unfit::OtherCosts)?)?);
                if bodies.len() == meter.functions {
                    for helper in meter.helpers() {
                        bodies.function(&helper);
                    }
                    module.section(&bodies);
                }
            }
            Payload::StartSection { .. } => return Err(Unfit::Unsupported("a start function")),
            other => {
                if let Some((id, range)) = other.as_section() {
                    module.section(&RawSection { id, data: &code[range] });
                }
            }
        }
    }
    Ok(module.finish())
}

/// Indices of what the module has, and with that of what is added.
struct Meter {
    types: u32,
    imported_functions: u32,
    functions: u32,
    globals: u32,
    /// Parameters of each type, and the type of each function that is not imported.
    parameters: Vec<u32>,
    function_types: Vec<u32>,
    /// Registers beyond which no call is made: any function that is called then still fits.
    registers_max: u32,
}

/// A block that is being read.
struct Frame {
    kind: FrameKind,
    /// Whether it was entered by code that wasmi takes for reachable.
    is_entered: bool,
    is_branched_to: bool,
    /// Of an `if` after its `else`: whether the first branch ends.
    then_ends: Option<bool>,
}

#[derive(PartialEq, Eq)]
enum FrameKind {
    Block,
    Loop,
    If,
}

impl Meter {
    fn of(code: &[u8], costs: &[FunctionCosts]) -> Result<Self, Unfit> {
        let registers = costs.iter().map(|costs| costs.registers.max(REGISTERS_MIN)).max().unwrap_or(0);
        // One more call, and the function that is called by the host.
        let registers_max = REGISTERS_MAX.checked_sub(2 * registers).ok_or(Unfit::Unsupported("a large function"))?;
        let (mut parameters, mut function_types) = (Vec::new(), Vec::new());
        let (mut imported_functions, mut globals) = (0, None);
        let mut has_exports = false;
        for payload in Parser::new(0).parse_all(code) {
            match payload? {
                Payload::TypeSection(reader) => {
                    for group in reader {
                        for kind in group?.types() {
                            let CompositeInnerType::Func(kind) = &kind.composite_type.inner else {
                                return Err(Unfit::Unsupported("types that are no functions"));
                            };
                            if kind.params().len().max(kind.results().len()) > VALUES_MAX {
                                return Err(Unfit::Unsupported("a function of many values"));
                            }
                            parameters.push(kind.params().len() as u32);
                        }
                    }
                }
                Payload::ImportSection(reader) => {
                    for import in reader.into_imports() {
                        match import?.ty {
                            TypeRef::Func(_) => imported_functions += 1,
                            _ => return Err(Unfit::Unsupported("imports that are no functions")),
                        }
                    }
                }
                Payload::FunctionSection(reader) => function_types = reader.into_iter().collect::<Result<_, _>>()?,
                Payload::GlobalSection(reader) => globals = Some(reader.count()),
                Payload::ExportSection(_) => has_exports = true,
                _ => {}
            }
        }
        let functions = function_types.len() as u32;
        let globals = globals.filter(|_| has_exports && functions > 0);
        Ok(Self {
            types: parameters.len() as u32,
            imported_functions,
            functions,
            globals: globals.ok_or(Unfit::Unsupported("no globals, exports or functions"))?,
            parameters,
            function_types,
            registers_max,
        })
    }

    const fn fuel(&self) -> u32 {
        self.globals
    }

    const fn registers(&self) -> u32 {
        self.globals + 1
    }

    const fn helper(&self, number: u32) -> u32 {
        self.imported_functions + self.functions + number
    }

    /// The function at `index`, which costs so much.
    fn function(&self, index: usize, body: &FunctionBody<'_>, costs: &FunctionCosts) -> Result<Function, Unfit> {
        let kind = *self.function_types.get(index).ok_or(Unfit::OtherCosts)?;
        let mut left = self.parameters[kind as usize];
        let mut locals = Vec::new();
        for group in body.get_locals_reader()? {
            let (count, kind) = group?;
            left += count;
            locals.push((count, RoundtripReencoder.val_type(kind)?));
        }
        locals.push((1, ValType::I64));
        if left > LOCALS_MAX || body.range().len() > FUNCTION_LEN_MAX_BYTES {
            return Err(Unfit::Unsupported("a large function"));
        }
        let mut writer = Writer {
            meter: self,
            code: Function::new(locals),
            blocks: costs.blocks.iter(),
            left,
            registers: costs.registers.max(REGISTERS_MIN),
            frames: Vec::new(),
            is_reachable: true,
        };
        writer.charge_block()?;
        for operator in body.get_operators_reader()? {
            writer.operator(operator?)?;
        }
        if writer.blocks.next().is_some() { Err(Unfit::OtherCosts) } else { Ok(writer.code) }
    }

    /// What grows, copies and fills memory, and charges for it.
    fn helpers(&self) -> [Function; 3] {
        let units = [
            Instruction::LocalGet(2),
            Instruction::I32Const(BYTES_PER_FUEL.ilog2().cast_signed()),
            Instruction::I32ShrU,
            Instruction::I64ExtendI32U,
        ];
        let grown = [
            Instruction::LocalGet(0),
            Instruction::MemoryGrow(0),
            Instruction::LocalTee(1),
            Instruction::I32Const(-1),
            Instruction::I32Eq,
            Instruction::If(BlockType::Empty),
            Instruction::Unreachable,
            Instruction::End,
        ];
        let pages = [
            Instruction::LocalGet(0),
            Instruction::I64ExtendI32U,
            Instruction::I64Const(PAGE_FUEL),
            Instruction::I64Mul,
        ];
        let mut grow = Function::new([(1, ValType::I32), (1, ValType::I64)]);
        write(&mut grow, &grown);
        write(&mut grow, &pages);
        self.charge(&mut grow, 2);
        write(&mut grow, &[Instruction::LocalGet(1), Instruction::End]);
        let moving = |instruction: Instruction<'static>| {
            let mut code = Function::new([(1, ValType::I64)]);
            write(&mut code, &[0, 1, 2].map(Instruction::LocalGet));
            write(&mut code, &[instruction]);
            write(&mut code, &units);
            self.charge(&mut code, 3);
            write(&mut code, &[Instruction::End]);
            code
        };
        [grow, moving(Instruction::MemoryCopy { src_mem: 0, dst_mem: 0 }), moving(Instruction::MemoryFill(0))]
    }

    /// Charges the units on the stack; `left` is a local for them.
    fn charge(&self, code: &mut Function, left: u32) {
        let charge = [
            Instruction::LocalSet(left),
            Instruction::GlobalGet(self.fuel()),
            Instruction::LocalGet(left),
            Instruction::I64Sub,
            Instruction::LocalTee(left),
            Instruction::GlobalSet(self.fuel()),
            Instruction::LocalGet(left),
            Instruction::I64Const(0),
            Instruction::I64LtS,
            Instruction::If(BlockType::Empty),
            Instruction::Unreachable,
            Instruction::End,
        ];
        write(code, &charge);
    }
}

fn write(code: &mut Function, instructions: &[Instruction<'_>]) {
    for instruction in instructions {
        code.instruction(instruction);
    }
}

/// Writes a function with its costs.
struct Writer<'m> {
    meter: &'m Meter,
    code: Function,
    /// Those of the blocks to come.
    blocks: std::slice::Iter<'m, u32>,
    /// A local of 64 bits.
    left: u32,
    /// Registers that a call takes at most.
    registers: u32,
    frames: Vec<Frame>,
    /// Whether wasmi takes the code for reachable: what is not costs nothing.
    is_reachable: bool,
}

impl Writer<'_> {
    fn charge_block(&mut self) -> Result<(), Unfit> {
        if self.is_reachable {
            let units = *self.blocks.next().ok_or(Unfit::OtherCosts)?;
            self.code.instruction(&Instruction::I64Const(units.into()));
            self.meter.charge(&mut self.code, self.left);
        }
        Ok(())
    }

    fn operator(&mut self, operator: Operator<'_>) -> Result<(), Unfit> {
        match operator {
            Operator::Call { function_index } if function_index >= self.meter.imported_functions => {
                self.call(&Instruction::Call(function_index));
                return Ok(());
            }
            Operator::CallIndirect { type_index, table_index } => {
                self.call(&Instruction::CallIndirect { type_index, table_index });
                return Ok(());
            }
            Operator::MemoryGrow { .. } | Operator::MemoryCopy { .. } | Operator::MemoryFill { .. } => {
                let helper = match operator {
                    Operator::MemoryGrow { .. } => 0,
                    Operator::MemoryCopy { .. } => 1,
                    _ => 2,
                };
                self.code.instruction(&Instruction::Call(self.meter.helper(helper)));
                return Ok(());
            }
            Operator::MemoryInit { .. }
            | Operator::DataDrop { .. }
            | Operator::TableInit { .. }
            | Operator::ElemDrop { .. }
            | Operator::TableCopy { .. } => return Err(Unfit::Unsupported("segments or tables at run time")),
            _ => {}
        }
        let is_entered = matches!(operator, Operator::Loop { .. } | Operator::If { .. } | Operator::Else);
        self.follow(&operator)?;
        let instruction = RoundtripReencoder.instruction(operator)?;
        self.code.instruction(&instruction);
        if is_entered { self.charge_block() } else { Ok(()) }
    }

    /// Follows which code wasmi takes for reachable.
    fn follow(&mut self, operator: &Operator<'_>) -> Result<(), Unfit> {
        match operator {
            Operator::Block { .. } => self.enter(FrameKind::Block),
            Operator::Loop { .. } => self.enter(FrameKind::Loop),
            Operator::If { .. } => self.enter(FrameKind::If),
            Operator::Else => {
                let frame = self.frames.last_mut().ok_or(Unfit::OtherCosts)?;
                // The end of the first branch jumps over the second.
                frame.is_branched_to |= self.is_reachable;
                frame.then_ends = Some(self.is_reachable);
                self.is_reachable = frame.is_entered;
            }
            Operator::End => {
                // The end of the function has no frame.
                if let Some(frame) = self.frames.pop() {
                    self.is_reachable = frame.is_entered
                        && match (&frame.kind, frame.then_ends) {
                            (FrameKind::Block, _) => self.is_reachable || frame.is_branched_to,
                            (FrameKind::Loop, _) => self.is_reachable,
                            // The branch that is missing ends.
                            (FrameKind::If, None) => true,
                            (FrameKind::If, Some(then_ends)) => then_ends || self.is_reachable || frame.is_branched_to,
                        };
                }
            }
            Operator::Br { relative_depth } => {
                self.branch(*relative_depth);
                self.is_reachable = false;
            }
            Operator::BrIf { relative_depth } => self.branch(*relative_depth),
            Operator::BrTable { targets } => {
                for target in targets.targets() {
                    self.branch(target?);
                }
                self.branch(targets.default());
                self.is_reachable = false;
            }
            Operator::Return | Operator::Unreachable => self.is_reachable = false,
            _ => {}
        }
        Ok(())
    }

    fn enter(&mut self, kind: FrameKind) {
        let frame = Frame { kind, is_entered: self.is_reachable, is_branched_to: false, then_ends: None };
        self.frames.push(frame);
    }

    fn branch(&mut self, depth: u32) {
        let frame = self.frames.len().checked_sub(depth as usize + 1).and_then(|at| self.frames.get_mut(at));
        if let Some(frame) = frame.filter(|_| self.is_reachable) {
            frame.is_branched_to = true;
        }
    }

    /// A call, while which the registers of this function are in use.
    fn call(&mut self, call: &Instruction<'_>) {
        let registers = self.meter.registers();
        let count = self.registers.cast_signed();
        let before = [
            Instruction::GlobalGet(registers),
            Instruction::I32Const(count),
            Instruction::I32Add,
            Instruction::GlobalSet(registers),
            Instruction::GlobalGet(registers),
            Instruction::I32Const(self.meter.registers_max.cast_signed()),
            Instruction::I32GtU,
            Instruction::If(BlockType::Empty),
            Instruction::Unreachable,
            Instruction::End,
        ];
        let after = [
            Instruction::GlobalGet(registers),
            Instruction::I32Const(count),
            Instruction::I32Sub,
            Instruction::GlobalSet(registers),
        ];
        write(&mut self.code, &before);
        self.code.instruction(call);
        write(&mut self.code, &after);
    }
}

#[cfg(test)]
mod tests;
