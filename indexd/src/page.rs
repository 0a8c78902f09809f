//! A pack, and the map of a repository, as a page to look at: one HTML document without anything from
//! elsewhere. Edges as a picture.
//!
//! What comes from a repository is text and nothing else: the templates escape it, a policy in the document
//! allows only the style and the script that are part of this program, and characters that would hide or
//! reorder text are written out.

mod code;
pub mod editor;
pub mod graph;
pub mod map;
mod picture;

use base64::Engine as _;
use code::Code;
use editor::Editor;
use indexd_model::Language;
use indexd_model::path::file_name_of;
use indexd_proto::pack::{ChangeReport, Item, Pack, Section};
use indexd_proto::symbol::{name_of_symbol, rule_in_words, section_in_words};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::sync::Arc;

const STYLE: &str = include_str!("page/style.css");
const KEYS: &str = include_str!("page/keys.js");
/// What was left out is listed up to so many places.
const EXCLUDED_MAX: usize = 200;
/// The keys of a page, for its reader.
const KEYS_TOLD: &str = "Keys: j and k go through the items, Enter opens one in the editor, o its reasons, O all reasons, / filters.";
/// Fills of the bar; more sections begin again.
const FILLS: usize = 8;

/// Gives the language and the text of a file by its path.
pub type Files<'f> = &'f dyn Fn(&str) -> Option<(Language, Arc<str>)>;

/// The page of a pack: its items at the left, their code at the right, coloured by the syntax trees of
/// `files`, and at the end what its budget went to. Places lead into `editor`.
pub fn render(pack: &Pack, files: Files, editor: &Editor) -> String {
    let title = title(pack);
    let mut code = Code::new(files);
    let mut n = 0;
    let main = html! {
        (list(pack))
        div {
            @if let Some(change) = &pack.change { (change_section(change, editor)) }
            @for section in pack.sections.iter().filter(|s| !s.items.is_empty()) {
                (section_of(section, &mut n, &mut code, editor))
            }
            (left_out(pack, editor))
            (spending(pack))
        }
    };
    document(&title, &head(pack, &title), &main, &foot(pack))
}

/// The items by name, each a link, below a field that filters them.
fn list(pack: &Pack) -> Markup {
    let files = pack.change.iter().flat_map(|c| &c.files);
    let shown = pack.sections.iter().filter(|s| !s.items.is_empty());
    let mut n = 0;
    let row = |to: String, name: String, place: String| html! { li { a href=(to) { (name) " " span.dim { (place) } } } };
    html! {
        nav.items aria-label="items" {
            (filter("filter the items"))
            details open {
                summary { (pack.sections.iter().map(|s| s.items.len()).sum::<usize>()) " items" }
                @if pack.change.is_some() {
                    p.dim { "change" }
                    ul { @for (i, f) in files.enumerate() { (row(format!("#file-{}", i + 1), plain(file_name_of(&f.file_rel_path)), f.status.name().to_owned())) } }
                }
                @for section in shown {
                    p.dim { (plain(&section_in_words(&section.name))) }
                    ol start=(n + 1) {
                        @for i in &section.items {
                            @let number = { n += 1; n };
                            (row(format!("#item-{number}"), name(i), format!("{}:{}", plain(file_name_of(i.path())), i.lines().start)))
                        }
                    }
                }
            }
        }
    }
}

/// A field: only items that have its words are shown.
fn filter(label: &str) -> Markup {
    html! { input #filter type="search" placeholder="filter (/)" aria-label=(label) autocomplete="off"; }
}

/// A number with commas between thousands.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|g| std::str::from_utf8(g).ok()).collect();
    groups.join(",")
}

/// The name of an item: that of its symbol, else its title.
fn name(i: &Item) -> String {
    plain(&i.symbol_id.as_deref().and_then(name_of_symbol).unwrap_or_else(|| i.title.clone()))
}

/// A whole document with our style, our script and our policy.
fn document(title: &str, head: &Markup, main: &Markup, foot: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy());
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="referrer" content="no-referrer";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header { (head) }
                main { (main) }
                footer { (foot) }
                script { (PreEscaped(KEYS)) }
            }
        }
    };
    page.into_string()
}

/// Only the style and the script of this program.
fn policy() -> String {
    let of = |text: &str| base64::engine::general_purpose::STANDARD.encode(Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        of(STYLE),
        of(KEYS)
    )
}

/// `text` with characters that hide or reorder others written out.
pub(crate) fn plain(text: &str) -> String {
    let is_odd = |c: char| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}'
                | '\u{061c}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' | '\u{00ad}')
    };
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if is_odd(c) { out.extend(c.escape_unicode()) } else { out.push(c) }
    }
    out
}

fn text<'p>(pack: &'p Pack, name: &str) -> &'p str {
    pack.request.get(name).and_then(Value::as_str).unwrap_or("")
}

fn title(pack: &Pack) -> String {
    let first = text(pack, "query").trim().lines().next().unwrap_or("");
    let of_change = |c: &ChangeReport| format!("change {} → {}", state(&c.from), state(&c.to));
    match (&pack.change, first) {
        (Some(change), "") => of_change(change),
        (None, "") => "context pack".to_owned(),
        _ => plain(&first.chars().take(160).collect::<String>()),
    }
}

/// A commit by the beginning of its id.
fn state(name: &str) -> String {
    let is_id = name.len() == 40 && name.bytes().all(|b| b.is_ascii_hexdigit());
    if is_id { name[..12].to_owned() } else { plain(name) }
}

/// What a part of the bar stands for.
struct Share {
    name: String,
    items: Option<usize>,
    tokens: u64,
    fill: String,
}

fn shares(pack: &Pack) -> Vec<Share> {
    let mut out: Vec<Share> = Vec::new();
    let shown = pack.sections.iter().filter(|s| !s.items.is_empty());
    for (i, s) in shown.enumerate() {
        let tokens = s.items.iter().map(|i| i.tokens).sum();
        let fill = format!("p{}", i % (FILLS - 1));
        out.push(Share { name: s.name.to_string(), items: Some(s.items.len()), tokens, fill });
    }
    let used: u64 = out.iter().map(|s| s.tokens).sum();
    let around = if pack.change.is_some() { "diff, headers and marks" } else { "headers and marks" };
    let stats = &pack.stats;
    let rest = stats.token_count.saturating_sub(used);
    out.push(Share { name: around.to_owned(), items: None, tokens: rest, fill: "p7".to_owned() });
    let free = stats.token_budget.saturating_sub(stats.token_count.max(used));
    out.push(Share { name: "free".to_owned(), items: None, tokens: free, fill: "free".to_owned() });
    out
}

fn head(pack: &Pack, title: &str) -> Markup {
    let query = text(pack, "query").trim();
    let stats = &pack.stats;
    html! {
        h1 { (title) }
        p.dim {
            (plain(text(pack, "repoId"))) " · " (grouped(stats.included)) " of " (grouped(stats.found)) " found · "
            (grouped(stats.token_count)) " of " (grouped(stats.token_budget)) " tokens (" (stats.budget_used_percent) "%)"
        }
        @if query.lines().count() > 1 {
            details { summary { "the whole text" } pre tabindex="0" { (plain(query)) } }
        }
        @for warning in &pack.warnings { p.warn { (plain(warning)) } }
        p.dim.keys { (KEYS_TOLD) }
    }
}

/// The tokens of the budget by section.
fn spending(pack: &Pack) -> Markup {
    let shares = shares(pack);
    let rows = html! {
        @for s in &shares {
            tr {
                td {
                    span.key.(s.fill) aria-hidden="true" {}
                    @if s.items.is_some() { a href={ "#s-" (plain(&s.name)) } { (plain(&section_in_words(&s.name))) } } @else { (s.name) }
                }
                td.r { @if let Some(n) = s.items { (n) } }
                td.r { (s.tokens) }
            }
        }
    };
    html! {
        details.spending {
            summary { "what the tokens are spent on" }
            (picture::bar(
                &shares.iter().map(|s| (s.fill.as_str(), s.tokens)).collect::<Vec<_>>(),
                "the budget by section; the table below says the same",
            ))
            (table("tokens by section", &["section", "#items", "#tokens"], &rows))
            p.dim { "counted with " (plain(&pack.budgets.tokenizer)) }
        }
    }
}

fn change_section(change: &ChangeReport, editor: &Editor) -> Markup {
    html! {
        section aria-labelledby="s-change" {
            h2 #s-change { "change " (state(&change.from)) " → " (state(&change.to)) }
            @if change.left_out > 0 {
                p.dim { (change.left_out) " of " (change.left_out + change.shown) " parts have no room and are named only." }
            }
            @for (i, file) in change.files.iter().enumerate() {
                article id={ "file-" (i + 1) } tabindex="-1" {
                    h3 { (editor.link(&file.file_rel_path, 1, &plain(&file.file_rel_path))) }
                    p.place {
                        (file.status.name())
                        @if let Some(was) = &file.previous_path { " from " (plain(was)) }
                        @if let Some(why) = &file.unreadable { " · not shown: " (plain(why)) }
                    }
                    @for part in &file.parts {
                        p {
                            strong { @if part.name.is_empty() { "between definitions" } @else { (plain(&part.name)) } }
                            " " span.dim {
                                (part.status.name()) " +" (part.added) " −" (part.removed)
                                @if part.contract { " · changed for its users" }
                                @if let Some(was) = &part.previous_name { " · was " (plain(was)) }
                                @if let Some(place) = &part.elsewhere { " · " (plain(place)) }
                                @if part.diff.is_none() { " · no room" }
                            }
                        }
                        @if let Some(diff) = &part.diff { (code::diff(diff, &part.name)) }
                    }
                }
            }
        }
    }
}

fn section_of(section: &Section, n: &mut usize, code: &mut Code, editor: &Editor) -> Markup {
    let id = format!("s-{}", plain(&section.name));
    html! {
        section aria-labelledby=(id) {
            h2 id=(id) { (plain(&section_in_words(&section.name))) " (" (section.items.len()) ")" }
            @if section.dropped > 0 { p.dim { (section.dropped) " more were left out." } }
            @for i in &section.items {
                @let number = { *n += 1; *n };
                (item(i, number, code, editor))
            }
        }
    }
}

fn item(i: &Item, n: usize, code: &mut Code, editor: &Editor) -> Markup {
    let s = &i.scores;
    html! {
        article id={ "item-" (n) } tabindex="-1" {
            h3 { (n) ". " (name(i)) }
            p.place {
                (editor.link(i.path(), i.lines().start, &format!("{}:{}-{}", plain(i.path()), i.lines().start, i.lines().end)))
                " · " (i.form.name()) " · " (i.tokens) " tokens"
            }
            details {
                summary { "why: " (plain(&why(i))) }
                @if !i.why.path.is_empty() { (picture::path(i)) }
                @if !i.why.evidence.is_empty() {
                    ul {
                        @for e in &i.why.evidence {
                            li {
                                (plain(&e.via)) " at " (editor.place(&e.file_rel_path, e.line))
                                span.dim { " (" (plain(&e.kind)) ", confidence " (format!("{:.2}", e.confidence)) @if e.outside_excerpt { ", not shown" } ")" }
                            }
                        }
                    }
                }
                @if !i.why.also.is_empty() { p { "also: " (relations(&i.why.also)) } }
                p.dim {
                    "score " (format!("{:.3}", s.hybrid_score)) " = found by text " (format!("{:.3}", s.seed_score))
                    ", " (s.graph_distance) " hops, evidence " (format!("{:.2}", s.evidence_score))
                    @if !i.traits.is_empty() { " · " (plain(&i.traits.join(", "))) }
                    @if !i.redactions.is_empty() { " · redacted: " (plain(&i.redactions.join(", "))) }
                }
                @for place in &i.also_at { p.dim { "the same at " (editor.place(&place.file_rel_path, place.lines.start)) } }
            }
            (code.excerpt(i))
        }
    }
}

/// The rule with its best evidence.
fn why(i: &Item) -> String {
    let rule = rule_in_words(&i.why.rule);
    match i.why.evidence.first() {
        Some(e) if e.line > 0 => format!("{rule}, {} at {}:{}", e.via, e.file_rel_path, e.line),
        _ => rule.to_owned(),
    }
}

/// Relations to other items, which they lead to.
fn relations(also: &[String]) -> Markup {
    html! {
        @for (i, text) in also.iter().enumerate() {
            @if i > 0 { ", " }
            @match text.rsplit_once(" item ").and_then(|(_, n)| n.parse::<usize>().ok()) {
                Some(n) => a href={ "#item-" (n) } { (plain(text)) },
                None => (plain(text)),
            }
        }
    }
}

fn left_out(pack: &Pack, editor: &Editor) -> Markup {
    let explain = pack.explain.as_ref();
    let excluded = explain.map_or(&[][..], |e| &e.excluded);
    let more = explain.map_or(0, |e| e.excluded_more);
    let dropped = pack.stats.dropped_by_reason.iter().filter(|d| *d.1 > 0);
    let dropped: Vec<String> = dropped.map(|(reason, n)| format!("{n} {reason}")).collect();
    let hidden = excluded.len().saturating_sub(EXCLUDED_MAX) as u64 + more;
    let rows = html! {
        @for e in excluded.iter().take(EXCLUDED_MAX) {
            tr {
                td { (editor.place(&e.file_rel_path, e.lines.start)) }
                td { (plain(&e.title)) }
                td { (e.reason) }
                td.r { (format!("{:.3}", e.hybrid_score)) }
            }
        }
    };
    html! {
        section aria-labelledby="s-left-out" {
            h2 #s-left-out { "left out" }
            p { @if dropped.is_empty() { "Nothing that was found was left out." } @else { (dropped.join(", ")) "." } }
            @for hint in &pack.missing_context_hints { p.warn { (plain(hint)) } }
            @if !pack.suggested_next_queries.is_empty() {
                p { "Ask next:" }
                ul { @for q in &pack.suggested_next_queries { li { code { (plain(q)) } } } }
            }
            @if !excluded.is_empty() {
                details {
                    summary { (excluded.len().min(EXCLUDED_MAX)) " places with the reason" }
                    (table("places that were left out", &["place", "what", "reason", "#score"], &rows))
                    @if hidden > 0 { p.dim { "and " (hidden) " more" } }
                }
            }
        }
    }
}

/// A table with its heads; those that begin with `#` stand over numbers.
fn table(label: &str, heads: &[&str], rows: &Markup) -> Markup {
    html! {
        div.scroll.tall tabindex="0" role="region" aria-label=(label) {
            table {
                thead { tr {
                    @for head in heads {
                        @match head.strip_prefix('#') {
                            Some(head) => th.r scope="col" { (head) },
                            None => th scope="col" { (head) },
                        }
                    }
                } }
                tbody { (rows) }
            }
        }
    }
}

fn foot(pack: &Pack) -> Markup {
    html! {
        p.dim { "pack " (plain(&pack.pack_id)) }
        p.dim { "index " (plain(&pack.index_signature)) " · layout " (plain(text(pack, "layout"))) " · written by indexd " (env!("CARGO_PKG_VERSION")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use indexd_proto::pack::{At, LineRange, Provenance};

    #[test]
    fn what_comes_from_a_repository_stays_text() {
        let hostile = "</style><script>alert(1)</script><img src=x onerror=alert(1)>\u{202e}";
        let mut pack = Pack::default();
        pack.request.insert("query".to_owned(), Value::String(hostile.to_owned()));
        pack.warnings.push(hostile.to_owned());
        let part = indexd_proto::pack::PartReport {
            name: hostile.to_owned(),
            diff: Some(format!("+{hostile}\n")),
            ..Default::default()
        };
        let file = indexd_proto::pack::FileReport {
            file_rel_path: hostile.to_owned(),
            parts: vec![part],
            ..Default::default()
        };
        pack.change = Some(ChangeReport { files: vec![file], ..ChangeReport::default() });
        let at = At::Graph {
            file_rel_path: hostile.to_owned(),
            lines: LineRange::default(),
            provenance: Provenance::default(),
        };
        let mut i = Item { title: hostile.to_owned(), at, ..Item::default() };
        i.excerpt.text = format!("{hostile}\n");
        i.excerpt.parts = vec![indexd_proto::pack::Part {
            lines: indexd_proto::pack::LineRange { start: 1, end: 1 },
            range: None,
        }];
        i.why.path = vec![indexd_proto::pack::PathStep {
            edge_type: hostile.to_owned().into(),
            from: hostile.to_owned(),
            to: hostile.to_owned(),
            ..Default::default()
        }];
        i.why.also = vec![hostile.to_owned(), "calls item 1".to_owned()];
        pack.sections.push(Section { name: hostile.to_owned().into(), items: vec![i], dropped: 1 });
        let editor = Editor::new("vscode://file{path}:{line}", std::path::Path::new("/r"));
        let page = render(&pack, &|_| Some((Language::Go, Arc::from(hostile))), &editor);
        assert_eq!(page.matches("<script").count(), 1, "only its own");
        assert_eq!(page.matches("<img").count() + page.matches("onerror=alert(1)>").count(), 0);
        assert!(!page.contains('\u{202e}'));
        assert!(page.contains("Content-Security-Policy"));
        for elsewhere in ["http://", "https://", "src=", "url(", "@import"] {
            let page = page.replace("src=x onerror", "");
            assert!(!page.contains(elsewhere), "{elsewhere}");
        }
    }
}
