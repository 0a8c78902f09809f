//! Lexical scopes with the flow of local names.
//!
//! A function's locals get a new binding at every assignment. [`Scope::env`] holds the binding that
//! is current at the place being read; a trail of overwritten values lets a branch be rolled back,
//! and joins make a binding with the sources of all branches. A name read before any assignment, or
//! from a nested function, waits in [`Scope::pending`] until the function is read to its end, and
//! then gets all assignments together: closures see the variable, not a moment of it.

use crate::builder::Builder;
use indexd_model::{BindingId, BindingKind, DefIdx, ExprId, Node, Source};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Sources that a join keeps; more say nothing about a type.
const SOURCES_MAX: usize = 8;

/// The construct that opens a scope.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ScopeKind {
    Module,
    Class,
    Function,
}

/// Names set since a mark, with the value they have now.
pub(super) type Changes<'s> = SmallVec<[(&'s str, BindingId); 4]>;

/// One open scope.
pub(super) struct Scope<'s> {
    pub(super) kind: ScopeKind,
    /// The function or class.
    pub(super) def: DefIdx,
    /// The class around a method.
    pub(super) class: DefIdx,
    /// The first parameter of a method.
    pub(super) receiver: BindingId,
    /// Current binding of each local name.
    env: FxHashMap<&'s str, BindingId>,
    trail: Vec<(&'s str, BindingId)>,
    /// Every binding made for a name by an assignment.
    all: FxHashMap<&'s str, SmallVec<[BindingId; 2]>>,
    /// Reads that wait for the end of the function.
    pub(super) pending: Vec<(&'s str, ExprId)>,
    /// Annotations of local variables.
    pub(super) declared: FxHashMap<&'s str, ExprId>,
    /// Names declared `global` (true) or `nonlocal` (false).
    pub(super) outer: SmallVec<[(&'s str, bool); 2]>,
    /// Class scope: the newest definition of each member.
    pub(super) members: FxHashMap<&'s str, DefIdx>,
    /// Number of variable definitions by name.
    pub(super) n_defs: FxHashMap<&'s str, u8>,
    /// `return` values.
    pub(super) returns: Vec<ExprId>,
    /// `yield` values.
    pub(super) yields: Vec<ExprId>,
    /// Contains `yield`.
    pub(super) is_generator: bool,
    /// Open loops: the trail mark at their start, and what `break` and `continue` left behind.
    pub(super) loops: Vec<(usize, Vec<Changes<'s>>)>,
    /// Attribute paths known to be of a type here (`isinstance(self.x, T)`); `NONE` forgets.
    pub(super) paths: Vec<(&'s str, ExprId)>,
}

impl<'s> Scope<'s> {
    pub(super) fn new(kind: ScopeKind, def: DefIdx) -> Self {
        Self {
            kind,
            def,
            class: DefIdx::NONE,
            receiver: BindingId::NONE,
            env: FxHashMap::default(),
            trail: Vec::new(),
            all: FxHashMap::default(),
            pending: Vec::new(),
            declared: FxHashMap::default(),
            outer: SmallVec::new(),
            members: FxHashMap::default(),
            n_defs: FxHashMap::default(),
            returns: Vec::new(),
            yields: Vec::new(),
            is_generator: false,
            loops: Vec::new(),
            paths: Vec::new(),
        }
    }

    /// The current binding of a name.
    pub(super) fn get(&self, name: &str) -> Option<BindingId> {
        self.env.get(name).copied()
    }

    /// Makes `binding` current.
    pub(super) fn set(&mut self, name: &'s str, binding: BindingId) {
        let old = self.env.insert(name, binding).unwrap_or(BindingId::NONE);
        self.trail.push((name, old));
    }

    /// Makes an assignment's binding current and visible to closures.
    pub(super) fn assign(&mut self, name: &'s str, binding: BindingId) {
        self.set(name, binding);
        self.remember(name, binding);
    }

    /// Makes a binding visible to closures alone.
    pub(super) fn remember(&mut self, name: &'s str, binding: BindingId) {
        self.all.entry(name).or_default().push(binding);
    }

    /// Returns true if the name is declared `global`, false if `nonlocal`; `None` if neither.
    pub(super) fn outer_kind(&self, name: &str) -> Option<bool> {
        self.outer.iter().find(|o| o.0 == name).map(|o| o.1)
    }

    /// Returns the known value of a path here.
    pub(super) fn path(&self, path: &str) -> Option<ExprId> {
        self.paths.iter().rev().find(|p| p.0 == path).and_then(|p| p.1.some())
    }

    /// Forgets the value of a path, if it is known: the list must not grow by empty entries.
    pub(super) fn forget_path(&mut self, path: &'s str) {
        if self.path(path).is_some() {
            self.paths.push((path, ExprId::NONE));
        }
    }

    /// A place to roll back to.
    pub(super) fn mark(&self) -> usize {
        self.trail.len()
    }

    /// Returns the names set since `mark`, each once with its present binding, in the order of the first
    /// change.
    pub(super) fn changes(&self, mark: usize) -> Changes<'s> {
        let mut out = Changes::new();
        for (name, _) in self.trail.get(mark..).unwrap_or_default() {
            // Short lists are scanned; a branch that sets many names is rare.
            if !out.iter().any(|c| c.0 == *name)
                && let Some(&now) = self.env.get(name)
            {
                out.push((name, now));
            }
        }
        out
    }

    /// Restores the values of `mark`.
    pub(super) fn rewind(&mut self, mark: usize) {
        while self.trail.len() > mark {
            if let Some((name, old)) = self.trail.pop() {
                match old.some() {
                    Some(b) => self.env.insert(name, b),
                    None => self.env.remove(name),
                };
            }
        }
    }
}

/// Joins bindings; knows which of them only narrow another.
#[derive(Default)]
pub(super) struct Joins {
    narrowed: FxHashMap<BindingId, BindingId>,
}

impl Joins {
    /// Notes that `binding` is `of`, known to be of a narrower type.
    pub(super) fn narrow(&mut self, binding: BindingId, of: BindingId) {
        self.narrowed.insert(binding, of);
    }

    /// Returns a binding for any of `values`.
    pub(super) fn join(&self, b: &mut Builder, values: &[BindingId]) -> BindingId {
        let mut distinct: SmallVec<[BindingId; 4]> = SmallVec::new();
        for &v in values {
            if v.some().is_some() && !distinct.contains(&v) {
                distinct.push(v);
            }
        }
        if distinct.len() > 1 {
            // A narrowed value adds nothing once the value that it came from flows in too.
            let all = distinct.clone();
            distinct.retain(|v| {
                let mut at = *v;
                while let Some(&of) = self.narrowed.get(&at) {
                    if all.contains(&of) {
                        return false;
                    }
                    at = of;
                }
                true
            });
        }
        match distinct[..] {
            [] => BindingId::NONE,
            [one] => one,
            _ => joined(b, &distinct),
        }
    }

    /// Makes current, for every name that a branch changed, the join over all branches. A branch
    /// that leaves a name alone contributes the value before.
    pub(super) fn merge<'s>(&self, b: &mut Builder, scope: &mut Scope<'s>, branches: &[Changes<'s>]) {
        if let [only] = branches {
            for (name, value) in only {
                scope.set(name, *value);
            }
            return;
        }
        let mut names: SmallVec<[&'s str; 8]> = SmallVec::new();
        for (name, _) in branches.iter().flatten() {
            if !names.contains(name) {
                names.push(name);
            }
        }
        for name in names {
            let before = scope.get(name).unwrap_or(BindingId::NONE);
            let values: SmallVec<[BindingId; 4]> =
                branches.iter().map(|c| c.iter().find(|c| c.0 == name).map_or(before, |c| c.1)).collect();
            let joined = self.join(b, &values);
            if joined.some().is_some() && joined != before {
                scope.set(name, joined);
            }
        }
    }

    /// Ends a function: pending reads of its own names get all assignments; returns the others.
    pub(super) fn settle<'s>(&self, b: &mut Builder<'s>, scope: &mut Scope<'s>) -> Vec<(&'s str, ExprId)> {
        let mut joined: FxHashMap<&'s str, BindingId> = FxHashMap::default();
        let mut rest = Vec::new();
        for (name, e) in std::mem::take(&mut scope.pending) {
            let Some(all) = scope.all.get(name) else {
                rest.push((name, e));
                continue;
            };
            let binding = *joined.entry(name).or_insert_with(|| self.join(b, all));
            if let Some(Node::Name { name, .. }) = b.get(e).map(|x| x.node) {
                b.set_node(e, Node::Name { name, binding });
            }
        }
        rest
    }
}

/// A new binding with the sources of several.
fn joined(b: &mut Builder, distinct: &[BindingId]) -> BindingId {
    let mut sources: SmallVec<[Source; 8]> = SmallVec::new();
    for &v in distinct {
        for s in b.sources_of(v) {
            if sources.len() < SOURCES_MAX && !sources.contains(s) {
                sources.push(*s);
            }
        }
    }
    let (name, at, scope, kind) = b.binding_head(distinct[0]);
    // A parameter joined with something else stays a parameter only when it has no source of its own; with
    // one, the union of sources is known.
    let is_parameter = kind == BindingKind::Receiver || kind == BindingKind::Param;
    let kind = if is_parameter && sources.is_empty() { kind } else { BindingKind::Local };
    let joined = b.bind(name, at, scope, kind);
    for s in sources {
        b.source(joined, s);
    }
    joined
}
