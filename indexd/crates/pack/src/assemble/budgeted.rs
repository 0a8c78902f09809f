//! The page of a pack with its limits. Everything on it fits, and it knows which limit its contents need.

use crate::excerpt::{self, Plan};
use crate::pack::DropReason;
use crate::page::{ChangeBlock, Page, Size, Spot};
use crate::request::Caps;
use indexd_model::limits::TOTAL_CHARS_MAX;
use indexd_model::view::FileRecord;
use indexd_model::{FileDoc, Lines};
use rustc_hash::FxHashMap;

/// A page within limits.
pub(super) struct BudgetedPage<'a> {
    page: Page<'a>,
    caps: Caps,
    /// Maximum tokens: the budget, or the tokens of the previous filling.
    limit: u64,
    /// The smallest limit in tokens that would have led to the same decisions.
    needs: u64,
    n_items: u64,
    n_in_section: Vec<u64>,
    /// The last refusal by candidate.
    refusals: FxHashMap<usize, Refusal>,
}

/// An excerpt that did not fit, and its cost. The cost is valid until its file changes on the page.
struct Refusal {
    parts: Vec<Lines>,
    state: u64,
    taken: Size,
}

impl<'a> BudgetedPage<'a> {
    /// An empty page of `n_sections` sections with the tokens of `caps` as its limit.
    pub(super) fn new(page: Page<'a>, caps: Caps, n_sections: usize) -> Self {
        Self {
            page,
            caps,
            limit: caps.max_total_tokens,
            needs: 0,
            n_items: 0,
            n_in_section: vec![0; n_sections],
            refusals: FxHashMap::default(),
        }
    }

    /// Starts again with the empty `page` and the same limits.
    pub(super) fn restart(&mut self, page: Page<'a>) {
        let limit = self.limit;
        *self = Self { limit, ..Self::new(page, self.caps, self.n_in_section.len()) };
    }

    /// Makes its size the limit of the next filling. False if that changes nothing, since every decision needed
    /// no more.
    pub(super) fn tighten(&mut self) -> bool {
        self.limit = if self.needs > self.size().tokens { self.size().tokens } else { return false };
        true
    }

    /// The text, as far as it is written.
    pub(super) fn page(&self) -> &Page<'a> {
        &self.page
    }

    /// The size of the whole text.
    pub(super) fn size(&self) -> Size {
        self.page.size()
    }

    /// The number of items on it.
    pub(super) fn n_items(&self) -> u64 {
        self.n_items
    }

    /// Tokens that can be used at most: characters are limited too, and no counter finds more than two tokens
    /// in a byte.
    pub(super) fn tokens_max(&self) -> u64 {
        self.limit.min(8 * u64::from(TOTAL_CHARS_MAX))
    }

    /// Free tokens.
    pub(super) fn left(&self) -> u64 {
        self.tokens_max().saturating_sub(self.size().tokens)
    }

    /// The limit on items that leaves no room for another one in a section.
    pub(super) fn cap(&self, section: usize) -> Option<DropReason> {
        if self.n_items >= self.caps.max_items {
            Some(DropReason::ItemCap)
        } else if self.n_in_section[section] >= self.caps.max_items_per_section {
            Some(DropReason::SectionCap)
        } else {
            None
        }
    }

    /// Notes that a decision requires a limit of at least `tokens`.
    pub(super) fn note(&mut self, tokens: u64) {
        self.needs = self.needs.max(tokens);
    }

    /// Counts an item of a section that another part of the page shows.
    pub(super) fn count(&mut self, section: usize) {
        self.n_items += 1;
        self.n_in_section[section] += 1;
    }

    /// Shows item `i` by `plan` if the page stays within its limits and grows by at most `room` tokens. `section`
    /// is that of an item that is not shown yet. Returns the tokens it took.
    pub(super) fn offer(
        &mut self,
        i: usize,
        section: Option<usize>,
        spot: &Spot,
        plan: &Plan,
        room: u64,
    ) -> Option<u64> {
        let before = self.size();
        let fits = |page: &Self, taken: Size| {
            page.fits(Size { tokens: before.tokens + taken.tokens, chars: before.chars + taken.chars })
                && taken.tokens <= room
        };
        let state = self.page.state(spot);
        // What a shown item frees depends on the rest of the page.
        let refused = self.refusals.get(&i).filter(|_| section.is_some());
        if refused.is_some_and(|r| r.state == state && r.parts == plan.parts && !fits(self, r.taken)) {
            return None;
        }
        let change = self.page.with(i, spot, &plan.parts);
        let taken = Size {
            tokens: change.after.tokens.saturating_sub(before.tokens),
            chars: change.after.chars.saturating_sub(before.chars),
        };
        if !fits(self, taken) {
            self.refusals.insert(i, Refusal { parts: plan.parts.clone(), state, taken });
            return None;
        }
        self.note(before.tokens + taken.tokens);
        self.page.put(i, spot, &plan.parts, &change);
        if let Some(section) = section {
            self.count(section);
        }
        Some(taken.tokens)
    }

    fn fits(&self, size: Size) -> bool {
        size.tokens <= self.limit && size.chars <= self.caps.max_total_chars
    }

    /// Shows item `i` as the line of its place, if that fits. Returns the tokens it took.
    pub(super) fn put_place(&mut self, i: usize, section: usize, line: String) -> Option<u64> {
        let (before, after) = (self.size(), self.page.with_place(&line));
        if !self.fits(after) {
            return None;
        }
        self.note(after.tokens);
        self.page.put_place(i, line);
        self.count(section);
        Some(after.tokens - before.tokens)
    }

    /// Puts a block of the change at position `n` if it fits into the budget and the page takes at most `room`
    /// tokens.
    pub(super) fn put_block(&mut self, n: usize, block: &mut ChangeBlock, room: u64) -> bool {
        let after = self.page.with_change(n, block);
        let tokens = self.caps.max_total_tokens.min(room);
        let fits = after.tokens <= tokens && after.chars <= self.caps.max_total_chars;
        if fits {
            self.page.put_change(n, std::mem::take(block), after);
        }
        fits
    }

    /// Records lines that the reader has; they count as shown.
    pub(super) fn put_seen(&mut self, file: FileDoc, lines: impl IntoIterator<Item = Lines>) {
        self.page.put_seen(file, lines);
    }

    /// The size of the whole text with item `i` by `plan`.
    pub(super) fn with(&mut self, i: usize, spot: &Spot, plan: &Plan) -> Size {
        self.page.with(i, spot, &plan.parts).after
    }

    /// The plan cut to as many whole lines as fit; if not even one does, the size of the page with one.
    pub(super) fn cut(&mut self, i: usize, spot: &Spot, full: &Plan) -> Result<Plan, Size> {
        let n_lines = full.parts.iter().map(|p| p.count()).sum::<u32>();
        // Tokens grow with lines.
        let n = excerpt::most(n_lines, |n| {
            let after = self.with(i, spot, &excerpt::shorten(full, n));
            self.fits(after)
        });
        let next = self.with(i, spot, &excerpt::shorten(full, n + 1));
        if n == 0 {
            return Err(next);
        }
        let is_chars = next.tokens <= self.limit;
        let reason = Some(if is_chars { "maxTotalChars" } else { "maxTotalTokens" });
        Ok(Plan { reason, ..excerpt::shorten(full, n) })
    }

    /// A lower bound for the tokens of an item of a file, without its lines.
    pub(super) fn header_at_least(&self, file: FileDoc, record: &FileRecord) -> u64 {
        self.page.header_at_least(file, &record.path)
    }

    /// Tokens of lines of a file, counted alone.
    pub(super) fn tokens(&mut self, spot: &Spot, lines: Lines) -> u64 {
        self.page.tokens(spot, lines)
    }
}
