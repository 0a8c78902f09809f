//! The progress bar: on standard error, on terminals only, after a moment, gone at the end.

use indexd_proto::rpc::ProgressParams;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Quick answers show no bar.
const DELAY: Duration = Duration::from_millis(300);

/// The bar of one request.
pub struct Progress {
    wanted: bool,
    started: Instant,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// A bar that may be shown.
    pub fn new(quiet: bool) -> Self {
        Self { wanted: !quiet && std::io::stderr().is_terminal(), started: Instant::now(), bar: None }
    }

    /// Whether the daemon should send notifications.
    pub fn is_wanted(&self) -> bool {
        self.wanted
    }

    /// Shows how far the work has come.
    pub fn show(&mut self, p: &ProgressParams) {
        if !self.wanted || self.started.elapsed() < DELAY {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr_with_hz(10));
            let style = ProgressStyle::with_template("indexing: {msg:<7} {bar:30} {pos}/{len} ({elapsed})");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        bar.set_message(p.phase.clone());
        bar.set_length(p.total.max(p.done));
        bar.set_position(p.done);
    }

    /// Removes the bar.
    pub fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}
