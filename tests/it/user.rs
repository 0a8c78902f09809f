//! One user of the programs: private folders, real processes.

use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

static PROGRAMS: OnceLock<PathBuf> = OnceLock::new();

/// The folder of the programs: `INDEXD_TEST_PROGRAMS`, else built once in the profile of this test.
pub fn programs() -> &'static Path {
    PROGRAMS.get_or_init(|| {
        if let Some(dir) = std::env::var_os("INDEXD_TEST_PROGRAMS") {
            return dir.into();
        }
        let test = std::env::current_exe().unwrap();
        let dir = test.parent().and_then(Path::parent).unwrap().to_owned();
        let mut build = Command::new(env!("CARGO"));
        // Where this test lies: it may have been built into a folder of its own.
        build.args([
            "build",
            "--quiet",
            "-p",
            "indexd",
            "-p",
            "ctlclient",
            "-p",
            "indexd-share",
            "--target-dir",
        ]);
        build.arg(dir.parent().unwrap());
        // Dependencies read these variables, and would be built again for the package of this test.
        for (name, _) in std::env::vars_os() {
            if ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|told| name.to_string_lossy().starts_with(told)) {
                build.env_remove(name);
            }
        }
        if dir.ends_with("release") {
            build.arg("--release");
        }
        assert!(build.status().unwrap().success(), "the programs do not build");
        dir
    })
}

/// Copies one of the programs. Another process does it: while this one has the copy open for writing, a child
/// that another thread starts has it open as well, and the copy does not run.
pub fn copy_program(program: &str, to: &Path) {
    let copied = Command::new("cp").arg(programs().join(program)).arg(to).status();
    assert!(copied.is_ok_and(|status| status.success()), "{program} to {}", to.display());
}

/// One user with folders of its own and a repository; its daemon ends with it.
pub struct User {
    pub dir: tempfile::TempDir,
}

impl User {
    pub fn new() -> Self {
        let user = Self { dir: tempfile::tempdir().unwrap() };
        std::fs::create_dir(user.path("run")).unwrap();
        std::fs::set_permissions(user.path("run"), PermissionsExt::from_mode(0o700)).unwrap();
        user.write("repo/go.mod", "module example.com/demo\n");
        user.write(
            "repo/retry.go",
            "package demo\n\n// Delay decides how long to wait.\nfunc Delay(n int) int { return 1 << n }\n",
        );
        user.write("repo/client.go", "package demo\n\nfunc Get() int { return Delay(3) }\n");
        user
    }

    /// Runs git in the repository, with a name and without the settings of this machine.
    pub fn git(&self, args: &[&str]) {
        crate::support::git(&self.path("repo"), args);
    }

    pub fn path(&self, relative: &str) -> PathBuf {
        self.dir.path().join(relative)
    }

    pub fn write(&self, relative: &str, text: &str) {
        let path = self.path(relative);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub fn command(&self, program: &str) -> Command {
        self.run(&programs().join(program))
    }

    pub fn run(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("PAGER", "cat")
            .env("HOME", self.path("home"))
            .env("XDG_RUNTIME_DIR", self.path("run"));
        for (name, dir) in
            [("XDG_CONFIG_HOME", "config"), ("XDG_CACHE_HOME", "cache"), ("XDG_STATE_HOME", "state")]
        {
            command.env(name, self.path(dir));
        }
        // What a measured program ran is counted with what the tests ran, and not in the repository.
        if let Some(file) = std::env::var_os("LLVM_PROFILE_FILE") {
            command.env("LLVM_PROFILE_FILE", file);
        }
        command.current_dir(self.path("repo")).stdin(Stdio::null());
        command
    }

    pub fn ctl(&self, args: &[&str]) -> Output {
        self.command("ctl").args(args).output().unwrap()
    }

    pub fn socket(&self) -> PathBuf {
        self.path("run/indexd/s")
    }

    pub fn pid(&self) -> Option<u32> {
        let status = self.ctl(&["status", "--json"]);
        let status: Value = serde_json::from_slice(&status.stdout).ok()?;
        Some(status["daemon"]["pid"].as_u64()? as u32)
    }
}

impl Drop for User {
    fn drop(&mut self) {
        if PROGRAMS.get().is_some() {
            let _ = self.command("ctl").args(["daemon", "stop"]).output();
        }
    }
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The answer of a command that must do well.
pub fn ok(output: &Output) -> String {
    assert!(output.status.success(), "{:?}: {}{}", output.status, text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

pub fn is_alive(pid: u32) -> bool {
    // A zombie of a parent that does not wait counts as ended.
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|s| !s.rsplit(')').next().unwrap_or("").trim_start().starts_with('Z'))
}

pub fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(30);
    while !condition() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub fn kill(pid: u32, signal: &str) {
    assert!(Command::new("kill").args([signal, &pid.to_string()]).status().unwrap().success());
}

/// A command line that ends badly: exit status, and the code that standard error names.
pub fn check_failure(output: &Output, exit: i32, code: &str) {
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(exit), "{said}");
    assert!(said.contains(code), "{code} is not in {said}");
    assert!(
        code.is_empty() || said.contains("hint: ") || said.contains("--help") || said.contains("tip:"),
        "{said}"
    );
    assert!(output.stdout.is_empty(), "standard output is for answers: {}", text(&output.stdout));
}

/// A socket in the place of the daemon's.
pub fn listen(user: &User) -> UnixListener {
    std::fs::create_dir_all(user.path("run/indexd")).unwrap();
    std::fs::set_permissions(user.path("run/indexd"), PermissionsExt::from_mode(0o700)).unwrap();
    UnixListener::bind(user.socket()).unwrap()
}

/// A daemon that answers `hello` and everything else as told, and ends when asked.
pub fn impostor(user: &User, hello: Value, error: Value) -> JoinHandle<Vec<String>> {
    let listener = listen(user);
    let socket = user.socket();
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut methods = Vec::new();
        for line in BufReader::new(stream.try_clone().unwrap()).lines() {
            let Ok(line) = line else { break };
            let request: Value = serde_json::from_str(&line).unwrap();
            let method = request["method"].as_str().unwrap().to_owned();
            methods.push(method.clone());
            let mut answer = serde_json::json!({"jsonrpc": "2.0", "id": request["id"]});
            match method.as_str() {
                "hello" => {
                    let target = answer.as_object_mut().unwrap();
                    target.extend(hello.as_object().unwrap().clone());
                }
                "shutdown" => {
                    std::fs::remove_file(&socket).unwrap();
                    answer["result"] = serde_json::json!({"pid": 1, "draining": 0});
                }
                _ => answer["error"] = error.clone(),
            }
            if writeln!(&stream, "{answer}").is_err() || method == "shutdown" {
                break;
            }
        }
        methods
    })
}
