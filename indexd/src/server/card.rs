//! Cards: a definition at a glance. The text is counted exactly and fits its limit; what is said of
//! each neighbour is its name and its place.

use crate::server::backend::Cancel;
use crate::server::named::{self, Look};
use crate::server::{convert, graph};
use indexd_model::view::Edge;
use indexd_model::{DefDoc, DefIdx, IndexView, Language};
use indexd_pack::graph::neighbors;
use indexd_proto::card::{CardLink, CardLinks, CardResult, Neighbors};
use indexd_proto::error::ErrorObject;
use indexd_proto::graph::Coverage;
use indexd_proto::search::Symbol;
use indexd_text::TokenCounter;
use rustc_hash::FxHashSet;

/// Tokens of a card unless a request says otherwise.
const TOKENS_DEFAULT: u32 = 400;
/// Links of each kind in an answer.
const LINKS_MAX: usize = 50;
/// A card looks for uses without an edge in fewer files than a list of callers: agents wait for it.
const LOOK: Look = Look { files_max: 24, places_max: 1 };
/// Other definitions of the name.
const OTHERS_MAX: usize = 20;
/// Characters of what is written about it.
const DOC_CHARS_MAX: usize = 400;
/// The name of text outside definitions.
const FILE: &str = "(file)";

/// The card of the definition with a name, without an envelope.
///
/// # Errors
/// `POC_E_SYMBOL_NOT_FOUND`, `POC_E_INVALID_REQUEST` or `POC_E_CANCELLED`.
pub fn card(
    view: &dyn IndexView,
    name: &str,
    max_tokens: Option<u32>,
    counter: &dyn TokenCounter,
    cancel: &Cancel,
) -> Result<CardResult, ErrorObject> {
    let max = max_tokens.unwrap_or(TOKENS_DEFAULT);
    convert::within("maxTokens", "number of tokens", max, 100..=2_000)?;
    let defs = graph::find(view, name)?;
    let def = defs[0];
    cancel.check()?;
    let roots = named::set_of(&defs, view);
    let mut others = defs;
    others.remove(0);
    let n_others = others.len() as u64;
    others.truncate(OTHERS_MAX);
    let [callers, callees, tests] = links(view, def);
    let mut card = CardResult {
        symbol: convert::symbol(view, def),
        owner: owner(view, def),
        doc: doc(view, def),
        callers,
        callees,
        tests,
        through: graph::through(view, def),
        beside: beside(view, def, &roots, cancel)?,
        n_others,
        others: others.into_iter().map(|d| convert::symbol(view, d)).collect(),
        ..CardResult::default()
    };
    write(&mut card, max, counter);
    Ok(card)
}

/// Links of each kind that stand beside a hit.
const NEIGHBORS_NAMED: usize = 3;

/// Those at the other end of a definition's edges.
pub fn neighbors(view: &dyn IndexView, def: DefDoc) -> Neighbors {
    let [callers, callees, tests] = links(view, def).map(|mut l| {
        l.first.truncate(NEIGHBORS_NAMED);
        l
    });
    Neighbors { callers, callees, tests }
}

/// What stands of the name of a definition in the text without an edge, in a sentence.
fn beside(
    view: &dyn IndexView,
    def: DefDoc,
    roots: &FxHashSet<DefDoc>,
    cancel: &Cancel,
) -> Result<String, ErrorObject> {
    let record = view.def(def);
    if record.idx == DefIdx::NONE {
        return Ok(String::new());
    }
    let mut coverage = Coverage::default();
    let calls = record.kind.is_callable();
    named::look(view, &[record.name], roots, (calls, LOOK), &mut coverage, cancel)?;
    Ok(named::sentence(&coverage, calls).join("; "))
}

/// The type around a member; of a Go method the type of its receiver.
fn owner(view: &dyn IndexView, def: DefDoc) -> Option<Symbol> {
    let record = view.def(def);
    if let Some(parent) = record.parent.some() {
        return Some(convert::symbol(view, parent));
    }
    let (outer, _) = record.qualified.rsplit_once('.')?;
    let name = outer.rsplit('.').next().unwrap_or(outer);
    let folder = |d: DefDoc| {
        let path = view.path(view.def(d).file);
        path.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.to_owned())
    };
    let here = folder(def);
    let mut types = view.defs_named(name);
    types.retain(|&d| *view.def(d).qualified == *outer && view.def(d).kind.is_type() && folder(d) == here);
    types.first().map(|&d| convert::symbol(view, d))
}

/// The first paragraph of a doc comment or docstring without its marks, on one line.
fn doc(view: &dyn IndexView, def: DefDoc) -> String {
    let record = view.def(def);
    let text = view.text(record.file);
    let raw = text.get(record.doc.range()).unwrap_or("");
    let marks: &[char] = &['/', '*', '#', '!', ';', '-', '"', '\'', ' ', '\t'];
    let has_markup =
        matches!(view.file(record.file).language, Language::Java | Language::Kotlin | Language::Scala);
    let is_mark = |l: &str| has_markup && (l.starts_with('@') || l.eq_ignore_ascii_case("<p>"));
    let lines = raw.lines().map(|l| l.trim_matches(marks)).skip_while(|l| l.is_empty());
    let paragraph: Vec<&str> = lines.take_while(|l| !l.is_empty() && !is_mark(l)).collect();
    let paragraph = paragraph.join(" ");
    crop(&if has_markup { without_markup(&paragraph) } else { paragraph }, DOC_CHARS_MAX)
}

/// The text of a Javadoc comment: `{@code x}` and `{@link x}` as `x`, without tags, entities as characters.
fn without_markup(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut open = 0;
    while let Some(at) = rest.find(['<', '{', '}']) {
        out += &rest[..at];
        let from = &rest[at..];
        let is_tag = from[1..].trim_start_matches('/').starts_with(|c: char| c.is_ascii_alphabetic());
        let n = match (from.as_bytes()[0], from.find('>')) {
            (b'<', Some(end)) if is_tag && open == 0 => end + 1,
            (b'{', _) if from.starts_with("{@") => {
                open += 1;
                from.find(' ').map_or(from.len(), |end| end + 1)
            }
            (b'}', _) if open > 0 => {
                open -= 1;
                1
            }
            _ => {
                out += &from[..1];
                1
            }
        };
        rest = &from[n..];
    }
    out += rest;
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&nbsp;", " "), ("&amp;", "&")]
        .into_iter()
        .fold(out, |text, (entity, character)| text.replace(entity, character))
}

fn crop(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// Callers, callees and tests of a definition.
fn links(view: &dyn IndexView, def: DefDoc) -> [CardLinks; 3] {
    let found = neighbors::neighbors(view, def);
    let at_use = |e: &Edge| link(view, e.source, e.occurrences.first().map(|o| o.line));
    let callees = found.callees.iter().map(|d| link(view, *d, None)).collect();
    let counted = |links: Vec<CardLink>, more: bool| CardLinks {
        n: links.len() as u32,
        more,
        first: links.into_iter().take(LINKS_MAX).collect(),
    };
    let [callers, tests] = [found.callers, found.tests].map(|edges| edges.iter().map(at_use).collect());
    [counted(callers, found.is_cut), counted(callees, false), counted(tests, found.is_cut)]
}

fn link(view: &dyn IndexView, def: DefDoc, line: Option<u32>) -> CardLink {
    let record = view.def(def);
    let name = if record.idx == DefIdx::NONE { FILE.to_owned() } else { record.qualified.to_string() };
    let line = line.unwrap_or(record.name_line.max(1));
    CardLink { name, file_rel_path: view.path(record.file).to_string(), line }
}

/// A link with its place; text outside definitions has no name.
fn link_text(link: &CardLink) -> String {
    let name = if link.name == FILE { String::new() } else { format!("{}  ", link.name) };
    format!("  {name}{}:{}\n", link.file_rel_path, link.line)
}

/// Fills the text: the definition itself, then neighbours of each kind in turn while they fit.
fn write(card: &mut CardResult, max: u32, counter: &dyn TokenCounter) {
    let mut shown = [0; 3];
    let mut doc = card.doc.clone();
    let mut signature = card.symbol.signature.clone();
    let fits = |text: &str| counter.count_tokens(text) <= max;
    // What is said of the definition itself is shortened where nothing else would have room.
    while !fits(&render(card, &signature, &doc, shown)) && (!doc.is_empty() || !signature.is_empty()) {
        let longer = if doc.is_empty() { &mut signature } else { &mut doc };
        let half = longer.chars().count() / 2;
        *longer = if half < 20 { String::new() } else { crop(longer, half) };
    }
    let n = [&card.callers, &card.callees, &card.tests].map(|links| links.first.len());
    let mut open = vec![0, 1, 2];
    while !open.is_empty() {
        open.retain(|&kind| {
            let with_one = std::array::from_fn(|i| shown[i] + usize::from(i == kind));
            let has_room = shown[kind] < n[kind] && fits(&render(card, &signature, &doc, with_one));
            if has_room {
                shown = with_one;
            }
            has_room
        });
    }
    card.text = render(card, &signature, &doc, shown);
    card.tokens = counter.count_tokens(&card.text);
}

fn render(card: &CardResult, signature: &str, doc: &str, shown: [usize; 3]) -> String {
    let s = &card.symbol;
    let links = [&card.callers, &card.callees, &card.tests];
    let name = if s.qualified_name.is_empty() { &s.name } else { &s.qualified_name };
    let mut out = format!("{} {name}  {}:{}-{}\n", s.kind, s.file_rel_path, s.lines.start, s.lines.end);
    for text in [signature, doc] {
        if !text.is_empty() {
            out += &format!("{text}\n");
        }
    }
    if let Some(owner) = &card.owner {
        out += &format!("in {} {}  {}:{}\n", owner.kind, owner.name, owner.file_rel_path, owner.line);
    }
    let labels = match s.kind.as_str() {
        "function" | "method" => ["callers", "calls", "tests"],
        "file" => ["used by", "definitions", "tests"],
        _ => ["used by", "members", "tests"],
    };
    for ((label, links), shown) in labels.iter().zip(links).zip(shown) {
        let n = format!("{}{}", links.n, if links.more { "+" } else { "" });
        let colon = if shown > 0 { ":" } else { "" };
        out += &format!("{label} {n}{colon}\n");
        for link in &links.first[..shown] {
            out += &link_text(link);
        }
        let left = links.n as usize - shown;
        if left > 0 && shown > 0 {
            out += &format!("  and {left} more\n");
        }
    }
    for through in &card.through {
        let m = &through.method;
        let n = through.n_callers;
        let place = format!("{}:{}", m.file_rel_path, m.line);
        let callers = named::many(u64::from(n), "caller", "callers");
        out += &format!("may be called through {}, which has {callers}  {place}\n", m.qualified_name);
    }
    if !card.beside.is_empty() {
        out += &format!("{}\n", card.beside);
    }
    if let Some(other) = card.others.first() {
        let n = card.n_others;
        let place = format!("{}:{}", other.file_rel_path, other.line);
        out += &format!("{n} more of this name, the next at {place}\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::without_markup;

    #[test]
    fn javadoc_is_read_without_its_markup() {
        for (text, expect) in [
            ("Such as <code>&lt;a href&gt;</code>, see {@link #attr}.", "Such as <a href>, see #attr."),
            (
                "Maps {@code Map<K, V>} if a < b and {x} &amp;&amp; c.",
                "Maps Map<K, V> if a < b and {x} && c.",
            ),
            ("<b>Not", "Not"),
            ("{@code", ""),
            ("a <", "a <"),
        ] {
            assert_eq!(without_markup(text), expect);
        }
    }
}
