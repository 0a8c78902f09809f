//! Trees of past commits, read from bare clones through the `git` command. Files seen before are
//! not read or extracted again.

use anyhow::{Context, Result, bail};
use indexd_model::RepoPath;
use indexd_model::view::FileHistory;
use indexd_oracle::{Oracle, OracleFile, Shared};
use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Commits read before a base.
const COMMITS_MAX: usize = 5_000;
/// A commit that touches more files says nothing about any of them.
const FILES_PER_COMMIT_MAX: usize = 30;

pub struct Trees {
    git_dir: String,
    cat: Child,
    to_cat: ChildStdin,
    from_cat: BufReader<ChildStdout>,
    known: HashMap<(String, String), OracleFile>,
    shared: Shared,
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
        Ok(Self { git_dir, cat, to_cat, from_cat, known: HashMap::new(), shared: Shared::default() })
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

    fn add_history(&self, commit: &str, view: &mut Oracle) -> Result<()> {
        let n = COMMITS_MAX.to_string();
        let log = self.git(&[
            "log",
            "--no-merges",
            "--no-renames",
            "-n",
            &n,
            "--name-only",
            "--format=%x01%s",
            commit,
            "--",
        ])?;
        let mut files: BTreeMap<&str, FileHistory> = BTreeMap::new();
        let mut terms: BTreeMap<(String, &str), u32> = BTreeMap::new();
        for (i, record) in log.split('\u{1}').filter(|r| !r.is_empty()).enumerate() {
            let mut lines = record.lines();
            let subject = lines.next().unwrap_or("");
            let touched: Vec<&str> = lines.filter(|l| !l.is_empty()).collect();
            let mut words = Vec::new();
            indexd_text::terms(subject, |t| words.push(t.to_owned()));
            words.sort();
            words.dedup();
            for path in &touched {
                let h = files.entry(path).or_insert(FileHistory { n_commits: 0, newest: i as u32 });
                h.n_commits += 1;
                if touched.len() <= FILES_PER_COMMIT_MAX {
                    for w in &words {
                        *terms.entry((w.clone(), path)).or_insert(0) += 1;
                    }
                }
            }
        }
        let files: Vec<_> = files.into_iter().collect();
        let terms: Vec<(&str, &str, u32)> = terms.iter().map(|((t, p), n)| (t.as_str(), *p, *n)).collect();
        view.set_history(commit, &files, &terms);
        Ok(())
    }
}

impl Drop for Trees {
    fn drop(&mut self) {
        // The batch process ends when its input does; waiting leaves no zombie behind.
        let _ = self.cat.kill();
        let _ = self.cat.wait();
    }
}
