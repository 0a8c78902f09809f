//! Lines of code for people: coloured by their syntax, wrapped to the width of the terminal.

use crate::cli::Common;
use crate::commands::Target;
use crate::session::Session;
use crate::style::{Style, safe_line};
use indexd_proto::Method;
use indexd_proto::highlight::{HighlightLine, HighlightParams, HighlightPlace, HighlightResult, PieceClass};
use indexd_proto::limits::HIGHLIGHT_PLACES_MAX;
use indexd_proto::pack::LineRange;
use indexd_proto::workspace::{Wait, WaitMode};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use unicode_width::UnicodeWidthChar as _;

/// Columns of a tab.
const TAB: usize = 4;

/// The syntax of shown lines.
#[derive(Default)]
pub struct Code {
    lines: BTreeMap<(String, u32), HighlightLine>,
}

/// The look of a piece of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// As it is.
    Plain,
    /// By its class.
    Class(PieceClass),
    /// The text that a search looks for.
    Match,
}

impl Code {
    /// Asks for the classes of lines, each given as path, first and last line. Without
    /// colours nothing is asked; without an answer the lines are plain.
    pub fn of(
        common: &Common,
        session: &mut Session,
        style: Style,
        places: impl IntoIterator<Item = (String, u32, u32)>,
    ) -> Self {
        if !style.color {
            return Self::default();
        }
        let place =
            |(file_rel_path, start, end)| HighlightPlace { file_rel_path, lines: LineRange { start, end } };
        let places: Vec<HighlightPlace> = places.into_iter().take(HIGHLIGHT_PLACES_MAX).map(place).collect();
        let Some(target) = Target::of(common).ok().filter(|_| !places.is_empty()) else {
            return Self::default();
        };
        // They were current a moment ago.
        let wait = Wait { mode: WaitMode::Stale, ..Wait::default() };
        let params = HighlightParams {
            repo: target.repo,
            cwd: target.cwd,
            places,
            wait: Some(wait),
            ..HighlightParams::default()
        };
        let answer = session.ask(Method::Highlight, &params);
        Self::from(answer.map_or_else(|_| Vec::new(), |answer: HighlightResult| answer.lines))
    }

    /// A shown line in pieces; it may be a part of the line in the file.
    pub fn pieces<'t>(&self, path: &str, line: u32, shown: &'t str) -> Vec<(Look, &'t str)> {
        let known = self.lines.get(&(path.to_owned(), line));
        let Some((known, from)) = known.and_then(|l| Some((l, l.text.find(shown)?))) else {
            return vec![(Look::Plain, shown)];
        };
        let mut out = Vec::new();
        let mut at = 0;
        for piece in &known.pieces {
            let start = (piece.start as usize).saturating_sub(from).max(at);
            let end = (piece.end as usize).saturating_sub(from).min(shown.len());
            let (Some(before), Some(own)) = (shown.get(at..start), shown.get(start..end)) else { continue };
            out.push((Look::Plain, before));
            out.push((Look::Class(piece.class), own));
            at = end;
        }
        out.push((Look::Plain, shown.get(at..).unwrap_or("")));
        out.retain(|(_, text)| !text.is_empty());
        out
    }

    /// A line of code on as many lines as it takes in `width` columns, with tabs as spaces.
    pub fn lines(&self, path: &str, line: u32, shown: &str, width: usize, style: Style) -> Vec<String> {
        wrap(&self.pieces(path, line, shown), width, style)
    }

    /// A line of code on one line; the rest is cut off.
    pub fn one_line(&self, path: &str, line: u32, shown: &str, width: usize, style: Style) -> String {
        let short = cut(shown, width);
        let is_cut = short.len() < shown.len();
        let mut lines = wrap(&self.pieces(path, line, &short), usize::MAX, style);
        let text = lines.pop().unwrap_or_default();
        if is_cut { text + &style.dim("…") } else { text }
    }
}

impl From<Vec<HighlightLine>> for Code {
    fn from(lines: Vec<HighlightLine>) -> Self {
        Self { lines: lines.into_iter().map(|l| ((l.file_rel_path.clone(), l.line), l)).collect() }
    }
}

/// The beginning of a text that takes at most `width` columns, with room for a mark if it is cut.
pub fn cut(text: &str, width: usize) -> String {
    if columns_of(text) <= width {
        return text.to_owned();
    }
    let mut left = width.saturating_sub(1);
    text.chars()
        .take_while(|c| {
            let is_room = columns(*c) <= left;
            left = left.saturating_sub(columns(*c));
            is_room
        })
        .collect()
}

/// Columns of a character in a terminal; tabs take [`TAB`].
fn columns(c: char) -> usize {
    match c {
        '\t' => TAB,
        c => c.width().unwrap_or(0),
    }
}

/// Columns of a text.
pub fn columns_of(text: &str) -> usize {
    text.chars().map(columns).sum()
}

/// Columns of a text with escape sequences, which take none: those that end in `m`, and links.
pub fn columns_of_styled(text: &str) -> usize {
    let mut n = 0;
    let mut rest = text;
    while let Some(at) = rest.find('\x1b') {
        n += columns_of(&rest[..at]);
        let sequence = &rest[at..];
        let end = match sequence.as_bytes().get(1) {
            Some(b']') => sequence.find("\x1b\\").map_or(sequence.len(), |end| end + 2),
            _ => sequence.find('m').map_or(sequence.len(), |end| end + 1),
        };
        rest = &sequence[end..];
    }
    n + columns_of(rest)
}

/// Pieces on lines of at most `width` columns, broken behind a space of the last third.
pub fn wrap(pieces: &[(Look, &str)], width: usize, style: Style) -> Vec<String> {
    let mut cells: Vec<(Look, char)> = Vec::new();
    for (look, text) in pieces {
        for c in safe_line(text).chars() {
            match c {
                '\t' => cells.extend([(*look, ' '); TAB]),
                c => cells.push((*look, c)),
            }
        }
    }
    let mut out = Vec::new();
    let mut rest = &cells[..];
    loop {
        let mut left = width;
        let fits = rest.iter().take_while(|(_, c)| {
            let is_room = columns(*c) <= left;
            left = left.saturating_sub(columns(*c));
            is_room
        });
        let n = fits.count();
        if n == rest.len() {
            out.push(painted(rest, style));
            return out;
        }
        let n = n.max(1);
        let space = rest[..n].iter().rposition(|(_, c)| *c == ' ').filter(|at| *at > n * 2 / 3);
        let (line, after) = rest.split_at(space.map_or(n, |at| at + 1));
        out.push(painted(line, style));
        rest = after;
    }
}

fn painted(cells: &[(Look, char)], style: Style) -> String {
    let mut out = String::new();
    for run in cells.chunk_by(|a, b| a.0 == b.0) {
        let text: String = run.iter().map(|(_, c)| c).collect();
        out += &match run[0].0 {
            Look::Plain => text,
            Look::Class(class) => style.class(class, &text),
            Look::Match => style.matched(&text),
        };
    }
    out
}

/// Words on lines of at most `width` columns.
pub fn words(text: &str, width: usize) -> String {
    let mut out = String::new();
    fit(&mut out, &text.split_whitespace().collect::<Vec<_>>().join(" "), width, 0);
    out
}

/// Styled text whose longer lines break between words at `width` columns, what follows two columns further in
/// than the line. Styles end with a line and begin again in the next. A word that is longer stays whole.
pub fn fitted(text: &str, width: usize) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match columns_of_styled(line.trim_end_matches('\n')) <= width {
            true => out += line,
            false => {
                let indent = line.len() - line.trim_start_matches(' ').len();
                fit(&mut out, line, width, if indent + 2 < width / 2 { indent + 2 } else { 0 });
            }
        }
    }
    out
}

/// A message fitted to the terminal that standard error goes to, if it goes to one.
pub fn fitted_stderr(text: &str) -> String {
    match rustix::termios::tcgetwinsize(std::io::stderr()) {
        Ok(size) if size.ws_col > 0 => fitted(text, usize::from(size.ws_col)),
        _ => text.to_owned(),
    }
}

/// Appends a line that breaks between words, what follows behind `indent` spaces.
fn fit(out: &mut String, line: &str, width: usize, indent: usize) {
    let (mut at, mut style) = (0, "");
    for (i, word) in line.split(' ').enumerate() {
        let n = columns_of_styled(word.trim_end_matches('\n'));
        if i > 0 && at > indent && n > 0 && at + 1 + n > width {
            out.truncate(out.trim_end_matches(' ').len());
            let end = if style.is_empty() { "" } else { "\x1b[0m" };
            let _ = write!(out, "{end}\n{}{style}", " ".repeat(indent));
            at = indent;
        } else if i > 0 {
            out.push(' ');
            at += 1;
        }
        *out += word;
        at += n;
        if let Some(last) = word.rfind("\x1b[").map(|start| &word[start..]) {
            let sequence = last.find('m').map_or(last, |end| &last[..=end]);
            style = if sequence == "\x1b[0m" { "" } else { sequence };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use indexd_proto::highlight::LinePiece;

    fn code() -> Code {
        let piece = |start, end, class| LinePiece { start, end, class };
        let pieces = vec![piece(4, 8, PieceClass::Keyword), piece(9, 12, PieceClass::Function)];
        Code::from(vec![HighlightLine {
            file_rel_path: "a.go".into(),
            line: 3,
            text: "    func Get()".into(),
            pieces,
        }])
    }

    #[test]
    fn pieces_follow_what_is_shown_of_a_line() {
        let of = |line, shown| code().pieces("a.go", line, shown);
        let (keyword, function) = (Look::Class(PieceClass::Keyword), Look::Class(PieceClass::Function));
        let get = [(keyword, "func"), (Look::Plain, " "), (function, "Get"), (Look::Plain, "()")];
        assert_eq!(of(3, "    func Get()")[1..], get);
        assert_eq!(of(3, "func Get()"), get, "the start of the line is left out");
        assert_eq!(of(3, "func Ge"), [(keyword, "func"), (Look::Plain, " "), (function, "Ge")]);
        assert_eq!(of(3, "Get()"), [(function, "Get"), (Look::Plain, "()")]);
        assert_eq!(of(3, "func Put()"), [(Look::Plain, "func Put()")], "another text of that line");
        assert_eq!(of(4, "func Get()"), [(Look::Plain, "func Get()")]);
    }

    #[test]
    fn lines_fit_and_lose_nothing() {
        let style = Style::plain(80);
        let text =
            "\tif a { return veryLongNameOfAFunction(one, two) } 漢漢漢 e\u{301}\u{301}\u{301}e\u{301} x";
        for width in 8..80 {
            let lines = Code::default().lines("x", 1, text, width, style);
            assert!(lines.iter().all(|l| columns_of(l) <= width), "{width}: {lines:?}");
            assert_eq!(lines.concat(), text.replace('\t', "    "));
            let one = Code::default().one_line("x", 1, text, width, style);
            assert!(columns_of(&one) <= width, "{width}: {one:?}");
        }
        let hostile = Code::default().lines("x", 1, "a\x1b[31mb", 80, style);
        assert_eq!(hostile, ["a\\u{1b}[31mb"]);
    }

    #[test]
    fn words_are_not_broken() {
        assert_eq!(words("one  two three four", 9), "one two\nthree\nfour");
        assert_eq!(words("averyveryverylongword b", 9), "averyveryverylongword\nb");
        assert_eq!(words("", 9), "");
    }

    #[test]
    fn longer_lines_break_between_words() {
        assert_eq!(fitted("one two three\nfour\n", 8), "one two\n  three\nfour\n");
        assert_eq!(fitted("  a  columns of a table\n", 14), "  a  columns\n    of a table\n");
        assert_eq!(fitted("averyveryverylongword b", 8), "averyveryverylongword\n  b");
        let styled = fitted("\x1b[2mone two three\x1b[0m four\n", 8);
        assert_eq!(styled, "\x1b[2mone two\x1b[0m\n  \x1b[2mthree\x1b[0m\n  four\n");
        let text = "  \x1b[1mname\x1b[0m  \x1b[36mpath/to/file.go:12\x1b[0m  what it is, in words: 漢漢 漢漢\n\n x\n";
        for width in 24..80 {
            let lines = fitted(text, width);
            assert!(lines.lines().all(|l| columns_of_styled(l) <= width), "{width}: {lines}");
            let words = |t: &str| t.replace("\x1b[0m", "").split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(words(&lines), words(text), "{width}");
        }
        assert_eq!(fitted(text, 80), text);
    }

    #[test]
    fn escape_sequences_take_no_columns() {
        assert_eq!(columns_of_styled("\x1b[1mab\x1b[0m c"), 4);
        assert_eq!(columns_of_styled("\x1b]8;;file://h/a\x1b\\ab\x1b]8;;\x1b\\"), 2);
    }
}
