//! Code that the messages of one block have run.

use std::collections::HashMap;
use std::sync::Arc;

use paraffin_primitives::AlkaneId;

use super::cache::{Code, CodeCache, CodeHash, Compiled, PackedCode};
use super::module_size::ModuleSize;
use super::stop::Stop;
use crate::work::Work;

/// Most compiled code that one block holds, in bytes by the estimate of its modules.
pub const BLOCK_CODE_BYTES: u64 = 128 << 20;

/// Code that the messages of one block have run: unpacking and compiling counts as work of the message that is the first to
/// need it. The content depends on the block alone, unlike the cache behind it, so that the work does too.
pub(crate) struct BlockCodes {
    bytes_max: u64,
    /// By the contract that itself holds the code; the payload shows whether it is still the same.
    stored: HashMap<AlkaneId, (Vec<u8>, PackedCode)>,
    stored_bytes: u64,
    /// Code of built-in contracts, of which there are few.
    builtins: HashMap<CodeHash, Arc<Compiled>>,
}

impl BlockCodes {
    /// None yet, and at most so many bytes: [`BLOCK_CODE_BYTES`] in a block that is indexed.
    pub(crate) fn within(bytes_max: u64) -> Self {
        Self { bytes_max, stored: HashMap::new(), stored_bytes: 0, builtins: HashMap::new() }
    }

    /// The code packed in `payload`, which `holder` holds.
    ///
    /// # Errors
    /// It cannot be unpacked, or the work of its transaction ends here.
    pub(crate) fn stored(
        &mut self,
        codes: &CodeCache,
        work: &Work,
        holder: AlkaneId,
        payload: Vec<u8>,
    ) -> Result<PackedCode, Stop> {
        work.add_copied(payload.len());
        if let Some((known, code)) = self.stored.get(&holder)
            && *known == payload
        {
            return Ok(code.clone());
        }
        let (code, size) = codes.compile_packed(holder, &payload, work)?;
        let bytes = size.compiled_bytes + payload.len() as u64;
        if codes.keeps() && bytes <= self.bytes_max {
            if self.stored_bytes + bytes > self.bytes_max {
                self.stored.clear();
                self.stored_bytes = 0;
            }
            self.stored_bytes += bytes;
            self.stored.insert(holder, (payload, code.clone()));
        }
        Ok(code)
    }

    /// # Errors
    /// The built-in is no module, or the work of its transaction ends here.
    pub(super) fn builtin(&mut self, codes: &CodeCache, work: &Work, code: &Code) -> Result<Arc<Compiled>, Stop> {
        if let Some(compiled) = self.builtins.get(&code.hash) {
            return Ok(compiled.clone());
        }
        work.add(ModuleSize::of(&code.bytes).compile_work);
        work.check()?;
        let compiled = codes.compile(code)?;
        compiled.note_built_in();
        if codes.keeps() {
            self.builtins.insert(code.hash, compiled.clone());
        }
        Ok(compiled)
    }
}
