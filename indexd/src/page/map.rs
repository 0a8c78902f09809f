//! The map of a repository as a page: what the Markdown of it says, complete, with the size of its parts
//! as a bar.

use super::picture;
use super::{document, plain, table};
use indexd_proto::documents::{Boundary, Entrypoint, Folder, Module, Place, RepoMap, Setting, Touches};
use maud::{Markup, html};
use std::collections::BTreeMap;

/// Rows of one table at most; the data has them all.
const ROWS_MAX: usize = 1_000;
/// Languages with a fill of their own in the bar.
const FILLS: usize = 7;
/// Places shown of one key.
const PLACES_SHOWN: usize = 5;

/// The page of a map.
pub fn render(map: &RepoMap) -> String {
    let title = format!("Repo map: {}", plain(&map.repo_id));
    let parts = [
        ("Entrypoints", map.entrypoints.len(), entrypoints(&map.entrypoints)),
        ("Modules", map.modules.len(), modules(&map.modules)),
        ("Config", map.config.len(), settings(&map.config)),
        ("Side effect boundaries", map.side_effects.len(), effects(&map.side_effects)),
        ("Tree", map.tree.len(), tree(&map.tree)),
    ];
    let head = html! {
        h1 { (title) }
        p.dim { (map.files) " files indexed" }
        (languages(&map.modules))
        nav aria-label="parts" { ul { @for (name, n, _) in &parts { li { a href={ "#" (anchor(name)) } { (name) } " (" (n) ")" } } } }
    };
    let main = html! {
        @for (name, n, content) in &parts {
            section aria-labelledby=(anchor(name)) {
                h2 id=(anchor(name)) { (name) " (" (n) ")" }
                @if *n == 0 { p { "None found." } } @else { (content) }
                @if *n > ROWS_MAX { p.dim { (n - ROWS_MAX) " more are in the data: ctl map --json" } }
            }
        }
    };
    let foot = html! { p.dim { "written by indexd " (env!("CARGO_PKG_VERSION")) } };
    document(&title, &head, &main, &foot)
}

fn anchor(name: &str) -> String {
    name.to_lowercase().replace(' ', "-")
}

/// Lines by language as a bar and its legend, the largest first.
fn languages(modules: &[Module]) -> Markup {
    let mut lines: BTreeMap<&str, u64> = BTreeMap::new();
    for m in modules {
        *lines.entry(&m.language).or_default() += u64::from(m.lines);
    }
    let mut all: Vec<(String, u64)> = lines.into_iter().map(|(l, n)| (plain(l), n)).collect();
    all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let rest: u64 = all.iter().skip(FILLS).map(|l| l.1).sum();
    all.truncate(FILLS);
    if rest > 0 {
        all.push(("others".to_owned(), rest));
    }
    let fills: Vec<String> = (0..all.len()).map(|i| format!("p{i}")).collect();
    let parts: Vec<(&str, u64)> = fills.iter().zip(&all).map(|(f, l)| (f.as_str(), l.1)).collect();
    html! {
        @if !all.is_empty() {
            (picture::bar(&parts, "lines of code by language; the list below says the same"))
            ul.legend {
                @for (fill, (language, n)) in fills.iter().zip(&all) {
                    li { span.key.(fill) aria-hidden="true" {} (language) ": " (n) " lines" }
                }
            }
        }
    }
}

fn entrypoints(all: &[Entrypoint]) -> Markup {
    let rows = html! {
        @for e in all.iter().take(ROWS_MAX) {
            tr { td { (e.kind.name()) } td { code { (plain(&e.name)) } } td.place { (plain(&e.path)) ":" (e.line) } td { (plain(&e.how)) @if !e.summary.is_empty() { ": " (plain(&e.summary)) } } }
        }
    };
    table("entry points", &["kind", "name", "place", "how"], &rows)
}

fn modules(all: &[Module]) -> Markup {
    let rows = html! {
        @for m in all.iter().take(ROWS_MAX) {
            tr {
                td.place { (plain(folder(&m.path))) }
                td { (plain(&m.language)) }
                td.r { (m.files) }
                td.r { (m.lines) }
                td {
                    (plain(&m.summary))
                    @if !m.names.is_empty() { " " span.dim { "Offers " @for (i, name) in m.names.iter().enumerate() { @if i > 0 { ", " } code { (plain(name)) } } } }
                }
            }
        }
    };
    table("modules", &["folder", "language", "#files", "#lines", "what it is"], &rows)
}

fn folder(path: &str) -> &str {
    if path.is_empty() { "." } else { path }
}

fn settings(all: &[Setting]) -> Markup {
    let rows = html! {
        @for s in all.iter().take(ROWS_MAX) {
            tr {
                td { (s.kind.name()) }
                td { code { @if !s.of.is_empty() { (plain(&s.of)) "." } (plain(&s.key)) } }
                td.place { @if let Some(at) = &s.declared_at { (place(at)) } }
                td.place {
                    @for (i, at) in s.parsed_at.iter().take(PLACES_SHOWN).enumerate() { @if i > 0 { ", " } (place(at)) }
                    @if s.parsed_at.len() > PLACES_SHOWN { " and " (s.parsed_at.len() - PLACES_SHOWN) " more" }
                }
            }
        }
    };
    table("settings", &["kind", "key", "declared", "parsed"], &rows)
}

fn place(at: &Place) -> String {
    format!("{}:{}", plain(&at.path), at.line)
}

fn effects(all: &[Boundary]) -> Markup {
    let touches = |kind: Touches| match kind {
        Touches::FileSystem => "file system",
        Touches::Network | Touches::Process => kind.name(),
    };
    let rows = html! {
        @for b in all.iter().take(ROWS_MAX) {
            tr {
                td { (touches(b.touches)) }
                td.place { (plain(&b.path)) }
                td { @for (i, call) in b.calls.iter().enumerate() { @if i > 0 { ", " } code { (plain(&call.name)) } span.dim { " (" (call.line) ")" } } }
            }
        }
    };
    table("side effect boundaries", &["touches", "file", "through (line)"], &rows)
}

fn tree(all: &[Folder]) -> Markup {
    let line = |f: &Folder| {
        let name = f.path.rsplit('/').next().filter(|n| !n.is_empty()).unwrap_or(".");
        format!("{}{}/ ({})\n", "  ".repeat(f.depth), plain(name).replace(['\n', '\t'], " "), f.files)
    };
    html! {
        pre tabindex="0" role="region" aria-label="folders with their files" {
            code { @for f in all.iter().take(ROWS_MAX) { (line(f)) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_parts_are_there_and_what_comes_from_a_repository_stays_text() {
        let hostile = "</style><script>alert(1)</script><img src=x onerror=alert(1)>\u{202e}".to_owned();
        let at = Place { path: hostile.clone(), line: 3 };
        let map = RepoMap {
            repo_id: hostile.clone(),
            tree: vec![Folder { path: hostile.clone(), depth: 1, files: 2 }],
            entrypoints: vec![Entrypoint {
                name: hostile.clone(),
                how: hostile.clone(),
                summary: hostile.clone(),
                ..Entrypoint::default()
            }],
            modules: vec![Module {
                language: hostile.clone(),
                lines: 5,
                summary: hostile.clone(),
                names: vec![hostile.clone()],
                ..Module::default()
            }],
            config: vec![Setting {
                key: hostile.clone(),
                of: hostile.clone(),
                parsed_at: vec![at; PLACES_SHOWN + 2],
                ..Setting::default()
            }],
            side_effects: vec![Boundary { touches: Touches::Process, path: hostile, calls: Vec::new() }],
            ..RepoMap::default()
        };
        let page = render(&map);
        assert_eq!(page.matches("<script>").count(), 1, "ours alone");
        assert_eq!(page.matches("<style>").count(), 1);
        assert!(!page.contains("<img") && !page.contains('\u{202e}'));
        assert!(
            page.contains(" and 2 more") && page.contains("default-src &#39;none&#39;")
                || page.contains("default-src 'none'")
        );
        let empty = render(&RepoMap::default());
        assert_eq!(empty.matches("None found.").count(), 5);
    }

    #[test]
    fn a_table_ends_and_says_what_is_left() {
        let module = |i: usize| Module {
            path: format!("m{i}"),
            language: "go".to_owned(),
            lines: 1,
            ..Module::default()
        };
        let map = RepoMap { modules: (0..ROWS_MAX + 7).map(module).collect(), ..RepoMap::default() };
        let page = render(&map);
        assert!(page.contains("Modules (1007)") && page.contains("7 more are in the data"));
        assert!(page.contains("m999<") && !page.contains("m1000<") && page.contains("go: 1007 lines"));
    }
}
