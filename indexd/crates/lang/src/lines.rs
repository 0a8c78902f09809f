//! Files without a structure that we read: windows of about 40 lines that end where a reader would
//! pause.

use crate::chunks::{Piece, assemble};
use crate::outline::file_entry;
use indexd_model::facts::Arena;
use indexd_model::limits::LINE_BYTES_MAX;
use indexd_model::{
    ChunkKind, DefIdx, FileFacts, FileRoles, Interface, Language, LineIndex, Lines, Outcome, RepoPath,
};

/// Lines of a window when no better place to end is near.
const WINDOW: u32 = 40;
/// Where a window may end at a blank line: between these counts of lines.
const WINDOW_MIN: u32 = 20;
const WINDOW_MAX: u32 = 56;

/// Facts of a file that is chunked by lines.
///
/// Windows end at a blank line before unindented text if there is one near, else at the last blank
/// line, else after 40 lines. Lines beyond [`LINE_BYTES_MAX`] bytes belong to no chunk: they are
/// packed data, and one of them would outweigh the rest of the index.
pub fn facts(
    path: &RepoPath,
    text: &str,
    lines: &LineIndex,
    language: Language,
    outcome: Outcome,
    roles: FileRoles,
) -> FileFacts {
    let mut interface = Interface::empty(language, outcome, roles);
    interface.entries = vec![file_entry(path)];
    let mut chunks = assemble(text, lines, &windows(text, lines), ChunkKind::Lines);
    chunks.retain(|c| c.span.len() as usize <= LINE_BYTES_MAX);
    FileFacts { interface, body: Arena::default(), chunks }
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

    fn check(text: &str, expect: &[(u32, u32)]) {
        let path = RepoPath::new("a.txt").unwrap();
        let facts = facts(
            &path,
            text,
            &LineIndex::new(text),
            Language::Text,
            Outcome::TextOnly,
            FileRoles::default(),
        );
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
    fn packed_lines_have_no_chunk() {
        check(&format!("a\n{}\nb\n", "x".repeat(LINE_BYTES_MAX + 1)), &[(1, 1), (3, 3)]);
    }
}
