//! `why`: the scan's verdict about one path and the index's word on it, as one answer.

use crate::config::EXCLUDES;
use crate::workspace::Rule;
use crate::workspace::why::{Place, place};
use indexd_model::limits::{FILE_BYTES_LISTED_MAX, FILE_BYTES_PARSED_MAX, LINE_BYTES_MAX};
use indexd_model::view::FileRecord;
use indexd_model::{FileRoles, IndexView, Outcome, RepoPath};
use indexd_os::ReadError;
use indexd_proto::why::{self as wire, Standing, WhyResult};
use std::path::Path;

/// The verdict on `path` below `root`; `None` for a path outside. The answer has no path and no envelope.
///
/// A file that `is_unsaved` counts as saved.
pub fn verdict(
    view: &dyn IndexView,
    root: &Path,
    excludes: &[String],
    path: Option<&str>,
    is_unsaved: bool,
) -> WhyResult {
    let Some(path) = path else {
        let (standing, decided_by) = (Standing::Outside, String::new());
        let reason = sentence(standing, None, None);
        return WhyResult { standing, reason, decided_by, ..WhyResult::default() };
    };
    let (place, decided_by) = place(root, excludes, path);
    let (mut rule, mut record) = (None, None);
    let standing = match place {
        Place::Missing if !is_unsaved => Standing::Missing,
        Place::File | Place::Missing => {
            record = view.file_by_path(path).map(|file| view.file(file));
            record.as_ref().map_or_else(|| absent(root, path), standing_of)
        }
        Place::Ignored(found) => {
            rule = Some(on_wire(root, found));
            Standing::Ignored
        }
        Place::Folder => Standing::Folder,
        Place::Nested => Standing::NestedRepository,
        Place::Metadata => Standing::Git,
        Place::Link => Standing::Link,
        Place::Special => Standing::Special,
        Place::OtherFileSystem => Standing::OtherFileSystem,
        Place::Unreadable => Standing::Unreadable,
    };
    let mut reason = sentence(standing, record.as_ref(), rule.as_ref());
    if decided_by != path {
        reason = format!("{decided_by}: {reason}");
    }
    WhyResult { standing, reason, decided_by, rule, ..WhyResult::default() }
}

fn standing_of(record: &FileRecord) -> Standing {
    match record.outcome {
        Outcome::Parsed => Standing::Indexed,
        Outcome::Recovered => Standing::IndexedAroundErrors,
        Outcome::TextOnly => Standing::WordsOnly,
        Outcome::Binary => Standing::Binary,
        Outcome::Sensitive => Standing::Sensitive,
        Outcome::TooLarge => Standing::TooLarge,
    }
}

/// Why a file of the set is not in the index.
fn absent(root: &Path, path: &str) -> Standing {
    let Ok(path) = RepoPath::new(path) else { return Standing::Unreadable };
    // Without a byte of it: that it may be read is all that is asked.
    match indexd_os::Root::open(root).and_then(|root| root.read(&path, 0)) {
        Ok(_) | Err(ReadError::TooLarge(_)) => Standing::Pending,
        Err(_) => Standing::Unreadable,
    }
}

fn on_wire(root: &Path, rule: Rule) -> wire::Rule {
    let source = rule.source.strip_prefix(root).unwrap_or(&rule.source);
    wire::Rule { source: source.display().to_string(), line: rule.line, pattern: rule.pattern }
}

fn sentence(standing: Standing, record: Option<&FileRecord>, rule: Option<&wire::Rule>) -> String {
    let mib = |bytes: u64| bytes >> 20;
    let name_alone = "known by its path alone";
    match standing {
        Standing::Indexed => {
            let language = record.map_or("", |r| r.language.id());
            let is_recoded = record.is_some_and(|r| r.roles.has(FileRoles::RECODED));
            let encoding = if is_recoded { ", decoded: it is not UTF-8" } else { "" };
            format!("in the index as {language}{encoding}")
        }
        Standing::IndexedAroundErrors => {
            "in the index; definitions around its syntax errors may be missing".to_owned()
        }
        Standing::WordsOnly if record.is_some_and(|r| r.size > FILE_BYTES_PARSED_MAX) => {
            let limit = mib(FILE_BYTES_PARSED_MAX);
            format!("found by its words, without definitions: it is larger than {limit} MiB")
        }
        Standing::WordsOnly => format!(
            "found by its words, without definitions: a line is longer than {LINE_BYTES_MAX} bytes, or \
             it is nested too deeply to be parsed"
        ),
        Standing::TooLarge => {
            format!("{name_alone}: it is larger than {} MiB", mib(FILE_BYTES_LISTED_MAX))
        }
        Standing::Binary => format!("{name_alone}: it is not text"),
        Standing::Sensitive => format!("{name_alone}, and never read: its name says that it holds secrets"),
        Standing::Pending => "not in the index yet: it changed since".to_owned(),
        Standing::Unreadable => "left out: it may not be read".to_owned(),
        Standing::Folder => "a folder whose files are indexed".to_owned(),
        Standing::Ignored => match rule {
            Some(wire::Rule { source, line: Some(line), pattern }) => {
                format!("left out by `{pattern}` in {source}:{line}")
            }
            Some(rule) if rule.source == EXCLUDES => {
                format!("left out by `{}` in the setting {EXCLUDES}", rule.pattern)
            }
            Some(rule) => format!("left out by `{}` in {}", rule.pattern, rule.source),
            None => "left out by a rule".to_owned(),
        },
        Standing::NestedRepository => "left out: a repository of its own".to_owned(),
        Standing::Git => "left out: what a version control keeps for itself".to_owned(),
        Standing::Link => "left out: a symbolic link, which is not followed".to_owned(),
        Standing::Special => "left out: neither a file nor a folder".to_owned(),
        Standing::OtherFileSystem => "left out: on another file system".to_owned(),
        Standing::Outside => "outside the root, beyond which nothing is read".to_owned(),
        Standing::Missing => "there is nothing of this name".to_owned(),
    }
}
