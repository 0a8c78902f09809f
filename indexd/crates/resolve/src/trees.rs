//! Small trees as specifications of linkers: files under `-- path --` lines, and behind a source line,
//! after `//= `, what its names lead to.

use indexd_lang::extract;
use indexd_model::memory::MemoryFacts;
use indexd_model::{EdgeKind, Facts, FileDoc, FileFacts, LineIndex, Link, Links, RepoPath, Rule};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

pub(crate) struct Tree {
    pub(crate) paths: Vec<String>,
    pub(crate) texts: Vec<String>,
    pub(crate) facts: Vec<FileFacts>,
    pub(crate) view: MemoryFacts,
}

impl Tree {
    pub(crate) fn parse(fixture: &str) -> Self {
        let mut files: BTreeMap<String, String> = BTreeMap::new();
        let mut open = String::new();
        for line in fixture.lines() {
            match line.strip_prefix("-- ").and_then(|l| l.strip_suffix(" --")) {
                Some(path) => open = path.to_owned(),
                None => {
                    let code = line.split_once(" //=").map_or(line, |l| l.0);
                    let _ = writeln!(files.entry(open.clone()).or_default(), "{code}");
                }
            }
        }
        Self::new(files)
    }

    pub(crate) fn new(files: BTreeMap<String, String>) -> Self {
        let facts: Vec<FileFacts> = files
            .iter()
            .map(|(p, text)| extract(&RepoPath::new(p).unwrap(), text.as_bytes()).facts)
            .collect();
        let known = files.keys().zip(&facts);
        let known = known.map(|(p, f)| (RepoPath::new(p).unwrap(), Arc::new(f.interface.clone())));
        let view = MemoryFacts::new(known.collect());
        let (paths, texts) = files.into_iter().unzip();
        Self { paths, texts, facts, view }
    }

    pub(crate) fn link(&self, file: usize) -> Links {
        crate::link(FileDoc(file as u32), Facts::inside(&self.facts[file]), &self.view)
    }

    /// Returns `path:line` of the target of a link.
    pub(crate) fn place(&self, link: &Link) -> String {
        let target = link.target.file.index();
        let line = link.target.def.some().map_or(1, |d| {
            let def = Facts::inside(&self.facts[target]).def(d);
            LineIndex::new(&self.texts[target]).line(def.name_span.start)
        });
        format!("{}:{line}", self.paths[target])
    }

    /// Returns the links of each line of a file, in the words of `say`, which skips links by `None`.
    pub(crate) fn lines(
        &self,
        file: usize,
        say: impl Fn(&Self, &Link, &str) -> Option<String>,
    ) -> BTreeMap<u32, String> {
        let links = self.link(file);
        let text = &self.texts[file];
        let index = LineIndex::new(text);
        let mut all: Vec<(u32, String)> = Vec::new();
        for l in &links.links {
            let name = &text[l.at as usize..l.at as usize + usize::from(l.len)];
            all.extend(say(self, l, name).map(|it| (l.at, it)));
        }
        let facts = Facts::inside(&self.facts[file]);
        for u in &links.unresolved {
            all.push((u.at, format!("{} ! {:?}", facts.str(u.name), u.reason)));
        }
        all.sort_by_key(|a| a.0);
        let mut out: BTreeMap<u32, Vec<String>> = BTreeMap::new();
        for (at, it) in all {
            out.entry(index.line(at)).or_default().push(it);
        }
        out.into_iter().map(|(line, all)| (line, all.join("; "))).collect()
    }
}

/// `name -> path:line`, with ` kind` where it is not a usage and ` rule` where it is not scope; exports
/// are left out.
fn said(tree: &Tree, l: &Link, name: &str) -> Option<String> {
    let kind = if l.kind == EdgeKind::Usage { String::new() } else { format!(" {}", l.kind.name()) };
    let rule = if l.rule == Rule::Scope { String::new() } else { format!(" {}", l.rule.name()) };
    (l.kind != EdgeKind::Export).then(|| format!("{name} -> {}{kind}{rule}", tree.place(l)))
}

/// Compares every fixture in a folder below `src` with its expected links; `UPDATE_FIXTURES=1` writes the
/// actual ones.
pub(crate) fn check(folder: &str, n_min: usize) {
    check_with(folder, n_min, |tree, file, _| tree.lines(file, said));
}

/// Works as [`check`], where `lines` returns the links of each line of a file of a tree, given the fixture's
/// name.
pub(crate) fn check_with(
    folder: &str,
    n_min: usize,
    lines: impl Fn(&Tree, usize, &str) -> BTreeMap<u32, String>,
) {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(folder);
    let mut paths: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= n_min);
    for path in paths {
        let fixture = std::fs::read_to_string(&path).unwrap();
        let tree = Tree::parse(&fixture);
        let name = path.file_name().unwrap().to_string_lossy();
        let found: Vec<BTreeMap<u32, String>> =
            (0..tree.paths.len()).map(|i| lines(&tree, i, &name)).collect();
        let mut got = String::new();
        let (mut file, mut line) = (None, 0);
        for text in fixture.lines() {
            if let Some(name) = text.strip_prefix("-- ").and_then(|l| l.strip_suffix(" --")) {
                (file, line) = (tree.paths.iter().position(|p| p == name), 0);
            } else {
                line += 1;
            }
            got.push_str(text.split_once(" //=").map_or(text, |t| t.0));
            if let Some(it) = file.and_then(|f| found[f].get(&line)) {
                let _ = write!(got, " //= {it}");
            }
            got.push('\n');
        }
        if std::env::var_os("UPDATE_FIXTURES").is_some() {
            std::fs::write(&path, &got).unwrap();
            continue;
        }
        assert_eq!(got, fixture, "{}", path.display());
    }
}
