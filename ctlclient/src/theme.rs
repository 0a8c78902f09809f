//! Colours of code on a terminal, by the background of that terminal.

use clap::ValueEnum;
use indexd_proto::highlight::PieceClass;

/// Milliseconds that a terminal may take to tell its background. It is asked only where it is known to answer.
const ANSWER_MS_MAX: i64 = 200;

/// Colours of code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Theme {
    /// dark or light, as the terminal says; else ansi
    #[default]
    Auto,
    /// For a dark background
    Dark,
    /// For a light background
    Light,
    /// The sixteen colours of the terminal itself
    Ansi,
}

impl Theme {
    /// The theme in force: the option, else `INDEXD_THEME`, else what the terminal says where `asks`.
    pub fn in_force(self, asks: impl Fn() -> bool) -> Self {
        let named = std::env::var("INDEXD_THEME").ok().and_then(|name| Self::from_str(&name, true).ok());
        match (self, named) {
            (Self::Auto, None | Some(Self::Auto)) if asks() => of_terminal(),
            (Self::Auto, None | Some(Self::Auto)) => Self::Ansi,
            (Self::Auto, Some(named)) => named,
            (theme, _) => theme,
        }
    }

    /// The parameters of the escape sequence for a class (SGR of ECMA-48).
    pub fn code(self, class: PieceClass) -> &'static str {
        use PieceClass as C;
        let [dark, light, ansi] = match class {
            C::Comment => ["38;5;245", "38;5;243", "2"],
            C::String => ["38;5;114", "38;5;28", "32"],
            C::Number => ["38;5;215", "38;5;130", "33"],
            C::Keyword => ["38;5;176", "38;5;90", "35"],
            C::Type => ["38;5;180", "38;5;94", "33"],
            C::Function => ["38;5;75", "38;5;25", "36"],
        };
        match self {
            Self::Dark => dark,
            Self::Light => light,
            Self::Auto | Self::Ansi => ansi,
        }
    }
}

/// The theme for the background that the terminal has: by `COLORFGBG`, else by asking.
fn of_terminal() -> Theme {
    let told = std::env::var("COLORFGBG").ok().and_then(|v| v.rsplit(';').next()?.parse::<u8>().ok());
    match told {
        Some(0..=6 | 8) => Theme::Dark,
        Some(_) => Theme::Light,
        None => asked().as_deref().and_then(of_answer).unwrap_or(Theme::Ansi),
    }
}

/// The answer of the terminal to the question for its background, `OSC 11`. The question after
/// it, for its kind, is one that every terminal answers, so that nothing is waited for in vain.
fn asked() -> Option<Vec<u8>> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcgetpgrp, tcsetattr};
    use std::io::{Read as _, Write as _};
    let mut terminal = std::fs::File::options().read(true).write(true).open("/dev/tty").ok()?;
    // A process in the background would be stopped.
    (tcgetpgrp(&terminal).ok()? == rustix::process::getpgrp()).then_some(())?;
    let before = tcgetattr(&terminal).ok()?;
    let mut quiet = before.clone();
    quiet.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
    tcsetattr(&terminal, OptionalActions::Now, &quiet).ok()?;
    let mut answer = Vec::new();
    let is_sent = terminal.write_all(b"\x1b]11;?\x1b\\\x1b[c").is_ok();
    while is_sent && !(answer.ends_with(b"c") && answer.contains(&b'[')) && answer.len() < 256 {
        let left = Timespec { tv_sec: 0, tv_nsec: ANSWER_MS_MAX * 1_000_000 };
        let is_ready = poll(&mut [PollFd::new(&terminal, PollFlags::IN)], Some(&left)).is_ok_and(|n| n > 0);
        let mut byte = [0; 64];
        match is_ready.then(|| terminal.read(&mut byte)) {
            Some(Ok(n)) if n > 0 => answer.extend_from_slice(&byte[..n]),
            _ => break,
        }
    }
    let _ = tcsetattr(&terminal, OptionalActions::Now, &before);
    Some(answer)
}

/// Reads `ESC ] 11 ; rgb:RRRR/GGGG/BBBB`, with one to four digits for each.
fn of_answer(answer: &[u8]) -> Option<Theme> {
    let text = String::from_utf8_lossy(answer);
    let parts = text.split_once("rgb:")?.1.split('/').map(|part| {
        let digits: String = part.chars().take_while(char::is_ascii_hexdigit).take(4).collect();
        let most = f64::from(16u32.checked_pow(digits.len() as u32)?) - 1.0;
        Some(f64::from(u32::from_str_radix(&digits, 16).ok()?) / most)
    });
    let parts: Vec<f64> = parts.take(3).collect::<Option<_>>()?;
    let [red, green, blue] = parts[..] else { return None };
    // Luma of ITU-R BT.601.
    let light = 0.299 * red + 0.587 * green + 0.114 * blue;
    Some(if light > 0.5 { Theme::Light } else { Theme::Dark })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_background_decides() {
        for (answer, expect) in [
            ("\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?62;c", Some(Theme::Light)),
            ("\x1b]11;rgb:fd/f6/e3\x07\x1b[?1;2c", Some(Theme::Light)),
            ("\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\\x1b[?62;c", Some(Theme::Dark)),
            ("\x1b]11;rgb:0/0/8\x07", Some(Theme::Dark)),
            ("\x1b[?62;c", None),
            ("\x1b]11;rgb:zz/1/2\x07", None),
            ("\x1b]11;rgb:1/2", None),
        ] {
            assert_eq!(of_answer(answer.as_bytes()), expect, "{answer:?}");
        }
    }
}
