//! `ctl search`, `ctl symbol` and the questions about the graph.

use super::{Target, note, overlays, print, wait, write_file};
use crate::args::{
    CardArgs, Common, GraphArgs, PictureArgs, SearchArgs, ShowArgs, SymbolArgs, WaitArgs, WhyArgs,
};
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::Progress;
use crate::session::{self, Session};
use crate::style::{Style, safe_line};
use indexd_proto::Method;
use indexd_proto::card::{CardLinks, CardParams, CardResult};
use indexd_proto::graph::{GraphEdge, GraphParams, GraphResult, Picture};
use indexd_proto::pack::Basis;
use indexd_proto::search::{
    DefinitionsParams, DefinitionsResult, SearchParams, SearchResult, Symbol, SymbolParams, SymbolResult,
};
use indexd_proto::why::{Standing, WhyParams, WhyResult};
use std::io::Read;

/// Lines of evidence shown of one edge.
const LINES_SHOWN: usize = 5;

/// Prints ranked places; nothing found is exit status 1.
pub fn search(common: &Common, args: &SearchArgs) -> Result<(), Failure> {
    let target = Target::of(common)?;
    let mut query = args.query.join(" ");
    if query == "-" {
        query.clear();
        std::io::stdin().lock().read_to_string(&mut query)?;
    }
    let mut progress = Progress::new(common.quiet);
    let params = SearchParams {
        repo: target.repo,
        cwd: target.cwd,
        query,
        expect: args.expect.clone(),
        limit: args.limit,
        neighbors: args.neighbors,
        wait: Some(wait(&args.wait)),
        progress: progress.is_wanted(),
        overlays: overlays(&args.wait)?,
    };
    let answer: SearchResult =
        print(common, &mut Session::open(common)?, Method::Search, &params, &mut progress, hits_text)?;
    note(common, &answer.envelope, &[]);
    if answer.hits.is_empty() { Err(Failure::NoResult) } else { Ok(()) }
}

/// Prints definitions whole.
pub fn show(common: &Common, args: &ShowArgs) -> Result<(), Failure> {
    let target = Target::of(common)?;
    let mut progress = Progress::new(common.quiet);
    let params = DefinitionsParams {
        repo: target.repo,
        cwd: target.cwd,
        what: args.what.clone(),
        max_tokens: Some(u32::try_from(args.budget).unwrap_or(u32::MAX)),
        wait: Some(wait(&args.wait)),
        progress: progress.is_wanted(),
        overlays: overlays(&args.wait)?,
    };
    let text = |answer: &DefinitionsResult, _| shown_text(answer, "--budget");
    let answer = print(common, &mut Session::open(common)?, Method::Show, &params, &mut progress, text)?;
    note(common, &answer.envelope, &[]);
    Ok(())
}

/// The text of shown definitions, and what had no room; `limit` names the option that makes more.
pub(super) fn shown_text(answer: &DefinitionsResult, limit: &str) -> String {
    let mut out = crate::style::safe(&answer.text);
    if !answer.cut.is_empty() {
        out +=
            &format!("no room for {}; raise {limit}, or show them alone\n", safe_line(&answer.cut.join(" ")));
    }
    if !answer.unknown.is_empty() {
        out += &format!("nothing is called {}\n", safe_line(&answer.unknown.join(", ")));
    }
    out
}

/// How sure the answer can be, one line for each hit, and how to ask better.
pub(super) fn hits_text(answer: &SearchResult, style: Style) -> String {
    let mut out = String::new();
    let confidence = answer.confidence;
    if answer.hits.is_empty() {
        return out;
    }
    let status = match confidence.basis {
        Basis::Nothing => "little of what you expect is here; the nearest places:".to_owned(),
        _ => format!("first place right in {:.0} of 10 answers like this", 10.0 * confidence.score),
    };
    out += &format!("{}\n", style.dim(&status));
    if !answer.missing.is_empty() {
        out += &format!("no code holds: {}\n", safe_line(&answer.missing.join(", ")));
    }
    for hit in &answer.hits {
        let place = format!("{}:{}", safe_line(&hit.file_rel_path), hit.line);
        let text = safe_line(&hit.text);
        let rest = text.strip_prefix(&place).unwrap_or(&text);
        out += &format!("{}{rest}\n", style.path(&place));
        let Some(near) = &hit.neighbors else { continue };
        let all = [("called by", &near.callers), ("calls", &near.callees), ("tests", &near.tests)];
        let parts: Vec<String> =
            all.into_iter().filter_map(|(label, links)| links_text(label, links)).collect();
        if !parts.is_empty() {
            out += &style.dim(&format!("    {}", parts.join(" · ")));
            out.push('\n');
        }
    }
    if confidence.basis == Basis::Question {
        let advice = "ask again with expect: names and words of the code that you look for";
        out += &format!("{}\n", style.dim(advice));
    }
    out
}

/// `calls a f.go:3, b g.go:4 (+2)`; none without any.
fn links_text(label: &str, links: &CardLinks) -> Option<String> {
    let named = links.first.iter().map(|l| format!("{} {}:{}", l.name, l.file_rel_path, l.line));
    let named: Vec<String> = named.map(|l| safe_line(&l)).collect();
    let left = links.n as usize - named.len().min(links.n as usize);
    let more = if left > 0 { format!(" (+{left})") } else { String::new() };
    (!named.is_empty()).then(|| format!("{label} {}{more}", named.join(", ")))
}

/// Prints a definition at a glance.
pub fn card(common: &Common, args: &CardArgs) -> Result<(), Failure> {
    let target = Target::of(common)?;
    let mut progress = Progress::new(common.quiet);
    let params = CardParams {
        repo: target.repo,
        cwd: target.cwd,
        symbol: args.symbol.clone(),
        max_tokens: Some(args.max_tokens),
        wait: Some(wait(&args.wait)),
        progress: progress.is_wanted(),
    };
    let text = |answer: &CardResult, _| crate::style::safe(&answer.text);
    let answer = print(common, &mut Session::open(common)?, Method::Card, &params, &mut progress, text)?;
    note(common, &answer.envelope, &[]);
    Ok(())
}

/// Says what became of a path; one that is in no way in the index is exit status 1.
pub fn why(common: &Common, args: &WhyArgs) -> Result<(), Failure> {
    let target = Target::of(common)?;
    let mut progress = Progress::new(common.quiet);
    let params = WhyParams {
        repo: target.repo,
        cwd: target.cwd,
        path: args.path.clone(),
        wait: Some(wait(&args.wait)),
        progress: progress.is_wanted(),
        overlays: overlays(&args.wait)?,
    };
    let text = |answer: &WhyResult, style: Style| {
        let path = if answer.path.is_empty() { "." } else { &answer.path };
        format!("{}: {}\n", style.path(&safe_line(path)), safe_line(&answer.reason))
    };
    let answer = print(common, &mut Session::open(common)?, Method::Why, &params, &mut progress, text)?;
    note(common, &answer.envelope, &[]);
    match answer.standing {
        Standing::Indexed | Standing::IndexedAroundErrors | Standing::WordsOnly | Standing::Folder => Ok(()),
        _ => Err(Failure::NoResult),
    }
}

/// Prints definitions.
pub fn symbol(common: &Common, args: &SymbolArgs) -> Result<(), Failure> {
    let target = Target::of(common)?;
    let mut progress = Progress::new(common.quiet);
    let params = SymbolParams {
        repo: target.repo,
        cwd: target.cwd,
        name: args.name.clone(),
        limit: Some(args.limit),
        wait: Some(wait(&args.wait)),
        progress: progress.is_wanted(),
        overlays: overlays(&args.wait)?,
    };
    let text = |answer: &SymbolResult, style: Style| {
        let mut out = String::new();
        for s in &answer.symbols {
            out += &format!("{}  {}\n", place(s, style), title(s, style));
            if let Some(id) = s.symbol_id.as_ref().filter(|_| common.verbose) {
                out += &format!("    {}\n", style.dim(&safe_line(id)));
            }
        }
        let left = answer.n_symbols.saturating_sub(answer.symbols.len() as u64);
        if left > 0 {
            out += &style.dim(&format!("and {left} more; raise it with --limit\n"));
        }
        out
    };
    let answer = print(common, &mut Session::open(common)?, Method::Symbol, &params, &mut progress, text)?;
    note(common, &answer.envelope, &[]);
    Ok(())
}

/// What all questions about the graph have in common; the limits are of edges and of their confidence.
fn graph_params(
    common: &Common,
    symbol: &str,
    (limit, min_confidence): (u32, u8),
    asked: &WaitArgs,
    progress: &Progress,
) -> Result<GraphParams, Failure> {
    let target = Target::of(common)?;
    Ok(GraphParams {
        repo: target.repo,
        cwd: target.cwd,
        symbol: symbol.to_owned(),
        limit: Some(limit),
        min_confidence: Some(min_confidence),
        wait: Some(wait(asked)),
        progress: progress.is_wanted(),
        overlays: overlays(asked)?,
        ..GraphParams::default()
    })
}

/// Prints edges with their evidence, and what the graph may be missing.
pub fn graph(common: &Common, args: &GraphArgs, method: Method) -> Result<(), Failure> {
    let mut progress = Progress::new(common.quiet);
    let params = GraphParams {
        depth: args.depth,
        dispatch: method == Method::Callers,
        all: args.all,
        limit: (!args.all).then_some(args.limit),
        ..graph_params(common, &args.symbol, (args.limit, args.min_confidence), &args.wait, &progress)?
    };
    let answer: GraphResult =
        print(common, &mut Session::open(common)?, method, &params, &mut progress, graph_text)?;
    note(common, &answer.envelope, &[]);
    Ok(())
}

/// Prints what stands around a definition as a picture, or one line for each edge.
pub fn picture(common: &Common, args: &PictureArgs) -> Result<(), Failure> {
    let mut progress = Progress::new(common.quiet);
    let params = GraphParams {
        depth: Some(args.depth),
        picture: match (args.svg, args.dot, args.mermaid) {
            (true, ..) => Some(Picture::Svg),
            (_, true, _) => Some(Picture::Dot),
            (.., true) => Some(Picture::Mermaid),
            _ => None,
        },
        ..graph_params(common, &args.symbol, (args.limit, args.min_confidence), &args.wait, &progress)?
    };
    let line = Session::open(common)?.call(Method::Around, &params, &mut progress)?;
    let answer: GraphResult = session::result(&line)?;
    let mut out = Output::new();
    match (&answer.picture, &args.out) {
        (Some(picture), Some(path)) => {
            write_file(path, picture)?;
            out.line(&path.display().to_string())?;
        }
        (Some(picture), None) => out.text(picture)?,
        _ if common.json => out.json_line(session::raw(&line)?)?,
        _ => out.styled(&around_text(&answer, Style::of_stdout(common.color)))?,
    }
    out.finish()?;
    if answer.bounded && answer.picture.is_some() && !common.quiet {
        eprintln!("ctl: more edges than the limit; raise it with --limit");
    }
    note(common, &answer.envelope, &[]);
    Ok(())
}

/// One line for each edge, in its direction.
fn around_text(answer: &GraphResult, style: Style) -> String {
    let mut out = String::new();
    for root in &answer.roots {
        out += &format!("around {}  {}\n", title(root, style), place(root, style));
    }
    for edge in &answer.edges {
        let line = edge.evidence.first().map_or(0, |e| e.line);
        let at = style.path(&format!("{}:{line}", safe_line(&edge.source.file_rel_path)));
        let [source, target] = [&edge.source, &edge.target].map(|s| style.bold(&safe_line(name_of(s))));
        let test = if edge.source.test { style.dim(" test") } else { String::new() };
        let indent = "  ".repeat(edge.depth as usize);
        out += &format!("{indent}{source} {} {target}  {at}{test}\n", style.dim(&edge.kind));
    }
    if answer.edges.is_empty() {
        out += "  no edges\n";
    }
    if answer.bounded {
        let of = format!("  {} of {} shown; raise it with --limit\n", answer.edges.len(), answer.n_edges);
        out += &style.warn(&of);
    }
    out + &format!("{}\n", style.dim(&safe_line(&answer.coverage.statement)))
}

/// The edges of an answer, a line of code each with its place first, and what the graph may be missing.
pub(super) fn graph_text(answer: &GraphResult, style: Style) -> String {
    let mut out = String::new();
    for root in &answer.roots {
        out += &format!("{} of {}  {}\n", answer.relation, title(root, style), place(root, style));
    }
    let n_left = answer.n_roots.saturating_sub(answer.roots.len() as u64);
    if n_left > 0 {
        out += &style.dim(&format!("and of {n_left} more definitions of the name, which --all names\n"));
    }
    for edge in &answer.edges {
        // What is written lies ahead of who writes it, and so does a base; all else is asked for from its target.
        let is_root = |s: &Symbol| answer.roots.iter().any(|r| is_same(r, s));
        let is_ahead = match answer.relation.as_str() {
            "callees" => true,
            "implementations" => is_root(&edge.source),
            _ => edge.kind == "dataflow",
        };
        let base = if is_ahead { &edge.source } else { &edge.target };
        // Of a file or a class it is one of many.
        let shows_base = answer.roots.len() > 1 || edge.depth > 1 || !is_root(base);
        out += &edge_text(edge, (is_ahead, shows_base), &answer.relation, style);
    }
    if answer.edges.is_empty() {
        out += &format!("  no {}\n", answer.relation);
    }
    for through in &answer.through {
        let owner = &through.owner;
        out += &format!(
            "may be called through {} {}  {} ({} there)\n",
            owner.kind,
            style.bold(&safe_line(name_of(owner))),
            place(&through.method, style),
            crate::style::count(u64::from(through.n_callers), "caller", "callers"),
        );
    }
    if answer.bounded {
        let shown = answer.edges.len();
        let of = format!("{shown} of {} shown; raise it with --limit, or --all\n", answer.n_edges);
        out += &style.warn(&of);
    }
    out += &format!("{}\n", style.dim(&safe_line(&answer.coverage.statement)));
    for u in &answer.coverage.unresolved_examples {
        let within =
            if u.within.is_empty() { String::new() } else { format!(" in {}", safe_line(&u.within)) };
        let at = style.path(&format!("{}:{}:", safe_line(&u.file_rel_path), u.line));
        out += &format!("{at} {}{}\n", safe_line(&u.text), style.dim(&format!("  [{}{within}]", u.reason)));
    }
    let named = answer.coverage.unresolved_examples.len() as u64;
    if named < answer.coverage.unresolved_same_name {
        let left = answer.coverage.unresolved_same_name - named;
        out += &style.dim(&format!("and {left} more without an edge, which --all names\n"));
    }
    out
}

fn is_same(a: &Symbol, b: &Symbol) -> bool {
    a.lines == b.lines && a.name == b.name && a.file_rel_path == b.file_rel_path
}

/// A line for each place of an edge.
fn edge_text(edge: &GraphEdge, (is_ahead, shows_base): (bool, bool), relation: &str, style: Style) -> String {
    let (other, base) = if is_ahead { (&edge.target, &edge.source) } else { (&edge.source, &edge.target) };
    let kind = match edge.kind.as_str() {
        "usage" if relation == "callers" => "passed as a value",
        "dispatch" => "call through what it implements or overrides",
        kind => kind,
    };
    let mut facts = vec![format!("{} {}", other.kind, safe_line(name_of(other))), kind.to_owned()];
    if edge.confidence < 1.0 {
        facts.push(format!("{:.0}%", edge.confidence * 100.0));
    }
    if edge.depth > 1 {
        facts.push(format!("step {}", edge.depth));
    }
    // With one root and one step there is nothing else that it could belong to.
    if shows_base {
        facts.push(format!("{} {}", if is_ahead { "from" } else { "of" }, safe_line(name_of(base))));
    }
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

fn place(s: &Symbol, style: Style) -> String {
    style.path(&format!("{}:{}", safe_line(&s.file_rel_path), s.line))
}

fn title(s: &Symbol, style: Style) -> String {
    format!("{} {}", style.dim(&s.kind), style.bold(&safe_line(name_of(s))))
}

fn name_of(s: &Symbol) -> &str {
    if s.qualified_name.is_empty() { &s.name } else { &s.qualified_name }
}
