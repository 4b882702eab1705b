//! A real browser.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use thirtyfour::{ChromiumLikeCapabilities as _, DesiredCapabilities, LoggingPrefsLogLevel, WebDriver};

use super::process::Running;
use super::{free_port, wait_for};

/// Chromium with its driver, which ends with this.
pub struct Chromium {
    program: PathBuf,
    port: u16,
    profile: tempfile::TempDir,
    _driver: Running,
}

impl Chromium {
    /// Starts the driver; `None` where Chromium is not installed, which is counted as a skip.
    pub fn start() -> Option<Self> {
        let programs = paraffin_testkit::installed(["chromium", "chromedriver"], "chromium chromium-driver");
        let [program, driver] = programs?;
        let port = free_port();
        let driver = Running::start(Command::new(driver).arg(format!("--port={port}")));
        // It keeps connections open, so a request of ours would wait for their end.
        wait_for("chromedriver to listen", Duration::from_secs(20), || {
            std::net::TcpStream::connect(("127.0.0.1", port)).ok()
        });
        Some(Self { program, port, profile: tempfile::tempdir().unwrap(), _driver: driver })
    }

    /// Opens a window, which keeps what its console says.
    pub async fn open(&self) -> WebDriver {
        self.open_with(&[]).await
    }

    /// The same with further arguments.
    pub async fn open_with(&self, further: &[&str]) -> WebDriver {
        let mut wanted = DesiredCapabilities::chrome();
        wanted.set_binary(self.program.to_str().unwrap()).unwrap();
        wanted.set_browser_log_level(LoggingPrefsLogLevel::All).unwrap();
        let profile = format!("--user-data-dir={}", self.profile.path().display());
        for argument in [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--no-first-run",
            &profile,
        ]
        .iter()
        .chain(further)
        {
            wanted.add_arg(argument).unwrap();
        }
        WebDriver::new(format!("http://127.0.0.1:{}", self.port), wanted).await.unwrap()
    }
}
