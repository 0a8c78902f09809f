//! Linking: the facts of one file and a view of all others become [`Links`].
//!
//! [`link`] is a pure function of (facts of the file, view). It reads other files' interfaces only,
//! never their links, so files may be linked in any order and in parallel. Every name that was
//! looked up, found or not, is recorded in [`Links::lookups`]: those are the keys whose change makes
//! the file due for linking again. Start with [`recorder`], then one folder per language.

mod around;
mod cfamily;
mod declared;
mod ecma;
mod flow;
mod go;
mod java;
mod loaded;
mod paths;
mod projects;
mod python;
mod recorder;
mod rust;
mod typed;

pub use loaded::{Blocks, Loaded};
pub use recorder::Recorder;

use around::Around;
use indexd_model::facts::{Import, ImportKind};
use indexd_model::links::{Unresolved, UnresolvedReason};
use indexd_model::{
    Binding, Def, DefIdx, DefRef, EdgeKind, ExprId, Facts, FactsView, FileDoc, FileRoles, Language, Link,
    Linking, Links, Node, Role, Rule, Source, StrId,
};

/// Star imports of a scope through which a name is looked for: each is asked for every name that nothing else
/// brings.
const STARS_MAX: usize = 256;

/// The star imports that count, of those that `is_of` holds for.
fn stars(imports: &[Import], is_of: impl Fn(&Import) -> bool) -> impl Iterator<Item = &Import> {
    imports.iter().filter(move |i| i.kind == ImportKind::All && is_of(i)).take(STARS_MAX)
}

/// Changes when equal facts get other links or lookups; part of the recipe of an index.
pub const LINKER_VERSION: u32 = 24;

/// Resolves the uses of `file`, whose facts, body and all, are `facts`, against `view`.
///
/// `view` must hold the interface of `file` itself as well. Links and unresolved uses come sorted by
/// place, lookups sorted and without repeats; languages without a linker have none.
pub fn link(file: FileDoc, facts: Facts, view: &dyn FactsView) -> Links {
    let recorder = Recorder::new(view);
    let mut links = match facts.interface.language {
        Language::Go => go::link(file, facts, &recorder),
        // A copy of another project's code is searched and not linked.
        _ if facts.interface.roles.has(FileRoles::VENDORED) => Links::default(),
        Language::Python => python::link(file, facts, &recorder),
        Language::TypeScript | Language::Tsx | Language::JavaScript => ecma::link(file, facts, &recorder),
        Language::Java => declared::link::<java::Java>(file, facts, &recorder),
        Language::Rust => declared::link::<rust::Rust>(file, facts, &recorder),
        Language::C | Language::Cpp => declared::link::<cfamily::CFamily>(file, facts, &recorder),
        language if language.linking() == Linking::Scopes => paths::link(file, facts, &recorder),
        _ => Links::default(),
    };
    links.unresolved.extend(unread(facts));
    links.links.sort_by_key(|l| (l.at, l.kind, std::cmp::Reverse(l.confidence)));
    links.unresolved.sort_by_key(|u| u.at);
    links.lookups = recorder.into_lookups();
    links
}

/// Returns the names in source that was not parsed, as unresolved uses.
fn unread(facts: Facts) -> Vec<Unresolved> {
    let around = Around::new(facts, is_code_or_type);
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

/// Sets the source of links and unresolved uses to the innermost definition around them that `is_source`
/// takes.
fn assign_sources(facts: Facts, out: &mut Links, is_source: impl Fn(&Def) -> bool) {
    let around = Around::last_of_equals(facts, is_source);
    let open = out.links.iter_mut().filter(|l| l.source == DefIdx::NONE);
    open.for_each(|l| l.source = around.at(l.at));
    out.unresolved.iter_mut().for_each(|u| u.source = around.at(u.at));
}

/// Returns true if a definition is a function, a method or a type.
fn is_code_or_type(def: &Def) -> bool {
    def.kind.is_callable() || def.kind.is_type()
}

/// The kind of edge that a use in a role makes.
fn edge_of(role: Role) -> EdgeKind {
    match role {
        Role::Call => EdgeKind::Call,
        Role::Base => EdgeKind::Inherit,
        Role::Import => EdgeKind::Import,
        _ => EdgeKind::Usage,
    }
}

/// Returns the definition that a local name is bound to, if there is one.
fn bound_def(facts: Facts, binding: &Binding) -> Option<DefIdx> {
    facts.sources(binding).iter().find_map(|s| match s {
        Source::Def(def) => Some(*def),
        _ => None,
    })
}

/// Returns the type that is written for a local name with these sources, if one is.
fn declared(sources: &[Source]) -> Option<ExprId> {
    sources.iter().find_map(|s| if let Source::Declared(e) = s { Some(*e) } else { None })
}

/// An identifier in a place where it is used.
#[derive(Clone, Copy)]
struct Use {
    name: StrId,
    at: u32,
    role: Role,
}

/// Writes down what a use leads to: definitions that are equally likely, or the reason why none is
/// known. The source is found later.
fn emit(facts: Facts, it: Use, found: Result<Vec<DefRef>, UnresolvedReason>, rule: Rule, out: &mut Links) {
    let Use { name, at, role } = it;
    let (kind, source) = (edge_of(role), DefIdx::NONE);
    match found {
        Ok(targets) => {
            let len = facts.str(name).len().min(usize::from(u16::MAX)) as u16;
            let rule = if targets.len() > 1 { Rule::Ambiguous } else { rule };
            let confidence = rule.confidence() / targets.len().max(1) as u8;
            let link = |target| Link { kind, source, target, at, len, role, rule, confidence };
            out.links.extend(targets.into_iter().map(link));
        }
        Err(reason) => out.unresolved.push(Unresolved { source, name, at, role, reason }),
    }
}

/// Returns the link from a member to the one that it implements or overrides.
fn implement(facts: Facts, source: DefIdx, target: DefRef) -> Link {
    let def = facts.def(source);
    Link {
        kind: EdgeKind::Implement,
        source,
        target,
        at: def.name_span.start,
        len: facts.str(def.name).len().min(usize::from(u16::MAX)) as u16,
        role: Role::None,
        rule: Rule::Implements,
        confidence: Rule::Implements.confidence(),
    }
}

#[cfg(test)]
mod edits;

#[cfg(test)]
mod trees;

#[cfg(test)]
mod tests;
