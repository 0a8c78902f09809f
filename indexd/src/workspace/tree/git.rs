//! The places of the few files of a repository that this program reads itself: `HEAD`, refs, `info/exclude`;
//! and git's settings, read by gix, which name the user's excludes for all repositories.

use bstr::{BStr, BString, ByteSlice};
use gix_config::Source;
use gix_config::file::includes;
use indexd_history::Conversions;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders of the git repository around a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitFolders {
    /// The folder that holds `.git`: the workspace root or one above it.
    pub root: PathBuf,
    /// The folder of `HEAD`: `.git`, or the folder of a linked worktree or submodule.
    pub head: PathBuf,
    /// The folder of refs and `info`, shared by linked worktrees.
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

    /// The branch that HEAD names, in full.
    fn branch(&self) -> Option<gix_ref::FullName> {
        let head = read_small(&self.head.join("HEAD"))?;
        head.strip_prefix("ref:")?.trim().to_owned().try_into().ok()
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

    /// Looks at `root` alone.
    pub fn at(root: &Path) -> Option<Self> {
        let dot = root.join(".git");
        let meta = fs::symlink_metadata(&dot).ok()?;
        let head = if meta.is_dir() { dot } else { pointed_at(&dot, "gitdir:")? };
        let common = pointed_at(&head.join("commondir"), "").unwrap_or_else(|| head.clone());
        (is_own(&head) && is_own(&common)).then(|| Self { root: root.to_owned(), head, common })
    }
}

/// Git's settings as they hold in a repository, or for the user alone.
pub struct Settings {
    file: gix_config::File,
    /// The folder that paths are relative to: the top of the work tree.
    top: Option<PathBuf>,
}

/// Bytes of a file of settings; a longer one counts for nothing.
const SETTINGS_BYTES_MAX: u64 = 1 << 20;

impl Settings {
    /// Reads the settings of the system, of the user and of a repository, with their includes. A file that
    /// cannot be read or parsed is ignored.
    pub fn of(git: Option<&GitFolders>) -> Self {
        let mut all = gix_config::File::default();
        let home = etcetera::home_dir().ok();
        let git_dir = git.map(|git| &*git.head);
        let place = Place { home: home.as_deref(), git_dir, branch: git.and_then(GitFolders::branch) };
        for (path, source) in files_of_the_user(home.as_deref()) {
            place.add(&mut all, &path, source);
        }
        if let Some(git) = git {
            place.add(&mut all, &git.common.join("config"), Source::Local);
            if matches!(all.boolean("extensions.worktreeConfig"), Ok(Some(true))) {
                place.add(&mut all, &git.head.join("config.worktree"), Source::Worktree);
            }
        }
        Self { file: all, top: git.map(|git| git.root.clone()) }
    }

    /// The excludes for all repositories: the file that `core.excludesFile` names, else git's default
    /// place; whether it exists is another matter.
    pub fn excludes_file(&self) -> Option<PathBuf> {
        self.path("core.excludesFile", "ignore")
    }

    /// Returns the conversions that git applies to files when they are added.
    pub fn conversions(&self) -> Conversions {
        let has_program = |name: &&BStr| {
            let has = |key: &str| {
                self.file.string_by("filter", Some(*name), key).is_some_and(|run| !run.is_empty())
            };
            has("clean") || has("process")
        };
        let sections = self.file.sections_by_name("filter").into_iter().flatten();
        let names: Vec<BString> =
            sections.filter_map(|s| Some(s.header().subsection_name()?.to_owned())).collect();
        Conversions {
            autocrlf: self.word("core.autocrlf"),
            eol: self.word("core.eol"),
            attributes_file: self.path("core.attributesFile", "attributes"),
            filters: names.iter().map(|n| n.as_bstr()).filter(has_program).map(ToString::to_string).collect(),
        }
    }

    /// Returns true if paths are compared without regard to case.
    pub fn ignores_case(&self) -> bool {
        matches!(self.file.boolean("core.ignoreCase"), Ok(Some(true)))
    }

    /// Returns true if a file may change by its right to be executed alone.
    pub fn keeps_modes(&self) -> bool {
        !matches!(self.file.boolean("core.fileMode"), Ok(Some(false)))
    }

    /// Returns true if links of git are links of the work tree, and not files that name where they lead.
    pub fn keeps_links(&self) -> bool {
        !matches!(self.file.boolean("core.symlinks"), Ok(Some(false)))
    }

    fn word(&self, key: &str) -> Option<String> {
        self.file.string(key).map(|value| value.to_string())
    }

    fn path(&self, key: &str, default: &str) -> Option<PathBuf> {
        let home = etcetera::home_dir().ok();
        let Some(named) = self.file.path(key) else {
            let config = variable("XDG_CONFIG_HOME").or_else(|| Some(home?.join(".config")));
            return Some(config?.join("git").join(default));
        };
        let path =
            named.interpolate(interpolation(home.as_deref())).ok().filter(|p| !p.as_os_str().is_empty())?;
        if path.is_absolute() { Some(path) } else { Some(self.top.as_ref()?.join(path)) }
    }
}

fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn interpolation(home: Option<&Path>) -> gix_config::path::interpolate::Context<'_> {
    gix_config::path::interpolate::Context { home_dir: home, ..Default::default() }
}

/// The weakest first.
fn files_of_the_user(home: Option<&Path>) -> Vec<(PathBuf, Source)> {
    let mut files = Vec::new();
    if std::env::var("GIT_CONFIG_NOSYSTEM").map_or(true, |v| matches!(&*v, "" | "0" | "false" | "no" | "off"))
    {
        let system = variable("GIT_CONFIG_SYSTEM").unwrap_or_else(|| "/etc/gitconfig".into());
        files.push((system, Source::System));
    }
    if let Some(global) = std::env::var_os("GIT_CONFIG_GLOBAL") {
        files.push((global.into(), Source::User));
        return files;
    }
    let config = variable("XDG_CONFIG_HOME").or_else(|| Some(home?.join(".config")));
    files.extend(config.map(|dir| (dir.join("git").join("config"), Source::Git)));
    files.extend(home.map(|dir| (dir.join(".gitconfig"), Source::User)));
    files
}

/// The origin of settings, for conditional includes.
struct Place<'a> {
    home: Option<&'a Path>,
    git_dir: Option<&'a Path>,
    branch: Option<gix_ref::FullName>,
}

impl Place<'_> {
    /// Adds the settings of a file, which win over those before, with their includes. Includes of a
    /// repository are followed one level deep, and not at all if they are large.
    fn add(&self, all: &mut gix_config::File, path: &Path, source: Source) {
        if !is_file_of(path, SETTINGS_BYTES_MAX) {
            return;
        }
        let Ok(mut file) = gix_config::File::from_path_no_includes(path.to_owned(), source) else { return };
        let is_foreign = matches!(source, Source::Local | Source::Worktree);
        let branch_name = self.branch.as_ref().map(AsRef::as_ref);
        let conditional = includes::conditional::Context { git_dir: self.git_dir, branch_name };
        let includes = includes::Options {
            max_depth: if is_foreign { 1 } else { 10 },
            err_on_max_depth_exceeded: false,
            ..includes::Options::follow(interpolation(self.home), conditional)
        };
        if !is_foreign || self.includes_of(&file, path).iter().all(|p| is_file_of(p, SETTINGS_BYTES_MAX)) {
            let options = gix_config::file::init::Options { includes, ..Default::default() };
            let _ = file.resolve_includes(options);
        }
        let _ = all.append(file);
    }

    /// The files that a file of settings names to be included, whatever their conditions are.
    fn includes_of(&self, file: &gix_config::File, path: &Path) -> Vec<PathBuf> {
        let sections = ["include", "includeIf"].iter().filter_map(|name| file.sections_by_name(name));
        let named = sections.flatten().flat_map(|section| section.values("path"));
        let full = named
            .filter_map(|value| gix_config::Path::from(value).interpolate(interpolation(self.home)).ok());
        let dir = path.parent().unwrap_or(Path::new("/"));
        full.map(|named| dir.join(named)).filter(|named| named.exists()).collect()
    }
}

/// Returns true if a path leads to a regular file of at most `bytes_max` bytes.
fn is_file_of(path: &Path, bytes_max: u64) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.len() <= bytes_max)
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
