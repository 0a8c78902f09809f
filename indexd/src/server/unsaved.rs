//! Unsaved texts of a request: which of them the index would hold if they were saved.

use crate::server::place;
use crate::server::why;
use crate::workspace::indexing::update::UnsavedText;
use crate::workspace::why::Place;
use indexd_model::{IndexView, RepoPath};
use indexd_proto::error::{ErrorCode, ErrorObject};
use indexd_proto::limits::{OVERLAY_BYTES_MAX, OVERLAYS_MAX};
use indexd_proto::overlay::{Overlay, OverlayFacts, OverlayLeftOut};
use std::path::Path;

/// Refuses more than there may be.
///
/// # Errors
/// `POC_E_BUDGET_EXCEEDED`.
pub fn check(overlays: &[Overlay]) -> Result<(), ErrorObject> {
    let too_many = |message: String| Err(ErrorObject::new(ErrorCode::BudgetExceeded, message));
    if overlays.len() > OVERLAYS_MAX {
        return too_many(format!("{} overlays, of {OVERLAYS_MAX} at most", overlays.len()));
    }
    let bytes: usize = overlays.iter().map(|o| o.text.len()).sum();
    if bytes > OVERLAY_BYTES_MAX {
        return too_many(format!("{bytes} bytes of overlays, of {OVERLAY_BYTES_MAX} at most"));
    }
    Ok(())
}

/// The texts that count, by their paths from `root`, ordered; and what became of each. A path that the
/// rules leave out is not an error: an editor does not know them.
///
/// # Errors
/// `POC_E_INVALID_REQUEST` for a path outside the root or one that comes twice.
pub fn texts(
    view: &dyn IndexView,
    root: &Path,
    excludes: &[String],
    cwd: Option<&Path>,
    overlays: &[Overlay],
) -> Result<(Vec<UnsavedText>, OverlayFacts), ErrorObject> {
    let mut texts: Vec<UnsavedText> = Vec::with_capacity(overlays.len());
    let mut facts = OverlayFacts::default();
    for overlay in overlays {
        let path = place::of_path(root, cwd, &overlay.path).filter(|path| !path.is_empty());
        let path = path.ok_or_else(|| ErrorObject::invalid("an overlay is not beneath the root")).and_then(
            |path| RepoPath::new(&path).map_err(|e| ErrorObject::invalid(format!("an overlay: {e}"))),
        )?;
        if texts.iter().any(|(known, _)| *known == path) {
            return Err(ErrorObject::invalid("two overlays are of one file"));
        }
        match reason_to_leave_out(view, root, excludes, &path) {
            None => texts.push((path, overlay.text.clone())),
            Some(reason) => facts.left_out.push(OverlayLeftOut { path: path.to_string(), reason }),
        }
    }
    texts.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    facts.applied = texts.iter().map(|(path, _)| path.to_string()).collect();
    Ok((texts, facts))
}

fn reason_to_leave_out(
    view: &dyn IndexView,
    root: &Path,
    excludes: &[String],
    path: &RepoPath,
) -> Option<String> {
    if view.file_by_path(path).is_some() {
        return None;
    }
    match crate::workspace::why::place(root, excludes, path) {
        (Place::File, _) => None,
        // Saving it makes the file, unless a file stands where a folder would have to.
        (Place::Missing, at) if *at == **path => None,
        _ => Some(why::verdict(view, root, excludes, Some(path), false).reason),
    }
}
