//! Long answers on a terminal go through a pager, as git's do.

use std::io::Write as _;
use std::process::{Command, Stdio};

/// The command of the pager: `INDEXD_PAGER`, else `PAGER`, else `less`. None for an empty one and for `cat`.
fn command() -> Option<String> {
    let set = |name| std::env::var(name).ok();
    let command = set("INDEXD_PAGER").or_else(|| set("PAGER")).unwrap_or_else(|| "less".to_owned());
    let command = command.trim();
    (!command.is_empty() && command != "cat").then(|| command.to_owned())
}

/// True if a text is higher than the terminal.
fn is_long(text: &str) -> bool {
    let size = rustix::termios::tcgetwinsize(std::io::stdout());
    let Ok((rows, columns)) = size.map(|s| (usize::from(s.ws_row), usize::from(s.ws_col))) else {
        return false;
    };
    if rows == 0 || columns == 0 {
        return false;
    }
    // The prompt takes the last line.
    let lines = text.lines().map(|l| crate::code::columns_of_styled(l).div_ceil(columns).max(1));
    lines.sum::<usize>() + 1 > rows
}

/// Shows a text in the pager if it is higher than the terminal. False if it was not shown: it is short, there is
/// no pager, or it cannot be started.
pub fn show(text: &str) -> bool {
    if std::env::var_os("TERM").is_some_and(|t| t == "dumb") || !is_long(text) {
        return false;
    }
    let Some(command) = command() else { return false };
    let mut pager = match command.bytes().all(|b| b.is_ascii_alphanumeric()) {
        true => Command::new(&command),
        false => {
            let mut shell = Command::new("sh");
            shell.args(["-c", &command]);
            shell
        }
    };
    // Quits by itself if one screen is enough, passes colours on, leaves the text on the screen.
    for (name, value) in [("LESS", "FRX"), ("LV", "-c"), ("LESSCHARSET", "utf-8")] {
        if std::env::var_os(name).is_none() {
            pager.env(name, value);
        }
    }
    // Ctrl-C is for the pager; this process lives as long as it does.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGINT, std::sync::Arc::default());
    let Ok(mut child) = pager.stdin(Stdio::piped()).spawn() else { return false };
    if let Some(mut input) = child.stdin.take() {
        // It may end before it has read all.
        let _ = input.write_all(text.as_bytes());
    }
    let status = child.wait();
    // A shell that does not find the program says 127.
    !matches!(status.map(|s| s.code()), Ok(Some(126 | 127)))
}
