//! The map as one Markdown page of at most [`LINES_MAX`] lines.
//!
//! All five parts are always present. Entry points and modules come in the order of their weight: the lines of
//! code that they reach or hold, and how many files use them. If the lists are longer than the page, they lose
//! their last entries in a fixed order, the tree first, and each ends with the number of entries left out.

use crate::entrypoints::{Entrypoint, Kind as Begins};
use crate::settings::{Kind, Setting};
use crate::{LINES_MAX, Place, RepoMap};
use indexd_api::map::{Boundary, Folder, Module, Touches};
use indexd_model::path::dir_of;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Characters of a list line after which the next one begins.
const LINE_CHARS: usize = 160;
/// Places shown for one key.
const PLACES_SHOWN: usize = 3;
/// Calls shown for one file.
const CALLS_SHOWN: usize = 5;
/// Lines of the tree that are kept until other parts have been shortened.
const TREE_LINES: usize = 60;
/// Lines that the other parts keep, in the order in which they are shortened.
const KEPT: [(usize, usize); 4] = [(CONFIG, 90), (EFFECTS, 70), (MODULES, 150), (ENTRY, 110)];
const ENTRY: usize = 0;
const MODULES: usize = 1;
const CONFIG: usize = 2;
const EFFECTS: usize = 3;
/// Lines before the first part, and of each part apart from its list: a blank one, its heading, a blank one.
const HEAD_LINES: usize = 3;
const PART_LINES: usize = 3;

/// One part of the page: its lines and how one is counted.
struct Part {
    heading: &'static str,
    lines: Vec<Line>,
    left_out: usize,
}

/// A line of a part: a heading within it, or an entry.
struct Line {
    text: String,
    is_heading: bool,
}

fn entry(text: String) -> Line {
    Line { text, is_heading: false }
}

fn heading(text: &str) -> Line {
    Line { text: text.to_owned(), is_heading: true }
}

/// Writes the page of at most [`LINES_MAX`] lines.
pub fn page(map: &RepoMap) -> String {
    page_of(map, LINES_MAX)
}

/// Writes the page with everything in it, however long.
pub fn whole(map: &RepoMap) -> String {
    page_of(map, WHOLE_LINES)
}

/// More lines than a page has.
const WHOLE_LINES: usize = 1 << 30;

/// Writes the longest page that satisfies `fits`. If none does, returns the lines of the longest beginning
/// of the shortest page that does. `fits` must be monotone: if it accepts a page, it accepts every shorter
/// one.
pub fn page_that(map: &RepoMap, fits: &dyn Fn(&str) -> bool) -> String {
    let whole = whole(map);
    if fits(&whole) {
        return whole;
    }
    let (mut fitting, mut too_long) = (0, whole.lines().count());
    while too_long - fitting > 1 {
        let middle = fitting.midpoint(too_long);
        if fits(&page_of(map, middle)) { fitting = middle } else { too_long = middle }
    }
    let mut text = page_of(map, fitting);
    while !text.is_empty() && !fits(&text) {
        let end = text.trim_end().rfind('\n').map_or(0, |at| at + 1);
        text.truncate(end);
    }
    text
}

/// Writes the page with at most `lines_max` lines of lists; headings are always written.
fn page_of(map: &RepoMap, lines_max: usize) -> String {
    let part_of = |lines: usize| lines * lines_max / LINES_MAX;
    let shown = |n: usize| if lines_max == WHOLE_LINES { usize::MAX } else { n };
    let mut parts = [
        Part { heading: "## Entrypoints", lines: entrypoints(&map.entrypoints), left_out: 0 },
        Part { heading: "## Modules", lines: modules(&map.modules, part_of(MODULES_SHOWN)), left_out: 0 },
        Part { heading: "## Config", lines: config(&map.config, shown(PLACES_SHOWN)), left_out: 0 },
        Part {
            heading: "## Side effect boundaries",
            lines: effects(&map.side_effects, shown(CALLS_SHOWN)),
            left_out: 0,
        },
    ];
    let taken = |parts: &[Part]| HEAD_LINES + PART_LINES + total(parts);
    let wanted = map.tree.len().min(part_of(TREE_LINES));
    for (part, kept) in KEPT {
        let kept = part_of(kept);
        let over = (taken(&parts) + wanted).saturating_sub(lines_max);
        if over > 0 {
            let spare = parts[part].lines.len().saturating_sub(kept);
            // One line is needed for the number of missing entries.
            parts[part].left_out += shorten(&mut parts[part].lines, spare.min(over + 1));
        }
    }
    let tree = tree(&map.tree, lines_max.saturating_sub(taken(&parts)));
    let mut out = format!("# Repo map: {}\n\n{} files indexed.\n", plain(&map.repo_id), map.files);
    for part in parts.iter().chain([&Part { heading: "## Tree", lines: tree, left_out: 0 }]) {
        out.push_str(&format!("\n{}\n\n", part.heading));
        if part.lines.is_empty() {
            out.push_str("None found.\n");
        }
        for line in &part.lines {
            out.push_str(&line.text);
            out.push('\n');
        }
        if part.left_out > 0 {
            out.push_str(&format!("- {} more\n", part.left_out));
        }
    }
    out
}

/// Total lines of these parts.
fn total(parts: &[Part]) -> usize {
    parts.iter().map(|p| PART_LINES + p.lines.len().max(1) + usize::from(p.left_out > 0)).sum()
}

/// Removes entries, the deepest or last ones first, with headings left without any. Returns the number of
/// removed entries.
fn shorten(lines: &mut Vec<Line>, n: usize) -> usize {
    // Every group loses its last entries evenly, so that none vanishes; the longest group loses first.
    let mut kept: Vec<usize> = lines.split(|line| line.is_heading).map(<[Line]>::len).collect();
    let mut longest: BinaryHeap<(usize, Reverse<usize>)> =
        kept.iter().copied().zip((0..).map(Reverse)).collect();
    let mut gone = 0;
    while gone < n
        && let Some(mut group) = longest.peek_mut()
        && group.0 > 0
    {
        group.0 -= 1;
        kept[group.1.0] = group.0;
        gone += 1;
    }
    let mut group = 0;
    let mut n_seen = 0;
    lines.retain(|line| {
        if line.is_heading {
            (group, n_seen) = (group + 1, 0);
            return kept[group] > 0;
        }
        n_seen += 1;
        n_seen <= kept[group]
    });
    gone
}

/// A text without line ends, for one line of a list.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Text on one line with the marks of Markdown escaped, so that a name of a repository is not a tag, a link
/// or code.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in one_line(text).chars() {
        if matches!(c, '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '&') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// A sentence of this page with names as code between single backticks.
fn with_code(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return plain(text);
    }
    let part = |(i, part): (usize, &&str)| if i.is_multiple_of(2) { plain(part) } else { code(part) };
    parts.iter().enumerate().map(part).collect()
}

/// A text as code: its fence is longer than every run of backticks in it.
fn code(text: &str) -> String {
    let text = one_line(text);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    // Without a blank, a backtick would become part of the fence.
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

fn entrypoints(all: &[Entrypoint]) -> Vec<Line> {
    let titles = [
        (Begins::Program, "### Programs"),
        (Begins::Script, "### Scripts"),
        (Begins::Library, "### Libraries"),
        (Begins::Example, "### Examples"),
    ];
    let line = |e: &Entrypoint| {
        let (name, path, how) = (code(&e.name), plain(&e.path), with_code(&e.how));
        let what = if e.summary.is_empty() { String::new() } else { format!(": {}", plain(&e.summary)) };
        entry(format!("- {name}: {path}:{} ({how}){what}", e.line))
    };
    by_kind(all, titles, |e| e.kind, |_, of_kind| of_kind.into_iter().map(line).collect())
}

/// The lines of the entries of each kind, under its title; none for a kind without entries.
fn by_kind<T, K: Copy + PartialEq, const N: usize>(
    all: &[T],
    titles: [(K, &str); N],
    kind_of: impl Fn(&T) -> K,
    lines_of: impl Fn(K, Vec<&T>) -> Vec<Line>,
) -> Vec<Line> {
    let mut out = Vec::new();
    for (kind, title) in titles {
        let of_kind: Vec<&T> = all.iter().filter(|e| kind_of(e) == kind).collect();
        if !of_kind.is_empty() {
            out.push(heading(title));
            out.extend(lines_of(kind, of_kind));
        }
    }
    out
}

/// The weight of a module in the order of a page: its lines, and more for each file that uses it.
pub fn weight(m: &Module) -> u32 {
    m.lines.saturating_add(m.dependants.saturating_mul(LINES_PER_DEPENDANT))
}

fn modules(all: &[Module], most: usize) -> Vec<Line> {
    let line = |m: &Module| {
        let path = if m.path.is_empty() { "." } else { &m.path };
        let [files, lines] = [(m.files, "file"), (m.lines, "line")]
            .map(|(n, what)| format!("{n} {what}{}", if n == 1 { "" } else { "s" }));
        let mut text = format!("- {} ({}, {files}, {lines})", code(path), m.language);
        let is_other = m.path.rsplit('/').next() != Some(&*m.name) && m.name != ".";
        if is_other && m.language == "go" {
            text += &format!(", package {}", plain(&m.name));
        }
        if !m.summary.is_empty() {
            text += &format!(": {}", plain(&m.summary));
        }
        if !m.names.is_empty() {
            let names: Vec<String> = m.names.iter().map(|n| code(n)).collect();
            text += &format!(". Offers {}", names.join(", "));
        }
        entry(text)
    };
    ranked(all, most).iter().map(line).collect()
}

/// Modules of a page of [`LINES_MAX`] lines.
const MODULES_SHOWN: usize = 120;
/// Lines of code that one file weighs that uses a module.
const LINES_PER_DEPENDANT: u32 = 20;

/// A module with all below it has at most this part of the code, in parts of one; a larger one is divided.
const MODULE_PART: u64 = 3;

/// The modules, heaviest first. If there are more than `most`, a folder with code of its own is one entry with
/// all below it unless that is a large part of the code, and so is any folder with less than twice its share.
fn ranked(all: &[Module], most: usize) -> Vec<Module> {
    let total: u64 = all.iter().map(|m| u64::from(m.lines)).sum();
    let is_few = all.len() <= most;
    let limits = if is_few { (0, 0) } else { (2 * total / most.max(1) as u64, total / MODULE_PART) };
    let mut out = Vec::new();
    divide("", all, limits, &mut out);
    out.sort_by(|a, b| weight(b).cmp(&weight(a)).then_with(|| a.path.cmp(&b.path)));
    out
}

/// Adds the modules at and below a folder, ordered by path: as one if they have few lines, by the limits for
/// any folder and for one with code of its own, else its own files and each folder in it.
fn divide(dir: &str, modules: &[Module], limits: (u64, u64), out: &mut Vec<Module>) {
    let own = modules.iter().find(|m| m.path == dir);
    let lines: u64 = modules.iter().map(|m| u64::from(m.lines)).sum();
    let limit = if own.is_some() && !dir.is_empty() { limits.0.max(limits.1) } else { limits.0 };
    if modules.len() == 1 && own.is_some() || lines <= limit {
        out.extend(joined(dir, modules));
        return;
    }
    out.extend(own.cloned());
    let start = if dir.is_empty() { 0 } else { dir.len() + 1 };
    let child = |m: &Module| {
        let end = m.path[start..].find('/').map_or(m.path.len(), |at| start + at);
        m.path[..end].to_owned()
    };
    // Folders with a common beginning need not be neighbours in the order of paths.
    let mut children: BTreeMap<String, Vec<Module>> = BTreeMap::new();
    for m in modules.iter().filter(|m| m.path != dir) {
        children.entry(child(m)).or_default().push(m.clone());
    }
    for (dir, modules) in children {
        divide(&dir, &modules, limits, out);
    }
}

/// Modules at and below a folder as one, with what the folder's own module says; none for no modules.
fn joined(dir: &str, modules: &[Module]) -> Option<Module> {
    let largest = modules.iter().max_by_key(|m| m.lines)?;
    let own = modules.iter().find(|m| m.path == dir);
    let name = || dir.rsplit('/').next().unwrap_or_default().to_owned();
    Some(Module {
        path: dir.to_owned(),
        name: own.map_or_else(name, |m| m.name.clone()),
        language: own.unwrap_or(largest).language.clone(),
        files: modules.iter().map(|m| m.files).sum(),
        lines: modules.iter().map(|m| m.lines).sum(),
        dependants: modules.iter().map(|m| m.dependants).max().unwrap_or(0),
        summary: own.map_or_else(String::new, |m| m.summary.clone()),
        names: own.map_or_else(Vec::new, |m| m.names.clone()),
    })
}

fn config(all: &[Setting], shown: usize) -> Vec<Line> {
    let titles = [
        (Kind::Environment, "### Environment"),
        (Kind::Flag, "### Flags"),
        (Kind::Setting, "### Settings"),
        (Kind::Field, "### Fields of configuration types"),
    ];
    let lines = |kind: Kind, of_kind: Vec<&Setting>| {
        if kind == Kind::Environment || kind == Kind::Setting && of_kind.len() <= 60 {
            // Those that are read in the most places come first.
            let mut of_kind = of_kind;
            of_kind.sort_by_key(|s| Reverse(s.parsed_at.len()));
            of_kind.into_iter().map(|s| entry(one_key(s, shown))).collect()
        } else {
            by_file(&of_kind)
        }
    };
    by_kind(all, titles, |s| s.kind, lines)
}

fn one_key(setting: &Setting, shown: usize) -> String {
    let places: Vec<String> = setting.parsed_at.iter().take(shown).map(place).collect();
    let more = setting.parsed_at.len().saturating_sub(shown);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("- {}: {}{more}", code(&setting.key), places.join(", "))
}

fn place(p: &Place) -> String {
    format!("{}:{}", plain(&p.path), p.line)
}

/// Keys with their lines, and the first place that fills them.
type Keys<'a> = (Vec<(u32, &'a str)>, Option<&'a Place>);

/// Many keys, by the file that parses or declares them: `path: key (line), ...`.
fn by_file(settings: &[&Setting]) -> Vec<Line> {
    // By file and type.
    let mut files: BTreeMap<(&str, &str), Keys> = BTreeMap::new();
    for s in settings {
        let (places, is_declared) = match (&s.declared_at, s.kind) {
            (Some(at), Kind::Setting | Kind::Field) => (std::slice::from_ref(at), true),
            _ => (&s.parsed_at[..], false),
        };
        for p in places {
            let (keys, filled) = files.entry((&p.path, &s.of)).or_default();
            keys.push((p.line, &s.key));
            if is_declared && s.kind == Kind::Field {
                *filled = filled.or_else(|| s.parsed_at.iter().find(|read| *read != p));
            }
        }
    }
    let mut out = Vec::new();
    // Those that declare the most keys come first.
    let mut files: Vec<_> = files.into_iter().collect();
    files.sort_by_key(|(_, (keys, _))| Reverse(keys.len()));
    for ((path, of), (mut keys, filled)) in files {
        keys.sort_unstable();
        let read = filled.map(|p| format!(", filled at {}", place(p)));
        let of = if of.is_empty() { String::new() } else { format!(" {}", code(of)) };
        let title = format!("{}{of}{}", plain(path), read.unwrap_or_default());
        let mut line = format!("- {title}:");
        for (at, key) in keys {
            if line.len() > LINE_CHARS {
                out.push(entry(std::mem::replace(&mut line, " ".to_owned())));
            }
            line += &format!(" {} ({at})", code(key));
        }
        out.push(entry(line));
    }
    out
}

fn effects(all: &[Boundary], most: usize) -> Vec<Line> {
    let titles = [
        (Touches::FileSystem, "### File system"),
        (Touches::Network, "### Network"),
        (Touches::Process, "### Process execution"),
    ];
    let line = |b: &Boundary| {
        let mut shown: Vec<String> =
            b.calls.iter().take(most).map(|c| format!("{} ({})", code(&c.name), c.line)).collect();
        let more = b.calls.len().saturating_sub(most);
        shown.extend((more > 0).then(|| format!("{more} more")));
        entry(format!("- {}: {}", plain(&b.path), shown.join(", ")))
    };
    by_kind(all, titles, |b| b.touches, |_, of_kind| of_kind.into_iter().map(line).collect())
}

/// The tree in at most `room` lines: with as many children of each folder as fit, then with fewer levels.
fn tree(folders: &[Folder], room: usize) -> Vec<Line> {
    let depths = (0..=crate::DEPTH_MAX).rev();
    let shapes = depths.flat_map(|depth| [usize::MAX, 60, 30, 15, 8].map(|most| (depth, most)));
    for (depth, most) in shapes {
        let lines = branches(folders, depth, most);
        if lines.len() <= room.max(1) {
            return lines;
        }
    }
    Vec::new()
}

/// The folders down to a level, with at most `most` children of each.
fn branches(folders: &[Folder], depth: usize, most: usize) -> Vec<Line> {
    let mut out = Vec::new();
    let mut children: BTreeMap<&str, usize> = BTreeMap::new();
    let mut hidden: Option<&str> = None;
    for f in folders.iter().filter(|f| f.depth <= depth) {
        let is_below = |top: &str| f.path.strip_prefix(top).is_some_and(|rest| rest.starts_with('/'));
        if hidden.is_some_and(is_below) {
            continue;
        }
        let parent = dir_of(&f.path);
        let n = children.entry(parent).or_default();
        *n += usize::from(f.depth > 0);
        let indent = "  ".repeat(f.depth);
        if *n > most {
            hidden = Some(&f.path);
            if *n == most + 1 {
                let all = folders.iter().filter(|o| o.depth == f.depth && dir_of(&o.path) == parent).count();
                out.push(entry(format!("{indent}- {} more", all - most)));
            }
            continue;
        }
        let name = if f.path.is_empty() { "." } else { f.path.rsplit('/').next().unwrap_or_default() };
        let slash = if f.path.is_empty() { "" } else { "/" };
        out.push(entry(format!("{indent}- {}{slash} ({})", plain(name), f.files)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{code, plain, with_code};

    #[test]
    fn names_stay_names() {
        for (text, as_code, as_text) in [
            ("a_b.py", "`a_b.py`", "a_b.py"),
            ("a`b", "``a`b``", "a\\`b"),
            ("a``b`", "``` a``b` ```", "a\\`\\`b\\`"),
            ("<script>x</script>", "`<script>x</script>`", "\\<script\\>x\\</script\\>"),
            ("![x](http://h)\n", "`![x](http://h) `", "!\\[x\\](http://h) "),
        ] {
            assert_eq!((code(text).as_str(), plain(text).as_str()), (as_code, as_text), "{text}");
        }
        assert_eq!(with_code("script `a` = <b>"), "script `a` = \\<b\\>");
        assert_eq!(with_code("script `a"), "script \\`a");
    }
}
