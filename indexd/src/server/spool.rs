//! Exports on their way to clients: made one after the other into a file, and sent from there.
//!
//! Making one takes memory with a table of the index, and sending one takes as long as the client likes.
//! So neither many clients nor slow ones make the daemon large, and none keeps another one waiting.

use crate::server::backend::Context;
use crate::server::dispatch::busy;
use crate::server::limits::EXPORTS_MAX;
use indexd_proto::error::{ErrorCode, ErrorObject};
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};
use tokio::sync::{Semaphore, SemaphorePermit};

/// Those that are being made.
pub struct Exports {
    dir: PathBuf,
    places: Semaphore,
}

impl Exports {
    /// With files in a folder of the cache.
    pub fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned(), places: Semaphore::new(EXPORTS_MAX) }
    }

    /// Begins to make one.
    ///
    /// # Errors
    /// `POC_E_BUSY` while another one is made, `POC_E_STORAGE` where no file can be made.
    pub fn begin<'a>(&'a self, ctx: &'a Context) -> Result<Making<'a>, ErrorObject> {
        let place = self.places.try_acquire().map_err(|_| busy("another export is being made".to_owned()))?;
        // It goes with its last user, on Unix even when the process is killed.
        let file = tempfile::tempfile_in(&self.dir).map_err(|e| storage(&e))?;
        Ok(Making { out: BufWriter::new(file), ctx, failure: None, _place: place })
    }
}

fn storage(e: &io::Error) -> ErrorObject {
    ErrorObject::new(ErrorCode::Storage, format!("the export cannot be kept in the cache folder: {e}"))
}

/// An export that is being made.
pub struct Making<'a> {
    out: BufWriter<File>,
    ctx: &'a Context,
    failure: Option<ErrorObject>,
    _place: SemaphorePermit<'a>,
}

impl Making<'_> {
    /// Adds bytes.
    ///
    /// # Errors
    /// `POC_E_CANCELLED`, `POC_E_STORAGE`.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), ErrorObject> {
        self.ctx.check()?;
        self.out.write_all(bytes).map_err(|e| storage(&e))
    }

    /// Why writing failed, when it did.
    pub fn failure(&mut self) -> Option<ErrorObject> {
        self.failure.take()
    }

    /// The whole, to be read from its begin; another one may be made meanwhile.
    ///
    /// # Errors
    /// `POC_E_STORAGE`.
    pub fn finish(self) -> Result<impl Read, ErrorObject> {
        let mut file = self.out.into_inner().map_err(|e| storage(e.error()))?;
        file.rewind().map_err(|e| storage(&e))?;
        Ok(file)
    }
}

impl Write for Making<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.push(bytes) {
            Ok(()) => Ok(bytes.len()),
            Err(e) => {
                self.failure = Some(e);
                Err(io::ErrorKind::Other.into())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
