//! `grep`: every line of the indexed text that matches, with what it is and where it stands.
//!
//! [`pattern`] reads the expressions, [`scan`] finds the lines, [`order`] chooses those that are looked at,
//! [`roles`] says what a place is, [`text`] writes the answer for readers of tokens.

mod order;
pub mod pattern;
pub mod roles;
pub mod scan;
pub mod text;

use crate::server::backend::Cancel;
use grep_matcher::Matcher as _;
use ignore::overrides::OverrideBuilder;
use ignore::types::TypesBuilder;
use indexd_model::view::{CONFIDENCE_CERTAIN, DefRecord};
use indexd_model::{DefDoc, DefIdx, FactsView as _, FileDoc, IndexView as _, LineIndex, Span};
use indexd_pack::pack::line_range;
use indexd_proto::error::ErrorObject;
use indexd_proto::grep::{GrepFile, GrepLine, GrepParams, GrepResult, GrepRole, GrepScope, GrepTarget};
use indexd_proto::limits::{GREP_CONTEXT_MAX, GREP_LINES_MAX};
use indexd_store::Snapshot;
use indexd_text::TokenCounter;
use pattern::{How, Pattern};
use roles::{Places, overlap};
use rustc_hash::FxHashSet;
use scan::{Found, Line};

/// Lines whose roles are looked for in an answer that asks for no certain ones.
const CLASSIFIED_MAX: usize = 3_000;
/// Lines that are looked at for a text; more where its tokens hold more.
const LOOKED_MAX: usize = 1_000;
/// Lines among which those of a text are chosen, by path and number: 20 MB.
const KEPT_MAX: u64 = 1 << 20;
/// Bytes of code that are parsed to tell strings and comments, for one answer.
const PARSED_BYTES_MAX: usize = 8 << 20;
/// The same for a text, of which few lines are shown.
const TEXT_PARSED_BYTES_MAX: usize = 2 << 20;
/// Bytes of a line that are shown.
const LINE_BYTES_MAX: usize = 400;
/// Matches of a line that are looked at.
const MATCHES_MAX: usize = 8;

/// Searches a state of the index. Paths are those of the index already; the answer has no
/// envelope.
///
/// # Errors
/// `POC_E_INVALID_REQUEST`, `POC_E_CANCELLED`, or what [`scan::scan`] says.
pub fn grep(
    snapshot: &Snapshot,
    p: &GrepParams,
    counter: &dyn TokenCounter,
    cancel: &Cancel,
) -> Result<GrepResult, ErrorObject> {
    check(p)?;
    let how = How { fixed: p.fixed, ignore_case: p.ignore_case, word: p.word };
    let pattern = Pattern::new(&p.patterns, how)?;
    let mut files = snapshot.files_that_may_hold(&pattern.need);
    let chosen = Chosen::new(p)?;
    files.retain(|f| chosen.has(&snapshot.path(*f)));
    let chooses = !p.roles.is_empty() || p.tests.is_some();
    let most = u64::from(p.limit.unwrap_or(GREP_LINES_MAX));
    let range = match (p.count, chooses, p.max_tokens) {
        (true, false, _) => (0, 0),
        (_, true, _) => (0, u64::MAX),
        (_, _, Some(_)) => (0, KEPT_MAX),
        _ => (u64::from(p.skip), most),
    };
    let found = scan::scan(snapshot, &files, &pattern, range, cancel)?;
    let mut answer = Answer { snapshot, pattern: &pattern, params: p, parsed: 0, lines: Vec::new() };
    let mut counts: Vec<(FileDoc, u64)> = found.iter().map(|f| (f.file, f.n)).collect();
    let looked = match p.max_tokens {
        Some(max) if !chooses => order::first(snapshot, found, LOOKED_MAX.max(max as usize / 8)),
        _ => found,
    };
    answer.fill(&looked, chooses, cancel)?;
    let mut lines = answer.lines;
    if chooses {
        lines.retain(|l| chosen.is(l));
        for (file, n) in &mut counts {
            let path = snapshot.path(*file);
            let from = lines.partition_point(|l| *l.file_rel_path < *path);
            let run = &lines[from..];
            *n = run.partition_point(|l| *l.file_rel_path <= *path) as u64;
        }
        counts.retain(|(_, n)| *n > 0);
    }
    let n_lines = counts.iter().map(|(_, n)| n).sum();
    let file = |(f, n): (FileDoc, u64)| GrepFile { file_rel_path: snapshot.path(f).to_string(), n_lines: n };
    let files: Vec<GrepFile> = counts.into_iter().map(file).collect();
    let text =
        p.max_tokens.map(|max| text::text(&text::of(snapshot, &lines, &files, p, &pattern), max, counter));
    if chooses || p.max_tokens.is_some() {
        lines = lines.into_iter().skip(p.skip as usize).take(most as usize).collect();
    }
    if p.count {
        lines.clear();
    }
    Ok(GrepResult { files, lines, n_lines, text, ..GrepResult::default() })
}

fn check(p: &GrepParams) -> Result<(), ErrorObject> {
    let invalid = |said: String| Err(ErrorObject::invalid(said));
    if p.before.max(p.after) > GREP_CONTEXT_MAX {
        return invalid(format!("context must be at most {GREP_CONTEXT_MAX} lines"));
    }
    if p.limit.is_some_and(|n| !(1..=GREP_LINES_MAX).contains(&n)) {
        return invalid(format!("limit must be 1 to {GREP_LINES_MAX}"));
    }
    if p.max_tokens.is_some_and(|n| !(200..=90_000).contains(&n)) {
        return invalid("maxTokens must be 200 to 90000".to_owned());
    }
    Ok(())
}

/// The files and lines that a request asks for.
struct Chosen<'p> {
    params: &'p GrepParams,
    /// Files and folders; none for all.
    paths: FxHashSet<&'p str>,
    globs: ignore::overrides::Override,
    types: ignore::types::Types,
}

impl<'p> Chosen<'p> {
    fn new(params: &'p GrepParams) -> Result<Self, ErrorObject> {
        let invalid = |e: ignore::Error| ErrorObject::invalid(e.to_string());
        let mut globs = OverrideBuilder::new("");
        for glob in &params.globs {
            globs.add(glob).map_err(invalid)?;
        }
        let mut types = TypesBuilder::new();
        types.add_defaults();
        for kind in &params.types {
            types.select(kind);
        }
        let types = types.build().map_err(invalid)?;
        let paths = params.paths.iter().map(|p| p.trim_end_matches('/')).collect();
        Ok(Self { params, paths, globs: globs.build().map_err(invalid)?, types })
    }

    fn has(&self, path: &str) -> bool {
        let mut around = memchr::memchr_iter(b'/', path.as_bytes()).map(|at| &path[..at]);
        let is_asked = |p: &str| self.paths.contains(p);
        (self.paths.is_empty() || is_asked("") || is_asked(path) || around.any(is_asked))
            && !self.globs.matched(path, false).is_ignore()
            && !self.types.matched(path, false).is_ignore()
    }

    fn is(&self, line: &GrepLine) -> bool {
        (self.params.roles.is_empty() || line.role.is_some_and(|r| self.params.roles.contains(&r)))
            && self.params.tests.is_none_or(|tests| tests == line.test)
    }
}

/// Lines on their way into an answer.
struct Answer<'a> {
    snapshot: &'a Snapshot,
    pattern: &'a Pattern,
    params: &'a GrepParams,
    /// Bytes of text parsed so far.
    parsed: usize,
    lines: Vec<GrepLine>,
}

impl Answer<'_> {
    /// Makes lines of what was found; with `all` every one gets a role.
    fn fill(&mut self, found: &[Found], all: bool, cancel: &Cancel) -> Result<(), ErrorObject> {
        let mut n_classified = 0;
        for found in found.iter().filter(|f| !f.lines.is_empty()) {
            cancel.check()?;
            if self.params.plain {
                let text = self.snapshot.text(found.file);
                let path = self.snapshot.path(found.file);
                let lines = found.lines.iter().map(|l| self.plain(&path, &text, *l));
                let lines: Vec<GrepLine> = lines.collect();
                self.lines.extend(lines);
                continue;
            }
            let is_full = !all && n_classified >= CLASSIFIED_MAX;
            n_classified += found.lines.len();
            self.file(found, is_full, all);
        }
        Ok(())
    }

    /// The lines of one file; of many files the later ones only say which lines define.
    fn file(&mut self, found: &Found, is_full: bool, all: bool) {
        let mut places = Places::of(self.snapshot, found.file);
        let path = self.snapshot.path(found.file);
        let text = places.text.clone();
        let first = self.lines.len();
        let mut open = Vec::new();
        for line in &found.lines {
            let mut out = self.plain(&path, &text, *line);
            let matches = self.matches(&text, *line);
            let around = places.defs.around(matches.first().map_or(line.start, |m| m.start));
            self.place(&mut out, &places, &around);
            if matches.iter().any(|m| places.defs.defines(*m)) {
                out.role = Some(GrepRole::Def);
            } else if !is_full {
                self.use_of(&mut out, &mut places, &matches, &around);
                if out.role.is_none() {
                    open.push((self.lines.len(), matches));
                }
            }
            self.lines.push(out);
        }
        self.quiet(&places, &open, all);
        for line in self.lines[first..].iter_mut().filter(|_| !is_full) {
            line.role.get_or_insert(GrepRole::Unknown);
        }
    }

    /// Strings and comments among the lines that nothing else tells of, each in the definition around it.
    fn quiet(&mut self, places: &Places, open: &[(usize, Vec<Span>)], all: bool) {
        let is_text = self.params.max_tokens.is_some();
        let most = if is_text { TEXT_PARSED_BYTES_MAX } else { PARSED_BYTES_MAX };
        let mut rest = open;
        while let Some((_, first)) = rest.first() {
            let piece = places.piece(first.first().map_or(0, |m| m.start));
            let n = rest.partition_point(|(_, m)| m.last().is_none_or(|m| m.end <= piece.end));
            let (these, others) = rest.split_at(n.max(1));
            rest = others;
            if !all && self.parsed >= most {
                return;
            }
            self.parsed += piece.len() as usize;
            let within = |m: &&Span| piece.start <= m.start && m.end <= piece.end;
            let parts: Vec<Span> = these.iter().flat_map(|(_, m)| m.iter().filter(within)).copied().collect();
            let quiet = places.quiet_in(piece, &parts);
            // The pieces are in order, and none overlaps another.
            let at = |m: &Span| {
                let at = quiet.partition_point(|(s, _)| s.end <= m.start);
                quiet.get(at).filter(|(s, _)| overlap(*s, *m)).map(|_| at)
            };
            for (i, matches) in these {
                self.lines[*i].role = matches.iter().filter_map(at).min().map(|at| quiet[at].1);
            }
        }
    }

    fn plain(&self, path: &str, text: &str, line: Line) -> GrepLine {
        let whole = &text[line.start as usize..line.end as usize];
        let at = self.pattern.matcher.find(whole.as_bytes()).ok().flatten().map_or(0, |m| m.start());
        let (before, after) = self.context(text, line);
        GrepLine {
            file_rel_path: path.to_owned(),
            line: line.number,
            column: at as u32 + 1,
            text: shown(whole, at),
            role: None,
            test: false,
            within: None,
            target: None,
            before,
            after,
        }
    }

    fn context(&self, text: &str, line: Line) -> (Vec<String>, Vec<String>) {
        let (n_before, n_after) = (self.params.before as usize, self.params.after as usize);
        let said = |l: &str| shown(l.strip_suffix('\n').unwrap_or(l), 0);
        let before = text[..line.start as usize].split_inclusive('\n').rev();
        let mut before: Vec<String> = before.take(n_before).map(said).collect();
        before.reverse();
        let after = text[line.end as usize..].strip_prefix('\n').unwrap_or("");
        (before, after.split_inclusive('\n').take(n_after).map(said).collect())
    }

    fn matches(&self, text: &str, line: Line) -> Vec<Span> {
        let whole = &text.as_bytes()[line.start as usize..line.end as usize];
        let mut out = Vec::new();
        let found = self.pattern.matcher.find_iter(whole, |m| {
            out.push(Span { start: line.start + m.start() as u32, end: line.start + m.end() as u32 });
            out.len() < MATCHES_MAX
        });
        if found.is_err() { Vec::new() } else { out }
    }

    fn place(&self, out: &mut GrepLine, places: &Places, around: &[DefIdx]) {
        out.test = places.defs.is_test(around);
        let records: Vec<DefRecord> = around.iter().map(|d| places.record(*d)).collect();
        // An attribute that a function assigns is a line of the function.
        let is_in_function = records.iter().any(|r| r.kind.is_callable());
        let is_told = |r: &&DefRecord| !is_in_function || r.kind.is_callable() || r.kind.is_type();
        let named = records.iter().rev().filter(is_told).find(|r| !r.name.is_empty());
        out.within = named.map(|r| GrepScope { name: r.qualified.to_string(), lines: line_range(r.lines) });
    }

    /// The role and the target of a line by its edges, imports and locals.
    fn use_of(&self, out: &mut GrepLine, places: &mut Places, matches: &[Span], around: &[DefIdx]) {
        let mut uses: Vec<_> = matches.iter().flat_map(|m| places.uses(*m, around)).collect();
        uses.sort_by_key(|u| (u.role, std::cmp::Reverse(u.confidence)));
        if let Some(best) = uses.first() {
            out.role = Some(best.role);
            out.target = best
                .target
                .some()
                .filter(|_| best.confidence >= CONFIDENCE_CERTAIN)
                .and_then(|d| self.target(d));
        } else if matches.iter().any(|m| places.import(*m).is_some()) {
            out.role = Some(GrepRole::Import);
        } else if matches.iter().any(|m| places.is_local(*m)) {
            out.role = Some(GrepRole::Ref);
        }
    }

    /// What a use names, where its name alone does not say it.
    fn target(&self, def: DefDoc) -> Option<GrepTarget> {
        let record = self.snapshot.def(def);
        if record.idx == DefIdx::NONE || self.snapshot.defs_named(&record.name).len() < 2 {
            return None;
        }
        Some(GrepTarget {
            name: record.qualified.to_string(),
            file_rel_path: self.snapshot.path(record.file).to_string(),
            line: record.name_line,
        })
    }
}

/// A line, or of a long one the part around `at`, without the mark of a line end.
fn shown(line: &str, at: usize) -> String {
    let line = line.strip_suffix('\r').unwrap_or(line);
    if line.len() <= LINE_BYTES_MAX {
        return line.to_owned();
    }
    let mut from = at.saturating_sub(LINE_BYTES_MAX / 3).min(line.len());
    while !line.is_char_boundary(from) {
        from -= 1;
    }
    let mut to = (from + LINE_BYTES_MAX).min(line.len());
    while !line.is_char_boundary(to) {
        to -= 1;
    }
    let (left, right) = (if from > 0 { "…" } else { "" }, if to < line.len() { "…" } else { "" });
    format!("{left}{}{right}", &line[from..to])
}

/// The lines of a file where a name stands as a word of its own, with the offsets, in order.
pub fn words_in(text: &str, name: &str) -> Vec<u32> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let begins = name.chars().next().is_some_and(is_word);
    let ends = name.chars().next_back().is_some_and(is_word);
    let found = memchr::memmem::find_iter(text.as_bytes(), name.as_bytes());
    let is_whole = |at: &usize| {
        let before = text[..*at].chars().next_back().is_some_and(is_word);
        let after = text[*at + name.len()..].chars().next().is_some_and(is_word);
        !(begins && before || ends && after)
    };
    found.filter(is_whole).map(|at| at as u32).collect()
}

/// The line around a place, without blanks at its ends.
pub fn line_at(text: &str, lines: &LineIndex, at: u32) -> (u32, String) {
    let number = lines.line(at);
    // A long line in which many places are looked for is not read whole for each.
    let span = lines.span(number);
    let line = text[span.range()].trim_end_matches(['\n', '\r']);
    (number, shown(line, (at - span.start) as usize).trim().to_owned())
}
