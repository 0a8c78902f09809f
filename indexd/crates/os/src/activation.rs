//! A socket inherited from a service manager, after `sd_listen_fds(3)`.

use std::io;
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

/// The first inherited descriptor.
const FIRST_FD: i32 = 3;

static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// Takes the inherited socket; `None` when there is none, and after the first call.
///
/// # Errors
/// There is more than one inherited descriptor, or it is not a listening socket.
pub fn passed_socket() -> io::Result<Option<OwnedFd>> {
    let number = |name: &str| std::env::var(name).ok().and_then(|v| v.parse::<u32>().ok());
    let n = number("LISTEN_FDS").filter(|_| number("LISTEN_PID") == Some(std::process::id()));
    let Some(n) = n.filter(|n| *n > 0) else { return Ok(None) };
    if n != 1 {
        return Err(io::Error::other(format!("{n} sockets were passed instead of one")));
    }
    if IS_TAKEN.swap(true, Ordering::Relaxed) {
        return Ok(None);
    }
    #[expect(unsafe_code, reason = "a number in the environment is how a descriptor is passed")]
    // SAFETY: the manager opened this descriptor for this process, which LISTEN_PID names, before it began;
    // no other code uses it, and it is taken once.
    let fd = unsafe { OwnedFd::from_raw_fd(FIRST_FD) };
    rustix::io::fcntl_setfd(&fd, rustix::io::FdFlags::CLOEXEC)?;
    if !rustix::net::sockopt::socket_acceptconn(fd.as_fd())? {
        return Err(io::Error::other("what was passed is not a listening socket"));
    }
    Ok(Some(fd))
}
