//! A first import of a chain that is far larger than every cache, in the shape of mainnet: `cargo xtask bars large`.
//!
//! ```text
//!  --gib N          size of the chain, 20 by default; parts of one are taken
//!  --seed S         1 by default
//!  --memory-mib M   `[index] memory_mib` of the program, 256 by default
//!  --lean           the Bitcoin index alone instead of all modules
//! ```
//! docs/performance.md explains the chain, docs/decisions/0048-a-bar-that-sees-mainnet.md why it is made so.

mod bound;
mod chain;
mod contracts;
mod generate;
mod measure;
mod message;
mod model;
mod node;
mod random;
mod script;
mod shape;
#[cfg(test)]
mod tests;
mod transaction;
mod unspent;

use std::fs::File;
use std::path::Path;

pub(crate) use bound::advise;

use crate::import::float;
use measure::{Run, Setup};
use model::{Line, Measured};
use node::Node;
use shape::{MAINNET_BYTES, Shape};
use xtask::bar::{self, Bar, Floor};
use xtask::process::{Failure, Outcome, capture};

/// Bitcoin Core's processor time for a MB that it serves.
const CORE_SECONDS_PER_MB: f64 = 0.002;

/// Size of the chain that a program is trained with: every kind of block, in half a minute.
const TRAINING_BYTES: u64 = 1 << 29;

/// Arguments of the bar.
#[derive(Debug, Clone, PartialEq)]
struct Wanted {
    gib: f64,
    seed: u64,
    setup: Setup,
}

impl Wanted {
    fn parse(arguments: &[String]) -> Outcome<Self> {
        let mut wanted = Self { gib: 20.0, seed: 1, setup: Setup { lean: false, memory_mib: 256 } };
        let mut rest = arguments.iter();
        while let Some(name) = rest.next() {
            if name == "--lean" {
                wanted.setup.lean = true;
                continue;
            }
            let value = rest.next().map(String::as_str).unwrap_or_default();
            let broken =
                || Failure::new(format!("`{name} {value}`: `large` takes --gib N, --seed S, --memory-mib M, --lean"));
            match name.as_str() {
                "--gib" => {
                    let gib = value.parse().ok().filter(|gib: &f64| (0.001..=100.0).contains(gib));
                    wanted.gib = gib.ok_or_else(broken)?;
                }
                "--seed" => wanted.seed = value.parse().map_err(|_| broken())?,
                "--memory-mib" => wanted.setup.memory_mib = value.parse().map_err(|_| broken())?,
                _ => return Err(broken()),
            }
        }
        Ok(wanted)
    }

    /// Height of the chain.
    #[allow(clippy::cast_sign_loss)] // checked when it was read
    fn height(&self) -> u32 {
        Shape::height_of((self.gib * float(1 << 30)) as u64)
    }
}

/// Makes the chain unless it is there, imports it, reports.
pub(crate) fn measure(root: &Path, arguments: &[String]) -> Outcome {
    let wanted = Wanted::parse(arguments)?;
    let place = root.join("target/bars/large");
    let program = crate::program(root)?;
    let _alone = lock(&place)?;
    let (chain, generate_seconds) = generate::provide(&place, wanted.seed, Shape::committed(wanted.height())?)?;
    let (megabytes, inputs) = (float(chain.bytes(chain.height())) / 1e6, chain.inputs(chain.height()));
    println!(
        "{} blocks, {megabytes:.0} MB, {} transactions, {inputs} inputs; {}",
        chain.height(),
        chain.transactions(),
        if generate_seconds > 0.0 {
            format!("made in {generate_seconds:.1} s of one processor, {:.0} MB/s", megabytes / generate_seconds)
        } else {
            "made before".to_owned()
        }
    );
    let (node, address) = Node::start(chain)?;
    let run = measure::import(&program, &place, &node, &address, wanted.setup)?;
    let bars = report(root, &place, &wanted, &node, &run)?;
    bar::table(&bars);
    Ok(())
}

/// Has a program import a small chain of the bar, as all modules do, once.
pub(crate) fn import_small(root: &Path, program: &Path) -> Outcome {
    let place = root.join("target/bars/train");
    let _alone = lock(&place)?;
    let shape = Shape::committed(Shape::height_of(TRAINING_BYTES))?;
    let (chain, _) = generate::provide(&place, 1, shape)?;
    let (_node, address) = Node::start(chain)?;
    let config = measure::fresh(&place, &address, Setup { lean: false, memory_mib: 1024 })?.0;
    let mut command = std::process::Command::new(program);
    capture(command.args(["index", "--once", "--config"]).arg(config)).map(drop)
}

/// Held while a bar works in `place`: another would remove the index under it.
fn lock(place: &Path) -> Outcome<File> {
    let failed = |error: &dyn std::fmt::Display| Failure::new(format!("{}: {error}", place.display()));
    std::fs::create_dir_all(place).map_err(|error| failed(&error))?;
    let file = File::create(place.join("lock")).map_err(|error| failed(&error))?;
    file.try_lock().map_err(|error| failed(&error))?;
    Ok(file)
}

fn report(root: &Path, place: &Path, wanted: &Wanted, node: &Node, run: &Run) -> Outcome<Vec<Bar>> {
    let modules = if wanted.setup.lean { "lean" } else { "all modules" };
    let chain = &node.chain;
    let (megabytes, inputs) = (float(chain.bytes(chain.height())) / 1e6, chain.inputs(chain.height()));
    // Imports by other programs are not comparable with this one.
    let kind = format!("{modules} {} {}", wanted.setup.memory_mib, bar::program(root));
    let seconds = run.seconds_beside(CORE_SECONDS_PER_MB * megabytes);
    let measured = Measured { kind: kind.clone(), megabytes, cost: seconds / megabytes };
    let runs = place.join("runs.csv");
    let smaller = model::earlier(&runs, &kind, |size| size < 0.9 * megabytes);
    let foretold = Line::through(&smaller).map(|line| line.cost(megabytes));
    let mut all = smaller;
    all.push(measured.clone());
    model::keep(&runs, &measured)?;
    let mainnet = Line::through(&all).map(|line| line.cost(float(MAINNET_BYTES) / 1e6));
    let last = run.last;
    let how = format!(
        "{megabytes:.0} MB of blocks in the shape of mainnet, {modules}, memory_mib = {}, packaged build, in {:.0} s, which would be {seconds:.0} beside a node that takes \
         {:.0} ms/MB, from the start of the process until its index holds the chain: processor {:.1} ms/MB; the node of the bars took {:.1} ms/MB of the \
         same cores; {:.2} read calls and {:.3} pages from the device for each input; {:.0} MB written and {:.0} MB of tables \
         merged away ({}) for {:.0} MB kept ({}); at most {:.0} MB on disk, {} MiB resident, {} descriptors; {:.1} s without a new block; \
         store and page cache held at most {:.1} % of the index, {}",
        wanted.setup.memory_mib,
        run.seconds,
        1e3 * CORE_SECONDS_PER_MB,
        1e3 * last.processor / megabytes,
        1e3 * last.generator / megabytes,
        float(last.read_calls) / float(inputs),
        run.misses_per_input(inputs),
        float(last.written) / 1e6,
        float(last.compacted) / 1e6,
        measure::by_name(&last.compacted_by),
        float(run.kept) / 1e6,
        measure::by_name(&run.kept_by),
        float(run.store_max) / 1e6,
        run.resident_max >> 20,
        run.descriptors_max,
        last.stalled,
        100.0 * run.held,
        bound::Bound::new().describe()
    );
    let flags = if wanted.setup.lean { " --lean" } else { "" };
    let command = format!(
        "cargo xtask bars large --gib {} --seed {} --memory-mib {}{flags}",
        wanted.gib, wanted.seed, wanted.setup.memory_mib
    );
    let mark = if wanted.setup.lean { ", lean" } else { "" };
    let mut bars = Vec::new();
    let speed = Bar { name: format!("large{mark}"), value: megabytes / run.seconds, floor: Floor::None, how };
    speed.report(root, &command, &run.rows)?;
    bars.push(speed);
    if let Some(foretold) = foretold {
        let how = format!(
            "the model of the smaller imports foretold {:.1} ms/MB, it took {:.1}",
            1e3 * foretold,
            1e3 * measured.cost
        );
        let off = (foretold / measured.cost - 1.0).abs();
        bars.push(Bar { name: format!("large foretold{mark}"), value: off, floor: Floor::AtMost(0.2), how });
    }
    if let Some(cost) = mainnet {
        let sizes: Vec<String> =
            all.iter().map(|run| format!("{:.0} MB: {:.1} ms/MB", run.megabytes, 1e3 * run.cost)).collect();
        let how = format!(
            "hours for 750 GB by a + b ln(size) through {}, beside a node that takes 2 ms/MB",
            sizes.join(", ")
        );
        let hours = cost * float(MAINNET_BYTES) / 1e6 / 3600.0;
        bars.push(Bar { name: format!("large extrapolated{mark}"), value: hours, floor: Floor::None, how });
    }
    for bar in &bars[1..] {
        bar.report(root, &command, "")?;
    }
    Ok(bars)
}
