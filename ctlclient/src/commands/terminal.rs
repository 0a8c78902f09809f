//! Answers for people on a terminal: places, shown definitions, lines that match, and edges, with coloured code.

use super::lookup::{name_of, neighbors};
use super::pack_text::numbered;
use crate::cli::Common;
use crate::code::{Code, Look, columns_of, wrap};
use crate::failure::Failure;
use crate::output::print_styled;
use crate::session::Session;
use crate::style::{Style, count, number, safe_line};
use indexd_proto::graph::{GraphEdge, GraphResult};
use indexd_proto::grep::{GrepLine, GrepRole};
use indexd_proto::pack::Basis;
use indexd_proto::search::{DefinitionsResult, SearchResult, Symbol};
use std::collections::BTreeMap;

/// Places of one edge that are shown.
const PLACES_SHOWN: usize = 5;

/// Lines of a file: path, first, last.
pub type Places = Vec<(String, u32, u32)>;

/// Prints what `view` makes of the syntax of `places`, through the pager if it is long.
pub fn print(
    common: &Common,
    session: &mut Session,
    style: Style,
    places: Places,
    view: impl FnOnce(&Code) -> String,
) -> Result<(), Failure> {
    let code = Code::of(common, session, style, places);
    print_styled(&view(&code))
}

/// The lines that matter of hits.
pub fn hit_places(answer: &SearchResult) -> Places {
    answer.hits.iter().map(|h| (h.file_rel_path.clone(), h.match_line, h.match_line)).collect()
}

/// Hits, two lines each: place and name, then the line that matters.
pub fn hits(answer: &SearchResult, style: Style, code: &Code) -> String {
    let mut out = String::new();
    let confidence = answer.confidence;
    if answer.hits.is_empty() {
        return "Nothing found. Try other words, or `ctl grep TEXT` for a text as it stands.\n".to_owned();
    }
    let status = match confidence.basis {
        Basis::Nothing => "Little of what you expect is here; the nearest places:".to_owned(),
        _ => format!("The first place is right in {:.0} of 10 answers like this", 10.0 * confidence.score),
    };
    out += &format!("{}\n", style.dim(&status));
    if !answer.missing.is_empty() {
        out += &format!("no code holds: {}\n", safe_line(&answer.missing.join(", ")));
    }
    for (i, hit) in answer.hits.iter().enumerate() {
        let at = format!("{}:{}", safe_line(&hit.file_rel_path), hit.line);
        let name = if hit.name.is_empty() { String::new() } else { safe_line(&hit.name) };
        let n = style.dim(&format!("{:>3}", i + 1));
        let room = style.width.saturating_sub(4);
        match room.checked_sub(columns_of(&name) + columns_of(&at) + 2) {
            Some(_) if name.is_empty() => out += &format!("{n} {}\n", style.path(&at)),
            Some(_) => out += &format!("{n} {}  {}\n", style.bold(&name), style.path(&at)),
            None => {
                out += &format!("{n} {}\n    {}\n", style.bold(&name), style.place(&at, room));
            }
        }
        let (line, text) = matter(&hit.text, &hit.title, hit.match_line);
        let gutter = format!("{line:>7} │ ");
        let text =
            code.one_line(&hit.file_rel_path, line, text, style.width.saturating_sub(gutter.len()), style);
        out += &format!("{}{text}\n", style.dim(&gutter));
        for text in neighbors(hit) {
            let lines = crate::code::words(&text, style.width.saturating_sub(10));
            out.extend(lines.lines().map(|l| format!("          {}\n", style.dim(l))));
        }
    }
    if confidence.basis == Basis::Question {
        let advice = "name what the code may say, as in  -e 'retryDelay backoff'";
        out += &format!("{} {advice}\n", style.warn("surer:"));
    }
    out
}

/// The line that matters of a hit, as its text ends with it, `path:1 name  12: code`; else its title.
fn matter<'t>(text: &'t str, title: &'t str, match_line: u32) -> (u32, &'t str) {
    let mark = format!("  {match_line}: ");
    text.split_once(&mark).map_or((match_line, title), |(_, code)| (match_line, code))
}

/// A run of lines in the text of shown definitions.
struct Piece<'t> {
    path: &'t str,
    first: u32,
    heading: &'t str,
    lines: Vec<&'t str>,
}

/// Reads pieces as [`DefinitionsResult`] has them: `path:1-9 name`, a fence, lines with marks of their numbers.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut out: Vec<Piece> = Vec::new();
    let mut lines = text.lines();
    while let Some(heading) = lines.next() {
        let place = heading.split(' ').next().unwrap_or(heading);
        let first = place.rsplit_once(':').and_then(|(path, range)| {
            let first = range.split('-').next()?.parse().ok()?;
            Some((path, first))
        });
        let (Some((path, first)), Some(open)) = (first, lines.next()) else { continue };
        let fence: String = open.chars().take_while(|c| *c == '`').collect();
        let mut piece = Piece { path, first, heading, lines: Vec::new() };
        for line in lines.by_ref().take_while(|l| *l != fence) {
            let next = first + piece.lines.len() as u32;
            if !is_mark(line, next) {
                piece.lines.push(line);
            }
        }
        out.push(piece);
    }
    out
}

/// True if a line only says the number of the next one: a comment as ` // :560`.
fn is_mark(line: &str, next: u32) -> bool {
    let leader = line.trim().strip_suffix(&format!(":{next}"));
    leader.is_some_and(|l| l.len() < 8 && !l.contains(char::is_alphanumeric) && l.ends_with(' '))
}

/// The lines of shown definitions.
pub fn shown_places(answer: &DefinitionsResult) -> Places {
    let of = |p: Piece| (p.path.to_owned(), p.first, p.first + p.lines.len().max(1) as u32 - 1);
    pieces(&answer.text).into_iter().map(of).collect()
}

/// Definitions with a heading and numbered lines each.
pub fn shown(answer: &DefinitionsResult, style: Style, code: &Code) -> String {
    let mut out = String::new();
    for (i, piece) in pieces(&answer.text).iter().enumerate() {
        let (place, name) = piece.heading.split_once(' ').unwrap_or((piece.heading, ""));
        let gap = if i > 0 { "\n" } else { "" };
        let heading = format!("{} {}", style.bold(&safe_line(name)), style.path(&safe_line(place)));
        out += &format!("{gap}{}\n", heading.trim_start());
        for (line, number) in piece.lines.iter().zip(piece.first..) {
            out += &numbered(piece.path, number, line, style, code);
        }
    }
    out + &super::lookup::not_shown(answer, "--budget")
}

/// The lines that match.
pub fn grep_places(lines: &[GrepLine]) -> Places {
    let of = |l: &GrepLine| {
        let (before, after) = (l.before.len() as u32, l.after.len() as u32);
        (l.file_rel_path.clone(), l.line - before.min(l.line - 1), l.line + after)
    };
    lines.iter().map(of).collect()
}

/// Lines that match, by file and definition; `texts` are patterns that are texts, whose places are marked.
pub fn lines(lines: &[GrepLine], n_lines: u64, texts: &Texts, style: Style, code: &Code) -> String {
    if lines.is_empty() {
        return "No line matches.\n".to_owned();
    }
    let mut out = String::new();
    let mut last: Option<(&str, Option<&str>)> = None;
    for line in code_first(lines) {
        let path = line.file_rel_path.as_str();
        let within = line.within.as_ref().map(|w| w.name.as_str());
        if last.is_none_or(|(p, _)| p != path) {
            out += if last.is_some() { "\n" } else { "" };
            out += &format!("{}\n", style.path(&safe_line(path)));
        }
        if last.is_none_or(|l| l != (path, within)) && within.is_some() {
            out += &format!("  {}\n", style.bold(&safe_line(within.unwrap_or_default())));
        }
        last = Some((path, within));
        let around = |n: u32, text: &str, mark: char| {
            let gutter = format!("{n:>6} {mark} ");
            let width = style.width.saturating_sub(gutter.chars().count());
            let pieces = texts.marked(code.pieces(path, n, text));
            let mut wrapped = wrap(&pieces, width, style).into_iter();
            let first = wrapped.next().unwrap_or_default();
            let more = wrapped.map(|l| format!("{}{l}\n", style.dim("       ┊ ")));
            format!("{}{first}\n{}", style.dim(&gutter), more.collect::<String>())
        };
        let first = line.line - (line.before.len() as u32).min(line.line - 1);
        line.before.iter().zip(first..).for_each(|(t, n)| out += &around(n, t, '·'));
        let mark = if line.role == Some(GrepRole::Def) { '◆' } else { '│' };
        out += &around(line.line, line.text.trim_start(), mark);
        line.after.iter().zip(line.line + 1..).for_each(|(t, n)| out += &around(n, t, '·'));
    }
    let shown = lines.len() as u64;
    if shown < n_lines {
        out += &style.dim(&format!("\n{} more lines; --all prints them\n", number(n_lines - shown)));
    }
    out
}

/// Lines by file: files with definitions, then with uses, then those without code, tests behind others.
fn code_first(lines: &[GrepLine]) -> Vec<&GrepLine> {
    // Headings of documents are definitions, too.
    let is_document = |path: &str| [".md", ".rst", ".txt", ".adoc"].iter().any(|end| path.ends_with(end));
    let rank = |l: &GrepLine| match l.role {
        _ if is_document(&l.file_rel_path) => 3,
        Some(GrepRole::Def) => 0,
        Some(GrepRole::Call | GrepRole::Ref | GrepRole::Import) => 1,
        Some(GrepRole::String | GrepRole::Comment) => 2,
        _ => 3,
    };
    let mut files: BTreeMap<&str, (bool, u8)> = BTreeMap::new();
    for l in lines {
        let key = files.entry(&l.file_rel_path).or_insert((l.test, 3));
        *key = (key.0 && l.test, key.1.min(rank(l)));
    }
    let mut sorted: Vec<&GrepLine> = lines.iter().collect();
    sorted.sort_by_key(|l| files[l.file_rel_path.as_str()]);
    sorted
}

/// Patterns that are plain texts.
pub struct Texts {
    texts: Vec<String>,
    ignores_case: bool,
}

impl Texts {
    /// Takes the patterns that are texts, letter by letter.
    pub fn of(patterns: &[String], fixed: bool, ignores_case: bool) -> Self {
        let is_text =
            |p: &&String| fixed || !p.contains(['\\', '.', '*', '+', '?', '(', '[', '{', '|', '^', '$']);
        let as_is = |p: &String| if ignores_case { p.to_ascii_lowercase() } else { p.clone() };
        let texts = patterns.iter().filter(|p| !p.is_empty()).filter(is_text).map(as_is).collect();
        Self { texts, ignores_case }
    }

    /// Pieces with those of the texts marked.
    fn marked<'t>(&self, pieces: Vec<(Look, &'t str)>) -> Vec<(Look, &'t str)> {
        let mut out = Vec::new();
        for (look, text) in pieces {
            let mut rest = text;
            while let Some((at, end)) = self.first(rest) {
                out.extend([(look, &rest[..at]), (Look::Match, &rest[at..end])]);
                rest = &rest[end..];
            }
            out.push((look, rest));
        }
        out
    }

    fn first(&self, text: &str) -> Option<(usize, usize)> {
        let lower = if self.ignores_case { text.to_ascii_lowercase() } else { text.to_owned() };
        self.texts.iter().filter_map(|t| lower.find(t).map(|at| (at, at + t.len()))).min()
    }
}

/// The places of edges.
pub fn edge_places(answer: &GraphResult) -> Places {
    let of = |e: &GraphEdge| {
        let path = e.source.file_rel_path.clone();
        e.evidence.iter().take(PLACES_SHOWN).map(move |p| (path.clone(), p.line, p.line)).collect::<Places>()
    };
    let unresolved = &answer.coverage.unresolved_examples;
    let unresolved = unresolved.iter().map(|u| (u.file_rel_path.clone(), u.line, u.line));
    answer.edges.iter().flat_map(of).chain(unresolved).collect()
}

/// Edges by who is at their other end, each with its lines of code; then what the graph may be missing.
pub fn edges(answer: &GraphResult, style: Style, code: &Code) -> String {
    let mut out = super::graph::heads(answer, style);
    let is_of_tests = |e: &&GraphEdge| super::graph::ends(answer, e).0.test;
    let (tests, others): (Vec<&GraphEdge>, Vec<&GraphEdge>) = answer.edges.iter().partition(is_of_tests);
    let has_both = !tests.is_empty() && !others.is_empty();
    for (edges, label) in [(others, None), (tests, has_both.then_some("tests"))] {
        if let Some(label) = label {
            out += &format!("\n{}\n", style.bold(label));
        }
        let mut last: Option<&Symbol> = None;
        for edge in edges {
            out += &edge_lines(answer, edge, &mut last, style, code);
        }
    }
    if answer.edges.is_empty() && !answer.coverage.statement.starts_with("no ") {
        out += &format!("\n  no {}\n", answer.relation);
    }
    out.push('\n');
    out += &super::graph::limits_text(answer, style);
    out + &unresolved(answer, style, code)
}

fn edge_lines<'a>(
    answer: &'a GraphResult,
    edge: &'a GraphEdge,
    last: &mut Option<&'a Symbol>,
    style: Style,
    code: &Code,
) -> String {
    let (other, facts) = super::graph::facts(answer, edge);
    let path = &edge.source.file_rel_path;
    let mut out = String::new();
    if !last.is_some_and(|l| super::graph::is_same(l, other)) {
        let at = format!("{}:{}", safe_line(&other.file_rel_path), other.line);
        let name = safe_line(name_of(other));
        let room = style.width.saturating_sub(columns_of(&name) + 2);
        match columns_of(&at) <= room {
            _ if name == other.file_rel_path => out += &format!("\n{}\n", style.path(&name)),
            true => out += &format!("\n{}  {}\n", style.bold(&name), style.path(&at)),
            false => out += &format!("\n{}\n  {}\n", style.bold(&name), style.place(&at, style.width - 2)),
        }
    }
    *last = Some(other);
    // A call shows as such in its line.
    if !facts.is_empty() && facts != ["call"] {
        let lines = crate::code::words(&facts.join(", "), style.width.saturating_sub(2));
        out.extend(lines.lines().map(|l| format!("  {}\n", style.dim(l))));
    }
    let mut places: Vec<(u32, &str)> = edge.evidence.iter().map(|e| (e.line, e.text.as_str())).collect();
    places.dedup();
    for (line, text) in places.iter().take(PLACES_SHOWN) {
        out += &numbered(path, *line, text, style, code);
    }
    let n_left = (edge.n_evidence as usize).max(places.len()) - places.len().min(PLACES_SHOWN);
    if n_left > 0 && places.len() >= PLACES_SHOWN {
        out += &style.dim(&format!("      ⋮ {}\n", count(n_left as u64, "more place", "more places")));
    }
    out
}

/// Places of the name that no edge explains.
fn unresolved(answer: &GraphResult, style: Style, code: &Code) -> String {
    let mut out = String::new();
    let mut last = "";
    for u in &answer.coverage.unresolved_examples {
        if u.file_rel_path != last {
            out += &format!("{}\n", style.path(&safe_line(&u.file_rel_path)));
            last = &u.file_rel_path;
        }
        let room = style.width.saturating_sub(10 + u.reason.name().len());
        let text = code.one_line(&u.file_rel_path, u.line, &u.text, room, style);
        let gutter = style.dim(&format!("{:>5} │", u.line));
        out += &format!("{gutter} {text}  {}\n", style.dim(&u.reason.name().replace('-', " ")));
    }
    out + &super::graph::unnamed(answer, style)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_definitions_are_read_with_their_numbers() {
        let text = "a.go:8-11 T.F\n```go\nfunc F() {\n // :9\n\tx := \"``\"\n // :9\n}\n```\nb.md:1-2 head\n````md\n```\n# b\n````\n";
        let found: Vec<(&str, u32, Vec<&str>)> =
            pieces(text).into_iter().map(|p| (p.path, p.first, p.lines)).collect();
        let expect = [
            ("a.go", 8, vec!["func F() {", "\tx := \"``\"", " // :9", "}"]),
            ("b.md", 1, vec!["```", "# b"]),
        ];
        assert_eq!(found, expect);
    }

    #[test]
    fn texts_that_were_looked_for_are_marked() {
        let check = |patterns: &[&str], fixed, ignores, line: &str, expect: &[&str]| {
            let patterns: Vec<String> = patterns.iter().map(ToString::to_string).collect();
            let marked = Texts::of(&patterns, fixed, ignores).marked(vec![(Look::Plain, line)]);
            let found: Vec<&str> =
                marked.iter().filter(|(l, _)| *l == Look::Match).map(|(_, t)| *t).collect();
            assert_eq!(found, expect, "{patterns:?}");
            assert_eq!(marked.iter().map(|(_, t)| *t).collect::<String>(), line);
        };
        check(&["ab", "b c"], false, false, "ab c ab", &["ab", "ab"]);
        check(&["AB"], false, true, "xAb", &["Ab"]);
        check(&["a.b"], false, false, "a.b", &[]);
        check(&["a.b"], true, false, "a.b", &["a.b"]);
    }
}
