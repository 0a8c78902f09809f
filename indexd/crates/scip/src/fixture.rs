//! Trees with the facts of an indexer and of our linker about them, as one string.
//!
//! ```text
//! === app.py
//! x = f()
//! #   ^ reference s m p v lib/f().
//! #   ^ ours call lib.py f Scope
//! ```
//!
//! A line of carets describes the line of text above it and is not part of the text. Columns of
//! carets count code points, `#` may be left out before carets in the first; a place without width at the
//! start of the file is written `#| definition ...`.

use crate::import::{ForeignDocument, ForeignIndex, ForeignOccurrence};
use crate::text::{Encoding, Range};
use indexd_lang::extract;
use indexd_model::memory::MemoryFacts;
use indexd_model::{
    ContentHash, DefIdx, DefRef, EdgeKind, Facts, FactsView, FileDoc, FileFacts, Link, RepoPath, Role, Rule,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A tree with its facts, a foreign index of it and some links of ours.
pub struct Fixture {
    /// Facts and text by path.
    pub files: BTreeMap<String, (FileFacts, Arc<str>)>,
    /// The view of all interfaces.
    pub view: MemoryFacts,
    /// The index of the indexer.
    pub index: ForeignIndex,
    ours: Vec<(String, u32, u16, String)>,
}

impl Fixture {
    pub fn new(source: &str) -> Self {
        let mut texts: Vec<(String, String)> = Vec::new();
        let mut index = ForeignIndex::default();
        let mut ours = Vec::new();
        for line in source.lines() {
            let line = line.strip_prefix("        ").unwrap_or(line);
            if let Some(path) = line.strip_prefix("=== ") {
                texts.push((path.to_owned(), String::new()));
                let encoding = Some(Encoding::Utf32);
                index.documents.push(ForeignDocument {
                    path: path.to_owned(),
                    encoding,
                    ..Default::default()
                });
                continue;
            }
            let Some((path, text)) = texts.last_mut() else {
                continue;
            };
            let Some((start, end, words)) = mark(line) else {
                text.push_str(line);
                text.push('\n');
                continue;
            };
            let n = text.lines().count() as u32;
            if let Some(link) = words.strip_prefix("ours ") {
                let above = text.lines().last().unwrap_or("");
                let byte =
                    |column: u32| above.chars().take(column as usize).map(char::len_utf8).sum::<usize>();
                let at = text.len() - above.len() - 1 + byte(start);
                ours.push((path.clone(), at as u32, (byte(end) - byte(start)) as u16, link.to_owned()));
                continue;
            }
            let (role, symbol) = words.split_once(' ').unwrap();
            let line = n.saturating_sub(1);
            let i = index.symbols.iter().position(|s| **s == *symbol).unwrap_or_else(|| {
                index.symbols.push(symbol.into());
                index.symbols.len() - 1
            });
            index.documents.last_mut().unwrap().occurrences.push(ForeignOccurrence {
                range: Range { start_line: line, start_column: start, end_line: line, end_column: end },
                symbol: i as u32,
                roles: u32::from(role == "definition"),
            });
        }
        let mut files = BTreeMap::new();
        for (path, text) in texts {
            let found = extract(&RepoPath::new(&path).unwrap(), text.as_bytes());
            files.insert(path, (found.facts, Arc::from(found.text.as_ref())));
        }
        let view = MemoryFacts::new(
            files.iter().map(|(p, f)| (RepoPath::new(p).unwrap(), Arc::new(f.0.interface.clone()))).collect(),
        );
        Self { files, view, index, ours }
    }

    /// Content hash and text of a file.
    pub fn read(&self, path: &str) -> Option<(ContentHash, Arc<str>)> {
        let text = &self.files.get(path)?.1;
        Some((ContentHash::of(text.as_bytes()), Arc::clone(text)))
    }

    pub fn file(&self, path: &str) -> FileDoc {
        self.view.file_by_path(path).unwrap()
    }

    /// Our links in a file, according to its `ours KIND PATH NAME RULE` lines.
    pub fn ours(&self, path: &str) -> Vec<Link> {
        let own = self.ours.iter().filter(|o| o.0 == path);
        own.map(|(_, at, len, words)| {
            let words: Vec<&str> = words.split(' ').collect();
            let [kind, target, name, rule] = words[..] else { panic!("{words:?}") };
            let facts = Facts::inside(&self.files[target].0);
            let named = |d: &DefIdx| indexd_model::names::qualified_name(&facts, *d) == name;
            let def = (0..facts.interface.defs.len() as u32).map(DefIdx).find(named).unwrap_or(DefIdx::NONE);
            let rule = match rule {
                "Scope" => Rule::Scope,
                "Dispatch" => Rule::Dispatch,
                "UniqueName" => Rule::UniqueName,
                other => panic!("{other}"),
            };
            let (kind, role) = match kind {
                "call" => (EdgeKind::Call, Role::Call),
                "usage" => (EdgeKind::Usage, Role::Read),
                "import" => (EdgeKind::Import, Role::Import),
                "export" => (EdgeKind::Export, Role::Import),
                "dataflow" => (EdgeKind::Dataflow, Role::None),
                other => panic!("{other}"),
            };
            let target = DefRef { file: self.file(target), def };
            Link {
                kind,
                source: DefIdx::NONE,
                target,
                at: *at,
                len: *len,
                role,
                rule,
                confidence: rule.confidence(),
            }
        })
        .collect()
    }
}

/// Columns and words of a line of carets.
fn mark(line: &str) -> Option<(u32, u32, &str)> {
    let rest = if line.starts_with('^') {
        line
    } else {
        line.strip_prefix('#').or_else(|| line.strip_prefix("//"))?
    };
    if let Some(words) = rest.strip_prefix("| ") {
        return Some((0, 0, words));
    }
    let before = line.len() - rest.trim_start().len();
    let carets = rest.trim_start().bytes().take_while(|b| *b == b'^').count();
    let words = &rest.trim_start()[carets..];
    (carets > 0).then(|| (before as u32, (before + carets) as u32, words.trim()))
}
