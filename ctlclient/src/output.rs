//! Standard output: written through one buffer, ended cleanly, silent when its reader has gone.

use crate::failure::Failure;
use indexd_proto::error::ErrorCode;
use indexd_proto::printed::Printed;
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

    /// Writes bytes that are not text.
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

    /// Writes a line with an object of our own, which says what it is.
    ///
    /// # Errors
    /// As [`Failure::from`] an IO error.
    pub fn object<T: serde::Serialize>(&mut self, schema: &str, members: T) -> Result<(), Failure> {
        self.json(&Printed::new(schema, members))
    }

    /// Writes a line of JSON.
    ///
    /// # Errors
    /// As [`Failure::from`] an IO error.
    pub fn json<T: serde::Serialize>(&mut self, value: &T) -> Result<(), Failure> {
        let text = serde_json::to_string(value)
            .map_err(|e| Failure::new(ErrorCode::Internal, format!("the answer is no JSON: {e}")))?;
        self.line(&text)
    }

    /// Writes what is still in the buffer.
    ///
    /// # Errors
    /// As [`Failure::from`] an IO error.
    pub fn finish(mut self) -> Result<(), Failure> {
        Ok(self.out.flush()?)
    }
}
