//! Linking: the facts of one file and a view of all others become [`Links`].
//!
//! [`link`] is a pure function of (facts of the file, view). It reads other files' interfaces only,
//! never their links, so files may be linked in any order and in parallel. Every name that was
//! looked up, found or not, is recorded in [`Links::lookups`]: those are the keys whose change makes
//! the file due for linking again. Start with [`recorder`], then one folder per language.

mod around;
mod ecma;
mod go;
mod loaded;
mod paths;
mod python;
mod recorder;

pub use loaded::{Blocks, Loaded};
pub use recorder::Recorder;

use indexd_model::links::{Unresolved, UnresolvedReason};
use indexd_model::{DefIdx, ExprId, Facts, FactsView, FileDoc, Language, Linking, Links, Node};

/// Changes when equal facts get other links or lookups; part of the recipe of an index.
pub const LINKER_VERSION: u32 = 6;

/// Resolves the uses of `file`, whose facts, body and all, are `facts`, against `view`.
///
/// `view` must hold the interface of `file` itself as well. Links and unresolved uses come sorted by
/// place, lookups sorted and without repeats; languages without a linker have none.
pub fn link(file: FileDoc, facts: Facts, view: &dyn FactsView) -> Links {
    let recorder = Recorder::new(view);
    let mut links = match facts.interface.language {
        Language::Go => go::link(file, facts, &recorder),
        Language::Python => python::link(file, facts, &recorder),
        Language::TypeScript | Language::Tsx | Language::JavaScript => ecma::link(file, facts, &recorder),
        language if language.linking() == Linking::Scopes => paths::link(file, facts, &recorder),
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
    let around = around::Around::new(facts, |d| d.kind.is_callable() || d.kind.is_type());
    let all = (0..facts.n_exprs() as u32).map(|i| facts.expr(ExprId(i)));
    let of = |e: indexd_model::Expr| match e.node {
        Node::Unread { name } => Some(Unresolved {
            source: around.at(e.at),
            name,
            at: e.at,
            role: e.role,
            reason: UnresolvedReason::NotUnderstood,
        }),
        _ => None,
    };
    all.filter_map(of).collect()
}

/// Gives links and unresolved uses the innermost function, method or type around them.
fn assign_sources(facts: Facts, out: &mut Links) {
    let defs = facts.interface.defs.iter().enumerate();
    let mut around: Vec<(u32, u32, DefIdx)> = defs
        .filter(|(_, d)| d.kind.is_callable() || d.kind.is_type())
        .map(|(i, d)| (d.span.start, d.span.end, DefIdx(i as u32)))
        .collect();
    around.sort_by_key(|a| (a.0, std::cmp::Reverse(a.1)));
    out.links.sort_by_key(|l| l.at);
    out.unresolved.sort_by_key(|u| u.at);
    let sources = |places: Vec<u32>| {
        let (mut next, mut open): (usize, Vec<(u32, DefIdx)>) = (0, Vec::new());
        let of = |at: u32| {
            while let Some(&(start, end, def)) = around.get(next)
                && start <= at
            {
                open.push((end, def));
                next += 1;
            }
            while open.last().is_some_and(|o| o.0 <= at) {
                open.pop();
            }
            open.last().map_or(DefIdx::NONE, |o| o.1)
        };
        places.into_iter().map(of).collect::<Vec<DefIdx>>()
    };
    let links = sources(out.links.iter().map(|l| l.at).collect());
    out.links.iter_mut().zip(links).for_each(|(l, source)| l.source = source);
    let unresolved = sources(out.unresolved.iter().map(|u| u.at).collect());
    out.unresolved.iter_mut().zip(unresolved).for_each(|(u, source)| u.source = source);
}

#[cfg(test)]
mod trees;

#[cfg(test)]
mod tests;
