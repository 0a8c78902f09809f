//! The log: one JSON object a line in the state folder, rotated by size, private to the user.
//!
//! It holds no content of files and no query: a query is named by its hash and length (see
//! [`query_name`]). Relative paths appear at level debug only. `INDEXD_LOG` sets the filter.
//!
//! At the default level each pack leaves one line, the audit trail: its id, what it cost, and the chunks
//! that it selected, by the beginnings of their uids.

use crate::server::limits::{LOG_BYTES_MAX, LOG_FILES_MAX};
use crate::server::pack_cache::Kept;
use indexd_proto::paths::{self, Dirs};
use indexd_proto::shown::{ContextSummary, ShownChunk};
use indexd_proto::workspace::ShadowCounts;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tracing_subscriber::fmt::MakeWriter;

/// Opens the log and makes it the one of this process, with a panic hook that logs the place of a
/// fault and not its message, which may hold data.
///
/// # Errors
/// When the state folder or the file cannot be used.
pub fn init(dirs: &Dirs) -> io::Result<()> {
    paths::private_dir(&dirs.state, indexd_os::own_uid())?;
    let writer = Rotating::open(dirs.log(), LOG_BYTES_MAX, LOG_FILES_MAX)?;
    let filter = tracing_subscriber::EnvFilter::try_from_env("INDEXD_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info"));
    let subscriber = tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_env_filter(filter)
        .with_writer(writer)
        .finish();
    // A second subscriber in one process exists in tests only; the first one stays.
    let _ = tracing::subscriber::set_global_default(subscriber);
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(|l| format!("{}:{}", l.file(), l.line())).unwrap_or_default();
        tracing::error!(place, thread = std::thread::current().name().unwrap_or(""), "fault");
    }));
    Ok(())
}

/// What stands for a query in the log.
pub fn query_name(query: &str) -> String {
    format!("b3:{}/{}", &blake3::hash(query.as_bytes()).to_hex()[..16], query.len())
}

/// Logs a pack that was answered: the audit trail.
pub fn packed(query: &str, kept: &Kept, cached: bool) {
    let budget = kept.summary.budget;
    tracing::info!(
        query = query_name(query),
        pack = kept.pack_id,
        cached,
        used_tokens = budget.used_tokens,
        budget_tokens = budget.total_tokens,
        items = kept.summary.chunks.len(),
        selected = kept.selected,
        "packed"
    );
}

/// Logs a packing of offered sources, likewise.
pub fn packed_sources(offered: usize, summary: &ContextSummary, partial: bool) {
    let chunk = |c: &ShownChunk| format!("{:?}:{}-{}/{}", c.origin, c.start_line, c.end_line, c.tokens);
    let selected: Vec<String> = summary.chunks.iter().map(chunk).collect();
    tracing::info!(
        sources = offered,
        partial,
        used_tokens = summary.budget.used_tokens,
        budget_tokens = summary.budget.total_tokens,
        items = summary.chunks.len(),
        selected = selected.join(" "),
        "packed what was offered"
    );
}

/// Logs how far a search and the pack of its text agree.
pub fn shadowed(query: &str, pack_id: &str, compared: ShadowCounts) {
    let ShadowCounts { in_both, search_only, pack_only, .. } = compared;
    let query = query_name(query);
    tracing::info!(query, pack = pack_id, in_both, search_only, pack_only, "packed beside a search");
}

/// Logs how a candidate of a pack was scored and where it ended, at level debug.
pub fn decision(d: &indexd_pack::Decision) {
    tracing::debug!(
        path = d.path,
        first_line = d.lines.start,
        last_line = d.lines.end,
        section = d.section.unwrap_or("none"),
        seed_score = d.scores.seed_score,
        graph_distance = d.scores.graph_distance,
        evidence_score = d.scores.evidence_score,
        hybrid_score = d.scores.hybrid_score,
        outcome = d.outcome,
        "candidate"
    );
}

/// A file that is renamed to `.1`, `.2`, ... when it has grown too long.
struct Rotating {
    path: PathBuf,
    bytes_max: u64,
    files_max: u32,
    open: Mutex<(File, u64)>,
}

impl Rotating {
    fn open(path: PathBuf, bytes_max: u64, files_max: u32) -> io::Result<Self> {
        let file = append(&path)?;
        let len = file.metadata()?.len();
        Ok(Self { path, bytes_max, files_max, open: Mutex::new((file, len)) })
    }

    fn write_line(&self, line: &[u8]) -> io::Result<()> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.1 > 0 && open.1 + line.len() as u64 > self.bytes_max {
            self.rotate()?;
            *open = (append(&self.path)?, 0);
        }
        open.1 += line.len() as u64;
        open.0.write_all(line)
    }

    fn rotate(&self) -> io::Result<()> {
        let numbered = |n: u32| PathBuf::from(format!("{}.{n}", self.path.display()));
        for n in (1..self.files_max.saturating_sub(1)).rev() {
            match std::fs::rename(numbered(n), numbered(n + 1)) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
                _ => {}
            }
        }
        std::fs::rename(&self.path, numbered(1))
    }
}

fn append(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// One event of the log: written as a whole, so that events of threads do not mix.
struct Line<'a> {
    to: &'a Rotating,
    bytes: Vec<u8>,
}

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Line<'_> {
    fn drop(&mut self) {
        // A full disk must not end the daemon; the event is lost.
        let _ = self.to.write_line(&self.bytes);
    }
}

impl<'a> MakeWriter<'a> for Rotating {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        Line { to: self, bytes: Vec::with_capacity(256) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotates_by_size_and_keeps_few_files() {
        let dir = tempfile::tempdir().unwrap();
        let log = Rotating::open(dir.path().join("x.log"), 30, 3).unwrap();
        for i in 0..20 {
            log.write_line(format!("line {i:04}\n").as_bytes()).unwrap();
        }
        let mut names: Vec<_> =
            std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["x.log", "x.log.1", "x.log.2"]);
        let text = |n: &str| std::fs::read_to_string(dir.path().join(n)).unwrap();
        assert_eq!(text("x.log"), "line 0018\nline 0019\n");
        assert_eq!(text("x.log.1"), "line 0015\nline 0016\nline 0017\n");
    }

    #[test]
    fn a_query_is_named_and_not_told() {
        let name = query_name("password hunter2");
        assert!(!name.contains("hunter2") && name.ends_with("/16"), "{name}");
        assert_ne!(name, query_name("password hunter3"));
    }
}
