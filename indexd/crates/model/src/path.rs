//! Paths inside a workspace.

use std::fmt;
use std::ops::Deref;

/// A file's path relative to the workspace root: UTF-8, `/`-separated, no empty, `.` or `..`
/// component, no leading slash, no NUL. Valid by construction; orders by bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepoPath(Box<str>);

/// The error for a string that is not a [`RepoPath`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a path inside the workspace: {0:?}")]
pub struct InvalidPath(pub String);

impl RepoPath {
    /// Checks and wraps `path`.
    ///
    /// # Errors
    /// [`InvalidPath`] for absolute paths, empty strings, NUL, and `.`, `..` or empty components.
    pub fn new(path: &str) -> Result<Self, InvalidPath> {
        if Self::is_valid(path) { Ok(Self(path.into())) } else { Err(InvalidPath(path.to_owned())) }
    }

    /// Returns true if a string is such a path.
    pub fn is_valid(path: &str) -> bool {
        !path.contains('\0') && path.split('/').all(|c| !matches!(c, "" | "." | ".."))
    }

    /// The folder part without a trailing slash; empty for files at the root.
    pub fn dir(&self) -> &str {
        dir_of(&self.0)
    }

    /// The last component.
    pub fn file_name(&self) -> &str {
        file_name_of(&self.0)
    }
}

impl TryFrom<String> for RepoPath {
    type Error = InvalidPath;

    /// As [`RepoPath::new`], without a copy.
    fn try_from(path: String) -> Result<Self, InvalidPath> {
        if Self::is_valid(&path) { Ok(Self(path.into())) } else { Err(InvalidPath(path)) }
    }
}

/// The folder part of `path` without a trailing slash; empty at the root.
pub fn dir_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(dir, _)| dir)
}

/// The last component of `path`.
pub fn file_name_of(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// The last component of `path` up to its last dot; a leading dot does not count.
pub fn stem_of(path: &str) -> &str {
    let name = file_name_of(path);
    match name.rfind('.') {
        Some(i) if i > 0 => &name[..i],
        _ => name,
    }
}

/// The part of the last component of `path` after its last dot; empty without one, or if the name begins with it.
pub fn extension_of(path: &str) -> &str {
    file_name_of(path).rsplit_once('.').map_or("", |(stem, rest)| if stem.is_empty() { "" } else { rest })
}

/// The last two components of `path`, or the only one.
pub fn tail_of(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some((dir, _)) => &path[dir.rfind('/').map_or(0, |i| i + 1)..],
        None => path,
    }
}

/// Joins a folder (maybe empty) and a relative path.
pub fn join(dir: &str, rest: &str) -> String {
    if dir.is_empty() { rest.to_owned() } else { format!("{dir}/{rest}") }
}

/// `path` without `.` and `..`; `None` when it leads out of the tree.
pub fn normalized(path: &str) -> Option<String> {
    let mut out: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                out.pop()?;
            }
            part => out.push(part),
        }
    }
    Some(out.join("/"))
}

/// `dir` and the folders around it, innermost first; the last is the root, which is empty.
pub fn ancestors(dir: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(dir), |d| (!d.is_empty()).then(|| dir_of(d)))
}

impl Deref for RepoPath {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for RepoPath {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl std::borrow::Borrow<str> for RepoPath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

/// Number of leading folders that two paths share.
pub fn n_common(a: &str, b: &str) -> usize {
    dir_of(a).split('/').zip(dir_of(b).split('/')).take_while(|(a, b)| a == b && !a.is_empty()).count()
}

/// Returns true if a path contains a name, also where dots and hyphens are left out.
pub fn mentions(path: &str, name: &str) -> bool {
    path.contains(name) || path.replace(['-', '.'], "").contains(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_leaves_the_root() {
        for bad in ["", "/a", "a/", "a//b", "../a", "a/../b", "./a", "a/.", "a\0b"] {
            assert!(RepoPath::new(bad).is_err(), "{bad:?}");
        }
        for good in ["a", "a/b.go", ".github/x", "a/..b", "sp ace/ü"] {
            assert_eq!(&*RepoPath::new(good).unwrap(), good);
        }
    }

    #[test]
    fn splits_folder_name_and_stem() {
        let p = RepoPath::new("net/http/server.go").unwrap();
        assert_eq!((p.dir(), p.file_name(), stem_of(&p)), ("net/http", "server.go", "server"));
        assert_eq!((dir_of("x"), stem_of(".env"), stem_of("a.tar.gz")), ("", ".env", "a.tar"));
        assert_eq!(["", "a", "a/b", "a/b/c"].map(tail_of), ["", "a", "a/b", "b/c"]);
    }
}
