//! Which queries are asked, which files they lead to, and with how many points.
//!
//! A file gets, once for each kind: 5 points for a direct hit, 3 for a call site of a symbol found in a
//! hit, 2 for a test that refers to a hit, 2 for concerning configuration or the command line, 1 for
//! standing beside one of the best. Files are ordered by points, then by path.

use crate::queries::{Kind, Query};
use crate::{FILES_MAX, Line, Reference, paths};
use std::collections::{BTreeMap, BTreeSet};

/// Queries of a document at most.
pub const QUERIES_MAX: usize = 6;
/// Queries that say something, beside which words that stand everywhere are left out.
const QUERIES_MIN: usize = 3;
/// Files that count as direct hits.
const HITS_MAX: usize = 10;
/// Best files whose folders count.
const NEIGHBOURS_OF: usize = 3;
/// Files without any line to show that are taken for their folder alone.
const NEIGHBOURS_MAX: usize = 2;

const POINTS_HIT: u32 = 5;
const POINTS_CALL: u32 = 3;
const POINTS_TEST: u32 = 2;
const POINTS_CONFIG: u32 = 2;
const POINTS_NEIGHBOUR: u32 = 1;

/// A direct hit: its path and the numbers of its lines, ascending.
pub type HitLines = (String, Vec<u32>);

/// Lines with their weight, by number.
type Weights = BTreeMap<u32, u64>;

/// A query that was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The query.
    pub query: Query,
    /// Files that hold it.
    pub files: usize,
}

/// A file of the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranked {
    /// Relative path.
    pub path: String,
    /// Points.
    pub points: u32,
    /// Why, a sentence for each kind, in the order of their points.
    pub reasons: Vec<String>,
    /// Lines worth showing with their weight, by number.
    pub lines: BTreeMap<u32, u64>,
}

/// What a task leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranking {
    /// The queries that were asked.
    pub asked: Vec<Asked>,
    /// Candidates that were left out in favour of rarer ones.
    pub passed_over: Vec<String>,
    /// The files, best first, at most [`FILES_MAX`].
    pub files: Vec<Ranked>,
    /// Files with any hit.
    pub found: usize,
}

/// Ranks what a search found. `paths` are all files of the repository, in path order; `refer` is asked
/// for references to what stands on given lines of the direct hits, best first, and gives none where no
/// index is at hand.
pub fn rank(
    candidates: &[Query],
    lines: &[Line],
    paths: &[String],
    refer: &dyn Fn(&[HitLines]) -> Vec<Reference>,
) -> Ranking {
    let found = Found::of(candidates, lines);
    let asked = found.choose(candidates, paths.len());
    let hits = found.hits(candidates, &asked, paths.len());
    let top: Vec<&(String, u64, Weights)> = hits.iter().take(HITS_MAX).collect();
    let named: Vec<HitLines> =
        top.iter().map(|(path, _, lines)| (path.clone(), lines.keys().copied().collect())).collect();
    let references = if top.is_empty() { Vec::new() } else { refer(&named) };

    let mut files: BTreeMap<String, Ranked> = BTreeMap::new();
    for (path, _, lines) in &top {
        let words = words_of(&found, candidates, &asked, path);
        give(&mut files, path, POINTS_HIT, format!("direct hit: {words}"), lines);
    }
    let is_top = |path: &str| top.iter().any(|(p, ..)| p == path);
    calls_and_tests(&mut files, &references);
    for (path, _, lines) in hits.iter().filter(|(path, ..)| !paths::is_foreign(path)) {
        if paths::is_config(path) && !paths::is_doc(path) && !paths::is_test(path) {
            give(
                &mut files,
                path,
                POINTS_CONFIG,
                "concerns configuration or the command line".to_owned(),
                lines,
            );
        }
    }
    neighbours(&mut files, paths, &top.iter().map(|(p, ..)| p.as_str()).collect::<Vec<_>>());
    let mut files: Vec<Ranked> = files.into_values().collect();
    files.sort_by(|a, b| b.points.cmp(&a.points).then_with(|| a.path.cmp(&b.path)));
    let mut without = 0;
    files.retain(|f| {
        without += usize::from(f.lines.is_empty());
        is_top(&f.path) || !f.lines.is_empty() || without <= NEIGHBOURS_MAX
    });
    files.truncate(FILES_MAX);
    let is_asked = |i: &usize| asked.contains(i);
    let passed_over =
        (0..candidates.len()).filter(|i| !is_asked(i)).map(|i| candidates[i].text.clone()).collect();
    let asked =
        asked.iter().map(|&i| Asked { query: candidates[i].clone(), files: found.files_of(i) }).collect();
    Ranking { asked, passed_over, files, found: hits.len() }
}

fn give(
    files: &mut BTreeMap<String, Ranked>,
    path: &str,
    points: u32,
    reason: String,
    lines: &BTreeMap<u32, u64>,
) {
    let file = files.entry(path.to_owned()).or_insert_with(|| Ranked {
        path: path.to_owned(),
        points: 0,
        reasons: Vec::new(),
        lines: BTreeMap::new(),
    });
    file.points += points;
    file.reasons.push(format!("{reason} (+{points})"));
    for (line, weight) in lines {
        let known = file.lines.entry(*line).or_default();
        *known = (*known).max(*weight);
    }
}

fn calls_and_tests(files: &mut BTreeMap<String, Ranked>, references: &[Reference]) {
    let mut by: BTreeMap<(bool, &str), (BTreeSet<&str>, Weights)> = BTreeMap::new();
    for r in references.iter().filter(|r| !paths::is_foreign(&r.path)) {
        let (symbols, lines) = by.entry((r.is_test, &r.path)).or_default();
        symbols.insert(&r.symbol);
        lines.insert(r.line, 1);
    }
    for ((is_test, path), (symbols, lines)) in by {
        let names: Vec<String> = symbols.iter().take(3).map(|s| format!("`{s}`")).collect();
        let names = names.join(", ");
        let (points, reason) = if is_test {
            (POINTS_TEST, format!("test that refers to {names}"))
        } else {
            (POINTS_CALL, format!("call site of {names}"))
        };
        give(files, path, points, reason, &lines);
    }
}

fn neighbours(files: &mut BTreeMap<String, Ranked>, paths: &[String], top: &[&str]) {
    let mut best: Vec<(&str, u32)> = files.values().map(|f| (f.path.as_str(), f.points)).collect();
    best.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let folders: BTreeSet<String> =
        best.iter().take(NEIGHBOURS_OF).map(|(p, _)| paths::folder(p).to_owned()).collect();
    let first: BTreeSet<String> = best.iter().take(1).map(|(p, _)| (*p).to_owned()).collect();
    for path in paths.iter().filter(|p| folders.contains(paths::folder(p)) && !first.contains(*p)) {
        let is_code = !paths::is_doc(path) && !paths::is_foreign(path) && !paths::comment(path).is_empty();
        if files.contains_key(path)
            || (is_code && !paths::is_sensitive(path) && !paths::is_test(path) && !top.is_empty())
        {
            let folder = paths::folder(path);
            let folder = if folder.is_empty() { "the root" } else { folder };
            give(
                files,
                path,
                POINTS_NEIGHBOUR,
                format!("stands in {folder} beside one of the best"),
                &BTreeMap::new(),
            );
        }
    }
}

/// What was found of each candidate: by path, by line.
struct Found<'a> {
    by: BTreeMap<&'a str, Vec<(&'a Line, Vec<usize>)>>,
    counts: Vec<BTreeSet<&'a str>>,
}

impl<'a> Found<'a> {
    fn of(candidates: &[Query], lines: &'a [Line]) -> Self {
        let folded: Vec<String> = candidates.iter().map(|q| q.text.to_lowercase()).collect();
        let mut by: BTreeMap<&str, Vec<(&Line, Vec<usize>)>> = BTreeMap::new();
        let mut counts = vec![BTreeSet::new(); candidates.len()];
        for line in lines.iter().filter(|l| !paths::is_sensitive(&l.path)) {
            let text = line.text.to_lowercase();
            let holds = |i: &usize| match candidates[*i].kind {
                Kind::Term => begins_word(&line.text, &text, &folded[*i]),
                _ => text.contains(&folded[*i]),
            };
            let held: Vec<usize> = (0..folded.len()).filter(holds).collect();
            held.iter().for_each(|&i| {
                counts[i].insert(line.path.as_str());
            });
            if !held.is_empty() {
                by.entry(&line.path).or_default().push((line, held));
            }
        }
        Self { by, counts }
    }

    fn files_of(&self, candidate: usize) -> usize {
        self.counts[candidate].len()
    }

    /// Whether a word stands in so many files that it tells none apart.
    fn says_little(&self, candidates: &[Query], i: usize, n_files: usize) -> bool {
        candidates[i].kind == Kind::Term && self.files_of(i) * 3 > n_files.max(30)
    }

    /// The candidates that are asked: those of a kind that says much first, then rare ones, found ones
    /// before others.
    fn choose(&self, candidates: &[Query], n_files: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..candidates.len()).collect();
        order.sort_by_key(|&i| {
            let n = self.files_of(i);
            (n == 0, self.says_little(candidates, i, n_files), candidates[i].kind, n, i)
        });
        let says = |i: &usize| self.files_of(*i) > 0 && !self.says_little(candidates, *i, n_files);
        if order.iter().filter(|i| says(i)).count() >= QUERIES_MIN {
            order.retain(|&i| !self.says_little(candidates, i, n_files));
        }
        order.truncate(QUERIES_MAX);
        order.sort_unstable();
        order
    }

    /// The files that hold something asked for, heaviest first.
    fn hits(&self, candidates: &[Query], asked: &[usize], n_files: usize) -> Vec<(String, u64, Weights)> {
        let bits = |n: usize| u64::from(usize::BITS - n.leading_zeros());
        let rarity = |i: usize| {
            (1 + bits(n_files).saturating_sub(bits(self.files_of(i)))) * candidates[i].kind.factor()
        };
        let mut out = Vec::new();
        for (path, lines) in &self.by {
            let (mut best, mut shown) = (BTreeMap::<usize, u64>::new(), BTreeMap::new());
            for (line, held) in lines {
                let held: Vec<usize> = held.iter().copied().filter(|i| asked.contains(i)).collect();
                let mut weight = 0;
                for &i in &held {
                    let defines = defines(&line.text, &candidates[i].text);
                    let w = rarity(i) * if defines { 2 } else { 1 };
                    weight += w;
                    let known = best.entry(i).or_default();
                    *known = (*known).max(w);
                }
                if weight > 0 {
                    shown.insert(line.number, weight);
                }
            }
            let folded = path.to_lowercase();
            let in_path = asked.iter().filter(|&&i| folded.contains(&candidates[i].text.to_lowercase()));
            let mut total: u64 = best.values().sum::<u64>() + in_path.map(|&i| rarity(i)).sum::<u64>();
            total *= 8;
            if paths::is_foreign(path) {
                total /= 8;
            } else if paths::is_test(path) || paths::is_doc(path) || path.starts_with('.') {
                total /= 2;
            }
            if !shown.is_empty() {
                out.push(((*path).to_owned(), total, shown));
            }
        }
        out.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        out
    }
}

fn words_of(found: &Found, candidates: &[Query], asked: &[usize], path: &str) -> String {
    let lines = found.by.get(path).map(Vec::as_slice).unwrap_or_default();
    let holds = |i: &&usize| lines.iter().any(|(_, held)| held.contains(i));
    let words: Vec<String> =
        asked.iter().filter(holds).map(|&i| format!("`{}`", one_line(&candidates[i].text))).collect();
    words.join(", ")
}

/// A text that cannot break the line or the mark of code around it.
pub(crate) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || c == '`' { ' ' } else { c }).collect()
}

/// Whether a word of a line begins with a term: `per` does not match `spider`, and `retry` is one of
/// `isRetry` and `retrying`. `folded` is the line in small letters.
fn begins_word(line: &str, folded: &str, term: &str) -> bool {
    if line.len() != folded.len() {
        return folded.contains(term);
    }
    let bytes = line.as_bytes();
    folded.match_indices(term).any(|(at, _)| match at.checked_sub(1).map(|i| bytes[i]) {
        None => true,
        Some(before) => {
            !before.is_ascii_alphabetic() || (before.is_ascii_lowercase() && bytes[at].is_ascii_uppercase())
        }
    })
}

/// Whether a line looks like the definition of a name.
pub(crate) fn defines(line: &str, name: &str) -> bool {
    const WORDS: &str = "func def class type fn struct interface trait enum const var function let module";
    let head = line.trim_start();
    let rest = head.trim_start_matches("pub ").trim_start_matches("export ").trim_start_matches("async ");
    let first = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let is_name = |word: &str| word.eq_ignore_ascii_case(name);
    indexd_model::lists::holds(WORDS, first)
        && rest
            .split(['(', ':', '=', '{', '<', '['])
            .take(3)
            .flat_map(|p| p.split(|c: char| !c.is_alphanumeric() && c != '_'))
            .any(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queries::candidates;

    fn line(path: &str, number: u32, text: &str) -> Line {
        Line { path: path.to_owned(), number, text: text.to_owned() }
    }

    fn points(ranking: &Ranking) -> Vec<(&str, u32)> {
        ranking.files.iter().map(|f| (f.path.as_str(), f.points)).collect()
    }

    #[test]
    fn points_add_up_once_for_each_kind() {
        let lines = [
            line("net/retry.go", 3, "func RetryDelay() {"),
            line("net/retry.go", 9, "// retry and delay"),
            line("cmd/main.go", 5, "net.RetryDelay()"),
        ];
        let paths = ["cmd/main.go", "net/other.go", "net/retry.go", "net/retry_test.go", "web/a.go"]
            .map(str::to_owned);
        let refer = |hits: &[(String, Vec<u32>)]| {
            assert_eq!(hits[0], ("net/retry.go".to_owned(), vec![3, 9]));
            let at = |path: &str, line, is_test| Reference {
                path: path.to_owned(),
                line,
                symbol: "RetryDelay".to_owned(),
                is_test,
            };
            vec![
                at("cmd/main.go", 5, false),
                at("net/retry_test.go", 7, true),
                at("net/retry_test.go", 8, true),
            ]
        };
        let ranking = rank(&candidates("retry delay"), &lines, &paths, &refer);
        // main.go: a hit, a call site, a command; retry.go: a hit beside itself and main.go.
        assert_eq!(
            points(&ranking),
            [("cmd/main.go", 10), ("net/retry.go", 6), ("net/retry_test.go", 3), ("net/other.go", 1)]
        );
        assert_eq!(ranking.files[2].lines.keys().copied().collect::<Vec<_>>(), [7, 8]);
    }

    #[test]
    fn equal_points_are_ordered_by_path_and_bounded() {
        let lines: Vec<Line> = (0..30).map(|i| line(&format!("d{i:02}/f.md"), 1, "zorkmid")).collect();
        let paths: Vec<String> = lines.iter().map(|l| l.path.clone()).collect();
        let ranking = rank(&candidates("zorkmid"), &lines, &paths, &|_| Vec::new());
        assert_eq!(ranking.files.len(), HITS_MAX);
        assert!(ranking.files.windows(2).all(|w| (w[1].points, &w[0].path) <= (w[0].points, &w[1].path)));
        assert_eq!(ranking.found, 30);
    }

    #[test]
    fn at_most_six_queries_are_asked_rare_ones_first() {
        let task = "alpha beta gamma delta epsilon zeta eta theta";
        let words: Vec<&str> = task.split(' ').collect();
        let mut lines = Vec::new();
        for (i, word) in words.iter().enumerate() {
            (0..=i).for_each(|n| lines.push(line(&format!("f{n}.go"), i as u32 + 1, word)));
        }
        let paths: Vec<String> = (0..40).map(|n| format!("f{n}.go")).collect();
        let ranking = rank(&candidates(task), &lines, &paths, &|_| Vec::new());
        assert_eq!(ranking.asked.iter().map(|a| a.query.text.as_str()).collect::<Vec<_>>(), words[..6]);
        assert_eq!(ranking.passed_over, words[6..]);
    }

    #[test]
    fn secrets_are_no_hits() {
        let ranking =
            rank(&candidates("token"), &[line(".env", 1, "TOKEN=x")], &[".env".to_owned()], &|_| Vec::new());
        assert_eq!((ranking.files.len(), ranking.found), (0, 0));
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
            assert_eq!(begins_word(text, &text.to_lowercase(), term), expect, "{text}");
        }
    }

    #[test]
    fn lines_that_define() {
        for (text, expect) in [
            ("func (c *Client) Send(x int) {", true),
            ("    async def send(self):", true),
            ("class Send(Base):", true),
            ("x = send()", false),
            ("return send", false),
        ] {
            assert_eq!(defines(text, "send"), expect, "{text}");
        }
    }
}
