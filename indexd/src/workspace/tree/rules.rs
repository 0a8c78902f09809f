//! Which paths belong to the set: git's ignore rules, `.ignore`, `.indexdignore`, the fences that
//! people set up for assistants, and the configured excludes.
//!
//! One function decides, [`Layer::admits`], for the scan of a whole tree and for a single event
//! alike. A [`Layer`] holds the patterns of one folder and points to the folders above it; a folder
//! without ignore files shares the layer of its parent. Patterns only: the git index is not read,
//! so a tracked file that is ignored is not in the set. What lies below an excluded folder is
//! excluded, as in git.
//!
//! Precedence, strongest first: `.indexdignore`, `.ignore`, `.gitignore`, git's `info/exclude`,
//! git's global excludes; within one kind the deepest folder wins. Fences and configured excludes
//! only ever take away.

use crate::config::{EXCLUDES, REPO_CONFIG};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder, Glob};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Ignore files by kind, strongest first. The first three may include again what a weaker one
/// leaves out; the others only take away.
const NAMES: [&str; 11] = [
    ".indexdignore",
    ".ignore",
    ".gitignore",
    ".aiignore",
    ".cursorignore",
    ".cursorindexingignore",
    ".codeiumignore",
    ".geminiignore",
    ".aiexclude",
    ".agentignore",
    ".clineignore",
];
const KIND_GITIGNORE: usize = 2;
const KIND_EXCLUDE: usize = NAMES.len();
const KIND_GLOBAL: usize = NAMES.len() + 1;
const KIND_CONFIG: usize = NAMES.len() + 2;
const N_KINDS: usize = NAMES.len() + 3;
/// What stands for the file of a rule that finds secrets; its pattern is the name of that rule.
const SECRETS: &str = "rules for secrets";
/// Bytes. Longer ignore files are cut: no hand-written one comes near.
const IGNORE_FILE_BYTES_MAX: usize = 1 << 20;

/// The patterns of one folder, on top of those above it; by default none.
#[derive(Default)]
pub struct Layer {
    /// Bytes of the folder's path with its slash: what to cut from a relative path.
    base_len: usize,
    /// For folders above the root: the way from there to the root, slash included.
    prefix: Box<str>,
    sets: Vec<Set>,
    up: Option<Arc<Layer>>,
}

/// The patterns of one file.
struct Set {
    kind: usize,
    text: Box<str>,
    /// Made of the text when the first path is judged: nothing may ever ask.
    patterns: OnceLock<Gitignore>,
    /// The file; that of the settings is named by its key.
    source: Box<Path>,
}

/// A rule that leaves a path out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The file it stands in, or [`EXCLUDES`].
    pub source: PathBuf,
    /// Its line, from 1, as the file is now.
    pub line: Option<u32>,
    /// The pattern as written.
    pub pattern: String,
}

/// What a set says about a path: included again or not, and where.
type Verdict<'l> = (bool, &'l Set, &'l Glob);

/// Whether an entry of this name changes the rules of its folder: an ignore file, our settings, or
/// `.git`, which makes the folder a repository of its own.
pub fn is_rule_file(name: &str) -> bool {
    name.starts_with('.') && (name == ".git" || name == REPO_CONFIG || is_ignore_file(name))
}

/// Whether an entry is left out because its name is a secret: paths are shown everywhere.
pub fn holds_secret(name: &str) -> bool {
    indexd_secrets::in_name(name).is_some()
}

/// Whether an entry of this name is an ignore file.
fn is_ignore_file(name: &str) -> bool {
    name.starts_with('.') && NAMES.contains(&name)
}

impl Layer {
    /// The rules at the root: configured excludes, git's global and repository excludes, and the
    /// `.gitignore` files between an enclosing repository's root and this root.
    pub fn top(root: &Path, excludes: &[String]) -> Arc<Self> {
        let mut sets = Vec::new();
        sets.extend(patterns(KIND_CONFIG, Path::new(EXCLUDES), &excludes.join("\n")));
        if let Some(path) = super::git::excludes_file() {
            sets.extend(read_rules(&path).and_then(|text| patterns(KIND_GLOBAL, &path, &text)));
        }
        let git = super::git::GitFolders::find(root);
        if let Some(git) = &git {
            let path = git.common.join("info").join("exclude");
            sets.extend(read_rules(&path).and_then(|text| patterns(KIND_EXCLUDE, &path, &text)));
        }
        let mut layer = Self::new(0, "", sets, None);
        for (dir, prefix) in git.map_or_else(Vec::new, |git| above(&git.root, root)) {
            let path = dir.join(NAMES[KIND_GITIGNORE]);
            if let Some(set) = read_rules(&path).and_then(|text| patterns(KIND_GITIGNORE, &path, &text)) {
                layer = Self::new(0, &prefix, vec![set], Some(layer));
            }
        }
        layer
    }

    /// The rules inside the folder `rel` (empty for the root, no slash at the end) at `dir`, whose
    /// own rules are `up`. `present` says which names exist there, to save failed opens.
    pub fn enter(up: &Arc<Self>, dir: &Path, rel: &str, present: impl Fn(&str) -> bool) -> Arc<Self> {
        let mut sets = Vec::new();
        for (kind, name) in NAMES.iter().enumerate() {
            if present(name) {
                let path = dir.join(name);
                sets.extend(read_rules(&path).and_then(|text| patterns(kind, &path, &text)));
            }
        }
        if sets.is_empty() {
            return Arc::clone(up);
        }
        let base_len = if rel.is_empty() { 0 } else { rel.len() + 1 };
        Self::new(base_len, "", sets, Some(Arc::clone(up)))
    }

    fn new(base_len: usize, prefix: &str, sets: Vec<Set>, up: Option<Arc<Self>>) -> Arc<Self> {
        Arc::new(Self { base_len, prefix: prefix.into(), sets, up })
    }

    /// Whether the entry `rel` of this folder is in the set by its name, its folder being so.
    /// `.git` never is. Whether a folder is a repository of its own is for the caller to see.
    pub fn admits(&self, rel: &str, is_dir: bool) -> bool {
        let name = indexd_model::path::file_name_of(rel);
        name != ".git" && !holds_secret(name) && self.denied_by(rel, is_dir).is_none()
    }

    /// The rule that takes the entry `rel` out of the set, its folder being in it.
    pub fn against(&self, rel: &str, is_dir: bool) -> Option<Rule> {
        if let Some(rule) = indexd_secrets::in_name(indexd_model::path::file_name_of(rel)) {
            return Some(Rule { source: SECRETS.into(), line: None, pattern: rule.to_owned() });
        }
        let (_, set, glob) = self.denied_by(rel, is_dir)?;
        let text = if set.kind == KIND_CONFIG { None } else { read_rules(&set.source) };
        // Of equal lines the last one decides.
        let line = text.and_then(|text| {
            text.lines()
                .rev()
                .position(|l| l.trim_end() == glob.original())
                .map(|from_end| text.lines().count() - from_end)
        });
        Some(Rule {
            source: set.source.to_path_buf(),
            line: line.and_then(|n| u32::try_from(n).ok()),
            pattern: glob.original().to_owned(),
        })
    }

    fn denied_by(&self, rel: &str, is_dir: bool) -> Option<Verdict<'_>> {
        let mut found: [Option<Verdict>; N_KINDS] = [None; N_KINDS];
        let mut layer = Some(self);
        while let Some(at) = layer {
            for set in &at.sets {
                if found[set.kind].is_none() {
                    found[set.kind] = at.matched(set, rel, is_dir);
                }
            }
            layer = at.up.as_deref();
        }
        let denies = |verdict: &Verdict| !verdict.0;
        let ranked = found[..=KIND_GITIGNORE].iter().chain(&found[KIND_EXCLUDE..=KIND_GLOBAL]);
        let strongest = ranked.flatten().next().copied();
        let takers = found[KIND_GITIGNORE + 1..KIND_EXCLUDE].iter().chain(&found[KIND_CONFIG..]);
        strongest.filter(denies).or_else(|| takers.flatten().copied().find(denies))
    }

    /// Whether a set includes a path again or ignores it, and the pattern that says so.
    fn matched<'l>(&self, set: &'l Set, rel: &str, is_dir: bool) -> Option<Verdict<'l>> {
        let patterns = set.patterns.get_or_init(|| compiled(&set.text));
        let verdict = if self.prefix.is_empty() {
            patterns.matched(&rel[self.base_len..], is_dir)
        } else {
            patterns.matched(format!("{}{rel}", self.prefix), is_dir)
        };
        match verdict {
            Match::None => None,
            Match::Ignore(glob) => Some((false, set, glob)),
            Match::Whitelist(glob) => Some((true, set, glob)),
        }
    }
}

/// Existing folders outside the workspace whose entries decide about it: that of git's global
/// excludes, and those of an enclosing repository's `.gitignore` files.
pub fn outside(root: &Path) -> Vec<PathBuf> {
    let global = super::git::excludes_file();
    let mut dirs: Vec<PathBuf> = global.iter().filter_map(|p| p.parent().map(Path::to_owned)).collect();
    if let Some(git) = super::git::GitFolders::find(root) {
        dirs.extend(above(&git.root, root).into_iter().map(|(dir, _)| dir));
    }
    dirs.retain(|d| d.is_dir());
    dirs
}

/// Whether a path outside the workspace may be one of its rule files.
pub fn is_outside_rule(path: &Path) -> bool {
    path.file_name().is_some_and(|n| n == NAMES[KIND_GITIGNORE])
        || super::git::excludes_file().as_deref() == Some(path)
}

/// The folders from `top` down to the parent of `root`, with the way from each to the root.
fn above(top: &Path, root: &Path) -> Vec<(PathBuf, String)> {
    let Ok(rest) = root.strip_prefix(top) else { return Vec::new() };
    let parts: Option<Vec<&str>> = rest.iter().map(|p| p.to_str()).collect();
    let parts = parts.unwrap_or_default();
    let mut dir = top.to_owned();
    let mut out = Vec::new();
    for i in 0..parts.len() {
        out.push((dir.clone(), format!("{}/", parts[i..].join("/"))));
        dir.push(parts[i]);
    }
    out
}

/// A file of patterns; `None` when it is no regular file or cannot be read.
fn read_rules(path: &Path) -> Option<String> {
    let meta = fs::symlink_metadata(path).ok()?;
    if !meta.is_file() {
        return None;
    }
    let mut bytes = fs::read(path).ok()?;
    bytes.truncate(IGNORE_FILE_BYTES_MAX);
    Some(String::from_utf8_lossy(&bytes).trim_start_matches('\u{feff}').to_owned())
}

/// A set of patterns; `None` without any.
fn patterns(kind: usize, source: &Path, text: &str) -> Option<Set> {
    let has_any = text.lines().any(|line| !line.trim().is_empty() && !line.starts_with('#'));
    has_any.then(|| Set { kind, text: text.into(), patterns: OnceLock::new(), source: source.into() })
}

/// A line that is no valid pattern counts for nothing, as in git.
fn compiled(text: &str) -> Gitignore {
    let mut builder = GitignoreBuilder::new("");
    for line in text.lines() {
        let _ = builder.add_line(None, line);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(up: Option<Arc<Layer>>, base_len: usize, sets: &[(usize, &str)]) -> Arc<Layer> {
        let sets = sets.iter().filter_map(|(kind, text)| patterns(*kind, Path::new(""), text)).collect();
        Layer::new(base_len, "", sets, up)
    }

    #[test]
    fn kinds_and_depth_decide_in_order() {
        let top =
            layer(None, 0, &[(KIND_GITIGNORE, "*.log\nbuild/\n/only-root\n"), (KIND_CONFIG, "secret*")]);
        let sub =
            layer(Some(Arc::clone(&top)), 4, &[(KIND_GITIGNORE, "!keep.log"), (1, "b.txt"), (0, "!b.txt")]);
        let fenced = layer(Some(Arc::clone(&sub)), 4, &[(3, "*.py\n!ok.py"), (0, "!x.py")]);
        for (at, rel, is_dir, want) in [
            (&top, "a.log", false, false),
            (&top, "a.txt", false, true),
            (&top, ".hidden", false, true),
            (&top, ".git", true, false),
            (&top, "build", true, false),
            (&top, "build", false, true),
            (&top, "only-root", false, false),
            (&sub, "sub/only-root", false, true),
            (&sub, "sub/keep.log", false, true),
            (&sub, "sub/other.log", false, false),
            (&sub, "sub/b.txt", false, true),
            (&sub, "sub/secret.txt", false, false),
            (&fenced, "sub/x.py", false, false),
            (&fenced, "sub/ok.py", false, true),
        ] {
            assert_eq!(at.admits(rel, is_dir), want, "{rel}");
        }
    }

    #[test]
    fn patterns_above_the_root_see_the_whole_way() {
        let sets = patterns(KIND_GITIGNORE, Path::new(""), "/pkg/gen/\n/other\n").into_iter().collect();
        let above = Layer::new(0, "pkg/", sets, None);
        assert!(!above.admits("gen", true));
        assert!(above.admits("other", false));
    }

    #[test]
    fn a_broken_pattern_counts_for_nothing() {
        let top = layer(None, 0, &[(KIND_GITIGNORE, "[z-a]\n*.tmp\n")]);
        assert!(top.admits("b", false));
        assert!(!top.admits("a.tmp", false));
    }
}
