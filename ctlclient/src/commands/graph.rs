//! `ctl callers` and its kin: definitions along edges.

use super::lookup::{name_of, place, title};
use super::{asked, note, print_view, put, terminal};
use crate::cli::{Common, WaitArgs, word};
use crate::failure::Failure;
use crate::output::{print_json, print_styled};
use crate::session::{self, Session};
use crate::style::{Style, safe_line};
use indexd_proto::Method;
use indexd_proto::graph::{EdgeWord, GraphEdge, GraphParams, GraphResult, Picture, Relation};
use indexd_proto::search::Symbol;
use std::path::PathBuf;

/// Lines of evidence shown of one edge.
const LINES_SHOWN: usize = 5;

/// Definitions that are named above their edges.
const HEADS_SHOWN: usize = 5;

/// Options of the questions about edges.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ctl callers Client.get --all      # and places of the name without an edge
  ctl callees Client.get --depth 2
  ctl refs RetryOptions --json
  ctl implementations Store.get
  ctl impact net/retry.go:42 --depth 2")]
pub struct GraphArgs {
    /// A name, Class.method, a symbol id, a path, or path:line
    symbol: String,
    /// Steps to follow, at most 4 [default: 1; impact: 3]
    #[arg(short, long, value_name = "N")]
    depth: Option<u32>,
    /// Edges at most
    #[arg(short = 'n', long, value_name = "N", default_value_t = 200)]
    limit: u32,
    /// Name everything: each definition, each place without an edge, 2000 edges
    #[arg(long, conflicts_with = "limit")]
    all: bool,
    /// Leave out edges below this, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 50)]
    min_confidence: u8,
    /// Requirements of the index.
    #[command(flatten)]
    wait: WaitArgs,
}

/// Options of `graph`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Without --as it prints a line for each edge.

Examples:
  ctl graph Client.get --as svg --out get.svg
  ctl graph Client.get --as dot --depth 2 | dot -Tpng > get.png
  ctl graph net/retry.go:42 --as mermaid")]
pub struct AroundArgs {
    /// A name, Class.method, a symbol id, a path, or path:line
    symbol: String,
    /// A picture: svg, dot (for Graphviz) or mermaid (for Markdown)
    #[arg(long = "as", value_name = "FORM", value_parser = word::<Picture>, conflicts_with = "json")]
    form: Option<Picture>,
    /// Write the picture to FILE instead of standard output
    #[arg(long, value_name = "FILE", requires = "form")]
    out: Option<PathBuf>,
    /// Steps to follow, at most 4
    #[arg(short, long, value_name = "N", default_value_t = 1)]
    depth: u32,
    /// Edges at most
    #[arg(short = 'n', long, value_name = "N", default_value_t = 60)]
    limit: u32,
    /// Leave out edges below this, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 50)]
    min_confidence: u8,
    /// Requirements of the index.
    #[command(flatten)]
    wait: WaitArgs,
}

/// Prints edges of one relation with their evidence, and what the graph may be missing.
pub fn edges(method: Method) -> impl Fn(&Common, &GraphArgs) -> Result<(), Failure> {
    move |common, args| {
        let params = asked!(GraphParams, common, &args.wait, {
            symbol: args.symbol.clone(),
            depth: args.depth,
            dispatch: method == Method::Callers,
            all: args.all,
            limit: (!args.all).then_some(args.limit),
            min_confidence: Some(args.min_confidence),
            ..GraphParams::default()
        });
        let answer: GraphResult =
            print_view(common, method, &params, graph_text, (terminal::edge_places, terminal::edges))?;
        note(common, &answer.envelope, &[]);
        Ok(())
    }
}

/// Prints all that is around a definition, as a picture or one line for each edge.
pub fn around(common: &Common, args: &AroundArgs) -> Result<(), Failure> {
    let params = asked!(GraphParams, common, &args.wait, {
        symbol: args.symbol.clone(),
        depth: Some(args.depth),
        picture: args.form,
        limit: Some(args.limit),
        min_confidence: Some(args.min_confidence),
        ..GraphParams::default()
    });
    let line = Session::open(common)?.call(Method::Around, &params)?;
    let answer: GraphResult = session::result(&line)?;
    match &answer.picture {
        Some(picture) => put(args.out.as_deref(), picture)?,
        None if common.json => print_json(session::raw(&line)?)?,
        None => print_styled(&around_text(&answer, Style::of_stdout(common)))?,
    }
    if answer.bounded && answer.picture.is_some() && !common.quiet {
        eprintln!("ctl: more edges than the limit; raise it with --limit");
    }
    note(common, &answer.envelope, &[]);
    Ok(())
}

/// The edges of each root, a line each with its other end and its place; then those between others.
fn around_text(answer: &GraphResult, style: Style) -> String {
    let mut out = String::new();
    let of = |root: &Symbol, is_into: bool| -> Vec<(&GraphEdge, String)> {
        let ends = answer
            .edges
            .iter()
            .map(|e| if is_into { (e, &e.target, &e.source) } else { (e, &e.source, &e.target) });
        // A function that calls itself is named once.
        let own = ends.filter(|(e, own, _)| is_same(own, root) && !(is_into && is_same(&e.source, root)));
        own.map(|(e, _, other)| (e, style.bold(&safe_line(name_of(other))))).collect()
    };
    for root in &answer.roots {
        out += &format!("around {}  {}\n", title(root, style), place(root, style));
        let [into, out_of] = [of(root, true), of(root, false)];
        if into.is_empty() && out_of.is_empty() {
            out += "  no edges\n";
        }
        out += &around_lines("to it:", &into, style);
        out += &around_lines("from it:", &out_of, style);
    }
    let is_root = |s: &Symbol| answer.roots.iter().any(|r| is_same(r, s));
    let others = answer.edges.iter().filter(|e| !is_root(&e.source) && !is_root(&e.target));
    let between = |e: &GraphEdge| {
        let [source, target] = [&e.source, &e.target].map(|s| style.bold(&safe_line(name_of(s))));
        format!("{source} {} {target}", style.dim("to"))
    };
    let others: Vec<(&GraphEdge, String)> = others.map(|e| (e, between(e))).collect();
    out += &around_lines("further away:", &others, style);
    if answer.bounded {
        let of = format!("  {} of {} shown; raise it with --limit\n", answer.edges.len(), answer.n_edges);
        out += &style.warn(&of);
    }
    out + &format!("{}\n", style.dim(&safe_line(&answer.coverage.statement)))
}

/// A line for each edge: its kind, its end, its place.
fn around_lines(heading: &str, edges: &[(&GraphEdge, String)], style: Style) -> String {
    let mut out = if edges.is_empty() { String::new() } else { format!("  {heading}\n") };
    let width = edges.iter().map(|(e, _)| e.kind.name().len()).max().unwrap_or(0);
    for (edge, name) in edges {
        let line = edge.evidence.first().map_or(0, |e| e.line);
        let at = style.path(&format!("{}:{line}", safe_line(&edge.source.file_rel_path)));
        let test = if edge.source.test { style.dim(" test") } else { String::new() };
        out += &format!("    {} {name}  {at}{test}\n", style.dim(&format!("{:<width$}", edge.kind)));
    }
    out
}

/// The definitions that were asked about, the most used first. Each edge names its own end, so a few are enough.
pub(super) fn heads(answer: &GraphResult, style: Style) -> String {
    let mut out = String::new();
    let n_roots = answer.n_roots.max(answer.roots.len() as u64);
    for root in answer.roots.iter().take(HEADS_SHOWN) {
        // The number of lines of each definition shows which one to ask for.
        let own = answer.edges.iter().filter(|e| n_roots > 1 && is_same(&e.target, root)).count();
        let own = if own > 0 { style.dim(&format!("  ({own} below)")) } else { String::new() };
        out += &format!("{} of {}  {}{own}\n", answer.relation, title(root, style), place(root, style));
    }
    let left = n_roots.saturating_sub(HEADS_SHOWN as u64);
    if left > 0 {
        let things = if left == 1 { "definition" } else { "definitions" };
        let more = format!("and of {left} more {things} of the name: ask as Class.name or path:line\n");
        out += &style.dim(&more);
    }
    out
}

/// The edges of an answer, a line of code each with its place first, and what the graph may be missing.
pub(super) fn graph_text(answer: &GraphResult, style: Style) -> String {
    let mut out = heads(answer, style);
    for edge in &answer.edges {
        out += &edge_text(answer, edge, style);
    }
    if answer.edges.is_empty() {
        out += &format!("  no {}\n", answer.relation);
    }
    out += &limits_text(answer, style);
    for u in &answer.coverage.unresolved_examples {
        let within =
            if u.within.is_empty() { String::new() } else { format!(" in {}", safe_line(&u.within)) };
        let at = style.path(&format!("{}:{}:", safe_line(&u.file_rel_path), u.line));
        out += &format!(
            "{at} {}{}\n",
            safe_line(&u.text),
            style.dim(&format!("  [{}{within}]", u.reason.name().replace('-', " ")))
        );
    }
    out + &unnamed(answer, style)
}

/// The number of places without an edge that are not named.
pub(super) fn unnamed(answer: &GraphResult, style: Style) -> String {
    let named = answer.coverage.unresolved_examples.len() as u64;
    match answer.coverage.unresolved_same_name.saturating_sub(named) {
        0 => String::new(),
        left => style.dim(&format!("and {left} more without an edge, which --all names\n")),
    }
}

/// Through what else the roots may be called, what a limit cut, and what the graph rests on.
pub(super) fn limits_text(answer: &GraphResult, style: Style) -> String {
    let mut out = String::new();
    for through in &answer.through {
        let owner = &through.owner;
        let line = format!(
            "may be called through {} {}  {} ({} there)\n",
            owner.kind,
            style.bold(&safe_line(name_of(owner))),
            place(&through.method, style),
            crate::style::count(u64::from(through.n_callers), "caller", "callers"),
        );
        // Several definitions that are asked about may implement one method.
        if !out.contains(&line) {
            out += &line;
        }
    }
    if answer.bounded {
        let shown = answer.edges.len();
        let of = format!("{shown} of {} shown; raise it with --limit, or --all\n", answer.n_edges);
        out += &style.warn(&of);
    }
    out + &format!("{}\n", style.dim(&safe_line(&rests_on(answer, style.is_view))))
}

/// The statement of the coverage. For people the list below has the place that it names.
fn rests_on(answer: &GraphResult, is_listed: bool) -> String {
    let coverage = &answer.coverage;
    let is_listed = is_listed && !coverage.unresolved_examples.is_empty();
    let mut parts: Vec<&str> = coverage.statement.split("; ").collect();
    let text = parts.iter().position(|p| p.starts_with("the name also stands in "));
    if let (Some(at), true) = (text, is_listed) {
        parts.remove(at);
        parts.push("the name also stands in");
    }
    parts.join("; ")
}

pub(super) fn is_same(a: &Symbol, b: &Symbol) -> bool {
    a.lines == b.lines && a.name == b.name && a.file_rel_path == b.file_rel_path
}

/// The end of an edge that was asked for, and whether that is its target.
pub(super) fn ends<'a>(answer: &GraphResult, edge: &'a GraphEdge) -> (&'a Symbol, bool) {
    // What is written lies ahead of who writes it, and so does a base; all else is asked for from its target.
    let is_ahead = match answer.relation {
        Relation::Callees => true,
        Relation::Implementations => answer.roots.iter().any(|r| is_same(r, &edge.source)),
        _ => edge.kind == EdgeWord::Dataflow,
    };
    (if is_ahead { &edge.target } else { &edge.source }, is_ahead)
}

/// The end of an edge that was asked for, and the facts about the edge that are not plain: its kind unless it
/// is a call among calls, its confidence, its distance, and its target.
pub(super) fn facts<'a>(answer: &GraphResult, edge: &'a GraphEdge) -> (&'a Symbol, Vec<String>) {
    let (other, _) = ends(answer, edge);
    let is_plain =
        edge.kind == EdgeWord::Call && matches!(answer.relation, Relation::Callers | Relation::Callees);
    let mut facts = Vec::new();
    if !is_plain {
        facts.push(kind_of(edge, answer.relation).to_owned());
    }
    facts.extend((edge.confidence < 1.0).then(|| format!("{:.0}% sure", edge.confidence * 100.0)));
    facts.extend((edge.depth > 1).then(|| format!("step {}", edge.depth)));
    facts.extend(base_of(answer, edge));
    (other, facts)
}

/// The end of an edge that was not asked for, with its place if others have its name. With one root and one step
/// there is nothing else that an edge could belong to; of a file or a class it is one of many.
fn base_of(answer: &GraphResult, edge: &GraphEdge) -> Option<String> {
    let (_, is_ahead) = ends(answer, edge);
    let (base, word) = if is_ahead { (&edge.source, "from") } else { (&edge.target, "of") };
    if answer.roots.len() < 2 && edge.depth < 2 && answer.roots.iter().any(|r| is_same(r, base)) {
        return None;
    }
    let name = name_of(base);
    let is_shared = answer.roots.iter().any(|r| name_of(r) == name && !is_same(r, base));
    let at = if is_shared { format!(" at {}:{}", base.file_rel_path, base.line) } else { String::new() };
    Some(safe_line(&format!("{word} {name}{at}")))
}

fn kind_of(edge: &GraphEdge, relation: Relation) -> &'static str {
    match (edge.kind, relation) {
        (EdgeWord::Usage, Relation::Callers) if edge.source.kind == "macro" => "in the text of a macro",
        (EdgeWord::Usage, Relation::Callers) => "passed as a value",
        (EdgeWord::Dispatch, _) => "call through what it implements or overrides",
        (kind, _) => kind.name(),
    }
}

/// A line for each place of an edge.
fn edge_text(answer: &GraphResult, edge: &GraphEdge, style: Style) -> String {
    let (other, _) = ends(answer, edge);
    let kind = kind_of(edge, answer.relation);
    let mut facts = vec![format!("{} {}", other.kind, safe_line(name_of(other))), kind.to_owned()];
    if edge.confidence < 1.0 {
        facts.push(format!("{:.0}%", edge.confidence * 100.0));
    }
    if edge.depth > 1 {
        facts.push(format!("step {}", edge.depth));
    }
    facts.extend(base_of(answer, edge));
    if other.test {
        facts.push("test".to_owned());
    }
    let mut places: Vec<(u32, &str)> = edge.evidence.iter().map(|e| (e.line, e.text.as_str())).collect();
    places.dedup();
    let n_places = places.len();
    let mut out = String::new();
    for (i, (line, text)) in places.into_iter().take(LINES_SHOWN).enumerate() {
        let is_last = i + 1 == n_places.min(LINES_SHOWN);
        let is_cut = n_places > LINES_SHOWN || edge.n_evidence as usize > edge.evidence.len();
        let more = if is_last && is_cut { ", and more places" } else { "" };
        let at = style.path(&format!("{}:{line}:", safe_line(&edge.source.file_rel_path)));
        let facts = if i == 0 { facts.join(", ") } else { safe_line(name_of(other)) };
        out += &format!("{at} {}{}\n", safe_line(text), style.dim(&format!("  [{facts}{more}]")));
    }
    out
}
