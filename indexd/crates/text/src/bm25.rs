//! The arithmetic of BM25. The caller chooses the terms, the texts and the weights.
//!
//! Source: S. Robertson, H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009),
//! sections 3.3 and 3.6. For a term t and a text c in which it occurs with frequency `tf`, summed over
//! fields with the weight of each:
//!
//! ```text
//! score = sum over t of  idf(t) * tf * (k1 + 1) / (tf + norm(c))
//! norm  = k1 * (1 - b + b * len(c) / average len)
//! idf   = ln(1 + (N - n + 0.5) / (n + 0.5))
//! ```
//!
//! Lengths are normalised once for the whole text and not for each field; this is the difference from BM25F.
//! The `1 +` inside the logarithm keeps the weight of very common terms positive (as in Lucene). Only `+ - *
//! /` and `ln` of one pure-Rust implementation are used, so two machines agree to the bit as long as the
//! caller adds in a fixed order.

/// The two parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bm25 {
    /// Saturation of repeated occurrences: a larger value lets them count for longer; above 0.
    pub k1: f64,
    /// Penalty for long texts, 0..1.
    pub b: f64,
}

impl Bm25 {
    /// The usual values of the literature, which are not tuned.
    pub const USUAL: Self = Self { k1: 1.2, b: 0.75 };

    /// The value that `tf` is compared with in a text of length `len`, where texts have `average` on
    /// average.
    pub fn norm(self, len: f64, average: f64) -> f64 {
        self.k1 * (1.0 - self.b + self.b * len / average.max(1.0))
    }

    /// The weight of a term that occurs `tf` times, as a multiple of its idf: 0 without an occurrence, below
    /// `k1 + 1` for many.
    #[inline]
    pub fn weight(self, tf: f64, norm: f64) -> f64 {
        // A frequency so large that it overflows saturates fully and does not lose its score.
        if tf.is_finite() { tf * (self.k1 + 1.0) / (tf + norm) } else { self.k1 + 1.0 }
    }
}

/// `ln(1 + (total - n + 0.5) / (n + 0.5))` for a term that occurs in `n` of `total`.
pub fn idf(total: u64, n: u64) -> f64 {
    let n = n.min(total) as f64;
    ln(1.0 + (total as f64 - n + 0.5) / (n + 0.5))
}

/// The natural logarithm, with equal bits on every machine (that of the standard library depends on the
/// platform).
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const USUAL: Bm25 = Bm25::USUAL;

    #[test]
    fn worked_by_hand() {
        // A text twice as long as the average: 1.2 * (0.25 + 0.75 * 2).
        assert_eq!(USUAL.norm(20.0, 10.0), 1.2 * 1.75);
        assert_eq!(USUAL.weight(1.0, 1.2), 1.0);
        assert!((USUAL.weight(3.0, USUAL.norm(20.0, 10.0)) - 3.0 * 2.2 / 5.1).abs() < 1e-12);
        assert!((idf(100, 10) - (1.0 + 90.5 / 10.5_f64).ln()).abs() < 1e-12);
        assert!(idf(100, 100) > 0.0);
    }

    proptest! {
        #[test]
        fn more_is_never_worth_less(tf in 0.0..1e6f64, more in 0.0..1e6f64, len in 0.0..1e6f64) {
            let norm = USUAL.norm(len, 50.0);
            prop_assert!(USUAL.weight(tf, norm) <= USUAL.weight(tf + more, norm));
            prop_assert!((0.0..=USUAL.k1 + 1.0).contains(&USUAL.weight(tf, norm)));
            prop_assert!(USUAL.weight(tf, norm) >= USUAL.weight(tf, USUAL.norm(len + more, 50.0)));
        }

        #[test]
        fn rare_terms_weigh_more(total in 1u64..1_000_000, a in 0u64..1_000_000, b in 0u64..1_000_000) {
            let (rare, common) = (a.min(b), a.max(b));
            prop_assert!(idf(total, rare) >= idf(total, common) && idf(total, common) > 0.0);
        }
    }
}
