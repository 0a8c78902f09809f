//! A note of the processes that a fault of their own ended (a bad address, an unreadable page, an abort), and not
//! another process that killed them.

use std::io;
use std::path::Path;
use std::sync::OnceLock;
use std::time::SystemTime;

/// The name of this process in such a note: its number and the time at which it was first asked for.
pub fn own_name() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        format!("{}-{}", std::process::id(), now.as_nanos())
    })
}

/// Returns true if the process of this name noted in the file that a fault ended it. Systems without signals leave
/// no note, so there any process may have ended so.
pub fn was_fault(file: &Path, name: &str) -> bool {
    let noted = std::fs::read_to_string(file).unwrap_or_default();
    cfg!(not(unix)) || noted.lines().any(|line| line == name)
}

/// Has this process add its name to a file when a fault ends it. To be called once.
///
/// # Errors
/// The file cannot be opened.
#[cfg(not(unix))]
pub fn note_faults(_file: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
pub use unix::note_faults;

#[cfg(unix)]
mod unix {
    use super::{Path, io, own_name};
    use std::fs::File;
    use std::io::Seek as _;
    use std::os::fd::AsRawFd as _;
    use std::sync::OnceLock;

    /// The signals that a process gets for its own faults.
    const FAULTS: [libc::c_int; 5] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGABRT];
    /// Bytes of a file of notes before it is emptied.
    const NOTES_BYTES_MAX: u64 = 64 << 10;

    struct Note {
        file: File,
        line: String,
        /// The former action for each of the signals.
        before: [libc::sigaction; FAULTS.len()],
    }

    static NOTE: OnceLock<Note> = OnceLock::new();

    /// Has this process add its name to a file when a fault ends it. To be called once.
    ///
    /// # Errors
    /// The file cannot be opened.
    #[expect(unsafe_code, reason = "a signal is the one thing that tells such an end")]
    pub fn note_faults(path: &Path) -> io::Result<()> {
        let mut file = crate::open_own(path)?;
        if file.metadata()?.len() > NOTES_BYTES_MAX {
            file.set_len(0)?;
        }
        file.seek(io::SeekFrom::End(0))?;
        // SAFETY: a `sigaction` of zeros is valid, and reading the action for a signal changes nothing.
        let before = FAULTS.map(|signal| unsafe {
            let mut before: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &mut before);
            before
        });
        let line = format!("{}\n", own_name());
        if NOTE.set(Note { file, line, before }).is_err() {
            return Ok(());
        }
        for signal in FAULTS {
            // SAFETY: the handler makes system calls alone, and runs on the stack that the thread has for signals.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = write_note as *const () as usize;
                action.sa_flags = libc::SA_ONSTACK;
                libc::sigaction(signal, &action, std::ptr::null_mut());
            }
        }
        Ok(())
    }

    /// Writes the note and puts back the former action; the fault then happens once more.
    #[expect(unsafe_code, reason = "system calls are what a handler of signals may use")]
    extern "C" fn write_note(signal: libc::c_int) {
        let Some(note) = NOTE.get() else { return };
        let Some(at) = FAULTS.iter().position(|s| *s == signal) else { return };
        // SAFETY: both calls are allowed in a handler; the descriptor, the text and the actions are never freed.
        unsafe {
            libc::write(note.file.as_raw_fd(), note.line.as_ptr().cast(), note.line.len());
            libc::sigaction(signal, &note.before[at], std::ptr::null_mut());
        }
    }
}
