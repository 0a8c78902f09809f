//! The map of a repository as a page: what the Markdown of it says, complete, with the size of its parts
//! as a bar. A field filters all of it, long tables scroll, folders open and close.

use super::editor::Editor;
use super::picture;
use super::{document, filter, grouped, plain, table};
use indexd_map::page::weight;
use indexd_proto::documents::{Boundary, Entrypoint, Folder, Module, RepoMap, Setting, Touches};
use maud::{Markup, html};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Rows of one table at most; the data has them all.
const ROWS_MAX: usize = 1_000;
/// Languages with a fill of their own in the bar.
const FILLS: usize = 7;
/// Folders above this depth are open.
const OPEN_DEPTH: usize = 1;
/// Places shown of one key.
const PLACES_SHOWN: usize = 5;

/// The page of a map. Places lead into `editor`.
pub fn render(map: &RepoMap, editor: &Editor) -> String {
    let title = format!("Repo map: {}", plain(&map.repo_id));
    let parts = [
        ("Entry points", map.entrypoints.len(), entrypoints(&map.entrypoints, editor)),
        ("Modules", map.modules.len(), modules(&map.modules)),
        ("Settings", map.config.len(), settings(&map.config, editor)),
        ("Files, network, processes", map.side_effects.len(), effects(&map.side_effects, editor)),
        ("Tree", map.tree.len(), tree(&map.tree)),
    ];
    let head = html! {
        h1 { (title) }
        p.dim { (grouped(map.files.into())) " files indexed" }
        (languages(&map.modules))
        (filter("filter the map"))
        nav aria-label="parts" { ul { @for (name, n, _) in &parts { li { a href={ "#" (anchor(name)) } { (name) } " (" (n) ")" } } } }
    };
    let main = html! {
        @for (name, n, content) in &parts {
            section aria-labelledby=(anchor(name)) {
                details open {
                    summary { h2 id=(anchor(name)) { (name) " (" (n) ")" } }
                    @if *n == 0 { p { "None found." } } @else { (content) }
                    @if *n > ROWS_MAX { p.dim { (n - ROWS_MAX) " more are in the data: ctl map --json" } }
                }
            }
        }
    };
    let foot = html! { p.dim { "written by indexd " (env!("CARGO_PKG_VERSION")) } };
    document(&title, &head, &main, &foot)
}

fn anchor(name: &str) -> String {
    name.to_lowercase().replace(',', "").replace(' ', "-")
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
                    li { span.key.(fill) aria-hidden="true" {} (language) ": " (grouped(*n)) " lines" }
                }
            }
        }
    }
}

fn entrypoints(all: &[Entrypoint], editor: &Editor) -> Markup {
    let rows = html! {
        @for e in all.iter().take(ROWS_MAX) {
            tr { td { (e.kind.name()) } td { code { (plain(&e.name)) } } td.place { (editor.place(&e.path, e.line)) } td { (plain(&e.how)) @if !e.summary.is_empty() { ": " (plain(&e.summary)) } } }
        }
    };
    table("entry points", &["kind", "name", "place", "how"], &rows)
}

/// Modules in the order of their weight.
fn modules(all: &[Module]) -> Markup {
    let mut all: Vec<&Module> = all.iter().collect();
    all.sort_by_key(|m| (Reverse(weight(m)), &m.path));
    let rows = html! {
        @for m in all.into_iter().take(ROWS_MAX) {
            tr {
                td.place { (plain(folder(&m.path))) }
                td { (plain(&m.language)) }
                td.r { (grouped(m.files.into())) }
                td.r { (grouped(m.lines.into())) }
                td.r { (grouped(m.dependants.into())) }
                td {
                    (plain(&m.summary))
                    @if !m.names.is_empty() { " " span.dim { "Offers " @for (i, name) in m.names.iter().enumerate() { @if i > 0 { ", " } code { (plain(name)) } } } }
                }
            }
        }
    };
    table("modules", &["folder", "language", "#files", "#lines", "#used by", "what it is"], &rows)
}

fn folder(path: &str) -> &str {
    if path.is_empty() { "." } else { path }
}

fn settings(all: &[Setting], editor: &Editor) -> Markup {
    let rows = html! {
        @for s in all.iter().take(ROWS_MAX) {
            tr {
                td { (s.kind.name()) }
                td { code { @if !s.of.is_empty() { (plain(&s.of)) "." } (plain(&s.key)) } }
                td.place { @if let Some(at) = &s.declared_at { (editor.place(&at.path, at.line)) } }
                td.place {
                    @for (i, at) in s.parsed_at.iter().take(PLACES_SHOWN).enumerate() { @if i > 0 { ", " } (editor.place(&at.path, at.line)) }
                    @if s.parsed_at.len() > PLACES_SHOWN { " and " (s.parsed_at.len() - PLACES_SHOWN) " more" }
                }
            }
        }
    };
    table("settings", &["kind", "key", "declared", "parsed"], &rows)
}

fn effects(all: &[Boundary], editor: &Editor) -> Markup {
    let touches = |kind: Touches| match kind {
        Touches::FileSystem => "file system",
        Touches::Network | Touches::Process => kind.name(),
    };
    let rows = html! {
        @for b in all.iter().take(ROWS_MAX) {
            tr {
                td { (touches(b.touches)) }
                td.place { (editor.link(&b.path, b.calls.first().map_or(1, |c| c.line), &plain(&b.path))) }
                td { @for (i, call) in b.calls.iter().enumerate() { @if i > 0 { ", " } code { (plain(&call.name)) } span.dim { " (" (call.line) ")" } } }
            }
        }
    };
    table("side effect boundaries", &["touches", "file", "through (line)"], &rows)
}

/// Folders as a tree that opens and closes: the first levels are open.
fn tree(all: &[Folder]) -> Markup {
    let all = &all[..all.len().min(ROWS_MAX)];
    html! { div.tree { (level(all)) } }
}

/// The folders of the depth of the first one, each with those below it.
fn level(all: &[Folder]) -> Markup {
    let Some(depth) = all.first().map(|f| f.depth) else { return html! {} };
    // Folders before the next one of this depth are below it.
    let groups = all.chunk_by(|_, next| next.depth > depth);
    html! {
        ul {
            @for group in groups {
                li {
                    @let name = html! { (plain(name_of(&group[0]))) "/ " span.dim { (group[0].files) } };
                    @if group.len() == 1 { (name) } @else {
                        details open[depth < OPEN_DEPTH] { summary { (name) } (level(&group[1..])) }
                    }
                }
            }
        }
    }
}

/// The last name of the path of a folder; `.` for the root.
fn name_of(folder: &Folder) -> &str {
    folder.path.rsplit('/').next().filter(|n| !n.is_empty()).unwrap_or(".")
}

#[cfg(test)]
mod tests {
    use super::*;
    use indexd_proto::documents::Place;

    fn render(map: &RepoMap) -> String {
        super::render(map, &Editor::new("vscode://file{path}:{line}", std::path::Path::new("/r")))
    }

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
    fn folders_nest_as_their_paths_do() {
        let folder = |path: &str, depth| Folder { path: path.to_owned(), depth, files: 1 };
        let all = [folder("", 0), folder("a", 1), folder("a/b", 2), folder("c", 1)];
        let page = tree(&all).into_string();
        let text = page
            .replace("<span class=\"dim\">1</span>", "")
            .replace("<summary>", "")
            .replace("</summary>", "");
        let expect = "<div class=\"tree\"><ul><li><details open>./ <ul><li><details>a/ <ul><li>b/ </li></ul></details></li>\
                      <li>c/ </li></ul></details></li></ul></div>";
        assert_eq!(text, expect);
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
        assert!(page.contains("m992<") && !page.contains("m993<") && page.contains("go: 1,007 lines"));
    }
}
