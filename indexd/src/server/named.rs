//! Where a name stands in the indexed text without an edge: each place may be a use.
//!
//! A negative answer is worth nothing without this look. What stands there and is an edge, a local name,
//! a definition or a comment is known; all else is counted, by why it has no edge.

use crate::server::backend::Cancel;
use crate::server::grep::roles::{Places, overlap};
use crate::server::grep::{line_at, words_in};
use indexd_model::grams::Need;
use indexd_model::path::file_name_of;
use indexd_model::view::CONFIDENCE_CERTAIN;
use indexd_model::{
    DefDoc, DefIdx, DefKind, Facts, FileDoc, FileRoles, IndexView, Key, Language, LineIndex, Outcome, Span,
    UnresolvedReason,
};
use indexd_proto::error::ErrorObject;
use indexd_proto::graph::{Coverage, NoEdge, UnresolvedPlace};
use indexd_proto::grep::GrepRole;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// How far one look goes.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// Files that are read; of more the answer says how many.
    pub files_max: usize,
    /// Places that are named in the answer.
    pub places_max: usize,
}

/// What a place is worth to whoever asks for uses: what could be one comes first, what is known to be
/// something else last.
fn rank(reason: NoEdge) -> usize {
    let texts = [NoEdge::NotFollowed, NoEdge::String];
    let mut order = POSSIBLE.iter().map(|(reason, _)| *reason).chain(texts);
    order.position(|r| r == reason).unwrap_or(POSSIBLE.len() + texts.len())
}

/// The reasons of places that may be uses, with their words in a sentence.
const POSSIBLE: [(NoEdge, &str); 4] = [
    (NoEdge::UnknownReceiver, "values of unknown type"),
    (NoEdge::NotFound, "not found"),
    (NoEdge::Dynamic, "dynamic"),
    (NoEdge::NotUnderstood, "in code that was not understood"),
];

/// The reason on the wire.
pub fn no_edge(reason: UnresolvedReason) -> NoEdge {
    match reason {
        UnresolvedReason::External => NoEdge::External,
        UnresolvedReason::Builtin => NoEdge::Builtin,
        UnresolvedReason::UnknownReceiver => NoEdge::UnknownReceiver,
        UnresolvedReason::NotFound => NoEdge::NotFound,
        UnresolvedReason::Dynamic => NoEdge::Dynamic,
        UnresolvedReason::NotUnderstood => NoEdge::NotUnderstood,
    }
}

/// Adds to `out` the places of these names that have no edge; `roots` are what was asked for. With
/// `calls` only calls are possible uses, other uses on values are counted apart.
///
/// # Errors
/// `POC_E_CANCELLED`.
pub fn look(
    view: &dyn IndexView,
    names: &[Arc<str>],
    roots: &FxHashSet<DefDoc>,
    (calls, look): (bool, Look),
    out: &mut Coverage,
    cancel: &Cancel,
) -> Result<(), ErrorObject> {
    let asked = Asked {
        roots,
        calls,
        shares: roots.iter().any(|d| adds_to_another(view, *d) || is_of_some_builds(view, *d)),
    };
    let mut places: Vec<(usize, bool, UnresolvedPlace)> = Vec::new();
    let is_copy = |file: FileDoc| view.file(file).roles.has(FileRoles::VENDORED);
    let in_copies = roots.iter().any(|d| is_copy(view.def(*d).file));
    let is_searched = |file: FileDoc| is_searched(view, file) && (in_copies || !is_copy(file));
    for name in names {
        let mut n_read = 0;
        for file in view.files_that_may_hold(&Need::of_word(name)) {
            cancel.check()?;
            if n_read >= look.files_max {
                // Only whether the name is there: what it is there would take too long.
                out.not_looked_at += u64::from(is_searched(file) && holds(view, file, name));
                continue;
            }
            if !is_searched(file) {
                continue;
            }
            let found = words_in(&view.text(file), name);
            if !found.is_empty() {
                n_read += 1;
                of_file(view, file, (name, &found), &asked, out, &mut places);
                places.sort_by(|a, b| (a.0, a.1, place(&a.2)).cmp(&(b.0, b.1, place(&b.2))));
                places.truncate(look.places_max);
            }
        }
    }
    out.unresolved_examples = places.into_iter().map(|p| p.2).collect();
    Ok(())
}

/// The definitions of a question.
struct Asked<'a> {
    roots: &'a FxHashSet<DefDoc>,
    /// Only calls count.
    calls: bool,
    /// A use of another definition of the name may be one of a root: one adds to the other, or a condition of the
    /// build decides between them.
    shares: bool,
}

/// Returns true if it adds to a definition of another file: `declare module './a' { interface A {} }`.
fn adds_to_another(view: &dyn IndexView, def: DefDoc) -> bool {
    let record = view.def(def);
    let is_typed = matches!(view.file(record.file).language, Language::TypeScript | Language::Tsx);
    let Some(parent) = record.parent.some().filter(|_| is_typed && record.kind.is_type()) else {
        return false;
    };
    let around = view.def(parent);
    let text = view.text(record.file);
    let head = text.get(around.head.range()).unwrap_or("");
    around.kind == DefKind::Module && (head.contains(['"', '\'']) || head.contains("global"))
}

/// Returns true if its file is a module of Rust in some builds only: `#[cfg(unix)] mod unix;`.
fn is_of_some_builds(view: &dyn IndexView, def: DefDoc) -> bool {
    let file = view.def(def).file;
    let record = view.file(file);
    if record.language != Language::Rust || record.roles.has(FileRoles::TEST) {
        return false;
    }
    let path = view.path(file);
    let (dir, name) = path.rsplit_once('/').unwrap_or(("", &*path));
    let stem =
        if name == "mod.rs" { dir.rsplit('/').next().unwrap_or("") } else { name.trim_end_matches(".rs") };
    let is_conditional = |other: FileDoc| {
        let (interface, text) = (view.interface(other), view.text(other));
        let facts = Facts::outside(&interface);
        interface.imports.iter().any(|i| {
            let is_it = facts.str(i.module) == stem || i.name.is_some_and(|n| facts.str(n).ends_with(name));
            let before = text.get(..i.span.start as usize).unwrap_or("").trim_end().lines().rev();
            let mut attributes = before.take_while(|l| l.trim_start().starts_with("#["));
            i.level == 1 && is_it && attributes.any(|l| l.contains("cfg"))
        })
    };
    let by_name = |key| view.providers(Key::any("rust-mod", key)).into_iter();
    by_name(stem).chain(by_name(name)).any(is_conditional)
}

fn place(p: &UnresolvedPlace) -> (&str, u32) {
    (&p.file_rel_path, p.line)
}

fn holds(view: &dyn IndexView, file: FileDoc, name: &str) -> bool {
    !words_in(&view.text(file), name).is_empty()
}

/// Endings of files of prose, besides the numbers of manual pages.
const ENDINGS: [&str; 4] = ["txt", "rst", "adoc", "log"];
/// Names of files of prose without an ending.
const PROSE: [&str; 8] =
    ["changelog", "changes", "news", "readme", "authors", "license", "copying", "history"];

/// Returns true if a file may have uses: it is not prose. Copies of other people's code use only each other.
fn is_searched(view: &dyn IndexView, file: FileDoc) -> bool {
    let record = view.file(file);
    let is_prose = match record.language {
        Language::Markdown => !record.path.ends_with(".mdx"),
        Language::Text => {
            let name = file_name_of(&record.path).to_ascii_lowercase();
            let is_named =
                |n: &&str| name.strip_prefix(n).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
            let is_manual = |end: &str| matches!(end.as_bytes(), [b'1'..=b'9']);
            name.rsplit_once('.').is_some_and(|(_, end)| ENDINGS.contains(&end) || is_manual(end))
                || PROSE.iter().any(is_named)
        }
        _ => false,
    };
    !is_prose && !record.chunks.is_empty()
}

fn of_file(
    view: &dyn IndexView,
    file: FileDoc,
    (name, found): (&str, &[u32]),
    asked: &Asked,
    out: &mut Coverage,
    places: &mut Vec<(usize, bool, UnresolvedPlace)>,
) {
    let mut it = Places::of(view, file);
    let mut open: Vec<(Span, NoEdge, bool)> = Vec::new();
    let mut untold: Vec<Span> = Vec::new();
    for &at in found {
        let part = Span { start: at, end: at + name.len() as u32 };
        if it.defs.defines(part) || is_of_type(&it, part) {
            continue;
        }
        match standing(&mut it, part, asked) {
            Some(Standing::Known) => {}
            Some(Standing::Open(reason, role)) => open.push((part, no_edge(reason), role == GrepRole::Call)),
            None => untold.push(part),
        }
    }
    let outcome = view.file(file).outcome;
    let language = it.language();
    if outcome == Outcome::TextOnly && language.is_code() {
        // It was not parsed, and would not be now: its words outside strings and comments count.
        let known = indexd_lang::unread::places(&it.text, language, name);
        untold.retain(|part| known.binary_search(&part.start).is_ok());
        open.extend(untold.drain(..).map(|part| (part, NoEdge::NotUnderstood, true)));
    }
    let mut quiet = if untold.is_empty() { Vec::new() } else { it.quiet(&untold) };
    quiet.sort_by_key(|(span, _)| span.start);
    let mut left = quiet.as_slice();
    for part in untold {
        while left.first().is_some_and(|(span, _)| span.end <= part.start) {
            left = &left[1..];
        }
        let mut near = left.iter().take_while(|(span, _)| span.start < part.end.max(part.start + 1));
        match near.find(|(span, _)| overlap(*span, part)).map(|(_, role)| *role) {
            Some(GrepRole::Comment) => {}
            Some(GrepRole::String) => open.push((part, NoEdge::String, false)),
            _ => open.push((part, NoEdge::NotFollowed, true)),
        }
    }
    out.recovered_with_name += u64::from(outcome == Outcome::Recovered);
    open.sort_unstable_by_key(|o| o.0.start);
    let lines = view.lines(file);
    for it_is in open {
        add(view, (file, &it, &lines), it_is, asked.calls, out, places);
    }
}

/// Returns true for the name of a type of C++ in an announcement, `class T;`, or a destructor, `~T()`.
fn is_of_type(it: &Places, part: Span) -> bool {
    let (before, behind) = (it.text[..part.start as usize].trim_end(), &it.text[part.end as usize..]);
    matches!(it.language(), Language::C | Language::Cpp)
        && (before.ends_with('~') && behind.starts_with("()")
            || ["class", "struct", "union"].iter().any(|w| before.ends_with(w)) && behind.starts_with(';'))
}

/// Counts a place and notes it.
fn add(
    view: &dyn IndexView,
    (file, it, lines): (FileDoc, &Places, &LineIndex),
    (part, reason, is_call): (Span, NoEdge, bool),
    calls: bool,
    out: &mut Coverage,
    places: &mut Vec<(usize, bool, UnresolvedPlace)>,
) {
    let is_value = calls && !is_call && rank(reason) < POSSIBLE.len();
    *out.unresolved_by_reason.entry(reason).or_default() += 1;
    out.unresolved_same_name += 1;
    out.values_same_name += u64::from(is_value);
    let around = it.defs.around(part.start);
    let within = around.last().map(|d| it.record(*d).qualified.to_string()).unwrap_or_default();
    let (line, text) = line_at(&it.text, lines, part.start);
    let place = UnresolvedPlace { file_rel_path: view.path(file).to_string(), line, reason, within, text };
    places.push((rank(reason) + if is_value { 8 } else { 0 }, it.defs.is_test(&around), place));
}

/// What the facts say of a place.
enum Standing {
    /// It has an edge, is a local name, or names something else for certain.
    Known,
    /// It has none.
    Open(UnresolvedReason, GrepRole),
}

fn standing(it: &mut Places, part: Span, asked: &Asked) -> Option<Standing> {
    let around = it.defs.around(part.start);
    let uses = it.uses(part, &around);
    let is_sure =
        |u: &crate::server::grep::roles::Use| u.target != DefDoc::NONE && u.confidence >= CONFIDENCE_CERTAIN;
    if uses.iter().any(|u| asked.roots.contains(&u.target)) {
        return Some(Standing::Known);
    }
    // A place with edges and a reason may have more targets than were followed.
    let open = uses.iter().find(|u| u.reason.is_some());
    if open.is_none() && !asked.shares && uses.iter().any(is_sure) {
        return Some(Standing::Known);
    }
    if let Some(u) = open.or(uses.first()) {
        // A guess at something else leaves open what it is.
        return Some(Standing::Open(u.reason.unwrap_or(UnresolvedReason::UnknownReceiver), u.role));
    }
    if it.is_local(part) {
        return Some(Standing::Known);
    }
    // A part of the path of an import that leads to a file of the tree.
    let import = it.import(part)?;
    let is_followed = it.uses(import, &[]).iter().any(|u| u.target != DefDoc::NONE);
    Some(if is_followed {
        Standing::Known
    } else {
        Standing::Open(UnresolvedReason::External, GrepRole::Import)
    })
}

/// The definitions among these that a name can stand for, as a set.
pub fn set_of(defs: &[DefDoc], view: &dyn IndexView) -> FxHashSet<DefDoc> {
    defs.iter().copied().filter(|d| view.def(*d).idx != DefIdx::NONE).collect()
}

/// What was found beside the edges, in a part of a sentence for each kind; empty for nothing.
pub fn sentence(c: &Coverage, calls: bool) -> Vec<String> {
    let mut out = Vec::new();
    let n_of = |reason| c.unresolved_by_reason.get(&reason).copied().unwrap_or(0);
    let found = POSSIBLE.map(|(reason, words)| (n_of(reason), words)).into_iter().filter(|(n, _)| *n > 0);
    // The reasons count uses that are not calls as well.
    let is_counted = found.clone().count() > 1 && c.values_same_name == 0;
    let said =
        found.clone().map(|(n, words)| if is_counted { format!("{n} {words}") } else { words.to_owned() });
    let said: Vec<String> = said.collect();
    let n_open: u64 = found.map(|(n, _)| n).sum();
    let n_possible = n_open - c.values_same_name.min(n_open);
    if n_possible > 0 {
        out.push(format!("{n_possible} possible by name ({})", said.join(", ")));
    }
    if calls && c.values_same_name > 0 {
        out.push(format!("{} where it is not a call", c.values_same_name));
    }
    let text: u64 = n_of(NoEdge::NotFollowed) + n_of(NoEdge::String);
    let is_text = |p: &&UnresolvedPlace| matches!(p.reason, NoEdge::NotFollowed | NoEdge::String);
    let first = c.unresolved_examples.iter().find(is_text);
    if let (Some(p), true) = (first, text > 0) {
        let why = if p.reason == NoEdge::String { "in a string" } else { "not followed" };
        let more = many(text - 1, "more place", "more places");
        let more = if text > 1 { format!(" and {more}") } else { String::new() };
        out.push(format!("the name also stands in {}:{} ({why}){more}", p.file_rel_path, p.line));
    } else if text > 0 {
        out.push(format!("the name also stands in {text} places that are not followed"));
    }
    let external = n_of(NoEdge::External) + n_of(NoEdge::Builtin);
    if external > 0 {
        out.push(format!("{external} outside the project"));
    }
    if c.not_looked_at > 0 {
        let one = "more file holds the name and was";
        let files = many(c.not_looked_at, one, "more files hold the name and were");
        out.push(format!("{files} not looked at"));
    }
    if c.recovered_with_name > 0 {
        let files = many(c.recovered_with_name, "file with the name has", "files with the name have");
        out.push(format!("{files} syntax errors"));
    }
    out
}

/// A number of things, in words.
pub fn many(n: u64, one: &str, more: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { more })
}
