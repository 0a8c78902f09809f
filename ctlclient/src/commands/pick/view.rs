//! What the picker shows and what keys do to it. Pure: a key comes in, a [`Step`] comes out, and a frame
//! is drawn from the state.

use super::choice::{Choice, Entry, Packer};
use crate::style::{count, number, safe_line};
use ratatui::Frame;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Clear, Paragraph};

/// Columns from which the preview stands beside the list.
const WIDE: u16 = 110;

/// The least columns and lines of a terminal on which this can be used.
const SMALLEST: (u16, u16) = (40, 10);

/// What each key does.
const KEYS: [(&str, &str); 9] = [
    ("↑ ↓ j k PgUp PgDn g G", "move"),
    ("space", "take this in or out"),
    ("s", "take its section out, or in as far as it fits"),
    ("J K", "move in the text below"),
    ("r", "fill the room of what was dropped with what comes next"),
    ("f", "ask again with this as the place to start from"),
    ("enter", "print the text and end"),
    ("y", "copy the text through the terminal (OSC 52) and end"),
    ("q esc ctrl-c", "end without a text"),
];

/// What to do after a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Draw, and wait for the next key.
    Stay,
    /// Ask for another pack without what was dropped.
    Refill,
    /// Ask for another pack that starts from this entry.
    Focus(usize),
    /// End with the text.
    Print,
    /// End with the text in the clipboard.
    Copy,
    /// End without a text.
    Quit,
}

/// The picker.
pub struct Picker {
    /// What may be chosen, and what is.
    pub choice: Choice,
    has_color: bool,
    /// The entry under the cursor.
    at: usize,
    /// The first line of the list in sight.
    top: usize,
    preview_top: usize,
    /// Lines of the list, as drawn last.
    height: usize,
    /// What was said last.
    message: Option<String>,
    shows_keys: bool,
}

impl Picker {
    /// A picker at its first entry.
    pub fn new(choice: Choice, has_color: bool) -> Self {
        Self {
            choice,
            has_color,
            at: 0,
            top: 0,
            preview_top: 0,
            height: 10,
            message: None,
            shows_keys: false,
        }
    }

    /// Goes on with another choice.
    pub fn replace(&mut self, choice: Choice) {
        self.choice = choice;
        (self.at, self.top, self.preview_top) = (0, 0, 0);
    }

    /// Says something below the list until the next key.
    pub fn say(&mut self, message: String) {
        self.message = Some(message);
    }

    /// The entry under the cursor.
    pub fn current(&self) -> Option<usize> {
        (self.at < self.choice.entries.len()).then_some(self.at)
    }

    /// Does what a key says.
    pub fn key(&mut self, key: KeyEvent, packer: &mut dyn Packer) -> Step {
        self.message = None;
        if std::mem::take(&mut self.shows_keys) {
            return Step::Stay;
        }
        let has_ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        let page = self.height.max(1) as isize;
        match key.code {
            KeyCode::Char('c') if has_ctrl => return Step::Quit,
            KeyCode::Char('q') | KeyCode::Esc => return Step::Quit,
            KeyCode::Enter => return Step::Print,
            KeyCode::Char('y') => return Step::Copy,
            KeyCode::Char('r') => return Step::Refill,
            KeyCode::Char('f') => return self.current().map_or(Step::Stay, Step::Focus),
            KeyCode::Char('?' | 'h') | KeyCode::F(1) => self.shows_keys = true,
            KeyCode::Down | KeyCode::Char('j') => self.move_by(1),
            KeyCode::Up | KeyCode::Char('k') => self.move_by(-1),
            KeyCode::PageDown => self.move_by(page),
            KeyCode::PageUp => self.move_by(-page),
            KeyCode::Home | KeyCode::Char('g') => self.move_by(isize::MIN),
            KeyCode::End | KeyCode::Char('G') => self.move_by(isize::MAX),
            KeyCode::Char('J') => self.preview_top += 1,
            KeyCode::Char('K') => self.preview_top = self.preview_top.saturating_sub(1),
            KeyCode::Char(' ') => self.change(Choice::toggle, packer),
            KeyCode::Char('s') => self.change(Choice::toggle_section, packer),
            _ => {}
        }
        Step::Stay
    }

    /// Changes the choice at the cursor; what hinders it is said.
    fn change(
        &mut self,
        how: fn(&mut Choice, usize, &mut dyn Packer) -> Result<(), String>,
        packer: &mut dyn Packer,
    ) {
        let Some(i) = self.current() else { return };
        if let Err(why) = how(&mut self.choice, i, packer) {
            self.say(why);
        }
    }

    /// Moves the cursor by entries.
    fn move_by(&mut self, n: isize) {
        let last = self.choice.entries.len().saturating_sub(1);
        let before = self.at;
        self.at = before.saturating_add_signed(n).min(last);
        if self.at != before {
            self.preview_top = 0;
        }
    }

    /// Draws everything. The text of the entry under the cursor was read before.
    pub fn draw(&mut self, frame: &mut Frame) {
        let area = frame.area();
        if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
            let text = format!("{}x{} is too small: 40x10 or more; q ends", area.width, area.height);
            return frame.render_widget(Paragraph::new(text), area);
        }
        let [head, body, foot] =
            Layout::vertical([Constraint::Length(2), Constraint::Min(1), Constraint::Length(1)]).areas(area);
        let halves = [Constraint::Percentage(50), Constraint::Percentage(50)];
        let [list, preview] = match area.width >= WIDE {
            true => Layout::horizontal(halves).areas(body),
            false => Layout::vertical(halves).areas(body),
        };
        frame.render_widget(Paragraph::new(self.head(usize::from(head.width))), head);
        self.draw_list(frame, list);
        self.draw_preview(frame, preview);
        frame.render_widget(Paragraph::new(self.foot()), foot);
        if self.shows_keys {
            self.draw_keys(frame, body);
        }
    }

    fn head(&self, width: usize) -> Vec<Line<'static>> {
        let choice = &self.choice;
        let (used, budget) = (choice.gathered.tokens, choice.budget.max(1));
        let facts = format!(
            " {} of {} tokens · {} of {} chosen",
            number(used),
            number(choice.budget),
            choice.n_chosen(),
            number(choice.entries.len() as u64)
        );
        let bar = width.saturating_sub(facts.chars().count() + 1).clamp(4, 40);
        let full = ((used.min(budget) as usize) * bar).div_ceil(budget as usize);
        vec![
            Line::styled(cut(&safe_line(&choice.query), width), Modifier::BOLD),
            Line::from(vec![
                Span::styled("█".repeat(full), self.paint(Color::Green)),
                Span::styled("░".repeat(bar - full), Modifier::DIM),
                Span::raw(facts),
            ]),
        ]
    }

    fn foot(&self) -> Line<'static> {
        match &self.message {
            Some(message) => Line::styled(safe_line(message), self.paint(Color::Yellow)),
            None => Line::styled(
                "space in/out  s section  r refill  f focus  enter print  y copy  q quit  ? keys",
                Modifier::DIM,
            ),
        }
    }

    fn draw_list(&mut self, frame: &mut Frame, area: Rect) {
        let block = Block::new().borders(Borders::TOP).border_style(Modifier::DIM);
        let inside = block.inner(area);
        frame.render_widget(block, area);
        self.height = usize::from(inside.height);
        let mut lines = Vec::new();
        let (mut first, mut last) = (0, 0);
        for (i, entry) in self.choice.entries.iter().enumerate() {
            let is_first = i == 0 || self.choice.entries[i - 1].section != entry.section;
            if i == self.at {
                // The heading above the cursor stays in sight.
                (first, last) = (lines.len(), lines.len() + usize::from(is_first));
            }
            lines.extend(is_first.then(|| self.section_line(&entry.section)));
            lines.push(self.entry_line(entry, i == self.at, usize::from(inside.width)));
        }
        let least = (last + 1).saturating_sub(self.height);
        self.top = self.top.clamp(least, first.max(least));
        if lines.is_empty() {
            lines.push(Line::raw("nothing was found"));
        }
        let seen: Vec<Line> = lines.into_iter().skip(self.top).collect();
        frame.render_widget(Paragraph::new(seen), inside);
    }

    fn section_line(&self, name: &str) -> Line<'static> {
        let of_it = || self.choice.entries.iter().filter(|e| e.section == name);
        let chosen = of_it().filter(|e| e.is_chosen).count();
        let counts = format!("  {chosen} of {}", of_it().count());
        Line::from(vec![Span::styled(safe_line(name), Modifier::BOLD), Span::styled(counts, Modifier::DIM)])
    }

    fn entry_line(&self, entry: &Entry, is_current: bool, width: usize) -> Line<'static> {
        let mark =
            format!("{}[{}] ", if is_current { '>' } else { ' ' }, if entry.is_chosen { 'x' } else { ' ' });
        let lines = u64::from((entry.lines.end + 1).saturating_sub(entry.lines.start));
        let size = match entry.tokens {
            Some(tokens) => format!(" {}", number(tokens)),
            None if entry.lines.start == 0 => String::new(),
            None => format!(" {}", count(lines, "line", "lines")),
        };
        let place = format!("{}  ", place(entry));
        let room = width.saturating_sub(mark.chars().count() + size.chars().count());
        let place = cut_left(&place, room);
        let title = cut(&safe_line(&entry.title), room - place.chars().count());
        let gap = " ".repeat(room - place.chars().count() - title.chars().count());
        let line = Line::from(vec![
            Span::raw(mark),
            Span::styled(place, self.paint(Color::Cyan)),
            Span::raw(title + &gap),
            Span::styled(size, Modifier::DIM),
        ]);
        if is_current { line.style(Modifier::REVERSED) } else { line }
    }

    fn draw_preview(&mut self, frame: &mut Frame, area: Rect) {
        let entry = self.current().map(|i| &self.choice.entries[i]);
        let title = entry.map_or(String::new(), |e| {
            let why = e.why.replace(&format!(" {}:", e.path), " line ");
            format!(" {}:{} · {} ", safe_line(&e.path), e.lines.start, safe_line(&why))
        });
        let block = Block::new()
            .borders(Borders::TOP)
            .border_style(Modifier::DIM)
            .title(cut(&title, usize::from(area.width)));
        let inside = block.inner(area);
        frame.render_widget(block, area);
        let Some(entry) = entry else { return };
        let lines = if entry.heading.is_some() { self.diff(entry) } else { preview(entry) };
        self.preview_top = self.preview_top.min(lines.len().saturating_sub(usize::from(inside.height)));
        let seen: Vec<Line> = lines.into_iter().skip(self.preview_top).collect();
        frame.render_widget(Paragraph::new(seen), inside);
    }

    /// The lines of a diff under the heading of its file.
    fn diff(&self, entry: &Entry) -> Vec<Line<'static>> {
        let heading = entry.heading.iter().flat_map(|h| h.lines());
        let heading = heading.map(|line| Line::styled(safe_line(line), Modifier::DIM));
        let lines = entry.runs.iter().flatten().flat_map(|run| run.text.lines()).map(|line| {
            let style = match line.as_bytes().first() {
                Some(b'+') => self.paint(Color::Green),
                Some(b'-') => self.paint(Color::Red),
                Some(b'@') => self.paint(Color::Cyan),
                _ => Style::new(),
            };
            Line::styled(safe_line(line).replace('\t', "    "), style)
        });
        heading.chain(lines).collect()
    }

    fn draw_keys(&self, frame: &mut Frame, area: Rect) {
        let lines = KEYS.map(|(keys, what)| {
            Line::from(vec![Span::styled(format!(" {keys:<22} "), Modifier::BOLD), Span::raw(what)])
        });
        let height = (KEYS.len() as u16 + 2).min(area.height);
        let place = Rect { height, ..area };
        frame.render_widget(Clear, place);
        let block = Block::bordered().title(" keys ");
        frame.render_widget(Paragraph::new(lines.to_vec()).block(block), place);
    }

    fn paint(&self, color: Color) -> Style {
        if self.has_color { Style::new().fg(color) } else { Style::new() }
    }
}

/// Path and lines of an entry; the path alone where there are no lines.
fn place(entry: &Entry) -> String {
    match entry.lines.start {
        0 => safe_line(&entry.path),
        start => format!("{}:{start}-{}", safe_line(&entry.path), entry.lines.end),
    }
}

/// The lines of an entry with their numbers, and a mark for lines between that are not shown.
fn preview(entry: &Entry) -> Vec<Line<'static>> {
    let Some(runs) = &entry.runs else {
        return vec![Line::styled("its text could not be read", Modifier::DIM)];
    };
    if runs.is_empty() {
        return vec![Line::styled("its place alone is in the text", Modifier::DIM)];
    }
    let mut out = Vec::new();
    let mut next = entry.lines.start;
    let mark = |out: &mut Vec<Line<'static>>, from: u32, to: u32| {
        if from <= to {
            out.push(Line::styled(format!("      ⋮ lines {from}-{to}"), Modifier::DIM));
        }
    };
    for run in runs {
        mark(&mut out, next, run.lines.start.saturating_sub(1));
        for (n, line) in (run.lines.start..).zip(run.text.lines()) {
            let number = Span::styled(format!("{n:>5} │ "), Modifier::DIM);
            out.push(Line::from(vec![number, Span::raw(safe_line(line).replace('\t', "    "))]));
        }
        next = run.lines.end + 1;
    }
    mark(&mut out, next, entry.lines.end);
    out
}

/// At most `width` characters of a text, its end marked where it is cut.
fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain((width > 0).then_some('…')).collect()
}

/// The same, cut at the beginning: the end of a path says more than its start.
fn cut_left(text: &str, width: usize) -> String {
    let n = text.chars().count();
    if n <= width {
        return text.to_owned();
    }
    (width > 0).then_some('…').into_iter().chain(text.chars().skip(n - width.saturating_sub(1))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::choice::tests::{Plain, choice};
    use super::*;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    /// What the terminal shows after some keys.
    fn shown(width: u16, height: u16, keys: &[KeyCode]) -> String {
        let mut picker = Picker::new(choice(), true);
        for key in keys {
            picker.key(KeyEvent::from(*key), &mut Plain);
        }
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| picker.draw(frame)).unwrap();
        terminal.backend().to_string()
    }

    #[test]
    fn a_terminal_of_80_columns_shows_list_budget_and_text() {
        use KeyCode::{Char, Down};
        insta::assert_snapshot!("small", shown(80, 24, &[Down, Char(' ')]));
        insta::assert_snapshot!("refused", shown(80, 24, &[Down, Down, Down, Char(' ')]));
        insta::assert_snapshot!("keys", shown(80, 24, &[Char('?')]));
    }

    #[test]
    fn a_wide_one_shows_the_text_beside_the_list() {
        insta::assert_snapshot!("wide", shown(120, 14, &[]));
    }

    #[test]
    fn any_size_is_drawn() {
        for (width, height) in [(1, 1), (39, 24), (40, 10), (80, 9), (200, 60)] {
            let text = shown(width, height, &[KeyCode::End]);
            assert_eq!(text.contains("[ ]"), width >= 40 && height >= 10, "{width}x{height}: {text}");
        }
    }

    #[test]
    fn keys_move_and_end() {
        use KeyCode::{Char, Down, End, Enter, Esc, Home, PageDown, Up};
        let check = |keys: &[KeyCode], at: Option<usize>, step: Step| {
            let mut picker = Picker::new(choice(), false);
            let last = keys.iter().map(|key| picker.key(KeyEvent::from(*key), &mut Plain)).last();
            assert_eq!((picker.current(), last), (at, Some(step)), "{keys:?}");
        };
        check(&[Up], Some(0), Step::Stay);
        check(&[Down, Down], Some(2), Step::Stay);
        check(&[End, Down], Some(5), Step::Stay);
        check(&[PageDown, Home], Some(0), Step::Stay);
        check(&[Char('?'), Char('q')], Some(0), Step::Stay);
        check(&[Enter], Some(0), Step::Print);
        check(&[Char('y')], Some(0), Step::Copy);
        check(&[Esc], Some(0), Step::Quit);
        check(&[Down, Char('f')], Some(1), Step::Focus(1));
        check(&[Char('r')], Some(0), Step::Refill);
        let mut picker = Picker::new(choice(), false);
        let interrupt = KeyEvent::new(Char('c'), KeyModifiers::CONTROL);
        assert_eq!(picker.key(interrupt, &mut Plain), Step::Quit);
    }

    #[test]
    fn without_colours_none_are_drawn() {
        let mut picker = Picker::new(choice(), false);
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        terminal.draw(|frame| picker.draw(frame)).unwrap();
        let cells = terminal.backend().buffer().content();
        assert!(cells.iter().all(|c| c.fg == Color::Reset && c.bg == Color::Reset));
    }
}
