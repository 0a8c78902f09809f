//! The daemon as a process: who starts it, how it ends, what it leaves, and how `ctl` finds another.

use crate::user::{User, check_failure, impostor, is_alive, kill, listen, ok, programs, text, until};
use indexd::server::limits::CONNECTIONS_MAX;
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

#[test]
fn twenty_clients_start_one_daemon() {
    let user = User::new();
    let clients: Vec<Child> = (0..20)
        .map(|_| {
            user.command("ctl")
                .args(["pack", "delay", "--json"])
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let packs: Vec<String> = clients.into_iter().map(|c| ok(&c.wait_with_output().unwrap())).collect();
    let id = |json: &String| serde_json::from_str::<Value>(json).unwrap()["packId"].clone();
    assert!(packs.iter().all(|p| id(p) == id(&packs[0])));
    let log = std::fs::read_to_string(user.path("state/indexd/indexd.log")).unwrap();
    assert_eq!(log.lines().filter(|l| l.contains("\"message\":\"serves\"")).count(), 1, "{log}");
}

#[test]
fn a_killed_daemon_leaves_nothing_that_hinders() {
    let user = User::new();
    ok(&user.ctl(&["pack", "delay"]));
    let pid = user.pid().unwrap();
    kill(pid, "-KILL");
    until("it is gone", || !is_alive(pid));
    assert!(user.socket().exists(), "a killed daemon leaves its socket behind");
    assert!(ok(&user.ctl(&["pack", "delay"])).contains("func Delay"));
    assert_ne!(user.pid().unwrap(), pid);
}

#[test]
fn an_index_is_blamed_for_faults_and_not_for_kills() {
    let user = User::new();
    let end = |signal: &str| {
        ok(&user.ctl(&["pack", "delay"]));
        let pid = user.pid().unwrap();
        // A fault that another process sends happens once, so the handler of the daemon is left.
        until("it is gone", || {
            let _ = Command::new("kill").args([signal, &pid.to_string()]).stderr(Stdio::null()).status();
            !is_alive(pid)
        });
    };
    let is_anew = || {
        ok(&user.ctl(&["pack", "delay"]));
        ok(&user.ctl(&["status"])).contains("built anew")
    };
    (0..6).for_each(|_| end("-KILL"));
    assert!(!is_anew(), "others ended the daemons");
    (0..4).for_each(|_| end("-ABRT"));
    assert!(is_anew(), "faults ended the daemons");
}

#[test]
fn the_daemon_ends_cleanly_when_asked() {
    let user = User::new();
    assert!(ok(&user.ctl(&["daemon", "start"])).contains("runs as process"));
    let pid = user.pid().unwrap();
    assert!(ok(&user.ctl(&["status"])).contains(&format!("running as process {pid}")));
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(
        (mode(&user.path("run/indexd")), mode(&user.socket()), mode(&user.path("state/indexd/indexd.log"))),
        (0o700, 0o600, 0o600)
    );
    kill(pid, "-TERM");
    until("it ended", || !is_alive(pid));
    assert!(!user.socket().exists());
    assert!(ok(&user.ctl(&["status"])).contains("no daemon is running"));
    ok(&user.ctl(&["daemon", "start"]));
    assert_eq!(ok(&user.ctl(&["daemon", "stop"])), "stopped\n");
    assert!(!user.socket().exists());
    assert_eq!(ok(&user.ctl(&["daemon", "stop"])), "no daemon was running\n");
}

/// A stop that is refused is not taken for one that was done.
#[test]
fn clients_that_wait_for_nothing_make_room() {
    let user = User::new();
    ok(&user.ctl(&["daemon", "start"]));
    let silent: Vec<_> = std::iter::repeat_with(|| UnixStream::connect(user.socket()).unwrap())
        .take(2 * CONNECTIONS_MAX)
        .collect();
    for _ in 0..3 {
        ok(&user.ctl(&["status"]));
    }
    assert_eq!(ok(&user.ctl(&["daemon", "stop"])), "stopped\n");
    drop(silent);
}

/// A socket that takes connections and never says a word, as that of a process that was stopped.
#[test]
fn a_mute_daemon_is_not_waited_for() {
    let user = User::new();
    ok(&user.ctl(&["daemon", "start"]));
    ok(&user.ctl(&["daemon", "stop"]));
    let mute = std::os::unix::net::UnixListener::bind(user.socket()).unwrap();
    let out = user.ctl(&["status"]);
    check_failure(&out, 75, "POC_E_BUSY");
    assert!(String::from_utf8_lossy(&out.stderr).contains("no sign of life"), "{out:?}");
    check_failure(&user.ctl(&["status", "--timeout", "0.2"]), 75, "POC_E_BUSY");
    drop(mute);
}

#[test]
fn one_daemon_serves_a_cache_folder() {
    let user = User::new();
    ok(&user.ctl(&["daemon", "start"]));
    let runtime = user.path("other-runtime");
    let other = user.run(&programs().join("indexd")).env("INDEXD_RUNTIME_DIR", &runtime).output().unwrap();
    check_failure(&other, 75, "running already");
    ok(&user.ctl(&["status"]));
}

/// Cron, ssh and agents pass on a few variables: the runtime folder is another one then, the daemon the same.
#[test]
fn one_daemon_serves_every_environment_of_a_user() {
    let user = User::new();
    std::fs::create_dir_all(user.path("tmp")).unwrap();
    let elsewhere = [
        ("XDG_RUNTIME_DIR", None),
        ("XDG_RUNTIME_DIR", Some(user.path("gone"))),
        ("TMPDIR", Some(user.path("tmp"))),
        ("INDEXD_RUNTIME_DIR", Some(user.path("tmp/own"))),
    ];
    let ctl = |(name, value): &(&str, Option<std::path::PathBuf>), args: &[&str]| {
        let mut ctl = user.command("ctl");
        ctl.env_remove("XDG_RUNTIME_DIR");
        if let Some(value) = value {
            ctl.env(name, value);
        }
        ctl.args(args).output().unwrap()
    };
    let pid =
        |status: &str| serde_json::from_str::<serde_json::Value>(status).unwrap()["daemon"]["pid"].clone();
    // Started at the desk, then by each of the others.
    ok(&user.ctl(&["daemon", "start"]));
    let at_desk = pid(&ok(&user.ctl(&["status", "--json"])));
    for other in &elsewhere {
        assert_eq!(pid(&ok(&ctl(other, &["status", "--json"]))), at_desk, "{other:?}");
        assert!(ok(&ctl(other, &["callers", "Delay"])).contains("Get"));
    }
    assert_eq!(ok(&ctl(&elsewhere[0], &["daemon", "stop"])), "stopped\n");
    for other in &elsewhere {
        ok(&ctl(other, &["daemon", "start"]));
        let first = pid(&ok(&ctl(other, &["status", "--json"])));
        assert_eq!(pid(&ok(&user.ctl(&["status", "--json"]))), first, "{other:?}");
        assert_eq!(ok(&user.ctl(&["daemon", "stop"])), "stopped\n");
    }
}

/// A process in another container has no number here; its user has one.
#[test]
fn a_user_is_known_from_another_pid_namespace() {
    let user = User::new();
    let unshare = |line: &str| {
        let mut command = user.run(std::path::Path::new("unshare"));
        let ctl = programs().join("ctl");
        command.args([
            "-m",
            "-p",
            "-f",
            "--mount-proc",
            "sh",
            "-c",
            &line.replace("CTL", ctl.to_str().unwrap()),
        ]);
        command.env("INDEXD_NO_AUTOSTART", "1");
        command
    };
    if !unshare("true").output().is_ok_and(|o| o.status.success()) {
        return eprintln!("skipped: namespaces are not to be had");
    }
    ok(&user.ctl(&["daemon", "start"]));
    assert!(ok(&unshare("CTL callers Delay").output().unwrap()).contains("Get"));
    ok(&user.ctl(&["daemon", "stop"]));
    // The other way round: the daemon is inside, where it ends with the first process.
    let mut inside = unshare("INDEXD_NO_AUTOSTART=0 CTL daemon start && read line");
    let mut inside = inside.stdin(std::process::Stdio::piped()).spawn().unwrap();
    let mut status = user.command("ctl");
    status.args(["callers", "Delay"]).env("INDEXD_NO_AUTOSTART", "1");
    let until = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while !user.socket().exists() && std::time::Instant::now() < until {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let out = status.output().unwrap();
    drop(inside.stdin.take());
    inside.wait().unwrap();
    assert!(ok(&out).contains("Get"));
}

/// What is written through a memory map is in the next answer as soon as the map and its file are closed.
#[test]
fn what_is_written_through_a_map_is_seen_when_it_is_closed() {
    let user = User::new();
    ok(&user.ctl(&["index", "--wait"]));
    let script = "import mmap; f = open('retry.go', 'r+b'); m = mmap.mmap(f.fileno(), 0)
at = m.find(b'Delay(n'); m[at:at + 5] = b'Dalay'; m.close(); f.close()";
    let mut python = user.run(Path::new("python3"));
    match python.args(["-c", script]).env("PATH", std::env::var_os("PATH").unwrap_or_default()).status() {
        Ok(status) => assert!(status.success()),
        Err(e) => return eprintln!("skipped: no Python: {e}"),
    }
    assert!(ok(&user.ctl(&["symbol", "Dalay"])).contains("retry.go:4"));
}

/// Writes to a layer of an overlay make no event in the overlay, and are in the next answer.
#[test]
fn what_is_written_below_an_overlay_is_in_the_next_answer() {
    let user = User::new();
    let script = "set -e; trap 'CTL daemon stop' EXIT; mkdir -p L/lower L/upper L/work; cp -r repo/. L/lower; mkdir merged
        mount -t overlay overlay -o lowerdir=L/lower,upperdir=L/upper,workdir=L/work merged
        echo mounted; cd merged; CTL index --wait; for layer in lower upper; do
        printf 'package demo\n\nfunc In%s() {}\n' $layer > L/$layer/$layer.go; CTL symbol In$layer; done
        CTL status";
    let top = user.path("");
    let script = script.replace("L/", &format!("{}layers/", top.display()));
    let script = script.replace("CTL", programs().join("ctl").to_str().unwrap());
    let mut command = user.run(std::path::Path::new("unshare"));
    let out = command.args(["-r", "-m", "sh", "-c", &script]).current_dir(&top).output().unwrap();
    let said = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    if !said.contains("mounted") {
        return eprintln!("skipped: an overlay is not to be had: {said}");
    }
    assert!(said.contains("lower.go:3") && said.contains("upper.go:3"), "{said}");
}

#[test]
fn folders_that_others_may_write_to_are_refused() {
    use std::os::unix::fs::PermissionsExt;
    let user = User::new();
    ok(&user.ctl(&["daemon", "start"]));
    ok(&user.ctl(&["daemon", "stop"]));
    let runtime = user.socket().parent().unwrap().to_owned();
    let open = |mode| std::fs::set_permissions(&runtime, std::fs::Permissions::from_mode(mode)).unwrap();
    open(0o777);
    check_failure(&user.ctl(&["daemon", "start"]), 77, "POC_E_PERMISSION_DENIED");
    open(0o700);
    let lock = runtime.join("lock");
    std::fs::remove_file(&lock).unwrap();
    let target = user.path("precious");
    std::fs::write(&target, "precious").unwrap();
    std::os::unix::fs::symlink(&target, &lock).unwrap();
    assert!(!user.ctl(&["daemon", "start"]).status.success());
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "precious");
}

#[test]
fn odd_places_are_no_repositories() {
    let user = User::new();
    for place in ["/proc/self", "/dev", "/sys/kernel"] {
        check_failure(&user.ctl(&["pack", "x", "--repo", place]), 66, "made up by the system");
    }
    let own = user.path("cache/indexd");
    check_failure(&user.ctl(&["pack", "x", "--repo", own.to_str().unwrap()]), 66, "indexd itself");
}

/// A home folder can be a workspace when it is named, and holds the daemon's own folders.
#[test]
fn a_workspace_around_the_daemon_s_own_folders_comes_to_rest() {
    let user = User::new();
    for repo in ["repo", "."] {
        let root = user.path(repo).display().to_string();
        ok(&user.ctl(&["index", "--wait", "--repo", &root]));
    }
    let files = |w: &Value| {
        let root = w["root"].as_str().unwrap();
        (Path::new(root) == user.dir.path(), w["nFiles"].as_u64().unwrap())
    };
    for _ in 0..3 {
        let status: Value = serde_json::from_str(&ok(&user.ctl(&["status", "--json"]))).unwrap();
        let workspaces = status["workspaces"].as_array().unwrap();
        assert!(
            workspaces.iter().map(files).all(|(is_outer, n)| n == if is_outer { 5 } else { 3 }),
            "{status}"
        );
        assert!(workspaces.iter().all(|w| w["generation"].as_u64() == Some(1)), "{status}");
        ok(&user.ctl(&["pack", "delay", "--write"]));
    }
}

/// What a daemon holds in memory goes into no core file, and it may watch more than a shell allows.
#[cfg(target_os = "linux")]
#[test]
fn the_daemon_sets_its_own_limits() {
    let user = User::new();
    let ctl = programs().join("ctl").display().to_string();
    let script = "ulimit -S -c unlimited; ulimit -S -n 200; exec \"$0\" daemon start";
    ok(&user.run(Path::new("/bin/sh")).args(["-c", script, &ctl]).output().unwrap());
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", user.pid().unwrap())).unwrap();
    let of = |name: &str| {
        let line = limits.lines().find(|l| l.starts_with(name)).unwrap();
        let mut values = line[name.len()..].split_whitespace().map(str::to_owned);
        (values.next().unwrap(), values.next().unwrap())
    };
    assert_eq!(of("Max core file size").0, "0");
    let (soft, hard) = of("Max open files");
    assert_eq!(soft, hard);
}

/// A limit under which nothing can be done is said at the start, not by a daemon that dies.
#[cfg(target_os = "linux")]
#[test]
fn an_address_space_that_is_too_small_is_said_at_the_start() {
    let user = User::new();
    let ctl = programs().join("ctl").display().to_string();
    let script = "ulimit -v 500000; exec \"$0\" \"$@\"";
    for args in [&["pack", "delay"][..], &["pack", "delay", "--no-daemon"]] {
        let out = user.run(Path::new("/bin/sh")).args(["-c", script, &ctl]).args(args).output().unwrap();
        check_failure(&out, 69, "the address space is limited to 488 MiB");
    }
}

#[test]
fn whatever_the_umask_nothing_is_open_to_others() {
    let user = User::new();
    let ctl = programs().join("ctl").display().to_string();
    let script = "umask 000; exec \"$0\" pack delay --write";
    ok(&user.run(Path::new("/bin/sh")).args(["-c", script, &ctl]).output().unwrap());
    let mut open = Vec::new();
    let mut folders = ["run/indexd", "state/indexd", "cache/indexd"].map(|f| user.path(f)).to_vec();
    let mut n_files = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let meta = entry.metadata().unwrap();
            if meta.permissions().mode() & 0o077 != 0 {
                open.push(entry.path());
            }
            if meta.is_dir() { folders.push(entry.path()) } else { n_files += 1 }
        }
    }
    assert!(n_files >= 8, "socket, locks, log, record, index: {n_files}");
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn a_daemon_whose_socket_was_taken_away_ends() {
    let user = User::new();
    ok(&user.ctl(&["daemon", "start"]));
    let pid = user.pid().unwrap();
    std::fs::remove_file(user.socket()).unwrap();
    until("it ended", || !is_alive(pid));
}

#[test]
fn an_idle_daemon_ends() {
    let user = User::new();
    user.write("config/indexd/config.toml", "[daemon]\nidle_exit_s = 1\n");
    ok(&user.ctl(&["daemon", "start"]));
    let pid = user.pid().unwrap();
    until("it ended", || !is_alive(pid));
    assert!(!user.socket().exists());
}

#[test]
fn no_daemon_means_no_daemon() {
    let user = User::new();
    let pack = ok(&user.ctl(&["pack", "delay", "--no-daemon"]));
    assert!(pack.contains("func Delay"));
    assert!(user.pid().is_none() && !user.socket().exists());
    // What keeps a daemon from starting is called the same without one.
    for args in [&["pack", "delay"][..], &["pack", "delay", "--no-daemon"]] {
        let out = user.command("ctl").env("XDG_CACHE_HOME", "/dev/null/x").args(args).output().unwrap();
        check_failure(&out, 73, "POC_E_CANNOT_CREATE");
    }
    for args in [&["pack", "delay"][..], &["map"], &["search", "delay"]] {
        let refused = user.command("ctl").env("INDEXD_NO_AUTOSTART", "1").args(args).output().unwrap();
        check_failure(&refused, 69, "POC_E_DAEMON_UNAVAILABLE");
        // The setting is blamed where it is the cause.
        assert!(text(&refused.stderr).contains("INDEXD_NO_AUTOSTART"), "{args:?}");
    }
    // Beside a running daemon the same option speaks to it.
    ok(&user.ctl(&["daemon", "start"]));
    assert!(ok(&user.ctl(&["pack", "delay", "--no-daemon"])).contains("func Delay"));
}

#[test]
fn an_older_daemon_makes_room_for_a_newer_one() {
    let user = User::new();
    let hello = serde_json::json!({"result": {"protocol": 1, "supported": {"min": 1, "max": 1}, "server": {"name": "indexd", "version": "0.0.1"}, "methods": [], "capabilities": [], "pid": 1}});
    let old = impostor(&user, hello, Value::Null);
    assert!(ok(&user.ctl(&["pack", "delay"])).contains("func Delay"));
    let asked = old.join().unwrap();
    assert_eq!((asked[0].as_str(), asked.last().unwrap().as_str()), ("hello", "shutdown"));
    assert!(user.pid().is_some());
}

#[test]
fn a_newer_protocol_is_not_guessed_at() {
    let user = User::new();
    let refusal = serde_json::json!({"error": {"code": -32001, "message": "protocol 1 is not spoken here, only 98 to 99", "data": {
        "code": "POC_E_CONTRACT_VERSION", "aliases": [], "hint": "install the same release", "exit": 65, "details": {"supported": {"min": 98, "max": 99}}}}});
    let new = impostor(&user, refusal, Value::Null);
    check_failure(&user.ctl(&["pack", "delay"]), 65, "POC_E_CONTRACT_VERSION");
    assert!(!new.join().unwrap().contains(&"shutdown".to_owned()));
    std::fs::remove_file(user.socket()).unwrap();
}

#[test]
fn a_daemon_that_dies_within_a_request_is_replaced() {
    let user = User::new();
    let listener = listen(&user);
    let dying = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
        let hello: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        let result = serde_json::json!({"protocol": 1, "supported": {"min": 1, "max": 1}, "server": {"name": "indexd", "version": "999.0.0"}, "methods": [], "capabilities": [], "pid": 1});
        writeln!(&stream, "{}", serde_json::json!({"jsonrpc": "2.0", "id": hello["id"], "result": result}))
            .unwrap();
        lines.next().unwrap().unwrap().contains("\"pack\"")
    });
    assert!(ok(&user.ctl(&["pack", "delay"])).contains("func Delay"));
    assert!(dying.join().unwrap(), "it had the request");
}

#[test]
fn the_index_of_a_repository_that_is_gone_is_removed_when_asked_for() {
    let user = User::new();
    ok(&user.ctl(&["pack", "delay"]));
    let collect =
        || ok(&user.command("ctl").current_dir(user.dir.path()).args(["workspace", "gc"]).output().unwrap());
    assert_eq!(collect(), "0 indexes removed, 0 B\n");
    std::fs::rename(user.path("repo"), user.path("away")).unwrap();
    let said = collect();
    assert!(said.contains("  gone  ") && said.contains("1 index removed"), "{said}");
    assert_eq!(collect(), "0 indexes removed, 0 B\n");
}

/// What was printed of an answer would come twice.
#[test]
fn an_answer_that_was_begun_is_not_asked_for_again() {
    let user = User::new();
    let listener = listen(&user);
    let dying = std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
        let mut request = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
        let hello = request();
        let result = serde_json::json!({"protocol": 1, "supported": {"min": 1, "max": 1}, "server": {"name": "indexd", "version": "999.0.0"}, "methods": [], "capabilities": [], "pid": 1});
        let chunk = serde_json::json!({"id": request()["id"], "seq": 0, "text": "the first line\n"});
        for message in [
            serde_json::json!({"jsonrpc": "2.0", "id": hello["id"], "result": result}),
            serde_json::json!({"jsonrpc": "2.0", "method": "$/chunk", "params": chunk}),
        ] {
            writeln!(&stream, "{message}").unwrap();
        }
    });
    let output = user.ctl(&["export", "dump"]);
    dying.join().unwrap();
    assert_eq!(text(&output.stdout), "the first line\n");
    assert!(text(&output.stderr).contains("POC_E_DAEMON_UNAVAILABLE"), "{}", text(&output.stderr));
    assert_eq!(output.status.code(), Some(69));
}

/// Whoever has less time than a busy daemon asks for is told at once what the daemon says.
#[test]
fn a_busy_daemon_is_not_waited_for_beyond_the_time_limit() {
    let user = User::new();
    let hello = serde_json::json!({"result": {"protocol": 1, "supported": {"min": 1, "max": 1}, "server": {"name": "indexd", "version": "999.0.0"}, "methods": [], "capabilities": [], "pid": 1}});
    let data = serde_json::json!({"code": "POC_E_BUSY", "aliases": [], "exit": 75, "hint": "try again", "retryAfterMs": 900});
    let error = serde_json::json!({"code": -32000, "message": "all places are taken", "data": data});
    let busy = impostor(&user, hello, error);
    let output = user.ctl(&["pack", "delay", "--timeout", "0.8"]);
    check_failure(&output, 75, "POC_E_BUSY");
    assert!(text(&output.stderr).contains("all places are taken"), "{}", text(&output.stderr));
    assert_eq!(busy.join().unwrap(), ["hello", "pack"]);
}

#[test]
fn a_daemon_that_is_still_ending_is_named() {
    let user = User::new();
    ok(&user.ctl(&["daemon", "start"]));
    ok(&user.ctl(&["daemon", "stop"]));
    let lock = user.socket().with_file_name("lock");
    let file = std::fs::File::options().write(true).open(&lock).unwrap();
    file.lock().unwrap();
    std::fs::write(&lock, format!("{}\n", std::process::id())).unwrap();
    let said = ok(&user.ctl(&["doctor"]));
    assert!(said.contains(&format!("process {}, a daemon that takes no more", std::process::id())), "{said}");
    drop(file);
    let said = ok(&user.ctl(&["doctor"]));
    assert!(said.contains("no daemon is running"), "{said}");
}

#[test]
fn no_request_is_lost_while_daemons_come_and_go() {
    let user = User::new();
    ok(&user.ctl(&["index", "--wait"]));
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..20)
            .map(|n| {
                let user = &user;
                scope.spawn(move || {
                    for i in 0..4 {
                        ok(&user.ctl(&["pack", &format!("delay {n} {i}"), "--json"]));
                    }
                })
            })
            .collect();
        for _ in 0..3 {
            std::thread::sleep(Duration::from_millis(60));
            ok(&user.ctl(&["daemon", "stop"]));
        }
        clients.into_iter().for_each(|c| c.join().unwrap());
    });
}

/// A machine that slept: the daemon hears of everything that happened meanwhile, however late.
#[test]
fn a_daemon_that_was_stopped_for_a_while_hears_what_happened() {
    let user = User::new();
    ok(&user.ctl(&["pack", "delay"]));
    let pid = user.pid().unwrap();
    kill(pid, "-STOP");
    let n_files = crate::support::number("INDEXD_TEST_FILES", 300);
    for i in 0..n_files {
        user.write(&format!("repo/p{i}/f.go"), &format!("package p{i}\n\nfunc Woken{i}() {{}}\n"));
    }
    std::fs::remove_file(user.path("repo/client.go")).unwrap();
    kill(pid, "-CONT");
    let last = format!("Woken{}", n_files - 1);
    assert!(ok(&user.ctl(&["symbol", &last])).contains(&format!("p{}/f.go", n_files - 1)));
    check_failure(&user.ctl(&["symbol", "Get"]), 66, "");
    assert_eq!(user.pid(), Some(pid));
}

/// Every socket that a daemon has open is of the Unix family.
#[cfg(target_os = "linux")]
#[test]
fn a_daemon_has_no_socket_of_a_network() {
    let user = User::new();
    ok(&user.ctl(&["pack", "delay"]));
    let pid = user.pid().unwrap();
    // The daemon may not be looked into by others of its user; root may.
    let Ok(entries) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return };
    let unix = std::fs::read_to_string(format!("/proc/{pid}/net/unix")).unwrap();
    let mut n_sockets = 0;
    for entry in entries.flatten() {
        let Ok(target) = std::fs::read_link(entry.path()) else { continue };
        let target = target.to_string_lossy().into_owned();
        if let Some(inode) = target.strip_prefix("socket:[").and_then(|t| t.strip_suffix(']')) {
            let is_unix = unix.lines().any(|l| l.split_whitespace().nth(6) == Some(inode));
            assert!(is_unix, "{target} is no Unix socket");
            n_sockets += 1;
        }
    }
    assert!(n_sockets > 0);
}

/// Set for the process of another user that tries to speak to a daemon; names the socket.
const OTHER_USER: &str = "INDEXD_TEST_OTHER_USER";
/// The user id of nobody, and the one under which users of other namespaces appear.
const NOBODY: u32 = 65_534;

/// Not a test by itself: what the other user does.
#[test]
fn other_user() {
    let Ok(socket) = std::env::var(OTHER_USER) else { return };
    let mut stream = UnixStream::connect(socket).expect("the folders let everybody in");
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    // The daemon may hang up before it is asked.
    let _ = stream.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"status\",\"params\":{}}\n");
    let mut said = String::new();
    let _ = BufReader::new(stream).read_line(&mut said);
    println!("other user heard {said:?}");
    assert!(!said.contains("result"), "{said}");
}

/// Whatever the modes of the folders are, the daemon answers its own user alone. Only root can become
/// another user, so that elsewhere this looks at nothing.
#[cfg(target_os = "linux")]
#[test]
fn a_connection_of_another_user_is_refused() {
    use std::os::unix::process::CommandExt;
    if !std::fs::metadata("/proc/self").is_ok_and(|m| std::os::unix::fs::MetadataExt::uid(&m) == 0) {
        return;
    }
    let user = User::new();
    ok(&user.ctl(&["pack", "delay"]));
    let open = |path: &Path, mode| std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
    for folder in ["", "run", "run/indexd"] {
        open(&user.path(folder), 0o755);
    }
    open(&user.socket(), 0o666);
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "daemon::other_user", "--nocapture"]).env(OTHER_USER, user.socket());
    match command.uid(NOBODY).gid(NOBODY).output() {
        Ok(out) => assert!(ok(&out).contains("other user heard"), "{out:?}"),
        // The test program itself lies where others may not go.
        Err(e) => assert_eq!(e.kind(), std::io::ErrorKind::PermissionDenied),
    }
    ok(&user.ctl(&["status"]));
    for folder in ["run/indexd", "run"] {
        open(&user.path(folder), 0o700);
    }
}
