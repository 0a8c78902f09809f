//! Code shared by the linkers of TypeScript, of languages with declared types, and in part of Python.
//!
//! Types of one run are interned ([`types`]), and type parameters are replaced by substitution
//! ([`generics`]). Open files are indexed by names once ([`files`]): a read of a definition of another file
//! is recorded under its name there. Types depend on themselves, so questions are answered lazily and kept
//! when they are whole ([`slots`]). A language adds the lookup of names, the syntax of types and the types of
//! its expressions.

pub(crate) mod files;
pub(crate) mod generics;
pub(crate) mod slots;
pub(crate) mod std;
pub(crate) mod types;

use indexd_model::List;

pub(crate) use files::{DefAt, File, Files};
pub(crate) use slots::{Questions, Slot, Val};
pub(crate) use types::{Args, Env, NameId, Ty, Type, Types};

/// The arguments of a call.
#[derive(Clone, Copy)]
pub(crate) struct Site {
    pub(crate) file: File,
    pub(crate) args: List,
}
