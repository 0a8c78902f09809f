//! The whole packer.

use super::*;
use SourceType::{OpenFile, Reference, SearchResult, ToolResult};

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

fn source(kind: SourceType, path: Option<&str>, text: &str) -> OfferedSource {
    OfferedSource {
        source_type: kind,
        content: Some(text.to_owned()),
        file_path: path.map(str::to_owned),
        relevance_score: Some(0.5),
        ..OfferedSource::default()
    }
}

fn budget(total: u64) -> ContextBudget {
    ContextBudget { total_tokens: total, response_reserve: 0, system_reserve: 0 }
}

fn packer<'a>(settings: &'a Settings, cancel: &'a dyn Fn() -> bool) -> Packer<'a> {
    Packer { task: "", settings, counter: &Words, template: None, cancel }
}

fn pack_with(settings: &Settings, sources: &[OfferedSource], total: u64) -> PackedContext {
    let packed = super::pack(sources, budget(total), &packer(settings, &|| false)).unwrap();
    assert_eq!(packed.token_count, u64::from(Words.count_tokens(&packed.content)));
    assert!(packed.token_count <= total);
    packed
}

fn pack(sources: &[OfferedSource], total: u64) -> PackedContext {
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
        let sources: Vec<OfferedSource> = (0..9)
            .map(|i| source(SearchResult, Some(&format!("f{i}.go")), &format!("func F{i}() {{ a b c }}\n")))
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
    let shown: Vec<(&str, usize)> = packed.chunks.iter().map(|c| (c.content.as_str(), c.source)).collect();
    assert_eq!(shown, [("one two\n", 0), ("three four\n", 1)]);
    for c in &packed.chunks {
        assert!(packed.content.contains(&c.content), "{}", packed.content);
    }
}

#[test]
fn should_support_cancellation() {
    let sources: Vec<OfferedSource> =
        (0..9).map(|i| source(OpenFile, Some(&format!("{i}")), "x\n")).collect();
    let settings = Settings::default();
    for n in 0..11 {
        let asked = std::cell::Cell::new(0);
        let cancel = || asked.replace(asked.get() + 1) >= n;
        assert_eq!(
            super::pack(&sources, budget(500), &packer(&settings, &cancel)),
            Err(PackError::Cancelled),
            "{n}"
        );
    }
    assert!(super::pack(&sources, budget(500), &packer(&settings, &|| false)).is_ok());
}

#[test]
fn should_handle_configuration_changes() {
    let sources =
        [source(ToolResult, None, "from a tool\n"), source(Reference, Some("r"), "from a reference\n")];
    let turned = Settings {
        priorities: Priorities { reference: 100, tool_result: 1, ..Priorities::default() },
        ..Settings::default()
    };
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
        ["source 1 (searchResult) gave nothing: timed out after 200 ms", "source 3 (openFile) is not text"]
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
    let preview = preview(&sources, budget(500), &packer(&settings, &|| false)).unwrap();
    assert_eq!((preview.content.as_str(), &preview.chunks), ("", &pack(&sources, 500).chunks));
    let stats = stats(&pack(&sources, 500), budget(500));
    assert_eq!((stats.found, stats.included, stats.chunks_by_source["openFile"]), (2, 2, 1));
}

/// Each stage is a function over plain records: a program may leave one out or put its own between two.
#[test]
fn stages_are_functions_over_records() {
    let settings = Settings::default();
    let chunks = ["two\n", "one\n"].map(|text| piece(text.trim(), ToolResult, 1, text)).to_vec();
    let ranked = rank(chunks, &settings);
    let (mut unique, gone) = deduplicate(ranked, &Words);
    unique.reverse();
    let mut ledger = Ledger::new(2, BTreeMap::new());
    let own = |c: &ContextChunk| u64::from(c.token_count);
    let exact = |chunks: &[&ContextChunk]| Ok(chunks.iter().map(|c| own(c)).sum());
    let (chosen, left) =
        select(unique, &settings, &mut ledger, &Costs { bound: &own, exact: &exact }).unwrap();
    assert_eq!((gone.len(), left.len(), ledger.remaining()), (0, 0, 0));
    assert_eq!(chosen.iter().map(|c| c.content.to_uppercase()).collect::<String>(), "TWO\nONE\n");
}

#[test]
fn reserves_that_leave_nothing_are_named() {
    let used_up = ContextBudget { total_tokens: 100, response_reserve: 90, system_reserve: 20 };
    let settings = Settings::default();
    let packed =
        super::pack(&[source(OpenFile, None, "x\n")], used_up, &packer(&settings, &|| false)).unwrap();
    assert!(
        packed.warnings[0]
            .contains("responseReserve 90 and systemReserve 20 leave no tokens of the window of 100")
    );
}

/// A task takes its chunk from the middle of a large open file, and not its top.
#[test]
fn a_task_ranks_the_chunks_of_a_large_file() {
    let function = |i: usize| match i {
        70 => "func retryDelay(n int) int {\n\treturn n * backoff\n}\n\n".to_owned(),
        i => format!("func step{i}(n int) int {{\n\treturn n + {i}\n}}\n\n"),
    };
    let text: String = (0..100).map(function).collect();
    let settings = Settings { max_chunk_tokens: 12, min_chunk_tokens: 0, ..Settings::default() };
    let first = |task: &str| {
        let packer = Packer { task, ..packer(&settings, &|| false) };
        let sources = [source(OpenFile, Some("a.go"), &text)];
        let packed = super::pack(&sources, budget(100), &packer).unwrap();
        assert!(packed.excluded.iter().all(|e| e.chunk.content.is_empty()) && packed.excluded.len() > 50);
        packed.chunks[0].content.clone()
    };
    assert!(first("").contains("func step0("), "without a task the top comes first");
    assert!(first("how long is the delay of a retry").contains("func retryDelay("));
}

/// No chunk that is left out would fit with those that are in, for any budget.
#[test]
fn the_budget_is_filled() {
    let counter = indexd_text::counter("o200k_base", &Default::default()).unwrap();
    let text: String = (0..60)
        .map(|i| format!("def step{i}(n):\n{}    return n + {i}\n\n\n", "    n += 1\n".repeat(i * 7 % 23)))
        .collect();
    let sources: Vec<OfferedSource> = (0..6)
        .map(|i| source(SearchResult, Some(&format!("f{i}.py")), &text.replace("n +", &format!("n{i} +"))))
        .collect();
    let settings = Settings { max_chunk_tokens: 90, min_chunk_tokens: 0, ..Settings::default() };
    let packer = Packer { counter: &*counter, ..packer(&settings, &|| false) };
    for total in [60, 300, 301, 302, 1_000, 2_500] {
        let all = selected(&sources, budget(total), &packer).unwrap();
        let chosen: Vec<&ContextChunk> = all.chunks.iter().collect();
        let tokens =
            |chunks: &[&ContextChunk]| text::tokens(chunks, packer.template, packer.counter).unwrap();
        assert!(tokens(&chosen) <= total);
        for left in all.excluded.iter().filter(|e| matches!(e.reason, "too-large" | "budget")) {
            let with: Vec<&ContextChunk> = chosen.iter().copied().chain([&left.chunk]).collect();
            assert!(tokens(&with) > total, "{total}: {:?}", left.chunk);
        }
        assert_eq!(pack_len(&sources, total, &packer), all.chunks.len());
    }
}

fn pack_len(sources: &[OfferedSource], total: u64, packer: &Packer) -> usize {
    super::pack(sources, budget(total), packer).unwrap().chunks.len()
}
