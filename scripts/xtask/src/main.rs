//! The one entry point for chores: `cargo xtask check` is what continuous integration runs.

mod complexity;
mod editors;
mod layers;
mod prose;

use anyhow::{Context, Result, bail, ensure};
use clap::{Parser, Subcommand};
use ignore::WalkBuilder;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Parser)]
#[command(about = "Chores of this workspace")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Format, lints with warnings denied, layering, complexity, reasons of goldens, docs, dependencies, tests, editors
    Check {
        /// Leave the tests out
        #[arg(long)]
        no_tests: bool,
    },
    /// Measure how many ways lead through each function
    Complexity {
        /// Functions to print, the largest first
        #[arg(long, default_value_t = 20)]
        show: usize,
    },
    /// Count comments that are hard to read, by crate: marks, lines, marks in 100 lines
    Prose,
    /// Run the clients of proto/clients and the plugins of editors against a real daemon
    Editors,
}

/// The tool that finds unused dependencies, and its version.
const MACHETE: (&str, &str) = ("cargo-machete", "0.9.2");
/// The tool that checks licences, sources and versions of dependencies, and its version.
const DENY: (&str, &str) = ("cargo-deny", "0.20.2");

fn main() -> Result<()> {
    let top = top()?;
    match Cli::parse().task {
        Task::Check { no_tests } => check(&top, no_tests),
        Task::Complexity { show } => {
            for m in complexity::measure(&top)?.iter().take(show) {
                println!("{} {}", m.number, m.name);
            }
            complexity::check(&top)
        }
        Task::Prose => {
            for (folder, n) in prose::measure(&top)? {
                println!(
                    "{folder} {} {} {:.1}",
                    n.marks,
                    n.lines,
                    100.0 * n.marks as f64 / n.lines.max(1) as f64
                );
            }
            prose::check(&top)
        }
        Task::Editors => editors::run(&top),
    }
}

fn check(top: &Path, no_tests: bool) -> Result<()> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let words = |text: &'static str| text.split(' ').collect::<Vec<_>>();
    run(top, &cargo, &words("fmt --all --check"))?;
    run(top, &cargo, &words("clippy --workspace --all-targets --quiet -- -D warnings"))?;
    layers(top)?;
    complexity::check(top)?;
    prose::check(top)?;
    run(top, "bash", &words("scripts/golden-reasons.sh"))?;
    let doc = words("doc --workspace --no-deps --document-private-items --quiet");
    run_with(top, &cargo, &doc, &[("RUSTDOCFLAGS", "-D warnings -A rustdoc::private-intra-doc-links")])?;
    dependencies(top, &cargo)?;
    if !no_tests {
        obtain_shells();
        run(top, &cargo, &words("test --workspace --quiet"))?;
        editors::run(top)?;
        run(top, "bash", &words("scripts/page_check.sh"))?;
    }
    Ok(())
}

fn layers(top: &Path) -> Result<()> {
    let text = std::fs::read_to_string(top.join("ARCHITECTURE.md")).context("ARCHITECTURE.md")?;
    let crates = layers::crates(&metadata(top)?)?;
    let wrong = layers::violations(&layers::codemap(&text), &crates);
    if !wrong.is_empty() {
        bail!("the crates do not follow the codemap of ARCHITECTURE.md:\n{}", wrong.join("\n"));
    }
    Ok(())
}

/// The Rust files of the repository: paths from its root, and texts.
fn sources(top: &Path) -> Result<Vec<(String, String)>> {
    let mut walk = WalkBuilder::new(top);
    walk.standard_filters(false).hidden(true).filter_entry(|entry| entry.file_name() != "target");
    let mut out = Vec::new();
    for entry in walk.build() {
        let path = entry?.into_path();
        if path.extension().is_some_and(|end| end == "rs") {
            let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            out.push((path.strip_prefix(top)?.display().to_string(), text));
        }
    }
    Ok(out)
}

/// What cargo says of the workspace.
fn metadata(top: &Path) -> Result<serde_json::Value> {
    let args = ["metadata", "--no-deps", "--format-version", "1", "--offline"];
    let out = Command::new("cargo").args(args).current_dir(top).output().context("cargo metadata")?;
    ensure!(out.status.success(), "cargo metadata failed: {}", String::from_utf8_lossy(&out.stderr));
    Ok(serde_json::from_slice(&out.stdout)?)
}

/// Where this is continuous integration on Debian: installs the programs that read completions and manuals
/// in tests. A test says which it does without.
fn obtain_shells() {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let has = |program: &str| std::env::split_paths(&path).any(|dir| dir.join(program).is_file());
    let missing: Vec<&str> = ["zsh", "fish", "mandoc"].into_iter().filter(|p| !has(p)).collect();
    if missing.is_empty() || std::env::var_os("CI").is_none() || !has("apt-get") {
        return;
    }
    if let Err(e) = editors::apt_get_install(&missing) {
        eprintln!("xtask: {} cannot be installed; tests go on without: {e}", missing.join(", "));
    }
}

/// The path of a tool, which is built once and kept under `target/tools`.
///
/// # Errors
/// When it cannot be built.
fn tool(top: &Path, cargo: &str, (name, version): (&str, &str)) -> Result<String> {
    let root = top.join("target/tools");
    let tool = root.join("bin").join(name);
    if !tool.exists() {
        let root = root.to_string_lossy();
        run(top, cargo, &["install", "--quiet", "--locked", "--root", &root, "--version", version, name])?;
    }
    Ok(tool.to_string_lossy().into_owned())
}

/// Finds dependencies that no code names, and those whose licence or source `deny.toml` does not allow.
/// The list of advisories comes from the network, so it is left to `cargo deny check advisories`.
fn dependencies(top: &Path, cargo: &str) -> Result<()> {
    run(top, &tool(top, cargo, MACHETE)?, &[])?;
    run(top, &tool(top, cargo, DENY)?, &["check", "licenses", "bans", "sources"])
}

fn run(top: &Path, program: &str, args: &[&str]) -> Result<()> {
    run_with(top, program, args, &[])
}

fn run_with(top: &Path, program: &str, args: &[&str], variables: &[(&str, &str)]) -> Result<()> {
    eprintln!("xtask: {program} {}", args.join(" "));
    let mut command = plain(program);
    command.args(args).envs(variables.iter().copied()).current_dir(top);
    let status = command.status().with_context(|| program.to_owned())?;
    ensure!(status.success(), "`{program} {}` failed", args.join(" "));
    Ok(())
}

/// A program; cargo is not told of this package, since dependencies that read these variables would be built
/// again in each of the steps.
fn plain(program: &str) -> Command {
    let mut command = Command::new(program);
    let is_cargo = Path::new(program).file_stem().is_some_and(|name| name == "cargo");
    for (name, _) in std::env::vars_os().filter(|_| is_cargo) {
        if ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|told| name.to_string_lossy().starts_with(told)) {
            command.env_remove(name);
        }
    }
    command
}

/// The root of the workspace, wherever the task was started.
fn top() -> Result<PathBuf> {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let top = here.ancestors().nth(2).context("the workspace is two folders up")?;
    Ok(top.to_owned())
}
