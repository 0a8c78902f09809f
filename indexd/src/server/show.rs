//! `show`: definitions whole, with the numbers of their lines, within a budget.

use crate::server::backend::Cancel;
use crate::server::{convert, suggest};
use indexd_model::facts::DefIdx;
use indexd_model::limits::EXPECT_MAX;
use indexd_model::{DefDoc, IndexView, Lines};
use indexd_pack::excerpt;
use indexd_pack::graph::names;
use indexd_pack::identity::Sources;
use indexd_pack::render::{self, Piece};
use indexd_proto::error::ErrorObject;
use indexd_proto::search::DefinitionsResult;
use indexd_text::TokenCounter;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Names and places in one request.
const WHAT_MAX: usize = 64;
/// Lines on each side of a place that is in no definition.
const LINES_AROUND: u32 = 10;
/// Definitions of up to this number of lines are shown whole.
const WHOLE_LINES: u32 = 40;
/// Lines that are shown on each side of one that holds a word. A gap between two shown runs is longer.
const LINES_BESIDE: u32 = 3;

/// More lines for each token that is left are not tried: blank lines share tokens, and others take one.
const LINES_PER_TOKEN: u32 = 16;

/// Lines of a file to show.
struct Wanted {
    def: DefDoc,
    path: String,
    lines: Lines,
    /// The lines of it to show, in order.
    runs: Vec<Lines>,
    name: String,
}

/// Shows the definitions with these names or at these places (`path:line`, `path:first-last`, `path`), in the
/// order of the request, each once. Of a long definition the lines near the words of `expect` are shown. The
/// answer has no envelope.
///
/// # Errors
/// `POC_E_INVALID_REQUEST` without a name or with more than 64; `POC_E_SYMBOL_NOT_FOUND` if no name stands for
/// anything; `POC_E_CANCELLED`.
pub fn show(
    view: &dyn IndexView,
    what: &[String],
    expect: &[String],
    max_tokens: u32,
    counter: &dyn TokenCounter,
    cancel: &Cancel,
) -> Result<DefinitionsResult, ErrorObject> {
    if what.is_empty() || what.len() > WHAT_MAX {
        return Err(ErrorObject::invalid("name 1 to 64 definitions or places"));
    }
    let mut shown = DefinitionsResult::default();
    let mut wanted = wanted_of(view, what, &mut shown);
    if wanted.is_empty() {
        return Err(suggest::not_found(view, &shown.unknown[0]));
    }
    let mut sources = Sources::default();
    let words = words(expect)?;
    for w in &mut wanted {
        cancel.check()?;
        let left = max_tokens.saturating_sub(shown.tokens);
        let (text, n) = if left > 0 {
            fitting(view, &mut sources, w, &words, (left, counter))
        } else {
            (String::new(), 0)
        };
        if n < w.lines.count() {
            shown.cut.push(format!("{}:{}-{}", w.path, w.lines.start + n, w.lines.end));
        }
        if n > 0 {
            // Each piece is counted by itself, which is never less than it adds.
            shown.tokens += counter.count_tokens(&text);
            shown.text.push_str(&text);
            shown.symbols.push(convert::symbol(view, w.def));
        }
    }
    shown.tokens = counter.count_tokens(&shown.text);
    Ok(shown)
}

/// The lines to show for each name, none twice. Notes in `shown` the unknown names, and the
/// places of tests with a name of product code.
fn wanted_of(view: &dyn IndexView, what: &[String], shown: &mut DefinitionsResult) -> Vec<Wanted> {
    let mut wanted: Vec<Wanted> = Vec::new();
    let mut known: FxHashMap<String, Vec<Lines>> = FxHashMap::default();
    for name in what {
        let mut found = find(view, name);
        // A bare name is the one of product code, if that has it.
        let is_test = |w: &Wanted| names::is_test(view, &view.def(w.def));
        if found.iter().any(|w| !is_test(w)) {
            let named = found.extract_if(.., |w| is_test(w));
            shown.tests.extend(named.map(|w| format!("{}:{}-{}", w.path, w.lines.start, w.lines.end)));
        }
        if found.is_empty() {
            shown.unknown.push(name.clone());
        }
        for w in found {
            let known = known.entry(w.path.clone()).or_default();
            if !known.iter().any(|k| k.start <= w.lines.start && w.lines.end <= k.end) {
                known.push(w.lines);
                wanted.push(w);
            }
        }
    }
    wanted
}

/// The words to look for, in small letters, each once.
fn words(expect: &[String]) -> Result<Vec<String>, ErrorObject> {
    let each = expect.iter().flat_map(|e| e.split([' ', '\t', '\n', ',', ';'])).filter(|w| !w.is_empty());
    let words: BTreeSet<String> = each.map(str::to_lowercase).collect();
    if words.len() > EXPECT_MAX {
        return Err(ErrorObject::invalid(format!("expect has more than {EXPECT_MAX} words")));
    }
    Ok(words.into_iter().collect())
}

/// The text of the first lines of a definition that fit into the tokens that are left, and how many of its
/// lines that are.
fn fitting(
    view: &dyn IndexView,
    sources: &mut Sources,
    w: &mut Wanted,
    words: &[String],
    (left, counter): (u32, &dyn TokenCounter),
) -> (String, u32) {
    w.runs = runs_near(view, sources, w, words);
    let until = |w: &Wanted, n: u32| Lines { start: w.lines.start, end: w.lines.start + n - 1 };
    let n_lines = w.lines.count();
    let lines_max = left.saturating_mul(LINES_PER_TOKEN);
    if w.runs.iter().map(|r| r.count()).sum::<u32>() <= lines_max {
        let whole = piece(view, sources, w, w.lines);
        if counter.count_tokens(&whole) <= left {
            return (whole, n_lines);
        }
    }
    let last = w.runs.iter().scan(lines_max, |left, run| {
        let n = run.count().min(*left);
        *left -= n;
        (n > 0).then_some(run.start + n)
    });
    let most = last.last().map_or(0, |end| (end - w.lines.start).min(n_lines));
    let n = excerpt::most(most, |n| counter.count_tokens(&piece(view, sources, w, until(w, n))) <= left);
    (if n > 0 { piece(view, sources, w, until(w, n)) } else { String::new() }, n)
}

fn piece(view: &dyn IndexView, sources: &mut Sources, w: &Wanted, lines: Lines) -> String {
    let file = view.def(w.def).file;
    let source = sources.of(view, file);
    let mut out = String::new();
    let language = view.file(file).language;
    let cut = |r: &Lines| (r.start <= lines.end).then(|| Lines { start: r.start, end: r.end.min(lines.end) });
    let runs: Vec<Lines> = w.runs.iter().filter_map(cut).collect();
    let (path, name, runs) = (&*w.path, &*w.name, &*runs);
    render::piece(&Piece { path, lines: w.lines, name, language, source: &source, runs }, &mut out);
    out
}

/// The head of a long definition and the lines near those that hold a word, rarest words first while they are
/// few; all lines of a short one, and where no line holds any.
fn runs_near(view: &dyn IndexView, sources: &mut Sources, w: &Wanted, words: &[String]) -> Vec<Lines> {
    let record = view.def(w.def);
    if words.is_empty() || record.idx == DefIdx::NONE || w.lines.count() <= WHOLE_LINES {
        return vec![w.lines];
    }
    let source = sources.of(view, record.file);
    let head = excerpt::signature(&source, &record);
    let texts: Vec<String> = (head.end + 1..=w.lines.end)
        .map(|line| source.slice(source.lines().span(line)).to_lowercase())
        .collect();
    let lines_with = |word: &String| {
        let held = (head.end + 1..).zip(&texts).filter(|(_, text)| text.contains(word));
        held.map(|(line, _)| line).collect::<Vec<u32>>()
    };
    let mut found: Vec<Vec<u32>> = words.iter().map(lines_with).filter(|l| !l.is_empty()).collect();
    found.sort_by_key(Vec::len);
    let mut runs = vec![head];
    for lines in found {
        let near = lines.into_iter().map(|line| Lines {
            start: line.saturating_sub(LINES_BESIDE).max(w.lines.start),
            end: (line + LINES_BESIDE).min(w.lines.end),
        });
        let wider = without_small_gaps(render::union(runs.iter().copied().chain(near)));
        if runs.len() > 1 && wider.iter().map(|r| r.count()).sum::<u32>() > WHOLE_LINES {
            break;
        }
        runs = wider;
    }
    if runs == [head] { vec![w.lines] } else { runs }
}

/// Joins runs between which few lines are: the mark of a gap would take as much room.
fn without_small_gaps(runs: Vec<Lines>) -> Vec<Lines> {
    let mut out: Vec<Lines> = Vec::new();
    for run in runs {
        match out.last_mut() {
            Some(last) if run.start - last.end <= LINES_BESIDE => last.end = run.end,
            _ => out.push(run),
        }
    }
    out
}

/// The definitions of a name or of `path:name`, or the lines at a place.
fn find(view: &dyn IndexView, name: &str) -> Vec<Wanted> {
    if let Some(range) = range(view, name) {
        return vec![range];
    }
    let mut defs = names::find_all(view, name);
    if let Some((path, name)) = name.rsplit_once(':').filter(|_| defs.is_empty())
        && let Some(file) = view.file_by_path(path)
    {
        defs = names::find_all(view, name);
        defs.retain(|def| view.def(*def).file == file);
    }
    defs.into_iter().map(|def| whole(view, def, name)).collect()
}

/// A definition with its doc comment; for a file all of its lines, or those around the line that `name` ends
/// with.
fn whole(view: &dyn IndexView, def: DefDoc, name: &str) -> Wanted {
    let record = view.def(def);
    let path = view.path(record.file).to_string();
    if record.idx == DefIdx::NONE {
        let n_lines = view.file(record.file).n_lines.max(1);
        let line = name.rsplit_once(':').and_then(|(_, line)| line.parse::<u32>().ok());
        let lines = line.map_or(Lines { start: 1, end: n_lines }, |line| Lines {
            start: line.saturating_sub(LINES_AROUND).max(1),
            end: (line + LINES_AROUND).min(n_lines),
        });
        return wanted(def, path, lines, String::new());
    }
    wanted(def, path, record.lines, record.qualified.to_string())
}

fn wanted(def: DefDoc, path: String, lines: Lines, name: String) -> Wanted {
    Wanted { def, path, lines, runs: vec![lines], name }
}

/// The lines of `path:first-last`.
fn range(view: &dyn IndexView, name: &str) -> Option<Wanted> {
    let (path, range) = name.trim().rsplit_once(':')?;
    let (first, last) = range.split_once('-')?;
    let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
    let file = view.file_by_path(path)?;
    let n_lines = view.file(file).n_lines;
    let lines = Lines { start: first.max(1), end: last.min(n_lines) };
    let def = view.def_doc(file, DefIdx::NONE);
    (lines.start <= lines.end).then(|| wanted(def, path.to_owned(), lines, String::new()))
}
