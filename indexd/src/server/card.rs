//! Cards: a definition at a glance. The text is counted exactly and fits its limit; what is said of
//! each neighbour is its name and its place.

use crate::server::backend::{Cancel, cancelled};
use crate::server::named::{self, Look};
use crate::server::{convert, graph};
use indexd_model::view::Edge;
use indexd_model::{DefDoc, DefFlags, DefIdx, EdgeKind, IndexView, Language};
use indexd_proto::card::{CardLink, CardLinks, Neighbors};
use indexd_proto::error::{ErrorCode, ErrorObject};
use indexd_proto::graph::{Coverage, Through};
use indexd_proto::search::Symbol;
use indexd_text::TokenCounter;
use rustc_hash::FxHashSet;

/// Tokens of a card unless a request says otherwise.
const TOKENS_DEFAULT: u32 = 400;
/// Edges read into one definition.
const EDGES_IN_MAX: usize = 512;
/// Links of each kind in an answer.
const LINKS_MAX: usize = 50;
/// A card looks for uses without an edge in fewer files than a list of callers: agents wait for it.
const LOOK: Look = Look { files_max: 24, places_max: 1 };
/// Callers whose own tests count as tests of the definition.
const CALLERS_FOLLOWED: usize = 20;
/// Other definitions of the name.
const OTHERS_MAX: usize = 20;
/// Characters of what is written about it.
const DOC_CHARS_MAX: usize = 400;
/// The name of what stands in a file outside definitions.
const FILE: &str = "(file)";
/// Characters of a signature.
const SIGNATURE_CHARS_MAX: usize = 300;

/// What is known of a definition at a glance.
pub struct Card {
    /// The definition.
    pub symbol: Symbol,
    /// What it is a member of.
    pub owner: Option<Symbol>,
    /// What is written about it.
    pub doc: String,
    /// Callers, callees and tests.
    pub links: [CardLinks; 3],
    /// What it may be called through.
    pub through: Vec<Through>,
    /// What stands of the name without an edge.
    pub beside: String,
    /// How many other definitions of the name there are.
    pub n_others: u64,
    /// The first of them.
    pub others: Vec<Symbol>,
    /// All of it within the limit.
    pub text: String,
    /// Its tokens.
    pub tokens: u32,
}

/// The card of what a name stands for.
///
/// # Errors
/// `POC_E_SYMBOL_NOT_FOUND`, `POC_E_INVALID_REQUEST` or `POC_E_CANCELLED`.
pub fn card(
    view: &dyn IndexView,
    name: &str,
    max_tokens: Option<u32>,
    counter: &dyn TokenCounter,
    cancel: &Cancel,
) -> Result<Card, ErrorObject> {
    let max = max_tokens.unwrap_or(TOKENS_DEFAULT);
    if !(100..=2_000).contains(&max) {
        let message = format!("maxTokens must be 100 to 2000, not {max}");
        return Err(ErrorObject::new(ErrorCode::InvalidRequest, message)
            .with_hint("give a number of tokens between them"));
    }
    let defs = graph::find(view, name)?;
    let def = defs[0];
    if cancel.is_cancelled() {
        return Err(cancelled());
    }
    let roots = named::set_of(&defs, view);
    let mut others = defs;
    others.remove(0);
    let n_others = others.len() as u64;
    others.truncate(OTHERS_MAX);
    let mut card = Card {
        symbol: convert::symbol(view, def),
        owner: owner(view, def),
        doc: doc(view, def),
        links: links(view, def),
        through: graph::through(view, def),
        beside: beside(view, def, &roots, cancel)?,
        n_others,
        others: others.into_iter().map(|d| convert::symbol(view, d)).collect(),
        text: String::new(),
        tokens: 0,
    };
    card.write(max, counter);
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
    let lines = raw.lines().map(|l| l.trim_matches(marks));
    let has_markup =
        matches!(view.file(record.file).language, Language::Java | Language::Kotlin | Language::Scala);
    let lines = lines.skip_while(|l| l.is_empty());
    if !has_markup {
        let paragraph: Vec<&str> = lines.take_while(|l| !l.is_empty()).collect();
        return crop(&paragraph.join(" "), DOC_CHARS_MAX);
    }
    let ends = |l: &&str| l.is_empty() || l.starts_with('@') || l.eq_ignore_ascii_case("<p>");
    let paragraph: Vec<&str> = lines.take_while(|l| !ends(l)).collect();
    crop(&without_markup(&paragraph.join(" ")), DOC_CHARS_MAX)
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
            (b'<', Some(end)) if is_tag => end + 1,
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

fn links(view: &dyn IndexView, def: DefDoc) -> [CardLinks; 3] {
    let record = view.def(def);
    let is_file = record.idx == DefIdx::NONE;
    let is_callable = !is_file && record.kind.is_callable();
    let uses = [EdgeKind::Call, EdgeKind::Usage, EdgeKind::Inherit, EdgeKind::Implement, EdgeKind::Import];
    // What is passed on as a value is called by whoever gets it.
    let mut into = view.edges_to(def, if is_callable { &uses[..2] } else { &uses }, EDGES_IN_MAX);
    if is_file {
        let own = graph::defs_of(view, record.file).flat_map(|d| view.edges_to(d, &uses, EDGES_IN_MAX));
        into.extend(own.take(EDGES_IN_MAX));
        // Uses within the file say nothing about who needs it.
        into.retain(|e| view.def(e.source).file != record.file);
    }
    let is_cut = into.len() >= EDGES_IN_MAX;
    into.retain_mut(|e| !is_callable || e.kind == EdgeKind::Call || graph::is_by_value(e));
    into = certain(into);
    if into.is_empty() && is_callable {
        into = certain(view.edges_to(def, &uses, EDGES_IN_MAX));
    }
    let mut seen = FxHashSet::default();
    into.retain(|e| seen.insert(e.source));
    let (mut tests, callers): (Vec<Edge>, Vec<Edge>) =
        into.into_iter().partition(|e| is_test(view, e.source));
    for caller in callers.iter().take(CALLERS_FOLLOWED) {
        let reached = certain(view.edges_to(caller.source, &[EdgeKind::Call], EDGES_IN_MAX));
        tests.extend(reached.into_iter().filter(|e| is_test(view, e.source) && seen.insert(e.source)));
    }
    let at_use = |e: &Edge| link(view, e.source, e.occurrences.first().map(|o| o.line));
    let outgoing: Vec<CardLink> = if is_file {
        let own = graph::defs_of(view, record.file).filter(|&d| !view.def(d).qualified.contains('.'));
        own.map(|d| link(view, d, None)).collect()
    } else if is_callable {
        let mut seen = FxHashSet::default();
        let mut edges = certain(view.edges_from(def, &[EdgeKind::Call]));
        edges.retain(|e| seen.insert(e.target));
        edges.iter().map(|e| link(view, e.target, None)).collect()
    } else {
        graph::members(view, def).into_iter().map(|d| link(view, d, None)).collect()
    };
    // Tests come before what helps them.
    tests.sort_by_key(|e| !view.def(e.source).flags.has(DefFlags::TEST));
    let all = [callers.iter().map(at_use).collect(), outgoing, tests.iter().map(at_use).collect()];
    let counted = |links: Vec<CardLink>, more: bool| CardLinks {
        n: links.len() as u32,
        more,
        first: links.into_iter().take(LINKS_MAX).collect(),
    };
    let [callers, callees, tests] = all;
    [counted(callers, is_cut), counted(callees, false), counted(tests, is_cut)]
}

fn certain(mut edges: Vec<Edge>) -> Vec<Edge> {
    edges.retain(|e| e.certain_use().is_some());
    edges
}

fn is_test(view: &dyn IndexView, def: DefDoc) -> bool {
    convert::is_test(view, &view.def(def))
}

fn link(view: &dyn IndexView, def: DefDoc, line: Option<u32>) -> CardLink {
    let record = view.def(def);
    let name = if record.idx == DefIdx::NONE { FILE.to_owned() } else { record.qualified.to_string() };
    let line = line.unwrap_or(record.name_line.max(1));
    CardLink { name, file_rel_path: view.path(record.file).to_string(), line }
}

/// A link with its place; what stands outside definitions has no name.
fn link_text(link: &CardLink) -> String {
    let name = if link.name == FILE { String::new() } else { format!("{}  ", link.name) };
    format!("  {name}{}:{}\n", link.file_rel_path, link.line)
}

impl Card {
    /// Fills the text: the definition itself, then neighbours of each kind in turn while they fit.
    fn write(&mut self, max: u32, counter: &dyn TokenCounter) {
        let mut shown = [0; 3];
        let mut doc = self.doc.clone();
        let mut signature = crop(&self.symbol.signature, SIGNATURE_CHARS_MAX);
        let fits = |text: &str| counter.count_tokens(text) <= max;
        // What is said of the definition itself is shortened where nothing else would have room.
        while !fits(&self.render(&signature, &doc, shown)) && (!doc.is_empty() || !signature.is_empty()) {
            let longer = if doc.is_empty() { &mut signature } else { &mut doc };
            let half = longer.chars().count() / 2;
            *longer = if half < 20 { String::new() } else { crop(longer, half) };
        }
        let mut open = [0, 1, 2].map(|kind: usize| !self.links[kind].first.is_empty());
        while open.contains(&true) {
            for kind in 0..3 {
                if !open[kind] {
                    continue;
                }
                shown[kind] += 1;
                if !fits(&self.render(&signature, &doc, shown)) {
                    shown[kind] -= 1;
                    open[kind] = false;
                } else if shown[kind] == self.links[kind].first.len() {
                    open[kind] = false;
                }
            }
        }
        self.text = self.render(&signature, &doc, shown);
        self.tokens = counter.count_tokens(&self.text);
    }

    fn render(&self, signature: &str, doc: &str, shown: [usize; 3]) -> String {
        let s = &self.symbol;
        let name = if s.qualified_name.is_empty() { &s.name } else { &s.qualified_name };
        let mut out = format!("{} {name}  {}:{}-{}\n", s.kind, s.file_rel_path, s.lines.start, s.lines.end);
        for text in [signature, doc] {
            if !text.is_empty() {
                out += &format!("{text}\n");
            }
        }
        if let Some(owner) = &self.owner {
            out += &format!("in {} {}  {}:{}\n", owner.kind, owner.name, owner.file_rel_path, owner.line);
        }
        let labels = match s.kind.as_str() {
            "function" | "method" => ["callers", "calls", "tests"],
            "file" => ["used by", "definitions", "tests"],
            _ => ["used by", "members", "tests"],
        };
        for ((label, links), shown) in labels.iter().zip(&self.links).zip(shown) {
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
        for through in &self.through {
            let m = &through.method;
            let n = through.n_callers;
            let place = format!("{}:{}", m.file_rel_path, m.line);
            let callers = named::many(u64::from(n), "caller", "callers");
            out += &format!("may be called through {}, which has {callers}  {place}\n", m.qualified_name);
        }
        if !self.beside.is_empty() {
            out += &format!("{}\n", self.beside);
        }
        if let Some(other) = self.others.first() {
            let n = self.n_others;
            let place = format!("{}:{}", other.file_rel_path, other.line);
            out += &format!("{n} more of this name, the next at {place}\n");
        }
        out
    }
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
