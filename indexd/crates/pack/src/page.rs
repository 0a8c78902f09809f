//! The text of a pack under construction, and the exact size it would have with one more item.
//!
//! The text consists of blocks that are counted separately. The counts add up because every block starts at
//! the start of a line, with a character that no piece of a tokenizer joins with a line end. Therefore the
//! total is the count of the whole text, and an item is refused only if the text with it would be too large.

use crate::identity::Source;
use crate::render::{self, Piece, Zone};
use indexd_model::view::FileRecord;
use indexd_model::{FileDoc, IndexView, Lines};
use indexd_text::{CachedCounter, TokenCounter};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::rc::Rc;

/// A size, in the units of both limits on the pack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Tokens.
    pub tokens: u64,
    /// Characters: Unicode scalar values.
    pub chars: u64,
}

impl Size {
    fn add(&mut self, other: Self) {
        self.tokens += other.tokens;
        self.chars += other.chars;
    }

    fn sub(&mut self, other: Self) {
        self.tokens -= other.tokens;
        self.chars -= other.chars;
    }
}

/// What the text says of an item beside its lines.
#[derive(Clone)]
pub struct Spot {
    /// Its zone.
    pub zone: Zone,
    /// Its file.
    pub file: FileDoc,
    /// The file's record.
    pub record: Rc<FileRecord>,
    /// The file's text.
    pub source: Rc<Source>,
    /// The lines of the whole definition.
    pub lines: Lines,
    /// Its qualified name; empty if it has none.
    pub name: Rc<str>,
    /// The name of the type around it; empty if there is none.
    pub owner: Rc<str>,
    /// The lines of its signature if the item is shown as a head; `None` for a piece.
    pub head: Option<Lines>,
    /// True if the piece shares a fence with others of its file.
    pub is_part: bool,
}

/// A shown item.
struct Entry {
    spot: Spot,
    runs: Vec<Lines>,
    /// The size of a piece; 0 for a head, whose lines belong to a group.
    size: Size,
}

impl Entry {
    /// True for a piece that shares its fence with a piece at `spot`.
    fn is_part_of(&self, spot: &Spot) -> bool {
        let own = &self.spot;
        own.is_part && own.head.is_none() && (own.zone, own.file) == (spot.zone, spot.file)
    }
}

/// The heads of one file in one zone.
#[derive(Default)]
struct Group {
    /// The size of each line, and the number of items that show it.
    lines: BTreeMap<u32, (Size, u32)>,
    /// The value of [`Page::clock`] at the last change.
    state: u64,
}

/// A page under construction.
pub struct Page<'c> {
    counter: &'c dyn TokenCounter,
    view: &'c dyn IndexView,
    /// The text before the zones and the text after them.
    frame: [String; 2],
    entries: BTreeMap<usize, Entry>,
    groups: BTreeMap<(Zone, FileDoc), Group>,
    /// The number of entries of each zone.
    zones: BTreeMap<Zone, u32>,
    /// The changes of files, by their position in the text.
    changes: BTreeMap<usize, ChangeBlock>,
    /// The line and the size of items that are shown as a place, by item.
    places: BTreeMap<usize, String>,
    /// Lines that are shown, by file and item.
    shown: FxHashMap<FileDoc, Vec<(usize, Lines)>>,
    /// Lines that the reader has, by file.
    seen: FxHashMap<FileDoc, Vec<Lines>>,
    size: Size,
    /// Sizes of pieces and of lines of heads.
    pieces: FxHashMap<(FileDoc, Vec<Lines>), Size>,
    heads: FxHashMap<(FileDoc, u32), Size>,
    /// Token counts of runs of lines.
    counted: FxHashMap<(FileDoc, Lines), u64>,
    headings: FxHashMap<Zone, Size>,
    /// The number of changes so far, from 2: 0 and 1 stand for groups that do not exist.
    clock: u64,
}

/// Bytes for each token that a path rarely exceeds; a bound for pruning.
const PATH_BYTES_PER_TOKEN: u64 = 7;

/// A change of the page that was measured and can be made.
pub struct Change {
    /// The size of the whole text after it.
    pub after: Size,
    /// The size of the piece.
    own: Size,
}

impl<'c> Page<'c> {
    /// Creates an empty page between two texts.
    pub fn new(view: &'c dyn IndexView, counter: &'c dyn TokenCounter, frame: [String; 2]) -> Self {
        let mut size = Size::default();
        frame.iter().for_each(|text| size.add(size_of(counter, text)));
        Self {
            counter,
            view,
            frame,
            entries: BTreeMap::new(),
            groups: BTreeMap::new(),
            zones: BTreeMap::new(),
            changes: BTreeMap::new(),
            places: BTreeMap::new(),
            shown: FxHashMap::default(),
            seen: FxHashMap::default(),
            size,
            pieces: FxHashMap::default(),
            heads: FxHashMap::default(),
            counted: FxHashMap::default(),
            headings: FxHashMap::default(),
            clock: 1,
        }
    }

    /// Returns a number that changes whenever the cost of an item at `spot` may have changed.
    pub fn state(&self, spot: &Spot) -> u64 {
        let group = self.groups.get(&(spot.zone, spot.file)).filter(|_| spot.head.is_some());
        let of_zone = group.map_or(u64::from(self.has_zone(spot.zone)), |group| group.state);
        let has_fence = spot.is_part && self.entries.values().any(|e| e.is_part_of(spot));
        2 * of_zone + u64::from(has_fence)
    }

    fn has_zone(&self, zone: Zone) -> bool {
        self.zones.get(&zone).is_some_and(|n| *n > 0)
    }

    /// A lower bound for the tokens beside the lines of an item of a file.
    pub fn header_at_least(&self, file: FileDoc, path: &str) -> u64 {
        let is_new = !self.groups.keys().any(|k| k.1 == file);
        if is_new { path.len() as u64 / PATH_BYTES_PER_TOKEN } else { 0 }
    }

    /// The size of the whole text.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Measures the whole text with item `i` showing `runs` instead of its present lines.
    pub fn with(&mut self, i: usize, spot: &Spot, runs: &[Lines]) -> Change {
        let mut after = self.without(i);
        let is_alone = self
            .zones
            .get(&spot.zone)
            .is_none_or(|n| *n == u32::from(self.entries.get(&i).is_some_and(|e| e.spot.zone == spot.zone)));
        if is_alone {
            let heading = self.heading(spot.zone);
            after.add(heading);
        }
        if spot.head.is_none() {
            let own = self.piece_size(spot, runs);
            after.add(own);
            let mut parts = self.entries.iter().filter(|(j, e)| **j != i && e.is_part_of(spot));
            if spot.is_part && parts.next().is_none() {
                after.add(self.fence_size(spot));
            }
            return Change { after, own };
        }
        let mine = self.lines_of(i, spot);
        let kept = |page: &Self, line: u32| {
            let group = page.groups.get(&(spot.zone, spot.file));
            group.and_then(|g| g.lines.get(&line)).is_some_and(|l| l.1 > u32::from(mine.contains(&line)))
        };
        let group = self.groups.get(&(spot.zone, spot.file));
        let is_new =
            group.is_none_or(|g| g.lines.iter().all(|(l, (_, n))| *n == u32::from(mine.contains(l))));
        if is_new {
            let header = self.header_size(spot);
            after.add(header);
        }
        for line in head_lines(spot, runs) {
            if !kept(self, line) {
                let size = self.head_size(spot, line);
                after.add(size);
            }
        }
        Change { after, own: Size::default() }
    }

    /// The lines of heads that item `i` shows in the zone of `spot`.
    fn lines_of(&self, i: usize, spot: &Spot) -> FxHashSet<u32> {
        let entry = self.entries.get(&i).filter(|e| e.spot.head.is_some() && e.spot.zone == spot.zone);
        entry.map_or_else(FxHashSet::default, |e| head_lines(&e.spot, &e.runs).collect())
    }

    /// The size of the text without item `i`.
    fn without(&mut self, i: usize) -> Size {
        let mut size = self.size;
        let Some(entry) = self.entries.get(&i) else { return size };
        let spot = entry.spot.clone();
        size.sub(entry.size);
        if self.zones.get(&spot.zone) == Some(&1) {
            let heading = self.heading(spot.zone);
            size.sub(heading);
        }
        if spot.is_part
            && spot.head.is_none()
            && self.entries.values().filter(|e| e.is_part_of(&spot)).count() == 1
        {
            size.sub(self.fence_size(&spot));
        }
        if spot.head.is_some() {
            let mine = self.lines_of(i, &spot);
            let group = &self.groups[&(spot.zone, spot.file)];
            let gone: Vec<Size> =
                mine.iter().map(|l| group.lines[l]).filter(|l| l.1 == 1).map(|l| l.0).collect();
            let is_all = gone.len() == group.lines.len();
            gone.into_iter().for_each(|s| size.sub(s));
            if is_all {
                let header = self.header_size(&spot);
                size.sub(header);
            }
        }
        size
    }

    /// Makes a change that [`Page::with`] measured with the same arguments. The page must be the same as
    /// then.
    pub fn put(&mut self, i: usize, spot: &Spot, runs: &[Lines], change: &Change) {
        self.take(i);
        self.size = change.after;
        *self.zones.entry(spot.zone).or_insert(0) += 1;
        self.clock += 1;
        if spot.head.is_some() {
            for line in head_lines(spot, runs) {
                let size = self.head_size(spot, line);
                let group = self.groups.entry((spot.zone, spot.file)).or_default();
                group.lines.entry(line).or_insert((size, 0)).1 += 1;
                group.state = self.clock;
            }
        }
        self.shown.entry(spot.file).or_default().extend(runs.iter().map(|r| (i, *r)));
        self.entries.insert(i, Entry { spot: spot.clone(), runs: runs.to_vec(), size: change.own });
    }

    /// Takes item `i` off the page, but for its size.
    fn take(&mut self, i: usize) {
        let Some(entry) = self.entries.remove(&i) else { return };
        let spot = entry.spot;
        if let Some(n) = self.zones.get_mut(&spot.zone) {
            *n -= 1;
        }
        if let Some(shown) = self.shown.get_mut(&spot.file) {
            shown.retain(|s| s.0 != i);
        }
        let key = (spot.zone, spot.file);
        if let Some(group) = self.groups.get_mut(&key).filter(|_| spot.head.is_some()) {
            for line in head_lines(&spot, &entry.runs) {
                if let Some(of) = group.lines.get_mut(&line) {
                    of.1 -= 1;
                }
            }
            group.lines.retain(|_, of| of.1 > 0);
            if group.lines.is_empty() {
                self.groups.remove(&key);
            }
        }
    }

    /// Measures the whole text with `block` as the change at position `n`, instead of the present one.
    pub fn with_change(&mut self, n: usize, block: &mut ChangeBlock) -> Size {
        let mut text = String::new();
        let parts: Vec<&str> = block.parts.values().map(String::as_str).collect();
        render::change(&block.path, &block.head, &parts, &mut text);
        block.size = size_of(self.counter, &text);
        let mut after = self.size;
        if self.changes.is_empty() {
            after.add(self.heading(Zone::Changes));
        }
        if let Some(was) = self.changes.get(&n) {
            after.sub(was.size);
        }
        after.add(block.size);
        after
    }

    /// Puts a block that [`Page::with_change`] measured; `after` is its result.
    pub fn put_change(&mut self, n: usize, block: ChangeBlock, after: Size) {
        self.size = after;
        self.changes.insert(n, block);
    }

    /// The change at position `n`.
    pub fn change(&self, n: usize) -> Option<&ChangeBlock> {
        self.changes.get(&n)
    }

    /// Measures the whole text with one more place line.
    pub fn with_place(&mut self, line: &str) -> Size {
        let mut after = self.size;
        if self.places.is_empty() {
            let heading = self.heading(Zone::Listed);
            after.add(heading);
        }
        after.add(size_of(self.counter, line));
        after
    }

    /// Adds the place line of item `i`.
    pub fn put_place(&mut self, i: usize, line: String) {
        self.size = self.with_place(&line);
        self.places.insert(i, line);
    }

    /// Records lines that the reader has; they count as shown.
    pub fn put_seen(&mut self, file: FileDoc, lines: impl IntoIterator<Item = Lines>) {
        self.seen.entry(file).or_default().extend(lines);
    }

    /// True if every line of `lines` is shown or known to the reader.
    pub fn shows(&self, file: FileDoc, lines: Lines) -> bool {
        let seen = || self.seen.get(&file).into_iter().flatten();
        let has = |line| self.shown(file).chain(seen()).any(|l| l.start <= line && line <= l.end);
        (lines.start..=lines.end).all(has)
    }

    fn shown(&self, file: FileDoc) -> impl Iterator<Item = &Lines> {
        self.shown.get(&file).into_iter().flatten().map(|s| &s.1)
    }

    /// True if any line of `lines` is shown.
    pub fn touches(&self, file: FileDoc, lines: Lines) -> bool {
        self.shown(file).any(|l| l.start <= lines.end && lines.start <= l.end)
    }

    /// Returns the text: zones in their order; in a zone pieces and groups of heads by the rank of their best
    /// item; listed places last.
    pub fn text(&self) -> String {
        let mut out = String::with_capacity(self.size.chars as usize + 64);
        out.push_str(&self.frame[0]);
        if !self.changes.is_empty() {
            out.push_str(Zone::Changes.heading());
        }
        for block in self.changes.values() {
            let parts: Vec<&str> = block.parts.values().map(String::as_str).collect();
            render::change(&block.path, &block.head, &parts, &mut out);
        }
        let mut zone = None;
        for (of, _, text) in &self.blocks() {
            if zone != Some(*of) {
                zone = Some(*of);
                out.push_str(of.heading());
            }
            out.push_str(text);
        }
        if !self.places.is_empty() {
            out.push_str(Zone::Listed.heading());
            self.places.values().for_each(|line| out.push_str(line));
        }
        out.push_str(&self.frame[1]);
        out
    }

    /// The texts of the zones, in their order: pieces, groups of heads, and pieces that share a fence, each with
    /// its zone and the rank of its best item.
    fn blocks(&self) -> Vec<(Zone, usize, String)> {
        let mut blocks: Vec<(Zone, usize, String)> = Vec::with_capacity(self.entries.len());
        let mut parts: BTreeMap<(Zone, FileDoc), Vec<(Lines, usize)>> = BTreeMap::new();
        let mut heads: BTreeMap<(Zone, FileDoc), (usize, BTreeMap<u32, String>)> = BTreeMap::new();
        for (i, entry) in &self.entries {
            let spot = &entry.spot;
            if spot.head.is_none() && spot.is_part {
                parts.entry((spot.zone, spot.file)).or_default().push((entry.runs[0], *i));
                continue;
            }
            if spot.head.is_none() {
                blocks.push((spot.zone, *i, piece_text(spot, &entry.runs)));
                continue;
            }
            let group = heads.entry((spot.zone, spot.file)).or_insert_with(|| (*i, BTreeMap::new()));
            for line in head_lines(spot, &entry.runs) {
                group.1.entry(line).or_insert_with(|| head_text(spot, line));
            }
        }
        for ((zone, _), (rank, lines)) in heads {
            let mut text = String::new();
            render::heads_of(&self.entries[&rank].spot.record.path, &mut text);
            text.extend(lines.into_values());
            blocks.push((zone, rank, text));
        }
        for ((zone, _), mut items) in parts {
            items.sort_unstable();
            let spot = &self.entries[&items[0].1].spot;
            let mut text = String::new();
            render::open_parts(&spot.record.path, spot.record.language, &spot.source, &mut text);
            for (_, i) in &items {
                text.push_str(&piece_text(&self.entries[i].spot, &self.entries[i].runs));
            }
            render::close_fence(&spot.source, &mut text);
            let rank = items.iter().map(|(_, i)| *i).min().unwrap_or_default();
            blocks.push((zone, rank, text));
        }
        blocks.sort_by_key(|b| (b.0, b.1));
        blocks
    }

    /// Tokens of lines of a file, counted alone.
    pub fn tokens(&mut self, spot: &Spot, lines: Lines) -> u64 {
        let (counter, view) = (self.counter, self.view);
        *self.counted.entry((spot.file, lines)).or_insert_with(|| {
            let text = spot.source.shown(lines);
            let stored = view.token_count(counter.name(), CachedCounter::key(&text));
            u64::from(stored.unwrap_or_else(|| counter.count_tokens(&text)))
        })
    }

    fn heading(&mut self, zone: Zone) -> Size {
        let counter = self.counter;
        *self.headings.entry(zone).or_insert_with(|| size_of(counter, zone.heading()))
    }

    /// The size of the path and the fences of pieces that share them.
    fn fence_size(&self, spot: &Spot) -> Size {
        let mut text = String::new();
        render::open_parts(&spot.record.path, spot.record.language, &spot.source, &mut text);
        let mut size = size_of(self.counter, &text);
        text.clear();
        render::close_fence(&spot.source, &mut text);
        size.add(size_of(self.counter, &text));
        size
    }

    fn header_size(&self, spot: &Spot) -> Size {
        let mut text = String::new();
        render::heads_of(&spot.record.path, &mut text);
        size_of(self.counter, &text)
    }

    fn head_size(&mut self, spot: &Spot, line: u32) -> Size {
        let counter = self.counter;
        *self.heads.entry((spot.file, line)).or_insert_with(|| size_of(counter, &head_text(spot, line)))
    }

    fn piece_size(&mut self, spot: &Spot, runs: &[Lines]) -> Size {
        let counter = self.counter;
        let key = (spot.file, runs.to_vec());
        *self.pieces.entry(key).or_insert_with(|| size_of(counter, &piece_text(spot, runs)))
    }
}

/// The lines by which a head is shown: the first of its signature, and each of its other lines.
fn head_lines<'a>(spot: &'a Spot, runs: &'a [Lines]) -> impl Iterator<Item = u32> + 'a {
    let head = spot.head.unwrap_or(Lines { start: 0, end: 0 });
    let is_own = move |line: &u32| *line == head.start || !(head.start..=head.end).contains(line);
    runs.iter().flat_map(|r| r.start..=r.end).filter(is_own)
}

/// The text of one line of a head.
fn head_text(spot: &Spot, line: u32) -> String {
    let head = spot.head.filter(|h| h.start == line);
    let text = spot.source.shown(head.unwrap_or(Lines { start: line, end: line }));
    let mut out = String::new();
    render::head(line, if head.is_some() { &spot.owner } else { "" }, &text, &mut out);
    out
}

fn piece_text(spot: &Spot, runs: &[Lines]) -> String {
    let mut out = String::new();
    let (record, source) = (&spot.record, &spot.source);
    let of = Piece {
        path: &record.path,
        lines: spot.lines,
        name: &spot.name,
        language: record.language,
        source,
        runs,
    };
    if spot.is_part {
        // The first lines of a member often name its type, as in Go.
        let start = runs.first().map_or(0, |r| r.start);
        let names = source.shown(Lines { start, end: start }).contains(&*spot.owner);
        render::part(&of, if names { "" } else { &spot.owner }, &mut out);
    } else {
        render::piece(&of, &mut out);
    }
    out
}

fn size_of(counter: &dyn TokenCounter, text: &str) -> Size {
    Size { tokens: u64::from(counter.count_tokens(text)), chars: text.chars().count() as u64 }
}

/// The part of the text that shows the change of one file.
#[derive(Clone, Default)]
pub struct ChangeBlock {
    /// Its path.
    pub path: String,
    /// The text after the path on the header line, and the lines below the header.
    pub head: String,
    /// The parts of the diff, by position.
    pub parts: BTreeMap<usize, String>,
    size: Size,
}

impl ChangeBlock {
    /// A block without parts.
    pub fn new(path: String, head: String) -> Self {
        Self { path, head, ..Self::default() }
    }
}
