//! The index of one workspace as one LMDB environment: tables, codecs, one writer, snapshot reads.
//!
//! [`Store::open`] says whether there is an index to use. A first build goes through [`Bulk`], which
//! sorts everything and appends it; every later change through [`WriteTxn`]; reads through a
//! [`Snapshot`], which implements [`indexd_model::IndexView`]. Only this crate knows heed, rkyv and
//! roaring.

mod error;
mod input;
mod skeleton;

pub use error::StoreError;
pub use input::{FileInput, FileStat, History, HistoryFile};
pub use skeleton::*;
