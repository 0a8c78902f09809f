//! What the daemon sets for its own process: it holds the source of every workspace, so nothing of
//! its memory goes to disk, and it may hold many watches and sockets.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The effective user id; 0 where there is none.
pub fn own_uid() -> u32 {
    #[cfg(unix)]
    return rustix::process::geteuid().as_raw();
    #[cfg(not(unix))]
    return 0;
}

/// Switches core dumps off for this process and its children, and on Linux keeps other processes of
/// the user from reading its memory.
///
/// # Errors
/// What the system says; the daemon goes on and says so in its log.
pub fn forbid_core_dumps() -> std::io::Result<()> {
    let hard = getrlimit(Resource::Core).maximum;
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: hard })?;
    #[cfg(target_os = "linux")]
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?;
    Ok(())
}

/// Raises the number of files that may be open to the most that is allowed without privileges, and
/// returns it; `None` when there is no limit.
///
/// # Errors
/// What the system says; the limit then stays as it was.
pub fn raise_open_files() -> std::io::Result<Option<u64>> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum {
        setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?;
    }
    Ok(maximum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn core_dumps_stay_off() {
        forbid_core_dumps().unwrap();
        forbid_core_dumps().unwrap();
        assert_eq!(getrlimit(Resource::Core).current, Some(0));
        #[cfg(target_os = "linux")]
        assert_eq!(
            rustix::process::dumpable_behavior().unwrap(),
            rustix::process::DumpableBehavior::NotDumpable
        );
    }

    #[test]
    fn open_files_reach_their_maximum() {
        let most = raise_open_files().unwrap();
        assert_eq!(getrlimit(Resource::Nofile).current, most);
        assert_eq!(raise_open_files().unwrap(), most);
    }
}
