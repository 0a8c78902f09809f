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

use indexd_model::links::{Unresolved, UnresolvedReason};
use indexd_model::{DefIdx, ExprId, Facts, FactsView, FileDoc, Language, Links, Node};

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
    links.unresolved.extend(unread(facts));
    links.links.sort_by_key(|l| (l.at, l.kind, std::cmp::Reverse(l.confidence)));
    links.unresolved.sort_by_key(|u| u.at);
    links.lookups = recorder.into_lookups();
    links
}

/// The names in source that was not understood, as uses of what nobody knows.
fn unread(facts: Facts) -> Vec<Unresolved> {
    let all = (0..facts.n_exprs() as u32).map(|i| facts.expr(ExprId(i)));
    let of = |e: indexd_model::Expr| match e.node {
        Node::Unread { name } => Some(Unresolved {
            source: around(facts, e.at),
            name,
            at: e.at,
            role: e.role,
            reason: UnresolvedReason::NotUnderstood,
        }),
        _ => None,
    };
    all.filter_map(of).collect()
}

/// The innermost function, method or type around a place.
fn around(facts: Facts, at: u32) -> DefIdx {
    let defs = facts.interface.defs.iter().enumerate();
    let held = defs.filter(|(_, d)| (d.kind.is_callable() || d.kind.is_type()) && d.span.holds(at));
    held.min_by_key(|(_, d)| d.span.len()).map_or(DefIdx::NONE, |(i, _)| DefIdx(i as u32))
}

#[cfg(test)]
mod tests;
