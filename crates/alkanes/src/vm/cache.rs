//! Contract code and its compiled form, cached by the hash of the code.

use std::sync::Arc;

use paraffin_primitives::AlkaneId;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use sha2::{Digest, Sha256};
use wasmi::{Config, Engine, Module};

use super::guard::guarded;
use super::host::imported_by;
use super::memory_section::{start_work, with_call_pages};
use super::module_size::{ModuleSize, without_custom_sections};
use super::stop::Stop;
use crate::Halt;
use crate::codec::{CODE_LEN_MAX_BYTES, GzipError, gunzip};
use crate::work::{CodeLimit, Work, cost};

/// Bytes of compiled code that a cache keeps unless configured otherwise, enough for a hundred contracts of 300 KB.
const CACHE_BYTES_DEFAULT: u64 = 256 << 20;

/// Longest module that is copied for further threads, in bytes: each copy takes some ten times as much.
const COPIED_LEN_MAX_BYTES: usize = 1 << 20;

/// Bytes that one byte of deflate data can unpack to.
const DEFLATE_RATIO_MAX: usize = 1032;

/// SHA-256 of a module.
pub(crate) type CodeHash = [u8; 32];

/// An unpacked module and its hash. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Code {
    pub(crate) bytes: Arc<[u8]>,
    pub(crate) hash: CodeHash,
}

impl Code {
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Self { hash: Sha256::digest(&bytes).into(), bytes: bytes.into() }
    }
}

/// A module ready to be instantiated, in an engine of its own: dropping it frees everything that was compiled.
pub(crate) struct Compiled {
    pub(crate) engine: Engine,
    pub(crate) module: Module,
    /// Names of the host functions that it imports.
    pub(crate) imports: Vec<&'static str>,
    /// Work of starting an instance, beside that of any instance.
    pub(crate) start_work: u64,
    /// The module that was compiled, unless it is long.
    code: Option<Box<[u8]>>,
    #[cfg(feature = "machine-code")]
    pub(crate) machine: super::machine_code::Slot,
}

impl Compiled {
    /// The module that was compiled, unless it is long.
    #[cfg(feature = "machine-code")]
    pub(super) fn code(&self) -> Option<&[u8]> {
        self.code.as_deref()
    }

    /// Notes that it is the code of a built-in contract.
    #[cfg_attr(not(feature = "machine-code"), allow(clippy::unused_self))]
    pub(super) fn note_built_in(&self) {
        #[cfg(feature = "machine-code")]
        self.machine.note_built_in();
    }

    /// Counts a run by the interpreter of a message that could have been run before its turn.
    #[cfg_attr(not(feature = "machine-code"), allow(clippy::unused_self))]
    pub(super) fn count_run(self: &Arc<Self>) {
        #[cfg(feature = "machine-code")]
        super::machine_code::Slot::count_run(self);
    }

    /// Whether attempts run it as machine code.
    #[cfg_attr(not(feature = "machine-code"), allow(clippy::unused_self))]
    pub(super) fn is_machine_code(&self) -> bool {
        #[cfg(feature = "machine-code")]
        return self.machine.code().is_some();
        #[cfg(not(feature = "machine-code"))]
        false
    }

    /// The same in an engine of its own: threads that run one module wait for each other at every function that it calls. `None` of a long
    /// module.
    pub(crate) fn copied(&self) -> Option<Self> {
        compile_exactly(self.code.as_deref()?).ok()
    }
}

/// A module, or the error text of its compilation.
type Compilation = Result<Arc<Compiled>, Arc<str>>;

/// The packed code of an id and the hash of its module, as of the last lookup.
#[derive(Clone)]
struct CachedPayload {
    payload: Arc<[u8]>,
    /// Hash and size of the module, or the reason why it cannot be unpacked.
    unpacked: Result<(CodeHash, ModuleSize), Arc<str>>,
}

#[derive(Clone)]
struct BySize;

impl Weighter<CodeHash, (ModuleSize, Compilation)> for BySize {
    fn weight(&self, _: &CodeHash, (size, compilation): &(ModuleSize, Compilation)) -> u64 {
        match compilation {
            Ok(_) => size.compiled_bytes + size.len.min(COPIED_LEN_MAX_BYTES) as u64,
            Err(text) => 256 + text.len() as u64,
        }
    }
}

#[derive(Clone)]
struct ByPayloadLen;

impl Weighter<AlkaneId, CachedPayload> for ByPayloadLen {
    fn weight(&self, _: &AlkaneId, known: &CachedPayload) -> u64 {
        256 + known.payload.len() as u64
    }
}

/// Compiled contracts by the hash of their code, shared by blocks and views. Memory is bounded; what does not fit is
/// compiled again, with the same result and the same fuel.
pub struct CodeCache {
    compiled: Cache<CodeHash, (ModuleSize, Compilation), BySize>,
    /// Packed code by id, to find the compiled form without unpacking and hashing. The payload is compared in full, so
    /// a reorganisation that puts other code under an id is noticed.
    known: Cache<AlkaneId, CachedPayload, ByPayloadLen>,
    /// Otherwise every call compiles the code as it is, and its memory is grown by hand.
    keeps: bool,
}

impl CodeCache {
    /// A cache for up to `compiled_bytes_max` bytes of compiled code, estimated by the size of the modules, and a quarter
    /// of that for packed code.
    pub fn with_capacity(compiled_bytes_max: u64) -> Self {
        let items = |bytes: u64, item_bytes: u64| (bytes / item_bytes).clamp(1, 10_000) as usize;
        let packed_bytes_max = compiled_bytes_max / 4;
        Self {
            compiled: Cache::with_weighter(items(compiled_bytes_max, 1 << 20), compiled_bytes_max, BySize),
            known: Cache::with_weighter(items(packed_bytes_max, 64 << 10), packed_bytes_max, ByPayloadLen),
            keeps: true,
        }
    }

    /// No cache: every call is compiled and started as the reference does it, a hundred times slower. For comparing.
    pub fn disabled() -> Self {
        Self { keeps: false, ..Self::with_capacity(1) }
    }

    /// Number of compiled contracts in the cache.
    pub fn len(&self) -> usize {
        self.compiled.len()
    }

    /// Whether the cache is empty.
    pub fn is_empty(&self) -> bool {
        self.compiled.is_empty()
    }

    /// The compiled form of a module.
    ///
    /// # Errors
    /// It is no module, which is the contract's failure and has the engine's own text (protocol B9).
    pub(crate) fn compile(&self, code: &Code) -> Result<Arc<Compiled>, Stop> {
        as_stop(self.compilation(&code.bytes, code.hash, ModuleSize::of(&code.bytes))?)
    }

    /// Whether the cache is enabled.
    pub(super) fn keeps(&self) -> bool {
        self.keeps
    }

    /// The compiled form of the packed code stored under `id`, and the size of the module. It is the same work whether
    /// the cache is enabled or not.
    ///
    /// # Errors
    /// The code cannot be unpacked, or the work ends here.
    pub(super) fn compile_packed(
        &self,
        id: AlkaneId,
        payload: &[u8],
        work: &Work,
    ) -> Result<(PackedCode, ModuleSize), Stop> {
        if self.keeps
            && let Some(known) = self.known.get(&id)
            && *known.payload == *payload
        {
            count_unpacking(work, payload, known.unpacked.as_ref().ok().map(|(_, size)| size))?;
            let (hash, size) = known.unpacked.map_err(|text| Stop::revert(text.as_ref()))?;
            if let Some((_, compilation)) = self.compiled.get(&hash) {
                return Ok((PackedCode(compilation), size));
            }
            let code = unpack(payload, work.code_limit())?;
            return Ok((PackedCode(self.compilation(&code, hash, size)?), size));
        }
        let unpacked = unpack(payload, work.code_limit()).map(|code| (ModuleSize::of(&code), code));
        count_unpacking(work, payload, unpacked.as_ref().ok().map(|(size, _)| size))?;
        let known = |unpacked| CachedPayload { payload: payload.into(), unpacked };
        match unpacked {
            Ok((size, code)) => {
                let hash = Sha256::digest(&code).into();
                self.known.insert(id, known(Ok((hash, size))));
                Ok((PackedCode(self.compilation(&code, hash, size)?), size))
            }
            Err(Stop::Revert(text)) => {
                self.known.insert(id, known(Err(text.as_str().into())));
                Err(Stop::Revert(text))
            }
            Err(halt) => Err(halt),
        }
    }

    fn compilation(&self, code: &[u8], hash: CodeHash, size: ModuleSize) -> Result<Compilation, Halt> {
        if !self.keeps {
            return compile(code, false);
        }
        let compiled = self.compiled.get_or_insert_with(&hash, || compile(code, true).map(|compiled| (size, compiled)));
        compiled.map(|(_, compilation)| compilation)
    }
}

/// Counts unpacking and compiling; what cannot be unpacked counts as all that it could have been.
///
/// # Errors
/// The work ends here, the module is larger than a simulation may run, or compiling it takes more memory than there is.
fn count_unpacking(work: &Work, payload: &[u8], size: Option<&ModuleSize>) -> Result<(), Halt> {
    match size {
        Some(size) => {
            if size.len > work.code_limit().len_max {
                return Err(work.code_limit().beyond);
            }
            work.add_times(size.len, cost::UNPACKED_BYTE);
            work.add(size.compile_work);
            work.check_memory(size.compiling_bytes())?;
        }
        None => work.add_times((payload.len() * DEFLATE_RATIO_MAX).min(CODE_LEN_MAX_BYTES), cost::UNPACKED_BYTE),
    }
    work.check()
}

/// Code found under an id: it resolves even when it is no module, which shows when it is run (protocol B7, B9).
#[derive(Clone)]
pub(crate) struct PackedCode(Compilation);

impl PackedCode {
    pub(crate) fn compiled(self) -> Result<Arc<Compiled>, Stop> {
        as_stop(self.0)
    }
}

impl Default for CodeCache {
    fn default() -> Self {
        Self::with_capacity(CACHE_BYTES_DEFAULT)
    }
}

impl std::fmt::Debug for CodeCache {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("CodeCache").field("compiled", &self.compiled.len()).finish_non_exhaustive()
    }
}

/// Unpacks stored code; missing code is not gzip either (protocol B7).
///
/// # Errors
/// The payload is malformed or longer than [`CODE_LEN_MAX_BYTES`], or the limit ends it: what the work of its transaction has
/// left, or what a simulation may unpack.
pub(crate) fn unpack(payload: &[u8], limit: CodeLimit) -> Result<Vec<u8>, Stop> {
    gunzip(payload, limit.len_max).map_err(|error| match error {
        GzipError::Malformed(error) => Stop::revert(error.to_string()),
        GzipError::TooLarge { .. } if limit.len_max < CODE_LEN_MAX_BYTES => limit.beyond.into(),
        // The message of the reference's buffer when it cannot grow.
        GzipError::TooLarge { .. } => Stop::revert("out of memory"),
    })
}

fn as_stop(compilation: Compilation) -> Result<Arc<Compiled>, Stop> {
    compilation.map_err(|text| Stop::revert(text.as_ref()))
}

/// Compiles with the reference's settings: the defaults of wasmi 0.37.2, and fuel (protocol B9).
///
/// # Errors
/// The compiler panicked, on which the reference halts.
fn compile(code: &[u8], with_pages: bool) -> Result<Compilation, Halt> {
    let mut compilation = Err("".into());
    guarded(|| compilation = compile_unguarded(code, with_pages))?;
    Ok(compilation)
}

fn compile_unguarded(code: &[u8], with_pages: bool) -> Compilation {
    // Differences between the copies and the module cannot be observed from outside.
    let short = without_custom_sections(code);
    let plain = short.as_deref().unwrap_or(code);
    if let Some(copy) = with_pages.then(|| with_call_pages(plain)).flatten()
        && let Ok(compiled) = compile_exactly(&copy)
    {
        return Ok(Arc::new(compiled));
    }
    if let Some(short) = short
        && let Ok(compiled) = compile_exactly(&short)
    {
        return Ok(Arc::new(compiled));
    }
    // An error names offsets in the code, so it must come from the code itself and not from a copy.
    compile_exactly(code).map(Arc::new).map_err(|error| error.to_string().into())
}

fn compile_exactly(code: &[u8]) -> Result<Compiled, wasmi::Error> {
    let mut config = Config::default();
    config.consume_fuel(true);
    let engine = Engine::new(&config);
    let module = Module::new(&engine, code)?;
    let start_work = start_work(code);
    let imports = imported_by(&module);
    let code = (code.len() <= COPIED_LEN_MAX_BYTES).then(|| code.into());
    Ok(Compiled {
        engine,
        module,
        imports,
        start_work,
        code,
        #[cfg(feature = "machine-code")]
        machine: super::machine_code::Slot::default(),
    })
}
