//! `highlight`: the classes of the words on shown lines.

use crate::server::backend::Cancel;
use indexd_lang::highlight::{Class, by_line};
use indexd_model::{IndexView, LineIndex, Lines};
use indexd_proto::error::ErrorObject;
use indexd_proto::highlight::{HighlightLine, HighlightPlace, LinePiece, PieceClass};
use indexd_proto::limits::HIGHLIGHT_PLACES_MAX;
use std::collections::BTreeMap;

/// Bytes of text that are parsed for one answer.
const PARSED_BYTES_MAX: usize = 8 << 20;

/// The lines of `places` that have pieces, by path and number. Paths without a file have none.
///
/// # Errors
/// `POC_E_INVALID_REQUEST` for too many places; `POC_E_CANCELLED`.
pub fn highlight(
    view: &dyn IndexView,
    places: &[HighlightPlace],
    cancel: &Cancel,
) -> Result<Vec<HighlightLine>, ErrorObject> {
    if places.len() > HIGHLIGHT_PLACES_MAX {
        return Err(ErrorObject::invalid(format!("places must be at most {HIGHLIGHT_PLACES_MAX}")));
    }
    let mut files: BTreeMap<&str, Vec<Lines>> = BTreeMap::new();
    for place in places {
        let lines = Lines { start: place.lines.start, end: place.lines.end };
        files.entry(&place.file_rel_path).or_default().push(lines);
    }
    let mut left = PARSED_BYTES_MAX;
    let mut out = Vec::new();
    for (path, shown) in files {
        cancel.check()?;
        let Some(file) = view.file_by_path(path) else { continue };
        let text = view.text(file);
        if text.len() > left {
            continue;
        }
        left -= text.len();
        let lines = LineIndex::new(&text);
        for (number, pieces) in by_line(view.file(file).language, &text, &lines, &shown) {
            let is_asked = shown.iter().any(|l| (l.start..=l.end).contains(&number));
            if !is_asked {
                continue;
            }
            out.push(HighlightLine {
                file_rel_path: path.to_owned(),
                line: number,
                text: text[lines.span(number).range()].trim_end_matches(['\n', '\r']).to_owned(),
                pieces: pieces.into_iter().map(piece).collect(),
            });
        }
    }
    Ok(out)
}

fn piece((start, end, class): (usize, usize, Class)) -> LinePiece {
    let class = match class {
        Class::Comment => PieceClass::Comment,
        Class::String => PieceClass::String,
        Class::Number => PieceClass::Number,
        Class::Keyword => PieceClass::Keyword,
        Class::Type => PieceClass::Type,
        Class::Function => PieceClass::Function,
    };
    LinePiece { start: start as u32, end: end as u32, class }
}
