//! Cuts a file into chunks, given the places of its definitions.
//!
//! Every language names its [`Piece`]s: spans that must be chunks of their own. A piece may be inside another
//! (a method in a class): it is cut out, and the rest of the outer one becomes the parts of the outer one.
//! Everything between pieces is joined into [`ChunkKind::Between`]. Chunks are whole lines, in order, do not
//! overlap, and cover every line that is not blank.

use indexd_model::limits::{CHUNK_BYTES_MAX, CHUNK_BYTES_MIN};
use indexd_model::{Chunk, ChunkKind, DefIdx, LineIndex, Lines, Span};

/// A span that is a chunk of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Its bytes; the chunk takes the whole lines they touch.
    pub span: Span,
    /// The definition it belongs to; `NONE` for pieces that define nothing.
    pub def: DefIdx,
    /// Kind of its chunks.
    pub kind: ChunkKind,
}

/// Nobody owns this line.
const BETWEEN: u32 = u32::MAX;

/// Cuts `text` into chunks of at most [`CHUNK_BYTES_MAX`] bytes (a longer single line stays whole).
///
/// Pieces may come in any order; they must nest or be disjoint. Where two disjoint pieces share a
/// line, the first one has it; a piece inside another never takes the other's first line. A piece
/// left without a line has no chunk. `between` is the kind of the text between pieces.
pub fn assemble(text: &str, lines: &LineIndex, pieces: &[Piece], between: ChunkKind) -> Vec<Chunk> {
    let mut sorted: Vec<Piece> = pieces.iter().copied().filter(|p| !p.span.is_empty()).collect();
    sorted.sort_by_key(|p| (p.span.start, std::cmp::Reverse(p.span.end)));
    let owners = owners(lines, &sorted);
    let mut out = Vec::new();
    let mut cut = Cutter { text, lines, parts: Vec::new() };
    let mut n_parts = vec![0u16; sorted.len()];
    let mut line = 1;
    while line <= lines.count() {
        let owner = owners[line as usize - 1];
        let mut end = line;
        while end < lines.count() && owners[end as usize] == owner {
            end += 1;
        }
        cut.run(Lines { start: line, end }, owner == BETWEEN);
        let n_run = cut.parts.len().min(usize::from(u16::MAX)) as u16;
        for (i, part) in cut.parts.drain(..).enumerate() {
            let (def, kind, part_idx) = match sorted.get(owner as usize) {
                Some(p) => {
                    let n = &mut n_parts[owner as usize];
                    *n = n.saturating_add(1);
                    (p.def, p.kind, *n - 1)
                }
                None => (DefIdx::NONE, between, i.min(usize::from(u16::MAX)) as u16),
            };
            // Owned parts are counted when all of them are known.
            let n_parts = if owner == BETWEEN { n_run } else { 0 };
            let chunk =
                Chunk { span: lines.lines_span(part), lines: part, def, kind, part: part_idx, n_parts };
            out.push((owner, chunk));
        }
        line = end + 1;
    }
    out.into_iter()
        .map(|(owner, mut chunk)| {
            if let Some(n) = n_parts.get(owner as usize) {
                chunk.n_parts = *n;
            }
            chunk
        })
        .collect()
}

/// Cuts a file of code: `pieces`, the comments at its top, and the text between, whose chunks are named by the spans
/// of `idle`.
pub fn of_code(text: &str, lines: &LineIndex, mut pieces: Vec<Piece>, idle: &[Idle]) -> Vec<Chunk> {
    pieces.extend(header(text, lines, idle));
    let mut chunks = assemble(text, lines, &pieces, ChunkKind::Between);
    name_idle(text, idle, &mut chunks);
    chunks
}

/// A span between definitions that does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idle {
    /// Its bytes.
    pub span: Span,
    /// The kind of the span.
    pub is: IdleKind,
}

/// Kind of a span that does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum IdleKind {
    /// A comment.
    Comment,
    /// The doc of a module, a package clause, `pass`.
    Doc,
    /// An import or a list of exported names.
    Import,
}

/// The comments at the top of a file that blank lines set apart from what follows, as a piece: a
/// licence is neither the doc of the module nor a part of its imports. `idle` is in order.
fn header(text: &str, lines: &LineIndex, idle: &[Idle]) -> Option<Piece> {
    let (mut at, mut end) = (0, None);
    for i in idle.iter().take_while(|i| i.is == IdleKind::Comment) {
        if !is_blank(text, at, i.span.start) {
            break;
        }
        at = i.span.end;
        let next = lines.line(i.span.end.saturating_sub(1)) + 1;
        if next < lines.count() && is_blank(text, lines.span(next).start, lines.span(next).end) {
            end = Some(i.span.end);
        }
    }
    let span = Span { start: idle.first()?.span.start, end: end? };
    Some(Piece { span, def: DefIdx::NONE, kind: ChunkKind::Comment })
}

/// Sets the kind of chunks between definitions that hold only spans of `idle`, in order:
/// [`ChunkKind::Imports`] with an import, else [`ChunkKind::Comment`].
fn name_idle(text: &str, idle: &[Idle], chunks: &mut [Chunk]) {
    for chunk in chunks.iter_mut().filter(|c| c.kind == ChunkKind::Between) {
        let first = idle.partition_point(|i| i.span.end <= chunk.span.start);
        let inside = idle[first..].iter().take_while(|i| i.span.start < chunk.span.end);
        let (mut at, mut is_import, mut is_idle) = (chunk.span.start, false, true);
        for i in inside {
            is_idle &= is_blank(text, at, i.span.start);
            is_import |= i.is == IdleKind::Import;
            at = at.max(i.span.end);
        }
        if is_idle && at > chunk.span.start && is_blank(text, at, chunk.span.end) {
            chunk.kind = if is_import { ChunkKind::Imports } else { ChunkKind::Comment };
        }
    }
}

/// Returns true if there is nothing between two bytes; semicolons end statements.
fn is_blank(text: &str, from: u32, to: u32) -> bool {
    let between = text.as_bytes().get(from as usize..to as usize).unwrap_or(&[]);
    between.iter().all(|b| b.is_ascii_whitespace() || *b == b';')
}

/// The piece that owns each line, by position in `sorted`.
fn owners(lines: &LineIndex, sorted: &[Piece]) -> Vec<u32> {
    let mut owners = vec![BETWEEN; lines.count() as usize];
    // The pieces around the current one: (its end, its first line).
    let mut around: Vec<(u32, u32)> = Vec::new();
    // The first line that no piece before has.
    let mut free = 1;
    for (i, p) in sorted.iter().enumerate() {
        while around.last().is_some_and(|o| o.0 <= p.span.start) {
            around.pop();
        }
        let at = lines.lines(p.span);
        let start = match around.last() {
            Some(outer) => at.start.max(outer.1 + 1),
            None => at.start,
        };
        let start = start.max(free);
        // An inner piece ends with the outer one at the latest.
        let end_byte = around.last().map_or(p.span.end, |o| o.0.min(p.span.end));
        let end = at.end.min(lines.line(end_byte.saturating_sub(1)));
        for l in start..=end {
            owners[l as usize - 1] = i as u32;
        }
        let has_inner = sorted.get(i + 1).is_some_and(|n| n.span.start < p.span.end);
        if has_inner {
            around.push((end_byte, start));
        } else {
            free = free.max(end + 1);
        }
    }
    owners
}

/// Cuts runs of lines into parts.
struct Cutter<'a> {
    text: &'a str,
    lines: &'a LineIndex,
    parts: Vec<Lines>,
}

impl Cutter<'_> {
    /// Cuts `run` without its outer blank lines; text between definitions is also cut at blank lines once it
    /// is long enough for a chunk.
    fn run(&mut self, run: Lines, at_blank: bool) {
        let mut start = run.start;
        let mut last_blank = None;
        let mut line = run.start;
        while line <= run.end {
            if self.is_blank(line) {
                if start == line {
                    start = line + 1;
                } else if at_blank && self.n_bytes(start, line - 1) >= CHUNK_BYTES_MIN {
                    self.push(start, line - 1);
                    start = line + 1;
                } else {
                    last_blank = Some(line);
                }
            } else if start < line && self.n_bytes(start, line) > CHUNK_BYTES_MAX {
                // A blank line in the second half is a better place than the middle of a block.
                let cut = last_blank.filter(|b| *b > start && 2 * self.n_bytes(start, *b) > CHUNK_BYTES_MAX);
                let end = cut.unwrap_or(line - 1);
                self.push(start, end);
                start = end + 1;
                last_blank = None;
                line = end;
            }
            line += 1;
        }
        if start <= run.end {
            self.push(start, run.end);
        }
        self.join_small_tail(at_blank);
    }

    /// Joins a last part that is too small for a chunk with the one before.
    fn join_small_tail(&mut self, at_blank: bool) {
        if let [.., a, b] = self.parts[..]
            && at_blank
            && self.n_bytes(b.start, b.end) < CHUNK_BYTES_MIN
            && self.n_bytes(a.start, b.end) <= CHUNK_BYTES_MAX
        {
            self.parts.pop();
            self.parts.pop();
            self.parts.push(Lines { start: a.start, end: b.end });
        }
    }

    fn push(&mut self, start: u32, mut end: u32) {
        while end > start && self.is_blank(end) {
            end -= 1;
        }
        self.parts.push(Lines { start, end });
    }

    fn n_bytes(&self, start: u32, end: u32) -> usize {
        self.lines.lines_span(Lines { start, end }).len() as usize
    }

    fn is_blank(&self, line: u32) -> bool {
        self.text[self.lines.span(line).range()].bytes().all(|b| b.is_ascii_whitespace())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn chunks(text: &str, pieces: &[(u32, u32)]) -> Vec<Chunk> {
        let pieces: Vec<Piece> = pieces
            .iter()
            .enumerate()
            .map(|(i, &(start, end))| Piece {
                span: Span::new(start, end),
                def: DefIdx(i as u32),
                kind: ChunkKind::Definition,
            })
            .collect();
        assemble(text, &LineIndex::new(text), &pieces, ChunkKind::Between)
    }

    /// `start-end:owner part/parts`, owner `-` between pieces.
    fn check(text: &str, pieces: &[(u32, u32)], expect: &[&str]) {
        let got: Vec<String> = chunks(text, pieces)
            .iter()
            .map(|c| {
                let owner = c.def.some().map_or("-".to_owned(), |d| d.0.to_string());
                format!("{}-{}:{owner} {}/{}", c.lines.start, c.lines.end, c.part, c.n_parts)
            })
            .collect();
        assert_eq!(got, expect, "{text:?}");
    }

    #[test]
    fn separates_definitions_from_the_text_between() {
        check("", &[], &[]);
        check("\n\n", &[], &[]);
        check("a\nb\n\nc\n", &[], &["1-4:- 0/1"]);
        check("a\nDD\nDD\n\nb\n", &[(2, 7)], &["1-1:- 0/1", "2-3:0 0/1", "5-5:- 0/1"]);
    }

    #[test]
    fn inner_pieces_are_cut_out_of_outer_ones() {
        //        0  3   7   11
        check(
            "c:\n m1\n m1\n x\n m2\n",
            &[(0, 18), (4, 11), (15, 18)],
            &["1-1:0 0/2", "2-3:1 0/1", "4-4:0 1/2", "5-5:2 0/1"],
        );
        // On one line the outer one keeps it.
        check("c: m1\n", &[(0, 5), (3, 5)], &["1-1:0 0/1"]);
    }

    #[test]
    fn the_first_of_two_pieces_on_a_line_has_it() {
        check("a; b\nb\n", &[(0, 1), (3, 6)], &["1-1:0 0/1", "2-2:1 0/1"]);
        check("a; b\n", &[(0, 1), (3, 4)], &["1-1:0 0/1"]);
    }

    #[test]
    fn long_pieces_become_parts_cut_at_a_blank_line() {
        let text = format!("{}\n{}", "x = 1\n".repeat(800), "y = 2\n".repeat(400));
        let got = chunks(&text, &[(0, text.len() as u32)]);
        assert_eq!(
            got.iter().map(|c| (c.lines.start, c.lines.end, c.part, c.n_parts)).collect::<Vec<_>>(),
            [(1, 800, 0, 2), (802, 1201, 1, 2)]
        );
    }

    #[test]
    fn paragraphs_between_are_joined_until_they_can_stand_alone() {
        let p = "x".repeat(140);
        let text = format!("{p}\n\n{p}\n\n{p}\n\n{p}\n\n{p}\n\n{p}\n\n{p}\n");
        let got: Vec<_> = chunks(&text, &[]).iter().map(|c| (c.lines.start, c.lines.end)).collect();
        assert_eq!(got, [(1, 5), (7, 13)]);
    }

    fn any_text() -> impl Strategy<Value = String> {
        let line = prop_oneof![
            3 => "[a-z ]{0,20}",
            1 => Just(String::new()),
            1 => (0usize..9_000).prop_map(|n| "z".repeat(n)),
        ];
        (proptest::collection::vec(line, 0..60), prop_oneof![Just("\n"), Just("\r\n")])
            .prop_map(|(lines, end)| lines.join(end))
    }

    proptest! {
        #[test]
        fn chunks_are_ordered_whole_lines_and_cover_what_is_not_blank(
            text in any_text(),
            cuts in proptest::collection::vec((0.0f64..1.0, 0.0f64..1.0), 0..12),
        ) {
            let index = LineIndex::new(&text);
            let n = text.len() as f64;
            let mut pieces: Vec<(u32, u32)> = Vec::new();
            for (a, b) in cuts {
                let (a, b) = ((a.min(b) * n) as u32, (a.max(b) * n) as u32);
                let fits = pieces.iter().all(|&(s, e)| b <= s || e <= a || (s <= a && b <= e) || (a <= s && e <= b));
                if fits { pieces.push((a, b)); }
            }
            let got = chunks(&text, &pieces);
            let mut covered = vec![false; index.count() as usize + 1];
            let mut next = 1;
            for c in &got {
                prop_assert!(c.lines.start >= next && c.lines.end >= c.lines.start);
                prop_assert_eq!(c.span, index.lines_span(c.lines));
                prop_assert!(c.part < c.n_parts);
                prop_assert!(c.span.len() as usize <= CHUNK_BYTES_MAX || c.lines.count() == 1);
                (c.lines.start..=c.lines.end).for_each(|l| covered[l as usize] = true);
                next = c.lines.end + 1;
            }
            for l in 1..=index.count() {
                let blank = text[index.span(l).range()].bytes().all(|b| b.is_ascii_whitespace());
                prop_assert!(covered[l as usize] || blank, "line {} is lost", l);
            }
        }
    }
}
