//! Why a path is in the set or not: the scan's own questions, asked about one path from the root
//! down, with the place of the rule that decides.

use super::tree::rules::{Layer, Rule, is_bare, is_metadata, is_nested};
use super::tree::scan::absolute;
use indexd_model::path::join;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// The treatment of a path by the scan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A regular file of the set.
    File,
    /// A folder of the set.
    Folder,
    /// Taken out by a rule.
    Ignored(Rule),
    /// In a repository of its own.
    Nested,
    /// In what a version control keeps.
    Metadata,
    /// A symbolic link, which is not followed.
    Link,
    /// Neither a file nor a folder.
    Special,
    /// On another file system.
    OtherFileSystem,
    /// Nothing is there, or a file is in the place of a folder.
    Missing,
    /// The system does not let one look.
    Unreadable,
}

/// Returns the treatment of `rel` below `root`, and the path that decides it: `rel` or a folder above it. If
/// nothing of that name exists, a rule that would leave it out still counts, as for a file.
pub fn place(root: &Path, excludes: &[String], rel: &str) -> (Place, String) {
    let mut layer = Layer::top(root, excludes);
    let mut at = String::new();
    let device = device_of(root);
    let mut names = rel.split('/').filter(|name| !name.is_empty()).peekable();
    loop {
        let dir = absolute(root, &at);
        let has = |name: &str| fs::symlink_metadata(dir.join(name)).is_ok();
        if !at.is_empty() && is_nested(has) {
            return (if is_bare(has) { Place::Metadata } else { Place::Nested }, at);
        }
        if device_of(&dir).is_some_and(|d| Some(d) != device) {
            return (Place::OtherFileSystem, at);
        }
        layer = Layer::enter(&layer, &dir, &at, has);
        let Some(name) = names.next() else { return (Place::Folder, at) };
        at = join(&at, name);
        if is_metadata(name) {
            return (Place::Metadata, at);
        }
        let meta = fs::symlink_metadata(root.join(&at));
        let is_dir = meta.as_ref().map_or(names.peek().is_some(), fs::Metadata::is_dir);
        if let Some(rule) = layer.against(&at, is_dir) {
            return (Place::Ignored(rule), at);
        }
        let place = match meta {
            Ok(meta) if meta.is_dir() => continue,
            Ok(meta) if meta.is_symlink() => Place::Link,
            Ok(_) if names.peek().is_some() => Place::Missing,
            Ok(meta) if meta.is_file() => Place::File,
            Ok(_) => Place::Special,
            Err(e) if e.kind() == ErrorKind::PermissionDenied => Place::Unreadable,
            // Rules further down may still leave out a path that does not exist.
            Err(_) if names.peek().is_some() => continue,
            Err(_) => Place::Missing,
        };
        return (place, at);
    }
}

/// Entries of a root that are looked at for what leaves all of them out.
const ENTRIES_MAX: usize = 1_000;

/// Returns the rule that leaves out every entry of `root`, as a sentence; `None` if something is in the set,
/// or nothing is there. The rule is that of the first entry by name.
pub fn emptied_by(root: &Path, excludes: &[String]) -> Option<String> {
    let entries = fs::read_dir(root).ok()?.flatten().take(ENTRIES_MAX);
    let mut names: Vec<String> = entries.filter_map(|e| e.file_name().into_string().ok()).collect();
    names.retain(|name| !is_metadata(name));
    names.sort_unstable();
    let mut places = names.iter().map(|name| place(root, excludes, name).0);
    let Some(Place::Ignored(rule)) = places.next() else { return None };
    if !places.all(|place| matches!(place, Place::Ignored(_))) {
        return None;
    }
    let source = rule.source.strip_prefix(root).unwrap_or(&rule.source).display();
    let at = rule.line.map(|line| format!(":{line}")).unwrap_or_default();
    Some(format!("no file is indexed: `{}` in {source}{at} leaves out what is at the root", rule.pattern))
}

#[cfg(unix)]
fn device_of(dir: &Path) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;
    fs::symlink_metadata(dir).ok().map(|meta| meta.dev())
}

#[cfg(not(unix))]
fn device_of(_dir: &Path) -> Option<u64> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// Checks the reason why `rel` is left out, in a tree of files by path and text.
    #[track_caller]
    fn check(files: &[(&str, &str)], rel: &str, want: &str) {
        let tmp = tempfile::tempdir().unwrap();
        let root = tmp.path().canonicalize().unwrap();
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            match text.strip_prefix("-> ") {
                Some(target) => std::os::unix::fs::symlink(target, path).unwrap(),
                None => fs::write(path, text).unwrap(),
            }
        }
        let (place, at) = super::place(&root, &["gen/".to_owned()], rel);
        let said = match place {
            Place::Ignored(rule) => {
                let source = Path::new(&rule.source);
                let source = source.strip_prefix(&root).unwrap_or(source).display().to_string();
                format!("{at}: {source}:{} {}", rule.line.unwrap_or(0), rule.pattern)
            }
            other => format!("{at}: {other:?}"),
        };
        assert_eq!(said, want);
    }

    #[test]
    fn the_rule_that_decides_is_named() {
        let rules = [
            (".gitignore", "# built\n*.log\n\n/out/  \n*.log\n"),
            ("sub/.gitignore", "!keep.log\n"),
            ("sub/.cursorignore", "keep.*\n"),
            ("a.log", ""),
            ("b.txt", ""),
            ("out/deep/x.py", ""),
        ];
        for (rel, want) in [
            ("b.txt", "b.txt: File"),
            ("", ": Folder"),
            ("a.log", "a.log: .gitignore:5 *.log"),
            ("out/deep/x.py", "out: .gitignore:4 /out/"),
            ("gen/x.py", "gen: index.exclude:0 gen/"),
            ("sub/keep.log", "sub/keep.log: sub/.cursorignore:1 keep.*"),
            ("sub/keeper.log", "sub/keeper.log: .gitignore:5 *.log"),
            ("none.py", "none.py: Missing"),
            ("no/such.log", "no/such.log: .gitignore:5 *.log"),
            ("b.txt/x", "b.txt: Missing"),
        ] {
            check(&rules, rel, want);
        }
    }

    #[test]
    fn what_empties_an_index_is_named() {
        for (rules, want) in [
            ("# all\n/*\n", Some("no file is indexed: `/*` in .gitignore:2 leaves out what is at the root")),
            ("*.py\n", None),
            ("/*\n!/a.py\n", None),
        ] {
            let tmp = tempfile::tempdir().unwrap();
            fs::create_dir(tmp.path().join(".git")).unwrap();
            fs::write(tmp.path().join(".gitignore"), rules).unwrap();
            fs::write(tmp.path().join("a.py"), "").unwrap();
            assert_eq!(emptied_by(tmp.path(), &[]).as_deref(), want, "{rules}");
        }
    }

    #[test]
    fn what_is_never_entered_is_named() {
        let files = [
            ("nested/.git/HEAD", ""),
            ("nested/x.py", ""),
            (".git/config", ""),
            ("old/.svn/entries", ""),
            ("hg/.hg/requires", ""),
            ("mirror.git/HEAD", ""),
            ("mirror.git/objects/x", ""),
            ("mirror.git/refs/x", ""),
            ("link.py", "-> x.py"),
            ("way", "-> nested"),
        ];
        for (rel, want) in [
            ("nested/x.py", "nested: Nested"),
            (".git/config", ".git: Metadata"),
            ("old/.svn/entries", "old/.svn: Metadata"),
            ("mirror.git/packed-refs", "mirror.git: Metadata"),
            ("hg/x.py", "hg: Nested"),
            ("link.py", "link.py: Link"),
            ("way/x.py", "way: Link"),
        ] {
            check(&files, rel, want);
        }
    }
}
