//! Encodings of values as bytes. Nothing here knows LMDB.

pub(crate) mod blob;
pub(crate) mod bytes;
pub(crate) mod chunks;
pub(crate) mod defs;
pub(crate) mod edges;
pub(crate) mod facts;
pub(crate) mod page;
pub(crate) mod postings;
pub(crate) mod records;
pub(crate) mod run;
pub(crate) mod set;

pub(crate) use indexd_model::coded as enums;
