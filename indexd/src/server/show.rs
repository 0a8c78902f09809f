//! `show`: definitions whole, with the numbers of their lines, within a budget.

use crate::server::{convert, graph, suggest};
use indexd_model::facts::DefIdx;
use indexd_model::{DefDoc, IndexView, Lines};
use indexd_pack::identity::Sources;
use indexd_pack::render::{self, Piece};
use indexd_proto::error::{ErrorCode, ErrorObject};
use indexd_proto::search::Symbol;
use indexd_text::TokenCounter;

/// Names and places in one request.
const WHAT_MAX: usize = 64;
/// Lines on each side of a place that is in no definition.
const LINES_AROUND: u32 = 10;

/// What was shown.
pub struct Shown {
    /// The definitions that the text shows, in its order.
    pub symbols: Vec<Symbol>,
    /// The text.
    pub text: String,
    /// Its tokens.
    pub tokens: u32,
    /// Places that had no room, or of which lines had no room.
    pub cut: Vec<String>,
    /// Names and places that stand for nothing.
    pub unknown: Vec<String>,
}

/// Lines of a file to show.
struct Wanted {
    def: DefDoc,
    path: String,
    lines: Lines,
    name: String,
}

/// Shows the definitions with these names or at these places (`path:line`, `path:first-last`, `path`), in the
/// order of the request, each once.
///
/// # Errors
/// `POC_E_INVALID_REQUEST` without a name or with more than 64; `POC_E_SYMBOL_NOT_FOUND` if no name stands for
/// anything.
pub fn show(
    view: &dyn IndexView,
    what: &[String],
    max_tokens: u32,
    counter: &dyn TokenCounter,
) -> Result<Shown, ErrorObject> {
    if what.is_empty() || what.len() > WHAT_MAX {
        return Err(ErrorObject::new(ErrorCode::InvalidRequest, "name 1 to 64 definitions or places"));
    }
    let mut wanted: Vec<Wanted> = Vec::new();
    let mut unknown: Vec<String> = Vec::new();
    for name in what {
        let found = find(view, name);
        if found.is_empty() {
            unknown.push(name.clone());
        }
        for w in found {
            let is_known =
                |k: &Wanted| k.path == w.path && k.lines.start <= w.lines.start && w.lines.end <= k.lines.end;
            if !wanted.iter().any(is_known) {
                wanted.push(w);
            }
        }
    }
    if wanted.is_empty() {
        return Err(suggest::not_found(view, &unknown[0]));
    }
    let mut shown = Shown { symbols: Vec::new(), text: String::new(), tokens: 0, cut: Vec::new(), unknown };
    let mut sources = Sources::default();
    for w in &wanted {
        let mut text = piece(view, &mut sources, w, w.lines);
        let left = max_tokens.saturating_sub(shown.tokens);
        if counter.count_tokens(&text) > left {
            let n = most_lines(w.lines.count(), |n| {
                let lines = Lines { start: w.lines.start, end: w.lines.start + n - 1 };
                counter.count_tokens(&piece(view, &mut sources, w, lines)) <= left
            });
            let from = w.lines.start + n;
            shown.cut.push(format!("{}:{from}-{}", w.path, w.lines.end));
            if n == 0 {
                continue;
            }
            text = piece(view, &mut sources, w, Lines { start: w.lines.start, end: from - 1 });
        }
        shown.text.push_str(&text);
        shown.tokens = counter.count_tokens(&shown.text);
        shown.symbols.push(convert::symbol(view, w.def));
    }
    Ok(shown)
}

/// The most lines that fit, 0 if none do.
fn most_lines(n_lines: u32, mut fits: impl FnMut(u32) -> bool) -> u32 {
    let (mut low, mut high) = (0, n_lines);
    while low < high {
        let mid = (low + high).div_ceil(2);
        if fits(mid) { low = mid } else { high = mid - 1 }
    }
    low
}

fn piece(view: &dyn IndexView, sources: &mut Sources, w: &Wanted, lines: Lines) -> String {
    let file = view.def(w.def).file;
    let source = sources.of(view, file);
    let mut out = String::new();
    let language = view.file(file).language;
    let (path, name, runs) = (&*w.path, &*w.name, &[lines][..]);
    render::piece(&Piece { path, lines: w.lines, name, language, source: &source, runs }, &mut out);
    out
}

/// The definitions that a name or `path:name` stands for, or the lines at a place.
fn find(view: &dyn IndexView, name: &str) -> Vec<Wanted> {
    if let Some(range) = range(view, name) {
        return vec![range];
    }
    let mut defs = graph::find_all(view, name);
    if let Some((path, name)) = name.rsplit_once(':').filter(|_| defs.is_empty())
        && let Some(file) = view.file_by_path(path)
    {
        defs = graph::find_all(view, name);
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
        return Wanted { def, path, lines, name: String::new() };
    }
    Wanted { def, path, lines: record.lines, name: record.qualified.to_string() }
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
    (lines.start <= lines.end).then(|| Wanted { def, path: path.to_owned(), lines, name: String::new() })
}
