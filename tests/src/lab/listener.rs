//! A TCP listener in place of the API.

use std::{
    io,
    net::{Ipv6Addr, TcpListener},
    os::fd::AsFd,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::{
    error::{Error, Result},
    netns::Netns,
};

/// Accepts every connection and closes it.
#[derive(Debug)]
pub(crate) struct Listener {
    accepted: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Listener {
    pub(crate) fn start(netns: &Netns, port: u16) -> Result<Self> {
        let failed = |source| Error::Listen { port, source };
        let bind = move || -> io::Result<TcpListener> {
            let listener = TcpListener::bind((Ipv6Addr::UNSPECIFIED, port))?;
            listener.set_nonblocking(true)?;
            Ok(listener)
        };
        let listener = netns.within(bind)?.map_err(failed)?;
        let accepted = Arc::new(AtomicUsize::new(0));
        let stop = Arc::new(AtomicBool::new(false));
        let thread = thread::spawn({
            let (accepted, stop) = (Arc::clone(&accepted), Arc::clone(&stop));
            move || serve(&listener, &accepted, &stop)
        });
        Ok(Self { accepted, stop, thread: Some(thread) })
    }

    /// The number of connections so far.
    pub(crate) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(listener: &TcpListener, accepted: &AtomicUsize, stop: &AtomicBool) {
    while !stop.load(Ordering::SeqCst) {
        let mut awaited = [PollFd::new(listener.as_fd(), PollFlags::POLLIN)];
        // The bound on a drop.
        if matches!(poll(&mut awaited, PollTimeout::from(50_u8)), Ok(1..))
            && listener.accept().is_ok()
        {
            accepted.fetch_add(1, Ordering::SeqCst);
        }
    }
}
