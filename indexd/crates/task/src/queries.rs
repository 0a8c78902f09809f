//! From the words of a task to what is searched: quoted phrases, error texts, paths, symbols, terms.

use indexd_api::task::TaskQuery;

indexd_model::words! {
    /// The kind of a query.
    pub enum Kind {
        /// A phrase in quotes.
        Phrase = "quoted phrase",
        /// The text of an error message.
        Error = "error text",
        /// A path or the name of a file.
        Path = "path",
        /// A name as programs have them: `snake_case`, `CamelCase`, `a.b`, `f()`.
        Symbol = "symbol",
        /// An ordinary word.
        Term = "term",
    }

    /// The name in documents.
    pub fn name;
}

/// Something that is searched, without regard to capitals.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Query {
    /// What it is.
    pub kind: Kind,
    /// Its text.
    pub text: String,
}

/// Candidates of one task.
const CANDIDATES_MAX: usize = 24;
/// Characters of a query.
const QUERY_CHARS_MAX: usize = 120;
/// Fewer characters of a word say nothing.
const TERM_CHARS_MIN: usize = 3;

/// Queries of a document at most.
pub const QUERIES_MAX: usize = 6;
/// Queries that say something, beside which words of most files are left out.
const QUERIES_MIN: usize = 3;

/// Chooses the queries of a document, in their order, at most [`QUERIES_MAX`]: those that occur first, then
/// kinds that say much, then rare ones. `n_found` is the number of files that hold each candidate.
pub fn choose(candidates: &[Query], n_found: &[usize], n_files: usize) -> Vec<TaskQuery> {
    // A word of so many files tells none apart.
    let says_little = |i: usize| candidates[i].kind == Kind::Term && n_found[i] * 3 > n_files.max(30);
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_by_key(|&i| (n_found[i] == 0, says_little(i), candidates[i].kind, n_found[i], i));
    let n_telling = order.iter().filter(|&&i| n_found[i] > 0 && !says_little(i)).count();
    order.retain(|&i| n_telling < QUERIES_MIN || !says_little(i));
    order.truncate(QUERIES_MAX);
    order.sort_unstable();
    let of = |i: usize| {
        let Query { kind, text } = candidates[i].clone();
        TaskQuery { text, kind: kind.name().to_owned(), files: n_found[i] }
    };
    order.into_iter().map(of).collect()
}

/// Words that say nothing about code. Part of the version of the program: another list, other documents.
const STOPWORDS: &str = " a about above add added adding after again all also an and any are as at be because been before being below between both but by call called can cannot change changed changes could did do does doing done down each either else every few find first fix fixed for from further get gets getting give given go goes had has have having he her here how however i if in into is it its itself just know last like look make makes making may me might more most must my need needs new no nor not now of off on once one only or other our out over own please same see set sets she should since so some such sure take than that the their them then there these they this those through to too under until up use used uses using very via want was way we were what when where whether which while who why will with within without work working works would you your ";

/// What may be searched for a task, in the order in which it counts: phrases, error texts, paths,
/// symbols, then words in their order. With nothing but stopwords, the words themselves.
pub fn candidates(task: &str) -> Vec<Query> {
    let mut out: Vec<Query> = Vec::new();
    let mut add = |kind: Kind, text: &str| {
        let text = text.trim().chars().take(QUERY_CHARS_MAX).collect::<String>();
        let is_new = out.iter().all(|q| !q.text.eq_ignore_ascii_case(&text));
        if !text.is_empty() && is_new && out.len() < CANDIDATES_MAX {
            out.push(Query { kind, text });
        }
    };
    phrases(task).into_iter().for_each(|p| add(Kind::Phrase, p));
    task.lines().filter_map(error_text).for_each(|e| add(Kind::Error, e));
    let words: Vec<&str> =
        task.split(|c: char| c.is_whitespace() || matches!(c, '"' | '`' | ',' | ';')).collect();
    words.iter().map(|w| bare(w)).filter(|w| is_path(w)).for_each(|w| add(Kind::Path, w));
    words.iter().map(|w| bare(w)).filter(|w| is_symbol(w) && !is_path(w)).for_each(|w| {
        add(Kind::Symbol, w.trim_end_matches("()").rsplit('.').next().unwrap_or(w));
    });
    let terms =
        || words.iter().map(|w| bare(w)).filter(|w| !is_path(w) && !is_symbol(w)).flat_map(|w| w.split('-'));
    terms().filter(|w| is_term(w)).for_each(|w| add(Kind::Term, w));
    if out.is_empty() {
        let any = |w: &&str| w.chars().count() >= TERM_CHARS_MIN && w.chars().all(char::is_alphanumeric);
        let words = task.split_whitespace().map(bare).filter(any);
        let mut words: Vec<Query> =
            words.map(|word| Query { kind: Kind::Term, text: word.to_owned() }).collect();
        words.dedup();
        words.truncate(3);
        return words;
    }
    out
}

/// Phrases in quotes, those of one line and of more than one character.
fn phrases(task: &str) -> Vec<&str> {
    let mut out = Vec::new();
    for line in task.lines() {
        out.extend(in_single_quotes(line));
        for quote in ['"', '`', '“'] {
            let close = if quote == '“' { '”' } else { quote };
            let mut rest = line;
            while let Some((_, behind)) = rest.split_once(quote) {
                let Some((inside, after)) = behind.split_once(close) else { break };
                if inside.trim().chars().count() > 1 {
                    out.push(inside);
                }
                rest = after;
            }
        }
    }
    out
}

/// Phrases of several words in single quotes, which stand apart from letters: no apostrophes.
fn in_single_quotes(line: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = line;
    while let Some(open) = rest.find('\'') {
        let (before, behind) = (&rest[..open], &rest[open + 1..]);
        let close = behind
            .match_indices('\'')
            .map(|(i, _)| i)
            .find(|&i| !behind[i + 1..].starts_with(char::is_alphanumeric));
        rest = behind;
        if before.ends_with(char::is_alphanumeric) {
            continue;
        }
        let Some(close) = close else { break };
        if behind[..close].trim().contains(' ') {
            out.push(&behind[..close]);
            rest = &behind[close + 1..];
        }
    }
    out
}

/// The message of a line that reports an error: what stands behind `Error: `, `panic: ` and the like,
/// without a number or a place at its end.
fn error_text(line: &str) -> Option<&str> {
    const MARKS: [&str; 7] =
        ["Error: ", "error: ", "Exception: ", "panic: ", "fatal: ", "Warning: ", "failed: "];
    let at = MARKS.iter().filter_map(|m| line.rfind(m).map(|i| i + m.len())).max()?;
    let text = line[at..].split(['"', '\'', '`', '{', '%']).next()?.trim();
    let text = text.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ':' | ' ' | '('));
    (text.chars().count() >= 6).then_some(text)
}

/// A word without the punctuation around it.
fn bare(word: &str) -> &str {
    let word = word.trim_matches(['(', '[', '{', '<', '\'', '*', '?', '!']);
    let word = word.trim_end_matches(['.', ':', ']', '}', '>']);
    if word.ends_with("()") { word } else { word.trim_end_matches(')') }
}

fn is_path(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    let extension = name.rsplit_once('.').map(|(stem, e)| !stem.is_empty() && is_extension(e));
    !word.contains("://") && extension == Some(true)
}

fn is_extension(text: &str) -> bool {
    const KNOWN: &str = " go py pyi js ts tsx jsx rs java c h cc cpp hpp cs rb php kt swift scala sh lua proto sql md rst txt toml yaml yml json ini cfg html css vue svelte mod tf ";
    KNOWN.contains(&format!(" {text} "))
}

fn is_symbol(word: &str) -> bool {
    let core = word.trim_end_matches("()");
    let is_name = core.split('.').all(|part| {
        part.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    });
    let has_hump = core.as_bytes().windows(2).any(|w| w[0].is_ascii_lowercase() && w[1].is_ascii_uppercase());
    let is_abbreviation = matches!(core, "e.g" | "i.e");
    is_name
        && !is_abbreviation
        && (core.contains('_') || core.contains('.') || has_hump || word.ends_with("()"))
}

fn is_term(word: &str) -> bool {
    let folded = word.to_lowercase();
    word.chars().count() >= TERM_CHARS_MIN
        && word.chars().any(char::is_alphabetic)
        && word.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !STOPWORDS.contains(&format!(" {folded} "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Kind::{Error, Path, Phrase, Symbol, Term};

    fn check(task: &str, expect: &[(Kind, &str)]) {
        let found = candidates(task);
        let found: Vec<(Kind, &str)> = found.iter().map(|q| (q.kind, q.text.as_str())).collect();
        assert_eq!(found, expect, "{task}");
    }

    #[test]
    fn a_task_is_split_by_kind() {
        check("fix the retry delay of the client", &[(Term, "retry"), (Term, "delay"), (Term, "client")]);
        check(
            "why does \"too many redirects\" come from Client.send() in net/retry.go?",
            &[
                (Phrase, "too many redirects"),
                (Path, "net/retry.go"),
                (Symbol, "send"),
                (Term, "many"),
                (Term, "redirects"),
                (Term, "come"),
            ],
        );
        check(
            "panic: lease not found: 17\nin server",
            &[
                (Error, "lease not found"),
                (Term, "panic"),
                (Term, "lease"),
                (Term, "found"),
                (Term, "server"),
            ],
        );
        assert_eq!(candidates("it's 'no such lease', isn't it")[0].text, "no such lease");
        check("parse_header and readBody", &[(Symbol, "parse_header"), (Symbol, "readBody")]);
    }

    #[test]
    fn stopwords_alone_are_searched_as_they_are() {
        check("how does this work", &[(Term, "how"), (Term, "does"), (Term, "this")]);
        check("", &[]);
        check("?! ...", &[]);
    }

    #[test]
    fn candidates_are_bounded() {
        let long: String = (0..100).map(|i| format!("word{i} ")).collect();
        assert_eq!(candidates(&long).len(), CANDIDATES_MAX);
    }

    #[test]
    fn at_most_six_queries_are_asked_rare_ones_first() {
        let all = candidates("alpha beta gamma delta epsilon zeta eta theta");
        let texts = |n_found: &[usize]| -> Vec<String> {
            choose(&all, n_found, 40).into_iter().map(|q| q.text).collect()
        };
        assert_eq!(texts(&[1, 2, 3, 4, 5, 6, 7, 8]), ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"]);
        assert_eq!(texts(&[0, 0, 3, 4, 5, 6, 7, 8]), ["gamma", "delta", "epsilon", "zeta", "eta", "theta"]);
        assert_eq!(texts(&[30, 2, 3, 4, 0, 0, 0, 0]).len(), 6, "words of most files go, others stay");
        assert!(!texts(&[30, 2, 3, 4, 0, 0, 0, 0]).contains(&"alpha".to_owned()));
    }
}
