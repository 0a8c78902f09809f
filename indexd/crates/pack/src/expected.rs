//! Compares the caller's expectations with the tree: which of them code holds, and names of the tree near the
//! others.

use crate::query::{Expected, Query};
use indexd_model::IndexView;

/// The expectations that no code holds, as written. A name of several parts is held if it occurs as a whole, in
/// any spelling of its parts; other names and words if they occur.
pub fn missing(view: &dyn IndexView, query: &Query) -> Vec<String> {
    query.expected.iter().filter(|e| !is_held(view, e)).map(|e| e.text.clone()).collect()
}

fn is_held(view: &dyn IndexView, expected: &Expected) -> bool {
    let mut terms = Vec::new();
    indexd_text::terms(&expected.text, |t| terms.push(t.to_owned()));
    let wholes: Vec<&String> = terms.iter().filter(|t| t.starts_with('=')).collect();
    let occurs = |term: &String| view.doc_frequency(term) > 0;
    if wholes.is_empty() { terms.iter().all(occurs) } else { wholes.into_iter().all(occurs) }
}
