//! Three instances on one node, which share accounts and windows, with a fault every few seconds, beside a fourth that nothing
//! happens to: whatever they answer at equal blocks has to be the same, or the refusal that is documented, and no window is granted
//! more than it may be. `cargo xtask soak` runs it for as long as its arguments say.

mod checker;
mod faults;
mod services;
mod windows;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::support::devnet::DevnetNode;
use crate::support::instance::Instance;
use crate::support::node::TestNode as _;
use crate::support::wait_for;
use checker::{Checker, Counts};
use faults::{Fault, INSTANCES, Scene};
use serde_json::json;
use windows::Callers;

/// How long it lasts where nothing else is said.
const SECONDS: u64 = 30;
/// Time between the end of a fault and the next one.
const PAUSE: Duration = Duration::from_secs(3);

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn instances_that_are_disturbed_answer_as_one_that_is_not() {
    if !paraffin_testkit::long_tests() {
        return;
    }
    let seconds = number("PARAFFIN_SOAK_SECONDS").unwrap_or(SECONDS);
    let seed = number("PARAFFIN_SOAK_SEED").unwrap_or_else(|| u64::from(std::process::id()));
    eprintln!("seed {seed}, {seconds} seconds");
    let Some(mut scene) = Scene::start(seed) else { return };
    let counts = Arc::new(Counts::default());
    let checker = Checker::start(scene.straight_place(), scene.places(), Arc::clone(&counts), seed);
    let callers = Callers::start(&scene.places(), scene.limited(), &counts, seed);
    let started = Instant::now();
    let mut rows = String::from("second,fault,instance,height,compared,wrong,unanswered,moved,refused\n");
    let mut happened: std::collections::BTreeMap<&str, u32> = std::collections::BTreeMap::new();
    let mut planned = 0;
    while started.elapsed() < Duration::from_secs(seconds) {
        // Each kind in turn first, so that a short run has most of them; then as the seed has it.
        let fault = Fault::ALL.get(planned).copied().unwrap_or_else(|| scene.any_fault());
        planned += 1;
        let instance = scene.any_instance();
        scene.make(fault, instance);
        *happened.entry(fault.name()).or_default() += 1;
        let height = scene.height();
        let (second, row) = (started.elapsed().as_secs(), counts.row());
        rows.extend([format!("{second},{},{instance},{height},{row}\n", fault.name())]);
        std::thread::sleep(PAUSE);
    }
    scene.settle();
    std::thread::sleep(Duration::from_secs(1));
    checker.end();
    let windows = callers.end(scene.alone(), INSTANCES);
    let digests = scene.end_and_compare();
    let counts = counts.report();
    let line = json!({
        "seconds": seconds, "seed": seed, "faults": happened, "answers": counts, "windows": windows.report(),
        "equal_at_the_end": digests.len() == 1,
    });
    println!("{line}");
    if let Some(file) = std::env::var_os("PARAFFIN_SOAK_CSV") {
        std::fs::write(file, format!("# {line}\n{rows}")).unwrap();
    }
    assert_eq!((&counts["wrong"], windows.above), (&json!(0), 0), "{line}");
    assert_eq!(digests.len(), 1, "the stores differ at the end: {digests:?}");
    assert!(counts["compared"].as_u64().unwrap() > seconds, "{line}");
}

/// The code that counts wrong answers must be able to find one.
#[test]
fn the_checker_finds_an_instance_whose_rows_are_others() {
    let node = DevnetNode::start();
    node.mine(20, "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080");
    let tip = node.rpc("getbestblockhash", json!([]));
    let folder = tempfile::tempdir().unwrap();
    let mut instances = ["straight", "altered"].map(|name| {
        let mut instance = Instance::prepare(&folder.path().join(name), &node.config(), "[index]\nmemory_mib = 256\n");
        instance.start();
        instance.wait_for_block(tip.as_str().unwrap());
        instance
    });
    instances[1].stop();
    instances[1].alter(1);
    instances[1].start();
    let [straight, altered] = instances.each_ref().map(|one| (one.address.clone(), one.path.clone()));
    let counts = Arc::new(Counts::default());
    let checker = Checker::start(straight, vec![altered], Arc::clone(&counts), 1);
    wait_for("a wrong answer", Duration::from_secs(60), || (counts.report()["wrong"].as_u64()? > 0).then_some(()));
    checker.end();
}
