//! Trees of past commits, read from bare clones through the `git` command. Files seen before are
//! not read or extracted again.

use anyhow::{Context, Result, bail};
use indexd_history::{Limits, Past, Repository};
use indexd_model::RepoPath;
use indexd_model::view::FileHistory;
use indexd_oracle::{Oracle, OracleFile, Shared};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub struct Trees {
    git_dir: String,
    cat: Child,
    to_cat: ChildStdin,
    from_cat: BufReader<ChildStdout>,
    known: HashMap<(String, String), OracleFile>,
    shared: Shared,
    repository: Repository,
    past: Option<Past>,
    /// Where the clone looks like a work tree.
    _root: tempfile::TempDir,
}

impl Trees {
    pub fn open(mirrors: &str, repo: &str) -> Result<Self> {
        let git_dir = format!("{mirrors}/{}/repo", repo.replace('/', "+"));
        let mut cat = Command::new("git")
            .args(["--git-dir", &git_dir, "cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("git cat-file")?;
        let to_cat = cat.stdin.take().context("stdin of git")?;
        let from_cat = BufReader::new(cat.stdout.take().context("stdout of git")?);
        let root = tempfile::tempdir()?;
        std::fs::write(root.path().join(".git"), format!("gitdir: {git_dir}\n"))?;
        Ok(Self {
            git_dir,
            cat,
            to_cat,
            from_cat,
            known: HashMap::new(),
            shared: Shared::default(),
            repository: Repository::open(root.path())?,
            past: None,
            _root: root,
        })
    }

    fn git(&self, args: &[&str]) -> Result<String> {
        let out = Command::new("git").args(["--git-dir", &self.git_dir]).args(args).output()?;
        if !out.status.success() {
            bail!("git {args:?}: {}", String::from_utf8_lossy(&out.stderr));
        }
        Ok(String::from_utf8_lossy(&out.stdout).into_owned())
    }

    /// The index of the tree of `commit`, with the history before it.
    pub fn at(&mut self, commit: &str) -> Result<Oracle> {
        let listing = self.git(&["ls-tree", "-r", "-z", commit])?;
        let mut files = Vec::new();
        for record in listing.split('\0').filter(|r| !r.is_empty()) {
            let (meta, path) = record.split_once('\t').context("a record of ls-tree")?;
            let mut meta = meta.split(' ');
            let (mode, kind, id) = (meta.next(), meta.next(), meta.next());
            if kind != Some("blob") || mode == Some("120000") {
                continue;
            }
            let key = (path.to_owned(), id.context("an id")?.to_owned());
            if !self.known.contains_key(&key) {
                let Some(bytes) = self.blob(&key.1)? else { continue };
                self.known.insert(key.clone(), OracleFile::read(RepoPath::new(path)?, &bytes));
            }
            files.push(self.known[&key].clone());
        }
        let mut view = Oracle::build(files, &mut self.shared);
        self.add_history(commit, &mut view)?;
        Ok(view)
    }

    fn blob(&mut self, id: &str) -> Result<Option<Vec<u8>>> {
        writeln!(self.to_cat, "{id}")?;
        self.to_cat.flush()?;
        let mut head = String::new();
        self.from_cat.read_line(&mut head)?;
        let Some(size) = head.trim().rsplit(' ').next().and_then(|n| n.parse::<usize>().ok()) else {
            return Ok(None);
        };
        let mut bytes = vec![0; size + 1];
        self.from_cat.read_exact(&mut bytes)?;
        bytes.truncate(size);
        Ok(Some(bytes))
    }

    /// The history before `commit`, read as the daemon reads it.
    fn add_history(&mut self, commit: &str, view: &mut Oracle) -> Result<()> {
        let past = self.repository.past_of(commit, &Limits::default(), self.past.as_ref())?;
        set_past(&past, commit, view);
        self.past = Some(past);
        Ok(())
    }
}

/// Gives an index the history that ends at `commit`.
fn set_past(past: &Past, commit: &str, view: &mut Oracle) {
    let all = past.files();
    let files: Vec<_> = all
        .iter()
        .map(|(path, f)| (path.as_str(), FileHistory { n_commits: f.n_commits, newest: f.newest }))
        .collect();
    let terms: Vec<_> = all
        .iter()
        .flat_map(|(path, f)| f.terms.iter().map(move |(t, n)| (t.as_str(), path.as_str(), *n)))
        .collect();
    view.set_history(commit, &files, &terms);
    for (path, f) in &all {
        view.set_touched(path, f.touched.clone());
    }
}

impl Drop for Trees {
    fn drop(&mut self) {
        // The batch process ends when its input does; waiting leaves no zombie behind.
        let _ = self.cat.kill();
        let _ = self.cat.wait();
    }
}

/// The index of a folder, with the history of its commit where it is the root of a clone.
pub fn folder(root: &str) -> Result<Oracle> {
    fn walk(root: &Path, dir: &str, out: &mut Vec<OracleFile>) -> Result<()> {
        for entry in std::fs::read_dir(root.join(dir))? {
            let entry = entry?;
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|n| *n != ".git") else { continue };
            let path = indexd_model::path::join(dir, name);
            let kind = entry.file_type()?;
            if kind.is_dir() {
                walk(root, &path, out)?;
            } else if kind.is_file() {
                out.push(OracleFile::read(RepoPath::new(&path)?, &std::fs::read(entry.path())?));
            }
        }
        Ok(())
    }
    let mut files = Vec::new();
    walk(Path::new(root), "", &mut files)?;
    let mut view = Oracle::build(files, &mut Shared::default());
    if Path::new(root).join(".git").exists() {
        let repository = Repository::open(Path::new(root))?;
        let head = repository.head()?;
        set_past(&repository.past_of(&head, &Limits::default(), None)?, &head, &mut view);
    }
    Ok(view)
}
