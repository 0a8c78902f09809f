//! The progress bar: on standard error, on terminals only, after a moment, gone at the end.
//!
//! It is drawn by hand: with a crate that draws bars, every start of `ctl` loads the library of
//! mathematical functions.

use indexd_proto::rpc::ProgressParams;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Quick answers show no bar.
const DELAY: Duration = Duration::from_millis(300);
/// The least time from one drawing to the next.
const INTERVAL: Duration = Duration::from_millis(100);
/// Columns of the bar itself.
const BAR: usize = 30;
/// Goes to the start of the line and makes it empty.
const CLEAR: &str = "\r\x1b[2K";

/// Who is told of progress where no bar is drawn.
pub type Listener = Box<dyn FnMut(&ProgressParams)>;

/// The bar of one request, or whoever is told instead.
pub struct Progress {
    wanted: bool,
    started: Instant,
    drawn: Option<Instant>,
    listener: Option<Listener>,
}

impl Progress {
    /// A bar that may be shown.
    pub fn new(quiet: bool) -> Self {
        let is_dumb = std::env::var_os("TERM").is_some_and(|t| t == "dumb");
        let wanted = !quiet && !is_dumb && std::io::stderr().is_terminal();
        Self { wanted, started: Instant::now(), drawn: None, listener: None }
    }

    /// Passes on what the daemon says and draws nothing; nothing is asked of the daemon without a listener.
    pub fn told(listener: Option<Listener>) -> Self {
        Self { wanted: listener.is_some(), started: Instant::now(), drawn: None, listener }
    }

    /// Begins to wait for another answer.
    pub fn begin(&mut self) {
        self.started = Instant::now();
    }

    /// Whether the daemon should send notifications.
    pub fn is_wanted(&self) -> bool {
        self.wanted
    }

    /// Shows how far the work has come.
    pub fn show(&mut self, p: &ProgressParams) {
        if let Some(listener) = &mut self.listener {
            return listener(p);
        }
        let is_soon = self.drawn.is_some_and(|at| at.elapsed() < INTERVAL);
        if !self.wanted || self.started.elapsed() < DELAY || is_soon {
            return;
        }
        let columns = rustix::termios::tcgetwinsize(std::io::stderr()).map_or(0, |w| usize::from(w.ws_col));
        let line = line(p, self.started.elapsed(), if columns == 0 { 80 } else { columns });
        draw(&format!("{CLEAR}{line}"));
        self.drawn = Some(Instant::now());
    }

    /// Removes the bar.
    pub fn clear(&mut self) {
        if self.drawn.take().is_some() {
            draw(CLEAR);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

/// A terminal that is gone shows nothing.
fn draw(text: &str) {
    let mut err = std::io::stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

/// What is drawn, in less than `columns` characters: a longer line would go on in the next.
fn line(p: &ProgressParams, elapsed: Duration, columns: usize) -> String {
    let of_total = |n: u64| (p.done.min(p.total).saturating_mul(n)).checked_div(p.total);
    let full = of_total(BAR as u64).unwrap_or(0) as usize;
    let bar = format!("{}{}", "\u{2588}".repeat(full), "\u{2591}".repeat(BAR - full));
    // Bytes in some phases and files in others: their part says more than their number.
    let part = of_total(100).map_or_else(|| p.done.to_string(), |percent| format!("{percent} %"));
    let text =
        format!("indexing: {phase:<7} {bar} {part:>5} ({}s)", elapsed.as_secs(), phase = p.phase.name());
    text.chars().take(columns.saturating_sub(1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use indexd_proto::rpc::Id;
    use indexd_proto::workspace::Phase;

    #[test]
    fn a_line_says_phase_part_and_time_and_fits() {
        let rows = [
            // How much there is in all is not known yet.
            (1_234, 0, 80, "indexing: parse   ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░  1234 (2s)"),
            (0, 10, 80, "indexing: parse   ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░   0 % (2s)"),
            (5, 10, 80, "indexing: parse   ███████████████░░░░░░░░░░░░░░░  50 % (2s)"),
            (10, 10, 80, "indexing: parse   ██████████████████████████████ 100 % (2s)"),
            // More than was expected is all there is.
            (12, 10, 80, "indexing: parse   ██████████████████████████████ 100 % (2s)"),
            (5, 10, 21, "indexing: parse   ██"),
            (5, 10, 1, ""),
        ];
        for (done, total, columns, expected) in rows {
            let p = ProgressParams { id: Id::Number(1), phase: Phase::Parse, done, total };
            assert_eq!(line(&p, Duration::from_millis(2_900), columns), expected);
        }
    }
}
