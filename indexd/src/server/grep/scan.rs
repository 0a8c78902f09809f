//! The lines that match, by path and number. Files that cannot hold a match are passed over by their
//! signatures; the others are unpacked and read on a few threads, a batch of them at a time, so that the
//! answer and the memory it takes do not depend on which thread is faster.

use super::pattern::Pattern;
use crate::server::backend::Cancel;
use grep_matcher::Matcher as _;
use grep_regex::RegexMatcher;
use indexd_model::{FileDoc, IndexView as _, Span};
use indexd_proto::error::{ErrorCode, ErrorObject};
use indexd_store::{Snapshot, StoreError, read_packed_text};

/// Files of a batch for each thread.
const BATCH_FILES: usize = 64;
/// Threads that read.
const THREADS_MAX: usize = 4;
/// Files below which one thread is faster.
const ALONE_MAX: usize = 24;

/// A matching line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// 1-based number.
    pub number: u32,
    /// Where it starts.
    pub start: u32,
    /// Where it ends, without its line end.
    pub end: u32,
    /// The first match in it.
    pub hit: Span,
}

/// The matching lines of a file.
#[derive(Debug)]
pub struct Found {
    /// The file.
    pub file: FileDoc,
    /// How many there are.
    pub n: u64,
    /// Those that were kept.
    pub lines: Vec<Line>,
}

/// Searches these files, keeping lines `skip..skip + most`; files without a matching line are not in the
/// answer.
///
/// # Errors
/// `POC_E_CANCELLED`, and `POC_E_SEARCH_UNAVAILABLE` for a damaged index.
pub fn scan(
    snapshot: &Snapshot,
    files: &[FileDoc],
    pattern: &Pattern,
    (skip, most): (u64, u64),
    cancel: &Cancel,
) -> Result<Vec<Found>, ErrorObject> {
    let n_threads = match files.len() {
        n if n <= ALONE_MAX => 1,
        _ => std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX),
    };
    let mut out: Vec<Found> = Vec::new();
    let mut n_before = 0;
    for batch in files.chunks(BATCH_FILES * n_threads) {
        cancel.check()?;
        let packed: Vec<Vec<u8>> = batch.iter().map(|f| snapshot.packed_text(*f)).collect();
        let keeps = n_before < skip + most;
        for (&file, lines) in batch.iter().zip(read(&packed, pattern, n_threads)) {
            let mut lines = lines.ok_or_else(|| damaged(snapshot, file))?;
            let n = lines.len() as u64;
            if n == 0 {
                continue;
            }
            let from = skip.saturating_sub(n_before).min(n);
            let to = (skip + most).saturating_sub(n_before).clamp(from, n);
            lines.truncate(to as usize);
            lines.drain(..from as usize);
            n_before += n;
            lines.shrink_to_fit();
            out.push(Found { file, n, lines: if keeps { lines } else { Vec::new() } });
        }
    }
    Ok(out)
}

fn damaged(snapshot: &Snapshot, file: FileDoc) -> ErrorObject {
    // Reading it once more marks the index as damaged.
    snapshot.text(file);
    let path = indexd_model::FactsView::path(snapshot, file);
    let error = StoreError::Corrupt(format!("the text of {path}"));
    ErrorObject::new(ErrorCode::SearchUnavailable, error.to_string())
}

/// The lines of each text, in order; none for a damaged one.
fn read(packed: &[Vec<u8>], pattern: &Pattern, n_threads: usize) -> Vec<Option<Vec<Line>>> {
    let each = |part: &[Vec<u8>], matcher: &RegexMatcher| -> Vec<Option<Vec<Line>>> {
        part.iter().map(|p| read_packed_text(p, |text| lines(text, matcher))).collect()
    };
    if n_threads == 1 {
        return each(packed, &pattern.matcher);
    }
    std::thread::scope(|scope| {
        let parts = packed.chunks(packed.len().div_ceil(n_threads).max(1));
        // A copy for each thread: they would wait for each other's memory.
        let threads: Vec<_> = parts
            .map(|part| {
                let matcher = pattern.matcher.clone();
                (part.len(), scope.spawn(move || each(part, &matcher)))
            })
            .collect();
        let all = threads.into_iter().flat_map(|(n, t)| t.join().unwrap_or_else(|_| vec![None; n]));
        all.collect()
    })
}

/// The matching lines of a text. A byte order mark is not part of the first.
pub fn lines(text: &str, matcher: &RegexMatcher) -> Vec<Line> {
    let bytes = text.as_bytes();
    let mut out = Vec::new();
    let bom = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let (mut at, mut number, mut counted) = (0, 1, bom);
    let body = &bytes[bom..];
    while at < body.len() {
        let Ok(Some(found)) = matcher.find_at(body, at) else { break };
        if found.start() >= body.len() && body.ends_with(b"\n") {
            // Behind the last line end there is no line.
            break;
        }
        let hit = bom + found.start();
        let matched = Span { start: hit as u32, end: (bom + found.end()) as u32 };
        number += memchr::memchr_iter(b'\n', &bytes[counted..hit]).count() as u32;
        let start = memchr::memrchr(b'\n', &bytes[bom..hit]).map_or(bom, |n| bom + n + 1);
        let end = memchr::memchr(b'\n', &bytes[hit..]).map_or(bytes.len(), |n| hit + n);
        out.push(Line { number, start: start as u32, end: end as u32, hit: matched });
        (at, counted) = (end - bom + 1, hit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::pattern::How;
    use super::*;
    use proptest::prelude::*;

    /// The numbers of the matching lines, line by line.
    fn naive(text: &str, pattern: &Pattern) -> Vec<u32> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let whole = text.strip_suffix('\n').unwrap_or(text);
        let all = (1..).zip(whole.split('\n')).filter(|_| !text.is_empty());
        all.filter(|(_, l)| pattern.matcher.is_match(l.as_bytes()).unwrap()).map(|(n, _)| n).collect()
    }

    fn check(text: &str, pattern: &str, expect: &[u32]) {
        let pattern = Pattern::new(&[pattern.to_owned()], How::default()).unwrap();
        let found = lines(text, &pattern.matcher);
        assert_eq!(found.iter().map(|l| l.number).collect::<Vec<_>>(), expect, "{text:?}");
        assert!(found.iter().all(|l| !text[l.start as usize..l.end as usize].contains('\n')));
        assert_eq!(naive(text, &pattern), expect, "{text:?}");
    }

    #[test]
    fn lines_are_told_apart() {
        check("a\nb\na", "a", &[1, 3]);
        check("a\nb\n", "^", &[1, 2]);
        check("a\nb\n", "$", &[1, 2]);
        check("\n\n", "^$", &[1, 2]);
        check("", "^", &[]);
        check("\u{feff}a\nb", "^a", &[1]);
        check("x\ny", r"x\s*y", &[]);
        check("a b\r\nc", "b\r$", &[1]);
    }

    #[test]
    fn a_match_of_nothing_at_the_end_is_of_the_last_line() {
        let pattern = Pattern::new(&[String::new()], How { word: true, ..How::default() }).unwrap();
        assert_eq!(lines("ü ", &pattern.matcher).len(), 1);
    }

    proptest! {
        #[test]
        fn a_search_equals_a_look_at_each_line(
            pattern in "([ab.^$]|[ab][*+?]|\\\\[sSwb]|[|]|\\[\\^a\\]){0,5}",
            text in "[ab \nü\r]{0,40}",
            word: bool,
        ) {
            if let Ok(pattern) = Pattern::new(&[pattern], How { word, ..How::default() }) {
                let found: Vec<u32> = lines(&text, &pattern.matcher).iter().map(|l| l.number).collect();
                prop_assert_eq!(found, naive(&text, &pattern));
            }
        }
    }
}
