//! Published indexes in an object store.
//!
//! An index travels as the rows of its tables in order, in *pieces* that the daemon writes to local files and
//! reads from them. A published *state* is a list of *layers* of pieces: the first holds all rows of some state
//! before, each further one the rows that differ from what the layers below it make. A piece is one object,
//! named by the hash of its bytes. So the state of the next commit names the pieces of the state before and
//! adds those of one thin layer.
//!
//! | object, below the URL and `indexd-1/RECIPE/` | |
//! |---|---|
//! | `pieces/HASH` | rows, one zstd frame |
//! | `repositories/ID/commits/COMMIT` | a [`format::State`], one zstd frame of JSON |
//! | `repositories/ID/newest` | the same of the default branch |
//! | `expired/ID-COMMIT` | a state that was collected, and whose pieces stay for a day |
//!
//! Only complete data has a name: a push writes pieces first and the state last. All that is read
//! has a limit, and is compared with its hash before it is used.

pub mod command;
pub mod format;
mod gc;
mod pull;
mod push;
mod remote;

pub use gc::{Keep, gc};
pub use pull::{Found, fetch, nearest, published};
pub use push::{base, push};
pub use remote::{Patience, Remote};

use futures_util::{StreamExt, stream};
use std::io;
use std::path::PathBuf;

/// Why something could not be published or fetched.
#[derive(Debug, thiserror::Error)]
pub enum ShareError {
    /// The URL names no store that can be used.
    #[error("{0}")]
    Url(String),
    /// The store did not answer, or answered with an error of its own.
    #[error("the store cannot be used: {0}")]
    Unreachable(String),
    /// The store wants other credentials.
    #[error("the store refuses the credentials: {0}")]
    Denied(String),
    /// The store takes nothing.
    #[error("{0} is read-only: only s3, gs, az and file take what is pushed")]
    ReadOnly(String),
    /// An object is not what its name or its manifest says.
    #[error("an object of the store is damaged: {0}")]
    Damaged(String),
    /// A local file cannot be read or written.
    #[error("cannot use {path}: {source}")]
    Local {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
    /// Another process pulls the same.
    #[error("another process is fetching the same index")]
    Busy,
    /// Nobody waits for it any more.
    #[error("stopped")]
    Stopped,
}

/// The short name of a result of this crate.
pub type Result<T, E = ShareError> = std::result::Result<T, E>;

/// Told of bytes done and bytes in all; says whether to go on.
pub type Watch<'w> = dyn Fn(u64, u64) -> bool + 'w;

/// Objects that are under way at the same time.
const PARALLEL: usize = 8;

/// Does work with objects, some of it at the same time, and hands each result to `done`; ends at the
/// first error.
async fn each<T>(
    work: impl Iterator<Item = impl Future<Output = Result<T>>>,
    mut done: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    let mut under_way = stream::iter(work).buffer_unordered(PARALLEL);
    while let Some(result) = under_way.next().await {
        done(result?)?;
    }
    Ok(())
}
