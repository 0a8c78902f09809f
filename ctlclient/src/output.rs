//! Standard output: written through one buffer, ended cleanly, silent when its reader has gone.

use crate::failure::Failure;
use std::io::{self, BufWriter, Write};

/// Standard output.
pub struct Output {
    out: BufWriter<Raw>,
}

/// Standard output without the standard library's search for the last line end, which goes through
/// all of a pack.
struct Raw;

impl Write for Raw {
    #[cfg(unix)]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::io::write(io::stdout(), bytes)?)
    }

    #[cfg(not(unix))]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        io::stdout().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush()
    }
}

impl Output {
    /// Takes it for the rest of the command.
    pub fn new() -> Self {
        Self { out: BufWriter::with_capacity(64 << 10, Raw) }
    }

    /// Writes text.
    ///
    /// # Errors
    /// As [`Failure::from`] an IO error.
    pub fn text(&mut self, text: &str) -> Result<(), Failure> {
        Ok(self.out.write_all(text.as_bytes())?)
    }

    /// Writes bytes that are no text.
    ///
    /// # Errors
    /// As [`Failure::from`] an IO error.
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        Ok(self.out.write_all(bytes)?)
    }

    /// Writes a line.
    ///
    /// # Errors
    /// As [`Failure::from`] an IO error.
    pub fn line(&mut self, text: &str) -> Result<(), Failure> {
        self.text(text)?;
        self.text("\n")
    }

    /// Writes what is still in the buffer.
    ///
    /// # Errors
    /// As [`Failure::from`] an IO error.
    pub fn finish(mut self) -> Result<(), Failure> {
        Ok(self.out.flush()?)
    }
}
