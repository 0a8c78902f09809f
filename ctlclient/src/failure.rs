//! How a command ends badly: a message, a hint, an exit status.

use indexd_proto::error::{ErrorCode, ErrorObject};
use std::io;

/// Why a command did not do what was asked.
#[derive(Debug)]
pub enum Failure {
    /// An error with a code, the daemon's or our own.
    Error(Box<ErrorObject>),
    /// Nothing was found, and that is the answer; it has been printed.
    NoResult,
    /// A check failed; it has been printed.
    Status(u8),
    /// Whoever reads our output has gone: end without a word.
    BrokenPipe,
}

impl Failure {
    /// An error of a code.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        ErrorObject::new(code, message).into()
    }

    /// An error of a code with a hint of its own.
    pub fn hinted(code: ErrorCode, message: impl Into<String>, hint: impl Into<String>) -> Self {
        ErrorObject::new(code, message).with_hint(hint).into()
    }

    /// The code of an error.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Error(e) => Some(e.data.code),
            _ => None,
        }
    }

    /// The exit status.
    pub fn exit(&self) -> u8 {
        match self {
            Self::Error(e) => e.data.exit,
            Self::NoResult => 1,
            Self::Status(n) => *n,
            Self::BrokenPipe => 141,
        }
    }
}

impl From<ErrorObject> for Failure {
    fn from(e: ErrorObject) -> Self {
        Self::Error(Box::new(e))
    }
}

/// Writing the answer failed.
impl From<io::Error> for Failure {
    fn from(e: io::Error) -> Self {
        match e.kind() {
            io::ErrorKind::BrokenPipe => Self::BrokenPipe,
            io::ErrorKind::PermissionDenied => Self::new(ErrorCode::PermissionDenied, e.to_string()),
            _ => Self::hinted(
                ErrorCode::Storage,
                format!("cannot write the answer: {e}"),
                "send standard output to where there is room for it",
            ),
        }
    }
}
