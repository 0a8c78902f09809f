//! The graph methods: edges of the index as messages, and what the graph may be missing.
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
use indexd_model::limits::GO_METHOD_FILES_MAX;
use indexd_model::links::evidence_kind;
use indexd_model::view::{CONFIDENCE_CERTAIN, Edge};
use indexd_model::{
    DefDoc, DefIdx, DefKind, EdgeKind, Facts, FileRoles, IndexView, Key, Language, Linking, Outcome, Role,
};
use indexd_pack::graph::names;
pub use indexd_pack::graph::relation::Relation;
use indexd_pack::graph::relation::{self, Dispatched, Met, Question, Walked};
use indexd_proto::error::ErrorObject;
use indexd_proto::graph::{
    Coverage, EdgeWord, GraphEdge, GraphEvidence, GraphParams, GraphResult, NoEdge, Through, UnresolvedPlace,
};
use indexd_proto::limits::{GRAPH_DEPTH_MAX, GRAPH_EDGES_MAX};
use indexd_proto::search::Symbol;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Places shown of one edge.
const EVIDENCE_MAX: usize = 20;
/// Edges of one definition that are counted where none of them is a call.
const OTHER_USES_MAX: usize = 1_000;
/// Definitions of a name that are named in an answer.
const ROOTS_SHOWN: usize = 20;
/// A look for uses without an edge.
const LOOK: Look = Look { files_max: 300, places_max: 10 };
/// The same when everything is asked for.
const LOOK_ALL: Look = Look { files_max: usize::MAX, places_max: 2_000 };

/// Answers a question about the graph of one snapshot, without an envelope.
///
/// # Errors
/// `POC_E_SYMBOL_NOT_FOUND`, `POC_E_INVALID_REQUEST` or `POC_E_CANCELLED`.
pub fn walk(
    view: &dyn IndexView,
    relation: Relation,
    params: &GraphParams,
    cancel: &Cancel,
) -> Result<GraphResult, ErrorObject> {
    let question = question(relation, params)?;
    let roots = find(view, &params.symbol)?;
    let walked = relation::ask(view, &roots, &question, &|| cancel.is_cancelled()).ok_or_else(cancelled)?;
    let look = if params.all { LOOK_ALL } else { LOOK };
    let coverage = coverage(view, &walked, relation, &roots, look, cancel)?;
    let mut symbols = Symbols { view, known: FxHashMap::default() };
    let shown = roots.iter().take(if params.all { usize::MAX } else { ROOTS_SHOWN });
    Ok(GraphResult {
        relation,
        roots: shown.map(|d| symbols.of(*d)).collect(),
        n_roots: roots.len() as u64,
        edges: walked.edges.iter().map(|met| symbols.edge(met)).collect(),
        n_edges: walked.n_edges,
        bounded: walked.is_bounded,
        through: walked.dispatched.iter().filter_map(|d| through_of(view, d)).collect(),
        coverage,
        ..GraphResult::default()
    })
}

/// The question that parameters ask.
fn question(relation: Relation, params: &GraphParams) -> Result<Question, ErrorObject> {
    let depth = params.depth.unwrap_or(if relation == Relation::Impact { 3 } else { 1 });
    let limit = params.limit.unwrap_or(if params.all { GRAPH_EDGES_MAX } else { 200 });
    let min_confidence = params.min_confidence.unwrap_or(CONFIDENCE_CERTAIN);
    for (name, value, range) in [
        ("depth", depth, 1..=GRAPH_DEPTH_MAX),
        ("limit", limit, 1..=GRAPH_EDGES_MAX),
        ("minConfidence", u32::from(min_confidence), 0..=100),
    ] {
        convert::within(name, name, value, range)?;
    }
    let (limit, dispatch) = (limit as usize, params.dispatch);
    Ok(Question { relation, depth, limit, min_confidence, dispatch })
}

/// What may be missing.
fn coverage(
    view: &dyn IndexView,
    walked: &Walked,
    relation: Relation,
    roots: &[DefDoc],
    look: Look,
    cancel: &Cancel,
) -> Result<Coverage, ErrorObject> {
    let mut coverage = files_covered(view);
    coverage.below_confidence = walked.below;
    let names = names_of(view, roots);
    let calls = relation == Relation::Callers;
    if relation == Relation::Callees {
        calls_without_edge(view, roots, look, &mut coverage);
    } else {
        named::look(view, &names, &named::set_of(roots, view), (calls, look), &mut coverage, cancel)?;
    }
    coverage.statement = statement(walked.n_edges, relation, &names, &coverage);
    if calls && walked.n_edges == 0 {
        coverage.statement += &other_uses(view, roots);
    }
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
    if relation == Relation::Implementations {
        coverage.statement += &not_compared(view, roots);
    }
    Ok(coverage)
}

/// Definitions as messages, each converted once.
struct Symbols<'a> {
    view: &'a dyn IndexView,
    known: FxHashMap<DefDoc, Symbol>,
}

impl Symbols<'_> {
    fn of(&mut self, def: DefDoc) -> Symbol {
        let view = self.view;
        self.known.entry(def).or_insert_with(|| convert::symbol(view, def)).clone()
    }

    fn edge(&mut self, met: &Met) -> GraphEdge {
        let edge = &met.edge;
        let kind = if met.in_place_of.is_some() { EdgeWord::Dispatch } else { word_of(edge.kind) };
        GraphEdge {
            depth: met.depth,
            kind,
            evidence: evidence(self.view, edge),
            n_evidence: edge.occurrences.len() as u32,
            confidence: f64::from(met.confidence) / 100.0,
            source: self.of(edge.source),
            target: self.of(met.in_place_of.unwrap_or(edge.target)),
        }
    }
}

fn word_of(kind: EdgeKind) -> EdgeWord {
    match kind {
        EdgeKind::Call => EdgeWord::Call,
        EdgeKind::Usage => EdgeWord::Usage,
        EdgeKind::Import => EdgeWord::Import,
        EdgeKind::Export => EdgeWord::Export,
        EdgeKind::Dataflow | EdgeKind::DataflowIn => EdgeWord::Dataflow,
        EdgeKind::Inherit => EdgeWord::Inherit,
        EdgeKind::Implement => EdgeWord::Implement,
    }
}

/// The first places of an edge.
fn evidence(view: &dyn IndexView, edge: &Edge) -> Vec<GraphEvidence> {
    let file = view.def(edge.site()).file;
    let (text, lines) = (view.text(file), view.lines(file));
    let places = edge.occurrences.iter().take(EVIDENCE_MAX).map(|o| GraphEvidence {
        kind: evidence_kind(edge.kind, o.role, o.rule).name().to_owned(),
        line: o.line,
        column: column(&text, o.at),
        confidence: f64::from(o.confidence) / 100.0,
        via: o.rule.name().to_owned(),
        text: line_at(&text, &lines, o.at).1,
    });
    places.collect()
}

fn through_of(view: &dyn IndexView, of: &Dispatched) -> Option<Through> {
    Some(Through {
        owner: convert::symbol(view, view.def(of.method).parent.some()?),
        method: convert::symbol(view, of.method),
        root: convert::symbol(view, of.root),
        n_callers: of.calls.len() as u32,
    })
}

/// What a definition may be called through.
pub(super) fn through(view: &dyn IndexView, def: DefDoc) -> Vec<Through> {
    let all = relation::dispatched(view, def, CONFIDENCE_CERTAIN);
    all.iter().filter_map(|d| through_of(view, d)).collect()
}

/// The definitions with a name, see [`names::meant`].
pub(super) fn find(view: &dyn IndexView, name: &str) -> Result<Vec<DefDoc>, ErrorObject> {
    if name.trim().is_empty() {
        return Err(ErrorObject::invalid("symbol is empty"));
    }
    let found = names::meant(view, name);
    if found.is_empty() { Err(suggest::not_found(view, name)) } else { Ok(found) }
}

/// The plain names of the roots and those under which they are used, without repeats.
fn names_of(view: &dyn IndexView, roots: &[DefDoc]) -> Vec<Arc<str>> {
    let records = roots.iter().map(|&d| view.def(d)).filter(|r| r.idx != DefIdx::NONE);
    let mut names: Vec<_> = records.map(|r| r.name).collect();
    // A method `x=` is used as `.x = 1`.
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let set = names.iter().filter_map(|n| n.strip_suffix('=').filter(|s| s.ends_with(is_letter)));
    let set: Vec<Arc<str>> = set.map(Arc::from).collect();
    names.extend(set);
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
            let reason = named::no_edge(u.reason);
            out.unresolved_same_name += 1;
            *out.unresolved_by_reason.entry(reason).or_default() += 1;
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
    places.sort_by_key(|p| matches!(p.reason, NoEdge::External | NoEdge::Builtin));
    places.truncate(look.places_max);
    out.unresolved_examples = places;
}

/// How far the uses of names are followed in the languages of the roots; the least of them.
fn followed(view: &dyn IndexView, roots: &[DefDoc]) -> Option<Linking> {
    let languages = roots.iter().map(|&d| view.file(view.def(d).file).language);
    languages.filter(|l| l.is_code()).map(Language::linking).min()
}

/// Uses of the roots that are not calls, as the end of a sentence; empty where there are none.
fn other_uses(view: &dyn IndexView, roots: &[DefDoc]) -> String {
    let kinds = [EdgeKind::Usage, EdgeKind::Inherit];
    let edges = roots.iter().flat_map(|&root| view.edges_to(root, &kinds, OTHER_USES_MAX));
    let places = edges.flat_map(|e| e.occurrences).filter(|o| o.confidence >= CONFIDENCE_CERTAIN);
    match places.count() {
        0 => String::new(),
        n => format!("; {} not a call", named::many(n as u64, "use is", "uses are")),
    }
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

/// Methods of Go by whose names types and interfaces are not compared, as the end of a sentence; empty where there
/// are none. One other method is enough to find the types of an interface.
fn not_compared(view: &dyn IndexView, roots: &[DefDoc]) -> String {
    let mut names: BTreeSet<String> = BTreeSet::new();
    for &root in roots {
        let mut root = root;
        let parent = view.def(root).parent.some();
        if let Some(parent) = parent.filter(|parent| view.def(*parent).kind == DefKind::Interface) {
            root = parent;
        }
        let record = view.def(root);
        if view.file(record.file).language != Language::Go {
            continue;
        }
        let mut methods = if record.kind.is_type() { names::members(view, root) } else { vec![root] };
        methods.retain(|method| view.def(*method).kind == DefKind::Method);
        let common: Vec<DefDoc> = methods.iter().copied().filter(|m| is_common(view, *m)).collect();
        if record.kind != DefKind::Interface || common.len() == methods.len() {
            names.extend(common.into_iter().map(|method| view.def(method).name.to_string()));
        }
    }
    match Vec::from_iter(names).join(", ") {
        names if names.is_empty() => names,
        names => {
            format!("; more than {GO_METHOD_FILES_MAX} files have interfaces with {names}: not compared")
        }
    }
}

/// Returns true if too many files have interfaces with a method of this name and signature.
fn is_common(view: &dyn IndexView, method: DefDoc) -> bool {
    let record = view.def(method);
    let interface = view.interface(record.file);
    let facts = Facts::outside(&interface);
    let Some(def) = record.idx.some() else { return false };
    let shaped = format!("{}{}", record.name, facts.shape(facts.def(def)));
    let n_files = |name: &str| view.providers(Key::any("go-interface", name)).len();
    n_files(&record.name) > GO_METHOD_FILES_MAX && n_files(&shaped) > GO_METHOD_FILES_MAX
}

/// The answer and what may be missing of it, in a sentence.
fn statement(n_edges: u64, relation: Relation, names: &[Arc<str>], c: &Coverage) -> String {
    let (one, many) = match relation {
        Relation::Callers => ("caller", "callers"),
        Relation::Callees => ("callee", "callees"),
        Relation::Refs => ("use", "uses"),
        Relation::Impact => ("dependant", "dependants"),
        Relation::Implementations => ("implementation or base", "implementations or bases"),
        Relation::Around => ("edge", "edges"),
    };
    let mut parts = vec![match n_edges {
        0 => format!("no {many}"),
        1 => format!("1 {one}"),
        n => format!("{n} {many}"),
    }];
    if relation == Relation::Callees {
        let of: Vec<String> = c.unresolved_by_reason.iter().map(|(r, n)| format!("{n} {r}")).collect();
        match c.unresolved_same_name {
            0 => parts.push("no call inside is unresolved".to_owned()),
            1 => parts.push(format!("1 call inside has no edge ({})", of.join(", "))),
            n => parts.push(format!("{n} calls inside have no edge ({})", of.join(", "))),
        }
    } else if !names.is_empty() {
        let beside = named::sentence(c, relation == Relation::Callers);
        if beside.is_empty() && c.below_confidence == 0 {
            parts.push(format!(
                "every use of the name {} in code of the project is resolved",
                names.join(", ")
            ));
        }
        parts.extend(beside);
    }
    if c.below_confidence > 0 {
        let edges = named::many(c.below_confidence, "edge", "edges");
        parts.push(format!("{edges} below the confidence asked for"));
    }
    parts.join("; ")
}
