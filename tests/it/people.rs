//! Answers for people on a terminal: colours by the syntax, the best places first, a pager, and questions in the
//! place of commands.

use crate::terminal::Terminal;
use crate::user::{User, check_failure, ok, text};

const MAIN: &str = "package demo\n\n// Delay says how long to wait.\nfunc Delay(n int) string {\n\treturn wait(\"a\", n)\n}\n\nfunc wait(s string, n int) string { return s }\n";

fn user() -> User {
    let user = User::new();
    user.write("repo/go.mod", "module demo\n");
    user.write("repo/delay.go", MAIN);
    let long: String = (0..60).map(|i| format!("\tx = append(x, {i}) // zorkmid\n")).collect();
    user.write("repo/long.go", &format!("package demo\n\nfunc Zorkmid() {{\n\tvar x []int\n{long}}}\n"));
    ok(&user.ctl(&["index", "--wait"]));
    user
}

/// The text that a command line writes to a terminal of 80 columns.
fn seen(user: &User, args: &[&str], vars: &[(&str, &str)]) -> String {
    let mut command = user.command("ctl");
    command.args(args).envs(vars.iter().copied());
    String::from_utf8(Terminal::new().written_by(&mut command)).unwrap().replace("\r\n", "\n")
}

#[test]
fn code_has_the_colours_of_its_syntax() {
    let user = user();
    for args in [&["pack", "Delay"][..], &["show", "Delay"], &["search", "Delay"]] {
        let dark = seen(&user, args, &[("INDEXD_THEME", "dark")]);
        assert!(dark.contains("\x1b[38;5;176mfunc\x1b[0m"), "{args:?}: {dark}");
        assert!(dark.contains("\x1b[38;5;75mDelay\x1b[0m"), "{args:?}: {dark}");
    }
    let light = seen(&user, &["show", "Delay", "--theme", "light"], &[("INDEXD_THEME", "dark")]);
    assert!(light.contains("\x1b[38;5;28m\"a\"\x1b[0m"), "the option goes before the variable: {light}");
    let found = seen(&user, &["grep", "wait"], &[]);
    assert!(found.contains("\x1b[1;31mwait\x1b[0m"), "{found}");
    let called = seen(&user, &["callers", "wait"], &[]);
    assert!(called.contains("\x1b[35mreturn\x1b[0m"), "{called}");
    for args in [&["pack", "Delay"][..], &["grep", "wait"], &["callers", "wait"], &["search", "Delay"]] {
        let plain = seen(&user, args, &[("NO_COLOR", "1")]);
        assert!(!plain.contains('\x1b') && plain.contains("func"), "{args:?}: {plain}");
        assert!(!text(&user.ctl(args).stdout).contains('\x1b'), "{args:?}");
    }
}

#[test]
fn lists_have_colours_and_mistakes_are_harmless() {
    let user = user();
    for option in ["-l", "-c", "--all", "--vimgrep"] {
        let said = seen(&user, &["grep", option, "wait"], &[]);
        assert!(said.contains("\x1b[36m") && !said.contains("\\u{1b}"), "{option}: {said}");
    }
    let odd = "\x1b]0;x\x07\u{202e}";
    let given = [&[odd][..], &["map", odd], &["pack", "--as", odd], &["search", "x", "--limit", odd]];
    for args in given {
        let said = seen(&user, args, &[("NO_COLOR", "1")]);
        assert!(!said.contains(['\x1b', '\x07', '\u{202e}']), "{args:?}: {said}");
        assert!(said.contains("\\u{1b}]0;x\\u{7}\\u{202e}"), "{args:?}: {said}");
    }
}

#[test]
fn a_pack_has_names_reasons_and_lines_that_fit() {
    let user = user();
    let pack = seen(&user, &["pack", "how", "long", "does", "Delay", "wait"], &[("NO_COLOR", "1")]);
    assert!(pack.starts_with("how long does Delay wait\n"), "{pack}");
    assert!(pack.contains("  1 Delay"), "{pack}");
    assert!(pack.contains("calls #2") && pack.contains("called by #1"), "{pack}");
    assert!(pack.lines().all(|l| l.chars().count() <= 80), "{pack}");
    assert!(!pack.contains("seed-") && !pack.contains(" item "), "{pack}");
    // Pipes and agents get another text.
    let piped = ok(&user.ctl(&["pack", "how", "long", "does", "Delay", "wait"]));
    assert!(piped.contains("# code\ndelay.go:"), "{piped}");
}

#[test]
fn long_answers_go_through_the_pager() {
    let user = user();
    let pager = [("PAGER", "sed s/^/paged:/"), ("NO_COLOR", "1")];
    let long = seen(&user, &["show", "Zorkmid"], &pager);
    assert!(long.lines().count() > 60 && long.lines().all(|l| l.starts_with("paged:")), "{long}");
    for (args, vars) in [
        (&["show", "Delay"][..], &pager[..]),
        (&["show", "Zorkmid"], &[("PAGER", ""), ("NO_COLOR", "1")]),
        (&["show", "Zorkmid"], &[("PAGER", "no-such-pager -x"), ("NO_COLOR", "1")]),
    ] {
        let text = seen(&user, args, vars);
        assert!(text.contains("func ") && !text.contains("paged:"), "{args:?} {vars:?}: {text}");
    }
    assert!(
        !text(&user.command("ctl").args(["show", "Zorkmid"]).envs(pager).output().unwrap().stdout)
            .contains("paged")
    );
}

#[test]
fn questions_need_no_command_and_other_names_are_understood() {
    let user = user();
    let packed = ok(&user.ctl(&["pack", "how long does Delay wait"]));
    for line in [&["how long does Delay wait"][..], &["how", "long", "does", "Delay", "wait"]] {
        assert_eq!(ok(&user.ctl(line)), packed, "{line:?}");
    }
    assert_eq!(ok(&user.ctl(&["def", "Delay"])), ok(&user.ctl(&["symbol", "Delay"])));
    let unknown = user.ctl(&["serch"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown.stderr).contains("did you mean ctl search?"), "{}", text(&unknown.stderr));
    let nothing = user.ctl(&["search", "zzqqxx"]);
    assert_eq!((nothing.status.code(), text(&nothing.stderr)), (Some(1), "ctl: nothing found\n".to_owned()));
    let behind = user.ctl(&["callers", "delay.go:99"]);
    check_failure(&behind, 66, "delay.go has 8 lines, and none is number 99");
    assert!(!text(&behind.stderr).contains("did you mean"), "{}", text(&behind.stderr));
}

/// A mistake is named with the words to write instead, in every group of commands; help is paged.
#[test]
fn mistakes_say_what_to_write() {
    let user = user();
    for (line, said) in [
        ("show", "ctl: ctl show needs <WHAT>...: Names, "),
        ("mcp install", "ctl: ctl mcp install needs <CLIENT>: The client, one of claude, cursor, "),
        ("daemon log", "ctl: ctl daemon has no command \"log\"\nhint: ctl daemon start, stop, run\n"),
        ("search x --bogus", "ctl: ctl search has no option --bogus\nhint: for example, ctl search "),
        ("card Delay --budget 5", "cannot be \"5\": it is 100 to 2000\n"),
        ("pack x --intent z", "cannot be \"z\": expected one of answer, "),
        ("callers no/file.go:3", "ctl: no file \"no/file.go\" in the index\nhint: `ctl why no/file.go` says"),
        ("impact dealy.go:70", "hint: did you mean delay.go?\n"),
    ] {
        let output = user.ctl(&line.split(' ').collect::<Vec<_>>());
        let text = text(&output.stderr).replace(" [POC_E_SYMBOL_NOT_FOUND]", "");
        assert!(text.contains(said), "{line}: {text}");
        assert!(output.status.code() > Some(1), "{line}");
    }
    let empty = user.ctl(&["show", ""]);
    assert!(text(&empty.stderr).contains("the name is empty"), "{}", text(&empty.stderr));
    let help = seen(&user, &["--help"], &[("PAGER", "sed s/^/paged:/")]);
    assert!(help.lines().all(|l| l.starts_with("paged:")) && help.contains("Examples:"), "{help}");
}

#[test]
fn a_person_reads_no_codes() {
    let user = user();
    let seen = seen(&user, &["callers", "Nobody"], &[]);
    assert!(seen.starts_with("ctl: no definition of \"Nobody\" in the index\nhint: "), "{seen}");
    check_failure(&user.ctl(&["callers", "Nobody"]), 66, "POC_E_SYMBOL_NOT_FOUND");
}

/// Files with code come before those that only mention the text.
#[test]
fn grep_shows_code_before_documents() {
    let user = user();
    user.write("repo/CHANGES.md", "# Changes\n\n- Delay doubles\n\n## Delay\n");
    let seen = seen(&user, &["grep", "Delay"], &[("NO_COLOR", "1")]);
    let at = |path: &str| seen.find(path).unwrap_or_else(|| panic!("{path}: {seen}"));
    assert!(at("delay.go") < at("CHANGES.md"), "{seen}");
}

/// Lines of every answer break between words, and long answers go through the pager.
#[test]
fn every_answer_fits_the_terminal() {
    let user = user();
    let words = "that is a sentence with more words than fit into one line of a terminal of eighty columns";
    user.write(
        "repo/doc.go",
        &format!("package demo\n\n// Story is a {words}, {words}.\nfunc Story() {{ Delay(1) }}\n"),
    );
    let deep = "a/folder/whose/path/alone/takes/more/than/half/of/a/line";
    user.write(&format!("repo/{deep}/note.txt"), "the name Delay stands here\n");
    let plain = [("NO_COLOR", "1"), ("INDEXD_PAGER", "cat")];
    for line in [
        "",
        "status",
        "card Story",
        "card doc.go",
        "map",
        "doctor",
        "callers Delay",
        "refs wait",
        "impact wait",
        "graph Delay",
        "symbol Delay",
        "search zzqqxx",
        "callers Nobody",
        "pack --diff",
        "workspace list",
        "pack how long does Delay wait",
        "grep Delay",
        "why doc.go",
        "mcp install claude",
    ] {
        for vars in [&plain[..], &plain[1..]] {
            let args: Vec<&str> = line.split_whitespace().collect();
            let seen = seen(&user, &args, vars);
            let is_long = |l: &&str| columns_of(l) > 80 && l.trim().contains(' ');
            assert_eq!(seen.lines().find(is_long), None, "{line}: {seen}");
            assert!(!seen.is_empty(), "{line}");
        }
    }
    let json = seen(&user, &["status", "--json"], &plain);
    assert_eq!(json.trim_end().lines().count(), 1, "{json}");
    let pager = [("PAGER", "sed s/^/paged:/"), ("NO_COLOR", "1")];
    for long in ["map", "card Zorkmid --budget 2000"] {
        let args: Vec<&str> = long.split_whitespace().collect();
        for i in 0..40 {
            user.write(&format!("repo/pkg{i}/p.go"), &format!("package p{i}\n\nfunc main() {{}}\n"));
        }
        let seen = seen(&user, &args, &pager);
        // Warnings go to standard error.
        let answer: Vec<&str> = seen.lines().filter(|l| !l.starts_with("ctl: ")).collect();
        let is_paged = answer.iter().all(|l| l.starts_with("paged:"));
        assert_eq!(is_paged, answer.len() > 24, "{long}: {seen}");
    }
}

/// Columns of a line without its escape sequences, links included.
fn columns_of(line: &str) -> usize {
    let mut rest = line;
    let mut n = 0;
    while let Some((before, sequence)) = rest.split_once('\x1b') {
        n += before.chars().count();
        let end = if sequence.starts_with(']') { "\x1b\\" } else { "m" };
        rest = sequence.split_once(end).map_or("", |s| s.1);
    }
    n + rest.chars().count()
}

/// A statement does not repeat the list below it, and no two lines give the same advice.
#[test]
fn nothing_is_said_twice() {
    let user = user();
    user.write("repo/note.go", "package demo\n\nvar note = \"Delay\"\n");
    let plain = [("NO_COLOR", "1")];
    let callers = seen(&user, &["callers", "Delay"], &plain);
    assert_eq!(callers.matches("note.go").count(), 1, "{callers}");
    assert!(callers.contains("the name also stands in\nnote.go\n"), "{callers}");
    let none = seen(&user, &["callers", "note"], &plain);
    assert_eq!(none.matches("no callers").count(), 1, "{none}");
    let pack = seen(&user, &["pack", "how", "long", "does", "it", "wait"], &plain);
    assert!(!pack.contains("ask again with expect") && !pack.contains("sections without room"), "{pack}");
    assert!(pack.matches("name what the code may say").count() <= 1, "{pack}");
    user.git(&["init", "-q"]);
    user.git(&["add", "-A"]);
    user.git(&["commit", "-q", "-m", "one"]);
    let none = seen(&user, &["pack", "--diff"], &plain);
    assert!(none.contains("Nothing differs between ") && !none.contains("0 places"), "{none}");
    assert!(!none.contains("missing:"), "{none}");
}
