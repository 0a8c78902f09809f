//! What may be in a text and what is chosen of it: the state behind the picker, without a terminal.

use super::text::{self, Zone};
use crate::commands::pack_text::short;
use indexd_proto::pack::{ChangeReport, Excluded, Form, Item, LineRange, Pack};

/// The section of what a change does.
pub const CHANGES: &str = "changes";

/// The section of what a pack left out.
pub const LEFT_OUT: &str = "left out";

/// Reasons to leave something out for which nobody can add it: its text is there already, or is not shown.
const NOT_OFFERED: [&str; 3] = ["duplicate", "sensitive", "binary"];

/// A run of whole lines and its text.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// 1-based, inclusive.
    pub lines: LineRange,
    /// The exact text.
    pub text: String,
}

/// Something that may be chosen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    /// The section of the pack, or [`LEFT_OUT`].
    pub section: String,
    /// Path, relative to the root.
    pub path: String,
    /// All its lines.
    pub lines: LineRange,
    /// Its signature or name.
    pub title: String,
    /// Where it stands in the text.
    pub zone: Zone,
    /// What stands over the diff of its file, where it is part of a change.
    pub heading: Option<String>,
    /// Why it is in the pack, or is not.
    pub why: String,
    /// What is shown of it; empty for a place alone. `None` where the text was not read yet.
    pub runs: Option<Vec<Run>>,
    /// Tokens, where they are known.
    pub tokens: Option<u64>,
    /// How a request names it, where it was in the pack.
    pub chunk_uid: Option<String>,
    /// Whether it was in the pack.
    pub was_chosen: bool,
    /// Whether it is chosen now.
    pub is_chosen: bool,
}

/// A text of what is chosen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gathered {
    /// The text.
    pub content: String,
    /// Its tokens, counted as a whole.
    pub tokens: u64,
}

/// Who reads and counts.
pub trait Packer {
    /// The tokens of a text.
    ///
    /// # Errors
    /// Why they are not known, as a sentence.
    fn count(&mut self, text: &str) -> Result<u64, String>;

    /// The text of some lines of a file.
    ///
    /// # Errors
    /// Why there is none, as a sentence.
    fn read(&mut self, path: &str, lines: &LineRange) -> Result<String, String>;
}

/// What may be chosen, and what is.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The task, on one line.
    pub query: String,
    /// What may be chosen, section by section.
    pub entries: Vec<Entry>,
    /// Tokens that the text may have.
    pub budget: u64,
    /// The text of what is chosen.
    pub gathered: Gathered,
    /// The text of the pack as it came.
    rendered: Gathered,
}

impl Choice {
    /// Everything of a pack with its text, as it came.
    pub fn of(pack: &Pack, rendered: &str, why: fn(&Item) -> String) -> Self {
        let change = pack.change.as_ref();
        let mut entries: Vec<Entry> = change.map_or(Vec::new(), of_change);
        let items = pack.sections.iter().flat_map(|s| s.items.iter().map(move |item| (s, item)));
        // The parts of a change stand for themselves.
        let items = items.filter(|(_, item)| change.is_none() || item.form != Form::Diff);
        entries.extend(items.map(|(s, item)| of_item(&s.name, item, why(item))));
        let excluded = pack.explain.iter().flat_map(|e| &e.excluded);
        entries.extend(excluded.filter(|e| !NOT_OFFERED.contains(&e.reason.as_ref())).map(of_excluded));
        let query = pack.request.get("query").and_then(|q| q.as_str()).unwrap_or("");
        let rendered = Gathered { content: rendered.to_owned(), tokens: pack.stats.token_count };
        let query = match change {
            Some(change) if query.trim().is_empty() => {
                format!("changes from {} to {}", short(&change.from), short(&change.to))
            }
            _ => query.split_whitespace().collect::<Vec<_>>().join(" "),
        };
        Self { query, entries, budget: pack.stats.token_budget, gathered: rendered.clone(), rendered }
    }

    /// Takes an entry in or out.
    ///
    /// # Errors
    /// Why it stays as it was: the text would be above the budget, or cannot be read. Without an entry it
    /// may be longer where the mark of the lines left out costs more than they do.
    pub fn toggle(&mut self, i: usize, packer: &mut dyn Packer) -> Result<(), String> {
        self.read(i, packer)?;
        let before = self.gathered.tokens;
        let (name, is_chosen) = (self.entries[i].title.clone(), self.entries[i].is_chosen);
        self.choose(&[i], !is_chosen, &name, packer)?;
        let cost = self.gathered.tokens.abs_diff(before);
        self.entries[i].tokens.get_or_insert(cost);
        Ok(())
    }

    /// Takes entries, which `name` names, in or out together. The text is within the budget before and after.
    fn choose(
        &mut self,
        all: &[usize],
        is_chosen: bool,
        name: &str,
        packer: &mut dyn Packer,
    ) -> Result<(), String> {
        let before: Vec<bool> = self.entries.iter().map(|e| e.is_chosen).collect();
        all.iter().for_each(|&i| self.entries[i].is_chosen = is_chosen);
        let counted = self.count(packer);
        let (wanted, budget) = (self.gathered.tokens, self.budget);
        if counted.is_ok() && wanted <= budget {
            return Ok(());
        }
        self.entries.iter_mut().zip(before).for_each(|(e, is_chosen)| e.is_chosen = is_chosen);
        self.count(packer)?;
        counted?;
        Err(match is_chosen {
            true => format!("{name} does not fit: {wanted} of {budget} tokens; drop something first"),
            false => {
                format!("without {name} the text has {wanted} of {budget} tokens; drop something else first")
            }
        })
    }

    /// Takes all entries of a section out, or, where none is chosen, those in that fit.
    ///
    /// # Errors
    /// The last thing that hindered one of them.
    pub fn toggle_section(&mut self, i: usize, packer: &mut dyn Packer) -> Result<(), String> {
        let section = self.entries[i].section.clone();
        let of_it: Vec<usize> =
            (0..self.entries.len()).filter(|&i| self.entries[i].section == section).collect();
        if of_it.iter().any(|&i| self.entries[i].is_chosen) {
            return self.choose(&of_it, false, "them", packer);
        }
        let mut said = Ok(());
        for i in of_it {
            // One that is too large hinders no smaller one after it.
            said = self.toggle(i, packer).and(said);
        }
        said
    }

    /// Reads the text of an entry that was left out.
    ///
    /// # Errors
    /// Why there is none.
    pub fn read(&mut self, i: usize, packer: &mut dyn Packer) -> Result<(), String> {
        let entry = &mut self.entries[i];
        if entry.runs.is_none() {
            let text = packer.read(&entry.path, &entry.lines)?;
            entry.runs = Some(vec![Run { lines: entry.lines, text }]);
        }
        Ok(())
    }

    /// Counts what is chosen. As long as that is what the pack chose, its own text stands.
    fn count(&mut self, packer: &mut dyn Packer) -> Result<(), String> {
        if !self.is_changed() {
            self.gathered = self.rendered.clone();
            return Ok(());
        }
        let content = text::write(self.entries.iter().filter(|e| e.is_chosen));
        let tokens = if content.is_empty() { 0 } else { packer.count(&content)? };
        self.gathered = Gathered { content, tokens };
        Ok(())
    }

    /// Whether anything is chosen otherwise than the pack did.
    pub fn is_changed(&self) -> bool {
        self.entries.iter().any(|e| e.is_chosen != e.was_chosen)
    }

    /// Entries that are chosen.
    pub fn n_chosen(&self) -> usize {
        self.entries.iter().filter(|e| e.is_chosen).count()
    }

    /// How a request names what was dropped.
    pub fn dropped(&self) -> Vec<String> {
        self.entries
            .iter()
            .filter(|e| e.was_chosen && !e.is_chosen)
            .filter_map(|e| e.chunk_uid.clone())
            .collect()
    }

    /// Whether a part of a change was dropped.
    pub fn has_dropped_changes(&self) -> bool {
        self.entries.iter().any(|e| e.heading.is_some() && e.was_chosen && !e.is_chosen)
    }

    /// Goes on with another pack for the same task: what was dropped stays out, what was added stays in
    /// as far as it fits.
    ///
    /// # Errors
    /// Why the new text could not be counted.
    pub fn follow(&mut self, old: &Self, packer: &mut dyn Packer) -> Result<(), String> {
        let dropped = old.dropped();
        let parts: Vec<&Entry> = old.entries.iter().filter(|e| e.heading.is_some() && !e.is_chosen).collect();
        let is_part = |e: &Entry| {
            let is_same = |p: &&Entry| (&p.path, &p.title, &p.runs) == (&e.path, &e.title, &e.runs);
            e.heading.is_some() && parts.iter().any(is_same)
        };
        let is_dropped =
            |e: &Entry| is_part(e) || e.chunk_uid.as_ref().is_some_and(|uid| dropped.contains(uid));
        let dropped: Vec<usize> = (0..self.entries.len()).filter(|i| is_dropped(&self.entries[*i])).collect();
        self.choose(&dropped, false, "them", packer)?;
        for added in old.entries.iter().filter(|e| e.is_chosen && !e.was_chosen) {
            let is_same = |e: &Entry| e.path == added.path && e.lines == added.lines;
            match self.entries.iter().position(is_same) {
                Some(i) if self.entries[i].is_chosen => {}
                Some(i) => drop(self.toggle(i, packer)),
                None => {
                    self.entries.push(Entry { is_chosen: false, ..added.clone() });
                    drop(self.toggle(self.entries.len() - 1, packer));
                }
            }
        }
        Ok(())
    }
}

/// The parts of a change, under the headings of their files. What has no diff is its heading alone.
fn of_change(change: &ChangeReport) -> Vec<Entry> {
    let entry = |path: &str, heading: String, title: &str, why: String, diff: Option<&str>| {
        let run = |text: &str| Run { lines: text::lines_of_diff(text), text: text.to_owned() };
        let runs: Vec<Run> = diff.map(run).into_iter().collect();
        Entry {
            section: CHANGES.to_owned(),
            path: path.to_owned(),
            lines: runs.first().map_or(LineRange { start: 0, end: 0 }, |r| r.lines),
            title: title.to_owned(),
            zone: Zone::Changes,
            heading: Some(heading),
            why,
            runs: Some(runs),
            was_chosen: true,
            is_chosen: true,
            ..Entry::default()
        }
    };
    let mut out = Vec::new();
    for file in &change.files {
        let (path, heading) = (&file.file_rel_path, text::heading(file));
        out.extend(file.parts.iter().filter_map(|p| {
            let users = if p.contract { ", changed for its users" } else { "" };
            let why = format!("{}, +{} -{}{users}", p.status.name(), p.added, p.removed);
            Some(entry(path, heading.clone(), &p.name, why, Some(p.diff.as_deref()?)))
        }));
        if file.parts.is_empty() {
            out.push(entry(path, heading, "", file.status.name().to_owned(), None));
        }
    }
    if let Some(heading) = text::without_room(&change.files) {
        out.push(entry(text::WITHOUT_ROOM, heading, "", "named with its size".to_owned(), None));
    }
    out
}

fn of_item(section: &str, item: &Item, why: String) -> Entry {
    let mut rest = item.excerpt.text.as_str();
    let mut runs = Vec::new();
    for part in &item.excerpt.parts {
        let n = (part.lines.end + 1).saturating_sub(part.lines.start) as usize;
        let end = rest.split_inclusive('\n').take(n).map(str::len).sum();
        let (text, after) = rest.split_at(end);
        runs.push(Run { lines: part.lines, text: text.to_owned() });
        rest = after;
    }
    Entry {
        section: section.to_owned(),
        path: item.path().to_owned(),
        lines: item.lines(),
        title: item.title.clone(),
        zone: Zone::of(&item.traits),
        heading: None,
        why,
        runs: Some(if item.form == Form::Place { Vec::new() } else { runs }),
        tokens: Some(item.tokens),
        chunk_uid: Some(item.chunk_uid.clone()),
        was_chosen: true,
        is_chosen: true,
    }
}

fn of_excluded(e: &Excluded) -> Entry {
    Entry {
        section: LEFT_OUT.to_owned(),
        path: e.file_rel_path.clone(),
        lines: e.lines,
        title: e.title.clone(),
        why: e.reason.to_string(),
        ..Entry::default()
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use serde_json::json;

    /// Counts a token for every character of content and reads lines of its own making.
    pub struct Plain;

    impl Packer for Plain {
        fn count(&mut self, text: &str) -> Result<u64, String> {
            Ok(text.lines().filter(|l| l.starts_with(['1', 'l', 'c'])).map(|l| l.len() as u64 + 1).sum())
        }

        fn read(&mut self, path: &str, lines: &LineRange) -> Result<String, String> {
            match path {
                "gone.go" => Err("its file is not in the index".to_owned()),
                _ => Ok((lines.start..=lines.end).map(|n| format!("line {n}\n")).collect()),
            }
        }
    }

    /// Two items of 10 and 20 tokens, a place, and three that were left out, within 40 tokens.
    pub fn pack() -> Pack {
        let item = |path: &str, start: u32, text: &str, form: &str| {
            let n = text.lines().count() as u32;
            let parts =
                if n == 0 { json!([]) } else { json!([{"lines": {"start": start, "end": start + n - 1}}]) };
            json!({
                "fileRelPath": path, "lines": {"start": start, "end": start + n.max(1) - 1}, "title": format!("func in {path}"),
                "provenance": {"snippet_id": "", "ref": "", "content_hash": "", "selection_reason": ""},
                "chunkUid": format!("b3:{path}"), "tokens": text.len(), "form": form,
                "excerpt": {"text": text, "parts": parts}, "why": {"rule": "text-hit"},
            })
        };
        let excluded = |path: &str, end: u32, reason: &str| json!({"fileRelPath": path, "lines": {"start": 1, "end": end}, "title": path, "hybridScore": 0.1, "reason": reason});
        serde_json::from_value(json!({
            "request": {"query": "where is\n it"},
            "sections": [
                {"name": "seeds", "items": [item("a.go", 3, "123456789\n", "whole")]},
                {"name": "callers", "items": [item("b.go", 7, "123456789\n123456789\n", "windows"), item("c.go", 1, "", "place")]},
            ],
            "explain": {"excluded": [
                excluded("d.go", 1, "budget"), excluded("e.go", 9, "tooLarge"), excluded("gone.go", 1, "budget"), excluded("twin.go", 1, "duplicate"),
            ]},
            "stats": {"tokenCount": 35, "tokenBudget": 47},
        }))
        .unwrap()
    }

    pub fn choice() -> Choice {
        Choice::of(&pack(), "the text of the pack\n", |item| item.why.rule.clone())
    }

    #[test]
    fn what_is_chosen_as_the_pack_chose_is_its_own_text() {
        let mut choice = choice();
        assert_eq!((choice.query.as_str(), choice.n_chosen(), choice.entries.len()), ("where is it", 3, 6));
        choice.toggle(0, &mut Plain).unwrap();
        assert!(choice.is_changed());
        let text = "# code\nb.go\n```go\n // :7\n123456789\n123456789\n```\n# listed\nc.go:1  func in c.go\n";
        assert_eq!(choice.gathered.content, text);
        choice.toggle(0, &mut Plain).unwrap();
        let as_it_came = Gathered { content: "the text of the pack\n".to_owned(), tokens: 35 };
        assert_eq!(choice.gathered, as_it_came);
    }

    #[test]
    fn nothing_is_taken_in_above_the_budget() {
        let mut choice = choice();
        // 10 + 20 + 21 of the place + 7 are above 47; without the place they are not.
        let refused = choice.toggle(3, &mut Plain).unwrap_err();
        assert_eq!(refused, "d.go does not fit: 58 of 47 tokens; drop something first");
        assert!(!choice.entries[3].is_chosen && choice.gathered.tokens == 35);
        choice.toggle(2, &mut Plain).unwrap();
        choice.toggle(3, &mut Plain).unwrap();
        assert_eq!((choice.gathered.tokens, choice.entries[3].tokens), (37, Some(7)));
        assert_eq!(choice.toggle(5, &mut Plain), Err("its file is not in the index".to_owned()));
        assert_eq!(choice.dropped(), ["b3:c.go"]);
    }

    /// Counts a token for each byte.
    struct Bytes;

    impl Packer for Bytes {
        fn count(&mut self, text: &str) -> Result<u64, String> {
            Ok(text.len() as u64)
        }

        fn read(&mut self, _: &str, _: &LineRange) -> Result<String, String> {
            Err("there is nothing more".to_owned())
        }
    }

    /// Three runs of one file, the one in the middle with the text given, at a budget of their text.
    fn tight(middle: &str) -> Choice {
        let mut choice = choice();
        choice.entries.truncate(3);
        for (i, text) in ["first\n", middle, "last\n"].into_iter().enumerate() {
            let line = 100 * (i as u32 + 1);
            let lines = LineRange { start: line, end: line };
            let run = Run { lines, text: text.to_owned() };
            let entry = &mut choice.entries[i];
            (entry.path, entry.lines, entry.runs) = ("a.go".to_owned(), lines, Some(vec![run]));
            entry.title = format!("part {i}");
        }
        let whole = text::write(choice.entries.iter());
        choice.rendered = Gathered { tokens: whole.len() as u64, content: whole };
        (choice.gathered, choice.budget) = (choice.rendered.clone(), choice.rendered.tokens);
        choice
    }

    #[test]
    fn nothing_is_dropped_that_puts_the_text_above_the_budget() {
        let mut choice = tight("m\n");
        let whole = choice.gathered.tokens;
        choice.toggle(1, &mut Bytes).unwrap();
        assert!(choice.gathered.tokens < whole && !choice.gathered.content.contains("\nm\n"), "{choice:?}");
        let mut choice = tight("m\n");
        choice.budget = 30;
        let refused = choice.toggle(1, &mut Bytes).unwrap_err();
        assert!(refused.ends_with(" of 30 tokens; drop something else first"), "{refused}");
        assert!(choice.entries[1].is_chosen);
        choice.budget = 50;
        assert_eq!(choice.choose(&[0, 1], false, "them", &mut Bytes).map(|()| choice.n_chosen()), Ok(1));
        let mut choice = tight("m\n");
        choice.budget = 10;
        assert!(choice.choose(&[0, 1], false, "them", &mut Bytes).is_err());
        assert_eq!(choice.n_chosen(), 3);
    }

    #[test]
    fn a_section_goes_as_a_whole_and_comes_as_far_as_it_fits() {
        let mut choice = choice();
        choice.toggle_section(2, &mut Plain).unwrap();
        assert_eq!((choice.n_chosen(), choice.gathered.tokens), (1, 10));
        let said = choice.toggle_section(4, &mut Plain).unwrap_err();
        assert_eq!(said, "its file is not in the index");
        let chosen: Vec<bool> = choice.entries.iter().map(|e| e.is_chosen).collect();
        assert_eq!(chosen, [true, false, false, true, false, false], "e.go has 63 tokens");
    }

    #[test]
    fn another_pack_keeps_what_was_dropped_out_and_what_was_added_in() {
        let mut old = choice();
        old.toggle(2, &mut Plain).unwrap();
        old.toggle(3, &mut Plain).unwrap();
        let mut new = choice();
        new.entries.truncate(3);
        new.follow(&old, &mut Plain).unwrap();
        let chosen: Vec<(&str, bool)> = new.entries.iter().map(|e| (&*e.path, e.is_chosen)).collect();
        assert_eq!(chosen, [("a.go", true), ("b.go", true), ("c.go", false), ("d.go", true)]);
        assert_eq!(new.gathered.tokens, 37);
    }
}
