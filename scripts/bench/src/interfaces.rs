//! Edits of interfaces: how long until they are visible, and whether only those files are linked
//! again that looked at a name whose meaning changed.
//!
//! What has to be linked again is worked out apart from the daemon, by a [`LinkedTree`], which
//! holds the whole tree in memory and knows no sets and no tables.

use crate::daemon::{Daemon, Programs};
use crate::percentile;
use crate::tree::Tree;
use anyhow::{Context, Result, ensure};
use indexd::workspace::tree;
use indexd::workspace::tree::known::KnownFiles;
use indexd_model::{DefFlags, DefKind, Facts, Language, Outcome, RepoPath};
use indexd_oracle::LinkedTree;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Files that depend on a definition, up to and including; the last is without a limit.
const BUCKETS: [usize; 4] = [10, 50, 200, usize::MAX];
/// Definitions of one name at most, and bytes of a signature, so that `ctl symbol` shows the edit.
const NAMESAKES_MAX: usize = 10;
const HEAD_BYTES_MAX: usize = 120;
/// What an edit leaves in the text.
const MARK: &str = "zqmark";

/// What is done to a definition; each is undone again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    /// A statement more in the body of a function.
    Body,
    /// A parameter more.
    Parameter,
    /// Another result type.
    Result,
    /// Another name.
    Name,
    /// The text of before.
    Undo,
}

/// One edit as measured.
struct Measured {
    change: Change,
    n_dependants: usize,
    n_due: usize,
    n_linked: usize,
    ms: f64,
}

/// Edits up to `n` definitions of each bucket, in every way and back again.
///
/// # Errors
/// An edit does not become visible, or another number of files is linked than looked at its names.
pub fn run(programs: &Programs, name: &str, dir: &Path, n: usize) -> Result<()> {
    let tree = Tree::copy(name, dir)?;
    let daemon = Daemon::start(programs)?;
    daemon.index(&tree.root())?;
    let mut model = read(&tree.root())?;
    let (mut out, mut wrong) = (Vec::new(), Vec::new());
    for target in targets(&model, n) {
        for change in [Change::Body, Change::Parameter, Change::Result, Change::Name] {
            let Some(edited) = target.edited(change) else { continue };
            let is_body = change == Change::Body;
            let shown = if change == Change::Name { MARK } else { &target.name };
            for (change, text, name) in
                [(change, &*edited, shown), (Change::Undo, &*target.text, target.name.as_str())]
            {
                let due = model.apply(vec![(target.path.clone(), Some(text.as_bytes()))]);
                let before = daemon.n_linked()?;
                std::fs::write(tree.root().join(&*target.path), text)?;
                let start = Instant::now();
                let seen = daemon.symbols(&tree.root(), name)?;
                let ms = start.elapsed().as_secs_f64() * 1e3;
                // A request does not wait for ever; the count is taken when all is done.
                daemon.index(&tree.root())?;
                let n_linked = (daemon.n_linked()? - before) as usize;
                let is_marked = seen.contains(MARK);
                let is_visible = change == Change::Body || is_marked == (change != Change::Undo);
                let is_exact = n_linked == due.len() && (!is_body || n_linked == 1);
                if !is_visible || !is_exact {
                    wrong.push(format!(
                        "{}: {change:?} of {}: visible: {is_visible}; {n_linked} files linked, {} looked at a changed name",
                        target.path,
                        target.name,
                        due.len()
                    ));
                }
                let n_dependants = if is_body { 0 } else { target.n_dependants };
                out.push(Measured { change, n_dependants, n_due: due.len(), n_linked, ms });
            }
        }
    }
    ensure!(!out.is_empty(), "{name} has no definition to edit");
    print(name, &out);
    ensure!(wrong.is_empty(), "{} edits went wrong:\n{}", wrong.len(), wrong.join("\n"));
    Ok(())
}

/// Prints what was measured, one line a bucket and one a kind of edit.
fn print(name: &str, all: &[Measured]) {
    println!("{name}: {} edits of interfaces and bodies, and back again", all.len() / 2);
    let line = |title: &str, of: &dyn Fn(&Measured) -> bool| {
        let of: Vec<&Measured> = all.iter().filter(|m| of(m)).collect();
        if of.is_empty() {
            return;
        }
        let ms: Vec<f64> = of.iter().map(|m| m.ms).collect();
        let sum = |f: &dyn Fn(&Measured) -> usize| of.iter().map(|m| f(m)).sum::<usize>();
        println!(
            "  {title:24} {:3} edits  p50 {:6.1} ms  p95 {:6.1} ms  max {:6.1} ms  \
             dependants {:6}  looked at the names {:6}  linked {:6}",
            of.len(),
            percentile(&ms, 50.0),
            percentile(&ms, 95.0),
            percentile(&ms, 100.0),
            sum(&|m| m.n_dependants),
            sum(&|m| m.n_due),
            sum(&|m| m.n_linked),
        );
    };
    line("bodies", &|m| m.change == Change::Body);
    let is_interface = |m: &Measured| m.n_dependants > 0;
    line("up to 200 dependants", &|m| is_interface(m) && m.n_dependants <= 200);
    let mut from = 1;
    for to in BUCKETS {
        let title = if to == usize::MAX { format!("  {from} and more") } else { format!("  {from} to {to}") };
        line(&title, &|m| (from..=to).contains(&m.n_dependants));
        from = to.saturating_add(1);
    }
    for change in [Change::Parameter, Change::Result, Change::Name, Change::Undo] {
        line(&format!("  {change:?}"), &|m| is_interface(m) && m.n_dependants <= 200 && m.change == change);
    }
}

/// A definition to edit.
struct Target {
    path: RepoPath,
    text: Arc<str>,
    name: String,
    name_at: usize,
    kind: DefKind,
    head: std::ops::Range<usize>,
    language: Language,
    n_dependants: usize,
}

impl Target {
    /// The text of the file after an edit; `None` where that edit makes no sense.
    fn edited(&self, change: Change) -> Option<String> {
        let after_name = self.name_at + self.name.len();
        let replaced = |range: std::ops::Range<usize>, by: &str| {
            Some(format!("{}{by}{}", &self.text[..range.start], &self.text[range.end..]))
        };
        if change == Change::Name {
            return replaced(self.name_at..after_name, MARK);
        }
        if !self.kind.is_callable() {
            return None;
        }
        let open = after_name + self.text[after_name..self.head.end].find('(')?;
        let close = open + closing(self.text.get(open..self.head.end)?)?;
        let is_go = self.language == Language::Go;
        match change {
            Change::Parameter => {
                let inside = &self.text[open + 1..close];
                let first = inside.split(',').next().map_or("", str::trim);
                let at = match first {
                    "self" | "cls" => open + 1 + inside.find(first)? + first.len(),
                    _ => open + 1,
                };
                let new = match (is_go, first) {
                    (true, "") => format!("{MARK} int"),
                    (true, _) => format!("{MARK} int, "),
                    (false, "") => format!("{MARK}=None"),
                    (false, "self" | "cls") => format!(", {MARK}"),
                    (false, _) => format!("{MARK}, "),
                };
                replaced(at..at, &new)
            }
            Change::Result if is_go => {
                let brace = self.text[close..].find('{')? + close;
                (!self.text[close..brace].contains('\n')).then_some(())?;
                replaced(close + 1..brace, &format!(" {MARK} "))
            }
            Change::Result => {
                let colon = self.text[close..].find(":\n")? + close;
                (!self.text[close..colon].contains('\n')).then_some(())?;
                replaced(close + 1..colon, &format!(" -> \"{MARK}\""))
            }
            Change::Body if is_go => {
                let brace = self.text[close..].find("{\n")? + close;
                (!self.text[close..brace].contains('\n')).then_some(())?;
                replaced(brace + 1..brace + 1, "\n\t_ = 0")
            }
            // Statements of a function whose results are not declared may be observed.
            Change::Body => {
                let line = self.text[close..].find(":\n")? + close + 2;
                (!self.text[close..line - 2].contains('\n')).then_some(())?;
                let indent = &self.text[line..][..self.text[line..].find(|c| c != ' ')?];
                replaced(line..line, &format!("{indent}0\n"))
            }
            Change::Name | Change::Undo => None,
        }
    }
}

/// Where the parenthesis that opens `text` closes.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (i, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '"' | '\'' | '#' => return None,
            _ => {}
        }
        if depth == 0 {
            return Some(i);
        }
    }
    None
}

/// Reads the tree as the daemon sees it: the same ignore rules, nothing else in common.
fn read(root: &Path) -> Result<LinkedTree> {
    let found = tree::Tree::new(root, &[], KnownFiles::default()).sweep(None)?;
    let mut contents = Vec::new();
    for path in found.changed.into_keys() {
        let bytes = std::fs::read(root.join(&*path)).with_context(|| format!("reading {path}"))?;
        contents.push((path, bytes));
    }
    let mut model = LinkedTree::default();
    model.apply(contents.iter().map(|(path, bytes)| (path.clone(), Some(&bytes[..]))).collect());
    Ok(model)
}

/// Definitions to edit: `n` of each bucket, evenly spread over those with the fewest to those with the
/// most dependants.
fn targets(model: &LinkedTree, n: usize) -> Vec<Target> {
    let mut named: BTreeMap<&str, usize> = BTreeMap::new();
    for file in model.files.values() {
        for def in &file.facts.interface.defs {
            *named.entry(Facts::inside(&file.facts).str(def.name)).or_default() += 1;
        }
    }
    let mut candidates: Vec<Target> = Vec::new();
    for ((path, def), dependants) in model.dependants() {
        let file = &model.files[path];
        let facts = Facts::inside(&file.facts);
        let (def, interface) = (facts.def(def), &file.facts.interface);
        let name = facts.str(def.name);
        let fits = matches!(interface.language, Language::Go | Language::Python)
            && interface.outcome == Outcome::Parsed
            && (def.kind.is_type() || def.kind.is_callable())
            && def.flags.has(DefFlags::EXPORTED)
            && def.head.range().len() <= HEAD_BYTES_MAX
            && named[name] <= NAMESAKES_MAX
            && file.text.get(def.name_span.range()) == Some(name);
        if fits {
            candidates.push(Target {
                path: path.clone(),
                text: Arc::clone(&file.text),
                name: name.to_owned(),
                name_at: def.name_span.start as usize,
                kind: def.kind,
                head: def.head.range(),
                language: interface.language,
                n_dependants: dependants.len(),
            });
        }
    }
    candidates.sort_by_key(|t| t.n_dependants);
    let mut out = Vec::new();
    let mut rest = candidates.into_iter().peekable();
    for to in BUCKETS {
        let mut of: Vec<Option<Target>> = Vec::new();
        while let Some(target) = rest.next_if(|t| t.n_dependants <= to) {
            of.push(Some(target));
        }
        let len = of.len();
        out.extend((0..n.min(len)).filter_map(|i| of[(i + 1) * len / n.min(len) - 1].take()));
    }
    out
}
