//! From types to links: every identifier that is a use becomes a link or an unresolved use.

use super::Linker;
use super::attrs::{Hit, in_several_files};
use super::members::{Found, Target};
use super::names::is_builtin;
use super::types::{ClassId, File, Type, UNION_MAX};
use crate::Use;
use crate::around::Around;
use indexd_model::facts::ImportKind;
use indexd_model::path::file_name_of;
use indexd_model::{
    BindingId, Def, DefIdx, DefKind, DefRef, EdgeKind, ExprId, Link, Links, List, Node, Role, Rule, Source,
    UnresolvedReason,
};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// Functions that copy a value with the fields that keywords name replaced.
const COPIES: [&str; 4] = ["dataclasses.replace", "copy.replace", "attr.evolve", "attrs.evolve"];

impl<'a> Linker<'a> {
    /// Links everything in the file.
    pub(super) fn run(&mut self) -> Links {
        let mut out = Links::default();
        let facts = self.facts(0);
        let defined: FxHashSet<u32> = facts.interface.defs.iter().map(|d| d.name_span.start).collect();
        for (id, expr) in crate::exprs(facts) {
            if expr.role != Role::None {
                self.link_expr(id, &mut out);
            }
            if let Node::Call { callee, args } = expr.node {
                self.keywords(callee, args, &mut out);
            }
        }
        self.overrides(&mut out);
        crate::assign_sources(self.around(0), &mut out);
        self.imports(&mut out);
        let loaded = self.loaded;
        crate::flow::add(facts, loaded.doc(0), |doc| loaded.facts(loaded.open(doc)), &mut out);
        self.constructors(&mut out);
        // A name token that defines is not a use of its definition, though a value flows into it. If a base
        // class has a property of that name, the token sets it.
        out.links.retain(|l| {
            let is_own = l.role == Role::Write && l.kind == EdgeKind::Usage && defined.contains(&l.at);
            !is_own || self.is_property(l.target)
        });
        out
    }

    fn is_property(&self, target: DefRef) -> bool {
        let facts = self.facts(self.loaded.open(target.file));
        target.def.some().is_some_and(|d| facts.def(d).kind == DefKind::Property)
    }

    fn link_expr(&mut self, id: ExprId, out: &mut Links) {
        let facts = self.facts(0);
        let expr = facts.expr(id);
        let mut is_cut = false;
        let (name, hits, is_inferred, reason) = match expr.node {
            Node::Name { name, binding } => match binding.some() {
                Some(b) => match self.binding_hits(b) {
                    Some(hits) => (name, hits, false, UnresolvedReason::External),
                    None => return,
                },
                None => {
                    let text = facts.str(name);
                    let found = self.module_member(0, text);
                    // A folder that is a package has no definition to name, and is not unknown.
                    if matches!(found.targets.first(), Some(Target::Namespace(_))) {
                        return;
                    }
                    let reason = match found.targets.first() {
                        None if is_builtin(text) => UnresolvedReason::Builtin,
                        None => UnresolvedReason::NotFound,
                        Some(Target::Dynamic) => UnresolvedReason::Dynamic,
                        Some(_) => UnresolvedReason::External,
                    };
                    is_cut = in_several_files(&found.targets);
                    (name, self.found_hits(&found), false, reason)
                }
            },
            Node::Attr { base, name } => {
                let base = self.eval(0, base);
                let attr = self.attr(base.ty, facts.str(name));
                is_cut = attr.is_cut;
                (name, attr.hits.clone(), base.is_inferred, attr.reason)
            }
            Node::Def { def } => {
                let hit = Hit { target: Target::Def(0, def), rule: Rule::Scope };
                (facts.def(def).name, SmallVec::from_slice(&[hit]), false, UnresolvedReason::NotFound)
            }
            _ => return,
        };
        let it = Use { name, at: expr.at, role: expr.role };
        self.emit(it, &hits, is_inferred, Open { reason, is_cut }, out);
    }

    /// Calls of classes also call the constructors that these define themselves. Arguments of a constructor's
    /// parameters are recorded for the class.
    fn constructors(&mut self, out: &mut Links) {
        let mut made = Vec::new();
        for l in out.links.iter().filter(|l| l.kind == EdgeKind::Call) {
            let file = self.loaded.open(l.target.file);
            let Some(def) = l.target.def.some().filter(|d| self.facts(file).def(*d).kind == DefKind::Class)
            else {
                continue;
            };
            let class = self.class(file, def);
            let own = ["__init__", "__new__"].into_iter().find_map(|n| self.own_member(class, n));
            let file = self.classes[class].file;
            let def = own.and_then(|m| self.preferred(file, &m.defs));
            made.extend(def.map(|def| Link { target: DefRef { file: self.loaded.doc(file), def }, ..*l }));
        }
        out.links.extend(made);
    }

    /// Links keyword arguments that name fields: those of a class whose fields make its constructor, and
    /// those of a function that copies a value with changes (`dataclasses.replace`, `_replace` of a named
    /// tuple).
    fn keywords(&mut self, callee: ExprId, args: List, out: &mut Links) {
        let facts = self.facts(0);
        let is_keyword = |e: &ExprId| matches!(facts.expr(*e).node, Node::Keyword { .. });
        let all = facts.list(args);
        if !all.iter().any(is_keyword) {
            return;
        }
        let Some(class) = self.made_of_fields(callee, all) else { return };
        for &e in all.iter().filter(|e| is_keyword(e)) {
            let Node::Keyword { name, .. } = facts.expr(e).node else { continue };
            let Some(member) = self.member(class, facts.str(name)) else { continue };
            let file = self.classes[member.owner].file;
            let is_field = |d: &DefIdx| {
                self.facts(file).def(*d).kind == DefKind::Field && !self.is_instance_field(file, *d)
            };
            if !member.defs.iter().any(is_field) {
                continue;
            }
            let it = Use { name, at: facts.expr(e).at, role: Role::Key };
            let hit = self.hit_of(class, &member);
            let target = hit.and_then(|(hit, _)| Some((self.reference(hit.target)?, hit.rule)));
            out.links.extend(target.map(|(target, rule)| it.link(facts, target, rule, rule.confidence())));
        }
    }

    /// The class whose fields the keywords of a call name.
    fn made_of_fields(&mut self, callee: ExprId, args: &[ExprId]) -> Option<ClassId> {
        let called = self.eval(0, callee).ty;
        let value = match self.types.get(called).clone() {
            Type::Class(class, _) | Type::SelfClass(class) => {
                let is_written = ["__init__", "__new__"].into_iter().any(|n| self.member(class, n).is_some());
                return (!is_written).then_some(class);
            }
            Type::Named(name) => {
                let is_copy = COPIES.contains(&&*self.types.text(name));
                self.eval(0, *args.first().filter(|_| is_copy)?).ty
            }
            _ => match self.facts(0).expr(callee).node {
                Node::Attr { base, name } if self.facts(0).str(name) == "_replace" => self.eval(0, base).ty,
                _ => return None,
            },
        };
        match *self.types.get(value) {
            Type::Instance(class, _) | Type::SelfOf(class) => Some(class),
            _ => None,
        }
    }

    /// Writes down what a use leads to.
    fn emit(&self, it: Use, hits: &[Hit], is_inferred: bool, open: Open, out: &mut Links) {
        let facts = self.facts(0);
        let before = out.links.len();
        for hit in hits.iter().take(UNION_MAX) {
            let Some(target) = self.reference(hit.target) else { continue };
            let rule = if is_inferred { Rule::Inferred } else { hit.rule };
            out.links.push(it.link(facts, target, rule, shared(rule.confidence(), hits.len())));
        }
        if out.links.len() == before {
            out.unresolved.push(it.unresolved(open.reason));
        } else if open.is_cut {
            out.unresolved.push(it.unresolved(UnresolvedReason::UnknownReceiver));
        }
    }

    fn reference(&self, target: Target) -> Option<DefRef> {
        match target {
            Target::Def(file, def) => Some(DefRef { file: self.loaded.doc(file), def }),
            Target::Module(file) => Some(DefRef { file: self.loaded.doc(file), def: DefIdx::NONE }),
            Target::Namespace(_) | Target::External(_) | Target::Dynamic => None,
        }
    }

    /// Returns the targets of a local name that is a nested definition or an import of the function; `None`
    /// for a variable.
    fn binding_hits(&mut self, binding: BindingId) -> Option<SmallVec<[Hit; 2]>> {
        let facts = self.facts(0);
        let b = facts.binding(binding)?;
        let mut hits: SmallVec<[Hit; 2]> = SmallVec::new();
        let mut is_link = false;
        for s in facts.sources(b) {
            match *s {
                Source::Def(d) => {
                    is_link = true;
                    hits.push(Hit { target: Target::Def(0, d), rule: Rule::Scope });
                }
                Source::Import(i) => {
                    is_link = true;
                    let import = facts.interface.imports.get(i as usize)?;
                    let found = self.import_targets(0, import);
                    let rule = if found.n_hops == 0 { Rule::Import } else { Rule::Reexport };
                    hits.extend(found.targets.iter().map(|t| Hit { target: *t, rule }));
                }
                _ => {}
            }
        }
        if hits.len() > 1 {
            hits = self.one_of(&hits);
        }
        is_link.then_some(hits)
    }

    fn found_hits(&self, found: &Found) -> SmallVec<[Hit; 2]> {
        let rule = match found.n_hops {
            0 => Rule::Scope,
            1 => Rule::Import,
            _ => Rule::Reexport,
        };
        self.hits_of(found, rule)
    }

    fn hits_of(&self, found: &Found, rule: Rule) -> SmallVec<[Hit; 2]> {
        let hits: SmallVec<[Hit; 2]> = found
            .targets
            .iter()
            .filter(|t| matches!(t, Target::Def(..) | Target::Module(_)))
            .map(|t| Hit { target: *t, rule })
            .collect();
        if hits.len() > 1 { self.one_of(&hits) } else { hits }
    }

    /// Links import statements in the scopes that they bind names in, and the exports that re-export these names.
    fn imports(&mut self, out: &mut Links) {
        let facts = self.facts(0);
        let is_package = file_name_of(self.loaded.path(0)).starts_with("__init__.");
        for import in &facts.interface.imports {
            let (found, name) = match import.kind {
                ImportKind::Module | ImportKind::All | ImportKind::Blank => {
                    (Found::of(self.imported_module(0, import)), import.module)
                }
                ImportKind::Name => (self.import_targets(0, import), import.name.unwrap_or(import.module)),
            };
            let text = if import.kind == ImportKind::All { "*" } else { facts.str(name) };
            let rule = if found.n_hops == 0 { Rule::Import } else { Rule::Reexport };
            let hits = self.hits_of(&found, rule);
            let reason = match found.targets.first() {
                Some(Target::External(_)) => UnresolvedReason::External,
                Some(Target::Dynamic) => UnresolvedReason::Dynamic,
                _ => UnresolvedReason::NotFound,
            };
            let is_cut = in_several_files(&found.targets);
            let it = Use { name, at: import.at, role: Role::Import };
            let (first, first_open) = (out.links.len(), out.unresolved.len());
            self.emit(it, &hits, false, Open { reason, is_cut }, out);
            let len = crate::len_of(text.rsplit('.').next().unwrap_or(""));
            out.links[first..].iter_mut().for_each(|l| (l.len, l.source) = (len, import.scope));
            out.unresolved[first_open..].iter_mut().for_each(|u| u.source = import.scope);
            let alias = import.alias;
            let listed =
                alias.is_some_and(|a| facts.interface.exports.as_ref().is_some_and(|e| e.contains(&a)));
            let underscored = alias.is_some_and(|a| facts.str(a).starts_with('_'));
            let exported = match &facts.interface.exports {
                Some(_) => listed || import.kind == ImportKind::All,
                None => is_package && !underscored,
            };
            if exported && import.scope == DefIdx::NONE && import.kind != ImportKind::Module {
                for i in first..out.links.len() {
                    let link = out.links[i];
                    out.links.push(Link { kind: EdgeKind::Export, ..link });
                }
            }
        }
    }

    /// Methods that override one of a base class.
    fn overrides(&mut self, out: &mut Links) {
        let facts = self.facts(0);
        for (i, d) in facts.interface.defs.iter().enumerate() {
            if !matches!(d.kind, DefKind::Method | DefKind::Property) {
                continue;
            }
            let def = DefIdx(i as u32);
            let Some(class) = self.class_of(0, def) else { continue };
            if self.classes[class].order.len() < 2 {
                continue;
            }
            let name = facts.str(d.name);
            let Some(member) = self.member_after(class, class, name) else { continue };
            let file = self.classes[member.owner].file;
            let Some(base) = self.preferred(file, &member.defs) else { continue };
            out.links.push(crate::implement(facts, def, DefRef { file: self.loaded.doc(file), def: base }));
        }
    }

    /// The functions, methods and classes of a file by place, from their names on.
    pub(super) fn around(&mut self, file: File) -> &Around {
        let facts = self.facts(file);
        let is_asked = |d: &Def| d.kind.is_callable() || d.kind == DefKind::Class;
        self.around.entry(file).or_insert_with(|| Around::from_names(facts, is_asked))
    }
}

/// The ways in which a use may stay open.
struct Open {
    /// Why it has no link.
    reason: UnresolvedReason,
    /// True if it may have other targets than its links.
    is_cut: bool,
}

/// The confidence of one of `n` candidates: two may well both be meant (a union of types), more
/// are a list to choose from.
fn shared(confidence: u8, n: usize) -> u8 {
    match n {
        0 | 1 => confidence,
        2 => confidence.min(60),
        3 => confidence.min(50),
        _ => (u32::from(confidence) / n as u32) as u8,
    }
}
