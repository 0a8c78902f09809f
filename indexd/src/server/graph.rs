//! Walks along resolved edges, and what the graph may be missing.
//!
//! "No callers" is worth nothing without knowing what was read, so every answer carries a statement
//! of coverage: files parsed, parsed around errors and not parsed, and uses of the same name that
//! have no edge.

use crate::server::backend::{Cancel, cancelled};
use crate::server::convert;
use crate::server::edges::column;
use crate::server::suggest;
use indexd_model::links::evidence_kind;
use indexd_model::path::dir_of;
use indexd_model::view::{DefRecord, Edge, UnresolvedRecord};
use indexd_model::{
    DefDoc, DefIdx, DefKind, EdgeKind, Facts, FileDoc, FileRoles, IndexView, Key, Language, LineIndex,
    Linking, Outcome, Role, Rule, UnresolvedReason,
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
/// Definitions that one name may stand for.
const ROOTS_MAX: usize = 20;
/// Unresolved uses shown.
const EXAMPLES_MAX: usize = 10;

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
            Self::Callers | Self::Callees => &[Call],
            Self::Refs => &[Call, Usage, Import, Export, Inherit, Implement],
            Self::Impact => &[Call, Usage, Import, Export, Inherit, Implement],
            Self::Around => &[Call, Usage, Inherit, Implement],
        }
    }
}

/// What a walk found.
#[derive(Debug)]
pub struct Walk {
    /// What the name was taken for.
    pub roots: Vec<Symbol>,
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
    let limit = params.limit.unwrap_or(200);
    let min_confidence = params.min_confidence.unwrap_or(50);
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
        edges: Vec::new(),
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
    let through =
        if relation == Relation::Callers { walker.through(&roots, params.dispatch) } else { Vec::new() };
    let coverage = coverage(view, relation, &roots, walker.below, cancel)?;
    let symbols = roots.iter().map(|&d| convert::symbol(view, d)).collect();
    Ok(Walk { roots: symbols, edges: walker.edges, bounded: walker.bounded, through, coverage })
}

fn check(name: &str, value: u32, min: u32, max: u32) -> Result<(), ErrorObject> {
    if (min..=max).contains(&value) {
        return Ok(());
    }
    let message = format!("{name} must be {min} to {max}, not {value}");
    Err(ErrorObject::new(ErrorCode::InvalidRequest, message).with_hint(format!("give a {name} between them")))
}

/// What may be missing; `below` edges were left out for their confidence.
fn coverage(
    view: &dyn IndexView,
    relation: Relation,
    roots: &[DefDoc],
    below: u64,
    cancel: &Cancel,
) -> Result<Coverage, ErrorObject> {
    let mut coverage = files_covered(view);
    let open = match relation {
        Relation::Callees => calls_without_edge(view, roots, &mut coverage),
        _ => uses_without_edge(view, roots, &mut coverage, cancel)?,
    };
    coverage.below_confidence = below;
    coverage.statement = match followed(view, roots) {
        Some(Linking::None) => statement(&coverage, "") + "; uses of names in this language are not followed",
        Some(Linking::Scopes) => {
            statement(&coverage, &open)
                + "; within files and through imports, calls on values are not resolved"
        }
        Some(Linking::Types) | None => statement(&coverage, &open),
    };
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
    edges: Vec<GraphEdge>,
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
                let ends = [edge.source, edge.target].map(|d| self.view.def(d).file);
                if ends[0] == ends[1] && self.files.contains(&ends[0]) {
                    continue;
                }
                let best = edge.occurrences.iter().map(|o| o.confidence).max().unwrap_or(0);
                if best < self.min_confidence {
                    self.below += 1;
                    continue;
                }
                if !self.walked.insert((edge.source, edge.target, edge.kind)) {
                    continue;
                }
                if self.edges.len() >= self.limit {
                    self.bounded = true;
                    return Ok(next);
                }
                let other = if edge.source == def { edge.target } else { edge.source };
                // Who imports a file does not depend on everything that its code uses.
                if self.seen.insert(other) && self.view.def(other).idx != DefIdx::NONE {
                    next.push(other);
                }
                let shown = self.shown(depth, &edge, best);
                self.edges.push(shown);
            }
        }
        Ok(next)
    }

    /// What the roots implement or override, and who calls that; with `shows` these calls are edges, too.
    fn through(&mut self, roots: &[DefDoc], shows: bool) -> Vec<Through> {
        let view = self.view;
        let mut out = Vec::new();
        for &root in roots {
            let mut seen = FxHashSet::default();
            let mut declared = view.edges_from(root, &[EdgeKind::Implement]);
            declared.retain(|e| view.def(e.target).kind == DefKind::Method && seen.insert(e.target));
            for method in declared.into_iter().map(|e| e.target) {
                let mut calls = view.edges_to(method, &[EdgeKind::Call], GRAPH_EDGES_MAX as usize);
                calls.retain(|e| e.occurrences.iter().any(|o| o.confidence >= self.min_confidence));
                let Some(owner) = view.def(method).parent.some().filter(|_| !calls.is_empty()) else {
                    continue;
                };
                out.push(Through {
                    owner: self.symbol(owner),
                    method: self.symbol(method),
                    root: self.symbol(root),
                    n_callers: calls.len() as u32,
                });
                for call in calls.iter().filter(|_| shows) {
                    if self.edges.len() >= self.limit {
                        self.bounded = true;
                        break;
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
            // One more than can be shown, so that a cut is noticed.
            _ => {
                let mut edges = self.view.edges_to(def, kinds, self.limit + 1);
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
        let evidence = edge.occurrences.iter().take(EVIDENCE_MAX).map(|o| GraphEvidence {
            kind: evidence_kind(edge.kind, o.role, o.rule).name().to_owned(),
            line: o.line,
            column: column(&text, o.at),
            confidence: f64::from(o.confidence) / 100.0,
            via: o.rule.name().to_owned(),
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

/// What a name stands for; see [`find_all`].
pub(super) fn find(view: &dyn IndexView, name: &str) -> Result<Vec<DefDoc>, ErrorObject> {
    if name.trim().is_empty() {
        return Err(ErrorObject::new(ErrorCode::InvalidRequest, "symbol is empty"));
    }
    let mut found = find_all(view, name);
    found.truncate(ROOTS_MAX);
    if found.is_empty() { Err(suggest::not_found(view, name)) } else { Ok(found) }
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
    let last = name.rsplit(['.', '#']).next().unwrap_or(name);
    let mut defs = view.defs_named(last);
    if last.len() < name.len() {
        let wanted = name.replace(['#', '/'], ".");
        defs.retain(|&d| is_qualified_as(view, &view.def(d), &wanted));
    }
    defs
}

/// Whether `wanted` ends the definition's qualified name, perhaps with its module or package
/// before: `Class.method`, `module.Class.method`.
fn is_qualified_as(view: &dyn IndexView, def: &DefRecord, wanted: &str) -> bool {
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

fn defs_of(view: &dyn IndexView, file: FileDoc) -> impl Iterator<Item = DefDoc> + '_ {
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

/// Counts the uses of the roots' names that have no edge: each may be a use of a root. Says what was
/// counted; nothing for a whole file, which has no name that a use could have.
fn uses_without_edge(
    view: &dyn IndexView,
    roots: &[DefDoc],
    out: &mut Coverage,
    cancel: &Cancel,
) -> Result<String, ErrorObject> {
    let names = names_of(view, roots);
    for name in &names {
        for file in files_with(view, name) {
            if cancel.is_cancelled() {
                return Err(cancelled());
            }
            let is_it = |u: &&UnresolvedRecord| u.name.rsplit('\\').next() == Some(&**name);
            view.unresolved(file).iter().filter(is_it).for_each(|u| count(view, file, u, out));
            not_parsed(view, file, name).iter().for_each(|u| count(view, file, u, out));
        }
    }
    Ok(if names.is_empty() { String::new() } else { format!("of the name {}", names.join(", ")) })
}

/// The places of a name in a source file that was not parsed and so has no facts.
fn not_parsed(view: &dyn IndexView, file: FileDoc, name: &Arc<str>) -> Vec<UnresolvedRecord> {
    let record = view.file(file);
    if record.outcome != Outcome::TextOnly || record.roles.has(FileRoles::VENDORED) {
        return Vec::new();
    }
    let text = view.text(file);
    let lines = LineIndex::new(&text);
    let reason = UnresolvedReason::NotUnderstood;
    let of = |at: u32| UnresolvedRecord {
        name: Arc::clone(name),
        at,
        line: lines.line(at),
        role: Role::Read,
        reason,
        source: view.def_doc(file, DefIdx::NONE),
    };
    indexd_lang::unread::places(&text, record.language, name).into_iter().map(of).collect()
}

/// Counts the calls inside the roots that have no edge. Says what was counted.
fn calls_without_edge(view: &dyn IndexView, roots: &[DefDoc], out: &mut Coverage) -> String {
    for &root in roots {
        let record = view.def(root);
        let is_inside = |at: u32| record.idx == DefIdx::NONE || record.span.holds(at);
        let calls = view.unresolved(record.file);
        let calls = calls.iter().filter(|u| u.role == Role::Call && is_inside(u.at));
        calls.for_each(|u| count(view, record.file, u, out));
    }
    "inside".to_owned()
}

fn count(view: &dyn IndexView, file: FileDoc, u: &UnresolvedRecord, out: &mut Coverage) {
    let reason = u.reason.name().to_owned();
    out.unresolved_same_name += 1;
    if out.unresolved_examples.len() < EXAMPLES_MAX {
        out.unresolved_examples.push(UnresolvedPlace {
            file_rel_path: view.path(file).to_string(),
            line: u.line,
            reason: reason.clone(),
        });
    }
    *out.unresolved_by_reason.entry(reason).or_default() += 1;
}

/// The files whose text holds an identifier, in path order; by its postings, so that the whole
/// repository is not read for one name.
fn files_with(view: &dyn IndexView, name: &str) -> Vec<FileDoc> {
    let mut whole = None;
    indexd_text::terms::terms(name, |term| whole = Some(term.to_owned()));
    let mut postings = Vec::new();
    if let Some(term) = whole {
        view.postings(&term, &mut postings);
    }
    let mut files: Vec<FileDoc> = postings.iter().map(|p| view.chunk(p.chunk).file).collect();
    files.sort_unstable();
    files.dedup();
    files.sort_by_key(|&f| view.path(f));
    files
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

/// The coverage in a sentence; `open` says which uses without an edge were counted.
fn statement(c: &Coverage, open: &str) -> String {
    let files = |n: u64| if n == 1 { "1 source file".to_owned() } else { format!("{n} source files") };
    let mut out = format!("{} parsed", files(c.parsed));
    for (n, what) in [
        (c.recovered, "with syntax errors"),
        (c.text_only, "not parsed"),
        (c.vendored, "vendored and not linked"),
    ] {
        if n > 0 {
            out += &format!(", {n} {what}");
        }
    }
    let reasons: Vec<String> =
        c.unresolved_by_reason.iter().map(|(reason, n)| format!("{n} {reason}")).collect();
    out += &match (open, c.unresolved_same_name) {
        ("", _) => String::new(),
        (_, 0) => format!("; no use {open} is unresolved"),
        (_, 1) => format!("; 1 use {open} has no edge ({})", reasons.join(", ")),
        (_, n) => format!("; {n} uses {open} have no edge ({})", reasons.join(", ")),
    };
    if c.below_confidence > 0 {
        out += &format!("; {} edges below the confidence asked for", c.below_confidence);
    }
    out
}
