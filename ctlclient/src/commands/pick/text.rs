//! From what is chosen to one text, in the form in which packs show pieces of one file: a path, a fence, and
//! a comment with the number of the next line before each run of lines.

use super::choice::Entry;
use indexd_proto::pack::{FileReport, LineRange, Status, Word};
use indexd_task::markdown::{fence, push_path};
use indexd_task::paths;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The part of the text that an entry stands in, in the order in which they are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Zone {
    /// What a change does.
    Changes,
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
    const ALL: [Self; 5] = [Self::Changes, Self::Code, Self::Tests, Self::Config, Self::Docs];

    /// That of an item with these traits.
    pub fn of(traits: &[Word]) -> Self {
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
            Self::Changes => "# changes\n\n",
            Self::Code => "# code\n",
            Self::Tests => "# tests\n",
            Self::Config => "# config\n",
            Self::Docs => "# docs\n",
        }
    }
}

/// The most parts that a heading names, as in the text of a pack.
const NAMED_MAX: usize = 24;

/// The heading over the diff of a file, as in the text of a pack.
pub fn heading(file: &FileReport) -> String {
    let mut out = plain(&file.file_rel_path);
    let _ = match &file.previous_path {
        Some(was) => write!(out, " (renamed from {was})"),
        None => write!(out, " ({})", file.status.name()),
    };
    if let Some(why) = &file.unreadable {
        let _ = write!(out, "\nnot shown: {why}");
    }
    let named = file.parts.iter().filter(|p| p.contract).take(NAMED_MAX);
    let named: Vec<String> = named
        .map(|p| match (&p.previous_name, &p.elsewhere) {
            (Some(was), _) => format!("{was} is now {}", p.name),
            (None, Some(place)) if p.status == Status::Removed => format!("{} is now {place}", p.name),
            (None, None) if p.status == Status::Removed => format!("{} is gone", p.name),
            _ => p.name.clone(),
        })
        .collect();
    if !named.is_empty() {
        let _ = write!(out, "\nchanged for its users: {}", named.join(", "));
    }
    out
}

/// The heading that lists the parts without room; `None` if all had room.
pub fn without_room(files: &[FileReport]) -> Option<String> {
    let parts = files.iter().flat_map(|f| f.parts.iter().map(move |p| (f, p)));
    let lines: Vec<String> = parts
        .filter(|(_, p)| p.diff.is_none())
        .map(|(f, p)| {
            let name = if p.name.is_empty() { String::new() } else { format!(" {}", p.name) };
            let path = plain(&f.file_rel_path);
            format!("\n- {path}{name} ({}, +{} -{})", p.status.name(), p.added, p.removed)
        })
        .collect();
    (!lines.is_empty()).then(|| format!("{WITHOUT_ROOM}{}", lines.concat()))
}

/// The heading of the parts that had no room, in place of a path.
pub const WITHOUT_ROOM: &str = "without room";

/// From the first to the last line after a change, or before it where nothing is left of them.
pub fn lines_of_diff(diff: &str) -> LineRange {
    let side = |at: usize| {
        let heads = diff.lines().filter_map(|l| l.strip_prefix("@@ -"));
        let ranges = heads.filter_map(move |head| {
            let range = head.split_whitespace().nth(at)?.trim_start_matches('+');
            let (start, n) = range.split_once(',').unwrap_or((range, "1"));
            Some((start.parse::<u32>().ok()?, n.parse::<u32>().ok()?))
        });
        ranges
            .filter(|(_, n)| *n > 0)
            .map(|(start, n)| LineRange { start, end: start + n - 1 })
            .reduce(|a, b| LineRange { start: a.start.min(b.start), end: a.end.max(b.end) })
    };
    side(1).or_else(|| side(0)).unwrap_or(LineRange { start: 0, end: 0 })
}

/// The text of entries.
pub fn write<'a>(entries: impl Iterator<Item = &'a Entry> + Clone) -> String {
    let mut out = String::new();
    changes(entries.clone(), &mut out);
    for zone in Zone::ALL.into_iter().filter(|zone| *zone != Zone::Changes) {
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
        files.iter().for_each(|(path, lines)| file(path, lines, &mut out));
    }
    let mut places =
        entries.filter(|e| e.heading.is_none() && e.runs.as_ref().is_some_and(Vec::is_empty)).peekable();
    if places.peek().is_some() {
        out.push_str("# listed\n");
    }
    for e in places {
        let _ = writeln!(out, "{}:{}  {}", plain(&e.path), e.lines.start, e.title);
    }
    out
}

/// The parts of a change, file by file.
fn changes<'a>(entries: impl Iterator<Item = &'a Entry>, out: &mut String) {
    let mut files: Vec<(&str, String)> = Vec::new();
    for entry in entries {
        let Some(heading) = entry.heading.as_deref() else { continue };
        if files.last().is_none_or(|(last, _)| *last != heading) {
            files.push((heading, String::new()));
        }
        let diff = entry.runs.iter().flatten().map(|run| run.text.as_str());
        files.last_mut().into_iter().for_each(|(_, text)| text.extend(diff.clone()));
    }
    if !files.is_empty() {
        out.push_str(Zone::Changes.heading());
    }
    for (heading, diff) in files {
        let _ = writeln!(out, "## Change: {heading}");
        if !diff.is_empty() {
            let fence = fence([&*diff]);
            let _ = writeln!(out, "{fence}diff\n{diff}{fence}");
        }
        out.push('\n');
    }
}

fn file(path: &str, lines: &BTreeMap<u32, &str>, out: &mut String) {
    let fence = fence(lines.values().copied());
    let _ = writeln!(out, "{}\n{fence}{}", plain(path), paths::hint(path));
    let mut next = 0;
    for (n, line) in lines {
        if *n != next {
            let _ = writeln!(out, " {}:{n}", paths::comment(path));
        }
        out.push_str(line);
        if !line.ends_with('\n') {
            out.push('\n');
        }
        next = n + 1;
    }
    let _ = writeln!(out, "{fence}");
}

/// A path on one line.
fn plain(path: &str) -> String {
    let mut out = String::new();
    push_path(path, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::super::choice::tests::choice;
    use super::super::choice::{Choice, Entry, Run};
    use super::*;
    use indexd_proto::pack::{At, Provenance};

    fn entry(path: &str, zone: Zone, runs: &[(u32, &str)]) -> Entry {
        let run = |(start, text): &(u32, &str)| {
            let end = start + text.lines().count() as u32 - 1;
            Run { lines: LineRange { start: *start, end }, text: (*text).to_owned() }
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
                lines: LineRange { start: 7, end: 8 },
                title: "func P()".to_owned(),
                ..entry("p.go", Zone::Code, &[])
            },
        ];
        let expect = "# code\na.go\n```go\n // :4\nd\ne\nf\n // :9\ni\n```\n\
            # tests\na_test.go\n```go\n // :1\nt\n```\n\
            # docs\nx\\n.md\n````markdown\n :1\n```\nno end\n````\n\
            # listed\np.go:7  func P()\n";
        assert_eq!(write(entries.iter()), expect);
        assert_eq!(write([].iter()), "");
    }

    /// A change of two files, one of them with two parts, and a caller.
    const CHANGED: &str = "# changes\n\n## Change: a.go (modified)\nchanged for its users: F\n```diff\n\
        @@ -3,2 +3,2 @@ F\n // ## Change: x\n-func F()\n+func F(int)\n@@ -9,2 +9,0 @@\n-x\n-y\n```\n\n\
        ## Change: c.go (renamed from b.go)\n\n## Change: without room\n- d.go G (added, +9 -0)\n\n\
        # code\ne.go\n```go\n // :5\nF(1)\n```\n";

    fn changed() -> Choice {
        let part = |name: &str, diff: &str| serde_json::json!({"name": name, "status": "modified", "contract": name == "F", "added": 1, "removed": 1, "diff": diff});
        let f = part("F", "@@ -3,2 +3,2 @@ F\n // ## Change: x\n-func F()\n+func F(int)\n");
        let rest = part("", "@@ -9,2 +9,0 @@\n-x\n-y\n");
        let files = serde_json::json!([
            {"fileRelPath": "a.go", "status": "modified", "indexed": true, "parts": [f, rest]},
            {"fileRelPath": "c.go", "previousPath": "b.go", "status": "renamed", "indexed": true, "parts": []},
            {"fileRelPath": "d.go", "status": "added", "indexed": true, "parts": [
                {"name": "G", "status": "added", "contract": false, "added": 9, "removed": 0}]},
        ]);
        let mut pack = super::super::choice::tests::pack();
        pack.request = serde_json::Map::new();
        let change = serde_json::json!({"from": "0123456789abcdef0123456789abcdef01234567", "to": "worktree", "files": files, "shown": 2, "leftOut": 1});
        pack.change = Some(serde_json::from_value(change).unwrap());
        pack.sections.truncate(1);
        let item = &mut pack.sections[0].items[0];
        let lines = LineRange { start: 5, end: 5 };
        item.at = At::Graph { file_rel_path: "e.go".to_owned(), lines, provenance: Provenance::default() };
        item.excerpt.text = "F(1)\n".to_owned();
        item.excerpt.parts[0].lines = lines;
        pack.explain = None;
        Choice::of(&pack, CHANGED, |_| String::new())
    }

    #[test]
    fn the_parts_of_a_change_are_chosen_one_by_one() {
        let mut choice = changed();
        assert_eq!(choice.query, "changes from 0123456789ab to the work tree");
        let listed = |choice: &Choice| -> Vec<String> {
            let line = |e: &Entry| format!("{}:{}-{} {}", e.path, e.lines.start, e.lines.end, e.title);
            choice.entries.iter().filter(|e| e.is_chosen).map(line).collect()
        };
        let all = ["a.go:3-4 F", "a.go:9-10 ", "c.go:0-0 ", "without room:0-0 ", "e.go:5-5 func in a.go"];
        assert_eq!(listed(&choice), all);
        let text = |choice: &Choice| write(choice.entries.iter().filter(|e| e.is_chosen));
        assert_eq!(text(&choice), CHANGED);
        choice.entries[0].is_chosen = false;
        choice.entries[3].is_chosen = false;
        let rest = text(&choice);
        assert!(
            rest.contains("users: F\n```diff\n@@ -9,2 +9,0 @@\n-x\n-y\n```\n\n## Change: c.go"),
            "{rest}"
        );
        assert!(!rest.contains("func F") && !rest.contains("without room"), "{rest}");
        let mut next = changed();
        next.follow(&choice, &mut super::super::choice::tests::Plain).unwrap();
        assert_eq!(listed(&next), [all[1], all[2], all[4]]);
        choice.entries[1].is_chosen = false;
        assert!(text(&choice).starts_with("# changes\n\n## Change: c.go (renamed from b.go)\n\n# code\n"));
    }
}
