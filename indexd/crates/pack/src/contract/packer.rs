//! Runs the stages in order: sources, chunking, ranking, deduplication, budgeting, selection, formatting.

use super::budget::Ledger;
use super::chunking::LineChunker;
use super::dedup::ContentDeduplicator;
use super::format::MarkdownFormatter;
use super::ranking::WeightedRanker;
use super::selection::{RankSelector, Selection};
use super::{
    Answer, BudgetManager, Chunker, ContextBudget, ContextChunk, ContextPacker, ContextSource, Deduplicator,
    Excluded, Formatter, LineRange, PackedContext, PackingStats, Ranker, Selector, Settings,
};
use indexd_api::{ErrorCode, PackError};
use indexd_text::TokenCounter;

/// Maximum tokens of a header, a fence and a gap, without the path.
const FRAME_TOKENS: u64 = 24;

/// The packer, made of replaceable parts.
pub struct Packer<'a> {
    /// Limits and weights.
    pub settings: &'a Settings,
    /// Counts tokens.
    pub counter: &'a dyn TokenCounter,
    /// Cuts sources into chunks.
    pub chunker: Box<dyn Chunker + Send + Sync + 'a>,
    /// Orders chunks.
    pub ranker: Box<dyn Ranker + Send + Sync + 'a>,
    /// Removes duplicates.
    pub deduplicator: Box<dyn Deduplicator + Send + Sync + 'a>,
    /// Chooses what fits.
    pub selector: Box<dyn Selector + Send + Sync + 'a>,
    /// Writes the text.
    pub formatter: Box<dyn Formatter + Send + Sync + 'a>,
}

impl<'a> Packer<'a> {
    /// Creates the packer with the default parts.
    pub fn new(settings: &'a Settings, counter: &'a dyn TokenCounter) -> Self {
        Self {
            settings,
            counter,
            chunker: Box::new(LineChunker(settings)),
            ranker: Box::new(WeightedRanker(settings)),
            deduplicator: Box::new(ContentDeduplicator),
            selector: Box::new(RankSelector(settings)),
            formatter: Box::new(MarkdownFormatter),
        }
    }

    /// Packs synchronously; [`ContextPacker::pack`] calls this.
    ///
    /// # Errors
    /// [`PackError::Cancelled`]; [`PackError::ContextOverflow`] if the text exceeds the budget, which would
    /// be a bug.
    pub fn pack_now(
        &self,
        sources: &[ContextSource],
        budget: &ContextBudget,
        cancel: &dyn Fn() -> bool,
    ) -> Result<PackedContext, PackError> {
        let available = budget.available();
        let (mut chosen, mut excluded, mut ledger) = self.choose(sources, available, cancel)?;
        let mut content = self.render(&chosen);
        let mut tokens = u64::from(self.counter.count_tokens(&content));
        // The costs of the parts are upper bounds. If the whole text still exceeds the budget, the last chunk
        // is removed.
        while tokens > available {
            check(cancel)?;
            let Some((chunk, allocation)) = chosen.pop() else { break };
            ledger.roll_back(allocation);
            excluded.push(Excluded { chunk, reason: "budget" });
            content = self.render(&chosen);
            tokens = u64::from(self.counter.count_tokens(&content));
        }
        let mut chunks: Vec<ContextChunk> = chosen.into_iter().map(|(c, _)| c).collect();
        if chunks.len() < self.settings.min_chunks as usize {
            (chunks, content, tokens) =
                self.shorten(chunks, content, tokens, &mut excluded, available, cancel)?;
        }
        if tokens > available {
            return Err(PackError::ContextOverflow { tokens, budget: available });
        }
        Ok(PackedContext {
            content,
            token_count: tokens,
            partial: is_partial(sources),
            warnings: warnings(sources, chunks.is_empty()),
            chunks,
            excluded,
        })
    }

    /// Returns the chunks that would be included, by the costs of the parts, without formatting.
    ///
    /// # Errors
    /// [`PackError::Cancelled`].
    pub fn preview_now(
        &self,
        sources: &[ContextSource],
        budget: &ContextBudget,
        cancel: &dyn Fn() -> bool,
    ) -> Result<PackedContext, PackError> {
        let (chosen, excluded, ledger) = self.choose(sources, budget.available(), cancel)?;
        let chunks: Vec<ContextChunk> = chosen.into_iter().map(|(c, _)| c).collect();
        Ok(PackedContext {
            content: String::new(),
            token_count: ledger.allocated(),
            partial: is_partial(sources),
            warnings: warnings(sources, chunks.is_empty()),
            chunks,
            excluded,
        })
    }

    /// Returns the figures of a packing.
    ///
    /// # Errors
    /// As [`Packer::pack_now`].
    pub fn stats_now(
        &self,
        sources: &[ContextSource],
        budget: &ContextBudget,
        cancel: &dyn Fn() -> bool,
    ) -> Result<PackingStats, PackError> {
        let packed = self.pack_now(sources, budget, cancel)?;
        let mut out = PackingStats {
            available: budget.available(),
            used: packed.token_count,
            found: packed.chunks.len() + packed.excluded.len(),
            included: packed.chunks.len(),
            ..PackingStats::default()
        };
        for e in &packed.excluded {
            *out.excluded.entry(e.reason).or_default() += 1;
        }
        for c in &packed.chunks {
            *out.tokens_by_source.entry(c.source_type.name()).or_default() += u64::from(c.token_count);
            *out.chunks_by_source.entry(c.source_type.name()).or_default() += 1;
        }
        Ok(out)
    }

    /// Runs all stages up to the selection.
    #[expect(clippy::type_complexity, reason = "three results of one step")]
    fn choose(
        &self,
        sources: &[ContextSource],
        available: u64,
        cancel: &dyn Fn() -> bool,
    ) -> Result<(Vec<(ContextChunk, super::Allocation)>, Vec<Excluded>, Ledger), PackError> {
        let chunks = self.collect(sources, cancel)?;
        let ranked = self.ranker.rank(chunks);
        check(cancel)?;
        let (unique, mut excluded) = self.deduplicator.deduplicate(ranked, self.counter);
        check(cancel)?;
        let mut ledger = Ledger::new(available, self.settings.category_tokens.clone());
        let cost = |c: &ContextChunk| u64::from(c.token_count) + self.frame(c);
        let Selection { chosen, excluded: left } = self.selector.select(unique, &mut ledger, &cost);
        excluded.extend(left);
        Ok((chosen, excluded, ledger))
    }

    fn frame(&self, c: &ContextChunk) -> u64 {
        FRAME_TOKENS + c.file_path.as_deref().map_or(0, |p| u64::from(self.counter.count_tokens(p)))
    }

    /// Returns the chunks of all sources. Empty and failed sources and sources without text give none.
    fn collect(
        &self,
        sources: &[ContextSource],
        cancel: &dyn Fn() -> bool,
    ) -> Result<Vec<ContextChunk>, PackError> {
        let mut out = Vec::new();
        for (i, source) in sources.iter().enumerate() {
            check(cancel)?;
            let is_text = source.failure.is_none() && !source.content.contains('\0');
            if !is_text {
                continue;
            }
            let lines: Vec<&str> = source.content.lines().collect();
            let first = source.line_range.map_or(1, |r| r.start.max(1));
            for range in self.chunker.chunk(&source.content, source.file_path.as_deref(), self.counter) {
                let text: String = lines[range.start as usize - 1..range.end as usize]
                    .iter()
                    .flat_map(|l| [*l, "\n"])
                    .collect();
                if text.trim().is_empty() {
                    continue;
                }
                out.push(self.chunk(i, source, first, range, text));
            }
        }
        Ok(out)
    }

    fn chunk(
        &self,
        i: usize,
        source: &ContextSource,
        first: u32,
        range: LineRange,
        text: String,
    ) -> ContextChunk {
        ContextChunk {
            token_count: self.counter.count_tokens(&text),
            content: text,
            file_path: source.file_path.clone(),
            start_line: first + range.start - 1,
            end_line: first + range.end - 1,
            source_type: source.source_type,
            source: i,
            relevance: if source.relevance_score.is_nan() {
                0.0
            } else {
                source.relevance_score.clamp(0.0, 1.0)
            },
            timestamp: source.timestamp,
            score: 0.0,
            merged_from: Vec::new(),
            also_from: Vec::new(),
        }
    }

    fn render(&self, chosen: &[(ContextChunk, super::Allocation)]) -> String {
        let chunks: Vec<ContextChunk> = chosen.iter().map(|(c, _)| c.clone()).collect();
        self.formatter.format(&chunks)
    }

    /// If too few chunks fit, cuts the best of the others to the whole lines that fit.
    fn shorten(
        &self,
        mut chunks: Vec<ContextChunk>,
        mut content: String,
        mut tokens: u64,
        excluded: &mut Vec<Excluded>,
        available: u64,
        cancel: &dyn Fn() -> bool,
    ) -> Result<(Vec<ContextChunk>, String, u64), PackError> {
        let mut at = 0;
        while chunks.len() < self.settings.min_chunks as usize && at < excluded.len() {
            check(cancel)?;
            let is_large = matches!(excluded[at].reason, "too-large" | "budget");
            let found = if is_large { self.largest(&chunks, &excluded[at].chunk, available) } else { None };
            match found {
                Some((part, text, n)) => {
                    chunks.push(part);
                    (content, tokens) = (text, n);
                    excluded.remove(at);
                }
                None => at += 1,
            }
        }
        Ok((chunks, content, tokens))
    }

    /// Returns the largest number of first lines of a chunk that fit beside the others.
    fn largest(
        &self,
        beside: &[ContextChunk],
        chunk: &ContextChunk,
        available: u64,
    ) -> Option<(ContextChunk, String, u64)> {
        let lines: Vec<&str> = chunk.content.lines().collect();
        let with = |n: usize| {
            let content: String = lines[..n].iter().flat_map(|l| [*l, "\n"]).collect();
            let end_line = chunk.start_line + n as u32 - 1;
            let token_count = self.counter.count_tokens(&content);
            let part = ContextChunk { content, end_line, token_count, ..chunk.clone() };
            let mut all = beside.to_vec();
            all.push(part.clone());
            let text = self.formatter.format(&all);
            let tokens = u64::from(self.counter.count_tokens(&text));
            (part, text, tokens)
        };
        let (mut low, mut high) = (0, lines.len());
        while low < high {
            let middle = (low + high).div_ceil(2);
            if with(middle).2 <= available { low = middle } else { high = middle - 1 }
        }
        (low > 0).then(|| with(low))
    }
}

fn check(cancel: &dyn Fn() -> bool) -> Result<(), PackError> {
    if cancel() { Err(PackError::Cancelled) } else { Ok(()) }
}

fn is_partial(sources: &[ContextSource]) -> bool {
    sources.iter().any(|s| s.failure.is_some())
}

fn warnings(sources: &[ContextSource], is_empty: bool) -> Vec<String> {
    let failed = sources.iter().enumerate().filter_map(|(i, s)| {
        s.failure
            .as_ref()
            .map(|why| format!("source {} ({}) gave nothing: {why}", i + 1, s.source_type.name()))
    });
    let binary = sources.iter().enumerate().filter(|(_, s)| s.content.contains('\0'));
    let binary = binary.map(|(i, s)| format!("source {} ({}) is not text", i + 1, s.source_type.name()));
    failed.chain(binary).chain(is_empty.then(|| ErrorCode::NoContent.name().to_owned())).collect()
}

impl ContextPacker for Packer<'_> {
    fn pack<'a>(
        &'a self,
        sources: &'a [ContextSource],
        budget: &'a ContextBudget,
        cancel: &'a (dyn Fn() -> bool + Sync),
    ) -> Answer<'a, PackedContext> {
        Box::pin(std::future::ready(self.pack_now(sources, budget, &|| cancel())))
    }

    fn preview<'a>(
        &'a self,
        sources: &'a [ContextSource],
        budget: &'a ContextBudget,
        cancel: &'a (dyn Fn() -> bool + Sync),
    ) -> Answer<'a, PackedContext> {
        Box::pin(std::future::ready(self.preview_now(sources, budget, &|| cancel())))
    }

    fn stats<'a>(
        &'a self,
        sources: &'a [ContextSource],
        budget: &'a ContextBudget,
        cancel: &'a (dyn Fn() -> bool + Sync),
    ) -> Answer<'a, PackingStats> {
        Box::pin(std::future::ready(self.stats_now(sources, budget, &|| cancel())))
    }
}

#[cfg(test)]
pub(in crate::contract) mod tests {
    use super::super::SourceType::{self, OpenFile, Reference, SearchResult, ToolResult};
    use super::*;

    /// Counts words, so that figures can be worked by hand.
    pub struct Words;

    impl TokenCounter for Words {
        fn name(&self) -> &str {
            "words"
        }

        fn is_exact(&self) -> bool {
            true
        }

        fn count_tokens(&self, text: &str) -> u32 {
            text.split_whitespace().count() as u32
        }
    }

    pub fn piece(path: &str, source_type: SourceType, start_line: u32, text: &str) -> ContextChunk {
        ContextChunk {
            content: text.to_owned(),
            file_path: Some(path.to_owned()),
            start_line,
            end_line: start_line + text.lines().count() as u32 - 1,
            token_count: text.split_whitespace().count() as u32,
            source_type,
            source: 0,
            relevance: 0.5,
            timestamp: None,
            score: 0.0,
            merged_from: Vec::new(),
            also_from: Vec::new(),
        }
    }

    fn source(kind: SourceType, path: Option<&str>, text: &str) -> ContextSource {
        ContextSource {
            source_type: kind,
            content: text.to_owned(),
            file_path: path.map(str::to_owned),
            line_range: None,
            relevance_score: 0.5,
            timestamp: None,
            failure: None,
        }
    }

    fn budget(total: i64) -> ContextBudget {
        ContextBudget { total_tokens: total, response_reserve: 0, system_reserve: 0 }
    }

    fn pack_with(settings: &Settings, sources: &[ContextSource], total: i64) -> PackedContext {
        let packed = Packer::new(settings, &Words).pack_now(sources, &budget(total), &|| false).unwrap();
        assert_eq!(packed.token_count, u64::from(Words.count_tokens(&packed.content)));
        assert!(packed.token_count <= total.max(0) as u64);
        packed
    }

    fn pack(sources: &[ContextSource], total: i64) -> PackedContext {
        pack_with(&Settings::default(), sources, total)
    }

    #[test]
    fn should_orchestrate_full_pipeline() {
        let sources = [
            source(SearchResult, Some("a.go"), "func A() {\n\treturn\n}\n"),
            source(OpenFile, Some("b.go"), "func B() {}\n"),
            source(Reference, Some("c.go"), "func B() {}\n"),
        ];
        let packed = pack(&sources, 1_000);
        assert_eq!(
            packed.content,
            "## File: b.go (lines 1-1)\n```go\nfunc B() {}\n```\n\n---\n\n## File: a.go (lines 1-3)\n```go\nfunc A() {\n\treturn\n}\n```\n"
        );
        assert_eq!(packed.excluded.iter().map(|e| e.reason).collect::<Vec<_>>(), ["duplicate"]);
    }

    #[test]
    fn should_handle_empty_sources() {
        let packed = pack(&[], 1_000);
        assert_eq!(
            (packed.content.as_str(), packed.token_count, packed.warnings),
            ("", 0, vec![ErrorCode::NoContent.name().to_owned()])
        );
        assert_eq!(pack(&[source(OpenFile, Some("a"), "")], 1_000).chunks, []);
    }

    #[test]
    fn should_handle_single_source() {
        let packed = pack(&[source(OpenFile, Some("a.go"), "package a\n")], 1_000);
        assert_eq!((packed.chunks.len(), packed.partial), (1, false));
    }

    #[test]
    fn should_handle_multiple_sources() {
        let sources = [Reference, SearchResult, OpenFile, ToolResult].map(|k| {
            let path = (k != ToolResult).then_some(k.name());
            source(k, path, &format!("text of {}\n", k.name()))
        });
        let order: Vec<SourceType> = pack(&sources, 1_000).chunks.iter().map(|c| c.source_type).collect();
        assert_eq!(order, [ToolResult, OpenFile, SearchResult, Reference]);
    }

    #[test]
    fn should_return_token_count() {
        for total in [0, 30, 60, 100, 400] {
            let sources: Vec<ContextSource> = (0..9)
                .map(|i| {
                    source(SearchResult, Some(&format!("f{i}.go")), &format!("func F{i}() {{ a b c }}\n"))
                })
                .collect();
            let packed = pack(&sources, total);
            assert_eq!(packed.token_count, u64::from(Words.count_tokens(&packed.content)));
        }
    }

    #[test]
    fn should_return_included_chunks() {
        let sources =
            [source(OpenFile, Some("a.go"), "one two\n"), source(OpenFile, Some("b.go"), "three four\n")];
        let packed = pack(&sources, 1_000);
        let shown: Vec<(&str, usize)> =
            packed.chunks.iter().map(|c| (c.content.as_str(), c.source)).collect();
        assert_eq!(shown, [("one two\n", 0), ("three four\n", 1)]);
        for c in &packed.chunks {
            assert!(packed.content.contains(&c.content), "{}", packed.content);
        }
    }

    #[test]
    fn should_support_cancellation() {
        let sources: Vec<ContextSource> =
            (0..9).map(|i| source(OpenFile, Some(&format!("{i}")), "x\n")).collect();
        let settings = Settings::default();
        let packer = Packer::new(&settings, &Words);
        for n in 0..11 {
            let asked = std::cell::Cell::new(0);
            let cancel = || asked.replace(asked.get() + 1) >= n;
            assert_eq!(packer.pack_now(&sources, &budget(500), &cancel), Err(PackError::Cancelled), "{n}");
        }
        assert!(packer.pack_now(&sources, &budget(500), &|| false).is_ok());
    }

    #[test]
    fn should_handle_configuration_changes() {
        let sources =
            [source(ToolResult, None, "from a tool\n"), source(Reference, Some("r"), "from a reference\n")];
        let turned =
            Settings { priorities: [(Reference, 100), (ToolResult, 1)].into(), ..Settings::default() };
        assert_eq!(pack(&sources, 500).chunks[0].source_type, ToolResult);
        assert_eq!(pack_with(&turned, &sources, 500).chunks[0].source_type, Reference);
    }

    #[test]
    fn a_failed_source_costs_itself_alone() {
        let mut late = source(SearchResult, Some("a"), "");
        late.failure = Some("timed out after 200 ms".to_owned());
        let packed =
            pack(&[late, source(OpenFile, Some("b"), "text\n"), source(OpenFile, Some("c"), "\0\u{1}")], 500);
        assert!(packed.partial && packed.chunks.len() == 1);
        assert_eq!(
            packed.warnings,
            [
                "source 1 (searchResult) gave nothing: timed out after 200 ms",
                "source 3 (openFile) is not text"
            ]
        );
    }

    #[test]
    fn the_minimum_is_given_in_whole_lines() {
        let long: String = (0..200).map(|i| format!("line {i}\n")).collect();
        let packed = pack(&[source(OpenFile, Some("a.txt"), &long)], 40);
        assert_eq!(packed.chunks.len(), 1);
        assert!(packed.chunks[0].content.ends_with('\n') && packed.chunks[0].end_line > 5);
        assert_eq!(pack(&[source(OpenFile, Some("a.txt"), &long)], 0).chunks, []);
    }

    #[test]
    fn a_preview_has_the_same_chunks_and_no_text() {
        let sources = [source(OpenFile, Some("a.go"), "one two\n"), source(ToolResult, None, "three\n")];
        let settings = Settings::default();
        let packer = Packer::new(&settings, &Words);
        let preview = packer.preview_now(&sources, &budget(500), &|| false).unwrap();
        assert_eq!((preview.content.as_str(), &preview.chunks), ("", &pack(&sources, 500).chunks));
        let stats = packer.stats_now(&sources, &budget(500), &|| false).unwrap();
        assert_eq!((stats.found, stats.included, stats.chunks_by_source["openFile"]), (2, 2, 1));
    }

    #[test]
    fn parts_can_be_swapped() {
        struct Shout;
        impl Formatter for Shout {
            fn format(&self, chunks: &[ContextChunk]) -> String {
                chunks.iter().map(|c| c.content.to_uppercase()).collect()
            }
        }
        struct Backwards;
        impl Ranker for Backwards {
            fn rank(&self, mut chunks: Vec<ContextChunk>) -> Vec<ContextChunk> {
                chunks.reverse();
                chunks
            }
        }
        struct Keep;
        impl Deduplicator for Keep {
            fn deduplicate(
                &self,
                chunks: Vec<ContextChunk>,
                _: &dyn TokenCounter,
            ) -> (Vec<ContextChunk>, Vec<Excluded>) {
                (chunks, Vec::new())
            }
        }
        let settings = Settings::default();
        let packer = Packer {
            formatter: Box::new(Shout),
            ranker: Box::new(Backwards),
            deduplicator: Box::new(Keep),
            ..Packer::new(&settings, &Words)
        };
        let sources = [source(ToolResult, None, "one\n"), source(OpenFile, Some("b"), "two\n")];
        assert_eq!(packer.pack_now(&sources, &budget(100), &|| false).unwrap().content, "TWO\nONE\n");
    }
}
