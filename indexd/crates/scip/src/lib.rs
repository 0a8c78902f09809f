//! SCIP indexes (`scip.proto`, the code intelligence format of compilers and indexers), out and in.
//!
//! [`mod@export`] writes a snapshot as an index that other tools read. `import` reads an index that
//! another tool made, and `resolve` ties it to our definitions by the place where each symbol is defined.
//! The result, an [`Overlay`] per file, is an input of the index like the file itself: [`overlay`] applies
//! it to our links while the file's content is still the one indexed. Storing overlays and linking files
//! again is left to the shell.

mod document;
pub mod export;
mod import;
pub mod overlay;
mod resolve;
pub mod symbol;
mod text;

pub use export::{ExportOptions, export};
pub use import::{ForeignIndex, ScipError, read};
pub use overlay::{Overlay, apply, digest};
pub use resolve::{Imported, prefix_of, resolve_import};

#[cfg(test)]
mod fixture;
