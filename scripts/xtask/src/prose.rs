//! How many comments are hard to read, by folder.
//!
//! Documentation is counted line by line against patterns of sentences that readers had to read twice: a clause
//! used as a noun in front, `stands` and `lies` for where a thing is, rare adverbs, `is no`. The number of marks in
//! a folder may only fall; `scripts/xtask/prose.txt` has the last one.

use anyhow::{Result, bail};
use regex::Regex;
use std::collections::BTreeMap;
use std::path::Path;

/// Marks allowed by folder, a line each: `folder marks`.
const ALLOWED: &str = include_str!("../prose.txt");
/// What counts as a mark, in a line of documentation without its slashes.
const MARKS: [&str; 6] = [
    r"^(What|Whether|The same|Of|How|Where|Who|Whoever)\b",
    r"\bwhat (it|they|is|are|was|were|has|have|one|nobody|others|somebody)\b",
    r"\b(stands?|stood|lies|lay)\b",
    r"\b(meanwhile|anew|afresh|alike|beside|so many|nobody|whoever|somebody|who asks)\b",
    r"\bis no [a-z]",
    r"^(Says|Gives|Lays|Tells|Brings)\b",
];

/// Marks and lines of documentation of a folder.
#[derive(Clone, Copy, Default)]
pub struct Counted {
    /// Lines with at least one mark count once for each.
    pub marks: usize,
    /// Lines of documentation and comments.
    pub lines: usize,
}

/// Counts the marks of each crate, by its folder.
///
/// # Errors
/// When a file cannot be read.
pub fn measure(top: &Path) -> Result<BTreeMap<String, Counted>> {
    let marks: Vec<Regex> = MARKS.iter().map(|m| Regex::new(m)).collect::<Result<_, _>>()?;
    let mut out = BTreeMap::new();
    for (path, text) in crate::sources(top)? {
        count(&text, &marks, out.entry(folder_of(top, &top.join(path))).or_default());
    }
    Ok(out)
}

/// The folder of the crate that a file belongs to, from the top.
fn folder_of(top: &Path, file: &Path) -> String {
    let of_crate = file.ancestors().skip(1).find(|dir| dir.join("Cargo.toml").is_file()).unwrap_or(top);
    of_crate.strip_prefix(top).unwrap_or(of_crate).to_string_lossy().into_owned()
}

fn count(text: &str, marks: &[Regex], out: &mut Counted) {
    for line in text.lines().map(str::trim_start) {
        let Some(words) = line.strip_prefix("//").map(|l| l.trim_start_matches(['/', '!', ' '])) else {
            continue;
        };
        out.lines += 1;
        out.marks += marks.iter().filter(|m| m.is_match(words)).count();
    }
}

/// Fails when a crate has more marks than before, or fewer than are listed.
///
/// # Errors
/// The crates at fault, with what `prose.txt` must say.
pub fn check(top: &Path) -> Result<()> {
    let allowed: BTreeMap<&str, usize> = ALLOWED
        .lines()
        .filter_map(|l| l.split_once(' '))
        .filter_map(|(f, n)| Some((f, n.parse().ok()?)))
        .collect();
    let wrong: Vec<String> = measure(top)?
        .iter()
        .filter(|(folder, n)| allowed.get(folder.as_str()).copied().unwrap_or(0) != n.marks)
        .map(|(folder, n)| {
            format!("{folder} {} (listed: {})", n.marks, allowed.get(folder.as_str()).unwrap_or(&0))
        })
        .collect();
    if wrong.is_empty() {
        return Ok(());
    }
    bail!(
        "comments that are hard to read: write new ones plainly, and list fewer in scripts/xtask/prose.txt:\n{}",
        wrong.join("\n")
    )
}
