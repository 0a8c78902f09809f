//! Converts our types to wire types, where several methods answer with them. What a single method answers
//! with is converted in its own module.

use crate::workspace::WorkspaceError;
use indexd_model::view::DefRecord;
use indexd_model::{DefDoc, DefIdx, IndexView, Span};
use indexd_pack::graph::names;
use indexd_pack::pack::line_range;
use indexd_proto::error::{ErrorCode, ErrorObject, UNMARKED};
use indexd_proto::search::Symbol;
use indexd_proto::workspace::{Failure, FailureCode};
use indexd_store::StoreError;
use std::ops::RangeInclusive;

/// Milliseconds after which an index that is behind its tree may have caught up.
pub const RETRY_MS: u64 = 500;
/// Characters of a signature that are shown.
const SIGNATURE_CHARS_MAX: usize = 200;

/// A definition, or a whole file.
pub fn symbol(view: &dyn IndexView, def: DefDoc) -> Symbol {
    let record = view.def(def);
    let whole_file = record.idx == DefIdx::NONE;
    Symbol {
        symbol_id: indexd_pack::symbol_id(view, def).map(|s| s.0),
        name: record.name.to_string(),
        qualified_name: record.qualified.to_string(),
        kind: if whole_file { "file" } else { record.kind.name() }.to_owned(),
        file_rel_path: view.path(record.file).to_string(),
        lines: line_range(record.lines),
        line: if whole_file { 1 } else { record.name_line },
        signature: signature(view, &record),
        test: names::is_test(view, &record),
    }
}

/// The signature on one line.
fn signature(view: &dyn IndexView, def: &DefRecord) -> String {
    if def.idx == DefIdx::NONE || def.head == Span::default() {
        return String::new();
    }
    let text = view.text(def.file);
    let head = text.get(def.head.range()).unwrap_or("");
    indexd_text::one_line(head).chars().take(SIGNATURE_CHARS_MAX).collect()
}

/// Refuses a number that is not in its range; `what` is the number in words.
///
/// # Errors
/// `POC_E_INVALID_REQUEST`.
pub fn within(name: &str, what: &str, n: u32, range: RangeInclusive<u32>) -> Result<(), ErrorObject> {
    if range.contains(&n) {
        return Ok(());
    }
    let message = format!("{name} must be {} to {}, not {n}", range.start(), range.end());
    Err(ErrorObject::invalid(message).with_hint(format!("give a {what} between them")))
}

impl From<WorkspaceError> for ErrorObject {
    /// Why a workspace cannot do what was asked.
    fn from(e: WorkspaceError) -> Self {
        match &e {
            WorkspaceError::NotFound(_) | WorkspaceError::TooBroad(_) | WorkspaceError::Odd { .. } => {
                Self::new(ErrorCode::WorkspaceInvalid, chain(&e))
            }
            WorkspaceError::Unmarked(root) => {
                let root = root.display();
                Self::new(ErrorCode::WorkspaceInvalid, chain(&e))
                    .with_hint(format!(
                        "go to a folder of your project; `ctl workspace add {root}` indexes it all the same"
                    ))
                    .with_details(serde_json::json!({"failure": UNMARKED, "root": root.to_string()}))
            }
            WorkspaceError::Unknown(_) => Self::new(ErrorCode::IndexMissing, chain(&e))
                .with_hint("`ctl workspace list` shows those that are registered"),
            WorkspaceError::Permission { .. } => Self::new(ErrorCode::PermissionDenied, chain(&e)),
            WorkspaceError::Building => {
                Self::new(ErrorCode::Indexing, e.to_string()).with_retry_after_ms(1_000)
            }
            WorkspaceError::Behind(_) => Self::new(ErrorCode::Indexing, e.to_string())
                .with_retry_after_ms(RETRY_MS)
                .with_hint("wait longer, or ask for the best there is"),
            WorkspaceError::Cancelled => Self::new(ErrorCode::Cancelled, e.to_string()),
            WorkspaceError::Failed(failure) => failed(failure),
            WorkspaceError::Closed => {
                Self::new(ErrorCode::ShuttingDown, e.to_string()).with_retry_after_ms(200)
            }
            WorkspaceError::Config(_) => Self::new(ErrorCode::Config, chain(&e)),
            WorkspaceError::Io { source, .. } => Self::new(io_code(source), chain(&e)),
            WorkspaceError::Store(e) if e.is_damage() => unreadable(e),
            WorkspaceError::Store(e) => store_error(e),
        }
    }
}

/// A workspace in the failed state.
pub fn failed(failure: &Failure) -> ErrorObject {
    let code = failure.code;
    let error_code = match code {
        FailureCode::DiskFull => ErrorCode::Storage,
        FailureCode::RootGone => ErrorCode::WorkspaceInvalid,
        FailureCode::Permission => ErrorCode::PermissionDenied,
        FailureCode::Config => ErrorCode::Config,
        FailureCode::Corrupt | FailureCode::Internal => ErrorCode::Internal,
    };
    ErrorObject::new(error_code, format!("the workspace cannot be indexed ({code})"))
        .with_hint(failure.hint.as_str())
        .with_details(serde_json::json!({"failure": code}))
}

/// A store that refuses.
pub fn store_error(e: &StoreError) -> ErrorObject {
    let code = match e {
        StoreError::Full(_) => ErrorCode::Storage,
        StoreError::Busy(_) => ErrorCode::Busy,
        StoreError::Io(e) => io_code(e),
        StoreError::Corrupt(_) | StoreError::Inconsistent(_) | StoreError::Lmdb(_) => ErrorCode::Internal,
    };
    let error = ErrorObject::new(code, chain(e));
    if code == ErrorCode::Busy { error.with_retry_after_ms(100) } else { error }
}

/// An index that could not be read while a request was answered; a damaged one is built again.
pub fn unreadable(e: &StoreError) -> ErrorObject {
    let error = ErrorObject::new(ErrorCode::SearchUnavailable, chain(e)).with_retry_after_ms(1_000);
    if e.needs_rebuild() {
        error.with_hint("ask again: the index is built anew from the tree")
    } else {
        error
    }
}

fn io_code(e: &std::io::Error) -> ErrorCode {
    match e.kind() {
        std::io::ErrorKind::PermissionDenied => ErrorCode::PermissionDenied,
        std::io::ErrorKind::NotFound => ErrorCode::WorkspaceInvalid,
        _ => ErrorCode::Storage,
    }
}

/// UTC time to the second as ISO 8601; the epoch for a time that no calendar has.
pub fn iso_time(time: std::time::SystemTime) -> String {
    let time = jiff::Timestamp::try_from(time).unwrap_or_default();
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The message with those of its causes.
fn chain(e: &dyn std::error::Error) -> String {
    let mut out = e.to_string();
    let mut source = e.source();
    while let Some(cause) = source {
        let text = cause.to_string();
        if !out.ends_with(&text) {
            out += ": ";
            out += &text;
        }
        source = cause.source();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn times_read_as_dates() {
        for (seconds, expect) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(iso_time(UNIX_EPOCH + Duration::from_secs(seconds)), expect);
        }
    }

    #[test]
    fn the_system_s_refusals_are_told_apart() {
        let io = |kind: std::io::ErrorKind| WorkspaceError::Io {
            what: "write",
            path: "/x".into(),
            source: kind.into(),
        };
        let failed = |code| WorkspaceError::Failed(Failure { code, hint: "h".to_owned() });
        let full = || StoreError::Io(std::io::ErrorKind::StorageFull.into());
        for (error, exit) in [
            (io(std::io::ErrorKind::StorageFull), 74),
            (io(std::io::ErrorKind::PermissionDenied), 77),
            (WorkspaceError::Store(full()), 74),
            (WorkspaceError::Store(StoreError::Busy("x")), 75),
            (WorkspaceError::Store(StoreError::Corrupt("x".into())), 69),
            (failed(FailureCode::DiskFull), 74),
            (failed(FailureCode::RootGone), 66),
            (failed(FailureCode::Permission), 77),
            (failed(FailureCode::Config), 78),
            (failed(FailureCode::Internal), 70),
            (WorkspaceError::Building, 75),
            (WorkspaceError::TooBroad("/".into()), 66),
            (WorkspaceError::Odd { path: "/proc".into(), why: "it is odd" }, 66),
        ] {
            let shown = format!("{error:?}");
            let object = ErrorObject::from(error);
            assert_eq!(object.data.exit, exit, "{shown}: {object}");
            assert!(!object.data.hint.is_empty());
        }
    }
}
