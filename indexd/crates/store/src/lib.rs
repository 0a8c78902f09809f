//! The index of one workspace as one LMDB environment: tables, codecs, one writer, snapshot reads.
//!
//! [`Store::open`] says whether there is an index to use. A first build goes through [`Bulk`], which
//! sorts everything and appends it; every later change through [`WriteTxn`]; reads through a
//! [`Snapshot`], which implements [`indexd_model::IndexView`]. Only this crate knows heed, rkyv and
//! roaring.
//!
//! Invariants: the dump of a state depends on the inputs alone, not on the order of changes; dense handles
//! never reach a dump or a signature; a damaged or unfinished index is rebuilt, never repaired and never
//! converted.

mod bulk;
mod cache;
mod codec;
mod compact;
mod copied;
mod difference;
mod directory;
mod dump;
mod error;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod history;
mod input;
mod linked;
mod meta;
mod opened;
mod packed;
mod prepared;
mod recovery;
mod rows;
mod sets;
mod signature;
mod snapshot;
mod store;
mod stream;
mod table;
mod tables;
mod travel;
mod untouched;
mod verify;
mod write;

#[cfg(test)]
mod tests;

pub use bulk::Bulk;
pub use cache::Cache;
pub use codec::blob::forget_scratch;
pub use copied::{copy_closed, name_of_closed, open_closed, share_closed};
pub use error::{StoreError, Unreadable};
pub use indexd_os::FileStat;
pub use input::{FileInput, History, HistoryFile, Overlays};
pub use meta::FORMAT;
pub use packed::{pack_facts, unpack_facts};
pub use snapshot::{Snapshot, forget_decoded, read_packed_text};
pub use store::{Opened, Store, WeakStore};
pub use stream::Blocks;
pub use verify::{verify, verify_rows};
pub use write::{PutOutcome, Stored, WriteTxn};
