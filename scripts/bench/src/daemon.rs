//! A daemon of its own: private XDG directories, CPU time and memory read from `/proc`.

use crate::SAMPLE;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The binaries under test.
pub struct Programs {
    ctl: PathBuf,
    indexd: PathBuf,
}

impl Programs {
    /// Looks for the binaries in `bin`.
    pub fn find(bin: &Path) -> Result<Self> {
        let bin = bin.canonicalize().with_context(|| format!("no directory {}", bin.display()))?;
        let at = |name: &str| {
            let path = bin.join(name);
            if path.is_file() { Ok(path) } else { bail!("{} is missing: build it first", path.display()) }
        };
        Ok(Self { ctl: at("ctl")?, indexd: at("indexd")? })
    }

    /// Starts `indexd --stdio` with its directories in `home`.
    pub fn stdio(&self, home: &Path) -> Result<Child> {
        let mut command = Command::new(&self.indexd);
        private(&mut command, home);
        Ok(command
            .arg("--stdio")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?)
    }
}

/// A running daemon and its private directories; stopped on drop.
pub struct Daemon {
    ctl: PathBuf,
    home: Arc<tempfile::TempDir>,
    child: Child,
    peak: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
}

impl Daemon {
    /// Starts a daemon with fresh directories. It does not count tokens ahead of need, which is
    /// idle work and measured apart.
    pub fn start(programs: &Programs) -> Result<Self> {
        Self::start_in(programs, Arc::new(tempfile::tempdir()?), false)
    }

    /// Stops this daemon cleanly and starts another on the same directories, which counts tokens when it is
    /// idle, as by default, or does not.
    pub fn restart(mut self, programs: &Programs, counts_tokens: bool) -> Result<Self> {
        self.end();
        Self::start_in(programs, Arc::clone(&self.home), counts_tokens)
    }

    /// Waits until the daemon has had nothing to do for a while.
    pub fn settle(&self) -> Result<()> {
        let mut before = Duration::MAX;
        while self.cpu()? != before {
            before = self.cpu()?;
            std::thread::sleep(IDLE);
        }
        Ok(())
    }

    fn start_in(programs: &Programs, home: Arc<tempfile::TempDir>, counts_tokens: bool) -> Result<Self> {
        let mut command = Command::new(&programs.indexd);
        private(&mut command, home.path());
        command.env("INDEXD_INDEX_BACKGROUND_TOKENS", counts_tokens.to_string());
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let (peak, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (pid, p, s) = (child.id(), Arc::clone(&peak), Arc::clone(&stop));
        std::thread::spawn(move || {
            while !s.load(Ordering::Relaxed) {
                p.fetch_max(anon_kib(pid).unwrap_or(0), Ordering::Relaxed);
                std::thread::sleep(SAMPLE);
            }
        });
        let daemon = Self { ctl: programs.ctl.clone(), home, child, peak, stop };
        let deadline = Instant::now() + Duration::from_secs(10);
        while !daemon.ctl(&["workspace", "list"])?.status.success() {
            if Instant::now() > deadline {
                bail!("the daemon did not come up");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(daemon)
    }

    fn ctl(&self, args: &[&str]) -> Result<std::process::Output> {
        let mut command = Command::new(&self.ctl);
        private(&mut command, self.home.path());
        Ok(command.args(args).stdin(Stdio::null()).output()?)
    }

    fn ok(&self, args: &[&str]) -> Result<Vec<u8>> {
        let out = self.ctl(args)?;
        if !out.status.success() {
            bail!("ctl {args:?}: {}", String::from_utf8_lossy(&out.stderr));
        }
        Ok(out.stdout)
    }

    /// Adds a repository and waits until it is current.
    pub fn index(&self, root: &Path) -> Result<()> {
        self.ok(&["index", "--repo", text(root)?, "--wait"]).map(drop)
    }

    /// `ctl pack` at 8,000 tokens; the bytes printed.
    pub fn pack(&self, root: &Path, query: &str) -> Result<usize> {
        Ok(self.ok(&["pack", query, "--repo", text(root)?, "--budget", "8000", "--json"])?.len())
    }

    /// Whether `ctl symbol` finds a name.
    pub fn finds(&self, root: &Path, name: &str) -> Result<bool> {
        let out = self.ok(&["symbol", name, "--repo", text(root)?, "--json"])?;
        Ok(String::from_utf8_lossy(&out).matches(name).count() > 1)
    }

    /// What `ctl symbol` says about a name.
    pub fn symbols(&self, root: &Path, name: &str) -> Result<String> {
        let out = self.ctl(&["symbol", name, "--repo", text(root)?, "--json"])?;
        Ok(String::from_utf8_lossy(&out.stdout).into_owned())
    }

    /// Files linked so far in the one workspace there is.
    pub fn n_linked(&self) -> Result<u64> {
        let status: Value = serde_json::from_slice(&self.ok(&["status", "--json"])?)?;
        status.pointer("/workspaces/0/nLinked").and_then(Value::as_u64).context("odd status")
    }

    /// CPU time of the daemon so far.
    pub fn cpu(&self) -> Result<Duration> {
        cpu_of(self.child.id())
    }

    /// CPU time so far of the threads that open the index, walk the tree and watch it.
    pub fn tree_cpu(&self) -> Result<Duration> {
        let mut ns = 0;
        for task in std::fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let task = task?.path();
            let name = std::fs::read_to_string(task.join("comm"))?;
            if ["workspace", "index-", "watch"].iter().any(|n| name.starts_with(n)) {
                let stat = std::fs::read_to_string(task.join("schedstat"))?;
                ns += stat.split(' ').next().and_then(|n| n.parse::<u64>().ok()).context("odd schedstat")?;
            }
        }
        Ok(Duration::from_nanos(ns))
    }

    /// Private memory now, in KiB.
    pub fn anon_kib(&self) -> Result<u64> {
        anon_kib(self.child.id()).context("the daemon is gone")
    }

    /// Highest private memory seen, in KiB.
    pub fn peak_anon_kib(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }

    /// Bytes on disk of everything under the cache directory.
    pub fn index_bytes(&self) -> Result<u64> {
        let out =
            Command::new("du").args(["-s", "--block-size=1"]).arg(self.home.path().join("cache")).output()?;
        let text = String::from_utf8(out.stdout)?;
        Ok(text.split_whitespace().next().context("du printed nothing")?.parse()?)
    }

    fn end(&mut self) {
        // A daemon that was restarted shares its directories with its successor: stop it once only.
        if self.stop.swap(true, Ordering::Relaxed) {
            return;
        }
        let stopped = self.ctl(&["daemon", "stop"]).is_ok_and(|o| o.status.success());
        let deadline = Instant::now() + Duration::from_secs(10);
        while stopped && Instant::now() < deadline && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(10));
        }
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.end();
    }
}

fn private(command: &mut Command, home: &Path) {
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", home);
    // The folder is this user's alone, as folders of `tempfile` are.
    for dir in ["CONFIG", "CACHE", "STATE"] {
        command.env(format!("XDG_{dir}_HOME"), home.join(dir.to_lowercase()));
    }
    command.env("XDG_RUNTIME_DIR", home);
    command.env("INDEXD_NO_AUTOSTART", "1");
}

/// Longer than the daemon waits before it takes up idle work.
const IDLE: Duration = Duration::from_millis(2_500);

/// User and system time of a process so far (fields 14 and 15 of its `stat`, 100 Hz).
pub fn cpu_of(pid: u32) -> Result<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let after = stat.rsplit_once(')').context("odd stat line")?.1;
    let ticks: u64 = after.split_whitespace().skip(11).take(2).filter_map(|f| f.parse::<u64>().ok()).sum();
    Ok(Duration::from_millis(ticks * 10))
}

fn anon_kib(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|l| l.starts_with("RssAnon:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("paths must be UTF-8")
}
