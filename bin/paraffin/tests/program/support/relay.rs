//! A relay of TCP connections in front of a server, which can cut them or hold everything back.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const OPEN: u8 = 0;
const CUT: u8 = 1;
const FROZEN: u8 = 2;
const ENDED: u8 = 3;

/// How often a direction that has nothing to do looks at what it shall do.
const LOOK: Duration = Duration::from_millis(20);

/// Listens on a port of its own; ends with the test.
pub struct Relay {
    port: u16,
    state: Arc<AtomicU8>,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Relay {
    /// To a server on a port of 127.0.0.1.
    pub fn start(to: u16) -> Self {
        let port = super::free_port();
        let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
        let (state, open) = (Arc::new(AtomicU8::new(OPEN)), Arc::new(Mutex::new(Vec::new())));
        let (of_thread, known) = (Arc::clone(&state), Arc::clone(&open));
        std::thread::spawn(move || {
            for inner in listener.incoming().map_while(Result::ok) {
                match of_thread.load(Ordering::SeqCst) {
                    ENDED => return,
                    CUT => continue,
                    _ => {}
                }
                let Ok(outer) = TcpStream::connect(("127.0.0.1", to)) else { continue };
                known.lock().unwrap().extend([inner.try_clone().unwrap(), outer.try_clone().unwrap()]);
                for (from, into) in [(inner.try_clone().unwrap(), outer.try_clone().unwrap()), (outer, inner)] {
                    let state = Arc::clone(&of_thread);
                    std::thread::spawn(move || pass(from, into, &state));
                }
            }
        });
        Self { port, state, open }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Closes the connections that are open; new ones are passed on.
    pub fn drop_connections(&self) {
        self.cut();
        // Both directions of each see it.
        std::thread::sleep(2 * LOOK);
        self.restore();
    }

    /// Closes all connections, and new ones at once.
    pub fn cut(&self) {
        self.state.store(CUT, Ordering::SeqCst);
        for stream in self.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Passes nothing on and closes nothing.
    pub fn freeze(&self) {
        self.state.store(FROZEN, Ordering::SeqCst);
    }

    /// Passes everything on again, also what was held back.
    pub fn restore(&self) {
        self.state.store(OPEN, Ordering::SeqCst);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.cut();
        self.state.store(ENDED, Ordering::SeqCst);
        // The listener wakes up and sees it.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

fn pass(mut from: TcpStream, mut into: TcpStream, state: &AtomicU8) {
    let _ = from.set_read_timeout(Some(LOOK));
    let _ = into.set_nodelay(true);
    let mut part = vec![0; 64 << 10];
    loop {
        match state.load(Ordering::SeqCst) {
            CUT | ENDED => break,
            FROZEN => {
                std::thread::sleep(LOOK);
                continue;
            }
            _ => {}
        }
        match from.read(&mut part) {
            Ok(0) => break,
            Ok(length) => {
                while state.load(Ordering::SeqCst) == FROZEN {
                    std::thread::sleep(LOOK);
                }
                if into.write_all(&part[..length]).is_err() {
                    break;
                }
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(_) => break,
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = into.shutdown(Shutdown::Both);
}
