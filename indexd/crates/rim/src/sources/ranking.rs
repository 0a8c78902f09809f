//! Scores chunks by relevance, recency and kind of source, each 0..1, weighted.

use super::{ContextChunk, Priorities, Settings};
use indexd_api::sources::SourceType;
use indexd_pack::config::SourceScoring;
use std::cmp::Ordering;

/// Recency of chunks without a timestamp.
const UNKNOWN_RECENCY: f64 = 0.5;

/// Scores each chunk by the weights and priorities of the settings and sorts them, best first.
pub fn rank(mut chunks: Vec<ContextChunk>, settings: &Settings) -> Vec<ContextChunk> {
    let times = || chunks.iter().filter_map(|c| c.timestamp);
    let span = times().min().zip(times().max());
    for c in &mut chunks {
        c.score = score(
            settings,
            [c.relevance, recency(c.timestamp, span), settings.priorities.share(c.source_type)],
        );
    }
    chunks.sort_by(compare);
    chunks
}

impl Settings {
    /// The weights and priorities, as packs of the index repeat them.
    pub fn scoring(&self) -> SourceScoring {
        SourceScoring {
            relevance: self.relevance_weight,
            recency: self.recency_weight,
            source: self.source_weight,
            tool_results: self.priorities.tool_result.into(),
            open_files: self.priorities.open_file.into(),
            search_results: self.priorities.search_result.into(),
            references: self.priorities.reference.into(),
        }
    }
}

impl Priorities {
    /// The priority of a kind, as a share of the highest one, 0..1.
    pub fn share(&self, kind: SourceType) -> f64 {
        let of = |kind| match kind {
            SourceType::ToolResult => self.tool_result,
            SourceType::OpenFile => self.open_file,
            SourceType::SearchResult => self.search_result,
            SourceType::Reference => self.reference,
        };
        let most = SourceType::ALL.iter().map(|kind| of(*kind)).max().unwrap_or(0).max(1);
        f64::from(of(kind)) / f64::from(most)
    }
}

/// The weighted mean of relevance, recency and kind, 0..1; 0 if all weights are 0.
pub fn score(settings: &Settings, strengths: [f64; 3]) -> f64 {
    let weights = [settings.relevance_weight, settings.recency_weight, settings.source_weight]
        .map(|w| if w.is_finite() { w.max(0.0) } else { 0.0 });
    let sum: f64 = weights.iter().sum();
    if sum <= 0.0 {
        return 0.0;
    }
    let total = weights.iter().zip(strengths).map(|(w, s)| w * unit(s)).fold(0.0, |a, b| a + b);
    unit(total / sum)
}

/// The position between the oldest (0) and the newest (1) timestamp; no clock is read.
pub fn recency(timestamp: Option<i64>, span: Option<(i64, i64)>) -> f64 {
    match (timestamp, span) {
        (Some(t), Some((oldest, newest))) if newest > oldest => {
            (t as f64 - oldest as f64) / (newest as f64 - oldest as f64)
        }
        (Some(_), _) => 1.0,
        (None, _) => UNKNOWN_RECENCY,
    }
}

fn unit(x: f64) -> f64 {
    if x.is_nan() { 0.0 } else { x.clamp(0.0, 1.0) }
}

/// Compares by score, then path, line, kind and text: a total order that does not depend on the order of the
/// input.
pub(super) fn compare(a: &ContextChunk, b: &ContextChunk) -> Ordering {
    let place = |c: &ContextChunk| (c.start_line, c.end_line, c.source_type);
    b.score
        .total_cmp(&a.score)
        .then_with(|| a.file_path.cmp(&b.file_path))
        .then_with(|| place(a).cmp(&place(b)))
        .then_with(|| a.content.cmp(&b.content))
}

#[cfg(test)]
mod tests {
    use super::super::tests::piece;
    use super::SourceType::{OpenFile, Reference, SearchResult, ToolResult};
    use super::*;

    fn chunk(name: &str, kind: SourceType, relevance: f64, timestamp: Option<i64>) -> ContextChunk {
        ContextChunk { relevance, timestamp, ..piece(name, kind, 1, "x\n") }
    }

    fn names(ranked: &[ContextChunk]) -> Vec<&str> {
        ranked.iter().map(|c| c.file_path.as_deref().unwrap()).collect()
    }

    fn ranked(chunks: Vec<ContextChunk>) -> Vec<ContextChunk> {
        rank(chunks, &Settings::default())
    }

    #[test]
    fn should_rank_by_relevance_score() {
        let ranked = ranked(vec![chunk("a", OpenFile, 0.2, Some(1)), chunk("b", OpenFile, 0.9, Some(1))]);
        assert_eq!(names(&ranked), ["b", "a"]);
    }

    #[test]
    fn should_rank_by_recency() {
        let ranked = ranked(vec![chunk("a", OpenFile, 0.5, Some(1)), chunk("b", OpenFile, 0.5, Some(2))]);
        assert_eq!(names(&ranked), ["b", "a"]);
    }

    #[test]
    fn should_rank_by_source_priority() {
        let all = [Reference, SearchResult, OpenFile, ToolResult];
        let ranked = ranked(all.map(|k| chunk(k.name(), k, 0.5, None)).to_vec());
        assert_eq!(names(&ranked), ["toolResult", "openFile", "searchResult", "reference"]);
    }

    #[test]
    fn relevance_goes_before_recency() {
        let ranked =
            ranked(vec![chunk("new", OpenFile, 0.3, Some(9)), chunk("fits", OpenFile, 1.0, Some(1))]);
        assert_eq!(names(&ranked), ["fits", "new"]);
    }

    #[test]
    fn should_combine_scores_weighted() {
        let ranked = ranked(vec![
            chunk("old", SearchResult, 0.8, Some(10)),
            chunk("mid", OpenFile, 0.4, Some(20)),
            chunk("new", ToolResult, 0.1, Some(30)),
        ]);
        let score = |name| ranked.iter().find(|c| c.file_path.as_deref() == Some(name)).unwrap().score;
        assert!((score("old") - (0.5 * 0.8 + 0.3 * 0.0 + 0.2 * 0.6)).abs() < 1e-12);
        assert!((score("mid") - (0.5 * 0.4 + 0.3 * 0.5 + 0.2 * 0.8)).abs() < 1e-12);
        assert!((score("new") - (0.5 * 0.1 + 0.3 * 1.0 + 0.2 * 1.0)).abs() < 1e-12);
    }

    #[test]
    fn should_apply_custom_weights() {
        let both = || vec![chunk("tool", ToolResult, 0.1, None), chunk("ref", Reference, 0.9, None)];
        let by = |relevance_weight, source_weight| Settings {
            relevance_weight,
            source_weight,
            ..Settings::default()
        };
        assert_eq!(names(&rank(both(), &by(0.0, 1.0))), ["tool", "ref"]);
        assert_eq!(names(&rank(both(), &by(1.0, 0.0))), ["ref", "tool"]);
        let turned = Settings {
            priorities: Priorities { reference: 100, tool_result: 1, ..Priorities::default() },
            relevance_weight: 0.0,
            ..Settings::default()
        };
        assert_eq!(names(&rank(both(), &turned)), ["ref", "tool"]);
    }

    #[test]
    fn should_handle_equal_scores() {
        let ranked = ranked(["b", "a", "c"].map(|n| chunk(n, OpenFile, 0.5, None)).to_vec());
        assert_eq!(names(&ranked), ["a", "b", "c"]);
    }

    #[test]
    fn should_handle_zero_relevance() {
        for relevance in [0.0, -1.0, f64::NAN] {
            let ranked = ranked(vec![chunk("a", ToolResult, relevance, None)]);
            assert!((ranked[0].score - (0.3 * 0.5 + 0.2)).abs() < 1e-12, "{relevance}");
        }
    }

    #[test]
    fn should_handle_missing_recency() {
        let ranked = ranked(vec![
            chunk("a", OpenFile, 0.5, None),
            chunk("b", OpenFile, 0.5, Some(1)),
            chunk("c", OpenFile, 0.5, Some(9)),
        ]);
        assert_eq!(names(&ranked), ["c", "a", "b"]);
        assert!((ranked[1].score - (0.25 + 0.15 + 0.16)).abs() < 1e-12);
    }

    #[test]
    fn should_normalize_scores() {
        let heavy = Settings {
            relevance_weight: 50.0,
            recency_weight: 30.0,
            source_weight: 20.0,
            ..Settings::default()
        };
        for c in
            rank(vec![chunk("a", ToolResult, 7.0, Some(1)), chunk("b", Reference, -3.0, Some(0))], &heavy)
        {
            assert!((0.0..=1.0).contains(&c.score), "{}", c.score);
        }
        let none = Settings {
            relevance_weight: 0.0,
            recency_weight: 0.0,
            source_weight: 0.0,
            ..Settings::default()
        };
        assert_eq!(rank(vec![chunk("a", ToolResult, 1.0, None)], &none)[0].score, 0.0);
    }

    #[test]
    fn should_produce_stable_ordering() {
        let mut all: Vec<ContextChunk> = (0..40)
            .map(|i| {
                chunk(&format!("f{i:02}"), SourceType::ALL[i % 4], (i % 5) as f64 / 5.0, Some((i % 3) as i64))
            })
            .collect();
        let there = ranked(all.clone());
        all.reverse();
        all.rotate_left(7);
        assert_eq!(ranked(all), there);
    }
}
