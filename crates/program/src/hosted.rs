//! The operator's indexer program, where this instance runs it.

mod extract;

use std::sync::Arc;
use std::time::Duration;

use paraffin_alkanes::{Engine, NativeEngine, Parameters};
use paraffin_gateway::{HostedFault, HostedProgram, Limits, ShadowState};
use paraffin_hosted::{
    BlockLimits, Differences, Handover, HostedEngine, HostedModule, HostedViews, LoadError, OnDifference, Program,
    ProgramError, ReadError, Serves, ShadowEngine, UnknownKey, ViewError, ViewLimits, load,
};
use paraffin_primitives::Height;
use paraffin_store::{Snapshot, Store};
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::contracts::AlkanesSection;

pub(crate) use extract::extract;

/// Longest time that the program may be given for one block, in seconds: a day.
const BLOCK_SECONDS_MAX: u64 = 86_400;

/// The engine whose answers are served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EngineSetting {
    /// The engine of this program.
    Native,
    /// The operator's indexer program.
    Hosted,
}

/// Whether the other engine runs beside, and what a difference does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ShadowSetting {
    /// It does not run.
    Off,
    /// The native engine stops at the first difference.
    Halt,
    /// Differences are written to the log.
    Report,
}

impl AlkanesSection {
    /// Whether the indexer program is run.
    pub(crate) fn runs_program(&self) -> bool {
        self.engine == EngineSetting::Hosted || self.shadow != ShadowSetting::Off
    }

    /// Refuses members that contradict each other.
    ///
    /// # Errors
    /// What is wrong.
    pub(crate) fn check(&self) -> Result<(), &'static str> {
        if self.runs_program() && self.wasm_path.is_none() {
            return Err(
                "[alkanes] engine = \"hosted\" and shadow need the indexer program: name its file as wasm_path",
            );
        }
        if !(1..=BLOCK_SECONDS_MAX).contains(&self.block_seconds) {
            return Err("[alkanes] block_seconds must be from 1 to 86400");
        }
        if !(1..=4096).contains(&self.block_memory_mib) {
            return Err("[alkanes] block_memory_mib must be from 1 to 4096");
        }
        Ok(())
    }
}

impl Config {
    /// Whether the operator's indexer program is run.
    pub(crate) fn runs_program(&self) -> bool {
        self.indexes_alkanes() && self.alkanes.runs_program()
    }

    /// Whether a hosted program answers `metashrew_*`.
    pub(crate) fn serves_program(&self) -> bool {
        self.indexes_alkanes() && self.alkanes.engine == EngineSetting::Hosted
    }
}

/// A program and how it is run.
#[derive(Clone)]
pub(crate) struct Hosted {
    program: Arc<dyn Program>,
    limits: BlockLimits,
    first_height: Height,
    engine: EngineSetting,
    shadow: ShadowSetting,
    handover: Handover,
    differences: Differences,
}

impl Hosted {
    /// Loads the program out of the bytes of its file; `None` when it is not run.
    ///
    /// # Errors
    /// It cannot be loaded, or this build has no machine for it.
    pub(crate) fn of(config: &Config, file: Option<&[u8]>) -> Result<Option<Self>, LoadError> {
        let section = &config.alkanes;
        let Some(file) = file.filter(|_| section.runs_program()) else { return Ok(None) };
        let program = load(file)?;
        tracing::info!(sha256 = %data_encoding::HEXLOWER.encode(&program.hash()), "the indexer program is loaded");
        let genesis = Parameters::of(config.network).genesis_height;
        Ok(Some(Self {
            program,
            limits: BlockLimits {
                memory_bytes_max: section.block_memory_mib << 20,
                time_max: Duration::from_secs(section.block_seconds),
            },
            first_height: Height::try_from(genesis).unwrap_or(Height::MAX),
            engine: section.engine,
            shadow: section.shadow,
            handover: Handover::default(),
            differences: Differences::default(),
        }))
    }

    /// The module that runs it.
    pub(crate) fn module(&self) -> HostedModule {
        let module = HostedModule::new(Arc::clone(&self.program), self.limits, self.first_height);
        module.with_handover(self.handover.clone())
    }

    /// The engine of the alkanes module: the program's, or both side by side.
    pub(crate) fn engine(&self, native: NativeEngine, store: &Store) -> Box<dyn Engine> {
        let hosted = HostedEngine::new(
            Arc::clone(&self.program),
            self.limits,
            self.first_height,
            self.handover.clone(),
            store.clone(),
        );
        let on_difference = match self.shadow {
            // The native engine alone does not need the program, so here the program serves.
            ShadowSetting::Off => return Box::new(hosted),
            ShadowSetting::Halt => OnDifference::Halt,
            ShadowSetting::Report => OnDifference::Report,
        };
        let serves = match self.engine {
            EngineSetting::Native => Serves::Native,
            EngineSetting::Hosted => Serves::Hosted,
        };
        Box::new(ShadowEngine::new(Box::new(native), hosted, serves, on_difference, self.differences.clone()))
    }

    /// Where differences are counted, when both engines run.
    pub(crate) fn shadow(&self) -> Option<Shadow> {
        (self.shadow != ShadowSetting::Off).then(|| Shadow(self.differences.clone()))
    }

    /// Whether the program serves, and not the native engine.
    pub(crate) fn serves(&self) -> bool {
        self.engine == EngineSetting::Hosted
    }

    /// What answers `metashrew_*`, when the program serves.
    pub(crate) fn views(&self, gateway: &Limits) -> Option<Arc<dyn HostedProgram>> {
        self.serves().then(|| {
            let mut limits = ViewLimits { concurrent_max: gateway.hosted_views_max.max(1), ..ViewLimits::default() };
            let of_preview = limits.memory_bytes_max * gateway.preview_permits() as u64;
            limits.preview_memory_bytes_max = of_preview.min(self.limits.memory_bytes_max);
            let views = HostedViews::new(Arc::clone(&self.program), limits);
            Arc::new(Views(views)) as Arc<dyn HostedProgram>
        })
    }
}

/// How both engines compare, as health and metrics ask for it.
pub(crate) struct Shadow(Differences);

impl Shadow {
    /// The figures of now.
    pub(crate) fn state(&self) -> ShadowState {
        let Self(found) = self;
        ShadowState { compared: found.compared(), differences: found.count(), comparing: !found.is_over() }
    }
}

/// Views of the program as the gateway asks for them.
struct Views(HostedViews);

fn inside(error: &ReadError) -> HostedFault {
    HostedFault::Inside(error.to_string())
}

fn fault(error: ViewError) -> HostedFault {
    match error {
        ViewError::Saturated => HostedFault::Saturated,
        ViewError::TooLarge => HostedFault::TooLarge,
        ViewError::Program(ProgramError::UnknownView) => HostedFault::UnknownView,
        ViewError::Program(ProgramError::TooLong) => HostedFault::TooLong,
        ViewError::Program(ProgramError::TooMuchMemory(_)) => HostedFault::TooMuchMemory,
        ViewError::Program(ProgramError::Read(error)) => inside(&error),
        ViewError::Program(error) => HostedFault::Failed(error.to_string()),
    }
}

impl HostedProgram for Views {
    fn has_view(&self, name: &str) -> bool {
        self.0.has_view(name)
    }

    fn newest(&self, snapshot: &Snapshot) -> Result<Option<Height>, HostedFault> {
        HostedViews::newest(snapshot).map_err(|error| inside(&error))
    }

    fn digest(&self, snapshot: &Snapshot, height: Height) -> Result<Option<[u8; 32]>, HostedFault> {
        HostedViews::digest(snapshot, height).map_err(|error| inside(&error))
    }

    fn unknown_key(&self, snapshot: &Snapshot) -> Result<Option<Height>, HostedFault> {
        let first = UnknownKey::first(snapshot).map_err(|error| inside(&error))?;
        Ok(first.map(|first| first.height))
    }

    fn view(
        &self,
        snapshot: &Snapshot,
        height: Height,
        name: &str,
        payload: &[u8],
        is_over: &dyn Fn() -> bool,
    ) -> Result<Vec<u8>, HostedFault> {
        self.0.view(snapshot, height, name, payload, is_over).map_err(fault)
    }

    fn preview(
        &self,
        snapshot: &Snapshot,
        height: Height,
        block: &[u8],
        name: &str,
        payload: &[u8],
        is_over: &dyn Fn() -> bool,
    ) -> Result<Vec<u8>, HostedFault> {
        self.0.preview(snapshot, height, block, name, payload, is_over).map_err(fault)
    }
}
