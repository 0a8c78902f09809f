//! The Markdown document of a task as a form of the engine's pack: its files are those of the items, their
//! points are read off the reasons of the items, and their lines are those of the excerpts.

use indexd_api::pack::{Item, Pack};
use indexd_api::request::{BudgetsRequest, Request, Stop};
use indexd_api::task::TaskDocument;
use indexd_model::path::dir_of;
use indexd_model::{FileDoc, FileRoles, IndexView};
use indexd_pack::graph::names::last_name;
use indexd_task::document::{FILES_MAX, Found, Reason, add_reasons_of_paths, one_line, write};
use indexd_task::paths;
use indexd_task::queries::{Kind, Query, candidates, choose};
use indexd_text::terms;
use std::collections::{BTreeMap, BTreeSet};

/// Tokens of the pack behind a document: about what a document has room for.
const PACK_TOKENS: u64 = 14_000;
/// Files without lines that are named because they are in the folder of the best file.
const BESIDE_MAX: usize = 2;

/// Returns the request for the pack behind the document of a task.
pub fn request(task: &str) -> Request {
    let budgets = BudgetsRequest {
        max_total_tokens: Some(PACK_TOKENS),
        stop: Some(Stop::Budget),
        ..BudgetsRequest::default()
    };
    Request { query: task.to_owned(), include_explain: Some(true), budgets, ..Request::default() }
}

/// Writes the document of a task from the pack that answers [`request`] and the index that it was built from.
pub fn document(view: &dyn IndexView, task: &str, pack: &Pack) -> TaskDocument {
    let candidates = candidates(task);
    let files = view.files();
    let holders: Vec<BTreeSet<FileDoc>> = candidates.iter().map(|q| holders(view, &files, q)).collect();
    let n_found: Vec<usize> = holders.iter().map(BTreeSet::len).collect();
    let queries = choose(&candidates, &n_found, files.len());
    let is_asked = |q: &Query| queries.iter().any(|asked| asked.text == q.text);
    let asked = candidates.iter().zip(holders).filter(|(q, _)| is_asked(q));
    let hits: BTreeSet<FileDoc> = asked.flat_map(|(_, files)| files).collect();
    let mut found = if pack.insufficient_context && hits.is_empty() { Vec::new() } else { found(pack) };
    add_reasons_of_paths(&mut found);
    add_beside(view, &files, &mut found);
    let note = "Searched in the index, call sites and tests by resolved edges.";
    write(task, queries, found, hits.len(), note)
}

/// The files that hold a query: all of its terms in one chunk, or for a path, in their path.
fn holders(view: &dyn IndexView, files: &[FileDoc], query: &Query) -> BTreeSet<FileDoc> {
    let readable = |f: &FileDoc| !view.file(*f).roles.has(FileRoles::SENSITIVE);
    if query.kind == Kind::Path {
        let text = query.text.to_lowercase();
        let named = files.iter().filter(|f| view.path(**f).to_lowercase().contains(&text));
        return named.copied().filter(readable).collect();
    }
    let mut chunks: Option<BTreeSet<_>> = None;
    terms(&query.text, |term| {
        let mut postings = Vec::new();
        view.postings(term, &mut postings);
        let with =
            postings.iter().map(|p| p.chunk).filter(|c| chunks.as_ref().is_none_or(|all| all.contains(c)));
        chunks = Some(with.collect());
    });
    let chunks = chunks.unwrap_or_default();
    chunks.into_iter().map(|chunk| view.chunk(chunk).file).filter(readable).collect()
}

/// The first files of a pack by the scores of their items, with reasons and lines.
fn found(pack: &Pack) -> Vec<Found> {
    let names = names(pack);
    let mut ranked: Vec<&Item> = pack.items().collect();
    ranked.sort_by(|a, b| b.scores.hybrid_score.total_cmp(&a.scores.hybrid_score));
    let mut out: Vec<Found> = Vec::new();
    for item in ranked {
        let at = out.iter().position(|f| f.path == item.path()).unwrap_or(out.len());
        if at == FILES_MAX {
            continue;
        }
        if at == out.len() {
            out.push(Found { path: item.path().to_owned(), ..Found::default() });
        }
        for (kind, said) in reasons(item, &names) {
            out[at].reasons.entry(kind).or_insert(said);
        }
        out[at].lines.extend(lines(item));
    }
    out.retain(|f| !f.reasons.is_empty());
    out
}

/// True if an item is there for its text or because the request names it, not for an edge.
pub(crate) fn is_hit(item: &Item) -> bool {
    let rule = item.why.rule.as_str();
    rule.starts_with("seed-") || rule.ends_with("-match") || matches!(rule, "focus" | "changed")
}

/// What an item of a pack is called: its symbol or chunk, its file, and the last name of the symbol, else the
/// title.
pub(crate) struct Named<'p> {
    id: &'p str,
    path: &'p str,
    name: &'p str,
}

/// The names of all items of a pack, in their order.
pub(crate) fn names(pack: &Pack) -> Vec<Named<'_>> {
    pack.items().map(named).collect()
}

fn named(item: &Item) -> Named<'_> {
    let name = item.symbol_id.as_deref().map_or(item.title.as_str(), last_name);
    let id = item.symbol_id.as_ref().unwrap_or(&item.chunk_uid);
    Named { id, path: item.path(), name }
}

/// The reasons of an item by its rule, its path and its relations to other items, which `names` names. What a
/// file does with its own definitions is not a reason.
pub(crate) fn reasons(item: &Item, names: &[Named]) -> BTreeMap<Reason, String> {
    let mut out = BTreeMap::new();
    if is_hit(item) {
        let said = item.why.evidence.iter().map(|e| e.via.strip_prefix("term ").unwrap_or(&e.via));
        let said: Vec<String> = said.map(|word| format!("`{}`", one_line(word))).collect();
        out.insert(Reason::Hit, format!("direct hit: {}", said.join(", ")));
    }
    let is_elsewhere = |n: &Named| n.path != item.path();
    let of_relation = item.why.also.iter().find_map(|said| {
        let (verb, n) = said.split_once(" item ")?;
        let other = names.get(n.parse::<usize>().ok()?.checked_sub(1)?)?;
        (is_elsewhere(other) && matches!(verb, "calls" | "uses")).then_some(other.name)
    });
    let own = item.symbol_id.as_ref().unwrap_or(&item.chunk_uid);
    let of_edge = item.why.path.last().filter(|step| step.from == *own).and_then(|step| {
        let other = names.iter().find(|n| n.id == step.to);
        other.map_or(Some(last_name(&step.to)), |n| is_elsewhere(n).then_some(n.name))
    });
    if let Some(name) = of_edge.or(of_relation) {
        let is_test = item.traits.iter().any(|name| name == "test");
        let (kind, what) =
            if is_test { (Reason::Test, "test that refers to") } else { (Reason::Call, "call site of") };
        out.insert(kind, format!("{what} `{}`", one_line(name)));
    }
    out
}

/// The lines of an item: those with evidence, then all that are shown.
fn lines(item: &Item) -> Vec<(u32, String)> {
    let numbers = item.excerpt.parts.iter().flat_map(|part| part.lines.start..=part.lines.end);
    let shown: Vec<(u32, String)> = numbers.zip(item.excerpt.text.lines().map(str::to_owned)).collect();
    let is_told = |line: &&(u32, String)| item.why.evidence.iter().any(|e| e.line == line.0);
    shown.iter().filter(is_told).chain(&shown).cloned().collect()
}

/// Names source files in the folder of the best file, where there is room.
fn add_beside(view: &dyn IndexView, files: &[FileDoc], found: &mut Vec<Found>) {
    let Some(folder) = found.first().map(|f| dir_of(&f.path).to_owned()) else { return };
    let candidates = files.iter().map(|f| view.path(*f)).filter(|path| {
        let is_code = paths::is_source(path) && !paths::comment(path).is_empty();
        dir_of(path) == folder && is_code && !paths::is_sensitive(path)
    });
    let room = FILES_MAX.saturating_sub(found.len()).min(BESIDE_MAX);
    let new = candidates.filter(|path| found.iter().all(|f| *f.path != **path)).take(room);
    let place = if folder.is_empty() { "the root" } else { &folder };
    let named = new.map(|path| Found {
        path: path.to_string(),
        reasons: [(Reason::Beside, format!("in {place} beside one of the best"))].into(),
        lines: Vec::new(),
    });
    let named: Vec<Found> = named.collect();
    found.extend(named);
}

#[cfg(test)]
mod tests {
    use super::*;
    use indexd_oracle::Oracle;
    use indexd_task::document::{BYTES_MAX, LINES_PER_FILE_MAX};

    fn of(files: &[(&str, &str)], task: &str) -> TaskDocument {
        let view = Oracle::of(files);
        document(&view, task, &crate::tests::build(&view, &request(task)))
    }

    const SHOP: [(&str, &str); 6] = [
        ("go.mod", "module m\n\ngo 1.22\n"),
        (
            "net/retry.go",
            "package net\n\n// RetryDelay waits.\nfunc RetryDelay(n int) int {\n\treturn 1 << n\n}\n",
        ),
        ("net/other.go", "package net\n\nfunc Other() {}\n"),
        (
            "net/retry_test.go",
            "package net\n\nimport \"testing\"\n\nfunc TestIt(t *testing.T) {\n\tRetryDelay(2)\n}\n",
        ),
        ("cmd/run/main.go", "package main\n\nimport \"m/net\"\n\nfunc main() {\n\tnet.RetryDelay(3)\n}\n"),
        ("README.md", "# Shop\n\nNothing of it.\n"),
    ];

    #[test]
    fn points_add_up_once_for_each_kind_and_order_the_files() {
        let d = of(&SHOP, "how long does RetryDelay wait");
        let points: Vec<(&str, u32)> = d.files.iter().map(|f| (f.path.as_str(), f.points)).collect();
        let expect =
            [("cmd/run/main.go", 10), ("net/retry.go", 6), ("net/retry_test.go", 3), ("net/other.go", 1)];
        assert_eq!(points, expect, "{}", d.markdown);
        for said in ["call site of `RetryDelay` (+3)", "test that refers to `RetryDelay` (+2)", "(+5)"] {
            assert!(d.markdown.contains(said), "{said}: {}", d.markdown);
        }
    }

    /// The document finds what the engine finds: other forms of a word, and words that a name is made of.
    #[test]
    fn it_finds_what_the_engine_finds() {
        let files = [
            (
                "sessions.py",
                "class SecureCookieSession:\n    def get_signing_serializer(self, app):\n        return Serializer(app.secret_key)\n",
            ),
            ("views.py", "def index():\n    return 1\n"),
        ];
        let d = of(&files, "how is the session cookie signed");
        assert!(d.markdown.contains("def get_signing_serializer"), "{}", d.markdown);
        assert_eq!(d.insufficient, None);
    }

    #[test]
    fn limits_hold_at_their_boundaries() {
        let body: String = (0..80).map(|i| format!("\tzorkmid({i}, \"{}\")\n", "x".repeat(90))).collect();
        let files: Vec<(String, String)> = (0..20)
            .map(|i| (format!("d{i:02}/f.go"), format!("package d\n\nfunc F{i}() {{\n{body}}}\n")))
            .collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(p, t)| (p.as_str(), t.as_str())).collect();
        let d = of(&files, "zorkmid");
        assert_eq!(d.files.len(), FILES_MAX);
        assert!(d.markdown.len() <= BYTES_MAX);
        let shown = |f: &indexd_api::task::TaskFile| f.excerpts.iter().map(|[a, b]| b - a + 1).sum::<u32>();
        assert!(d.files.iter().all(|f| shown(f) as usize <= LINES_PER_FILE_MAX));
    }

    #[test]
    fn nothing_found_is_said_with_the_terms() {
        let d = of(&SHOP, "the \"flux capacitor\" of DeLorean_drive");
        assert!(d.files.is_empty() && d.markdown.contains("## No relevant code found"), "{}", d.markdown);
        assert!(d.insufficient.is_some_and(|why| why.contains("none of the")));
    }

    #[test]
    fn calls_inside_a_file_are_not_call_sites() {
        let text = "package net\n\nfunc RetryDelay(n int) int {\n\treturn base(n)\n}\n\nfunc base(n int) int {\n\treturn n\n}\n";
        let d = of(&[("go.mod", "module m\n"), ("net/retry.go", text)], "RetryDelay base");
        assert_eq!((d.files[0].path.as_str(), d.files[0].points), ("net/retry.go", 5), "{}", d.markdown);
    }

    #[test]
    fn lines_of_an_excerpt_are_those_of_the_file() {
        let d = of(&SHOP, "RetryDelay");
        for f in &d.files {
            let text = SHOP.iter().find(|(path, _)| *path == f.path).expect("a file of the tree").1;
            let lines: Vec<&str> = text.lines().collect();
            for [from, to] in &f.excerpts {
                let shown = lines[*from as usize - 1..*to as usize].join("\n");
                assert!(d.markdown.contains(&shown), "{}: {shown}", f.path);
            }
        }
    }
}
