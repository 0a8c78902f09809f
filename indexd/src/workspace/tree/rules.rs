//! The rules for paths that belong to the set: git's ignore rules, `.ignore`, `.indexdignore`, the fences
//! that people set up for assistants, and the configured excludes.
//!
//! One function decides, [`Layer::admits`], both for the scan of a whole tree and for a single event.
//! Patterns are in git's dialect and matched by gix. A [`Layer`] holds the patterns of one folder and points
//! to the folders above it; a folder without ignore files shares the layer of its parent. Patterns only: the
//! git index is not read, so a tracked file that is ignored is not in the set. Everything below an excluded
//! folder is excluded, as in git.
//!
//! Precedence, strongest first: `.indexdignore`, `.ignore`, `.gitignore`, git's `info/exclude`, git's global
//! excludes; within one kind the deepest folder wins. Fences and configured excludes only ever remove paths.

use super::git::{GitFolders, Settings};
use crate::config::{EXCLUDES, REPO_CONFIG};
use bstr::{BString, ByteSlice};
use gix_glob::Pattern;
use gix_glob::pattern::Case;
use gix_glob::wildmatch::Mode;
use indexd_proto::paths::METADATA;
use rustc_hash::FxHashMap;
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
/// Name of the source for rules that find secrets; the pattern is the name of the rule.
const SECRETS: &str = "rules for secrets";
/// Maximum of bytes. Longer ignore files are cut: no hand-written one comes near.
const IGNORE_FILE_BYTES_MAX: u64 = 1 << 20;

/// The patterns of one folder, on top of those above it; by default none.
#[derive(Default)]
pub struct Layer {
    /// Bytes of the folder's path with its slash: what to cut from a relative path.
    base_len: usize,
    /// For folders above the root: the way from there to the root, slash included.
    prefix: Box<str>,
    sets: Vec<Set>,
    /// Case sensitivity of patterns, as git is configured.
    case: Case,
    up: Option<Arc<Layer>>,
}

/// The patterns of one file.
struct Set {
    kind: usize,
    text: Box<[u8]>,
    /// Parsed when the first path is judged, which may never happen.
    patterns: OnceLock<Patterns>,
    /// The file; that of the settings is named by its key.
    source: Box<Path>,
}

/// Patterns with their lines, from 1, in the order of the file.
#[derive(Default)]
struct Patterns {
    /// Patterns that are plain names: their positions in `all`, ascending.
    names: FxHashMap<BString, Vec<usize>>,
    /// Positions of the other patterns in `all`, ascending.
    others: Vec<usize>,
    all: Vec<(Pattern, usize)>,
}

/// A rule that leaves a path out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The file of the pattern, or [`EXCLUDES`].
    pub source: PathBuf,
    /// Its line, from 1.
    pub line: Option<u32>,
    /// The pattern as written.
    pub pattern: String,
}

/// The verdict of a set on a path: included again or not, and the line of the pattern.
type Verdict<'l> = (bool, &'l Set, usize);

/// Returns true if an entry of this name changes the rules of its folder: an ignore file, our settings, or an
/// entry that makes the folder a repository of its own.
pub fn is_rule_file(name: &str) -> bool {
    name == REPO_CONFIG || is_metadata(name) || is_ignore_file(name)
}

/// Returns true if an entry of this name is metadata of a version control system.
pub fn is_metadata(name: &str) -> bool {
    name.starts_with(['.', '_']) && METADATA.contains(&name)
}

/// Returns true if a folder below the root is a repository of its own, by the names in it. Subversion may
/// have its folder in each folder of one.
pub fn is_nested(has: impl Fn(&str) -> bool) -> bool {
    METADATA.iter().any(|name| *name != ".svn" && has(name)) || is_bare(has)
}

/// Returns true if a folder holds the metadata of a git repository without its files, or is a `CVS` folder.
pub fn is_bare(has: impl Fn(&str) -> bool) -> bool {
    let has_all = |names: &[&str]| names.iter().all(|name| has(name));
    has_all(&["HEAD", "objects", "refs"]) || has_all(&["Entries", "Repository", "Root"])
}

/// Returns true if an entry is left out because its name is a secret: paths are shown everywhere.
pub fn holds_secret(name: &str) -> bool {
    indexd_secrets::in_name(name).is_some()
}

/// Returns true if an entry of this name is an ignore file.
fn is_ignore_file(name: &str) -> bool {
    name.starts_with('.') && NAMES.contains(&name)
}

impl Layer {
    /// The rules at the root: configured excludes, git's global and repository excludes, and the
    /// `.gitignore` files between an enclosing repository's root and this root.
    pub fn top(root: &Path, excludes: &[String]) -> Arc<Self> {
        let mut sets = Vec::new();
        sets.extend(patterns(KIND_CONFIG, Path::new(EXCLUDES), excludes.join("\n").into_bytes()));
        let git = GitFolders::find(root);
        let settings = Settings::of(git.as_ref());
        if let Some(path) = settings.excludes_file() {
            sets.extend(read_followed(&path).and_then(|text| patterns(KIND_GLOBAL, &path, text)));
        }
        if let Some(git) = &git {
            let path = git.common.join("info").join("exclude");
            sets.extend(read_followed(&path).and_then(|text| patterns(KIND_EXCLUDE, &path, text)));
        }
        let case = if settings.ignores_case() { Case::Fold } else { Case::Sensitive };
        let mut layer = Arc::new(Self { base_len: 0, prefix: "".into(), sets, case, up: None });
        for (dir, prefix) in git.map_or_else(Vec::new, |git| above(&git.root, root)) {
            let path = dir.join(NAMES[KIND_GITIGNORE]);
            if let Some(set) = read_rules(&path).and_then(|text| patterns(KIND_GITIGNORE, &path, text)) {
                layer = Self::new(0, &prefix, vec![set], layer);
            }
        }
        layer
    }

    /// Returns the rules inside the folder `rel` (empty for the root, no slash at the end) at `dir`, whose
    /// own rules are `up`. `present` tells which names exist there, to save failed opens.
    pub fn enter(up: &Arc<Self>, dir: &Path, rel: &str, present: impl Fn(&str) -> bool) -> Arc<Self> {
        let mut sets = Vec::new();
        for (kind, name) in NAMES.iter().enumerate() {
            if present(name) {
                let path = dir.join(name);
                sets.extend(read_rules(&path).and_then(|text| patterns(kind, &path, text)));
            }
        }
        if sets.is_empty() {
            return Arc::clone(up);
        }
        let base_len = if rel.is_empty() { 0 } else { rel.len() + 1 };
        Self::new(base_len, "", sets, Arc::clone(up))
    }

    fn new(base_len: usize, prefix: &str, sets: Vec<Set>, up: Arc<Self>) -> Arc<Self> {
        Arc::new(Self { base_len, prefix: prefix.into(), sets, case: up.case, up: Some(up) })
    }

    /// Returns true if the entry `rel` of this folder is in the set by its name, given that its folder is.
    /// Metadata of a version control system never is. The caller checks for nested repositories.
    pub fn admits(&self, rel: &str, is_dir: bool) -> bool {
        let name = indexd_model::path::file_name_of(rel);
        !is_metadata(name) && !holds_secret(name) && self.denied_by(rel, is_dir).is_none()
    }

    /// The rule that takes the entry `rel` out of the set, its folder being in it.
    pub fn against(&self, rel: &str, is_dir: bool) -> Option<Rule> {
        if let Some(rule) = indexd_secrets::in_name(indexd_model::path::file_name_of(rel)) {
            return Some(Rule { source: SECRETS.into(), line: None, pattern: rule.to_owned() });
        }
        let (_, set, line) = self.denied_by(rel, is_dir)?;
        let pattern = set.text.lines().nth(line - 1).unwrap_or_default();
        Some(Rule {
            source: set.source.to_path_buf(),
            line: u32::try_from(line).ok().filter(|_| set.kind != KIND_CONFIG),
            pattern: pattern.trim_end().to_str_lossy().into_owned(),
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

    /// Returns the verdict of a set on a path (included again or ignored) and the pattern that decides it.
    fn matched<'l>(&self, set: &'l Set, rel: &str, is_dir: bool) -> Option<Verdict<'l>> {
        let patterns = set.patterns.get_or_init(|| Patterns::of(&set.text, self.case));
        let (pattern, line) = if self.prefix.is_empty() {
            patterns.last_of(&rel.as_bytes()[self.base_len..], is_dir, self.case)?
        } else {
            patterns.last_of(format!("{}{rel}", self.prefix).as_bytes(), is_dir, self.case)?
        };
        Some((pattern.is_negative(), set, *line))
    }
}

impl Patterns {
    /// Reads a file of patterns. A line that is not a pattern counts for nothing, as in git.
    fn of(text: &[u8], case: Case) -> Self {
        let mut out = Self::default();
        // The last line ends as all others do, for git too.
        let text = [text, b"\n"].concat();
        for (at, (pattern, line, _)) in gix_ignore::parse(&text, false).enumerate() {
            let is_name = pattern.first_wildcard_pos.is_none()
                && pattern.mode.contains(gix_glob::pattern::Mode::NO_SUB_DIR)
                && !pattern.mode.contains(gix_glob::pattern::Mode::ABSOLUTE);
            if is_name && case == Case::Sensitive {
                out.names.entry(pattern.text.clone()).or_default().push(at);
            } else {
                out.others.push(at);
            }
            out.all.push((pattern, line));
        }
        out
    }

    /// The last pattern that matches a path below the folder of the file.
    fn last_of(&self, path: &[u8], is_dir: bool, case: Case) -> Option<&(Pattern, usize)> {
        let path = path.as_bstr();
        let name_at = path.rfind_byte(b'/').map(|at| at + 1);
        let name = path[name_at.unwrap_or(0)..].as_bstr();
        let matches = |at: &&usize| {
            let pattern = &self.all[**at].0;
            if let Some((prefix, rest)) = stars_behind_a_prefix(pattern) {
                return is_match_behind(prefix, rest, path, case)
                    && (is_dir || !pattern.mode.contains(gix_glob::pattern::Mode::MUST_BE_DIR));
            }
            pattern.matches_repo_relative_path(
                path,
                name_at,
                Some(is_dir),
                case,
                Mode::NO_MATCH_SLASH_LITERAL,
            )
        };
        let named = self.names.get(name).and_then(|all| all.iter().rev().find(matches));
        let is_later = |at: &&usize| named.is_none_or(|named| *at > named);
        let other = self.others.iter().rev().take_while(is_later).find(matches);
        other.or(named).map(|at| &self.all[*at])
    }
}

/// The literal beginning of a pattern of paths and its rest, where `**` follows the beginning within a name.
/// Git compares the beginning by itself, and the rest as a pattern of its own: `a**/b` leaves out `ab`.
fn stars_behind_a_prefix(pattern: &Pattern) -> Option<(&[u8], &[u8])> {
    let at = pattern.first_wildcard_pos.filter(|at| *at > 0)?;
    let is_name = pattern.mode.contains(gix_glob::pattern::Mode::NO_SUB_DIR)
        && !pattern.mode.contains(gix_glob::pattern::Mode::ABSOLUTE);
    let (prefix, rest) = pattern.text.split_at(at);
    (!is_name && rest.starts_with(b"**") && !prefix.ends_with(b"/")).then_some((prefix, rest))
}

fn is_match_behind(prefix: &[u8], rest: &[u8], path: &[u8], case: Case) -> bool {
    let Some((start, end)) = path.split_at_checked(prefix.len()) else { return false };
    let (begins, mode) = match case {
        Case::Sensitive => (start == prefix, Mode::NO_MATCH_SLASH_LITERAL),
        Case::Fold => (start.eq_ignore_ascii_case(prefix), Mode::NO_MATCH_SLASH_LITERAL | Mode::IGNORE_CASE),
    };
    begins && gix_glob::wildmatch(rest.as_bstr(), end.as_bstr(), mode)
}

/// Existing folders outside the workspace whose entries decide about it: that of git's global
/// excludes, and those of an enclosing repository's `.gitignore` files.
pub fn outside(root: &Path) -> Vec<PathBuf> {
    let git = GitFolders::find(root);
    let global = Settings::of(git.as_ref()).excludes_file().into_iter().flat_map(|path| both_ends(&path));
    let mut dirs: Vec<PathBuf> = global.filter_map(|p| p.parent().map(Path::to_owned)).collect();
    if let Some(git) = git {
        dirs.extend(above(&git.root, root).into_iter().map(|(dir, _)| dir));
    }
    dirs.retain(|d| d.is_dir());
    dirs
}

/// Returns true if a path outside the workspace at `root` may be one of its rule files.
pub fn is_outside_rule(root: &Path, path: &Path) -> bool {
    let global = || Settings::of(GitFolders::find(root).as_ref()).excludes_file();
    path.file_name().is_some_and(|n| n == NAMES[KIND_GITIGNORE])
        || global().is_some_and(|file| both_ends(&file).iter().any(|end| end == path))
}

/// A file as it is named and, where that is a link, the one that it leads to.
fn both_ends(file: &Path) -> Vec<PathBuf> {
    let mut ends = vec![file.to_owned()];
    ends.extend(fs::canonicalize(file).ok().filter(|end| end != file));
    ends
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

/// A file of patterns in the tree; `None` when it is not a regular file or cannot be read.
fn read_rules(path: &Path) -> Option<Vec<u8>> {
    fs::symlink_metadata(path).ok().filter(fs::Metadata::is_file)?;
    read_followed(path)
}

/// A file of patterns outside the tree, which may be a link, as for git.
fn read_followed(path: &Path) -> Option<Vec<u8>> {
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let mut bytes = Vec::new();
    let file = fs::File::open(path).ok()?;
    std::io::Read::read_to_end(&mut std::io::Read::take(file, IGNORE_FILE_BYTES_MAX), &mut bytes).ok()?;
    Some(bytes)
}

/// A set of patterns; `None` without any.
fn patterns(kind: usize, source: &Path, text: Vec<u8>) -> Option<Set> {
    let has_any = text.lines().any(|line| !line.trim().is_empty() && !line.starts_with(b"#"));
    let patterns = OnceLock::new();
    has_any.then(|| Set { kind, text: text.into(), patterns, source: source.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(up: Option<Arc<Layer>>, base_len: usize, sets: &[(usize, &str)]) -> Arc<Layer> {
        let sets =
            sets.iter().filter_map(|(kind, text)| patterns(*kind, Path::new(""), text.as_bytes().into()));
        Layer::new(base_len, "", sets.collect(), up.unwrap_or_default())
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
            (&top, ".svn", true, false),
            (&top, "sub/.hg", true, false),
            (&top, "sub/.github", true, true),
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
        let sets =
            patterns(KIND_GITIGNORE, Path::new(""), "/pkg/gen/\n/other\n".into()).into_iter().collect();
        let above = Layer::new(0, "pkg/", sets, Arc::default());
        assert!(!above.admits("gen", true));
        assert!(above.admits("other", false));
    }

    /// Braces and signs that other matchers read otherwise; `git check-ignore` agrees with each row.
    #[test]
    fn patterns_are_in_the_dialect_of_git() {
        for (pattern, rel, is_dir, want) in [
            ("*.py{}", "a.py", false, true),
            ("*.py{}", "a.py{}", false, false),
            ("*.{js,ts}", "a.js", false, true),
            ("*.{js,ts}", "a.{js,ts}", false, false),
            ("src/{gen,out}/", "src/gen", true, true),
            ("/foo[^.]bar", "foo/bar", false, true),
            ("foo[^.]bar", "fooxbar", false, false),
            ("/foo[!.]bar", "foo/bar", false, true),
            ("/foo?bar", "foo/bar", false, true),
            ("[", "[", false, true),
            ("a[", "a", false, true),
            ("a\\*", "ab", false, true),
            ("a\\*", "a*", false, false),
            ("*.PY", "a.py", false, true),
        ] {
            assert_eq!(
                layer(None, 0, &[(KIND_GITIGNORE, pattern)]).admits(rel, is_dir),
                want,
                "{pattern} {rel}"
            );
        }
    }

    #[test]
    fn a_broken_pattern_counts_for_nothing() {
        let top = layer(None, 0, &[(KIND_GITIGNORE, "[z-a]\n*.tmp\n")]);
        assert!(top.admits("b", false));
        assert!(!top.admits("a.tmp", false));
    }
}
