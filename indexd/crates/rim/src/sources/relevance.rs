//! Relevance of chunks for a task: the weight of the words of the task that they hold.
//!
//! ```text
//! fit       = sum over the words of  weight * idf * tf * (k1 + 1) / (tf + norm), in parts of the best chunk
//! relevance = fit, or the mean of fit and the relevance that was offered
//! ```
//!
//! Words, their weights and forms are those of the engine's queries; a phrase in quotes counts as a word. `idf`
//! and `norm` are those of [`indexd_text::bm25`], over the chunks of the request.

use super::ContextChunk;
use indexd_api::PackError;
use indexd_pack::Tuning;
use indexd_pack::query::Query;
use indexd_text::bm25::idf;
use indexd_text::{Bm25, terms};
use std::collections::HashMap;

/// Weight of a phrase in quotes: a literal match says more than single words.
const PHRASE_WEIGHT: f64 = 4.0;

/// Sets the relevance of chunks by a task in words; `offered` says what the source of each chunk said of it. A
/// task without words leaves all as it is.
///
/// # Errors
/// [`PackError::Cancelled`] once `cancel` returns true; it is called for each chunk.
pub fn relate(
    chunks: &mut [ContextChunk],
    task: &str,
    offered: &dyn Fn(&ContextChunk) -> Option<f64>,
    cancel: &dyn Fn() -> bool,
) -> Result<(), PackError> {
    let query = Query::parse(task, &Tuning::default().weights);
    let words = query.terms.iter().filter(|t| !t.term.starts_with('='));
    let words: Vec<(&str, f64)> = words.map(|t| (t.term.as_str(), t.weight)).collect();
    let index: HashMap<&str, usize> = words.iter().enumerate().map(|(i, w)| (w.0, i)).collect();
    let weights: Vec<f64> =
        words.iter().map(|w| w.1).chain(query.literals.iter().map(|_| PHRASE_WEIGHT)).collect();
    if weights.is_empty() {
        return Ok(());
    }
    let (mut counts, mut lens) = (Vec::with_capacity(chunks.len()), Vec::with_capacity(chunks.len()));
    for chunk in &*chunks {
        if cancel() {
            return Err(PackError::Cancelled);
        }
        let (mut tf, mut len) = (vec![0_u32; weights.len()], 0_u32);
        for text in [chunk.file_path.as_deref().unwrap_or_default(), &chunk.content] {
            terms(text, |term| {
                len += 1;
                index.get(term).into_iter().for_each(|i| tf[*i] += 1);
            });
        }
        for (n, phrase) in tf[words.len()..].iter_mut().zip(&query.literals) {
            *n = chunk.content.matches(phrase.as_str()).count() as u32;
        }
        counts.push(tf);
        lens.push(f64::from(len));
    }
    let total = chunks.len() as u64;
    let average = lens.iter().fold(0.0, |a, b| a + b) / lens.len().max(1) as f64;
    let holding = |i: usize| counts.iter().filter(|tf| tf[i] > 0).count() as u64;
    let idfs: Vec<f64> = (0..weights.len()).map(|i| idf(total, holding(i))).collect();
    let fit = |(tf, len): (&Vec<u32>, &f64)| {
        let norm = Bm25::USUAL.norm(*len, average);
        let parts = tf.iter().zip(&weights).zip(&idfs);
        parts.fold(0.0, |sum, ((tf, w), idf)| sum + w * idf * Bm25::USUAL.weight(f64::from(*tf), norm))
    };
    let fits: Vec<f64> = counts.iter().zip(&lens).map(fit).collect();
    let best = fits.iter().copied().fold(0.0, f64::max);
    for (chunk, fit) in chunks.iter_mut().zip(fits) {
        let fit = if best > 0.0 { fit / best } else { 0.0 };
        chunk.relevance = offered(chunk).map_or(fit, |own| f64::midpoint(own, fit));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::piece;
    use super::*;
    use indexd_api::sources::SourceType::{OpenFile, SearchResult};

    fn relevance(task: &str, texts: &[&str], offered: Option<f64>) -> Vec<f64> {
        let mut chunks: Vec<ContextChunk> = texts.iter().map(|t| piece("a.go", OpenFile, 1, t)).collect();
        relate(&mut chunks, task, &|_| offered, &|| false).unwrap();
        chunks.iter().map(|c| c.relevance).collect()
    }

    #[test]
    fn rare_words_of_the_task_decide() {
        let texts = ["func open() { file }\n", "func retryDelay() { backoff }\n", "func close() { file }\n"];
        assert_eq!(relevance("how long are the delays of a retry", &texts, None), [0.0, 1.0, 0.0]);
        let both = ["file delay\n", "file\n", "file\n"];
        let found = relevance("the file delay", &both, None);
        assert!(found[0] == 1.0 && found[1] < 0.5, "{found:?}");
    }

    #[test]
    fn a_phrase_counts_as_a_whole() {
        let found = relevance(
            "where is \"not a valid key\"",
            &["key valid not a\n", "err(\"not a valid key\")\n"],
            None,
        );
        assert!(found[1] == 1.0 && found[0] < 0.7, "{found:?}");
    }

    #[test]
    fn what_the_source_says_counts_half() {
        assert_eq!(relevance("delay", &["delay\n", "other\n"], Some(0.4)), [0.7, 0.2]);
        // Without words in the task there is nothing to go by.
        assert_eq!(relevance(" ?", &["delay\n"], Some(0.4)), [0.5]);
    }

    #[test]
    fn a_path_is_a_part_of_the_text() {
        let mut chunks =
            vec![piece("a/b.go", SearchResult, 1, "x\n"), piece("a/retry.go", SearchResult, 1, "x\n")];
        relate(&mut chunks, "retry", &|_| None, &|| false).unwrap();
        assert!(chunks[1].relevance > chunks[0].relevance);
        assert_eq!(relate(&mut chunks, "retry", &|_| None, &|| true), Err(PackError::Cancelled));
    }
}
