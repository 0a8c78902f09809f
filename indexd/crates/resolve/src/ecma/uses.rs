//! From types to links: every identifier that is a use becomes a link or an unresolved use.

use super::Linker;
use super::attrs::{Attr, Hit};
use super::names::{DEFAULT, Found, REEXPORTS_MAX, Space, Target};
use super::std::is_global;
use crate::Use;
use crate::around::Around;
use crate::remembered::remembered;
use crate::typed::types::UNION_MAX;
use crate::typed::{DefAt, Ty, Type};
use indexd_model::facts::{Import, ImportKind};
use indexd_model::{
    BindingKind, Def, DefFlags, DefIdx, DefKind, DefRef, EdgeKind, ExprId, Link, Links, Node, Role, Rule,
    StrId, UnresolvedReason,
};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::rc::Rc;

/// Maximum of members of a union that a read names; in wide unions the code around the read rules out most.
const READ_MAX: usize = 4;
/// Files that may hold classes of one base.
const DERIVED_FILES_MAX: usize = 24;
/// Implementations named for one method.
const IMPLEMENTATIONS_MAX: usize = 16;

impl<'a> Linker<'a> {
    /// Links everything in the file.
    pub(super) fn run(mut self) -> Links {
        let mut out = Links::default();
        let facts = self.facts(0);
        self.imports(&mut out);
        for (e, expr) in crate::exprs(facts).filter(|(_, e)| e.role != Role::None) {
            self.link_expr(e, expr.role, expr.at, &mut out);
        }
        let is_source = |d: &Def| crate::is_code_or_type(d) && !d.flags.has(DefFlags::ANONYMOUS);
        crate::assign_sources(&Around::last_of_equals(facts, is_source), &mut out);
        self.overrides(&mut out);
        let loaded = self.files.loaded;
        crate::flow::add(facts, loaded.doc(0), |doc| loaded.facts(loaded.open(doc)), &mut out);
        out
    }

    fn link_expr(&mut self, e: ExprId, role: Role, at: u32, out: &mut Links) {
        let facts = self.facts(0);
        match facts.expr(e).node {
            Node::Name { name, binding } => match facts.binding(binding) {
                Some(b) if b.kind == BindingKind::Receiver => self.super_call(e, name, at, out),
                Some(b) => {
                    if let Some(def) = crate::bound_def(facts, b) {
                        let found = Found { target: Target::Def(DefAt { file: 0, def }), rule: Rule::Scope };
                        self.emit(found, Use { name, at, role }, out);
                    }
                }
                None => {
                    let text = facts.str(name);
                    let found = self.at_top(0, text, Space::of(role), REEXPORTS_MAX);
                    let found = self.whole(found, role);
                    self.emit(found, Use { name, at, role }, out);
                }
            },
            Node::Attr { base, name } => self.link_attr(base, Use { name, at, role }, out),
            Node::Keyword { name, .. } => self.link_key(e, Use { name, at, role }, out),
            _ => {}
        }
    }

    /// `super(...)` calls the constructor of the base.
    fn super_call(&mut self, e: ExprId, name: StrId, at: u32, out: &mut Links) {
        let it = Use { name, at, role: Role::Call };
        let base = self.eval(0, e).ty;
        let found = match *self.types.get(base) {
            Type::Named(class, _) => {
                let target = self.constructor(class, 0).unwrap_or(class);
                Found { target: Target::Def(target), rule: Rule::Inherited }
            }
            Type::Unknown => return out.unresolved.push(it.unresolved(UnresolvedReason::UnknownReceiver)),
            _ => Found { target: Target::External, rule: Rule::Inherited },
        };
        self.emit(found, it, out);
    }

    fn link_attr(&mut self, base: ExprId, it: Use, out: &mut Links) {
        let facts = self.facts(0);
        let text = facts.str(it.name);
        if matches!(it.role, Role::Type | Role::Base)
            && let Some(found) = self.member_in_types(base, text)
        {
            return self.emit(found, it, out);
        }
        let of = self.eval(0, base);
        let attr = self.attr(of.ty, text, it.role == Role::Write);
        self.emit_hits(&attr, &attr.hits, of.is_inferred, it, out);
    }

    /// `a.B` in the place of a type.
    fn member_in_types(&mut self, base: ExprId, name: &str) -> Option<Found> {
        let of = self.eval(0, base).ty;
        match *self.types.get(of) {
            Type::Module(file) => {
                let found = self.exported(file, name, Space::Types, REEXPORTS_MAX);
                (found.target != Target::NotFound).then_some(found)
            }
            Type::Static(at) => {
                let def = self.type_in(at, name)?;
                let rule = if def.file == at.file { Rule::Scope } else { Rule::Inferred };
                Some(Found { target: Target::Def(def), rule })
            }
            _ => None,
        }
    }

    /// A key of a literal is a use of the member that is expected there.
    fn link_key(&mut self, e: ExprId, it: Use, out: &mut Links) {
        let Some(literal) = self.files.parent(0, e) else { return };
        let of = self.expected(0, literal);
        // In damaged source a key may be anything.
        let is_damaged = self.facts(0).interface.outcome != indexd_model::Outcome::Parsed;
        if of == Ty::UNKNOWN && !is_damaged {
            return;
        }
        let of = self.fitting(of, 0, literal);
        let attr = self.attr(of, self.facts(0).str(it.name), false);
        let own = self.files.at_place(0, it.at);
        let hits: SmallVec<[Hit; 2]> = attr
            .hits
            .iter()
            .copied()
            .filter(|h| own.is_none_or(|own| h.target != Target::Def(own)))
            .collect();
        if let Some(own) = own {
            self.fulfils(own, &hits, out);
        }
        if !hits.is_empty() || is_damaged {
            self.emit_hits(&attr, &hits, true, it, out);
        }
    }

    /// A function of an object literal implements the method that is expected under its name.
    fn fulfils(&mut self, own: DefAt, hits: &[Hit], out: &mut Links) {
        let is_method = |l: &Self, at| l.files.def(at).kind == DefKind::Method;
        for hit in hits {
            let Target::Def(at) = hit.target else { continue };
            if (is_method(self, own) || is_method(self, at))
                && let Some(target) = self.reference(hit.target)
            {
                out.links.push(crate::implement(self.facts(0), own.def, target));
            }
        }
    }

    // ---- links

    fn emit_hits(&mut self, attr: &Attr, hits: &[Hit], is_inferred: bool, it: Use, out: &mut Links) {
        let facts = self.facts(0);
        if hits.is_empty() {
            return out.unresolved.push(it.unresolved(attr.reason));
        }
        let n_max = if it.role == Role::Call { UNION_MAX } else { READ_MAX };
        if hits.len() > n_max || attr.is_cut {
            // It may be one of the others.
            out.unresolved.push(it.unresolved(UnresolvedReason::UnknownReceiver));
        }
        for hit in hits.iter().take(n_max) {
            let Some(target) = self.reference(hit.target) else { continue };
            let rule = if is_inferred { Rule::Inferred } else { hit.rule };
            let confidence = shared(rule.confidence(), hits.len(), attr.is_partial);
            let link = it.link(facts, target, rule, confidence);
            out.links.push(link);
            if let (Role::Call, Target::Def(def)) = (it.role, hit.target) {
                self.dispatch(def, link, out);
            }
        }
    }

    fn reference(&mut self, target: Target) -> Option<DefRef> {
        match target {
            Target::Def(at) => {
                let at = self.with_body(at);
                Some(DefRef { file: self.doc(at.file), def: at.def })
            }
            Target::Module(file) => Some(DefRef { file: self.doc(file), def: DefIdx::NONE }),
            Target::External | Target::NotFound => None,
        }
    }

    fn emit(&mut self, found: Found, it: Use, out: &mut Links) {
        let facts = self.facts(0);
        let target = match found.target {
            // A module by its name is a qualifier.
            Target::Module(_) if it.role != Role::Import => return,
            Target::Def(_) | Target::Module(_) => Ok(self.reference(found.target).into_iter().collect()),
            Target::External => Err(UnresolvedReason::External),
            Target::NotFound if is_of_node(facts.str(it.name)) => Err(UnresolvedReason::Builtin),
            Target::NotFound if is_global(facts.str(it.name)) => Err(UnresolvedReason::External),
            Target::NotFound => Err(UnresolvedReason::NotFound),
        };
        crate::emit(facts, it, target, found.rule, out);
    }

    // ---- imports

    /// Links import statements, and exports of imported names.
    fn imports(&mut self, out: &mut Links) {
        let facts = self.facts(0);
        let mut seen: FxHashSet<(u32, StrId)> = FxHashSet::default();
        let uses = crate::exprs(facts).filter(|(_, e)| e.role != Role::None);
        let used: FxHashSet<u32> = uses.map(|(_, e)| e.at).collect();
        for import in &facts.interface.imports {
            if facts.str(import.module).is_empty() {
                self.own_export(import, &used, out);
                continue;
            }
            let shown = match (import.kind, import.name, import.alias) {
                (ImportKind::Name, Some(name), Some(alias)) if facts.str(name) == DEFAULT => alias,
                (ImportKind::Name, Some(name), _) => name,
                _ => import.module,
            };
            if !seen.insert((import.at, shown)) {
                continue;
            }
            let found = self.follow(0, import, Space::Values, REEXPORTS_MAX);
            let found = self.whole_import(import, found);
            let first = out.links.len();
            self.emit(found, Use { name: shown, at: import.at, role: Role::Import }, out);
            if import.level == 1 {
                for i in first..out.links.len() {
                    let link = out.links[i];
                    out.links.push(Link { kind: EdgeKind::Export, ..link });
                }
            }
        }
    }

    /// `const x = require('y')` names what the module exports as a whole, where that is a definition.
    fn whole_import(&mut self, import: &Import, found: Found) -> Found {
        let is_required = import.kind != ImportKind::All && import.kind != ImportKind::Blank;
        match found.target {
            Target::Module(file) if is_required => {
                let of = self.exported(file, DEFAULT, Space::Values, REEXPORTS_MAX);
                if self.is_common(file) && matches!(of.target, Target::Def(..)) { of } else { found }
            }
            _ => found,
        }
    }

    /// Links a name in an export list as a use of the definition in its own file, unless it is the name of
    /// the definition itself.
    fn own_export(&mut self, import: &'a Import, used: &FxHashSet<u32>, out: &mut Links) {
        let facts = self.facts(0);
        let Some(name) = import.name else { return };
        let text = facts.str(name);
        let itself = self.given_to_exports(0, text);
        let stands_at = |d: DefAt| facts.def(d.def).name_span.start == import.at;
        if used.contains(&import.at) || itself.is_some_and(stands_at) {
            return;
        }
        let found = self.at_top(0, text, Space::Values, REEXPORTS_MAX);
        let is_itself = matches!(found.target, Target::Def(at) if at.file == 0 && stands_at(at));
        if !is_itself {
            self.emit(found, Use { name, at: import.at, role: Role::Read }, out);
        }
    }

    // ---- classes and their bases

    /// Methods that override or implement one of a base.
    fn overrides(&mut self, out: &mut Links) {
        let facts = self.facts(0);
        for (i, d) in facts.interface.defs.iter().enumerate() {
            let is_member = matches!(d.kind, DefKind::Method | DefKind::Property | DefKind::Field);
            let Some(class) = d.parent.some().filter(|c| is_member && facts.def(*c).kind == DefKind::Class)
            else {
                continue;
            };
            let name = facts.str(d.name);
            if d.flags.has(DefFlags::STATIC) || name == "constructor" {
                continue;
            }
            let class = DefAt { file: 0, def: class };
            let mut seen: SmallVec<[DefRef; 2]> = SmallVec::new();
            for base in self.all_bases(class) {
                let attr = self.attr(base, name, false);
                let Some(target) = attr.hits.first().and_then(|h| self.reference(h.target)) else { continue };
                if seen.contains(&target) {
                    continue;
                }
                seen.push(target);
                out.links.push(crate::implement(facts, DefIdx(i as u32), target));
            }
        }
    }

    /// A call of a method of an interface, or of one without a body, may run those that implement it.
    fn dispatch(&mut self, method: DefAt, link: Link, out: &mut Links) {
        let def = self.files.def(method);
        let Some(owner) = def.parent.some() else { return };
        let owner = DefAt { def: owner, ..method };
        let is_abstract = def.flags.has(DefFlags::ABSTRACT);
        if self.files.def(owner).kind != DefKind::Interface && !is_abstract {
            return;
        }
        for target in self.implementations(owner, self.files.name(method)).iter() {
            let target = DefRef { file: self.doc(target.file), def: target.def };
            let rule = Rule::Dispatch;
            out.links.push(Link { target, rule, confidence: rule.confidence(), ..link });
        }
    }

    fn implementations(&mut self, owner: DefAt, name: &'a str) -> Rc<[DefAt]> {
        let find = |l: &mut Self| l.find_implementations(owner, name).into();
        remembered(self, |l| &mut l.implementations, (owner, name), find)
    }

    fn find_implementations(&mut self, owner: DefAt, name: &str) -> Vec<DefAt> {
        let key = indexd_model::Key::any("ecma-base", self.files.name(owner));
        let mut out = Vec::new();
        for class in self.files.provided_by_few(key, DERIVED_FILES_MAX) {
            self.files.record(class);
            let bases = self.all_bases(class);
            let is_it = |t: &Ty| matches!(self.types.get(*t), Type::Named(at, _) if *at == owner);
            if out.len() < IMPLEMENTATIONS_MAX && bases.iter().any(is_it) {
                out.extend(self.own_member(class, name, false, false));
            }
        }
        out
    }
}

/// Returns the confidence of one of `n` candidates. If all of several values have the member, the use refers
/// to each of them. If some have none, a condition that is not understood decides between them.
fn shared(confidence: u8, n: usize, is_partial: bool) -> u8 {
    match n {
        0 | 1 => confidence,
        _ if !is_partial => confidence.min(60),
        _ => (usize::from(confidence) / n).min(45) as u8,
    }
}

/// Names that every module of Node.js has.
fn is_of_node(name: &str) -> bool {
    matches!(name, "require" | "module" | "exports")
}
