//! Standard output: written through one buffer, ended cleanly, silent when its reader has gone. A terminal
//! never gets what it would obey, or what would hide or turn round text, other than our own styles.

use crate::failure::Failure;
use crate::style::{safe, safe_json};
use indexd_proto::error::ErrorCode;
use indexd_proto::printed::Printed;
use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, Write};

/// Standard output.
pub struct Output {
    out: BufWriter<Raw>,
    is_terminal: bool,
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
        Self { out: BufWriter::with_capacity(64 << 10, Raw), is_terminal: io::stdout().is_terminal() }
    }

    /// Writes text of any origin; to a terminal what it would obey as escapes.
    ///
    /// # Errors
    /// As [`Failure::from`] an IO error.
    pub fn text(&mut self, text: &str) -> Result<(), Failure> {
        let shown = if self.is_terminal { Cow::Owned(safe(text)) } else { Cow::Borrowed(text) };
        self.bytes(shown.as_bytes())
    }

    /// Writes text with styles, of which all that comes from elsewhere has been through
    /// [`safe`].
    ///
    /// # Errors
    /// As [`Failure::from`] an IO error.
    pub fn styled(&mut self, text: &str) -> Result<(), Failure> {
        self.bytes(text.as_bytes())
    }

    /// The same as a line.
    ///
    /// # Errors
    /// As [`Failure::from`] an IO error.
    pub fn styled_line(&mut self, text: &str) -> Result<(), Failure> {
        self.styled(text)?;
        self.styled("\n")
    }

    /// Writes a line of JSON as it came; to a terminal with more escapes in its strings.
    ///
    /// # Errors
    /// As [`Failure::from`] an IO error.
    pub fn json_line(&mut self, json: &str) -> Result<(), Failure> {
        let shown = if self.is_terminal { Cow::Owned(safe_json(json)) } else { Cow::Borrowed(json) };
        self.bytes(shown.as_bytes())?;
        self.bytes(b"\n")
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
        self.json_line(&text)
    }

    /// Writes what is still in the buffer.
    ///
    /// # Errors
    /// As [`Failure::from`] an IO error.
    pub fn finish(mut self) -> Result<(), Failure> {
        Ok(self.out.flush()?)
    }
}
