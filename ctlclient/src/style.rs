//! Text for terminals: colours when wanted, and nothing from a repository that a terminal would
//! obey.

use crate::cli::{ColorWhen, Common};
use crate::theme::Theme;
use indexd_proto::highlight::PieceClass;
use std::fmt::Write as _;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::OnceLock;

/// Where places lead to on terminals that follow links: the host, and the folders that paths may be
/// relative to.
static LINKS: OnceLock<Option<(String, Vec<PathBuf>)>> = OnceLock::new();

/// Whether and how to colour.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Whether escape sequences are written.
    pub color: bool,
    /// Columns of the terminal.
    pub width: usize,
    /// True if a person looks at it: it goes to a terminal, or has colours, as for a pager.
    pub is_view: bool,
    /// Colours of code.
    pub theme: Theme,
}

impl Style {
    /// The style for standard output: the flag, then NO_COLOR, CLICOLOR_FORCE, TERM, the terminal.
    pub fn of_stdout(common: &Common) -> Self {
        let env = |name: &str| std::env::var(name).ok();
        let is_terminal = std::io::stdout().is_terminal();
        let color = decide(common.color, &env, is_terminal);
        let told = || env("COLUMNS").and_then(|n| n.parse().ok()).unwrap_or(80);
        let width = columns_of_stdout().unwrap_or_else(told);
        // Colours in a pipe were asked for: they go to a pager, which passes links on as well.
        LINKS.get_or_init(|| (color && follows_links(&env)).then(link_bases));
        Self { color, width: width.clamp(40, 200), is_view: is_terminal || color, theme: common.theme }
    }

    /// Adds the theme for code to the style of standard output; the terminal may be asked for it.
    pub fn of_code(common: &Common) -> Self {
        let style = Self::of_stdout(common);
        let env = |name: &str| std::env::var(name).ok();
        // Terminals that follow links also tell their background, and at once.
        let asks = || std::io::stdout().is_terminal() && (follows_links(&env) || env("TMUX").is_some());
        let theme = if style.color { style.theme.in_force(asks) } else { style.theme };
        Self { theme, ..style }
    }

    /// No colours.
    pub const fn plain(width: usize) -> Self {
        Self { color: false, width, is_view: false, theme: Theme::Ansi }
    }

    /// Whether what is drawn on the terminal, and not written to standard output, has colours.
    pub fn has_color_on_terminal(when: ColorWhen) -> bool {
        decide(when, &|name| std::env::var(name).ok(), true)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.color && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// A piece of code.
    pub fn class(self, class: PieceClass, text: &str) -> String {
        self.paint(self.theme.code(class), text)
    }

    /// The text that a search looks for.
    pub fn matched(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    /// For headings and names.
    pub fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// For what may be skipped.
    pub fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    /// For paths.
    pub fn path(self, text: &str) -> String {
        self.leading_to(text, text)
    }

    /// A place as `path:line` in at most `room` columns, its beginning left out if there is no more.
    pub fn place(self, place: &str, room: usize) -> String {
        let n = place.chars().count();
        if n <= room {
            return self.path(place);
        }
        let short: String = place.chars().skip(n + 1 - room.max(1)).collect();
        self.leading_to(&format!("…{short}"), place)
    }

    /// A text as a link to a place, where terminals follow links.
    fn leading_to(self, shown: &str, place: &str) -> String {
        let painted = self.paint("36", shown);
        match LINKS.get() {
            Some(Some((host, bases))) if self.color => linked(&painted, place, host, bases),
            _ => painted,
        }
    }

    /// For what is right.
    pub fn good(self, text: &str) -> String {
        self.paint("32", text)
    }

    /// For what needs a look.
    pub fn warn(self, text: &str) -> String {
        self.paint("33", text)
    }

    /// For what is wrong.
    pub fn bad(self, text: &str) -> String {
        self.paint("31", text)
    }

    /// A line of a diff.
    pub fn diff_line(self, line: &str) -> String {
        match line.as_bytes().first() {
            Some(b'+') => self.good(line),
            Some(b'-') => self.bad(line),
            Some(b'@' | b'\\') => self.dim(line),
            _ => line.to_owned(),
        }
    }

    /// A heading with a rule to the end of the line.
    pub fn heading(self, text: &str) -> String {
        let rule = self.width.min(100).saturating_sub(text.chars().count() + 1);
        format!("{} {}", self.bold(text), self.dim(&"─".repeat(rule)))
    }
}

/// Columns of the terminal that standard output goes to.
pub fn columns_of_stdout() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|n| *n > 0)
}

/// Whether a terminal shows links (OSC 8) as such; one that does not know them may print them.
fn follows_links(env: &dyn Fn(&str) -> Option<String>) -> bool {
    let set = |name: &str| env(name).is_some_and(|v| !v.is_empty());
    let is = |name: &str, values: &[&str]| env(name).is_some_and(|v| values.contains(&v.as_str()));
    let vte = env("VTE_VERSION").and_then(|v| v.parse::<u32>().ok()).is_some_and(|v| v >= 5_000);
    vte || ["KITTY_WINDOW_ID", "WT_SESSION", "KONSOLE_VERSION", "WEZTERM_PANE"].iter().any(|n| set(n))
        || is("TERM_PROGRAM", &["iTerm.app", "vscode", "WezTerm", "ghostty", "Hyper"])
        || is("TERM", &["xterm-kitty", "alacritty", "foot", "xterm-ghostty"])
}

/// This machine, and the folders from the current one up to its repository's root, the root first.
fn link_bases() -> (String, Vec<PathBuf>) {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let cwd = std::env::current_dir().unwrap_or_default();
    let root = indexd_proto::paths::repository_around(&cwd).map(PathBuf::from);
    (host, root.into_iter().chain([cwd]).collect())
}

/// `shown` as a link to the file that `place`, as `path:line`, is about, if it is there.
fn linked(shown: &str, place: &str, host: &str, bases: &[PathBuf]) -> String {
    let path = place.split(':').next().unwrap_or(place);
    let Some(file) = bases.iter().map(|b| b.join(path)).find(|p| p.is_file()) else {
        return shown.to_owned();
    };
    let mut uri = format!("file://{host}");
    for byte in file.to_string_lossy().bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'~' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                uri.push(byte as char)
            }
            _ => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    format!("\x1b]8;;{uri}\x1b\\{shown}\x1b]8;;\x1b\\")
}

fn decide(when: ColorWhen, env: &dyn Fn(&str) -> Option<String>, terminal: bool) -> bool {
    let set = |name: &str| env(name).is_some_and(|v| !v.is_empty());
    match when {
        ColorWhen::Always => true,
        ColorWhen::Never => false,
        ColorWhen::Auto if set("NO_COLOR") => false,
        ColorWhen::Auto if env("CLICOLOR_FORCE").is_some_and(|v| !v.is_empty() && v != "0") => true,
        ColorWhen::Auto => terminal && env("TERM").as_deref() != Some("dumb"),
    }
}

/// `text` with everything that a terminal would obey, or that would hide or reorder text, written
/// out as an escape. Line ends and tabs stay.
pub fn safe(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let shown = matches!(c, '\n' | '\t') || !(c.is_control() || is_hiding(c));
        if shown {
            out.push(c);
        } else if c != '\r' {
            let _ = write!(out, "\\u{{{:x}}}", c as u32);
        }
    }
    out
}

/// A JSON text in which the same characters stand as escapes of JSON; outside of strings there are none.
pub fn safe_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut units = [0; 2];
    for c in json.chars() {
        if c == '\n' || !(c.is_control() || is_hiding(c)) {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut units) {
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    out
}

/// The same on one line.
pub fn safe_line(text: &str) -> String {
    safe(text).replace('\n', "\\n")
}

/// Characters that are invisible or change the direction of text (Unicode Standard Annex 9, and
/// the tag and zero-width characters).
fn is_hiding(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{061c}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' | '\u{00ad}' | '\u{180e}')
}

/// A whole number with its thousands apart.
pub fn number(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// A number of things.
pub fn count(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", number(n), if n == 1 { one } else { many })
}

/// Bytes in the unit that reads best.
pub fn bytes(n: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = n as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{n} B") } else { format!("{value:.1} {}", UNITS[unit]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_as_a_command() {
        for (text, expect) in [
            ("plain ü 漢\tx\n", "plain ü 漢\tx\n"),
            ("\x1b]0;evil\x07", "\\u{1b}]0;evil\\u{7}"),
            ("a\u{9b}31mb", "a\\u{9b}31mb"),
            ("x\u{202e}y\u{200b}z\u{7f}", "x\\u{202e}y\\u{200b}z\\u{7f}"),
            ("crlf\r\n", "crlf\n"),
        ] {
            assert_eq!(safe(text), expect);
        }
        assert_eq!(safe_line("a\nb"), "a\\nb");
    }

    #[test]
    fn colours_follow_the_conventions() {
        let check = |when, vars: &[(&str, &str)], terminal, expect| {
            let env = |name: &str| vars.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
            assert_eq!(decide(when, &env, terminal), expect, "{when:?} {vars:?} {terminal}");
        };
        check(ColorWhen::Auto, &[], true, true);
        check(ColorWhen::Auto, &[], false, false);
        check(ColorWhen::Auto, &[("NO_COLOR", "1")], true, false);
        check(ColorWhen::Auto, &[("NO_COLOR", "")], true, true);
        check(ColorWhen::Auto, &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")], true, false);
        check(ColorWhen::Auto, &[("CLICOLOR_FORCE", "1")], false, true);
        check(ColorWhen::Auto, &[("CLICOLOR_FORCE", "0")], false, false);
        check(ColorWhen::Auto, &[("TERM", "dumb")], true, false);
        check(ColorWhen::Always, &[("NO_COLOR", "1")], false, true);
        check(ColorWhen::Never, &[("CLICOLOR_FORCE", "1")], true, false);
    }

    #[test]
    fn places_are_links_where_terminals_follow_them() {
        let check = |vars: &[(&str, &str)], expect| {
            let env = |name: &str| vars.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned());
            assert_eq!(follows_links(&env), expect, "{vars:?}");
        };
        check(&[], false);
        check(&[("TERM", "xterm-256color")], false);
        check(&[("VTE_VERSION", "7600")], true);
        check(&[("VTE_VERSION", "4600")], false);
        check(&[("TERM_PROGRAM", "vscode")], true);
        check(&[("TERM_PROGRAM", "Apple_Terminal")], false);
        check(&[("KITTY_WINDOW_ID", "1")], true);
        let tmp = tempfile::tempdir().unwrap();
        std::fs::write(tmp.path().join("a b.go"), "").unwrap();
        let bases = [tmp.path().to_owned()];
        let dir = tmp.path().display();
        assert_eq!(
            linked("shown", "a b.go:3-4", "host", &bases),
            format!("\x1b]8;;file://host{dir}/a%20b.go\x1b\\shown\x1b]8;;\x1b\\")
        );
        assert_eq!(linked("shown", "gone.go:3", "host", &bases), "shown");
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(
            (number(0), number(999), number(1_234_567)),
            ("0".into(), "999".into(), "1,234,567".into())
        );
        assert_eq!((bytes(12), bytes(2048)), ("12 B".into(), "2.0 KiB".into()));
    }
}
