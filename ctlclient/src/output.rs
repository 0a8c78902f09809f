//! Standard output: written through one buffer, ended cleanly, silent when its reader has gone. A terminal
//! never gets what it would obey, or what would hide or turn round text, other than our own styles. Text
//! for it is kept until the end: lines of ours break between words, and long answers go through the pager.

use crate::code::fitted;
use crate::failure::Failure;
use crate::style::{columns_of_stdout, safe, safe_json};
use indexd_proto::error::ErrorCode;
use std::borrow::Cow;
use std::io::{self, BufWriter, IsTerminal, Write};

/// Standard output.
pub struct Output {
    out: BufWriter<Raw>,
    is_terminal: bool,
    /// Text for the terminal that is not written yet.
    seen: String,
}

/// Standard output without the standard library's search for the last line end, which goes through
/// all of a pack.
struct Raw;

impl Write for Raw {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::io::write(io::stdout(), bytes)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush()
    }
}

impl Output {
    /// Takes it for the rest of the command.
    pub fn stdout() -> Self {
        let is_terminal = io::stdout().is_terminal();
        Self { out: BufWriter::with_capacity(64 << 10, Raw), is_terminal, seen: String::new() }
    }

    /// Writes text of any origin; to a terminal what it would obey as escapes.
    ///
    /// # Errors
    /// As [`Failure::from`] an IO error.
    pub fn text(&mut self, text: &str) -> Result<(), Failure> {
        if !self.is_terminal {
            return self.bytes(text.as_bytes());
        }
        self.seen += &safe(text);
        Ok(())
    }

    /// Writes text with styles, of which all that comes from elsewhere has been through
    /// [`safe`]. On a terminal its lines break between words.
    ///
    /// # Errors
    /// As [`Failure::from`] an IO error.
    pub fn styled(&mut self, text: &str) -> Result<(), Failure> {
        if !self.is_terminal {
            return self.bytes(text.as_bytes());
        }
        self.seen += &fitted(text, columns_of_stdout().unwrap_or(usize::MAX));
        Ok(())
    }

    /// Writes bytes that are not text.
    ///
    /// # Errors
    /// As [`Failure::from`] an IO error.
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        if !self.seen.is_empty() {
            self.put()?;
        }
        Ok(self.out.write_all(bytes)?)
    }

    /// Writes what is still in the buffer, through the pager if it is higher than the terminal.
    ///
    /// # Errors
    /// As [`Failure::from`] an IO error.
    pub fn finish(mut self) -> Result<(), Failure> {
        self.out.flush()?;
        if !self.seen.is_empty() && crate::pager::show(&self.seen) {
            self.seen.clear();
        }
        self.put()
    }

    fn put(&mut self) -> Result<(), Failure> {
        self.out.write_all(std::mem::take(&mut self.seen).as_bytes())?;
        Ok(self.out.flush()?)
    }
}

/// Prints a line of JSON as it came; to a terminal with more escapes in its strings.
///
/// # Errors
/// As [`Failure::from`] an IO error.
pub fn print_json(json: &str) -> Result<(), Failure> {
    let mut out = Output::stdout();
    let shown = if out.is_terminal { Cow::Owned(safe_json(json)) } else { Cow::Borrowed(json) };
    out.bytes(shown.as_bytes())?;
    out.bytes(b"\n")?;
    out.finish()
}

/// Prints text with styles; see [`Output::styled`].
///
/// # Errors
/// As [`Failure::from`] an IO error.
pub fn print_styled(text: &str) -> Result<(), Failure> {
    let mut out = Output::stdout();
    out.styled(text)?;
    out.finish()
}

/// A value as JSON.
///
/// # Errors
/// `POC_E_INTERNAL` for one that has none.
pub fn json_of(value: &impl serde::Serialize) -> Result<String, Failure> {
    serde_json::to_string(value)
        .map_err(|e| Failure::new(ErrorCode::Internal, format!("the answer is no JSON: {e}")))
}

/// Text from before an error is shown as well.
impl Drop for Output {
    fn drop(&mut self) {
        let _ = self.put();
    }
}
