//! Files by the lines that a text search printed, where there is no index.

use crate::document::{Found, Reason, add_reasons_of_paths, one_line};
use crate::paths;
use crate::queries::{Kind, Query, choose};
use indexd_api::task::TaskQuery;
use std::collections::{BTreeMap, BTreeSet};

/// Lines shown before and after a hit.
const AROUND: (u32, u32) = (3, 6);

/// A line that holds one of the words searched.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Line {
    /// Relative path of its file.
    pub path: String,
    /// 1-based number.
    pub number: u32,
    /// Its text.
    pub text: String,
}

/// What was found in a file.
#[derive(Default)]
struct Hits {
    /// The candidates that it holds.
    words: BTreeSet<usize>,
    /// The number of candidates on each line that holds any, and the line.
    lines: Vec<(usize, u32)>,
}

/// Chooses the queries of a document and the files that hold them, those with the most and the rarest first;
/// tests and documents come after code. Returns both, and the number of files with hits. `text` gives the
/// text of a file; files without one have no lines to show.
pub fn files(
    candidates: &[Query],
    lines: &[Line],
    n_files: usize,
    text: &dyn Fn(&str) -> Option<String>,
) -> (Vec<TaskQuery>, Vec<Found>, usize) {
    let held: Vec<(&Line, Vec<usize>)> = lines
        .iter()
        .filter(|line| !paths::is_sensitive(&line.path))
        .map(|line| (line, (0..candidates.len()).filter(|i| candidates[*i].is_in(&line.text)).collect()))
        .collect();
    let mut paths_of = vec![BTreeSet::new(); candidates.len()];
    for (line, of) in &held {
        for i in of {
            paths_of[*i].insert(line.path.as_str());
        }
    }
    let n_found: Vec<usize> = paths_of.iter().map(BTreeSet::len).collect();
    let queries = choose(candidates, &n_found, n_files);
    let is_asked = |i: &usize| queries.iter().any(|q| q.text == candidates[*i].text);
    let mut by: BTreeMap<&str, Hits> = BTreeMap::new();
    for (line, of) in &held {
        let of: Vec<usize> = of.iter().copied().filter(is_asked).collect();
        if !of.is_empty() {
            let hits = by.entry(&line.path).or_default();
            hits.words.extend(&of);
            hits.lines.push((of.len(), line.number));
        }
    }
    let weight = |h: &Hits| h.words.iter().map(|i| 1.0 / n_found[*i] as f64).sum::<f64>();
    let mut order: Vec<_> = by.iter().collect();
    order.sort_by(|(path, hits), (other_path, other)| {
        let by_weight = other.words.len().cmp(&hits.words.len()).then(weight(other).total_cmp(&weight(hits)));
        (!paths::is_source(path)).cmp(&!paths::is_source(other_path)).then(by_weight)
    });
    let mut found: Vec<Found> = order
        .into_iter()
        .take(crate::document::FILES_MAX)
        .map(|(path, hits)| {
            let named: Vec<String> =
                hits.words.iter().map(|i| format!("`{}`", one_line(&candidates[*i].text))).collect();
            Found {
                path: (*path).to_owned(),
                reasons: [(Reason::Hit, format!("direct hit: {}", named.join(", ")))].into(),
                lines: text(path).map_or_else(Vec::new, |text| around(hits.lines.clone(), &text)),
            }
        })
        .collect();
    add_reasons_of_paths(&mut found);
    (queries, found, by.len())
}

/// The lines with the most words first, each followed by the lines of its paragraph above and by those below.
fn around(mut numbers: Vec<(usize, u32)>, text: &str) -> Vec<(u32, String)> {
    numbers.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    let lines: Vec<&str> = text.lines().collect();
    let mut out = Vec::new();
    for (_, number) in numbers {
        let is_text = |n: &u32| lines.get(*n as usize - 1).is_some_and(|line| !line.trim().is_empty());
        let above = (number.saturating_sub(AROUND.0).max(1)..number).rev().take_while(is_text);
        let shown = std::iter::once(number).chain(above).chain(number + 1..=number + AROUND.1);
        out.extend(shown.filter_map(|n| Some((n, (*lines.get(n as usize - 1)?).to_owned()))));
    }
    out
}

impl Query {
    /// Whether a line holds it, capitals or not. A word has to begin a word of the line: `per` does not match
    /// `spider`, and `retry` is one of `isRetry` and `retrying`.
    fn is_in(&self, line: &str) -> bool {
        let (folded, text) = (line.to_lowercase(), self.text.to_lowercase());
        if self.kind != Kind::Term || line.len() != folded.len() {
            return folded.contains(&text);
        }
        let bytes = line.as_bytes();
        folded.match_indices(&text).any(|(at, _)| match at.checked_sub(1).map(|i| bytes[i]) {
            None => true,
            Some(before) => {
                !before.is_ascii_alphabetic()
                    || (before.is_ascii_lowercase() && bytes[at].is_ascii_uppercase())
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queries::candidates;

    fn line(path: &str, number: u32, text: &str) -> Line {
        Line { path: path.to_owned(), number, text: text.to_owned() }
    }

    #[test]
    fn files_come_by_the_number_and_rarity_of_their_words() {
        let lines = [
            line("a.go", 2, "delay"),
            line("b.go", 2, "the delay of a retry"),
            line("b.go", 9, "delay"),
            line("b_test.go", 1, "delay retry client"),
            line("c.go", 1, "client"),
        ];
        let text = |_: &str| Some((1..20).map(|n| format!("line {n}\n")).collect());
        let (queries, found, n) = files(&candidates("retry delay client"), &lines, 50, &text);
        assert_eq!(queries.iter().map(|q| q.files).collect::<Vec<_>>(), [2, 3, 2]);
        assert_eq!(n, 4);
        let paths: Vec<&str> = found.iter().map(|f| f.path.as_str()).collect();
        assert_eq!(paths, ["b.go", "c.go", "a.go", "b_test.go"]);
        assert_eq!(found[0].lines[0], (2, "line 2".to_owned()), "the line with both words first");
    }

    #[test]
    fn secrets_are_no_hits() {
        let (_, found, n) = files(&candidates("token"), &[line(".env", 1, "TOKEN=x")], 1, &|_| None);
        assert_eq!((found.len(), n), (0, 0));
    }

    #[test]
    fn terms_begin_words() {
        for (text, term, expect) in [
            ("spider", "per", false),
            ("x = isRetry(y)", "retry", true),
            ("retrying", "retry", true),
            ("max_retry", "retry", true),
            ("a PER cent", "per", true),
        ] {
            let query = Query { kind: Kind::Term, text: term.to_owned() };
            assert_eq!(query.is_in(text), expect, "{text}");
        }
    }
}
