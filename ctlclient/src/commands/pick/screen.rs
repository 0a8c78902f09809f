//! The terminal while something is drawn on it: taken over at the start, given back at the end, whatever
//! the end is.
//!
//! Everything goes to the terminal itself and not to standard output, which is for the answer.

use crate::failure::Failure;
use indexd_proto::error::ErrorCode;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{self, Event, KeyEvent, KeyEventKind};
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::crossterm::{cursor, execute};
use std::fs::File;
use std::io::{self, BufWriter, Write};

/// The terminal of this process.
const TERMINAL: &str = "/dev/tty";

/// The terminal, taken over.
pub struct Screen {
    terminal: Terminal<CrosstermBackend<BufWriter<File>>>,
}

impl Screen {
    /// Takes the terminal over.
    ///
    /// # Errors
    /// `POC_E_NOT_SUPPORTED` where there is none, or one that cannot be drawn on.
    pub fn open() -> Result<Self, Failure> {
        let refused = |why: String| {
            Failure::hinted(
                ErrorCode::NotSupported,
                format!("-i needs a terminal: {why}"),
                "leave out -i; --as text prints the text of the pack",
            )
        };
        if std::env::var_os("TERM").is_some_and(|t| t == "dumb") {
            return Err(refused("TERM says that this one is dumb".to_owned()));
        }
        let out = tty().map_err(|e| refused(format!("{TERMINAL}: {e}")))?;
        let failed = |e: io::Error| refused(e.to_string());
        enable_raw_mode().map_err(failed)?;
        restore_on_panic();
        restore_on_signals().map_err(failed)?;
        let mut screen =
            Self { terminal: Terminal::new(CrosstermBackend::new(BufWriter::new(out))).map_err(failed)? };
        execute!(screen.terminal.backend_mut(), EnterAlternateScreen, cursor::Hide).map_err(failed)?;
        Ok(screen)
    }

    /// Draws.
    ///
    /// # Errors
    /// As [`Failure::from`] an IO error.
    pub fn draw(&mut self, drawn: impl FnOnce(&mut ratatui::Frame)) -> Result<(), Failure> {
        self.terminal.draw(drawn)?;
        Ok(())
    }

    /// The next key; `None` where only the size is another one.
    ///
    /// # Errors
    /// As [`Failure::from`] an IO error.
    pub fn key(&mut self) -> Result<Option<KeyEvent>, Failure> {
        match event::read()? {
            Event::Key(key) if key.kind != KeyEventKind::Release => Ok(Some(key)),
            _ => Ok(None),
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

fn tty() -> io::Result<File> {
    File::options().read(true).write(true).open(TERMINAL)
}

/// Gives the terminal back. A terminal that is gone needs nothing.
fn restore() {
    if let Ok(mut out) = tty() {
        let _ = execute!(out, LeaveAlternateScreen, cursor::Show);
    }
    let _ = disable_raw_mode();
}

/// What a panic says would be lost with the alternate screen.
fn restore_on_panic() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        restore();
        before(info);
    }));
}

/// Ends as the signal would, with the terminal given back first.
fn restore_on_signals() -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM])?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        if let Some(signal) = signals.forever().next() {
            restore();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    })?;
    Ok(())
}

/// Puts a text into the clipboard of the terminal, where it allows that (OSC 52 of xterm's control
/// sequences).
///
/// # Errors
/// When there is no terminal.
pub fn copy(text: &str) -> io::Result<()> {
    use base64::Engine as _;
    let text = base64::engine::general_purpose::STANDARD.encode(text);
    let mut out = tty()?;
    write!(out, "\x1b]52;c;{text}\x07")?;
    out.flush()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    /// Set in the run of this test that draws, on a terminal of its own.
    const DRAWS: &str = "INDEXD_TEST_DRAWS";

    #[test]
    fn what_a_panic_says_stands_on_the_terminal_of_before() {
        if std::env::var_os(DRAWS).is_some() {
            let mut screen = Screen::open().unwrap();
            screen.draw(|_| panic!("a fault of drawing")).unwrap();
        }
        let own = std::env::current_exe().unwrap();
        let name = "commands::pick::screen::tests::what_a_panic_says_stands_on_the_terminal_of_before";
        let line = format!("'{}' --exact --nocapture {name}", own.display());
        let mut script = Command::new("script");
        script.args(["-qec", &line, "/dev/null"]).env("TERM", "xterm").env(DRAWS, "1").stdin(Stdio::null());
        let Ok(run) = script.output() else {
            return eprintln!("skipped: there is no script (util-linux)");
        };
        let shown = String::from_utf8_lossy(&run.stdout);
        let at = |what: &str| shown.find(what).unwrap_or_else(|| panic!("{what:?} is not in {shown:?}"));
        assert!(at("\x1b[?1049h") < at("\x1b[?1049l"), "{shown:?}");
        assert!(at("\x1b[?1049l") < at("a fault of drawing"), "{shown:?}");
        assert!(shown.contains("\x1b[?25h"), "the cursor is back: {shown:?}");
    }
}
