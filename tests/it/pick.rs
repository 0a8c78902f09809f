//! `ctl pack -i` on a terminal.

use crate::terminal::{Terminal, ended};
use crate::user::{User, check_failure, kill, ok, text};
use base64::Engine as _;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command};

/// A picker that shows its list.
fn started(user: &User, terminal: &Terminal, args: &[&str]) -> Child {
    let mut command = user.command("ctl");
    command.args(["pack", "-i", "where is the delay decided"]).args(args);
    let child = terminal.spawn(&command);
    terminal.until("the list", |screen| screen.contains("[x] retry.go:") && screen.contains("tokens"));
    child
}

fn is_dropped(screen: &str) -> bool {
    screen.contains(">[ ] retry.go:")
}

/// Nothing that a repository holds makes a terminal do anything but show letters: no escape, no control
/// character of either kind, nothing that hides or turns round text.
#[test]
fn a_terminal_obeys_nothing_that_comes_from_a_repository() {
    let user = User::new();
    let evil = "\x1b[31mred\x1b]0;title\x07\u{9b}31m\u{202e}desrever\u{2066}\u{200b}\x08";
    user.write(
        "repo/evil.go",
        &format!("package demo\n\n// Zorkmid {evil}\nfunc Zorkmid() string {{ return \"{evil}\" }}\n"),
    );
    user.write("repo/esc\x1b[31m\u{202e}.go", "package demo\n\nfunc Quatloo() { Zorkmid() }\n");
    user.write("repo/README.md", &format!("# Demo {evil}\n\nZorkmid {evil}\n"));
    ok(&user.ctl(&["index"]));
    let terminal = Terminal::new();
    for args in [
        &["pack", "zorkmid"][..],
        &["pack", "zorkmid", "--as", "text"],
        &["pack", "zorkmid", "--json"],
        &["pack", "zorkmid", "--as", "document"],
        &["search", "zorkmid"],
        &["search", "zorkmid", "--json"],
        &["symbol", "Zorkmid"],
        &["card", "Zorkmid"],
        &["callers", "Zorkmid"],
        &["graph", "Zorkmid"],
        &["map"],
        &["map", "--json"],
        &["export", "dump"],
        &["export", "edges", "--jsonl"],
        &["status"],
        &["metrics"],
        &["why", "esc\x1b[31m\u{202e}.go"],
        &["callers", "none\x1b[31m\u{202e}"],
    ] {
        let written = terminal.written_by(user.command("ctl").args(args));
        let mut text = String::from_utf8(written).unwrap_or_else(|e| panic!("{args:?}: {e}"));
        assert!(text.len() > 20, "{args:?}: {text}");
        text = text.replace("\x1b[1;31m", "");
        for n in 0..100 {
            text = text.replace(&format!("\x1b[{n}m"), "");
        }
        // Progress is drawn over itself.
        let text = text.replace("\r\x1b[K", "").replace("\x1b[2K", "").replace("\r\n", "\n");
        let obeyed = |c: &char| {
            (c.is_control() && !matches!(c, '\n' | '\t' | '\r'))
                || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}')
        };
        assert_eq!(text.chars().find(obeyed), None, "{args:?}: {:?}", text.escape_debug().to_string());
    }
}

#[test]
fn what_is_chosen_on_a_terminal_is_printed() {
    let user = User::new();
    let whole = ok(&user.ctl(&["pack", "where is the delay decided", "--as", "text"]));
    assert!(whole.contains("func Delay") && whole.contains("func Get"), "{whole}");
    let mut terminal = Terminal::new();
    let before = terminal.settings();
    let child = started(&user, &terminal, &[]);
    let shown = terminal.screen();
    assert!(shown.contains("4 │ func Delay(n int) int { return 1 << n }"), "{shown}");
    assert!(shown.contains("of 4,000 tokens"), "{shown}");
    terminal.type_in(" ");
    terminal.until("the first item is dropped", is_dropped);
    terminal.type_in("\r");
    let (status, printed) = ended(child);
    assert_eq!(status.code(), Some(0));
    assert!(!printed.contains("func Delay") && printed.contains("func Get"), "{printed}");
    terminal.until("the terminal is given back", |_| terminal.is_given_back());
    assert_eq!(format!("{before:?}"), format!("{:?}", terminal.settings()));
    // Dropped and taken in again it is the pack as everybody has it.
    let mut terminal = Terminal::new();
    let child = started(&user, &terminal, &[]);
    terminal.type_in(" ");
    terminal.until("the first item is dropped", is_dropped);
    terminal.type_in(" \r");
    assert_eq!(ended(child).1.trim_end(), whole.trim_end());
}

#[test]
fn the_text_is_copied_through_the_terminal() {
    let user = User::new();
    let whole = ok(&user.ctl(&["pack", "where is the delay decided", "--as", "text"]));
    let mut terminal = Terminal::new();
    let child = started(&user, &terminal, &[]);
    terminal.type_in("y");
    let (status, printed) = ended(child);
    assert_eq!((status.code(), printed.as_str()), (Some(0), ""));
    terminal.until("it says so", |screen| screen.contains("copied"));
    let bytes = text(&terminal.bytes());
    let copied = bytes.split("\x1b]52;c;").nth(1).and_then(|t| t.split('\x07').next()).unwrap();
    let copied = base64::engine::general_purpose::STANDARD.decode(copied).unwrap();
    assert_eq!(text(&copied).trim_end(), whole.trim_end());
}

#[test]
fn a_terminal_is_given_back_at_every_end() {
    let user = User::new();
    for (keys, signal) in [("q", None), ("\x03", None), ("", Some("-TERM")), ("", Some("-HUP"))] {
        let mut terminal = Terminal::new();
        let before = terminal.settings();
        let child = started(&user, &terminal, &[]);
        assert_ne!(format!("{before:?}"), format!("{:?}", terminal.settings()));
        match signal {
            Some(signal) => kill(child.id(), signal),
            None => terminal.type_in(keys),
        }
        let (status, printed) = ended(child);
        match signal {
            Some(_) => assert!(status.signal().is_some(), "{status:?}"),
            None => assert_eq!(status.code(), Some(130)),
        }
        assert_eq!(printed, "");
        terminal.until("the terminal is given back", |_| terminal.is_given_back());
        assert_eq!(format!("{before:?}"), format!("{:?}", terminal.settings()), "{keys:?} {signal:?}");
    }
}

#[test]
fn what_was_dropped_makes_room_and_an_item_is_where_to_start_from() {
    let user = User::new();
    let mut terminal = Terminal::new();
    let child = started(&user, &terminal, &[]);
    terminal.type_in("r");
    terminal.until("there is nothing to fill", |screen| screen.contains("nothing was dropped"));
    terminal.type_in(" r");
    terminal.until("it stays out", |screen| screen.contains("[ ] retry.go:"));
    terminal.type_in("jf");
    terminal.until("another pack", |screen| screen.contains("[x]"));
    terminal.type_in("?");
    terminal.until("keys", |screen| screen.contains("print the text and end"));
    terminal.type_in("xq");
    assert_eq!(ended(child).0.code(), Some(130));
}

/// A change by each of its options, and as a patch on standard input.
#[test]
fn the_parts_of_a_change_are_chosen_on_a_terminal() {
    let user = User::new();
    user.git(&["init", "-q"]);
    user.git(&["add", "-A"]);
    user.git(&["commit", "-q", "-m", "one"]);
    let changed =
        "package demo\n\n// Delay decides how long to wait.\nfunc Delay(n, m int) int { return m << n }\n";
    user.write("repo/retry.go", changed);
    user.write("repo/client.go", "package demo\n\nfunc Get() int { return Delay(3, 1) }\n");
    user.git(&["add", "client.go"]);
    let patch = std::process::Command::new("git").args(["diff"]).current_dir(user.path("repo")).output();
    std::fs::write(user.path("patch"), patch.unwrap().stdout).unwrap();
    for (args, listed) in [
        (&["--diff"][..], &["retry.go:", "client.go:"][..]),
        (&["--diff", "HEAD"], &["retry.go:", "client.go:"]),
        (&["--staged"], &["client.go:"]),
        (&["--param", "change.worktree=true"], &["retry.go:"]),
        (&["--diff", "-"], &["retry.go:"]),
    ] {
        let run = |more: &str| {
            let mut sh = user.run(std::path::Path::new("/bin/sh"));
            let ctl = user.command("ctl");
            sh.args(["-c", "exec \"$@\" < ../patch", "sh"]).arg(ctl.get_program());
            sh.args(["pack", more]).args(args);
            sh
        };
        let whole = ok(&run("--as=text").output().unwrap());
        assert!(whole.starts_with("# changes\n"), "{whole}");
        let picker = |keys: &[&str]| {
            let mut terminal = Terminal::new();
            let child = terminal.spawn(&run("-i"));
            for file in listed {
                terminal.until("the parts", |screen| screen.contains(&format!("[x] {file}")));
            }
            terminal.until("their section", |screen| screen.contains("changes  "));
            for key in keys {
                terminal.type_in(key);
                terminal.until("the first part is dropped or taken in", |screen| {
                    screen.contains(if *key == " " { ">[ ]" } else { ">[x]" })
                });
            }
            terminal.type_in("\r");
            let (status, printed) = ended(child);
            assert_eq!(status.code(), Some(0), "{args:?}");
            printed
        };
        assert_eq!(picker(&[]).trim_end(), whole.trim_end(), "{args:?}");
        let rest = picker(&[" "]);
        let n = |text: &str| text.matches("@@ -").count();
        assert_eq!(n(&rest), n(&whole) - 1, "{args:?}: {rest}");
    }
}

#[test]
fn without_colours_or_a_terminal() {
    let user = User::new();
    let colorful = Terminal::new();
    let child = started(&user, &colorful, &[]);
    assert!(colorful.has_colors());
    kill(child.id(), "-TERM");
    ended(child);
    let plain = Terminal::new();
    let child = started(&user, &plain, &["--color", "never"]);
    assert!(!plain.has_colors(), "{}", plain.screen());
    kill(child.id(), "-TERM");
    ended(child);
    // A session without a terminal.
    let ctl = user.command("ctl");
    let mut alone = user.run(std::path::Path::new("/usr/bin/setsid"));
    let alone = alone.arg("--wait").arg(ctl.get_program()).args(["pack", "-i", "delay"]);
    check_failure(&alone.output().unwrap(), 2, "POC_E_NOT_SUPPORTED");
    let mut dumb: Command = user.command("ctl");
    check_failure(
        &dumb.env("TERM", "dumb").args(["pack", "-i", "delay"]).output().unwrap(),
        2,
        "-i needs a terminal",
    );
    check_failure(&user.ctl(&["pack", "-i", "delay", "--json"]), 2, "cannot be used with");
}
