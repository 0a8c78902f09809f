//! The visitor: statements and the flow of names through them.
//!
//! One pass over the tree. Each statement reports if control can leave it at its end, so that a branch that
//! returns or raises does not flow into the code behind it. Expressions are in `expr`, definitions in
//! `define`, assignment targets in `assign`, annotations in `annotate`.

use super::kinds::{F, Kind, kind};
use super::scope::{Changes, Joins, Scope, ScopeKind};
use crate::builder::Builder;
use crate::parse::Parses;
use indexd_model::facts::LiteralKind;
use indexd_model::limits::PARSE_DEPTH_MAX;
use indexd_model::{BindingId, BindingKind, DefIdx, ExprId, Node as Shape, Role, Source, Span, StrId};
use smallvec::SmallVec;
use tree_sitter::Node;

/// Children of a node.
pub(super) type Kids<'t> = SmallVec<[Node<'t>; 6]>;

/// A type test seen while reading a condition.
#[derive(Clone, Copy)]
pub(super) struct Guard<'s> {
    /// Place of the call.
    pub(super) at: u32,
    /// The tested name or attribute path as written.
    pub(super) path: &'s str,
    /// The type, or the tuple of types.
    pub(super) ty: ExprId,
}

/// Facts that follow when a condition holds (or fails): a name or path is of a type, or is not.
pub(super) type Known<'s> = SmallVec<[(&'s str, ExprId, bool); 2]>;

/// The value of `__all__` so far.
#[derive(Default)]
pub(super) enum Exports {
    /// Not seen.
    #[default]
    Absent,
    /// These names.
    Names(Vec<StrId>),
    /// Built in a way that facts do not follow.
    Dynamic,
}

/// Reads one tree.
pub(super) struct Visitor<'s, 'p> {
    pub(super) text: &'s str,
    pub(super) b: Builder<'s>,
    pub(super) parses: &'p Parses,
    pub(super) scopes: Vec<Scope<'s>>,
    pub(super) joins: Joins,
    pub(super) exports: Exports,
    /// Added to offsets of the tree being read: a string annotation is a tree of its own.
    pub(super) offset: u32,
    pub(super) guards: Vec<Guard<'s>>,
    /// Names set by `:=` inside a comprehension.
    pub(super) walrus: Vec<(&'s str, BindingId)>,
    /// True if something was too deep to be followed.
    pub(super) is_cut: bool,
    depth: usize,
    /// Conditions around the statement at file level.
    pub(super) n_conditions: u32,
    literals: [ExprId; 10],
}

impl<'s, 'p> Visitor<'s, 'p> {
    pub(super) fn new(text: &'s str, parses: &'p Parses) -> Self {
        Self {
            text,
            b: Builder::new(),
            parses,
            scopes: vec![Scope::new(ScopeKind::Module, DefIdx::NONE)],
            joins: Joins::default(),
            exports: Exports::default(),
            offset: 0,
            guards: Vec::new(),
            walrus: Vec::new(),
            is_cut: false,
            depth: 0,
            n_conditions: 0,
            literals: [ExprId::NONE; 10],
        }
    }

    // ---- access to the tree

    pub(super) fn start(&self, node: Node) -> u32 {
        node.start_byte() as u32 + self.offset
    }

    pub(super) fn span(&self, node: Node) -> Span {
        Span::new(self.start(node), node.end_byte() as u32 + self.offset)
    }

    pub(super) fn slice(&self, node: Node) -> &'s str {
        self.text.get(self.span(node).range()).unwrap_or("")
    }

    /// Named children without comments.
    pub(super) fn kids<'t>(&self, node: Node<'t>) -> Kids<'t> {
        let mut out = Kids::new();
        let n = node.child_count();
        let mut push = |c: Node<'t>| {
            if c.is_named() && !matches!(kind(c), Kind::Comment | Kind::LineContinuation) {
                out.push(c);
            }
        };
        // Reading child by index is linear in the index, a cursor costs an allocation.
        if n <= 8 {
            (0..n).filter_map(|i| node.child(i)).for_each(&mut push);
        } else {
            let mut cursor = node.walk();
            node.children(&mut cursor).for_each(&mut push);
        }
        out
    }

    pub(super) fn field<'t>(&self, node: Node<'t>, field: u16) -> Option<Node<'t>> {
        node.child_by_field_id(field)
    }

    // ---- scopes

    pub(super) fn scope(&mut self) -> &mut Scope<'s> {
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    pub(super) fn scope_kind(&self) -> ScopeKind {
        self.scopes.last().map_or(ScopeKind::Module, |s| s.kind)
    }

    /// The function or class around.
    pub(super) fn around(&self) -> DefIdx {
        self.scopes.last().map_or(DefIdx::NONE, |s| s.def)
    }

    /// Opens a binding of a function's local (or of a comprehension anywhere).
    pub(super) fn local(
        &mut self,
        name: &'s str,
        at: u32,
        kind: BindingKind,
        source: Option<Source>,
    ) -> BindingId {
        let id = self.b.str(name);
        let scope = self.around();
        let binding = self.b.bind(id, at, scope, kind);
        if let Some(s) = source {
            self.b.source(binding, s);
        }
        binding
    }

    /// An expression that names `name` as seen from here.
    pub(super) fn name(&mut self, name: &'s str, at: u32, role: Role) -> ExprId {
        let id = self.b.str(name);
        let free = Shape::Name { name: id, binding: BindingId::NONE };
        let e = self.b.expr(free, at, role);
        for i in (0..self.scopes.len()).rev() {
            let s = &mut self.scopes[i];
            if let Some(binding) = s.get(name) {
                self.b.set_node(e, Shape::Name { name: id, binding });
                return e;
            }
            match s.kind {
                ScopeKind::Module => {}
                ScopeKind::Class => {
                    if let Some(&def) = s.members.get(name) {
                        self.b.set_node(e, Shape::Def { def });
                        return e;
                    }
                }
                ScopeKind::Function => {
                    if s.outer_kind(name) != Some(true) {
                        s.pending.push((name, e));
                    }
                    return e;
                }
            }
        }
        e
    }

    /// Ends the innermost scope; names it does not bind wait in the function around it.
    pub(super) fn pop_scope(&mut self) -> Option<Scope<'s>> {
        let mut scope = self.scopes.pop()?;
        let rest = self.joins.settle(&mut self.b, &mut scope);
        if let Some(outer) = self.scopes.iter_mut().rev().find(|s| s.kind == ScopeKind::Function) {
            outer.pending.extend(rest);
        }
        Some(scope)
    }

    /// One shared expression for each kind of literal: they differ in nothing that is linked.
    pub(super) fn literal(&mut self, kind: LiteralKind, at: u32) -> ExprId {
        let slot = kind as usize;
        if self.literals[slot] == ExprId::NONE {
            self.literals[slot] = self.b.node(Shape::Literal { kind }, at);
        }
        self.literals[slot]
    }

    pub(super) fn opaque(&mut self, at: u32) -> ExprId {
        if self.literals[9] == ExprId::NONE {
            self.literals[9] = self.b.node(Shape::Opaque, at);
        }
        self.literals[9]
    }

    /// Runs `f` one level deeper; past the limit nothing is read and `None` comes back.
    pub(super) fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.depth >= PARSE_DEPTH_MAX {
            self.is_cut = true;
            return None;
        }
        self.depth += 1;
        let out = f(self);
        self.depth -= 1;
        Some(out)
    }

    // ---- statements; the result tells whether control comes out at the end

    pub(super) fn block(&mut self, node: Node) -> bool {
        let mut live = true;
        for c in self.kids(node) {
            live &= self.statement(c);
        }
        live
    }

    fn statement(&mut self, node: Node) -> bool {
        self.nested(|v| v.statement_here(node)).unwrap_or(true)
    }

    fn statement_here(&mut self, node: Node) -> bool {
        match kind(node) {
            Kind::ExpressionStatement => self.expression_statement(node),
            Kind::Import => self.import(node),
            Kind::ImportFrom => self.import_from(node),
            Kind::FutureImport | Kind::Pass => {}
            Kind::Function => self.function(node, &[], node),
            Kind::Class => self.class(node, &[], node),
            Kind::Decorated => self.decorated(node),
            Kind::Return => {
                let value = self.kids(node).first().map(|c| self.expr(*c, Role::Read));
                self.scope().returns.extend(value);
                return false;
            }
            Kind::Raise => {
                self.each(node);
                return false;
            }
            Kind::Break | Kind::Continue => {
                self.leave_loop();
                return false;
            }
            Kind::If => return self.if_statement(node),
            Kind::While => return self.while_statement(node),
            Kind::For => return self.for_statement(node),
            Kind::Try => return self.try_statement(node),
            Kind::With => return self.with_statement(node),
            Kind::Match => return self.match_statement(node),
            Kind::Block => return self.block(node),
            Kind::Assert => {
                for c in self.kids(node) {
                    self.expr(c, Role::Read);
                    let known = self.known(c, true);
                    self.learn(&known);
                }
            }
            Kind::Delete => {
                for c in self.kids(node) {
                    if kind(c) != Kind::Identifier || self.scope_kind() != ScopeKind::Function {
                        self.delete(c);
                    }
                }
            }
            Kind::Global | Kind::Nonlocal => self.declare_outer(node),
            Kind::TypeAlias => self.type_alias(node),
            // `print x` of Python 2, `exec`, and broken syntax: whatever is inside is still read.
            _ => {
                for c in self.kids(node) {
                    if is_statement(kind(c)) {
                        self.statement(c);
                    } else {
                        self.expr(c, Role::Read);
                    }
                }
            }
        }
        true
    }

    /// Reads every child as an expression.
    pub(super) fn each(&mut self, node: Node) {
        for c in self.kids(node) {
            self.expr(c, Role::Read);
        }
    }

    /// `global a, b` or `nonlocal a`.
    fn declare_outer(&mut self, node: Node) {
        let is_global = kind(node) == Kind::Global;
        for c in self.kids(node) {
            let name = self.slice(c);
            self.scope().outer.push((name, is_global));
        }
    }

    /// Keeps what the innermost loop has set so far for the end of it.
    fn leave_loop(&mut self) {
        let s = self.scope();
        if let Some((mark, mut left)) = s.loops.pop() {
            left.push(s.changes(mark));
            s.loops.push((mark, left));
        }
    }

    fn delete(&mut self, node: Node) {
        if matches!(kind(node), Kind::ExpressionList | Kind::Tuple) {
            for c in self.kids(node) {
                self.delete(c);
            }
        } else {
            self.expr(node, Role::Write);
        }
    }

    fn expression_statement(&mut self, node: Node) {
        for c in self.kids(node) {
            match kind(c) {
                Kind::Assignment => {
                    self.assignment(c);
                }
                Kind::AugmentedAssignment => {
                    self.augmented(c);
                }
                _ => {
                    self.expr(c, Role::Read);
                }
            }
        }
    }

    // ---- branches

    /// Applies the facts of a condition to names and paths.
    pub(super) fn learn(&mut self, known: &Known<'s>) {
        for &(path, ty, is) in known {
            let at = self.b.get(ty).map_or(0, |e| e.at);
            // "Not of this type" is written as the operator that turns a type around.
            let ty = if is { ty } else { self.b.node(Shape::Unary { value: ty }, at) };
            if path.contains('.') {
                self.scope().paths.push((path, ty));
            } else if let Some(old) = self.scopes.last().and_then(|s| s.get(path)) {
                let (name, at, scope, _) = self.b.binding_head(old);
                let new = self.b.bind(name, at, scope, BindingKind::Local);
                let value = self.b.node(Shape::Name { name, binding: old }, at);
                let narrowed = self.b.node(Shape::Assert { value, ty }, at);
                self.b.source(new, Source::Assigned(narrowed));
                self.joins.narrow(new, old);
                self.scope().set(path, new);
            }
        }
    }

    /// Leaves a branch: forgets everything learnt in it about paths, and everything known before about paths
    /// that it assigned.
    pub(super) fn leave_paths(&mut self, n_paths: usize) {
        let scope = self.scope();
        if scope.paths.len() <= n_paths {
            return;
        }
        let gone = scope.paths.split_off(n_paths);
        for (path, _) in gone.into_iter().filter(|p| p.1 == ExprId::NONE) {
            scope.forget_path(path);
        }
    }

    fn merge(&mut self, branches: &[Changes<'s>]) {
        let last = self.scopes.len() - 1;
        self.joins.merge(&mut self.b, &mut self.scopes[last], branches);
    }

    fn conditional<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        self.n_conditions += 1;
        let out = f(self);
        self.n_conditions -= 1;
        out
    }

    fn if_statement(&mut self, node: Node) -> bool {
        self.conditional(|v| {
            let start = v.scope().mark();
            let n_paths = v.scope().paths.len();
            let mut branches: SmallVec<[Changes<'s>; 4]> = SmallVec::new();
            let mut has_else = false;
            let mut first_dead: Option<Known<'s>> = None;
            let mut clauses: SmallVec<[Node; 4]> = SmallVec::new();
            clauses.push(node);
            clauses.extend(v.kids(node).into_iter().filter(|c| matches!(kind(*c), Kind::Elif | Kind::Else)));
            for clause in clauses {
                let condition = v.field(clause, F.condition);
                let body = v.field(clause, F.consequence).or_else(|| v.field(clause, F.body));
                let mut not = Known::new();
                let (mark, n_here);
                if let Some(c) = condition {
                    v.expr(c, Role::Read);
                    not = v.known(c, false);
                    (mark, n_here) = (v.scope().mark(), v.scope().paths.len());
                    let known = v.known(c, true);
                    v.learn(&known);
                } else {
                    has_else = true;
                    (mark, n_here) = (v.scope().mark(), v.scope().paths.len());
                }
                let live = body.is_none_or(|b| v.block(b));
                if live {
                    branches.push(v.scope().changes(start));
                } else if clause == node {
                    first_dead = Some(not.clone());
                }
                v.scope().rewind(mark);
                v.leave_paths(n_here);
                v.learn(&not);
            }
            if !has_else {
                branches.push(v.scope().changes(start));
            }
            v.scope().rewind(start);
            v.leave_paths(n_paths);
            v.merge(&branches);
            // `if not isinstance(self.x, T): return` determines the type of `self.x` from here on.
            let known: Known<'s> = first_dead.into_iter().flatten().filter(|k| k.0.contains('.')).collect();
            v.learn(&known);
            !branches.is_empty()
        })
    }

    fn while_statement(&mut self, node: Node) -> bool {
        let condition = self.field(node, F.condition);
        let endless = condition.is_some_and(|c| self.slice(c) == "True");
        let has_break = self.looped(node, |v| {
            if let Some(c) = condition {
                v.expr(c, Role::Read);
                let known = v.known(c, true);
                v.learn(&known);
            }
        });
        !endless || has_break
    }

    fn for_statement(&mut self, node: Node) -> bool {
        let of = self.field(node, F.right).map(|r| self.expr(r, Role::Read));
        self.looped(node, |v| {
            if let (Some(left), Some(of)) = (v.field(node, F.left), of) {
                v.iterate(left, of);
            }
        });
        true
    }

    /// Reads a loop: `head` runs at the start of each round. Whatever a round leaves behind flows
    /// into the next one, so names read in the body before they are set there again get both.
    /// Returns whether a `break` or `continue` was seen.
    fn looped(&mut self, node: Node, head: impl FnOnce(&mut Self)) -> bool {
        let first = self.b.n_exprs();
        let mark = self.scope().mark();
        let n_paths = self.scope().paths.len();
        self.scope().loops.push((mark, Vec::new()));
        head(self);
        let mut branches: SmallVec<[Changes<'s>; 4]> = SmallVec::new();
        branches.push(Changes::new());
        let live = self.conditional(|v| v.field(node, F.body).is_none_or(|b| v.block(b)));
        if live {
            branches.push(self.scope().changes(mark));
        }
        let exits = self.scope().loops.pop().map_or_else(Vec::new, |l| l.1);
        let has_exit = !exits.is_empty();
        branches.extend(exits);
        self.scope().rewind(mark);
        self.leave_paths(n_paths);
        let mut before: SmallVec<[(&'s str, BindingId); 8]> = SmallVec::new();
        for (name, _) in branches.iter().flatten() {
            if let Some(old) = self.scope().get(name) {
                before.push((name, old));
            }
        }
        self.merge(&branches);
        let moved: SmallVec<[(BindingId, BindingId); 8]> = before
            .into_iter()
            .filter_map(|(name, old)| Some((old, self.scopes.last()?.get(name)?)))
            .filter(|(old, new)| old != new)
            .collect();
        if !moved.is_empty() {
            for i in first..self.b.n_exprs() {
                if let Some(Shape::Name { name, binding }) = self.b.get(ExprId(i)).map(|e| e.node)
                    && let Some((_, new)) = moved.iter().find(|m| m.0 == binding)
                {
                    self.b.set_node(ExprId(i), Shape::Name { name, binding: *new });
                }
            }
        }
        if let Some(otherwise) = self.kids(node).into_iter().find(|c| kind(*c) == Kind::Else)
            && let Some(body) = self.field(otherwise, F.body)
        {
            self.block(body);
        }
        has_exit
    }

    fn try_statement(&mut self, node: Node) -> bool {
        self.conditional(|v| {
            let mark = v.scope().mark();
            let mut branches: SmallVec<[Changes<'s>; 4]> = SmallVec::new();
            let mut live = v.field(node, F.body).is_none_or(|b| v.block(b));
            let tried = v.scope().changes(mark);
            let kids = v.kids(node);
            if let Some(body) =
                kids.iter().find(|c| kind(**c) == Kind::Else).and_then(|c| v.field(*c, F.body))
            {
                live &= v.block(body);
            }
            if live {
                branches.push(v.scope().changes(mark));
            }
            v.scope().rewind(mark);
            // The body may have stopped anywhere: a handler sees the values from before or those that it set.
            for c in kids.iter().filter(|c| kind(**c) == Kind::Except) {
                v.merge(&[Changes::new(), tried.clone()]);
                if v.except(*c) {
                    branches.push(v.scope().changes(mark));
                }
                v.scope().rewind(mark);
            }
            let live = !branches.is_empty();
            v.merge(&branches);
            let mut ends = false;
            for c in kids.iter().filter(|c| kind(**c) == Kind::Finally) {
                for body in v.kids(*c) {
                    ends |= !v.block(body);
                }
            }
            live && !ends
        })
    }

    fn except(&mut self, node: Node) -> bool {
        let mut live = true;
        for c in self.kids(node) {
            match kind(c) {
                Kind::Block => live = self.block(c),
                // `except E as x` reads as an `as` pattern.
                Kind::AsPattern => self.as_pattern(c, Source::Caught),
                Kind::Identifier if self.field(node, F.alias) == Some(c) => {
                    if let Some(value) = self.field(node, F.value) {
                        let caught = self.expr(value, Role::Read);
                        self.assign(c, Source::Caught(caught), self.span(c));
                    }
                }
                _ if self.field(node, F.alias).is_some() && self.field(node, F.value) == Some(c) => {}
                _ => {
                    self.expr(c, Role::Read);
                }
            }
        }
        live
    }

    /// Reads `e as x` of `except` and `with`.
    fn as_pattern(&mut self, node: Node, source: impl Fn(ExprId) -> Source) {
        let kids = self.kids(node);
        let Some(value) = kids.first() else { return };
        let value = self.expr(*value, Role::Read);
        let alias = self.field(node, F.alias).or_else(|| kids.get(1).copied());
        let Some(alias) = alias else { return };
        let target = if kind(alias) == Kind::AsPatternTarget {
            self.kids(alias).first().copied()
        } else {
            Some(alias)
        };
        let Some(target) = target else { return };
        self.assign(target, source(value), self.span(target));
    }

    fn with_statement(&mut self, node: Node) -> bool {
        for clause in self.kids(node) {
            if kind(clause) != Kind::WithClause {
                continue;
            }
            for item in self.kids(clause) {
                let Some(value) = self.field(item, F.value) else { continue };
                match kind(value) {
                    Kind::AsPattern => self.as_pattern(value, Source::Entered),
                    // `with (a as x, b as y):` reads as a tuple of patterns.
                    Kind::Tuple | Kind::Parenthesized => {
                        for c in self.kids(value) {
                            if kind(c) == Kind::AsPattern {
                                self.as_pattern(c, Source::Entered);
                            } else {
                                self.expr(c, Role::Read);
                            }
                        }
                    }
                    _ => {
                        self.expr(value, Role::Read);
                    }
                }
            }
        }
        let body = self.field(node, F.body);
        let live = body.is_none_or(|b| self.block(b));
        // A context manager may swallow the exception that ends the body.
        live || body.is_some_and(|b| self.kids(b).last().is_some_and(|s| kind(*s) == Kind::Raise))
    }

    fn match_statement(&mut self, node: Node) -> bool {
        self.conditional(|v| {
            let subject = v.field(node, F.subject);
            let value = subject.map(|s| v.expr(s, Role::Read));
            let path = subject.map_or("", |s| v.slice(s));
            let mark = v.scope().mark();
            let n_paths = v.scope().paths.len();
            let mut branches: SmallVec<[Changes<'s>; 4]> = SmallVec::new();
            branches.push(Changes::new());
            let cases = v.field(node, F.body).map_or_else(Kids::new, |b| v.kids(b));
            for case in cases.into_iter().filter(|c| kind(*c) == Kind::Case) {
                for c in v.kids(case) {
                    if kind(c) == Kind::CasePattern
                        && let Some(value) = value
                        && let Some(ty) = v.pattern(c, value)
                    {
                        v.learn(&SmallVec::from_slice(&[(path, ty, true)]));
                    }
                }
                if let Some(guard) = v.field(case, F.guard) {
                    v.each(guard);
                }
                if v.field(case, F.consequence).is_none_or(|b| v.block(b)) {
                    branches.push(v.scope().changes(mark));
                }
                v.scope().rewind(mark);
                v.leave_paths(n_paths);
            }
            v.merge(&branches);
            true
        })
    }
}

/// Returns true if a kind is a statement; used for nodes inside broken syntax.
fn is_statement(k: Kind) -> bool {
    (Kind::ExpressionStatement..=Kind::Exec).contains(&k)
}
