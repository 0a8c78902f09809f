//! Walks along resolved edges, and what the graph may be missing.
//!
//! "No callers" is worth nothing without knowing what was read, so every answer carries a statement
//! of coverage: the indexed text is searched for the name, and what stands there without an edge is
//! counted and named (see [`super::named`]).

use crate::server::backend::{Cancel, cancelled};
use crate::server::convert;
use crate::server::edges::column;
use crate::server::grep::line_at;
use crate::server::named::{self, Look};
use crate::server::suggest;
use indexd_model::links::evidence_kind;
use indexd_model::path::dir_of;
use indexd_model::view::{CONFIDENCE_CERTAIN, DefRecord, Edge};
use indexd_model::{
    DefDoc, DefFlags, DefIdx, DefKind, EdgeKind, Facts, FileDoc, FileRoles, IndexView, Key, Language,
    Linking, Outcome, Role, Rule,
};
use indexd_proto::error::{ErrorCode, ErrorObject};
use indexd_proto::graph::{Coverage, GraphEdge, GraphEvidence, GraphParams, Through, UnresolvedPlace};
use indexd_proto::limits::{GRAPH_DEPTH_MAX, GRAPH_EDGES_MAX};
use indexd_proto::search::Symbol;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Places shown of one edge.
const EVIDENCE_MAX: usize = 20;
/// Definitions of a name that are named in an answer.
const ROOTS_SHOWN: usize = 20;
/// Edges that are counted.
const EDGES_COUNTED_MAX: usize = 20_000;
/// A look for uses without an edge.
const LOOK: Look = Look { files_max: 300, places_max: 10 };
/// The same when everything is asked for.
const LOOK_ALL: Look = Look { files_max: usize::MAX, places_max: 2_000 };

indexd_model::words! {
    /// A question about the graph.
    pub enum Relation {
        /// Who calls it.
        Callers = "callers",
        /// What it calls.
        Callees = "callees",
        /// Where it is used in any way.
        Refs = "refs",
        /// What depends on it, step by step; for a type, on its members too.
        Impact = "impact",
        /// What implements or overrides it, and what it implements or overrides.
        Implementations = "implementations",
        /// What uses it and what it uses.
        Around = "around",
    }

    /// The name on the wire.
    pub fn name;
}

impl Relation {
    fn kinds(self) -> &'static [EdgeKind] {
        use EdgeKind::{Call, Export, Implement, Import, Inherit, Usage};
        match self {
            // A function that is passed on as a value is called by whoever gets it.
            Self::Callers => &[Call, Usage],
            Self::Callees => &[Call],
            Self::Implementations => &[Inherit, Implement],
            Self::Refs => &[Call, Usage, Import, Export, Inherit, Implement],
            Self::Impact => &[Call, Usage, Import, Export, Inherit, Implement],
            Self::Around => &[Call, Usage, Inherit, Implement],
        }
    }
}

/// What a walk found.
#[derive(Debug)]
pub struct Walk {
    /// What the name was taken for, the first of them.
    pub roots: Vec<Symbol>,
    /// How many there are.
    pub n_roots: u64,
    /// Edges that were met.
    pub n_edges: u64,
    /// Edges by depth, then by place.
    pub edges: Vec<GraphEdge>,
    /// Whether a limit stopped it.
    pub bounded: bool,
    /// Methods that are called in the place of the roots.
    pub through: Vec<Through>,
    /// What may be missing.
    pub coverage: Coverage,
}

/// Answers a question about the graph of one snapshot.
///
/// # Errors
/// `POC_E_SYMBOL_NOT_FOUND`, `POC_E_INVALID_REQUEST` or `POC_E_CANCELLED`.
pub fn walk(
    view: &dyn IndexView,
    relation: Relation,
    params: &GraphParams,
    cancel: &Cancel,
) -> Result<Walk, ErrorObject> {
    let depth = params.depth.unwrap_or(if relation == Relation::Impact { 3 } else { 1 });
    let limit = params.limit.unwrap_or(if params.all { GRAPH_EDGES_MAX } else { 200 });
    let min_confidence = params.min_confidence.unwrap_or(CONFIDENCE_CERTAIN);
    check("depth", depth, 1, GRAPH_DEPTH_MAX)?;
    check("limit", limit, 1, GRAPH_EDGES_MAX)?;
    check("minConfidence", u32::from(min_confidence), 0, 100)?;
    let roots = find(view, &params.symbol)?;
    let mut walker = Walker {
        view,
        relation,
        min_confidence,
        limit: limit as usize,
        cancel,
        seen: FxHashSet::default(),
        files: FxHashSet::default(),
        walked: FxHashSet::default(),
        symbols: FxHashMap::default(),
        roots: named::set_of(&roots, view),
        places: FxHashSet::default(),
        edges: Vec::new(),
        n_edges: 0,
        below: 0,
        bounded: false,
    };
    let mut level = roots.clone();
    for &root in &roots {
        let record = view.def(root);
        if record.idx == DefIdx::NONE {
            walker.files.insert(record.file);
            level.extend(defs_of(view, record.file));
        } else if relation == Relation::Impact {
            level.extend(members(view, root));
        }
    }
    walker.seen.extend(&level);
    for step in 1..=depth {
        level = walker.step(step, &level)?;
        if level.is_empty() || walker.bounded {
            break;
        }
    }
    if relation == Relation::Around {
        let place = |e: &GraphEdge| {
            let line = e.evidence.first().map_or(0, |o| o.line);
            (e.depth, e.source.file_rel_path.clone(), line, e.target.name.clone(), e.kind.clone())
        };
        walker.edges.sort_by_cached_key(place);
    }
    let through = match relation {
        Relation::Callers => walker.through(&roots, params.dispatch),
        // Callers of a base's method are only named: they may never run this one.
        Relation::Impact | Relation::Refs => walker.through(&roots, false),
        _ => Vec::new(),
    };
    let look = if params.all { LOOK_ALL } else { LOOK };
    let coverage = coverage(&walker, relation, &roots, look)?;
    let n_roots = roots.len() as u64;
    let shown = roots.into_iter().take(if params.all { usize::MAX } else { ROOTS_SHOWN });
    let roots = shown.map(|d| convert::symbol(view, d)).collect();
    let Walker { edges, n_edges, bounded, .. } = walker;
    Ok(Walk { roots, n_roots, edges, n_edges, bounded, through, coverage })
}

fn check(name: &str, value: u32, min: u32, max: u32) -> Result<(), ErrorObject> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    let message = format!("{name} must be {min} to {max}, not {value}");
    Err(ErrorObject::new(ErrorCode::InvalidRequest, message).with_hint(format!("give a {name} between them")))
}

/// What may be missing.
fn coverage(
    walker: &Walker,
    relation: Relation,
    roots: &[DefDoc],
    look: Look,
) -> Result<Coverage, ErrorObject> {
    let view = walker.view;
    let mut coverage = files_covered(view);
    coverage.below_confidence = walker.below;
    let names = names_of(view, roots);
    let calls = relation == Relation::Callers;
    if relation == Relation::Callees {
        calls_without_edge(view, roots, look, &mut coverage);
    } else {
        named::look(view, &names, &walker.roots, (calls, look), &mut coverage, walker.cancel)?;
    }
    coverage.statement = statement(walker, relation, &names, &coverage);
    match followed(view, roots) {
        Some(Linking::None) => coverage.statement += "; uses of names in this language are not followed",
        Some(Linking::Scopes) => {
            coverage.statement += "; within files and through imports, calls on values are not resolved";
        }
        Some(Linking::Types) | None => {}
    }
    if relation != Relation::Callees {
        coverage.statement += &called_by(view, roots);
    }
    Ok(coverage)
}

struct Walker<'a> {
    view: &'a dyn IndexView,
    relation: Relation,
    min_confidence: u8,
    limit: usize,
    cancel: &'a Cancel,
    seen: FxHashSet<DefDoc>,
    /// Files asked about as wholes, with all that they define: edges inside them say nothing.
    files: FxHashSet<FileDoc>,
    /// Edges that were met, for walks that come to them from both ends.
    walked: FxHashSet<(DefDoc, DefDoc, EdgeKind)>,
    symbols: FxHashMap<DefDoc, Symbol>,
    /// What was asked for.
    roots: FxHashSet<DefDoc>,
    /// Places whose candidates are all asked for, which are shown once.
    places: FxHashSet<(DefDoc, u32)>,
    edges: Vec<GraphEdge>,
    n_edges: u64,
    below: u64,
    bounded: bool,
}

impl Walker<'_> {
    /// Follows the edges of one level; gives the definitions met for the first time.
    fn step(&mut self, depth: u32, level: &[DefDoc]) -> Result<Vec<DefDoc>, ErrorObject> {
        let mut next = Vec::new();
        for &def in level {
            if self.cancel.is_cancelled() {
                return Err(cancelled());
            }
            for edge in self.edges_of(def) {
                self.meet(depth, def, edge, &mut next);
            }
        }
        Ok(next)
    }

    /// Shows an edge of `def`, or counts it; adds what is at its other end to `next`.
    fn meet(&mut self, depth: u32, def: DefDoc, mut edge: Edge, next: &mut Vec<DefDoc>) {
        let ends = [edge.source, edge.target].map(|d| self.view.def(d).file);
        if ends[0] == ends[1] && self.files.contains(&ends[0]) {
            return;
        }
        let mut best = edge.occurrences.iter().map(|o| o.confidence).max().unwrap_or(0);
        if best < self.min_confidence && self.are_all_asked_for(&edge) {
            let places = &mut self.places;
            edge.occurrences.retain(|o| places.insert((edge.source, o.at)));
            if edge.occurrences.is_empty() {
                return;
            }
            edge.occurrences.iter_mut().for_each(|o| o.confidence = Rule::Inferred.confidence());
            best = Rule::Inferred.confidence();
        }
        if best < self.min_confidence {
            self.below += 1;
            return;
        }
        if !self.walked.insert((edge.source, edge.target, edge.kind)) {
            return;
        }
        self.n_edges += 1;
        if self.edges.len() >= self.limit {
            self.bounded = true;
            return;
        }
        let other = if edge.source == def { edge.target } else { edge.source };
        // Who imports a file does not depend on everything that its code uses.
        if self.seen.insert(other) && self.view.def(other).idx != DefIdx::NONE {
            next.push(other);
        }
        let shown = self.shown(depth, &edge, best);
        self.edges.push(shown);
    }

    /// Whether each definition that a place may name is asked for: which of them it is does not matter then.
    fn are_all_asked_for(&self, edge: &Edge) -> bool {
        let is_shared = edge.occurrences.iter().any(|o| o.rule == Rule::Ambiguous);
        if !is_shared || self.roots.len() < 2 || !self.roots.contains(&edge.target) {
            return false;
        }
        let all = self.view.edges_from(edge.source, &[edge.kind]);
        let is_same = |e: &Edge| e.occurrences.iter().any(|o| edge.occurrences.iter().any(|p| p.at == o.at));
        all.iter().filter(|e| is_same(e)).all(|e| self.roots.contains(&e.target))
    }

    /// What the roots implement or override, and who calls that; with `shows` these calls are edges, too.
    fn through(&mut self, roots: &[DefDoc], shows: bool) -> Vec<Through> {
        let view = self.view;
        let mut out = Vec::new();
        for &root in roots {
            for (method, calls) in calls_through(view, root, self.min_confidence) {
                // Its callers are in the answer by themselves.
                if self.roots.contains(&method) {
                    continue;
                }
                out.extend(through_of(view, root, method, &calls));
                for call in calls.iter().filter(|_| shows) {
                    self.n_edges += 1;
                    if self.edges.len() >= self.limit {
                        self.bounded = true;
                        continue;
                    }
                    let mut edge = self.shown(1, call, Rule::Dispatch.confidence());
                    edge.kind = Rule::Dispatch.name().to_owned();
                    edge.target = self.symbol(root);
                    self.edges.push(edge);
                }
            }
        }
        out
    }

    fn edges_of(&self, def: DefDoc) -> Vec<Edge> {
        let kinds = self.relation.kinds();
        match self.relation {
            Relation::Callees => self.view.edges_from(def, kinds),
            Relation::Around => {
                let into = self.view.edges_to(def, kinds, self.limit + 1);
                in_turn(into, self.view.edges_from(def, kinds))
            }
            Relation::Implementations => {
                let mut edges = self.view.edges_to(def, kinds, EDGES_COUNTED_MAX);
                edges.extend(self.view.edges_from(def, kinds));
                edges
            }
            Relation::Callers => {
                let mut edges = self.view.edges_to(def, kinds, EDGES_COUNTED_MAX);
                let is_callable = self.view.def(def).kind.is_callable();
                edges.retain_mut(|e| e.kind == EdgeKind::Call || is_callable && is_by_value(e));
                edges
            }
            // More than can be shown, so that a cut is counted.
            _ => {
                let mut edges = self.view.edges_to(def, kinds, EDGES_COUNTED_MAX);
                if self.relation == Relation::Impact {
                    edges.extend(self.written_by(def));
                }
                edges
            }
        }
    }

    /// The fields and variables that a definition writes: who reads them depends on it. Readers and
    /// users of results have edges of their own, and nobody depends on a caller for its arguments.
    fn written_by(&self, def: DefDoc) -> Vec<Edge> {
        let mut edges = self.view.edges_from(def, &[EdgeKind::Dataflow]);
        edges.retain(|e| !self.view.def(e.target).kind.is_callable());
        edges
    }

    fn shown(&mut self, depth: u32, edge: &Edge, best: u8) -> GraphEdge {
        let file = self.view.def(edge.site()).file;
        let text = self.view.text(file);
        let lines = self.view.lines(file);
        let evidence = edge.occurrences.iter().take(EVIDENCE_MAX).map(|o| GraphEvidence {
            kind: evidence_kind(edge.kind, o.role, o.rule).name().to_owned(),
            line: o.line,
            column: column(&text, o.at),
            confidence: f64::from(o.confidence) / 100.0,
            via: o.rule.name().to_owned(),
            text: line_at(&text, &lines, o.at).1,
        });
        GraphEdge {
            depth,
            kind: edge.kind.name().to_owned(),
            evidence: evidence.collect(),
            n_evidence: edge.occurrences.len() as u32,
            confidence: f64::from(best) / 100.0,
            source: self.symbol(edge.source),
            target: self.symbol(edge.target),
        }
    }

    fn symbol(&mut self, def: DefDoc) -> Symbol {
        let view = self.view;
        self.symbols.entry(def).or_insert_with(|| convert::symbol(view, def)).clone()
    }
}

/// The methods that a definition implements or overrides, with the calls of each.
fn calls_through(view: &dyn IndexView, root: DefDoc, min_confidence: u8) -> Vec<(DefDoc, Vec<Edge>)> {
    let mut seen = FxHashSet::default();
    let mut declared = view.edges_from(root, &[EdgeKind::Implement]);
    declared.retain(|e| view.def(e.target).kind == DefKind::Method && seen.insert(e.target));
    let calls_of = |method: DefDoc| {
        let mut calls = view.edges_to(method, &[EdgeKind::Call], GRAPH_EDGES_MAX as usize);
        calls.retain(|e| e.occurrences.iter().any(|o| o.confidence >= min_confidence));
        (method, calls)
    };
    let all = declared.into_iter().map(|e| calls_of(e.target));
    all.filter(|(method, calls)| !calls.is_empty() && view.def(*method).parent != DefDoc::NONE).collect()
}

fn through_of(view: &dyn IndexView, root: DefDoc, method: DefDoc, calls: &[Edge]) -> Option<Through> {
    Some(Through {
        owner: convert::symbol(view, view.def(method).parent.some()?),
        method: convert::symbol(view, method),
        root: convert::symbol(view, root),
        n_callers: calls.len() as u32,
    })
}

/// What a definition may be called through.
pub(super) fn through(view: &dyn IndexView, def: DefDoc) -> Vec<Through> {
    let all = calls_through(view, def, CONFIDENCE_CERTAIN);
    all.iter().filter_map(|(method, calls)| through_of(view, def, *method, calls)).collect()
}

/// Keeps of an edge the places where a function is a value and not called.
pub(super) fn is_by_value(edge: &mut Edge) -> bool {
    edge.occurrences.retain(|o| matches!(o.role, Role::Read | Role::Field | Role::Decorator));
    !edge.occurrences.is_empty()
}

/// One of each in turn, so that a limit cuts both alike.
fn in_turn(into: Vec<Edge>, from: Vec<Edge>) -> Vec<Edge> {
    let mut out = Vec::with_capacity(into.len() + from.len());
    let (mut into, mut from) = (into.into_iter(), from.into_iter());
    loop {
        let before = out.len();
        out.extend(into.next().into_iter().chain(from.next()));
        if out.len() == before {
            return out;
        }
    }
}

/// Puts those first that are used most, product code before tests, docs and generated files, and code before
/// sections of data and of documents.
pub(super) fn order(view: &dyn IndexView, defs: &mut [DefDoc]) {
    let is_section = |d| view.def(d).kind == DefKind::Section;
    // Stable: equals stay in the order of their places.
    defs.sort_by_cached_key(|&d| {
        (is_section(d), named::is_behind(view, d), std::cmp::Reverse(used(view, d)))
    });
}

/// How much a definition is used.
fn used(view: &dyn IndexView, def: DefDoc) -> u32 {
    [EdgeKind::Call, EdgeKind::Usage].iter().map(|k| view.in_degree(def, *k)).sum()
}

/// What a name stands for, see [`find_all`]: those first that are used most, product code before tests, docs
/// and generated files.
pub(super) fn find(view: &dyn IndexView, name: &str) -> Result<Vec<DefDoc>, ErrorObject> {
    if name.trim().is_empty() {
        return Err(ErrorObject::new(ErrorCode::InvalidRequest, "symbol is empty"));
    }
    let mut found = find_all(view, name);
    if let [one] = found[..]
        && !name.trim().starts_with("scip:")
    {
        found = with_its_like(view, one);
    }
    order(view, &mut found);
    if found.is_empty() { Err(suggest::not_found(view, name)) } else { Ok(found) }
}

/// A definition with those of the same qualified name in its file: overloads, getter and setter, definitions in
/// branches. Uses lead to one of them. A declaration of C or C++ comes with the functions that it announces.
fn with_its_like(view: &dyn IndexView, def: DefDoc) -> Vec<DefDoc> {
    let record = view.def(def);
    if record.idx == DefIdx::NONE {
        return vec![def];
    }
    let mut defs = view.defs_named(&record.name);
    defs.retain(|d| view.def(*d).qualified == record.qualified);
    let announced = announced(view, &record, &defs);
    defs.retain(|d| {
        let other = view.def(*d);
        (other.file, other.parent) == (record.file, record.parent) || announced.contains(d)
    });
    defs
}

/// Functions and methods with a body, of `same` name, that a declaration without one may announce: those in the
/// nearest folder.
fn announced(view: &dyn IndexView, record: &DefRecord, same: &[DefDoc]) -> Vec<DefDoc> {
    let has_body = |r: &DefRecord| r.span.end > r.head.end + 1;
    let is_c = |file| matches!(view.file(file).language, Language::C | Language::Cpp);
    if !record.kind.is_callable() || !is_c(record.file) || has_body(record) {
        return Vec::new();
    }
    let is_exported = |r: &DefRecord| r.flags.has(DefFlags::EXPORTED) || r.file == record.file;
    let is_body = |r: &DefRecord| r.kind.is_callable() && is_c(r.file) && has_body(r) && is_exported(r);
    let bodies: Vec<DefDoc> = same.iter().copied().filter(|d| is_body(&view.def(*d))).collect();
    let path = view.path(record.file);
    let depth = |path: &str| path.matches('/').count();
    let away = |d: &DefDoc| {
        let other = view.path(view.def(*d).file);
        depth(&path) + depth(&other) - 2 * indexd_model::path::n_common(&path, &other)
    };
    let nearest = bodies.iter().map(away).min();
    bodies.into_iter().filter(|d| Some(away(d)) == nearest).collect()
}

/// What a name stands for: a symbol id, `path`, `path:line`, a qualified name or a name. Ordered by
/// path and position.
pub(super) fn find_all(view: &dyn IndexView, name: &str) -> Vec<DefDoc> {
    let name = name.trim();
    if name.starts_with("scip:") {
        let parts = name.rsplit(['/', '#', '.']).map(|p| p.split("(+").next().unwrap_or(p));
        // What stands at the root of its package has a space before it.
        let parts = parts.map(|p| p.trim_matches(['(', ')', '`', '.', ' ']));
        let last = parts.into_iter().find(|p| !p.is_empty()).unwrap_or(name);
        let mut defs = view.defs_named(last);
        defs.retain(|&d| indexd_pack::symbol_id(view, d).is_some_and(|s| s.0 == name));
        return defs;
    }
    if let Some(def) = at_place(view, name) {
        return vec![def];
    }
    let exact = view.defs_named(name);
    if !exact.is_empty() {
        return exact;
    }
    // `A::b`, `A#b`, `A->b`, `A\\b` and `A.b` are one.
    let wanted = name.replace("::", ".").replace("->", ".").replace(['#', '/', '\\'], ".");
    let last = wanted.rsplit('.').next().unwrap_or(&wanted);
    let mut defs = view.defs_named(last);
    if last.len() < wanted.len() {
        defs.retain(|&d| is_qualified_as(view, &view.def(d), &wanted));
    }
    defs
}

/// Whether `wanted` ends the definition's qualified name, perhaps with its module or package
/// before: `Class.method`, `module.Class.method`.
fn is_qualified_as(view: &dyn IndexView, def: &DefRecord, wanted: &str) -> bool {
    let wanted = wanted.trim_start_matches('.');
    let ends =
        |full: &str| full == wanted || full.strip_suffix(wanted).is_some_and(|rest| rest.ends_with('.'));
    if ends(&def.qualified) {
        return true;
    }
    let path = view.path(def.file);
    let stem = path.rsplit_once('.').map_or(&*path, |(stem, _)| stem);
    let dir = dir_of(&path);
    [stem, dir].iter().any(|module| ends(&format!("{}.{}", module.replace('/', "."), def.qualified)))
}

/// The definition at `path:line`, or the file at `path`.
fn at_place(view: &dyn IndexView, name: &str) -> Option<DefDoc> {
    if let Some(file) = view.file_by_path(name) {
        return Some(view.def_doc(file, DefIdx::NONE));
    }
    let (path, line) = name.rsplit_once(':')?;
    let (file, line) = (view.file_by_path(path)?, line.parse::<u32>().ok()?);
    if line == 0 || line > view.file(file).n_lines {
        return None;
    }
    let around = defs_of(view, file)
        .map(|d| (d, view.def(d)))
        .filter(|(_, r)| r.lines.start <= line && line <= r.lines.end);
    // The innermost is the shortest; of equals the first.
    let inner = around.min_by_key(|(_, r)| (r.span.len(), r.span.start));
    Some(inner.map_or_else(|| view.def_doc(file, DefIdx::NONE), |(d, _)| d))
}

pub(super) fn defs_of(view: &dyn IndexView, file: FileDoc) -> impl Iterator<Item = DefDoc> + '_ {
    let n = view.interface(file).defs.len() as u32;
    (0..n).map(move |i| view.def_doc(file, DefIdx(i)))
}

/// The members of a type: definitions inside it, and Go methods with it as receiver.
pub(super) fn members(view: &dyn IndexView, def: DefDoc) -> Vec<DefDoc> {
    let record = view.def(def);
    if record.idx == DefIdx::NONE || !record.kind.is_type() {
        return Vec::new();
    }
    let mut files = vec![record.file];
    let path = view.path(record.file);
    let is_go = view.file(record.file).language == Language::Go;
    if is_go {
        let dir = dir_of(&path);
        files.extend(view.providers(Key::scope(&format!("go:{dir}#{}", record.name))));
        files.sort_by_key(|&f| view.path(f));
        files.dedup();
    }
    let prefix = format!("{}.", record.qualified);
    let mut out = Vec::new();
    for file in files {
        out.extend(defs_of(view, file).filter(|&d| view.def(d).qualified.starts_with(&prefix)));
    }
    out
}

/// The plain names of the roots, without repeats.
fn names_of(view: &dyn IndexView, roots: &[DefDoc]) -> Vec<Arc<str>> {
    let records = roots.iter().map(|&d| view.def(d)).filter(|r| r.idx != DefIdx::NONE);
    let mut names: Vec<_> = records.map(|r| r.name).collect();
    names.sort();
    names.dedup();
    names
}

/// What the graph was made from.
fn files_covered(view: &dyn IndexView) -> Coverage {
    let mut out = Coverage::default();
    for file in view.files() {
        let record = view.file(file);
        let linked = record.language.linking() != Linking::None;
        let count = match record.outcome {
            _ if !linked => &mut out.other,
            _ if record.roles.has(FileRoles::VENDORED) => &mut out.vendored,
            Outcome::Parsed => &mut out.parsed,
            Outcome::Recovered => &mut out.recovered,
            _ => &mut out.text_only,
        };
        *count += 1;
    }
    out
}

/// Counts the calls inside the roots that have no edge.
fn calls_without_edge(view: &dyn IndexView, roots: &[DefDoc], look: Look, out: &mut Coverage) {
    let mut places = Vec::new();
    for &root in roots {
        let record = view.def(root);
        let is_inside = |at: u32| record.idx == DefIdx::NONE || record.span.holds(at);
        let calls = view.unresolved(record.file);
        let text = view.text(record.file);
        let lines = view.lines(record.file);
        for u in calls.iter().filter(|u| u.role == Role::Call && is_inside(u.at)) {
            let reason = u.reason.name().to_owned();
            out.unresolved_same_name += 1;
            *out.unresolved_by_reason.entry(reason.clone()).or_default() += 1;
            places.push(UnresolvedPlace {
                file_rel_path: view.path(record.file).to_string(),
                line: u.line,
                reason,
                within: view.def(u.source).qualified.to_string(),
                text: line_at(&text, &lines, u.at).1,
            });
        }
    }
    // Names of the language and of other packages are seldom what is missed.
    places.sort_by_key(|p| matches!(p.reason.as_str(), "external" | "builtin"));
    places.truncate(look.places_max);
    out.unresolved_examples = places;
}

/// How far the uses of names are followed in the languages of the roots; the least of them.
fn followed(view: &dyn IndexView, roots: &[DefDoc]) -> Option<Linking> {
    let languages = roots.iter().map(|&d| view.file(view.def(d).file).language);
    languages.filter(|l| l.is_code()).map(Language::linking).min()
}

/// What calls the roots without naming them, as the end of a sentence; empty where nothing does.
fn called_by(view: &dyn IndexView, roots: &[DefDoc]) -> String {
    let by = roots.iter().filter_map(|&root| {
        let record = view.def(root);
        let interface = view.interface(record.file);
        record.idx.some().and_then(|def| indexd_model::names::called_by(&Facts::outside(&interface), def))
    });
    let all: BTreeSet<&str> = by.collect();
    let all = Vec::from_iter(all).join(" and ");
    if all.is_empty() { all } else { format!("; called by {all} as well, which has no edge of its own") }
}

/// The answer and what may be missing of it, in a sentence.
fn statement(walker: &Walker, relation: Relation, names: &[Arc<str>], c: &Coverage) -> String {
    let (one, many) = match relation {
        Relation::Callers => ("caller", "callers"),
        Relation::Callees => ("callee", "callees"),
        Relation::Refs => ("use", "uses"),
        Relation::Impact => ("dependant", "dependants"),
        Relation::Implementations => ("implementation or base", "implementations and bases"),
        Relation::Around => ("edge", "edges"),
    };
    let mut parts = vec![match walker.n_edges {
        0 => format!("no {many}"),
        1 => format!("1 {one}"),
        n => format!("{n} {many}"),
    }];
    if relation == Relation::Callees {
        let of: Vec<String> = c.unresolved_by_reason.iter().map(|(r, n)| format!("{n} {r}")).collect();
        match c.unresolved_same_name {
            0 => parts.push("no call inside is unresolved".to_owned()),
            n => parts.push(format!("{n} calls inside have no edge ({})", of.join(", "))),
        }
    } else if !names.is_empty() {
        let beside = named::sentence(c, relation == Relation::Callers);
        if beside.is_empty() {
            parts.push(format!(
                "every use of the name {} in code of the project is resolved",
                names.join(", ")
            ));
        }
        parts.extend(beside);
    }
    if c.below_confidence > 0 {
        parts.push(format!("{} edges below the confidence asked for", c.below_confidence));
    }
    parts.join("; ")
}
