//! Holds compressed blobs in a file until the end of the first build: their keys are ranks by path, known
//! only when every file is read, and in memory they would take as much as everything else together.

use crate::error::Result;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The position of a blob in the file, in bytes.
#[derive(Clone, Copy, Default)]
pub(super) struct Place {
    at: u64,
    len: u32,
}

/// A private file of blobs.
pub(super) struct Spill {
    file: Mutex<Ends>,
    path: PathBuf,
}

struct Ends {
    file: File,
    end: u64,
}

impl Spill {
    /// Creates the file in `dir`, which is private.
    pub fn new(dir: &Path) -> Result<Self> {
        let path = dir.join("build.tmp");
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path)?;
        // On Unix the open file persists without a name, and a crash leaves nothing behind.
        #[cfg(unix)]
        fs::remove_file(&path)?;
        Ok(Self { file: Mutex::new(Ends { file, end: 0 }), path })
    }

    fn ends(&self) -> MutexGuard<'_, Ends> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes blobs one after the other.
    pub fn push<const N: usize>(&self, blobs: [Vec<u8>; N]) -> Result<[Place; N]> {
        let together = blobs.concat();
        let mut ends = self.ends();
        let mut at = ends.end;
        ends.file.seek(SeekFrom::Start(at))?;
        ends.file.write_all(&together)?;
        ends.end += together.len() as u64;
        Ok(blobs.map(|b| {
            let place = Place { at, len: b.len() as u32 };
            at += b.len() as u64;
            place
        }))
    }

    /// Reads a blob back.
    pub fn read(&self, place: Place) -> Result<Vec<u8>> {
        let mut out = vec![0; place.len as usize];
        let mut ends = self.ends();
        ends.file.seek(SeekFrom::Start(place.at))?;
        ends.file.read_exact(&mut out)?;
        Ok(out)
    }
}

impl Drop for Spill {
    fn drop(&mut self) {
        // Only where the file still has a name. A file left behind is overwritten by the next build.
        if cfg!(not(unix)) {
            let _ = fs::remove_file(&self.path);
        }
    }
}
