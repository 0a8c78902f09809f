//! Standard output: written through one buffer, ended cleanly, silent when its reader has gone.

use crate::failure::Failure;
use std::io::{self, BufWriter, StdoutLock, Write};

/// Standard output.
pub struct Output {
    out: BufWriter<StdoutLock<'static>>,
}

impl Output {
    /// Takes it for the rest of the command.
    pub fn new() -> Self {
        Self { out: BufWriter::with_capacity(64 << 10, io::stdout().lock()) }
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
