//! Whether following the history of a real repository step by step links each file as linking the
//! whole tree does: between two commits the changed files change in groups, in any order, as an
//! editor, a slow checkout or a rebase changes them.
//!
//! `cargo run --release -p indexd-oracle --example steps -- REPOSITORY [PAIRS] [SEED]` prints each file
//! whose links differ after the last group, with what both say. The exit status is 1 when any does.

use anyhow::{Context, Result, bail};
use indexd_model::{DefIdx, Interface, RepoPath};
use indexd_oracle::LinkedTree;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Commits between the two of a pair at most.
const APART_MAX: usize = 400;
/// Bytes of a file that is read.
const BYTES_MAX: usize = 1 << 20;
/// Groups that the changes of a pair are cut into.
const GROUPS: usize = 12;
/// Lines shown of a file that differs.
const SHOWN: usize = 12;

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let repository = PathBuf::from(args.next().context("usage: steps REPOSITORY [PAIRS] [SEED]")?);
    let n_pairs = args.next().map_or(Ok(20), |n| n.parse())?;
    let seed = args.next().map_or(Ok(1), |n| n.parse())?;
    // Parsers recurse with the nesting of the source.
    let run = move || run(&repository, n_pairs, seed);
    match std::thread::Builder::new().stack_size(64 << 20).spawn(run)?.join() {
        Ok(result) => result,
        Err(_) => bail!("linking panicked"),
    }
}

fn run(repository: &Path, n_pairs: usize, seed: u64) -> Result<()> {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let git = Git(repository.to_owned());
    let commits = git.text(&["rev-list", "--first-parent", "HEAD"])?;
    let commits: Vec<&str> = commits.lines().collect();
    let mut n_wrong = 0;
    for pair in 0..n_pairs {
        let from = random.below(commits.len());
        let to = (from + 1 + random.below(APART_MAX)).min(commits.len() - 1);
        let (from, to) = if random.below(2) == 0 { (from, to) } else { (to, from) };
        let (before, after) = (git.tree(commits[from])?, git.tree(commits[to])?);
        let differing = follow(&git, &before, &after, &mut random)?;
        eprintln!("{pair}: {} to {}: {} files differ", commits[from], commits[to], differing.len());
        for (path, lines) in &differing {
            println!("{path}");
            lines.iter().take(SHOWN).for_each(|line| println!("  {line}"));
        }
        n_wrong += differing.len();
    }
    if n_wrong > 0 { bail!("{n_wrong} files are not linked as their tree says") } else { Ok(()) }
}

/// Paths with the ids of what they hold.
type Tree = BTreeMap<RepoPath, String>;

/// What each file's links say, by path.
type Said = BTreeMap<RepoPath, BTreeSet<String>>;

fn follow(
    git: &Git,
    before: &Tree,
    after: &Tree,
    random: &mut Random,
) -> Result<Vec<(RepoPath, Vec<String>)>> {
    let contents = git.contents(before.values().chain(after.values()))?;
    let bytes = |tree: &Tree, path: &RepoPath| tree.get(path).and_then(|id| contents.get(id));
    let whole = |tree: &Tree| tree.keys().map(|p| (p.clone(), bytes(tree, p).map(|b| &b[..]))).collect();
    let mut model = LinkedTree::default();
    let mut said = Said::new();
    note(&mut said, &model.apply(whole(before)), &model);
    let paths: BTreeSet<&RepoPath> = before.keys().chain(after.keys()).collect();
    let mut changed: Vec<&RepoPath> = paths.into_iter().filter(|p| before.get(*p) != after.get(*p)).collect();
    for i in (1..changed.len()).rev() {
        changed.swap(i, random.below(i + 1));
    }
    for group in changed.chunks(changed.len().div_ceil(GROUPS).max(1)) {
        let group = group.iter().map(|p| ((*p).clone(), bytes(after, p).map(|b| &b[..]))).collect();
        let due = model.apply(group);
        note(&mut said, &due, &model);
    }
    let mut fresh = LinkedTree::default();
    let mut expected = Said::new();
    note(&mut expected, &fresh.apply(whole(after)), &fresh);
    said.retain(|path, _| after.contains_key(path));
    let mut out = Vec::new();
    for (path, want) in &expected {
        let got = said.get(path).cloned().unwrap_or_default();
        let missing = want.difference(&got).map(|line| format!("- {line}"));
        let extra = got.difference(want).map(|line| format!("+ {line}"));
        let lines: Vec<String> = missing.chain(extra).collect();
        if !lines.is_empty() {
            out.push((path.clone(), lines));
        }
    }
    Ok(out)
}

/// Notes what the links of the files that were linked say.
fn note(said: &mut Said, due: &BTreeSet<RepoPath>, model: &LinkedTree) {
    let paths: Vec<&RepoPath> = model.files.keys().collect();
    for path in due {
        let Some(file) = model.files.get(path) else { continue };
        let links = file.links.links.iter().map(|l| {
            let to = paths[l.target.file.index()];
            let name = name_of(&model.files[to].facts.interface, l.target.def);
            format!("{:?} at {} {to} {name} {}", l.kind, l.at, l.confidence)
        });
        let lookups = file.links.lookups.iter().map(|key| format!("looks up {:016x}", key.0));
        said.insert(path.clone(), links.chain(lookups).collect());
    }
}

/// A name of a definition that stays when it moves.
fn name_of(interface: &Interface, def: DefIdx) -> String {
    let mut names = Vec::new();
    let mut at = def.some();
    while let Some(def) = at.map(|d| &interface.defs[d.index()]) {
        names.push(format!("{}.{}", interface.arena.strings[def.name.index()], def.ordinal));
        at = def.parent.some();
    }
    names.join(" in ")
}

/// A repository, read by the program of the same name.
struct Git(PathBuf);

impl Git {
    fn text(&self, args: &[&str]) -> Result<String> {
        let out = Command::new("git").arg("-C").arg(&self.0).args(args).output()?;
        if !out.status.success() {
            bail!("git {}: {}", args.join(" "), String::from_utf8_lossy(&out.stderr));
        }
        Ok(String::from_utf8_lossy(&out.stdout).into_owned())
    }

    fn tree(&self, commit: &str) -> Result<Tree> {
        let listed = self.text(&["-c", "core.quotePath=off", "ls-tree", "-r", commit])?;
        let file = |line: &str| {
            let (about, path) = line.split_once('\t')?;
            let mut words = about.split(' ');
            let (mode, id) = (words.next()?, words.nth(1)?);
            mode.starts_with("100").then_some(())?;
            Some((RepoPath::new(path).ok()?, id.to_owned()))
        };
        Ok(listed.lines().filter_map(file).collect())
    }

    /// The contents of some blobs, without large ones.
    fn contents<'i>(&self, ids: impl Iterator<Item = &'i String>) -> Result<HashMap<String, Vec<u8>>> {
        let ids: BTreeSet<&String> = ids.collect();
        let mut git = Command::new("git");
        git.arg("-C").arg(&self.0).args(["cat-file", "--batch"]);
        let mut git = git.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut asked = git.stdin.take().context("a pipe")?;
        let all: String = ids.iter().map(|id| format!("{id}\n")).collect();
        let writer = std::thread::spawn(move || asked.write_all(all.as_bytes()));
        let out = git.wait_with_output()?.stdout;
        writer.join().map_err(|_| anyhow::anyhow!("writing panicked"))??;
        let (mut found, mut rest) = (HashMap::new(), &out[..]);
        while let Some(end) = rest.iter().position(|b| *b == b'\n') {
            let head = String::from_utf8_lossy(&rest[..end]).into_owned();
            let mut words = head.split(' ');
            let id = words.next().context("an id")?;
            // A partial clone misses some.
            let Some(len) = words.nth(1) else {
                rest = &rest[end + 1..];
                continue;
            };
            let len: usize = len.parse()?;
            let bytes = &rest[end + 1..end + 1 + len];
            if len <= BYTES_MAX {
                found.insert(id.to_owned(), bytes.to_vec());
            }
            rest = &rest[end + 2 + len..];
        }
        Ok(found)
    }
}

/// Numbers that look random (xorshift64*, Vigna 2016).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n.max(1)
    }
}
