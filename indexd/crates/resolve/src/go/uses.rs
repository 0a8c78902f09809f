//! Walks the expressions of the file being linked and writes down what each identifier names.

use super::Linker;
use super::names::Entity;
use super::types::{DefAt, Ty, Type};
use super::universe::Predeclared;
use crate::Use;
use crate::around::Around;
use crate::remembered::remembered;
use indexd_model::{
    BindingId, Def, DefFlags, DefIdx, DefKind, DefRef, EdgeKind, ExprId, Link, Links, Node, Role, Rule,
    UnresolvedReason,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Definitions of other builds that one use is linked to.
const VARIANTS_MAX: usize = 16;

/// Links the file that the linker was made for.
pub(super) fn run(linker: &mut Linker) -> Links {
    let mut walk = Walk {
        l: linker,
        out: Links::default(),
        keys: FxHashMap::default(),
        called: FxHashSet::default(),
        implementations: FxHashMap::default(),
    };
    walk.composites();
    walk.imports();
    walk.expressions();
    walk.implements();
    walk.reexports();
    let mut out = walk.out;
    out.links.sort_by_key(|l| (l.at, l.kind));
    out.unresolved.sort_by_key(|u| u.at);
    crate::assign_sources(&Around::last_of_equals(linker.facts(0), is_source), &mut out);
    dataflow(linker, &mut out);
    out
}

struct Walk<'l, 'a> {
    l: &'l mut Linker<'a>,
    out: Links,
    /// Keys of composite literals that may be fields, decided by the literal's type.
    keys: FxHashMap<ExprId, Key>,
    /// Bases of instantiations that are called.
    called: FxHashSet<ExprId>,
    implementations: FxHashMap<DefAt, Rc<[DefAt]>>,
}

/// The meaning of a key in a composite literal.
#[derive(Clone, Copy)]
enum Key {
    Field(DefAt),
    /// An ordinary expression: the key of a map, the index of an array.
    Value,
    /// A field that is not known.
    Missing(UnresolvedReason),
}

impl<'a> Walk<'_, 'a> {
    /// Sets the types of elided composite literals and finds the meaning of their keys.
    fn composites(&mut self) {
        let facts = self.l.facts(0);
        let mut todo: Vec<(ExprId, Ty)> = Vec::new();
        for (e, expr) in crate::exprs(facts) {
            match expr.node {
                Node::Composite { ty, .. } if ty != ExprId::NONE => {
                    let ty = self.l.type_expr(0, ty);
                    todo.push((e, ty));
                }
                Node::Call { callee, .. } => {
                    if let Node::Index { base, .. } = facts.expr(callee).node {
                        self.called.insert(base);
                    }
                }
                _ => {}
            }
            while let Some((e, ty)) = todo.pop() {
                self.l.set_ty(e, ty);
                self.composite(e, ty, &mut todo);
            }
        }
    }

    fn composite(&mut self, e: ExprId, ty: Ty, todo: &mut Vec<(ExprId, Ty)>) {
        let facts = self.l.facts(0);
        let Node::Composite { elems, .. } = facts.expr(e).node else { return };
        // An elided `&T{}` in `[]*T` has the pointer type.
        let under = self.l.underlying_through_pointer(ty);
        let under = self.l.types.get(under).clone();
        let (key_ty, value_ty) = match under {
            Type::Slice(elem) | Type::Array(elem) => (None, Some(elem)),
            Type::Map(key, value) => (Some(key), Some(value)),
            Type::External(_) => (Some(Ty::EXTERNAL), Some(Ty::EXTERNAL)),
            _ => (None, None),
        };
        for &elem in facts.list(elems) {
            let (key, value) = match facts.expr(elem).node {
                Node::KeyValue { key, value } => (Some(key), value),
                _ => (None, elem),
            };
            if let Some(key) = key {
                let expr = facts.expr(key);
                if let Node::Name { name, .. } = expr.node
                    && expr.role == Role::Key
                {
                    let key_is = match under {
                        Type::Struct(_) => match self.l.member(ty, facts.str(name)) {
                            Entity::Member(m) if !m.is_promoted => Key::Field(m.def),
                            _ => Key::Missing(UnresolvedReason::NotFound),
                        },
                        Type::External(_) => Key::Missing(UnresolvedReason::External),
                        Type::Unknown => Key::Missing(UnresolvedReason::UnknownReceiver),
                        _ => Key::Value,
                    };
                    self.keys.insert(key, key_is);
                }
                self.elided(key, key_ty, todo);
            }
            self.elided(value, value_ty, todo);
        }
    }

    /// An element that is a literal without a type has the element type of the literal around it.
    fn elided(&mut self, e: ExprId, ty: Option<Ty>, todo: &mut Vec<(ExprId, Ty)>) {
        if let Node::Composite { ty: ExprId::NONE, .. } = self.l.facts(0).expr(e).node {
            todo.push((e, ty.unwrap_or(Ty::UNKNOWN)));
        }
    }

    fn imports(&mut self) {
        let facts = self.l.facts(0);
        for import in &facts.interface.imports {
            let it = Use { name: import.module, at: import.at, role: Role::Import };
            match self.l.imported(0, facts.str(import.module)) {
                Entity::Package { package, is_certain } => {
                    let file = self.l.package_file(package);
                    let target = file.map(|file| DefAt { file, def: DefIdx::NONE });
                    let link = target.map(|target| self.link_of(it, target, import_rule(is_certain)));
                    // With the quotes around the path.
                    self.out.links.extend(link.map(|l| Link { len: l.len.saturating_add(2), ..l }));
                }
                _ => self.out.unresolved.push(it.unresolved(UnresolvedReason::External)),
            }
        }
    }

    fn expressions(&mut self) {
        for (e, expr) in crate::exprs(self.l.facts(0)).filter(|(_, e)| e.role != Role::None) {
            let (Node::Name { name, .. } | Node::Attr { name, .. }) = expr.node else { continue };
            let it = Use { name, at: expr.at, role: expr.role };
            match expr.node {
                Node::Name { binding, .. } if it.role == Role::Key => self.key(e, it, binding),
                _ => self.entity(e, it),
            }
        }
    }

    fn key(&mut self, e: ExprId, it: Use, binding: BindingId) {
        match self.keys.get(&e).copied().unwrap_or(Key::Value) {
            Key::Field(def) => self.link_use(it, def, Rule::Receiver),
            Key::Missing(reason) => self.out.unresolved.push(it.unresolved(reason)),
            Key::Value if binding == BindingId::NONE => self.entity(e, Use { role: Role::Read, ..it }),
            Key::Value => {}
        }
    }

    /// Records one use.
    fn entity(&mut self, e: ExprId, mut it: Use) {
        if it.role == Role::Read && self.called.contains(&e) {
            it.role = Role::Call;
        }
        let reason = match self.l.entity(0, e) {
            Entity::Scope(def) => return self.link_use_of(e, it, def, Rule::Scope),
            Entity::Imported { def, is_certain } => {
                return self.link_use_of(e, it, def, import_rule(is_certain));
            }
            Entity::Member(member) => {
                let rule = match (member.is_certain, member.is_promoted) {
                    (false, _) => Rule::Inferred,
                    (true, true) => Rule::Inherited,
                    (true, false) => Rule::Receiver,
                };
                self.link_use_of(e, it, member.def, rule);
                if it.role == Role::Call {
                    self.dispatch(it, member.def);
                }
                return;
            }
            // Local names, qualifiers and predeclared names are not recorded as uses.
            Entity::Local(_) | Entity::Package { .. } | Entity::ExternalPackage(_) => return,
            Entity::Builtin(Predeclared::Value(_))
                if matches!(self.l.facts(0).expr(e).node, Node::Attr { .. }) =>
            {
                UnresolvedReason::Builtin
            }
            Entity::Builtin(_) => return,
            Entity::External(_) => UnresolvedReason::External,
            Entity::NotFound => UnresolvedReason::NotFound,
            Entity::UnknownReceiver => UnresolvedReason::UnknownReceiver,
        };
        self.out.unresolved.push(it.unresolved(reason));
    }

    /// Links a use. An apparent instantiation may be an index: `m[k](x)` calls an element of `m`.
    fn link_use_of(&mut self, e: ExprId, mut it: Use, def: DefAt, rule: Rule) {
        let kind = self.l.def(def).kind;
        if it.role == Role::Call && self.called.contains(&e) && !kind.is_callable() && !kind.is_type() {
            it.role = Role::Read;
        }
        self.link_use(it, def, rule);
    }

    fn link_use(&mut self, it: Use, def: DefAt, rule: Rule) {
        let kind = self.l.def(def).kind;
        // The role of a place depends on the kind of the definition that the name refers to.
        let role = match it.role {
            Role::Call | Role::Read | Role::Write if kind.is_type() => Role::Type,
            Role::Type if !kind.is_type() => Role::Read,
            Role::Read if kind == DefKind::Field => Role::Field,
            role => role,
        };
        let it = Use { role, ..it };
        // Another build calls the definition that it has.
        if kind != DefKind::Field {
            let variants = self.l.variants.get(&def).cloned().unwrap_or_default();
            for variant in variants.into_iter().take(VARIANTS_MAX) {
                self.link(it, variant, Rule::Dispatch);
            }
        }
        match self.l.others.get(&def).cloned() {
            None => self.link(it, def, rule),
            Some(others) => {
                // The build has none or several of the build variants: each is equally likely.
                let n = others.len().min(20) as u8 + 1;
                for def in std::iter::once(def).chain(others) {
                    let link = self.link_of(it, def, Rule::Ambiguous);
                    let confidence = (link.confidence * 2 / n).min(link.confidence);
                    self.out.links.push(Link { confidence, ..link });
                }
            }
        }
    }

    /// Implementations that a call of an interface's method may reach.
    fn dispatch(&mut self, it: Use, method: DefAt) {
        let def = self.l.def(method);
        if def.kind != DefKind::Method || def.receiver.is_some() {
            return;
        }
        let find = |walk: &mut Self| Rc::from(walk.l.implementations(method));
        let found = remembered(self, |walk| &mut walk.implementations, method, find);
        found.iter().for_each(|def| self.link(it, *def, Rule::Dispatch));
    }

    /// Types and methods of this file that satisfy interfaces of the tree.
    fn implements(&mut self) {
        let facts = self.l.facts(0);
        let mut known: FxHashMap<DefAt, Vec<DefAt>> = FxHashMap::default();
        for i in 0..facts.interface.defs.len() as u32 {
            let at = DefAt { file: 0, def: DefIdx(i) };
            let it = facts.def(at.def);
            let is_method = it.kind == DefKind::Method && it.receiver.is_some();
            let of = if is_method { self.l.receiver_type(at) } else { self.l.concrete_type(at) };
            let Some((ty, of)) = of else { continue };
            let interfaces = known.entry(of).or_insert_with(|| self.l.interfaces_of(ty));
            let targets =
                if is_method { self.l.specifications_met(at, interfaces) } else { interfaces.clone() };
            for target in targets {
                let target = self.reference(target);
                self.out.links.push(crate::implement(facts, at.def, target));
            }
        }
    }

    /// Links exported names that refer to definitions of other packages: `type T = pkg.T`, `var F = pkg.F`.
    fn reexports(&mut self) {
        let facts = self.l.facts(0);
        for def in &facts.interface.defs {
            if def.parent != DefIdx::NONE || !def.flags.has(DefFlags::EXPORTED) {
                continue;
            }
            let e = match def.kind {
                DefKind::Alias => def.ty,
                DefKind::Variable | DefKind::Constant => def.value,
                _ => continue,
            };
            if e != ExprId::NONE
                && let Node::Attr { .. } = facts.expr(e).node
                && let Entity::Imported { def: target, is_certain } = self.l.entity(0, e)
            {
                let it = Use { name: def.name, at: def.name_span.start, role: Role::None };
                let rule = if is_certain { Rule::Reexport } else { Rule::Inferred };
                let link = self.link_of(it, target, rule);
                self.out.links.push(Link { kind: EdgeKind::Export, ..link });
            }
        }
    }

    fn link(&mut self, it: Use, target: DefAt, rule: Rule) {
        let link = self.link_of(it, target, rule);
        self.out.links.push(link);
    }

    fn link_of(&self, it: Use, target: DefAt, rule: Rule) -> Link {
        it.link(self.l.facts(0), self.reference(target), rule, rule.confidence())
    }

    fn reference(&self, at: DefAt) -> DefRef {
        DefRef { file: self.l.loaded.doc(at.file), def: at.def }
    }
}

fn import_rule(is_certain: bool) -> Rule {
    if is_certain { Rule::Import } else { Rule::Inferred }
}

/// Returns true if uses inside a definition are recorded as in it: a definition with a name of its own.
fn is_source(def: &Def) -> bool {
    crate::is_code_or_type(def) && !def.flags.has(DefFlags::ANONYMOUS) || def.receiver.is_some()
}

/// Adds dataflow: arguments to called functions, their results back, and fields and package
/// variables written and read.
fn dataflow(linker: &Linker, out: &mut Links) {
    crate::flow::add_where(linker.loaded.doc(0), out, |l, def| {
        let target = linker.def(DefAt { file: linker.open(l.target.file), def });
        let n_receivers = usize::from(target.receiver.is_some());
        let (gives, takes) = match (l.kind, target.kind, l.role) {
            _ if l.source == DefIdx::NONE || l.rule == Rule::Dispatch => (false, false),
            (EdgeKind::Call, DefKind::Function | DefKind::Method, _) => {
                (target.params.len() > n_receivers, !target.results.is_empty())
            }
            (EdgeKind::Usage, DefKind::Field | DefKind::Variable, Role::Write | Role::Key) => (true, false),
            (EdgeKind::Usage | EdgeKind::Call, DefKind::Field | DefKind::Variable, _) => (false, true),
            _ => (false, false),
        };
        [gives.then_some(Role::Write), takes.then_some(Role::Read)]
    });
}
