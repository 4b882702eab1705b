//! The node, the instances, what they share, and what happens to them. A further kind of fault is a variant and an arm.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use bitcoin::hashes::Hash as _;
use bitcoin::{Block, ScriptBuf, WScriptHash};
use paraffin_devnet::{Devnet, DevnetOptions};
use rustix::process::Signal;
use serde_json::Value;

use super::checker::Place;
use super::services::{Service, Services, Way};
use super::windows::{self, Alone, LIMITS};
use crate::support::instance::Instance;
use crate::support::process::Running;
use crate::support::served::Numbers;
use crate::support::{free_port, http, wait_for};

/// Blocks that the scenario has before anything happens.
const BLOCKS: u32 = 130;
/// Time between two blocks, with trades in between.
const INTERVAL: Duration = Duration::from_secs(2);
/// Disturbed instances.
pub(crate) const INSTANCES: u32 = 3;
/// Deepest reorganisation.
const DEPTH_MAX: u64 = 6;
const LIMIT: Duration = Duration::from_secs(120);

/// What can happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// `kill -9` of an instance.
    Kill,
    /// A reorganisation of a few blocks.
    Reorganise,
    /// An instance stands still for seconds.
    Freeze,
    /// An instance writes a snapshot and is killed meanwhile, or goes on from it.
    Snapshot,
    /// The node goes away and comes back.
    Node,
    /// An instance is stopped and started in good order.
    Restart,
    /// PostgreSQL or Redis goes away and comes back.
    Away(Service, Way),
}

impl Fault {
    pub(crate) const ALL: [Self; 12] = [
        Self::Kill,
        Self::Away(Service::Redis, Way::Kill),
        Self::Reorganise,
        Self::Away(Service::Postgres, Way::Kill),
        Self::Freeze,
        Self::Away(Service::Redis, Way::Cut),
        Self::Snapshot,
        Self::Away(Service::Postgres, Way::Pause),
        Self::Node,
        Self::Away(Service::Redis, Way::Pause),
        Self::Restart,
        Self::Away(Service::Postgres, Way::Cut),
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Reorganise => "reorganise",
            Self::Freeze => "freeze",
            Self::Snapshot => "snapshot",
            Self::Node => "node",
            Self::Restart => "restart",
            Self::Away(Service::Postgres, Way::Kill) => "PostgreSQL killed",
            Self::Away(Service::Postgres, Way::Pause) => "PostgreSQL paused",
            Self::Away(Service::Postgres, Way::Cut) => "PostgreSQL cut off",
            Self::Away(Service::Redis, Way::Kill) => "Redis killed",
            Self::Away(Service::Redis, Way::Pause) => "Redis paused",
            Self::Away(Service::Redis, Way::Cut) => "Redis cut off",
        }
    }
}

/// Everything that runs.
pub(crate) struct Scene {
    runtime: tokio::runtime::Runtime,
    rpc: SocketAddr,
    p2p: SocketAddr,
    devnet: Option<Devnet>,
    straight: Instance,
    instances: Vec<Instance>,
    /// Where each of these serves its metrics.
    metrics: Vec<String>,
    services: Services,
    /// Keys with [`LIMITS`], as paths.
    limited: Vec<String>,
    /// When which instances may have been without Redis.
    alone: Vec<Alone>,
    numbers: Numbers,
    folder: tempfile::TempDir,
}

impl Scene {
    /// A node with a market, and four instances that have its chain; three of them share accounts and windows. `None` after saying
    /// what this machine lacks.
    pub(crate) fn start(seed: u64) -> Option<Self> {
        let local = || SocketAddr::from(([127, 0, 0, 1], free_port()));
        let (rpc, p2p) = (local(), local());
        let folder = tempfile::tempdir().unwrap();
        let services = Services::start(folder.path(), INSTANCES as usize)?;
        let node = format!("[node]\nurl = \"http://{rpc}\"\nuser = \"dev\"\npassword = \"dev\"\np2p = \"{p2p}\"\n");
        let index = "[index]\nmemory_mib = 256\npoll_milliseconds = 100\n";
        let straight = Instance::prepare(&folder.path().join("straight"), &node, index);
        let metrics: Vec<String> = (0..INSTANCES).map(|_| local().to_string()).collect();
        let prepare = |(place, metrics): (usize, &String)| {
            let more = format!("metrics_listen = \"{metrics}\"\n{index}{}", services.section(place));
            Instance::prepare(&folder.path().join(place.to_string()), &node, &more)
        };
        let mut instances: Vec<Instance> = metrics.iter().enumerate().map(prepare).collect();
        let path = shared_key(&instances[0], &[]);
        for instance in &mut instances {
            instance.path.clone_from(&path);
        }
        let (of_day, of_minute) = LIMITS.split_last().unwrap();
        let mut limited: Vec<String> =
            of_minute.iter().map(|limit| shared_key(&instances[0], &["--per-minute", &limit.to_string()])).collect();
        limited.push(shared_key(&instances[0], &["--per-day", &of_day.to_string()]));
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let numbers = Numbers::new(seed);
        let (devnet, alone) = (None, Vec::new());
        let mut scene =
            Self { runtime, rpc, p2p, devnet, straight, instances, metrics, services, limited, alone, numbers, folder };
        scene.start_node(&[]);
        scene.straight.start();
        scene.instances.iter_mut().for_each(Instance::start);
        scene.settle();
        scene.wait_until_shared();
        Some(scene)
    }

    pub(crate) fn straight_place(&self) -> Place {
        (self.straight.address.clone(), self.straight.path.clone())
    }

    pub(crate) fn places(&self) -> Vec<Place> {
        self.instances.iter().map(|one| (one.address.clone(), one.path.clone())).collect()
    }

    /// Keys with [`LIMITS`] of all disturbed instances, as paths.
    pub(crate) fn limited(&self) -> &[String] {
        &self.limited
    }

    /// When which instances may have been without Redis.
    pub(crate) fn alone(&self) -> &[Alone] {
        &self.alone
    }

    pub(crate) fn any_instance(&mut self) -> usize {
        self.numbers.below(self.instances.len() as u64) as usize
    }

    pub(crate) fn any_fault(&mut self) -> Fault {
        Fault::ALL[self.numbers.below(Fault::ALL.len() as u64) as usize]
    }

    pub(crate) fn height(&self) -> u32 {
        self.devnet.as_ref().unwrap().tip().height
    }

    /// Lets one fault happen, to `place` where it happens to an instance. Afterwards everything runs again.
    pub(crate) fn make(&mut self, fault: Fault, place: usize) {
        match fault {
            Fault::Kill => {
                self.instances[place].kill();
                self.wait_a_moment(1_500);
                self.instances[place].start();
            }
            Fault::Reorganise => self.reorganise(),
            Fault::Freeze => {
                let from = windows::now();
                self.instances[place].process.as_ref().unwrap().signal(Signal::STOP);
                self.wait_a_moment(4_000);
                self.instances[place].process.as_ref().unwrap().signal(Signal::CONT);
                // An answer of Redis that came meanwhile may be found too late.
                self.alone.push(Alone::since(from, 1 << place));
            }
            Fault::Snapshot => self.snapshot(place),
            Fault::Node => {
                let kept = self.stop_node();
                self.wait_a_moment(3_000);
                self.start_node(&kept);
            }
            Fault::Restart => {
                self.instances[place].stop();
                self.instances[place].start();
            }
            Fault::Away(service, way) => self.without(service, way),
        }
        for instance in &mut self.instances {
            let process = instance.process.as_mut().unwrap();
            assert!(process.is_running(), "an instance ended by itself after {fault:?}: {}", process.errors());
        }
    }

    /// Longer than a lease, so that refusals are seen. Afterwards everybody is served, and all count together.
    fn without(&mut self, service: Service, way: Way) {
        let from = windows::now();
        let instances = self.services.take_away(service, way, &mut self.numbers);
        std::thread::sleep(Duration::from_millis(1_500));
        self.wait_a_moment(3_000);
        self.services.bring_back();
        for instance in &self.instances {
            wait_for("service", LIMIT, || instance.try_result("btc_getblockcount", serde_json::json!([])));
        }
        self.wait_until_shared();
        if service == Service::Redis {
            self.alone.push(Alone::since(from, instances));
        }
    }

    fn wait_until_shared(&self) {
        for address in &self.metrics {
            wait_for("the shared windows", LIMIT, || {
                let text = http::try_request(address, "GET", "/metrics", &[], b"")?.text();
                text.lines().any(|line| line == "paraffin_windows_shared 1").then_some(())
            });
        }
    }

    fn wait_a_moment(&mut self, milliseconds_max: u64) {
        std::thread::sleep(Duration::from_millis(self.numbers.below(milliseconds_max)));
    }

    /// The newest blocks leave, as many and one more come; the traders go on upon them.
    fn reorganise(&mut self) {
        let depth = 1 + self.numbers.below(DEPTH_MAX) as u32;
        let mut hash = [0; 32];
        hash[..8].copy_from_slice(&self.numbers.below(u64::MAX).to_le_bytes());
        let script = ScriptBuf::new_p2wsh(&WScriptHash::from_byte_array(hash));
        let node = self.devnet.as_ref().unwrap().node();
        node.invalidate(&node.block_hash(node.tip().height + 1 - depth).unwrap()).unwrap();
        for _ in 0..=depth {
            node.mine_block(&script).unwrap();
        }
    }

    /// Half of the time the instance dies while it writes; otherwise it goes on from the file, in the place of its own store.
    fn snapshot(&mut self, place: usize) {
        let file = self.folder.path().join("snapshot");
        let is_killed = self.numbers.below(2) == 0;
        let instance = &mut self.instances[place];
        let mut export = instance.command(&["snapshot", "export"]);
        export.arg(&file);
        if is_killed {
            export.args(["--rate", "20"]);
            let mut export = Running::start(&mut export);
            std::thread::sleep(Duration::from_millis(1_000));
            instance.kill();
            assert!(!export.wait(LIMIT).success() && !file.exists(), "a snapshot of a killed instance");
            let _ = std::fs::remove_file(file.with_extension("part"));
            instance.start();
            return;
        }
        let written = printed_json(Running::start(&mut export));
        instance.stop();
        std::fs::remove_dir_all(instance.data().join("store")).unwrap();
        let read = printed_json(Running::start(instance.command(&["snapshot", "import"]).arg(&file)));
        assert_eq!(read["content"], written["content"]);
        std::fs::remove_file(&file).unwrap();
        instance.start();
    }

    fn start_node(&mut self, kept: &[Block]) {
        let options = DevnetOptions {
            blocks: BLOCKS,
            interval: Some(INTERVAL),
            rpc_listen: self.rpc,
            p2p_listen: self.p2p,
            ..DevnetOptions::default()
        };
        let devnet =
            wait_for("the node to start", LIMIT, || self.runtime.block_on(Devnet::start(options.clone())).ok());
        for block in kept {
            // The first blocks are there already.
            let _ = devnet.node().submit_block(block.clone());
        }
        self.devnet = Some(devnet);
    }

    fn stop_node(&mut self) -> Vec<Block> {
        let devnet = self.devnet.take().unwrap();
        let node = devnet.node();
        self.runtime.block_on(devnet.shutdown());
        let hashes = (1..=node.tip().height).map(|height| node.block_hash(height).unwrap());
        hashes.map(|hash| node.block(&hash).unwrap().as_ref().clone()).collect()
    }

    /// Waits until all instances have been at one tip.
    pub(crate) fn settle(&self) {
        let node = self.devnet.as_ref().unwrap();
        for instance in self.instances.iter().chain([&self.straight]) {
            wait_for("an instance to reach the tip", LIMIT, || {
                let tip = instance.try_result("btc_getblockcount", serde_json::json!([]))?.as_u64()?;
                (tip + 2 >= u64::from(node.tip().height)).then_some(())
            });
        }
    }

    /// Stops all, lets each index to its end, and one more from nothing; the different outcomes.
    pub(crate) fn end_and_compare(mut self) -> std::collections::BTreeSet<String> {
        self.instances.iter_mut().for_each(Instance::stop);
        self.straight.stop();
        let kept = self.stop_node();
        // The same chain without traders, so that all come to the same end.
        let options = DevnetOptions {
            blocks: 0,
            pending_transactions: 0,
            rpc_listen: self.rpc,
            p2p_listen: self.p2p,
            ..DevnetOptions::default()
        };
        let devnet =
            wait_for("the node to start", LIMIT, || self.runtime.block_on(Devnet::start(options.clone())).ok());
        for block in kept {
            devnet.node().submit_block(block).unwrap();
        }
        let node = format!("[node]\nurl = \"http://{}\"\nuser = \"dev\"\npassword = \"dev\"\n", self.rpc);
        let folder: PathBuf = self.folder.path().join("fresh");
        let fresh = Instance::prepare(&folder, &node, "");
        let all = self.instances.iter().chain([&self.straight, &fresh]);
        let outcomes =
            all.map(|one| printed_json(Running::start(&mut one.command(&["index", "--once"]))).to_string()).collect();
        self.runtime.block_on(devnet.shutdown());
        outcomes
    }
}

/// A new key of the accounts that instances share, as a path; of a plan without limits but these.
fn shared_key(instance: &Instance, limits: &[&str]) -> String {
    let mut create = instance.command(&["keys", "create", "soak", "--plan", "business"]);
    let created = create.args(limits).output().unwrap();
    assert!(created.status.success(), "{}", String::from_utf8_lossy(&created.stderr));
    format!("/v4/{}", String::from_utf8(created.stdout).unwrap().trim())
}

/// The line of JSON that a command prints.
fn printed_json(mut process: Running) -> Value {
    let status = process.wait(LIMIT);
    std::thread::sleep(Duration::from_millis(100));
    assert!(status.success(), "{}", process.errors());
    serde_json::from_str(process.output().trim()).unwrap()
}
