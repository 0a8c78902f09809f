//! What a name that stands for nothing may have meant.

use indexd_model::{IndexView, LineIndex};
use indexd_proto::error::{ErrorCode, ErrorObject};
use indexd_text::edits;
use std::collections::BTreeSet;

/// Names or paths that are suggested.
const SUGGESTED_MAX: usize = 3;
/// Files whose names are read; the answer to a typo need not be quick, but it must end.
const FILES_MAX: usize = 20_000;
/// Characters of a name that are compared.
const NAME_CHARS_MAX: usize = 80;

/// The error for a name that stands for nothing, with the names that are spelled most alike.
pub fn not_found(view: &dyn IndexView, name: &str) -> ErrorObject {
    let shown: String = name.chars().take(NAME_CHARS_MAX).collect();
    if let Some(error) = behind_the_end(view, &shown) {
        return error;
    }
    if shown.trim().is_empty() {
        let error = ErrorObject::invalid("the name is empty");
        return error.with_hint("name a definition, a path or path:line");
    }
    let (path, line) = parted(&shown);
    let is_path = line.is_some() || path.contains('/') || path.contains('\\');
    let what = if is_path { format!("no file {path:?}") } else { format!("no definition of {shown:?}") };
    let error = ErrorObject::new(ErrorCode::SymbolNotFound, format!("{what} in the index"));
    let near = nearest(view, &shown);
    if near.is_empty() {
        return error.with_hint(match is_path {
            true => format!("`ctl why {path}` says what becomes of a path"),
            false => "search for its words with `ctl search`".to_owned(),
        });
    }
    let listed = near.join(", ");
    error.with_hint(format!("did you mean {listed}?")).with_details(serde_json::json!({"suggestions": near}))
}

/// A path and the line that is named of it; a name has none.
fn parted(name: &str) -> (&str, Option<u32>) {
    let parts = name.rsplit_once(':').and_then(|(path, line)| Some((path, line.parse().ok()?)));
    parts.map_or((name, None), |(path, line)| (path, Some(line)))
}

/// The error for a line behind the last one of a file that is there.
fn behind_the_end(view: &dyn IndexView, name: &str) -> Option<ErrorObject> {
    let (path, Some(line)) = parted(name) else { return None };
    let file = view.file_by_path(path)?;
    let n = LineIndex::new(&view.text(file)).count();
    let message = format!("{path} has {n} lines, and none is number {line}");
    (line == 0 || line > n).then(|| {
        let error = ErrorObject::new(ErrorCode::SymbolNotFound, message);
        error.with_hint(format!("name one of its lines, such as {path}:{}", n.max(1)))
    })
}

/// The names, or for a path the paths, that are spelled most alike, best first.
fn nearest(view: &dyn IndexView, name: &str) -> Vec<String> {
    let (path, line) = parted(name);
    if line.is_some() || path.contains('/') || view.files().iter().any(|&f| same_suffix(&view.path(f), path))
    {
        let paths: BTreeSet<String> = view.files().iter().map(|&f| view.path(f).to_string()).collect();
        let found = closest(path, paths);
        let has = |p: &str, line| {
            view.file_by_path(p).is_some_and(|f| LineIndex::new(&view.text(f)).count() >= line)
        };
        let at = |p: String| match line {
            Some(line) if has(&p, line) => format!("{p}:{line}"),
            _ => p,
        };
        return found.into_iter().map(at).collect();
    }
    let last = name.rsplit(['.', '#']).next().unwrap_or(name);
    let namesakes = view.defs_named(last);
    if !namesakes.is_empty() {
        // The name is right and what stands before it is not.
        let all: BTreeSet<String> = namesakes.iter().map(|&d| view.def(d).qualified.to_string()).collect();
        let mut all: Vec<String> = all.into_iter().collect();
        all.sort_by_key(|q| edits(name, q));
        all.truncate(SUGGESTED_MAX);
        return all;
    }
    let mut names = BTreeSet::new();
    for file in view.files().into_iter().take(FILES_MAX) {
        let interface = view.interface(file);
        let own = interface.defs.iter().filter_map(|d| interface.arena.strings.get(d.name.0 as usize));
        // Names of another length cannot be near.
        let is_near = |n: &&String| n.chars().count().abs_diff(last.chars().count()) <= most(last);
        names.extend(own.filter(is_near).cloned());
    }
    closest(last, names)
}

/// Whether a path that was written like a file name has the ending of one of the index.
fn same_suffix(path: &str, written: &str) -> bool {
    let suffix = |p: &str| p.rsplit_once('.').map(|(_, s)| s.to_owned());
    written.chars().all(|c| !c.is_uppercase()) && suffix(written).is_some() && suffix(path) == suffix(written)
}

/// Edits that a word may be away from what was meant: a third of its letters.
fn most(word: &str) -> usize {
    (word.chars().count().max(3) / 3).min(4)
}

fn closest(word: &str, among: BTreeSet<String>) -> Vec<String> {
    let lower = |s: &str| s.to_lowercase();
    let wanted = lower(word);
    let file = lower(word.rsplit('/').next().unwrap_or(word));
    let mut near: Vec<(usize, String)> = among
        .into_iter()
        .filter_map(|c| {
            if c.is_empty() {
                return None;
            }
            let whole = edits(&wanted, &lower(&c));
            // A file is often named without its folder.
            let by_name = edits(&file, &lower(c.rsplit('/').next().unwrap_or(&c)));
            let d = whole.min(by_name + usize::from(by_name != whole));
            (d <= most(word)).then_some((d, c))
        })
        .collect();
    near.sort();
    near.into_iter().take(SUGGESTED_MAX).map(|(_, c)| c).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_come_first_and_far_ones_not_at_all() {
        let names = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect::<BTreeSet<_>>();
        let all = names(&["dispatch", "Dispatcher", "patch", "discard", "x"]);
        assert_eq!(closest("disptach", all.clone()), ["dispatch"]);
        assert_eq!(closest("DISPATCH", all.clone()), ["dispatch", "Dispatcher"]);
        assert!(closest("nothing", all).is_empty());
        let paths = names(&["net/retry.go", "net/client.go", "retry_test.go"]);
        assert_eq!(closest("net/rety.go", paths.clone()), ["net/retry.go"]);
        assert_eq!(closest("retyr.go", paths), ["net/retry.go"]);
        // Of equal names the one that was written whole.
        assert_eq!(closest("rety.go", names(&["net/retry.go", "retry.go"])), ["retry.go", "net/retry.go"]);
    }
}
