//! Loopback ports for programs that a test starts.
//!
//! A port that the system picks may be reused: between the test that requested it and the program that
//! listens any outgoing connection of the machine may get it. So ports come from below the range of those, and in blocks of
//! which each belongs to one process while it lives.

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Mutex;

/// First port of the first block; below the usual range for outgoing connections, which begins at 32,768.
const FIRST: u16 = 20_000;
/// Ports of a block.
const BLOCK: u16 = 16;
const BLOCKS: u16 = 750;

struct Claimed {
    /// Ports of the newest block that are left, the next one last.
    ports: Vec<u16>,
    /// Locked while the process lives.
    locks: Vec<File>,
}

static CLAIMED: Mutex<Claimed> = Mutex::new(Claimed { ports: Vec::new(), locks: Vec::new() });

/// A loopback TCP port on which nothing listens, and which is given to no other test of this machine while this process
/// lives.
///
/// # Panics
/// The folder for temporary files cannot be written, or all 12,000 ports are taken.
pub fn free_port() -> u16 {
    let mut claimed = CLAIMED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    loop {
        while let Some(port) = claimed.ports.pop() {
            if TcpListener::bind(("127.0.0.1", port)).is_ok() {
                return port;
            }
        }
        let (block, lock) = claim();
        let first = FIRST + block * BLOCK;
        claimed.ports = (first..first + BLOCK).rev().collect();
        claimed.locks.push(lock);
    }
}

/// A block that no living process has.
fn claim() -> (u16, File) {
    let folder = folder();
    fs::create_dir_all(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    // Processes begin at different blocks, so that a port rests before it is given again.
    let begin = (std::process::id() % u32::from(BLOCKS)) as u16;
    let blocks = (begin..BLOCKS).chain(0..begin);
    let mut free = blocks.filter_map(|block| {
        let file = File::options().create(true).append(true).open(folder.join(block.to_string())).ok()?;
        file.try_lock().ok()?;
        Some((block, file))
    });
    free.next().unwrap_or_else(|| panic!("no loopback ports are left: see the locks in {}", folder.display()))
}

fn folder() -> PathBuf {
    std::env::temp_dir().join("paraffin-test-ports")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_differ_listen_and_stay_below_those_of_outgoing_connections() {
        let mut ports: Vec<u16> = (0..40).map(|_| free_port()).collect();
        for port in &ports {
            assert!((FIRST..32_768).contains(port), "{port}");
            TcpListener::bind(("127.0.0.1", *port)).unwrap_or_else(|error| panic!("{port}: {error}"));
        }
        ports.sort_unstable();
        ports.dedup();
        assert_eq!(ports.len(), 40);
    }

    #[test]
    fn a_block_belongs_to_one_holder() {
        let (first, _lock) = claim();
        let (second, _other) = claim();
        assert_ne!(first, second);
    }
}
