//! Whether following the history of a real repository step by step links each file as linking the
//! whole tree does: between two commits the changed files change in groups, in any order, as an
//! editor, a slow checkout or a rebase changes them.
//!
//! `cargo run --release -p indexd-oracle --example steps -- CLONE [PAIRS] [SEED]` prints each file
//! whose links differ after the last group, with what both say. The exit status is 1 when any does.

use anyhow::{Context, Result, bail, ensure};
use indexd_history::{CommitId, Repository};
use indexd_model::names::chain;
use indexd_model::{Facts, RepoPath};
use indexd_oracle::LinkedTree;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Commits between the two of a pair at most.
const APART_MAX: usize = 400;
/// Bytes of a file that is read.
const BYTES_MAX: u64 = 1 << 20;
/// Groups that the changes of a pair are cut into.
const GROUPS: usize = 12;
/// Lines shown of a file that differs.
const SHOWN: usize = 12;

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let repository = PathBuf::from(args.next().context("usage: steps CLONE [PAIRS] [SEED]")?);
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
    let commits = commits(repository)?;
    let repository = Repository::open(repository)?;
    let commits: Vec<&str> = commits.lines().collect();
    let mut n_wrong = 0;
    for pair in 0..n_pairs {
        let from = random.below(commits.len());
        let to = (from + 1 + random.below(APART_MAX)).min(commits.len() - 1);
        let (from, to) = if random.below(2) == 0 { (from, to) } else { (to, from) };
        let (before, after) = (tree(&repository, commits[from])?, tree(&repository, commits[to])?);
        let differing = follow(&repository, &before, &after, &mut random)?;
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
type Tree = BTreeMap<RepoPath, CommitId>;

/// What each file's links say, by path.
type Said = BTreeMap<RepoPath, BTreeSet<String>>;

fn follow(
    repository: &Repository,
    before: &Tree,
    after: &Tree,
    random: &mut Random,
) -> Result<Vec<(RepoPath, Vec<String>)>> {
    let ids = before.values().chain(after.values()).collect::<BTreeSet<_>>();
    let contents: HashMap<&CommitId, Vec<u8>> =
        ids.into_iter().filter_map(|id| Some((id, repository.content(id, BYTES_MAX)?))).collect();
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
            // A name that stays when the definition moves.
            let facts = Facts::inside(&model.files[to].facts);
            let names: Vec<String> = chain(&facts, l.target.def)
                .into_iter()
                .map(|def| format!("{}.{}", facts.def_name(def), facts.def(def).ordinal))
                .collect();
            format!("{:?} at {} {to} {} {}", l.kind, l.at, names.join(" "), l.confidence)
        });
        let lookups = file.links.lookups.iter().map(|key| format!("looks up {:016x}", key.0));
        said.insert(path.clone(), links.chain(lookups).collect());
    }
}

/// The files of a commit.
fn tree(repository: &Repository, commit: &str) -> Result<Tree> {
    let files = repository.files_of(commit)?.into_iter();
    Ok(files.filter_map(|(path, id)| Some((RepoPath::new(&path).ok()?, id))).collect())
}

/// The commits before HEAD, the newest first, without those that merges brought in.
fn commits(repository: &Path) -> Result<String> {
    let mut git = Command::new("git");
    let out = git.arg("-C").arg(repository).args(["rev-list", "--first-parent", "HEAD"]).output()?;
    ensure!(out.status.success(), "git rev-list: {}", String::from_utf8_lossy(&out.stderr));
    Ok(String::from_utf8(out.stdout)?)
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
