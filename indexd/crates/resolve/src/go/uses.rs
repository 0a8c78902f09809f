//! Walks the expressions of the file being linked and writes down what each identifier names.

use super::Linker;
use super::names::Entity;
use super::types::{DefAt, Ty, TyId, Types};
use super::universe::Predeclared;
use indexd_model::{
    BindingId, Def, DefFlags, DefIdx, DefKind, DefRef, EdgeKind, Expr, ExprId, Link, Links, Node, Role, Rule,
    StrId, Unresolved, UnresolvedReason,
};
use rustc_hash::{FxHashMap, FxHashSet};

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
    crate::assign_sources(linker.facts(0), &mut out, is_source);
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
    implementations: FxHashMap<DefAt, Vec<DefAt>>,
}

/// The meaning of a key in a composite literal.
#[derive(Clone, Copy)]
enum Key {
    Field(DefAt),
    /// An ordinary expression: the key of a map, the index of an array.
    Value,
    /// A field of a type outside the tree.
    External,
    /// A field of a type that is not known.
    Unknown,
    NoField,
}

impl<'a> Walk<'_, 'a> {
    /// Sets the types of elided composite literals and finds the meaning of their keys.
    fn composites(&mut self) {
        let facts = self.l.facts(0);
        let mut todo: Vec<(ExprId, TyId)> = Vec::new();
        for i in 0..facts.n_exprs() as u32 {
            let e = ExprId(i);
            match facts.expr(e).node {
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

    fn composite(&mut self, e: ExprId, ty: TyId, todo: &mut Vec<(ExprId, TyId)>) {
        let facts = self.l.facts(0);
        let Node::Composite { elems, .. } = facts.expr(e).node else { return };
        // An elided `&T{}` in `[]*T` has the pointer type.
        let under = self.l.underlying_through_pointer(ty);
        let under = self.l.types.get(under);
        let (key_ty, value_ty) = match under {
            Ty::Slice(elem) | Ty::Array(elem) => (None, Some(elem)),
            Ty::Map(key, value) => (Some(key), Some(value)),
            Ty::External(_) => (Some(Types::EXTERNAL), Some(Types::EXTERNAL)),
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
                        Ty::Struct(_) => match self.l.member(ty, facts.str(name)) {
                            Entity::Member(m) if !m.is_promoted => Key::Field(m.def),
                            _ => Key::NoField,
                        },
                        Ty::External(_) => Key::External,
                        Ty::Unknown => Key::Unknown,
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
    fn elided(&mut self, e: ExprId, ty: Option<TyId>, todo: &mut Vec<(ExprId, TyId)>) {
        if let Node::Composite { ty: ExprId::NONE, .. } = self.l.facts(0).expr(e).node {
            todo.push((e, ty.unwrap_or(Types::UNKNOWN)));
        }
    }

    fn imports(&mut self) {
        let facts = self.l.facts(0);
        for import in &facts.interface.imports {
            let path = facts.str(import.module);
            let len = path.len() as u16 + 2;
            match self.l.imported(0, path) {
                Entity::Package { package, is_certain } => {
                    if let Some(file) = self.l.package_file(package) {
                        let target = DefAt { file, def: DefIdx::NONE };
                        self.link(
                            EdgeKind::Import,
                            target,
                            import.at,
                            len,
                            Role::Import,
                            import_rule(is_certain),
                        );
                    }
                }
                _ => self.unresolved(import.module, import.at, Role::Import, UnresolvedReason::External),
            }
        }
    }

    fn expressions(&mut self) {
        let facts = self.l.facts(0);
        for i in 0..facts.n_exprs() as u32 {
            let e = ExprId(i);
            let expr = facts.expr(e);
            if expr.role == Role::None {
                continue;
            }
            match expr.node {
                Node::Name { name, binding } => self.identifier(e, expr, name, binding),
                Node::Attr { name, .. } => {
                    let entity = self.l.entity(0, e);
                    self.entity(e, expr, name, entity);
                }
                _ => {}
            }
        }
    }

    fn identifier(&mut self, e: ExprId, expr: Expr, name: StrId, binding: BindingId) {
        if expr.role == Role::Key {
            match self.keys.get(&e).copied().unwrap_or(Key::Value) {
                Key::Field(def) => self.link_use(def, expr, name, Rule::Receiver),
                Key::External => self.unresolved(name, expr.at, Role::Key, UnresolvedReason::External),
                Key::Unknown => self.unresolved(name, expr.at, Role::Key, UnresolvedReason::UnknownReceiver),
                Key::NoField => self.unresolved(name, expr.at, Role::Key, UnresolvedReason::NotFound),
                Key::Value if binding == BindingId::NONE => {
                    let expr = Expr { role: Role::Read, ..expr };
                    let entity = self.l.entity(0, e);
                    self.entity(e, expr, name, entity);
                }
                Key::Value => {}
            }
            return;
        }
        let entity = self.l.entity(0, e);
        self.entity(e, expr, name, entity);
    }

    /// Records one use.
    fn entity(&mut self, e: ExprId, mut expr: Expr, name: StrId, entity: Entity) {
        if expr.role == Role::Read && self.called.contains(&e) {
            expr.role = Role::Call;
        }
        match entity {
            Entity::Scope(def) => self.link_use_of(e, def, expr, name, Rule::Scope),
            Entity::Imported { def, is_certain } => {
                self.link_use_of(e, def, expr, name, import_rule(is_certain))
            }
            Entity::Member(member) => {
                let rule = match (member.is_certain, member.is_promoted) {
                    (false, _) => Rule::Inferred,
                    (true, true) => Rule::Inherited,
                    (true, false) => Rule::Receiver,
                };
                self.link_use_of(e, member.def, expr, name, rule);
                if expr.role == Role::Call {
                    self.dispatch(member.def, expr, name);
                }
            }
            // Local names, qualifiers and predeclared names are not recorded as uses.
            Entity::Local(_) | Entity::Package { .. } | Entity::ExternalPackage(_) => {}
            Entity::Builtin(Predeclared::Value(_)) if matches!(expr.node, Node::Attr { .. }) => {
                self.unresolved(name, expr.at, expr.role, UnresolvedReason::Builtin);
            }
            Entity::Builtin(_) => {}
            Entity::External(_) => self.unresolved(name, expr.at, expr.role, UnresolvedReason::External),
            Entity::NotFound => self.unresolved(name, expr.at, expr.role, UnresolvedReason::NotFound),
            Entity::UnknownReceiver => {
                self.unresolved(name, expr.at, expr.role, UnresolvedReason::UnknownReceiver)
            }
        }
    }

    /// Links a use. An apparent instantiation may be an index: `m[k](x)` calls an element of `m`.
    fn link_use_of(&mut self, e: ExprId, def: DefAt, mut expr: Expr, name: StrId, rule: Rule) {
        let kind = self.l.def(def).kind;
        if expr.role == Role::Call && self.called.contains(&e) && !kind.is_callable() && !kind.is_type() {
            expr.role = Role::Read;
        }
        self.link_use(def, expr, name, rule);
    }

    fn link_use(&mut self, def: DefAt, expr: Expr, name: StrId, rule: Rule) {
        let kind = self.l.def(def).kind;
        let len = self.l.facts(0).str(name).len().min(usize::from(u16::MAX)) as u16;
        // The role of a place depends on the kind of the definition that the name refers to.
        let role = match expr.role {
            Role::Call | Role::Read | Role::Write if kind.is_type() => Role::Type,
            Role::Type if !kind.is_type() => Role::Read,
            Role::Read if kind == DefKind::Field => Role::Field,
            role => role,
        };
        let edge = crate::edge_of(role);
        // Another build calls the definition that it has.
        if kind != DefKind::Field {
            let variants = self.l.variants.get(&def).cloned().unwrap_or_default();
            for variant in variants.into_iter().take(VARIANTS_MAX) {
                self.link(edge, variant, expr.at, len, role, Rule::Dispatch);
            }
        }
        match self.l.others.get(&def).cloned() {
            None => self.link(edge, def, expr.at, len, role, rule),
            Some(others) => {
                // The build has none or several of the build variants: each is equally likely.
                let n = others.len().min(20) as u8 + 1;
                for def in std::iter::once(def).chain(others) {
                    let at = self.out.links.len();
                    self.link(edge, def, expr.at, len, role, Rule::Ambiguous);
                    self.out.links[at].confidence =
                        (Rule::Ambiguous.confidence() * 2 / n).min(Rule::Ambiguous.confidence());
                }
            }
        }
    }

    /// Implementations that a call of an interface's method may reach.
    fn dispatch(&mut self, method: DefAt, expr: Expr, name: StrId) {
        let it = self.l.def(method);
        if it.kind != DefKind::Method || it.receiver.is_some() {
            return;
        }
        if !self.implementations.contains_key(&method) {
            let found = self.l.implementations(method);
            self.implementations.insert(method, found);
        }
        let found = self.implementations[&method].clone();
        let len = self.l.facts(0).str(name).len().min(usize::from(u16::MAX)) as u16;
        for def in found {
            self.link(EdgeKind::Call, def, expr.at, len, Role::Call, Rule::Dispatch);
        }
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
            let (start, len) = (it.name_span.start, it.name_span.len() as u16);
            for target in targets {
                self.link(EdgeKind::Implement, target, start, len, Role::None, Rule::Implements);
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
                let (at, len) = (def.name_span.start, def.name_span.len() as u16);
                let rule = if is_certain { Rule::Reexport } else { Rule::Inferred };
                self.link(EdgeKind::Export, target, at, len, Role::None, rule);
            }
        }
    }

    fn link(&mut self, kind: EdgeKind, target: DefAt, at: u32, len: u16, role: Role, rule: Rule) {
        let target = DefRef { file: self.l.file(target.file).doc, def: target.def };
        let confidence = rule.confidence();
        self.out.links.push(Link { kind, source: DefIdx::NONE, target, at, len, role, rule, confidence });
    }

    fn unresolved(&mut self, name: StrId, at: u32, role: Role, reason: UnresolvedReason) {
        self.out.unresolved.push(Unresolved { source: DefIdx::NONE, name, at, role, reason });
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
/// variables written and read. One link for each pair of definitions and direction.
fn dataflow(linker: &mut Linker, out: &mut Links) {
    let mut seen: FxHashSet<(DefIdx, DefRef, EdgeKind)> = FxHashSet::default();
    let mut flows = Vec::new();
    for l in &out.links {
        let is_itself = l.target.def == l.source && l.target.file == linker.file(0).doc;
        if l.source == DefIdx::NONE || l.rule == Rule::Dispatch || l.target.def == DefIdx::NONE || is_itself {
            continue;
        }
        let file = linker.open(l.target.file);
        let target = linker.def(DefAt { file, def: l.target.def });
        let n_receivers = usize::from(target.receiver.is_some());
        let (gives, takes) = match (l.kind, target.kind, l.role) {
            (EdgeKind::Call, DefKind::Function | DefKind::Method, _) => {
                (target.params.len() > n_receivers, !target.results.is_empty())
            }
            (EdgeKind::Usage, DefKind::Field | DefKind::Variable, Role::Write | Role::Key) => (true, false),
            (EdgeKind::Usage | EdgeKind::Call, DefKind::Field | DefKind::Variable, _) => (false, true),
            _ => continue,
        };
        for (is_there, kind, role) in
            [(gives, EdgeKind::Dataflow, Role::Write), (takes, EdgeKind::DataflowIn, Role::Read)]
        {
            if is_there && seen.insert((l.source, l.target, kind)) {
                flows.push(Link { kind, role, ..*l });
            }
        }
    }
    out.links.extend(flows);
}
