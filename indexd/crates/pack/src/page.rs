//! The text of a pack under construction, and the exact size it would have with one more item.
//!
//! The text consists of groups that are counted separately. The counts add up because a group starts after a
//! blank line with a line that begins with `#`, and no piece of a tokenizer crosses such a boundary.
//! Therefore the total is the count of the whole text, and an item is refused only if the text with it would
//! be too large.

use crate::identity::Source;
use crate::render::{self, Group, Zone};
use indexd_model::view::FileRecord;
use indexd_model::{FileDoc, IndexView, Lines};
use indexd_text::{CachedCounter, TokenCounter};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::ops::Range;
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

/// The place of an item in the text.
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
}

/// The lines of one file in one zone.
struct Block {
    spot: Spot,
    /// The shown lines of each item, by its number.
    items: BTreeMap<usize, Vec<Lines>>,
    size: Size,
    /// The value of [`Page::clock`] at the last change.
    state: u64,
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

/// A page under construction.
pub struct Page<'c> {
    counter: &'c dyn TokenCounter,
    view: &'c dyn IndexView,
    blocks: BTreeMap<(Zone, FileDoc), Block>,
    /// The changes of files, by their position in the text.
    changes: BTreeMap<usize, ChangeBlock>,
    /// The line and the size of items that are shown as a place, by item.
    places: BTreeMap<usize, (String, Size)>,
    /// Lines that the reader has, by file.
    seen: FxHashMap<FileDoc, Vec<Lines>>,
    size: Size,
    /// Token counts of runs of lines.
    counted: FxHashMap<(FileDoc, Lines), u64>,
    /// The parts of runs whose counts do not depend on the surrounding text.
    runs: FxHashMap<(FileDoc, Lines), Run>,
    /// Token counts of the texts between runs.
    between: FxHashMap<Box<str>, u64>,
    headings: FxHashMap<Zone, Size>,
    /// The number of changes so far, from 2: 0 and 1 stand for blocks that do not exist.
    clock: u64,
}

/// Minimum tokens of `## File:  (lines 1-2)` and both fences.
const HEADER_TOKENS_MIN: u64 = 12;

/// Bytes for each token that a path rarely exceeds; a bound for pruning.
const PATH_BYTES_PER_TOKEN: u64 = 7;

/// The zones that have blocks.
const ZONES: [Zone; 4] = [Zone::Code, Zone::Tests, Zone::Config, Zone::Docs];

/// A change of the page that was measured and can be made.
pub struct Change {
    /// The size of the whole text after it.
    pub after: Size,
    block: Size,
}

impl<'c> Page<'c> {
    /// Creates an empty page.
    pub fn new(view: &'c dyn IndexView, counter: &'c dyn TokenCounter) -> Self {
        Self {
            counter,
            view,
            blocks: BTreeMap::new(),
            changes: BTreeMap::new(),
            places: BTreeMap::new(),
            seen: FxHashMap::default(),
            size: Size::default(),
            counted: FxHashMap::default(),
            runs: FxHashMap::default(),
            between: FxHashMap::default(),
            headings: FxHashMap::default(),
            clock: 1,
        }
    }

    /// Returns a number that changes whenever the cost of lines of this file in this zone may have changed.
    pub fn state(&self, zone: Zone, file: FileDoc) -> u64 {
        match self.blocks.get(&(zone, file)) {
            Some(block) => block.state,
            None => u64::from(self.has_zone(zone)),
        }
    }

    fn has_zone(&self, zone: Zone) -> bool {
        self.blocks.keys().any(|k| k.0 == zone)
    }

    /// A lower bound for the tokens of the header and the fences of a file in a zone; 0 if the zone shows the
    /// file already.
    pub fn header_at_least(&self, zone: Zone, file: FileDoc, path: &str) -> u64 {
        let is_new = !self.blocks.contains_key(&(zone, file));
        if is_new { HEADER_TOKENS_MIN + path.len() as u64 / PATH_BYTES_PER_TOKEN } else { 0 }
    }

    /// The size of the whole text.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Measures the whole text with item `i` showing `lines` at `spot` instead of its present lines.
    pub fn with(&mut self, i: usize, spot: &Spot, lines: &[Lines]) -> Change {
        let key = (spot.zone, spot.file);
        let mut after = self.size;
        let mut runs: Vec<Lines> = lines.to_vec();
        match self.blocks.get(&key) {
            Some(block) => {
                after.sub(block.size);
                runs.extend(block.items.iter().filter(|(j, _)| **j != i).flat_map(|(_, l)| l));
            }
            None if !self.has_zone(spot.zone) => after.add(self.heading(spot.zone)),
            None => {}
        }
        let runs = render::joined(&spot.source, runs);
        let block = self.measure(spot, &runs);
        after.add(block);
        Change { after, block }
    }

    /// Makes a change that [`Page::with`] measured with the same arguments. The page must be the same as
    /// then.
    pub fn put(&mut self, i: usize, spot: &Spot, lines: &[Lines], change: &Change) {
        self.size = change.after;
        let key = (spot.zone, spot.file);
        let block = self.blocks.entry(key).or_insert_with(|| Block {
            spot: spot.clone(),
            items: BTreeMap::new(),
            size: Size::default(),
            state: 0,
        });
        block.items.insert(i, lines.to_vec());
        block.size = change.block;
        self.clock += 1;
        block.state = self.clock;
    }

    /// Removes item `i` from `spot`.
    pub fn remove(&mut self, i: usize, spot: &Spot) {
        let key = (spot.zone, spot.file);
        let Some(mut block) = self.blocks.remove(&key) else { return };
        self.size.sub(block.size);
        block.items.remove(&i);
        if block.items.is_empty() {
            if !self.has_zone(spot.zone) {
                let heading = self.heading(spot.zone);
                self.size.sub(heading);
            }
            return;
        }
        let runs = render::joined(&block.spot.source, block.items.values().flatten().copied());
        block.size = self.measure(spot, &runs);
        self.size.add(block.size);
        self.clock += 1;
        block.state = self.clock;
        self.blocks.insert(key, block);
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
            after.add(self.heading(Zone::Places));
        }
        after.add(self.line_size(line));
        after
    }

    /// Adds the place line of item `i`.
    pub fn put_place(&mut self, i: usize, line: String) {
        self.size = self.with_place(&line);
        let size = self.line_size(&line);
        self.places.insert(i, (line, size));
    }

    /// Records lines that the reader has; they count as shown.
    pub fn put_seen(&mut self, file: FileDoc, lines: impl IntoIterator<Item = Lines>) {
        self.seen.entry(file).or_default().extend(lines);
    }

    /// True if every line of `lines` is shown in any zone or known to the reader.
    pub fn shows(&self, file: FileDoc, lines: Lines) -> bool {
        let shown: SmallVec<[Lines; 32]> = self.shown(file).chain(self.seen(file)).collect();
        (lines.start..=lines.end).all(|line| shown.iter().any(|l| l.start <= line && line <= l.end))
    }

    fn shown(&self, file: FileDoc) -> impl Iterator<Item = Lines> + '_ {
        let blocks = ZONES.iter().filter_map(move |zone| self.blocks.get(&(*zone, file)));
        blocks.flat_map(|b| b.items.values()).flatten().copied()
    }

    fn seen(&self, file: FileDoc) -> impl Iterator<Item = Lines> + '_ {
        self.seen.get(&file).into_iter().flatten().copied()
    }

    /// True if any line of `lines` is shown in any zone.
    pub fn touches(&self, file: FileDoc, lines: Lines) -> bool {
        self.shown(file).any(|l| l.start <= lines.end && lines.start <= l.end)
    }

    /// Returns the text: zones in their order, files by the rank of their best item, places last.
    pub fn text(&self, rank: impl Fn(usize) -> usize) -> String {
        let mut blocks: Vec<(Zone, usize, &Block)> = Vec::with_capacity(self.blocks.len());
        for (key, block) in &self.blocks {
            let best = block.items.keys().map(|i| rank(*i)).min().unwrap_or(usize::MAX);
            blocks.push((key.0, best, block));
        }
        blocks.sort_by_key(|b| (b.0, b.1));
        let mut out = String::with_capacity(self.size.chars as usize + 64);
        if !self.changes.is_empty() {
            out.push_str(Zone::Changes.heading());
        }
        for block in self.changes.values() {
            let parts: Vec<&str> = block.parts.values().map(String::as_str).collect();
            render::change(&block.path, &block.head, &parts, &mut out);
        }
        let mut zone = None;
        for (of, _, block) in blocks {
            if zone != Some(of) {
                zone = Some(of);
                out.push_str(of.heading());
            }
            let runs = render::joined(&block.spot.source, block.items.values().flatten().copied());
            let mut g = group(&block.spot, &runs, 0);
            g.backticks = runs.iter().map(|r| render::longest_run(&g.text(*r))).max().unwrap_or(0);
            render::group(&g, &mut out, |out, _, text| out.push_str(text));
        }
        if !self.places.is_empty() {
            out.push_str(Zone::Places.heading());
            let mut places: Vec<(usize, &str)> =
                self.places.iter().map(|(i, (line, _))| (rank(*i), line.as_str())).collect();
            places.sort_unstable();
            places.iter().for_each(|p| out.push_str(p.1));
        }
        out
    }

    /// Tokens of lines of a file, counted alone.
    pub fn tokens(&mut self, spot: &Spot, lines: Lines) -> u64 {
        count_lines(self.counter, self.view, &mut self.counted, spot, lines)
    }

    fn heading(&mut self, zone: Zone) -> Size {
        let counter = self.counter;
        *self.headings.entry(zone).or_insert_with(|| size_of(counter, zone.heading()))
    }

    fn line_size(&self, line: &str) -> Size {
        size_of(self.counter, line)
    }

    /// Measures a block. Of each run only the lines at both ends are counted again, since a tokenizer may
    /// join them with the surrounding text.
    fn measure(&mut self, spot: &Spot, runs: &[Lines]) -> Size {
        let known: SmallVec<[Run; 8]> = runs.iter().map(|lines| self.run(spot, *lines)).collect();
        let backticks = known.iter().map(|run| run.backticks).max().unwrap_or(0);
        let (counter, between) = (self.counter, &mut self.between);
        let mut size = Size::default();
        let mut text = String::with_capacity(BETWEEN_MAX);
        render::group(&group(spot, runs, backticks), &mut text, |out, n, own| match &known[n].inner {
            Some((inner, of_inner)) => {
                out.push_str(&own[..inner.start as usize]);
                size.add(size_between(counter, between, out));
                size.add(*of_inner);
                out.clear();
                out.push_str(&own[inner.end as usize..]);
            }
            None => out.push_str(own),
        });
        size.add(size_between(counter, between, &text));
        size
    }

    fn run(&mut self, spot: &Spot, lines: Lines) -> Run {
        let key = (spot.file, lines);
        if let Some(known) = self.runs.get(&key) {
            return known.clone();
        }
        let own = spot.source.shown(lines);
        let own = &*own;
        let inner = sure_part(self.counter, own).map(|inner| {
            let ends = [&own[..inner.start], &own[inner.end..]];
            let tokens = count_lines(self.counter, self.view, &mut self.counted, spot, lines)
                - ends.iter().map(|end| u64::from(self.counter.count_tokens(end))).sum::<u64>();
            let chars = own[inner.clone()].chars().count() as u64;
            (inner.start as u32..inner.end as u32, Size { tokens, chars })
        });
        let run = Run { inner, backticks: render::longest_run(own) };
        self.runs.insert(key, run.clone());
        run
    }
}

/// The size of a run of lines, as far as it does not depend on the surrounding text.
#[derive(Clone)]
struct Run {
    /// The byte range in the run whose tokens never join with other text, and its size; `None` for runs of
    /// few lines.
    inner: Option<(Range<u32>, Size)>,
    /// The longest run of backticks.
    backticks: usize,
}

/// Maximum bytes of a text between runs whose count is cached.
const BETWEEN_MAX: usize = 1_024;

fn size_between(counter: &dyn TokenCounter, between: &mut FxHashMap<Box<str>, u64>, text: &str) -> Size {
    let chars = text.chars().count() as u64;
    if let Some(tokens) = between.get(text) {
        return Size { tokens: *tokens, chars };
    }
    let tokens = u64::from(counter.count_tokens(text));
    if text.len() <= BETWEEN_MAX {
        between.insert(text.into(), tokens);
    }
    Size { tokens, chars }
}

fn group<'a>(spot: &'a Spot, runs: &'a [Lines], backticks: usize) -> Group<'a> {
    let record = &spot.record;
    Group { path: &record.path, language: record.language, source: &spot.source, runs, backticks }
}

fn size_of(counter: &dyn TokenCounter, text: &str) -> Size {
    Size { tokens: u64::from(counter.count_tokens(text)), chars: text.chars().count() as u64 }
}

fn count_lines(
    counter: &dyn TokenCounter,
    view: &dyn IndexView,
    counted: &mut FxHashMap<(FileDoc, Lines), u64>,
    spot: &Spot,
    lines: Lines,
) -> u64 {
    *counted.entry((spot.file, lines)).or_insert_with(|| {
        let text = spot.source.shown(lines);
        let stored = view.token_count(counter.name(), CachedCounter::key(&text));
        u64::from(stored.unwrap_or_else(|| counter.count_tokens(&text)))
    })
}

/// Returns the part of a run between its first and last line start at which counts are known to add up,
/// whatever the surrounding text; `None` if there are fewer than two such starts.
fn sure_part(counter: &dyn TokenCounter, own: &str) -> Option<Range<usize>> {
    // The tokens of a line end depend on the character before it.
    let is_sure = |at: &usize| 1 < *at && *at < own.len() && counter.adds_up_at(own, *at);
    let first = own.match_indices('\n').map(|(at, _)| at + 1).find(is_sure)?;
    let last = own.rmatch_indices('\n').map(|(at, _)| at + 1).find(is_sure)?;
    (first < last).then_some(first..last)
}
