//! Linking: the facts of one file and a view of all others become [`Links`].
//!
//! [`link`] is a pure function of (facts of the file, view). It reads other files' interfaces only,
//! never their links, so files may be linked in any order and in parallel. Every name that was
//! looked up, found or not, is recorded in [`Links::lookups`]: those are the keys whose change makes
//! the file due for linking again. Start with [`recorder`], then one folder per language.

mod go;
mod loaded;
mod python;
mod recorder;

pub use loaded::{Blocks, Loaded};
pub use recorder::Recorder;

use indexd_model::{Facts, FactsView, FileDoc, Language, Links};

/// Changes when equal facts get other links or lookups; part of the recipe of an index.
pub const LINKER_VERSION: u32 = 1;

/// Resolves the uses of `file`, whose facts, body and all, are `facts`, against `view`.
///
/// `view` must hold the interface of `file` itself as well. Links and unresolved uses come sorted by
/// place, lookups sorted and without repeats; languages without a linker have none.
pub fn link(file: FileDoc, facts: Facts, view: &dyn FactsView) -> Links {
    let recorder = Recorder::new(view);
    let mut links = match facts.interface.language {
        Language::Go => go::link(file, facts, &recorder),
        Language::Python => python::link(file, facts, &recorder),
        _ => Links::default(),
    };
    links.links.sort_by_key(|l| (l.at, l.kind, std::cmp::Reverse(l.confidence)));
    links.unresolved.sort_by_key(|u| u.at);
    links.lookups = recorder.into_lookups();
    links
}
