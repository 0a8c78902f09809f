//! Failures of the operating system on demand, for tests of error handling.
//!
//! Our own calls to the system announce themselves here before they are made. A test that runs in its own
//! process may make any of them fail, or look at the disk at that moment. Programs that are built without
//! debug assertions have none of this.

use std::io;

/// Decides the outcome of a call, by its name and the path or folder it is for.
pub type Fault = dyn Fn(&'static str, &str) -> io::Result<()> + Send + Sync;

#[cfg(debug_assertions)]
static FAULT: std::sync::RwLock<Option<std::sync::Arc<Fault>>> = std::sync::RwLock::new(None);

/// True if this program was built so that calls can fail on demand.
pub const ARE_POSSIBLE: bool = cfg!(debug_assertions);

/// Makes every call of this process ask `fault` from now on; `None` ends that.
pub fn set(fault: Option<Box<Fault>>) {
    #[cfg(debug_assertions)]
    {
        *FAULT.write().unwrap_or_else(std::sync::PoisonError::into_inner) = fault.map(Into::into);
    }
    #[cfg(not(debug_assertions))]
    drop(fault);
}

/// Announces a call to the system, by its name (`read`, `list`, `write`, `rename`, `sync`, `commit`, ...),
/// for the path or folder that it is for.
///
/// # Errors
/// The error that a test wants the call to end with.
#[inline]
pub fn before(call: &'static str, at: &str) -> io::Result<()> {
    #[cfg(debug_assertions)]
    {
        let fault = FAULT.read().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        fault.map_or(Ok(()), |fault| fault(call, at))
    }
    #[cfg(not(debug_assertions))]
    {
        let _ = (call, at);
        Ok(())
    }
}
