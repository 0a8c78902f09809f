//! Files that are there whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// The new text of a file, beside it until it takes its place.
pub struct Replacement<'p> {
    path: &'p Path,
    new: PathBuf,
    out: Option<BufWriter<File>>,
}

impl<'p> Replacement<'p> {
    /// Begins an empty file, which is removed again unless it is finished.
    pub fn new(path: &'p Path) -> io::Result<Self> {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let new = path.with_file_name(format!(".{name}.{}", std::process::id()));
        // What stands there is a leftover of an earlier process, or a link that somebody has laid there.
        let _ = fs::remove_file(&new);
        let out = Some(BufWriter::new(File::create_new(&new)?));
        Ok(Self { path, new, out })
    }

    /// Appends bytes.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.as_mut().map_or(Ok(()), |out| out.write_all(bytes))
    }

    /// Where it stands until it is finished.
    pub fn place(&self) -> &Path {
        &self.new
    }

    /// Puts it in the place of the old file.
    pub fn finish(mut self) -> io::Result<()> {
        self.out.take().map_or(Ok(()), |mut out| out.flush())?;
        fs::rename(&self.new, self.path)
    }
}

impl Drop for Replacement<'_> {
    fn drop(&mut self) {
        // Gone already when it took its place.
        let _ = fs::remove_file(&self.new);
    }
}
