//! Where a repository keeps the few files the shell itself looks at: `HEAD`, refs, `info/exclude`, and
//! where the user's excludes for all repositories are.

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

    /// The commit that HEAD names: 40 or 64 hexadecimal digits. `None` before the first commit.
    pub fn head_id(&self) -> Option<String> {
        let mut text = read_small(&self.head.join("HEAD"))?;
        // A symbolic ref may point to another one; git follows five.
        for _ in 0..5 {
            let Some(name) = text.strip_prefix("ref:").map(|n| n.trim().to_owned()) else { break };
            if name.split('/').any(|part| matches!(part, "" | "." | "..")) {
                return None;
            }
            let loose = [&self.head, &self.common].into_iter().find_map(|dir| read_small(&dir.join(&name)));
            text = loose.or_else(|| self.packed(&name))?;
        }
        let id = text.trim();
        (matches!(id.len(), 40 | 64) && id.bytes().all(|b| b.is_ascii_hexdigit())).then(|| id.to_owned())
    }

    /// Hash of the list of commits whose parents a shallow clone lacks; `None` for a whole one.
    pub fn shallow(&self) -> Option<String> {
        let list = read_upto(&self.common.join("shallow"), SHALLOW_BYTES_MAX)?;
        (!list.is_empty()).then(|| blake3::hash(list.as_bytes()).to_string())
    }

    fn packed(&self, name: &str) -> Option<String> {
        let text = fs::read_to_string(self.common.join("packed-refs")).ok()?;
        let line = text.lines().find(|l| l.split_once(' ').is_some_and(|(_, n)| n == name))?;
        line.split_once(' ').map(|(id, _)| id.to_owned())
    }

    /// Folders in which a move of HEAD shows: that of `HEAD` itself, and those of the branch it names.
    pub fn watched(&self) -> Vec<PathBuf> {
        let mut dirs = vec![self.head.clone(), self.common.clone(), self.common.join("info")];
        let branch = read_small(&self.head.join("HEAD"));
        let name = branch.as_deref().and_then(|t| t.strip_prefix("ref:")).map(str::trim).unwrap_or_default();
        let mut dir = self.common.clone();
        for part in Path::new(name).parent().into_iter().flat_map(Path::components) {
            if let std::path::Component::Normal(part) = part {
                dir.push(part);
                dirs.push(dir.clone());
            }
        }
        dirs.retain(|d| d.is_dir());
        dirs.sort();
        dirs.dedup();
        dirs
    }

    fn at(root: &Path) -> Option<Self> {
        let dot = root.join(".git");
        let meta = fs::symlink_metadata(&dot).ok()?;
        let head = if meta.is_dir() { dot } else { pointed_at(&dot, "gitdir:")? };
        let common = pointed_at(&head.join("commondir"), "").unwrap_or_else(|| head.clone());
        (is_own(&head) && is_own(&common)).then(|| Self { root: root.to_owned(), head, common })
    }
}

/// The user's own excludes for all repositories: the file that git's settings name, else git's default
/// place; whether it exists is another matter.
pub fn excludes_file() -> Option<PathBuf> {
    let var = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let home = etcetera::home_dir().ok();
    let config = var("XDG_CONFIG_HOME").or_else(|| Some(home.as_ref()?.join(".config")));
    let in_config = |file: &str| Some(config.as_ref()?.join("git").join(file));
    // The strongest first.
    let settings = match var("GIT_CONFIG_GLOBAL") {
        Some(global) => [Some(global), None],
        None => [home.as_ref().map(|h| h.join(".gitconfig")), in_config("config")],
    };
    let system = var("GIT_CONFIG_SYSTEM").unwrap_or_else(|| "/etc/gitconfig".into());
    let settings = settings.into_iter().flatten().chain([system]);
    let texts = settings.filter_map(|file| Some(String::from_utf8_lossy(&fs::read(file).ok()?).into_owned()));
    let mut named = texts.filter_map(|text| excludes_in(&text, home.as_deref()));
    named.next().or_else(|| in_config("ignore"))
}

/// What `core.excludesFile` says in a file of settings; the last word counts.
fn excludes_in(settings: &str, home: Option<&Path>) -> Option<PathBuf> {
    let pairs = settings.lines().filter_map(|line| line.split_once('='));
    let named = pairs.filter(|(key, _)| key.trim().eq_ignore_ascii_case("excludesfile"));
    let value = named.map(|(_, value)| value.trim().trim_matches('"').trim()).rfind(|v| !v.is_empty())?;
    match value.strip_prefix("~/") {
        Some(rest) => Some(home?.join(rest)),
        None => Some(value.into()),
    }
}

/// Bytes of a list of shallow commits; some hundred thousand of them.
const SHALLOW_BYTES_MAX: u64 = 16 << 20;

fn read_small(file: &Path) -> Option<String> {
    read_upto(file, 8 << 10)
}

fn read_upto(file: &Path, bytes_max: u64) -> Option<String> {
    let meta = fs::symlink_metadata(file).ok()?;
    if !meta.is_file() || meta.len() > bytes_max {
        return None;
    }
    fs::read_to_string(file).ok()
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
    let me = indexd_os::own_uid();
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

    #[test]
    fn settings_name_the_file_of_excludes() {
        for (settings, want) in [
            ("[core]\n\texcludesFile = ~/my/ignore\n", Some("/home/me/my/ignore")),
            ("[core]\nexcludesfile=\"/etc/a b\"\r\n", Some("/etc/a b")),
            ("[core]\nEXCLUDESFILE = /first\nexcludesfile = /last\n", Some("/last")),
            ("[core]\nexcludesfile =\n[user]\nname = excludesfile\n", None),
            ("", None),
        ] {
            assert_eq!(
                excludes_in(settings, Some(Path::new("/home/me"))),
                want.map(PathBuf::from),
                "{settings}"
            );
        }
        assert_eq!(excludes_in("excludesfile = ~/a", None), None);
    }

    #[test]
    fn reads_head_loose_packed_and_detached() {
        let tmp = tempfile::tempdir().unwrap();
        let git = tmp.path().join(".git");
        fs::create_dir_all(git.join("refs/heads/topic")).unwrap();
        let [a, b, c] = ["a", "b", "c"].map(|d| d.repeat(40));
        let check = |head: &str, want: Option<&String>| {
            fs::write(git.join("HEAD"), head).unwrap();
            let folders = GitFolders::find(tmp.path()).unwrap();
            assert_eq!(folders.head_id().as_ref(), want, "{head}");
            folders.watched()
        };
        fs::write(git.join("refs/heads/topic/x"), format!("{a}\n")).unwrap();
        fs::write(git.join("packed-refs"), format!("# pack-refs\n{b} refs/heads/main\n")).unwrap();
        let watched = check("ref: refs/heads/topic/x\n", Some(&a));
        assert!(watched.iter().any(|d| d.ends_with(".git/refs/heads/topic")));
        check("ref: refs/heads/main\n", Some(&b));
        check(&format!("{c}\n"), Some(&c));
        check("ref: refs/heads/none\n", None);
        check("ref: ../../etc/passwd\n", None);
    }
}
