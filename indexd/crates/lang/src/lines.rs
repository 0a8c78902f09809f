//! Files without a structure that we read: windows of about 40 lines that end where a reader would
//! pause.

use crate::Input;
use crate::chunks::{Piece, assemble};
use crate::outline::file_entry;
use indexd_model::facts::Arena;
use indexd_model::limits::{CHUNK_BYTES_MAX, LINE_BYTES_MAX};
use indexd_model::{Chunk, ChunkKind, DefIdx, FileFacts, Interface, LineIndex, Lines, Outcome, Span};

/// Lines of a window when no better place to end is near.
const WINDOW: u32 = 40;
/// A window may end at a blank line between these counts of lines.
const WINDOW_MIN: u32 = 20;
const WINDOW_MAX: u32 = 56;

/// Facts of a file that is chunked by lines.
///
/// Windows end at a blank line before unindented text if there is one near, else at the last blank
/// line, else after 40 lines. Lines beyond [`LINE_BYTES_MAX`] bytes are packed data: they are cut in pieces
/// of at most [`CHUNK_BYTES_MAX`] bytes, the only chunks that do not hold whole lines.
pub fn facts(input: Input, outcome: Outcome) -> FileFacts {
    let Input { path, text, lines, language, roles } = input;
    let mut interface = Interface::empty(language, outcome, roles);
    interface.entries = vec![file_entry(path)];
    let chunks = assemble(text, lines, &windows(text, lines), ChunkKind::Lines);
    let chunks = chunks.into_iter().flat_map(|c| pieces(text, c)).collect();
    FileFacts { interface, body: Arena::default(), chunks }
}

/// A chunk, or the pieces of one that is a single packed line.
fn pieces(text: &str, whole: Chunk) -> Vec<Chunk> {
    if text[whole.span.range()].trim_end_matches(['\n', '\r']).len() <= LINE_BYTES_MAX {
        return vec![whole];
    }
    let mut out = Vec::new();
    let mut start = whole.span.start;
    while start < whole.span.end {
        let end = end_of_piece(text, start as usize, whole.span.end as usize) as u32;
        let part = out.len().min(usize::from(u16::MAX)) as u16;
        out.push(Chunk { span: Span { start, end }, part, ..whole });
        start = end;
    }
    let n_parts = out.len().min(usize::from(u16::MAX)) as u16;
    out.iter_mut().for_each(|c| c.n_parts = n_parts);
    out
}

/// Returns the end of a piece of a line: behind a sign that ends a statement or member or at a blank, in its
/// second half, else where it is full; never within a character.
fn end_of_piece(text: &str, start: usize, limit: usize) -> usize {
    if limit - start <= CHUNK_BYTES_MAX {
        return limit;
    }
    let full = (0..=CHUNK_BYTES_MAX).rev().map(|n| start + n).find(|at| text.is_char_boundary(*at));
    let full = full.unwrap_or(limit);
    let half = start + CHUNK_BYTES_MAX / 2;
    let last = |signs: &[u8]| text.as_bytes()[half..full].iter().rposition(|b| signs.contains(b));
    last(b";}>").or_else(|| last(b", ")).map_or(full, |at| half + at + 1)
}

fn windows(text: &str, lines: &LineIndex) -> Vec<Piece> {
    let blank = |line: u32| text[lines.span(line).range()].bytes().all(|b| b.is_ascii_whitespace());
    let indented = |line: u32| text[lines.span(line).range()].starts_with([' ', '\t', '}', ')']);
    let n_lines = lines.count();
    let mut pieces = Vec::new();
    let mut start = 1;
    while start <= n_lines {
        let latest = (start + WINDOW_MAX - 1).min(n_lines);
        let end = if latest == n_lines {
            n_lines
        } else {
            let pauses = (start + WINDOW_MIN - 1..=latest).filter(|l| blank(*l));
            let mut best: Option<(u32, bool)> = None;
            for pause in pauses {
                let is_top = !indented(pause + 1);
                // The latest pause before unindented text wins, else the latest one.
                if is_top || best.is_none_or(|(_, top)| !top) {
                    best = Some((pause, is_top));
                }
            }
            best.map_or(start + WINDOW - 1, |(pause, _)| pause)
        };
        let span = lines.lines_span(Lines { start, end });
        pieces.push(Piece { span, def: DefIdx::NONE, kind: ChunkKind::Lines });
        start = end + 1;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use indexd_model::RepoPath;

    fn check(text: &str, expect: &[(u32, u32)]) {
        let path = RepoPath::new("a.txt").unwrap();
        let facts = facts(Input::plain(&path, text, &LineIndex::new(text)), Outcome::TextOnly);
        let got: Vec<_> = facts.chunks.iter().map(|c| (c.lines.start, c.lines.end)).collect();
        assert_eq!(got, expect);
    }

    #[test]
    fn windows_end_at_a_pause() {
        check("", &[]);
        check("one\n", &[(1, 1)]);
        check(&"x\n".repeat(100), &[(1, 40), (41, 80), (81, 100)]);
        // A blank line before unindented text beats a later one inside a block.
        let block = format!(
            "f {{\n{}}}\n\ng {{\n{}\n{}}}\n",
            "  x\n".repeat(25),
            "  y\n".repeat(15),
            "  z\n".repeat(20)
        );
        check(&block, &[(1, 27), (29, 66)]);
    }

    #[test]
    fn a_packed_line_is_cut_in_pieces() {
        let text = |line: &str| format!("a\n{line}\nb\n");
        check(&text(&"x".repeat(LINE_BYTES_MAX)), &[(1, 1), (2, 2), (3, 3)]);
        check(&text(&"x".repeat(LINE_BYTES_MAX + 1)), &[(1, 1), (2, 2), (2, 2), (2, 2), (2, 2), (3, 3)]);
    }

    #[test]
    fn pieces_end_where_statements_do_and_cover_the_line() {
        for line in ["var a=1;".repeat(4_000), "ä".repeat(15_000), "a,b c".repeat(9_000)] {
            let whole = Chunk {
                span: Span { start: 0, end: line.len() as u32 },
                lines: Lines { start: 1, end: 1 },
                def: DefIdx::NONE,
                kind: ChunkKind::Lines,
                part: 0,
                n_parts: 1,
            };
            let got = pieces(&line, whole);
            let texts: Vec<&str> = got.iter().map(|c| &line[c.span.range()]).collect();
            assert_eq!(texts.concat(), line);
            assert!(texts.iter().all(|t| t.len() <= CHUNK_BYTES_MAX));
            assert!(
                got.iter()
                    .enumerate()
                    .all(|(i, c)| usize::from(c.part) == i && usize::from(c.n_parts) == got.len())
            );
            let ends_well = texts[..texts.len() - 1].iter().all(|t| t.ends_with([';', ',', ' ', 'ä']));
            assert!(ends_well, "{:?}", texts.iter().map(|t| t.chars().last()).collect::<Vec<_>>());
        }
    }
}
