//! The arithmetic of BM25F. Which terms, which chunks and which weights is the caller's business.
//!
//! Source: S. Robertson, H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond"
//! (2009), section 3.6 ("BM25F", with a `b` for each field). For a term t and a chunk c with
//! frequency `tf_f` in field f:
//!
//! ```text
//! tf~(t, c)  = sum over f of  w_f * tf_f / (1 - b_f + b_f * len_f(c) / avglen_f)
//! score      = sum over t of  idf(t) * tf~ / (k1 + tf~)
//! idf(t)     = ln(1 + (N - n_t + 0.5) / (n_t + 0.5))
//! ```
//!
//! The `1 +` inside the logarithm keeps the weight of very common terms positive (as Lucene does).
//! Only `+ - * /` and `ln` of one pure-Rust implementation are used, so two machines agree to the
//! bit as long as the caller adds in a fixed order.

use indexd_model::view::{CorpusStats, FieldCounts, N_FIELDS};

/// Weight and length normalisation of one field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FieldWeight {
    /// How much an occurrence counts against one in a field of weight 1; 0 switches the field off.
    pub weight: f64,
    /// Length normalisation, from 0 (none) to 1 (full).
    pub b: f64,
}

/// BM25F over the fields of a chunk, prepared for one corpus.
#[derive(Clone, Debug)]
pub struct Bm25f {
    k1: f64,
    n_chunks: u64,
    weights: [f64; N_FIELDS],
    /// `1 - b`.
    fixed: [f64; N_FIELDS],
    /// `b / avglen`.
    by_len: [f64; N_FIELDS],
}

impl Bm25f {
    /// Prepares for a corpus. `k1` above 0 says how slowly repetition saturates.
    pub fn new(k1: f64, fields: [FieldWeight; N_FIELDS], stats: &CorpusStats) -> Self {
        let average = |i: usize| stats.field_lens[i] as f64 / stats.n_chunks.max(1) as f64;
        Self {
            k1,
            n_chunks: stats.n_chunks,
            weights: fields.map(|f| f.weight),
            fixed: fields.map(|f| 1.0 - f.b),
            by_len: std::array::from_fn(|i| {
                let average = average(i);
                if average > 0.0 { fields[i].b / average } else { 0.0 }
            }),
        }
    }

    /// The weight of a term that occurs in `n` chunks.
    pub fn idf(&self, n: u32) -> f64 {
        idf(self.n_chunks, u64::from(n))
    }

    /// What one term adds to the score of a chunk, for its [`Bm25f::idf`], the term's counts and
    /// the chunk's field lengths. At least 0 and below `idf`.
    #[inline]
    pub fn score(&self, idf: f64, counts: &FieldCounts, lens: &[u16; N_FIELDS]) -> f64 {
        let mut tf = 0.0;
        for i in 0..N_FIELDS {
            if counts[i] != 0 {
                let norm = self.fixed[i] + self.by_len[i] * f64::from(lens[i]);
                tf += self.weights[i] * f64::from(counts[i]) / norm.max(f64::MIN_POSITIVE);
            }
        }
        if tf > 0.0 { saturated(idf, tf, self.k1) } else { 0.0 }
    }
}

/// `ln(1 + (total - n + 0.5) / (n + 0.5))` for a term that occurs in `n` of `total`.
pub fn idf(total: u64, n: u64) -> f64 {
    let n = n.min(total) as f64;
    ln(1.0 + (total as f64 - n + 0.5) / (n + 0.5))
}

/// BM25 of a single field, for paths and other texts that are scored apart.
/// `average_len` at or below 0 switches length normalisation off.
pub fn bm25(idf: f64, count: u32, len: u32, average_len: f64, k1: f64, b: f64) -> f64 {
    if count == 0 {
        return 0.0;
    }
    let norm = if average_len > 0.0 { 1.0 - b + b * f64::from(len) / average_len } else { 1.0 };
    saturated(idf, f64::from(count) / norm.max(f64::MIN_POSITIVE), k1)
}

/// The natural logarithm, the same bits everywhere (the standard library's is the platform's).
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

fn saturated(idf: f64, tf: f64, k1: f64) -> f64 {
    // A weight so large that it overflows is a full saturation, not a missing score.
    if tf.is_finite() { idf * (tf / (k1 + tf)) } else { idf }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PLAIN: FieldWeight = FieldWeight { weight: 1.0, b: 0.75 };

    fn stats() -> CorpusStats {
        CorpusStats { n_chunks: 100, n_files: 10, field_lens: [200, 100, 600, 900, 8000], path_len: 30 }
    }

    #[test]
    fn equals_the_formula_worked_by_hand() {
        let b = Bm25f::new(1.2, [PLAIN; N_FIELDS], &stats());
        // Body twice at length 40 against an average of 80: 2 / (0.25 + 0.75 * 0.5) = 3.2.
        let idf = b.idf(9);
        assert!((idf - (1.0f64 + 91.5 / 9.5).ln()).abs() < 1e-12);
        let got = b.score(idf, &[0, 0, 0, 0, 2], &[2, 1, 6, 9, 40]);
        assert!((got - idf * 3.2 / 4.4).abs() < 1e-12);
        // A name at average length adds its weight: 1 + 3.2.
        let got = b.score(idf, &[1, 0, 0, 0, 2], &[2, 1, 6, 9, 40]);
        assert!((got - idf * 4.2 / 5.4).abs() < 1e-12);
    }

    #[test]
    fn equal_bits_on_every_machine() {
        let b = Bm25f::new(1.2, [PLAIN; N_FIELDS], &stats());
        assert_eq!(b.idf(9).to_bits(), 0x4002_e91f_07f1_4fb1);
        assert_eq!(b.score(b.idf(9), &[1, 0, 2, 0, 2], &[2, 1, 6, 9, 40]).to_bits(), 0x3fff_b026_28fc_24ac);
    }

    #[test]
    fn empty_corpus_and_empty_counts_score_nothing_odd() {
        let b = Bm25f::new(1.2, [PLAIN; N_FIELDS], &CorpusStats::default());
        assert_eq!(b.score(b.idf(0), &[0; 5], &[0; 5]), 0.0);
        assert!(b.score(b.idf(0), &[1; 5], &[1; 5]).is_finite());
        assert_eq!(bm25(1.0, 0, 3, 2.0, 1.2, 0.75), 0.0);
        assert!(bm25(1.0, 1, 3, 0.0, 1.2, 0.75) > 0.0);
    }

    proptest! {
        #[test]
        fn grows_with_counts_and_stays_below_idf(counts in any::<[u8; 5]>(), lens in any::<[u16; 5]>(), n in 0u32..100) {
            let b = Bm25f::new(1.2, [PLAIN; N_FIELDS], &stats());
            let idf = b.idf(n);
            let score = b.score(idf, &counts, &lens);
            prop_assert!((0.0..=idf).contains(&score));
            let more = counts.map(|c| c.saturating_add(1));
            prop_assert!(b.score(idf, &more, &lens) >= score);
            prop_assert!(b.idf(n + 1) <= idf);
        }
    }
}
