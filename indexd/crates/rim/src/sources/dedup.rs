//! Removes duplicates: equal texts by their hashes, overlapping ranges of one file by merging.

use super::ranking::compare;
use super::{ContextChunk, Excluded, whole_lines};
use indexd_api::pack::LineRange;
use indexd_api::sources::SourceType;
use indexd_text::TokenCounter;
use std::collections::{BTreeMap, BTreeSet};

/// Keeps the best of equal texts and merges overlapping ranges. Returns the remaining chunks, best first, and
/// the removed ones with reasons.
pub fn deduplicate(
    chunks: Vec<ContextChunk>,
    counter: &dyn TokenCounter,
) -> (Vec<ContextChunk>, Vec<Excluded>) {
    let mut gone = Vec::new();
    let unique = equal(unsaved_first(chunks, &mut gone), &mut gone);
    (merged(unique, counter, &mut gone), gone)
}

/// If a file is open, chunks of the same lines from other sources are outdated and removed.
fn unsaved_first(chunks: Vec<ContextChunk>, gone: &mut Vec<Excluded>) -> Vec<ContextChunk> {
    let mut open: BTreeMap<String, BTreeSet<LineRange>> = BTreeMap::new();
    for c in chunks.iter().filter(|c| c.source_type == SourceType::OpenFile) {
        if let Some(path) = &c.file_path {
            open.entry(path.clone()).or_default().insert(range(c));
        }
    }
    let is_stale = |c: &ContextChunk| {
        matches!(c.source_type, SourceType::SearchResult | SourceType::Reference)
            && c.file_path.as_ref().and_then(|p| open.get(p)).is_some_and(|ranges| {
                let before = ranges.range(..=LineRange { start: c.end_line, end: u32::MAX }).next_back();
                before.is_some_and(|r| r.end >= c.start_line)
            })
    };
    let (stale, fresh): (Vec<_>, Vec<_>) = chunks.into_iter().partition(is_stale);
    gone.extend(stale.into_iter().map(|chunk| Excluded { chunk, reason: "overlap" }));
    fresh
}

/// Keeps the first, and so best ranked, of equal texts. It lists the other sources that offered it.
fn equal(chunks: Vec<ContextChunk>, gone: &mut Vec<Excluded>) -> Vec<ContextChunk> {
    let mut by: BTreeMap<[u8; 32], usize> = BTreeMap::new();
    let mut out: Vec<ContextChunk> = Vec::with_capacity(chunks.len());
    for c in chunks {
        let hash = *blake3::hash(c.content.trim_end().as_bytes()).as_bytes();
        match by.get(&hash) {
            Some(&kept) => {
                out[kept].also_from.push(c.source_type);
                gone.push(Excluded { chunk: c, reason: "duplicate" });
            }
            None => {
                by.insert(hash, out.len());
                out.push(c);
            }
        }
    }
    out
}

/// Merges chunks of one file with overlapping and equal lines into their union, with the best rank of its
/// parts. If shared lines differ, the better chunk stays.
fn merged(
    chunks: Vec<ContextChunk>,
    counter: &dyn TokenCounter,
    gone: &mut Vec<Excluded>,
) -> Vec<ContextChunk> {
    let (with, mut out): (Vec<_>, Vec<_>) = chunks.into_iter().partition(|c| c.file_path.is_some());
    let mut files: BTreeMap<Option<String>, Vec<ContextChunk>> = BTreeMap::new();
    for c in with {
        files.entry(c.file_path.clone()).or_default().push(c);
    }
    for (_, mut parts) in files {
        parts.sort_by_key(|c| (c.start_line, c.end_line));
        let mut done: Vec<ContextChunk> = Vec::new();
        for part in parts {
            match done.last_mut() {
                Some(last) if part.start_line <= last.end_line => match union(last, &part) {
                    Some(mut both) => {
                        both.token_count = counter.count_tokens(&both.content);
                        *last = both;
                    }
                    None => {
                        let worse =
                            if compare(last, &part).is_le() { part } else { std::mem::replace(last, part) };
                        gone.push(Excluded { chunk: worse, reason: "overlap" });
                    }
                },
                _ => done.push(part),
            }
        }
        out.append(&mut done);
    }
    out.sort_by(compare);
    out
}

/// Joins two texts if their shared lines are equal.
fn union(a: &ContextChunk, b: &ContextChunk) -> Option<ContextChunk> {
    let (first, second): (Vec<&str>, Vec<&str>) = (a.content.lines().collect(), b.content.lines().collect());
    let offset = (b.start_line - a.start_line) as usize;
    let shared = first.len().checked_sub(offset)?.min(second.len());
    if first[offset..offset + shared] != second[..shared] {
        return None;
    }
    let content = whole_lines(&first) + &whole_lines(&second[shared..]);
    let best = if compare(a, b).is_le() { a } else { b };
    let mut merged_from = if a.merged_from.is_empty() { vec![range(a)] } else { a.merged_from.clone() };
    merged_from.push(range(b));
    let mut also_from: Vec<SourceType> = a.also_from.iter().chain(&b.also_from).copied().collect();
    also_from.push(if best.source == a.source { b.source_type } else { a.source_type });
    also_from.sort();
    also_from.dedup();
    also_from.retain(|k| *k != best.source_type);
    Some(ContextChunk {
        content,
        start_line: a.start_line,
        end_line: a.end_line.max(b.end_line),
        merged_from,
        also_from,
        ..best.clone()
    })
}

fn range(c: &ContextChunk) -> LineRange {
    LineRange { start: c.start_line, end: c.end_line }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Words, piece};
    use super::SourceType::{OpenFile, SearchResult, ToolResult};
    use super::*;

    fn at(path: &str, score: f64, start: u32, text: &str) -> ContextChunk {
        ContextChunk { score, ..piece(path, SearchResult, start, text) }
    }

    fn dedup(mut chunks: Vec<ContextChunk>) -> (Vec<ContextChunk>, Vec<&'static str>) {
        chunks.sort_by(compare);
        let (kept, gone) = deduplicate(chunks, &Words);
        (kept, gone.into_iter().map(|e| e.reason).collect())
    }

    #[test]
    fn should_detect_exact_duplicate_chunks() {
        let (kept, gone) =
            dedup(vec![at("a", 0.5, 1, "x\ny\n"), at("b", 0.4, 9, "x\ny\n"), at("c", 0.3, 1, "z\n")]);
        assert_eq!((kept.len(), gone), (2, vec!["duplicate"]));
    }

    #[test]
    fn should_detect_overlapping_chunks() {
        let (kept, _) = dedup(vec![at("a", 0.5, 1, "1\n2\n"), at("a", 0.4, 2, "2\n3\n")]);
        assert_eq!(kept.len(), 1);
        let (kept, _) = dedup(vec![at("a", 0.5, 1, "1\n2\n"), at("a", 0.4, 3, "3\n")]);
        assert_eq!(kept.len(), 2, "adjacent ranges do not overlap");
        let (kept, gone) = dedup(vec![at("a", 0.5, 1, "1\n2\n"), at("a", 0.4, 2, "other\n")]);
        assert_eq!((kept.len(), kept[0].score, gone), (1, 0.5, vec!["overlap"]));
    }

    #[test]
    fn should_keep_highest_ranked_duplicate() {
        for turned in [false, true] {
            let mut both = vec![at("z", 0.9, 1, "x\n"), at("a", 0.1, 1, "x\n")];
            if turned {
                both.reverse();
            }
            assert_eq!(dedup(both).0[0].file_path.as_deref(), Some("z"));
        }
    }

    #[test]
    fn should_merge_overlapping_same_file() {
        let (kept, _) = dedup(vec![at("a", 0.2, 1, "1\n2\n3\n"), at("a", 0.8, 3, "3\n4\n")]);
        let c = &kept[0];
        assert_eq!((c.content.as_str(), c.start_line, c.end_line, c.score), ("1\n2\n3\n4\n", 1, 4, 0.8));
        assert_eq!(c.merged_from, [LineRange { start: 1, end: 3 }, LineRange { start: 3, end: 4 }]);
        assert_eq!(c.token_count, 4);
    }

    #[test]
    fn should_handle_no_duplicates() {
        let all = vec![at("a", 0.5, 1, "x\n"), at("b", 0.4, 1, "y\n")];
        assert_eq!(dedup(all.clone()), (all, vec![]));
    }

    #[test]
    fn should_handle_all_duplicates() {
        let (kept, gone) = dedup((0..9).map(|i| at(&format!("f{i}"), 0.5, 1, "x\n")).collect());
        assert_eq!((kept.len(), gone.len()), (1, 8));
    }

    #[test]
    fn should_handle_partial_overlap() {
        let (kept, _) =
            dedup(vec![at("a", 0.5, 1, "1\n2\n3\n"), at("a", 0.5, 2, "2\n"), at("a", 0.5, 3, "3\n4\n5\n")]);
        assert_eq!(kept.iter().map(|c| c.content.as_str()).collect::<String>(), "1\n2\n3\n4\n5\n");
    }

    #[test]
    fn should_preserve_order_after_dedup() {
        let (kept, _) = dedup(
            (0..20)
                .map(|i| at(&format!("f{i:02}"), f64::from(i) / 20.0, 1, &format!("{}\n", i % 7)))
                .collect(),
        );
        assert!(kept.windows(2).all(|w| w[0].score >= w[1].score));
        assert_eq!(kept.len(), 7);
    }

    #[test]
    fn should_handle_different_sources_same_content() {
        let mut open = piece("a", OpenFile, 1, "x\n");
        open.score = 0.4;
        let mut tool = piece("", ToolResult, 1, "x\n");
        (tool.file_path, tool.score) = (None, 0.9);
        let (kept, gone) = dedup(vec![open, tool]);
        assert_eq!(
            (kept.len(), kept[0].source_type, kept[0].also_from.clone(), gone),
            (1, ToolResult, vec![OpenFile], vec!["duplicate"])
        );
    }

    #[test]
    fn unsaved_text_wins_over_what_was_indexed() {
        let mut open = piece("a", OpenFile, 1, "new\n2\n");
        open.score = 0.1;
        let (kept, gone) = dedup(vec![open, at("a", 0.9, 1, "old\n"), at("a", 0.9, 7, "far\n")]);
        assert_eq!(gone, ["overlap"]);
        assert_eq!(kept.iter().map(|c| c.content.as_str()).collect::<Vec<_>>(), ["far\n", "new\n2\n"]);
    }
}
