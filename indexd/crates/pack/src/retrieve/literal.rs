//! Phrases and error messages, found as they stand in the text of the best units.
//!
//! Bounded by bytes: only units that the terms brought up are read, best first.

use super::{Signal, Table};
use crate::query::Query;
use crate::unit::Units;
use memchr::memmem::Finder;

/// Bytes of stored text searched in one request.
const BYTES_MAX: usize = 1 << 20;

/// Marks the units that hold a literal of the query; several count up to one.
pub fn mark(units: &Units, query: &Query, table: &mut Table) {
    let finders: Vec<Finder> = query.literals.iter().map(|l| Finder::new(l.as_bytes())).collect();
    let mut order: Vec<usize> = (0..table.hits.len()).collect();
    order.sort_by(|&a, &b| {
        let (a, b) = (&table.hits[a], &table.hits[b]);
        let lexical =
            |h: &super::Hit| h.signals.get(Signal::Lexical) + 0.3 * h.signals.get(Signal::FileEvidence);
        lexical(b)
            .total_cmp(&lexical(a))
            .then_with(|| a.file.path.cmp(&b.file.path))
            .then_with(|| a.unit.spans[0].0.start.cmp(&b.unit.spans[0].0.start))
    });
    let mut texts = rustc_hash::FxHashMap::default();
    let mut read = 0;
    for i in order {
        let h = &mut table.hits[i];
        let text = texts.entry(h.unit.file).or_insert_with(|| {
            read += h.file.size as usize;
            units.view.text(h.unit.file)
        });
        let mut found = 0;
        for (span, _) in &h.unit.spans {
            let part = text.get(span.range()).unwrap_or("").as_bytes();
            found += finders.iter().filter(|f| f.find(part).is_some()).count();
        }
        if found > 0 {
            h.signals.raise(Signal::Literal, (0.6 + 0.2 * found as f64).min(1.0));
        }
        if read > BYTES_MAX {
            break;
        }
    }
}
