//! The way to a daemon: the socket of this user, or a child that serves this client alone.

use crate::session::{SILENCE_MAX, own_uid};
use interprocess::ConnectWaitMode;
use interprocess::local_socket::traits::{Stream as _, StreamCommon as _};
use interprocess::local_socket::{ConnectOptions, GenericFilePath, Stream, ToFsName};
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

/// How long a daemon may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// Time between a child's closing of its output and its end.
const CHILD_END_TIME: Duration = Duration::from_secs(2);

/// A connection, or a child in its place.
pub enum Transport {
    /// The socket of the daemon.
    Socket(Stream),
    /// A child that serves this client alone; it ends with its standard input.
    Child(Child),
}

impl Transport {
    /// Writes all bytes.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Socket(stream) => stream.write_all(bytes),
            Self::Child(child) => {
                child.stdin.as_mut().map_or(Ok(()), |s| s.write_all(bytes).and_then(|()| s.flush()))
            }
        }
    }

    /// Makes the next [`Transport::receive`] return within `left`, with bytes or without.
    pub fn wait_readable(&self, left: Duration) {
        match self {
            Self::Socket(stream) => {
                let _ = stream.set_recv_timeout(Some(left));
            }
            Self::Child(child) => {
                use rustix::event::{PollFd, PollFlags, Timespec, poll};
                let Some(stdout) = &child.stdout else { return };
                let left =
                    Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
                let _ = poll(&mut [PollFd::new(stdout, PollFlags::IN)], Some(&left));
            }
        }
    }

    /// Reads some bytes; none at the end.
    pub fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Socket(stream) => stream.read(buffer),
            Self::Child(child) => child.stdout.as_mut().map_or(Ok(0), |s| s.read(buffer)),
        }
    }
}

impl Drop for Transport {
    fn drop(&mut self) {
        if let Self::Child(child) = self {
            drop(child.stdin.take());
            let _ = child.wait();
        }
    }
}

/// How a child ended that closed its side of the connection; it is given a moment to do so.
pub fn wait_for_child(child: &mut Child) -> io::Result<Option<ExitStatus>> {
    let until = Instant::now() + CHILD_END_TIME;
    loop {
        let ended = child.try_wait()?;
        if ended.is_some() || Instant::now() >= until {
            return Ok(ended);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Connects to a socket that belongs to this user.
pub fn dial(socket: &Path) -> io::Result<Stream> {
    let options = ConnectOptions::new().name(socket.to_fs_name::<GenericFilePath>()?);
    let stream = options.wait_mode(ConnectWaitMode::Timeout(CONNECT_TIMEOUT)).connect_sync()?;
    // A daemon that takes no bytes is as dead as one that sends none.
    let _ = stream.set_send_timeout(Some(SILENCE_MAX));
    if !is_own_daemon(&stream, socket) {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the socket is served by another user"));
    }
    Ok(stream)
}

/// Whether a socket is served by this user. The process behind it has no number here when it is outside of
/// this container, which the library for sockets takes for a peer that is gone. Then the file counts: none
/// but its owner can have bound it in a folder that is the owner's alone.
fn is_own_daemon(stream: &Stream, socket: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    if let Ok(creds) = stream.peer_creds() {
        return creds.euid() == Some(own_uid());
    }
    let is_own = |path: &Path, others: u32| {
        std::fs::symlink_metadata(path).is_ok_and(|m| m.uid() == own_uid() && m.mode() & others == 0)
    };
    is_own(socket, 0) && socket.parent().is_some_and(|dir| is_own(dir, 0o022))
}
