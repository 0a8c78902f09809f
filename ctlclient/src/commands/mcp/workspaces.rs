//! What a session may ask about: the repositories of some folders, and nothing outside them.

use crate::commands::current_dir;
use crate::failure::Failure;
use crate::style::safe_line;
use indexd_proto::error::ErrorCode;
use indexd_proto::paths::{is_project, repository_around};
use std::path::{Path, PathBuf};

/// The repositories of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workspaces {
    /// Their roots, without links, in the order in which they were named.
    roots: Vec<String>,
    /// Folders that the client named and that cannot be used, each as a sentence.
    unusable: Vec<String>,
}

impl Workspaces {
    /// Those of these folders: for each the repository that it is in, else the folder itself.
    ///
    /// # Errors
    /// `POC_E_WORKSPACE_INVALID` for a folder that is not there, the root of the file system, and the
    /// home folder.
    pub fn of(folders: &[PathBuf]) -> Result<Self, Failure> {
        let home = std::env::var_os("HOME").and_then(|h| std::fs::canonicalize(h).ok());
        let mut found = Vec::new();
        for folder in folders {
            let root = root_of(folder, home.as_deref())?;
            if !found.contains(&root) {
                found.push(root);
            }
        }
        Ok(Self { roots: found, unusable: Vec::new() })
    }

    /// Those of the current folder, if it looks like a project: nobody has named it.
    ///
    /// # Errors
    /// As [`Workspaces::of`].
    pub fn here() -> Result<Self, Failure> {
        let here = Self::of(&[current_dir()?])?;
        match here.roots.iter().find(|root| !is_project(Path::new(root))) {
            None => Ok(here),
            Some(root) => Err(Failure::hinted(
                ErrorCode::WorkspaceInvalid,
                format!("{} does not look like a project", safe_line(root)),
                "start it as `ctl mcp --workspace REPOSITORY`",
            )),
        }
    }

    /// Those of the folders that a client names by URI; others than `file:` cannot be used, nor folders
    /// that are not there.
    ///
    /// # Errors
    /// `POC_E_WORKSPACE_INVALID` when there are some and none can be used.
    pub fn of_uris<'a>(uris: impl Iterator<Item = &'a str>) -> Result<Self, Failure> {
        let (mut folders, mut unusable) = (Vec::new(), Vec::new());
        for uri in uris {
            let path = path_of(uri);
            match path.filter(|path| Self::of(std::slice::from_ref(path)).is_ok()) {
                Some(path) => folders.push(path),
                None => unusable.push(format!("the root {} cannot be used", safe_line(uri))),
            }
        }
        if folders.is_empty() && !unusable.is_empty() {
            let hint = "open a folder of this machine, or start it as `ctl mcp --workspace REPOSITORY`";
            return Err(Failure::hinted(ErrorCode::WorkspaceInvalid, unusable.join("; "), hint));
        }
        Ok(Self { unusable, ..Self::of(&folders)? })
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// Folders that the client named and that cannot be used, each as a sentence.
    pub fn unusable(&self) -> &[String] {
        &self.unusable
    }

    /// The root of the one that is meant: by its name, the last part of its path, or by a folder inside it; the
    /// only one when none is named.
    ///
    /// # Errors
    /// `POC_E_WORKSPACE_INVALID` for one that does not belong to the session, or when one of several has
    /// to be named.
    pub fn pick(&self, named: Option<&str>) -> Result<&str, Failure> {
        let name_of = |root: &str| root.rsplit('/').next().unwrap_or(root).to_owned();
        let names = self.roots.iter().map(|root| safe_line(&name_of(root))).collect::<Vec<_>>().join(", ");
        let hint = format!("give `repo` as one of: {names}");
        let Some(named) = named.map(str::trim).filter(|n| !n.is_empty()) else {
            return match &self.roots[..] {
                [only] => Ok(only),
                _ => Err(Failure::hinted(
                    ErrorCode::WorkspaceInvalid,
                    "there are several workspaces in this session",
                    hint,
                )),
            };
        };
        let mut alike = self.roots.iter().filter(|root| name_of(root) == named);
        if let (Some(one), None) = (alike.next(), alike.next()) {
            return Ok(one);
        }
        self.around(named).ok_or_else(|| {
            let message = format!("{} is no workspace of this session", safe_line(named));
            Failure::hinted(ErrorCode::WorkspaceInvalid, message, hint)
        })
    }

    /// The innermost one that holds a folder.
    fn around(&self, folder: &str) -> Option<&str> {
        let bases = self.roots.iter().map(Path::new);
        let folder = bases.map(|b| b.join(folder)).find_map(|p| std::fs::canonicalize(p).ok())?;
        self.roots
            .iter()
            .filter(|root| folder.starts_with(root))
            .max_by_key(|root| root.len())
            .map(String::as_str)
    }
}

fn root_of(folder: &Path, home: Option<&Path>) -> Result<String, Failure> {
    let refuse = |why: String| {
        Failure::hinted(ErrorCode::WorkspaceInvalid, why, "start it as `ctl mcp --workspace REPOSITORY`")
    };
    let shown = safe_line(&folder.display().to_string());
    let folder = std::fs::canonicalize(folder).map_err(|e| refuse(format!("cannot use {shown}: {e}")))?;
    let is_too_large = |dir: &Path| dir.parent().is_none() || Some(dir) == home;
    let top = repository_around(&folder).filter(|top| !is_too_large(top));
    let root = top.unwrap_or(&folder);
    if is_too_large(root) || !root.is_dir() {
        return Err(refuse(format!("{shown} is not a repository")));
    }
    root.to_str().map(str::to_owned).ok_or_else(|| refuse(format!("{shown} is not UTF-8")))
}

/// The path of a `file:` URI of this machine.
fn path_of(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    let mut bytes = Vec::with_capacity(path.len());
    let mut left = path.bytes();
    while let Some(byte) = left.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [left.next()?, left.next()?];
        bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
    }
    let path = PathBuf::from(String::from_utf8(bytes).ok()?);
    path.is_absolute().then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_become_paths() {
        for (uri, path) in [
            ("file:///home/me/a%20b", Some("/home/me/a b")),
            ("file://localhost/x", Some("/x")),
            ("file://elsewhere/x", None),
            ("file:///x%2", None),
            ("https://example.com/x", None),
            ("/x", None),
        ] {
            assert_eq!(path_of(uri), path.map(PathBuf::from), "{uri}");
        }
    }

    #[test]
    fn roots_that_cannot_be_used_are_named() {
        let tmp = tempfile::tempdir().unwrap();
        let usable = format!("file://{}", std::fs::canonicalize(tmp.path()).unwrap().display());
        let of = |uris: &[&str]| Workspaces::of_uris(uris.iter().copied());
        assert!(of(&[]).unwrap().is_empty());
        assert!(of(&[&usable]).unwrap().unusable().is_empty());
        let both = of(&["vscode-remote://x/y", &usable]).unwrap();
        assert_eq!(both.roots.len(), 1);
        assert_eq!(both.unusable(), ["the root vscode-remote://x/y cannot be used"]);
        assert!(of(&["file:///nowhere/at/all"]).is_err() && of(&["https://x/"]).is_err());
    }

    #[test]
    fn a_name_or_a_folder_inside_picks_a_workspace_and_nothing_else_does() {
        let tmp = tempfile::tempdir().unwrap();
        let top = std::fs::canonicalize(tmp.path()).unwrap();
        for dir in ["a/.git", "a/src/deep", "b/.git", "secret", "x/b"] {
            std::fs::create_dir_all(top.join(dir)).unwrap();
        }
        std::os::unix::fs::symlink(top.join("secret"), top.join("a/link")).unwrap();
        let both = Workspaces::of(&[top.join("a/src"), top.join("b"), top.join("a")]).unwrap();
        let at = |name: &str| top.join(name).to_str().unwrap().to_owned();
        assert_eq!(both.roots, [at("a"), at("b")]);
        for (named, expect) in [
            (Some("a".to_owned()), Some("a")),
            (Some(at("a/src/deep")), Some("a")),
            (Some("src".to_owned()), Some("a")),
            (Some(at("b")), Some("b")),
            (Some(at("a/../b")), Some("b")),
            (Some(at("secret")), None),
            (Some(at("a/../secret")), None),
            (Some(at("a/link")), None),
            (Some("../secret".to_owned()), None),
            (Some(at("bb")), None),
            (Some("/".to_owned()), None),
            (None, None),
        ] {
            let picked = both.pick(named.as_deref());
            assert_eq!(picked.ok().map(str::to_owned), expect.map(at), "{named:?}");
        }
        let one = Workspaces::of(&[top.join("a")]).unwrap();
        assert_eq!(one.pick(None).unwrap(), at("a"));
        assert!(Workspaces::of(&[PathBuf::from("/")]).is_err());
        assert!(Workspaces::of(&[top.join("nowhere")]).is_err());
    }
}
