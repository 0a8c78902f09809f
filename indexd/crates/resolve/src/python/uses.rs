//! From types to links: every identifier that is a use becomes a link or an unresolved use.

use super::Linker;
use super::attrs::Hit;
use super::members::{Found, Target};
use super::modules::Module;
use super::names::is_builtin;
use super::types::File;
use indexd_model::facts::ImportKind;
use indexd_model::path::file_name_of;
use indexd_model::{
    BindingId, DefIdx, DefKind, DefRef, EdgeKind, ExprId, FileRoles, Link, Links, Node, Role, Rule, Source,
    StrId, Unresolved, UnresolvedReason,
};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::rc::Rc;

/// Candidates beyond this are no answer.
const CANDIDATES_MAX: usize = 6;

/// Where a definition's own text stands: from its name to its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct DefSpan {
    start: u32,
    end: u32,
    def: DefIdx,
}

/// A use on its way to links.
struct Use {
    at: u32,
    len: u16,
    role: Role,
    source: DefIdx,
}

impl<'a> Linker<'a> {
    /// Links everything in the file.
    pub(super) fn run(&mut self) -> Links {
        let mut out = Links::default();
        let facts = self.facts(0);
        if facts.interface.roles.has(FileRoles::VENDORED) {
            return out;
        }
        self.imports(&mut out);
        let defined: FxHashSet<u32> = facts.interface.defs.iter().map(|d| d.name_span.start).collect();
        for i in 0..facts.n_exprs() as u32 {
            let id = ExprId(i);
            let expr = facts.expr(id);
            if expr.role != Role::None {
                self.link_expr(id, &mut out);
            }
        }
        self.overrides(&mut out);
        let loaded = self.loaded;
        crate::flow::add(facts, loaded.doc(0), |doc| loaded.facts(loaded.open(doc)), &mut out);
        // A name token that defines is no use of what it defines, though a value flows into it.
        out.links.retain(|l| l.role != Role::Write || l.kind != EdgeKind::Usage || !defined.contains(&l.at));
        out
    }

    fn link_expr(&mut self, id: ExprId, out: &mut Links) {
        let facts = self.facts(0);
        let expr = facts.expr(id);
        let (name, hits, inferred, reason) = match expr.node {
            Node::Name { name, binding } => match binding.some() {
                Some(b) => match self.binding_hits(b) {
                    Some(hits) => (name, hits, false, UnresolvedReason::External),
                    None => return,
                },
                None => {
                    let text = facts.str(name);
                    let found = self.module_member(0, text);
                    // A folder that is a package has no definition to name, and is no unknown.
                    if matches!(found.targets.first(), Some(Target::Namespace(_))) {
                        return;
                    }
                    let reason = match found.targets.first() {
                        None if is_builtin(text) => UnresolvedReason::Builtin,
                        None => UnresolvedReason::NotFound,
                        Some(Target::Dynamic) => UnresolvedReason::Dynamic,
                        Some(_) => UnresolvedReason::External,
                    };
                    (name, self.found_hits(&found), false, reason)
                }
            },
            Node::Attr { base, name } => {
                let base = self.eval(0, base);
                let attr = self.attr(base.ty, facts.str(name));
                (name, attr.hits.clone(), base.inferred, attr.reason)
            }
            Node::Def { def } => {
                let hit = Hit { target: Target::Def(0, def), rule: Rule::Scope };
                (facts.def(def).name, SmallVec::from_slice(&[hit]), false, UnresolvedReason::NotFound)
            }
            _ => return,
        };
        let len = facts.str(name).len().min(usize::from(u16::MAX)) as u16;
        let source = self.def_around(0, expr.at);
        let place = Use { at: expr.at, len, role: expr.role, source };
        self.emit(&place, name, &hits, inferred, reason, out);
    }

    fn emit(
        &self,
        place: &Use,
        name: StrId,
        hits: &[Hit],
        inferred: bool,
        reason: UnresolvedReason,
        out: &mut Links,
    ) {
        let kind = crate::edge_of(place.role);
        let mut n = 0;
        for hit in hits.iter().take(CANDIDATES_MAX) {
            let target = match hit.target {
                Target::Def(f, d) => DefRef { file: self.loaded.doc(f), def: d },
                Target::Module(f) => DefRef { file: self.loaded.doc(f), def: DefIdx::NONE },
                Target::Namespace(_) | Target::External(_) | Target::Dynamic => continue,
            };
            n += 1;
            let rule = if inferred { Rule::Inferred } else { hit.rule };
            out.links.push(Link {
                kind,
                source: place.source,
                target,
                at: place.at,
                len: place.len,
                role: place.role,
                rule,
                confidence: shared(rule.confidence(), hits.len()),
            });
        }
        if n == 0 {
            out.unresolved.push(Unresolved {
                source: place.source,
                name,
                at: place.at,
                role: place.role,
                reason,
            });
        }
    }

    /// What a local name leads to when it is a nested definition or an import of the function;
    /// nothing for a variable.
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
        let hits: SmallVec<[Hit; 2]> = found
            .targets
            .iter()
            .filter(|t| matches!(t, Target::Def(..) | Target::Module(_)))
            .map(|t| Hit { target: *t, rule })
            .collect();
        if hits.len() > 1 { self.one_of(&hits) } else { hits }
    }

    /// Import statements, and the exports that re-export what they bring.
    fn imports(&mut self, out: &mut Links) {
        let facts = self.facts(0);
        let is_package = file_name_of(self.loaded.path(0)).starts_with("__init__.");
        for import in &facts.interface.imports {
            let (found, name) = match import.kind {
                ImportKind::Module | ImportKind::All | ImportKind::Blank => {
                    let module = self.imported_module(0, import);
                    let target = match module {
                        Module::File(f) => Some(Target::Module(f)),
                        Module::External(n) => Some(Target::External(n)),
                        Module::Namespace(n) => Some(Target::Namespace(n)),
                        Module::Missing => None,
                    };
                    let found = Found { targets: target.into_iter().collect(), n_hops: 0 };
                    (found, import.module)
                }
                ImportKind::Name => (self.import_targets(0, import), import.name.unwrap_or(import.module)),
            };
            let text = if import.kind == ImportKind::All { "*" } else { facts.str(name) };
            let len = text.rsplit('.').next().unwrap_or("").len().min(usize::from(u16::MAX)) as u16;
            let rule = if found.n_hops == 0 { Rule::Import } else { Rule::Reexport };
            let mut hits: SmallVec<[Hit; 2]> = found
                .targets
                .iter()
                .filter(|t| matches!(t, Target::Def(..) | Target::Module(_)))
                .map(|t| Hit { target: *t, rule })
                .collect();
            if hits.len() > 1 {
                hits = self.one_of(&hits);
            }
            let reason = match found.targets.first() {
                Some(Target::External(_)) => UnresolvedReason::External,
                Some(Target::Dynamic) => UnresolvedReason::Dynamic,
                _ => UnresolvedReason::NotFound,
            };
            let place = Use { at: import.at, len, role: Role::Import, source: import.scope };
            let first = out.links.len();
            self.emit(&place, name, &hits, false, reason, out);
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
            if self.classes[class.0 as usize].order.len() < 2 {
                continue;
            }
            let name = facts.str(d.name);
            let Some(member) = self.member_after(class, class, name) else { continue };
            let file = self.classes[member.owner.0 as usize].file;
            let Some(base) = self.preferred(file, &member.defs) else { continue };
            out.links.push(Link {
                kind: EdgeKind::Implement,
                source: def,
                target: DefRef { file: self.loaded.doc(file), def: base },
                at: d.name_span.start,
                len: name.len().min(usize::from(u16::MAX)) as u16,
                role: Role::None,
                rule: Rule::Implements,
                confidence: Rule::Implements.confidence(),
            });
        }
    }

    /// The innermost function, method or class whose text holds `at`, from its name on.
    pub(super) fn def_around(&mut self, file: File, at: u32) -> DefIdx {
        let spans = match self.spans.get(&file) {
            Some(s) => Rc::clone(s),
            None => {
                let s = self.read_spans(file);
                self.spans.insert(file, Rc::clone(&s));
                s
            }
        };
        let facts = self.facts(file);
        let i = spans.partition_point(|s| s.start <= at);
        let Some(last) = i.checked_sub(1).map(|i| spans[i]) else { return DefIdx::NONE };
        if at < last.end {
            return last.def;
        }
        let mut def = facts.def(last.def).parent;
        while let Some(d) = def.some() {
            let it = facts.def(d);
            if at < it.span.end {
                return d;
            }
            def = it.parent;
        }
        DefIdx::NONE
    }

    fn read_spans(&self, file: File) -> Rc<[DefSpan]> {
        let facts = self.facts(file);
        let mut spans: Vec<DefSpan> = facts
            .interface
            .defs
            .iter()
            .enumerate()
            .filter(|(_, d)| d.kind.is_callable() || d.kind == DefKind::Class)
            .map(|(i, d)| DefSpan { start: d.name_span.start, end: d.span.end, def: DefIdx(i as u32) })
            .collect();
        spans.sort_by_key(|s| s.start);
        spans.into()
    }
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
