//! A private copy of a tree, with queries to ask and edits to make.

use crate::daemon::cpu_of;
use anyhow::{Context, Result, bail};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A copied tree; removed on drop.
pub struct Tree {
    dir: tempfile::TempDir,
    sources: Vec<PathBuf>,
    queries: &'static [&'static str],
}

const GO: &[&str] = &[
    "where is the retry delay decided",
    "http client follows redirects and drops the Authorization header",
    "panic: runtime error: slice bounds out of range in bufio.Scanner",
    "parse a duration string such as 1h30m",
    "TLS handshake fails with unknown certificate authority",
    "json decoder ignores unknown fields and embedded pointers",
    "file walk stops at symbolic links",
    "template execution escapes attribute values",
    "scheduler steals goroutines from other processors",
    "go test cache misses when an environment variable changes",
];

const PYTHON: &[&str] = &[
    "where is the retry delay decided",
    "queryset prefetch_related loses annotations after filter",
    "migration autodetector renames a field with unique_together",
    "TypeError: unsupported operand type(s) for +: 'NoneType' and 'int'",
    "simplify trigonometric expressions with nested powers",
    "template tag escapes html twice",
    "csrf token rotation on login",
    "solve a system of linear equations with symbolic coefficients",
    "admin changelist ordering by a related field",
    "matrix inverse of a sparse matrix",
];

impl Tree {
    /// Copies `dir` and looks for source files to edit.
    pub fn copy(name: &str, dir: &Path) -> Result<Self> {
        let to = tempfile::tempdir()?;
        let status = Command::new("cp").arg("-r").arg(dir.join(".")).arg(to.path().join("tree")).status()?;
        if !status.success() {
            bail!("could not copy {}", dir.display());
        }
        let mut sources = Vec::new();
        collect(&to.path().join("tree"), &["go", "py"], &mut sources);
        sources.sort();
        let n_go = sources.iter().filter(|p| p.extension().is_some_and(|e| e == "go")).count();
        let queries = if n_go * 2 > sources.len() { GO } else { PYTHON };
        let typical: Vec<PathBuf> = sources
            .into_iter()
            .filter(|p| p.metadata().is_ok_and(|m| (2_000..40_000).contains(&m.len())))
            .collect();
        if typical.is_empty() {
            bail!("{name} has no Go or Python file of ordinary size");
        }
        Ok(Self { dir: to, sources: typical, queries })
    }

    /// Where the copy stands.
    pub fn root(&self) -> PathBuf {
        self.dir.path().join("tree")
    }

    /// Queries fitting the language of most files.
    pub fn queries(&self) -> &'static [&'static str] {
        self.queries
    }

    /// The `i`-th of many queries, each asking for something else: one of [`Tree::queries`] with the
    /// name of a file of the tree.
    pub fn query(&self, i: usize) -> String {
        let name = self.sources[(i * 53) % self.sources.len()].file_stem().unwrap_or_default();
        format!("{} in {}", self.queries[i % self.queries.len()], name.to_string_lossy())
    }

    /// Source files of ordinary size: path from the root, and text.
    pub fn files(&self) -> Vec<(String, String)> {
        let root = self.root();
        let read = |path: &PathBuf| {
            let name = path.strip_prefix(&root).ok()?.to_str()?.to_owned();
            Some((name, std::fs::read_to_string(path).ok()?))
        };
        self.sources.iter().step_by(self.sources.len().div_ceil(400)).filter_map(read).collect()
    }

    /// Words of two letters and more out of a part of the files, in order of their first place.
    pub fn words(&self) -> Result<Vec<String>> {
        let mut seen = std::collections::HashSet::new();
        let mut words = Vec::new();
        for path in self.sources.iter().step_by(self.sources.len().div_ceil(200)) {
            let text = std::fs::read_to_string(path).unwrap_or_default();
            for word in text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')) {
                if word.len() > 1 && seen.insert(word.to_owned()) {
                    words.push(word.to_owned());
                }
            }
        }
        if words.is_empty() { bail!("no words") } else { Ok(words) }
    }

    /// Appends a function with a new name to the `i`-th file, spread over the tree; the name.
    pub fn edit(&self, i: usize) -> Result<String> {
        let path = &self.sources[(i * 37) % self.sources.len()];
        let name = format!("benchprobe{i}zq");
        let text = if path.extension().is_some_and(|e| e == "go") {
            format!("\nfunc {name}() int {{ return {i} }}\n")
        } else {
            format!("\n\ndef {name}():\n    return {i}\n")
        };
        std::fs::OpenOptions::new().append(true).open(path)?.write_all(text.as_bytes())?;
        Ok(name)
    }

    /// CPU time of tree-sitter alone for the Go and Python files, in memory: the yardstick of a build.
    pub fn parse_only(&self) -> Result<Duration> {
        let [mut go, mut python] = [tree_sitter::Parser::new(), tree_sitter::Parser::new()];
        go.set_language(&tree_sitter_go::LANGUAGE.into())?;
        python.set_language(&tree_sitter_python::LANGUAGE.into())?;
        let mut paths = Vec::new();
        collect(&self.root(), &["go", "py", "pyi"], &mut paths);
        paths.sort();
        let read = |path: &PathBuf| Some((path.extension()? == "go", std::fs::read(path).ok()?));
        let mut sources: Vec<(bool, Vec<u8>)> = paths.iter().filter_map(read).collect();
        sources.retain(|(_, bytes)| bytes.len() as u64 <= indexd_model::limits::FILE_BYTES_PARSED_MAX);
        let before = cpu_of(std::process::id())?;
        for (is_go, bytes) in &sources {
            let parser = if *is_go { &mut go } else { &mut python };
            drop(parser.parse(bytes, None));
        }
        Ok(cpu_of(std::process::id())?.saturating_sub(before))
    }

    /// How many files there are but those under `.git`, and their bytes.
    pub fn sizes(&self) -> Result<(usize, u64)> {
        let mut find = Command::new("find");
        find.arg(self.root()).args(["-name", ".git", "-prune", "-o", "-type", "f", "-printf", "%s\\n"]);
        let out = find.output().context("find is missing")?;
        let printed = String::from_utf8_lossy(&out.stdout);
        Ok((printed.lines().count(), printed.lines().filter_map(|l| l.parse::<u64>().ok()).sum()))
    }

    /// CPU time of `find` looking at every file but those under `.git`: the yardstick of a restart.
    pub fn find_cpu(&self) -> Result<Duration> {
        let script =
            r#"TIMEFORMAT="%U %S"; time find "$0" -name .git -prune -o -printf "%s %T@ %i\n" >/dev/null"#;
        let out = Command::new("bash").args(["-c", script]).arg(self.root()).env("LC_ALL", "C").output()?;
        let printed = String::from_utf8_lossy(&out.stderr);
        let seconds: Option<Vec<f64>> = printed.split_whitespace().map(|n| n.parse().ok()).collect();
        let seconds = seconds.filter(|s| s.len() == 2).with_context(|| format!("find: {printed}"))?;
        Ok(Duration::from_secs_f64(seconds.iter().sum()))
    }
}

/// Files with one of these extensions.
fn collect(dir: &Path, extensions: &[&str], out: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        let path = entry.path();
        if kind.is_dir() && entry.file_name() != ".git" {
            collect(&path, extensions, out);
        } else if kind.is_file() && path.extension().is_some_and(|e| extensions.iter().any(|x| e == *x)) {
            out.push(path);
        }
    }
}
