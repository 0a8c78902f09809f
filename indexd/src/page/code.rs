//! Excerpts and diffs as lines of HTML, with the classes that syntax trees give.

use super::{Files, plain};
use indexd_lang::highlight::{Class, by_line};
use indexd_model::{LineIndex, Lines};
use indexd_proto::pack::Item;
use maud::{Markup, html};
use std::collections::BTreeMap;

/// The files of a page, each looked at once.
pub struct Code<'f> {
    files: Files<'f>,
    known: BTreeMap<String, Option<File>>,
}

struct File {
    language: indexd_model::Language,
    text: std::sync::Arc<str>,
    lines: LineIndex,
}

impl<'f> Code<'f> {
    /// Starts without any.
    pub fn new(files: Files<'f>) -> Self {
        Self { files, known: BTreeMap::new() }
    }

    /// The shown lines of an item, with marks where lines are left out.
    pub fn excerpt(&mut self, item: &Item) -> Markup {
        let mut texts = item.excerpt.text.split_inclusive('\n');
        let pieces = self.pieces(item);
        let mut last: Option<u32> = None;
        let mut out: Vec<Markup> = Vec::new();
        for part in &item.excerpt.parts {
            if let Some(last) = last.filter(|l| l + 1 < part.lines.start) {
                out.push(gap(last + 1, part.lines.start - 1));
            }
            for number in part.lines.start..=part.lines.end {
                let Some(text) = texts.next() else { break };
                let text = text.trim_end_matches(['\n', '\r']);
                out.push(line(number, text, pieces.get(&number).map_or(&[][..], Vec::as_slice)));
            }
            last = Some(part.lines.end);
        }
        if out.is_empty() {
            return html! {};
        }
        let label = format!("code of {}", plain(&item.title));
        html! { pre tabindex="0" role="region" aria-label=(label) { code { @for l in out { (l) } } } }
    }

    /// What stands on each shown line, in bytes from its start.
    fn pieces(&mut self, item: &Item) -> BTreeMap<u32, Vec<(usize, usize, Class)>> {
        let files = self.files;
        let load = |path: &str| {
            let (language, text) = files(path)?;
            let lines = LineIndex::new(&text);
            Some(File { language, text, lines })
        };
        let path = item.path();
        let file = self.known.entry(path.to_owned()).or_insert_with(|| load(path));
        let Some(file) = file else { return BTreeMap::new() };
        let shown: Vec<Lines> =
            item.excerpt.parts.iter().map(|p| Lines { start: p.lines.start, end: p.lines.end }).collect();
        by_line(file.language, &file.text, &file.lines, &shown)
    }
}

fn gap(from: u32, to: u32) -> Markup {
    html! { span.gap { "⋮ lines " (from) "–" (to) } }
}

fn line(number: u32, text: &str, pieces: &[(usize, usize, Class)]) -> Markup {
    let mut out: Vec<(Option<&'static str>, &str)> = Vec::new();
    let mut at = 0;
    for &(from, to, class) in pieces {
        let (from, to) = (from.max(at), to.min(text.len()));
        let (Some(before), Some(own)) = (text.get(at..from), text.get(from..to)) else { continue };
        out.push((None, before));
        out.push((Some(name(class)), own));
        at = to;
    }
    out.push((None, text.get(at..).unwrap_or("")));
    html! {
        span.l data-n=(number) {
            @for (class, text) in out.into_iter().filter(|p| !p.1.is_empty()) {
                @match class {
                    Some(class) => span class=(class) { (plain(text)) },
                    None => (plain(text)),
                }
            }
        }
    }
}

fn name(class: Class) -> &'static str {
    match class {
        Class::Comment => "c",
        Class::String => "s",
        Class::Number => "n",
        Class::Keyword => "k",
        Class::Type => "t",
        Class::Function => "f",
    }
}

/// A part of a diff, its lines numbered as they are after the change.
pub fn diff(text: &str, name: &str) -> Markup {
    let mut next = 0u32;
    let mut out: Vec<(&'static str, String, &str)> = Vec::new();
    for line in text.lines() {
        match line.as_bytes().first() {
            Some(b'@') => {
                next = after(line);
                out.push(("l hunk", String::new(), line));
            }
            Some(b'+') => {
                out.push(("l add", next.to_string(), line));
                next += 1;
            }
            Some(b'-') => out.push(("l del", "−".to_owned(), line)),
            Some(b'\\') => out.push(("l hunk", String::new(), line)),
            _ => {
                out.push(("l", next.to_string(), line));
                next += 1;
            }
        }
    }
    let label = format!(
        "diff of {}",
        if name.is_empty() { "lines between definitions".to_owned() } else { plain(name) }
    );
    html! {
        pre tabindex="0" role="region" aria-label=(label) {
            code { @for (class, n, text) in out { span class=(class) data-n=(n) { (plain(text)) } } }
        }
    }
}

/// The first line after the change of `@@ -1,2 +3,4 @@`.
fn after(header: &str) -> u32 {
    let rest = header.split_once(" +").map_or("", |h| h.1);
    rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap_or(0)
}
