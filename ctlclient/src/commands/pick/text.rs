//! From what is chosen to one text, in the form that packs have: groups of files under headings, each
//! line once, marks where lines are left out, fences that no content closes.

use super::choice::Entry;
use indexd_proto::context_pack::Lines;
use indexd_task::paths;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The part of the text that an entry stands in, in the order in which they are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Zone {
    /// Code that does the work.
    #[default]
    Code,
    /// Tests.
    Tests,
    /// Configuration and build files.
    Config,
    /// Documents.
    Docs,
}

impl Zone {
    const ALL: [Self; 4] = [Self::Code, Self::Tests, Self::Config, Self::Docs];

    /// That of an item with these traits.
    pub fn of(traits: &[String]) -> Self {
        let has = |name: &str| traits.iter().any(|t| t == name);
        if has("test") {
            Self::Tests
        } else if has("config") {
            Self::Config
        } else if has("doc") {
            Self::Docs
        } else {
            Self::Code
        }
    }

    fn heading(self) -> &'static str {
        match self {
            Self::Code => "# code\n\n",
            Self::Tests => "# tests\n\n",
            Self::Config => "# config\n\n",
            Self::Docs => "# docs\n\n",
        }
    }
}

/// Lines of files by their number, with their line ends.
#[derive(Clone, Debug, Default)]
pub struct Known(BTreeMap<String, BTreeMap<u32, String>>);

/// Bytes of lines between two shown ones up to which they are shown: the mark of a gap takes as many.
const GAP_BYTES: usize = 28;

impl Known {
    /// The lines that the text of a pack shows.
    pub fn of(text: &str) -> Self {
        let mut out = Self::default();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let head = line.strip_prefix("## File: ").and_then(|head| head.strip_suffix(')'));
            let Some((path, range)) = head.and_then(|head| head.rsplit_once(" (lines ")) else { continue };
            let first = range.split('-').next().and_then(|n| n.parse::<u32>().ok());
            let opening = lines.next().map(|l| &l[..l.len() - l.trim_start_matches('`').len()]);
            let (Some(mut n), Some(fence)) = (first, opening) else { continue };
            let file = out.0.entry(path.to_owned()).or_default();
            for line in lines.by_ref().take_while(|line| *line != fence) {
                match last_left_out(line, n) {
                    Some(last) => n = last + 1,
                    None => {
                        file.insert(n, format!("{line}\n"));
                        n += 1;
                    }
                }
            }
        }
        out
    }

    /// The lines of a gap, if they take at most as much room as the mark that would stand for them.
    fn between(&self, path: &str, gap: &Lines) -> Option<String> {
        let file = self.0.get(path)?;
        let text =
            (gap.start..=gap.end).map(|n| file.get(&n).map(String::as_str)).collect::<Option<String>>()?;
        (text.len() <= GAP_BYTES || text.trim().is_empty()).then_some(text)
    }
}

/// The last line that the mark of a gap from line `n` stands for.
fn last_left_out(line: &str, n: u32) -> Option<u32> {
    let (_, range) = line.split_once("... (lines ")?;
    let (first, last) = range.strip_suffix(')')?.split_once('-')?;
    (first.parse() == Ok(n)).then(|| last.parse().ok())?
}

/// How lines that are left out are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marks {
    /// With their numbers, as in packs.
    Numbered,
    /// By three dots alone, which take less room.
    Short,
}

/// The text of entries.
pub fn write<'a>(entries: impl Iterator<Item = &'a Entry> + Clone, known: &Known, marks: Marks) -> String {
    let mut out = String::new();
    for zone in Zone::ALL {
        let mut files: Vec<(&str, BTreeMap<u32, &str>)> = Vec::new();
        for entry in entries.clone().filter(|e| e.zone == zone) {
            for run in entry.runs.iter().flatten() {
                let lines = (run.lines.start..).zip(run.text.split_inclusive('\n'));
                match files.iter_mut().find(|(path, _)| *path == entry.path) {
                    Some((_, known)) => known.extend(lines),
                    None => files.push((&entry.path, lines.collect())),
                }
            }
        }
        if !files.is_empty() {
            out.push_str(zone.heading());
        }
        files.iter().for_each(|(path, lines)| file(path, lines, known, marks, &mut out));
    }
    let mut places = entries.filter(|e| e.runs.as_ref().is_some_and(Vec::is_empty)).peekable();
    if places.peek().is_some() {
        out.push_str("# places\n\n");
    }
    for e in places {
        let _ = writeln!(out, "- {}:{}-{} {}", plain(&e.path), e.lines.start, e.lines.end, e.title);
    }
    out
}

fn file(path: &str, lines: &BTreeMap<u32, &str>, known: &Known, marks: Marks, out: &mut String) {
    let (Some((first, _)), Some((last, _))) = (lines.first_key_value(), lines.last_key_value()) else {
        return;
    };
    let _ = writeln!(out, "## File: {} (lines {first}-{last})", plain(path));
    let ticks = lines.values().map(|line| longest_run(line) + 1).max().unwrap_or(0);
    let fence = "`".repeat(ticks.max(3));
    let _ = writeln!(out, "{fence}{}", paths::hint(path));
    let mut next = *first;
    for (n, line) in lines {
        if *n > next {
            let left_out = Lines { start: next, end: n - 1 };
            let mark = || match marks {
                Marks::Numbered => {
                    format!("{}... (lines {}-{})\n", paths::comment(path), left_out.start, left_out.end)
                }
                Marks::Short => format!("{}...\n", paths::comment(path)),
            };
            out.push_str(&known.between(path, &left_out).unwrap_or_else(mark));
        }
        out.push_str(line);
        if !line.ends_with('\n') {
            out.push('\n');
        }
        next = n + 1;
    }
    let _ = write!(out, "{fence}\n\n");
}

/// A path on one line.
fn plain(path: &str) -> String {
    path.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}

/// The longest run of backticks.
fn longest_run(line: &str) -> usize {
    line.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::choice::tests::choice;
    use super::super::choice::{Entry, Run};
    use super::*;

    fn entry(path: &str, zone: Zone, runs: &[(u32, &str)]) -> Entry {
        let run = |(start, text): &(u32, &str)| {
            let end = start + text.lines().count() as u32 - 1;
            Run { lines: Lines { start: *start, end }, text: (*text).to_owned() }
        };
        Entry {
            path: path.to_owned(),
            zone,
            runs: Some(runs.iter().map(run).collect()),
            ..choice().entries[0].clone()
        }
    }

    #[test]
    fn a_line_stands_once_and_what_lies_between_is_marked() {
        let entries = [
            entry("a.go", Zone::Code, &[(4, "d\ne\n"), (9, "i\n")]),
            entry("a_test.go", Zone::Tests, &[(1, "t\n")]),
            entry("a.go", Zone::Code, &[(5, "e\nf\n")]),
            entry("x\n.md", Zone::Docs, &[(1, "```\nno end")]),
            Entry {
                lines: Lines { start: 7, end: 8 },
                title: "func P()".to_owned(),
                ..entry("p.go", Zone::Code, &[])
            },
        ];
        let expect = "# code\n\n## File: a.go (lines 4-9)\n```go\nd\ne\nf\n// ... (lines 7-8)\ni\n```\n\n\
            # tests\n\n## File: a_test.go (lines 1-1)\n```go\nt\n```\n\n\
            # docs\n\n## File: x\\n.md (lines 1-2)\n````markdown\n```\nno end\n````\n\n\
            # places\n\n- p.go:7-8 func P()\n";
        assert_eq!(write(entries.iter(), &Known::default(), Marks::Numbered), expect);
        let short = expect.replace("... (lines 7-8)", "...");
        assert_eq!(write(entries.iter(), &Known::default(), Marks::Short), short);
        assert_eq!(write([].iter(), &Known::default(), Marks::Numbered), "");
    }

    #[test]
    fn short_lines_between_stand_as_the_pack_shows_them() {
        let pack = "# code\n\n## File: a.go (lines 4-12)\n```go\nd\n}\n\nfunc f() {\n// ... (lines 8-10)\nk\nl\n```\n\n";
        let known = Known::of(pack);
        let check = |runs: &[(u32, &str)], expect: &str| {
            assert_eq!(write([entry("a.go", Zone::Code, runs)].iter(), &known, Marks::Numbered), expect);
        };
        check(&[(4, "d\n"), (7, "func f() {\n"), (11, "k\nl\n")], pack);
        let part = "# code\n\n## File: a.go (lines 4-11)\n```go\nd\n// ... (lines 5-10)\nk\n```\n\n";
        check(&[(4, "d\n"), (11, "k\n")], part);
    }
}
