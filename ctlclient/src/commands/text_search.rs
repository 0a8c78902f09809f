//! Text search by other programs, where no index can be asked: `rg`, else `git grep`.
//!
//! Both are asked for the same: fixed strings, capitals or not, hidden files too, ignored ones not, no
//! settings of the user. They are found by absolute path outside of the repository and run with an
//! environment of their own.

use super::pack::SearchWith;
use crate::failure::Failure;
use indexd_proto::error::ErrorCode;
use indexd_task::hits::Line;
use indexd_task::queries::Query;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Bytes of a file that is read; larger ones are listed without excerpts.
const FILE_BYTES_MAX: u64 = 5 << 20;

/// What was found, and by which program.
pub struct Found {
    /// The lines, by path, then by number.
    pub lines: Vec<Line>,
    /// All files, in path order.
    pub paths: Vec<String>,
    /// The program.
    pub by: &'static str,
}

/// Searches below `root`.
///
/// # Errors
/// `POC_E_SEARCH_UNAVAILABLE` where neither program can be run, or the one that was named cannot.
pub fn find(root: &Path, queries: &[Query], with: SearchWith) -> Result<Found, Failure> {
    let patterns: Vec<&str> = queries.iter().map(|q| q.text.as_str()).collect();
    let mut tried = Vec::new();
    if with != SearchWith::Git {
        match program("rg", root) {
            Some(rg) => return rg_search(&rg, root, &patterns),
            None => tried.push("rg is not installed"),
        }
    }
    if with != SearchWith::Rg {
        match program("git", root) {
            Some(git) if in_git(&git, root) => return git_search(&git, root, &patterns),
            Some(_) => tried.push("git grep needs a repository of git"),
            None => tried.push("git is not installed"),
        }
    }
    Err(Failure::hinted(
        ErrorCode::SearchUnavailable,
        format!("nothing can search this folder: {}", tried.join(", ")),
        "build the index with `ctl index --wait`, or install rg or git",
    ))
}

/// The text of a file, if it is a regular one of moderate size.
pub fn read(root: &Path, path: &str) -> Option<String> {
    let file = root.join(path);
    let meta = file.symlink_metadata().ok()?;
    if !meta.is_file() || meta.len() > FILE_BYTES_MAX {
        return None;
    }
    Some(String::from_utf8_lossy(&std::fs::read(file).ok()?).into_owned())
}

/// A program of the search path, not one of the repository itself.
fn program(name: &str, root: &Path) -> Option<PathBuf> {
    program_in(&std::env::var_os("PATH")?, name, root)
}

fn program_in(folders: &OsStr, name: &str, root: &Path) -> Option<PathBuf> {
    let found = std::env::split_paths(folders).filter(|d| d.is_absolute() && !d.starts_with(root));
    found
        .map(|d| d.join(name))
        .find(|p| std::fs::canonicalize(p).is_ok_and(|real| real.is_file() && !real.starts_with(root)))
}

/// A command that sees no settings of the user.
fn command(program: &Path, root: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("LC_ALL", "C.UTF-8")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .envs(std::env::var_os("PATH").map(|folders| ("PATH", folders)))
        .current_dir(root)
        .stdin(Stdio::null());
    command
}

fn in_git(git: &Path, root: &Path) -> bool {
    let mut command = command(git, root);
    command.args(["rev-parse", "--is-inside-work-tree"]);
    command.output().is_ok_and(|o| o.status.success())
}

/// Runs a search; statuses 0 and 1 are answers.
fn run(mut command: Command, name: &str) -> Result<Vec<u8>, Failure> {
    let failed = |why: String| {
        Failure::hinted(
            ErrorCode::SearchUnavailable,
            format!("{name} failed: {why}"),
            "build the index with `ctl index --wait`",
        )
    };
    let output = command.output().map_err(|e| failed(e.to_string()))?;
    if matches!(output.status.code(), Some(0 | 1)) {
        return Ok(output.stdout);
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    Err(failed(said.lines().next().unwrap_or("no reason given").to_owned()))
}

fn rg_search(rg: &Path, root: &Path, patterns: &[&str]) -> Result<Found, Failure> {
    const FILES: [&str; 6] =
        ["--no-config", "--hidden", "--no-messages", "--color=never", "--glob=!.git", "--no-require-git"];
    let mut list = command(rg, root);
    list.args(FILES).args(["--files", "--null"]);
    let mut search = command(rg, root);
    search.args(FILES).args(["--fixed-strings", "--ignore-case", "--line-number", "--no-heading", "--null"]);
    found_by(list, search, patterns, &["--", "."], "rg")
}

fn git_search(git: &Path, root: &Path, patterns: &[&str]) -> Result<Found, Failure> {
    let mut list = command(git, root);
    list.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let mut search = command(git, root);
    search.args(["-c", "grep.fullName=false", "grep", "--untracked", "--no-color"]);
    search.args(["-I", "-F", "-i", "-n", "-z"]);
    found_by(list, search, patterns, &[], "git grep")
}

/// Runs both commands, the second with the patterns and what stands behind them, and only if there are any.
fn found_by(
    list: Command,
    mut search: Command,
    patterns: &[&str],
    behind: &[&str],
    by: &'static str,
) -> Result<Found, Failure> {
    let paths = paths(&run(list, by.split(' ').next().unwrap_or(by))?);
    let mut lines = Vec::new();
    if !patterns.is_empty() {
        search.args(patterns.iter().flat_map(|p| ["-e", p])).args(behind);
        lines = read_lines(&run(search, by)?);
    }
    Ok(Found { lines, paths, by })
}

/// Paths that end in NUL, without `./`, in order.
fn paths(output: &[u8]) -> Vec<String> {
    let named = output.split(|b| *b == 0).filter(|p| !p.is_empty());
    let mut out: Vec<String> = named.filter_map(|p| std::str::from_utf8(p).ok()).map(plain).collect();
    out.sort_unstable();
    out.dedup();
    out
}

fn plain(path: &str) -> String {
    path.strip_prefix("./").unwrap_or(path).to_owned()
}

/// Lines of the form path, NUL, number, colon or NUL, text.
fn read_lines(output: &[u8]) -> Vec<Line> {
    let mut out = Vec::new();
    for line in output.split(|b| *b == b'\n').filter(|l| !l.is_empty()) {
        let Some(end) = line.iter().position(|b| *b == 0) else { continue };
        let (path, rest) = (&line[..end], &line[end + 1..]);
        let Some(digits) = rest.iter().position(|b| !b.is_ascii_digit()) else { continue };
        let number = std::str::from_utf8(&rest[..digits]).ok().and_then(|n| n.parse().ok());
        let (Ok(path), Some(number)) = (std::str::from_utf8(path), number) else { continue };
        let text = String::from_utf8_lossy(&rest[digits + 1..]);
        out.push(Line { path: plain(path), number, text: text.trim_end_matches('\r').to_owned() });
    }
    out.sort();
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_of_writing_a_line_are_read() {
        let expect = vec![
            Line { path: "a b.go".to_owned(), number: 3, text: "x:1".to_owned() },
            Line { path: "z.go".to_owned(), number: 12, text: String::new() },
        ];
        assert_eq!(read_lines(b"./z.go\x0012:\n./a b.go\x003:x:1\r\n"), expect);
        assert_eq!(read_lines(b"a b.go\x003\x00x:1\nz.go\x0012\x00\n"), expect);
        assert_eq!(read_lines(b"Binary file x matches\n"), []);
    }

    #[test]
    fn nothing_outside_is_read_and_nothing_of_the_repository_is_run() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a"), "text").unwrap();
        assert_eq!(read(dir.path(), "a").as_deref(), Some("text"));
        assert_eq!(read(dir.path(), "b"), None);
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("/etc/hostname", dir.path().join("link")).unwrap();
            assert_eq!(read(dir.path(), "link"), None);
        }
        assert!(program("no-such-program-here", dir.path()).is_none());
        assert!(program("sh", Path::new("/")).is_none());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_into_the_repository_is_not_run() {
        let dir = tempfile::tempdir().unwrap();
        let top = std::fs::canonicalize(dir.path()).unwrap();
        let (root, bin) = (top.join("repo"), top.join("bin"));
        for folder in [&root, &bin] {
            std::fs::create_dir(folder).unwrap();
            std::fs::write(folder.join("rg"), "").unwrap();
        }
        std::os::unix::fs::symlink(root.join("rg"), bin.join("link")).unwrap();
        for (name, is_run) in [("rg", true), ("link", false), ("none", false)] {
            let found = program_in(bin.as_os_str(), name, &root);
            assert_eq!(found, is_run.then(|| bin.join(name)), "{name}");
        }
        assert_eq!(program_in(root.as_os_str(), "rg", &root), None);
    }
}
