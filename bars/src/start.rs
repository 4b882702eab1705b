//! How long until the first answer: `dev` from nothing, `serve` on an indexed store.
//!
//! Catches: a start that reads back a journal, scans tables or waits for the node before it listens.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::node::{Node, request};
use xtask::bar::{Bar, Floor};

use crate::{Bench, import};
use xtask::process::{Failure, Outcome};

/// Port of `serve` in these runs.
pub(crate) const SERVE_PORT: u16 = 29_445;
pub(crate) const DEV_PORT: u16 = 29_446;
const RUNS: usize = 3;

pub(crate) fn measure(bench: &Bench) -> Outcome<Vec<Bar>> {
    let _node = Node::start(&bench.bitcoind, &bench.place, &bench.chain)?;
    let data = bench.place.join("index");
    import::fresh_import(bench, &data, import::DEFAULT)?;
    let config = import::config_file(bench, &data, import::DEFAULT)?;
    let serve = worst(|| {
        let mut command = Command::new(&bench.paraffin);
        command.args(["serve", "--config"]).arg(&config);
        first_answer(&mut command, SERVE_PORT, Path::new("/v4/api/health"))
    })?;
    let dev = worst(|| {
        let mut command = Command::new(&bench.paraffin);
        command.args(["dev", "--listen", &format!("127.0.0.1:{DEV_PORT}")]);
        first_answer(&mut command, DEV_PORT, Path::new("/v4/api/health"))
    })?;
    let bar = |name: &str, value, floor: f64, what: &str| Bar {
        name: name.to_owned(),
        value,
        floor: Floor::AtMost(floor),
        how: format!("seconds until the first 200 of /v4/api/health, worst of {RUNS}: {what}"),
    };
    let bars = vec![
        bar("start serve", serve.0, 2.0, "serve on an indexed store, default configuration"),
        bar("start dev", dev.0, 15.0, "dev in an empty folder, 160 blocks"),
    ];
    bars[0].report(&bench.root, "paraffin serve --config paraffin.toml", &serve.1)?;
    bars[1].report(&bench.root, "paraffin dev", &dev.1)?;
    Ok(bars)
}

fn worst(mut run: impl FnMut() -> Outcome<f64>) -> Outcome<(f64, String)> {
    let mut rows = "run,seconds\n".to_owned();
    let mut worst = 0.0_f64;
    for number in 1..=RUNS {
        let seconds = run()?;
        worst = worst.max(seconds);
        let _ = writeln!(rows, "{number},{seconds:.3}");
    }
    Ok((worst, rows))
}

/// Ends the child politely, so that its folder is whole for the next run.
pub(crate) struct Ended(pub(crate) Child);

impl Ended {
    /// Asks it to end and waits for ten seconds. Whether it has ended well by then.
    pub(crate) fn end(&mut self) -> bool {
        if let Ok(Some(status)) = self.0.try_wait() {
            return status.success();
        }
        let _ = Command::new("kill").arg(self.0.id().to_string()).status();
        for _ in 0..200 {
            if let Ok(Some(status)) = self.0.try_wait() {
                return status.success();
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        false
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        self.end();
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn first_answer(command: &mut Command, port: u16, path: &Path) -> Outcome<f64> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let begin = Instant::now();
    let child =
        command.spawn().map_err(|error| Failure::new(format!("{}: {error}", command.get_program().display())))?;
    let _ended = Ended(child);
    let address = format!("127.0.0.1:{port}");
    while begin.elapsed() < Duration::from_secs(60) {
        if request(&address, "GET", &path.to_string_lossy(), "", "").is_some_and(|(status, _)| status == 200) {
            return Ok(begin.elapsed().as_secs_f64());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Err(Failure::new(format!("nothing answers on {address} within 60 s")))
}
