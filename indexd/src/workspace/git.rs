//! Where a repository keeps the few files the shell itself looks at: `HEAD`, refs, `info/exclude`.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders of the git repository around a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitFolders {
    /// The folder that holds `.git`: the workspace root or one above it.
    pub root: PathBuf,
    /// Where `HEAD` is: `.git`, or the folder of a linked worktree or submodule.
    pub head: PathBuf,
    /// Where refs and `info` are, shared by linked worktrees.
    pub common: PathBuf,
}

impl GitFolders {
    /// Looks at `root` and above. Folders that belong to another user count as absent.
    pub fn find(root: &Path) -> Option<Self> {
        root.ancestors().find_map(Self::at)
    }

    fn at(root: &Path) -> Option<Self> {
        let dot = root.join(".git");
        let meta = fs::symlink_metadata(&dot).ok()?;
        let head = if meta.is_dir() { dot } else { pointed_at(&dot, "gitdir:")? };
        let common = pointed_at(&head.join("commondir"), "").unwrap_or_else(|| head.clone());
        (is_own(&head) && is_own(&common)).then(|| Self { root: root.to_owned(), head, common })
    }
}

/// The folder named by the first line of a small file, relative to the file's own folder.
fn pointed_at(file: &Path, label: &str) -> Option<PathBuf> {
    let meta = fs::metadata(file).ok()?;
    if !meta.is_file() || meta.len() > 8 << 10 {
        return None;
    }
    let text = fs::read_to_string(file).ok()?;
    let target = text.lines().next()?.strip_prefix(label)?.trim();
    fs::canonicalize(file.parent()?.join(target)).ok()
}

#[cfg(unix)]
fn is_own(dir: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let me = rustix::process::geteuid().as_raw();
    fs::metadata(dir).is_ok_and(|m| m.uid() == me || me == 0)
}

#[cfg(not(unix))]
fn is_own(dir: &Path) -> bool {
    dir.is_dir()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_folders_of_plain_and_linked_worktrees() {
        let tmp = tempfile::tempdir().unwrap();
        let top = tmp.path().canonicalize().unwrap();
        fs::create_dir_all(top.join("main/.git/worktrees/w")).unwrap();
        fs::create_dir_all(top.join("main/pkg")).unwrap();
        fs::create_dir_all(top.join("linked")).unwrap();
        fs::write(top.join("linked/.git"), "gitdir: ../main/.git/worktrees/w\n").unwrap();
        fs::write(top.join("main/.git/worktrees/w/commondir"), "../..\n").unwrap();

        let plain = GitFolders::find(&top.join("main/pkg")).unwrap();
        assert_eq!(plain.root, top.join("main"));
        assert_eq!(plain.head, plain.common);
        let linked = GitFolders::find(&top.join("linked")).unwrap();
        assert_eq!(linked.head, top.join("main/.git/worktrees/w"));
        assert_eq!(linked.common, top.join("main/.git"));
    }
}
