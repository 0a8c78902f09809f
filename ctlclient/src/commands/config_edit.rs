//! Changes to the configuration files of other programs: shown first, made when asked for, and never
//! at the cost of what else stands in them.

use super::print_own;
use crate::cli::Common;
use crate::failure::Failure;
use crate::replacement::Replacement;
use crate::style::{Style, safe_line};
use indexd_proto::error::ErrorCode;
use indexd_proto::printed::{FileChange, FileChanges};
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::Value;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Unchanged lines shown before and after a change.
const CONTEXT: usize = 3;

/// Bytes of a file that is changed.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// What a file holds, and what it shall hold.
pub struct Edit {
    path: PathBuf,
    before: Option<String>,
    after: String,
}

impl Edit {
    /// Reads a file and changes its text; a file that is not there is empty. The change sees lines that end
    /// in a line feed; those of a file whose lines end in carriage returns, too, end so again.
    ///
    /// # Errors
    /// `POC_E_CONFIG` when it is there and cannot be read or may not be written, and those of the change.
    pub fn of(path: PathBuf, change: impl FnOnce(&str) -> Result<String, String>) -> Result<Self, Failure> {
        let refuse = |why: String| {
            let message = format!("{}: {why}", path.display());
            Failure::hinted(ErrorCode::Config, message, "mend the file, or add the entry by hand")
        };
        let before = read_whole(&path).map_err(refuse)?;
        let text = before.as_deref().unwrap_or("");
        let is_dos = text.contains("\r\n") && text.matches("\r\n").count() == text.matches('\n').count();
        let after = match is_dos {
            true => change(&text.replace("\r\n", "\n")).map(|after| after.replace('\n', "\r\n")),
            false => change(text),
        };
        let after = after.map_err(refuse)?;
        Ok(Self { path, before, after })
    }

    /// The same of a file of a repository at `root`, which no link may lead out of it.
    ///
    /// # Errors
    /// As [`Edit::of`].
    pub fn within(
        root: &Path,
        file: &str,
        change: impl FnOnce(&str) -> Result<String, String>,
    ) -> Result<Self, Failure> {
        let path = root.join(file);
        let real = |path: &Path| path.ancestors().find_map(|p| std::fs::canonicalize(p).ok());
        let is_link = |path: &Path| path.symlink_metadata().is_ok_and(|meta| meta.is_symlink());
        let leads_out = match (real(&path), std::fs::canonicalize(root)) {
            (Some(real), Ok(root)) => !real.starts_with(root),
            _ => true,
        };
        // A link that leads nowhere would be followed by whoever makes its file.
        if leads_out || (is_link(&path) && !path.exists()) {
            let message = format!("{}: a link leads out of the repository", path.display());
            let hint = "remove the link, or add the lines by hand to the file that it leads to";
            return Err(Failure::hinted(ErrorCode::Config, message, hint));
        }
        Self::of(path, change)
    }

    fn is_change(&self) -> bool {
        self.before.as_deref().unwrap_or("") != self.after
    }

    /// Whether the file goes: nothing is left of what it held.
    fn is_removal(&self) -> bool {
        self.before.as_deref().is_some_and(|b| !holds_nothing(b)) && holds_nothing(&self.after)
    }

    /// Puts the new text in the place of the old in one step, or deletes the file. Links are looked through.
    fn write(&self) -> Result<(), Failure> {
        let failed = |e: std::io::Error| {
            let code = match e.kind() {
                ErrorKind::PermissionDenied => ErrorCode::PermissionDenied,
                _ => ErrorCode::CannotCreate,
            };
            Failure::new(code, format!("cannot write {}: {e}", self.path.display()))
        };
        let path = std::fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        if self.is_removal() {
            return std::fs::remove_file(&self.path).map_err(failed);
        }
        let put = || {
            std::fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
            let mut file = Replacement::new(&path)?;
            file.write(self.after.as_bytes())?;
            if let Ok(old) = std::fs::metadata(&path) {
                std::fs::set_permissions(file.place(), old.permissions())?;
            }
            file.finish()
        };
        put().map_err(failed)
    }
}

/// The text of a file; `None` where there is none. Pipes are not waited for.
fn read_whole(path: &Path) -> Result<Option<String>, String> {
    match std::fs::metadata(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e.to_string()),
        Ok(meta) if !meta.is_file() => Err("it is not a regular file".to_owned()),
        Ok(meta) if meta.len() > FILE_BYTES_MAX => Err("it is too large".to_owned()),
        Ok(meta) if meta.permissions().readonly() => Err("it is read-only".to_owned()),
        Ok(_) => std::fs::read_to_string(path).map(Some).map_err(|e| e.to_string()),
    }
}

/// Shows changes and makes them when `write`; says how to do so when not.
///
/// # Errors
/// Those of writing.
pub fn apply(common: &Common, edits: &[Edit], write: bool, done: &str) -> Result<(), Failure> {
    let changes = edits.iter().filter(|e| e.is_change()).count();
    if write {
        edits.iter().filter(|e| e.is_change()).try_for_each(Edit::write)?;
    }
    let files = edits.iter().map(|e| {
        let (path, changed) = (e.path.display().to_string(), e.is_change());
        FileChange { path, changed, written: write && changed, diff: diff(e, Style::plain(80)) }
    });
    print_own(common, "FileChanges", &FileChanges { files: files.collect() }, |_, style| {
        let shown = edits.iter().map(|edit| match edit.is_change() {
            true => diff(edit, style),
            false => format!("{}: nothing to change\n", safe_line(&edit.path.display().to_string())),
        });
        let shown: String = shown.collect();
        match (changes, write) {
            (0, _) => shown,
            (_, true) => format!("{shown}written. {done}\n"),
            (_, false) => shown + "nothing is written yet: run it again with --write\n",
        }
    })
}

/// The lines that change, with some around them. A change here is one run of lines.
fn diff(edit: &Edit, style: Style) -> String {
    let before: Vec<&str> = edit.before.as_deref().unwrap_or("").lines().collect();
    let after: Vec<&str> = if edit.is_removal() { Vec::new() } else { edit.after.lines().collect() };
    let head = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
    let rest = before.len().min(after.len()) - head;
    let tail = before.iter().rev().zip(after.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let path = safe_line(&edit.path.display().to_string());
    let from = if edit.before.is_some() { path.clone() } else { "/dev/null".to_owned() };
    let to = if edit.is_removal() { "/dev/null".to_owned() } else { path };
    let mut out = format!("{}\n{}\n", style.bold(&format!("--- {from}")), style.bold(&format!("+++ {to}")));
    let first = head.saturating_sub(CONTEXT);
    let kept = tail.min(CONTEXT);
    let (old, new) = (before.len() - tail, after.len() - tail);
    let size = |n: usize| n - first + kept;
    let start = |n: usize| if size(n) == 0 { 0 } else { first + 1 };
    out += &format!("@@ -{},{} +{},{} @@\n", start(old), size(old), start(new), size(new));
    let line = |mark: char, text: &&str| format!("{mark}{}", safe_line(text));
    let mut lines: Vec<String> = before[first..head].iter().map(|l| line(' ', l)).collect();
    lines.extend(before[head..old].iter().map(|l| style.bad(&line('-', l))));
    lines.extend(after[head..new].iter().map(|l| style.good(&line('+', l))));
    lines.extend(before[old..old + kept].iter().map(|l| line(' ', l)));
    out + &lines.join("\n") + "\n"
}

/// Sets, or with `None` removes, the member at `path` of a JSON text with comments. Everything else,
/// comments and layout included, stays as it is.
///
/// # Errors
/// A sentence: the text is not JSON, or something on the path is not an object.
pub fn json_member(text: &str, path: &[&str], value: Option<&Value>) -> Result<String, String> {
    let Some((root, object, last)) = holder(text, path, value.is_some())? else { return Ok(text.to_owned()) };
    match (object.get(last), value) {
        (None, None) => {}
        (Some(member), None) => member.remove(),
        (None, Some(value)) => {
            object.append(last, input(value));
        }
        (Some(member), Some(value)) => {
            // An equal entry keeps the way it is written, and one of an object what else it holds.
            let old = member.value().and_then(|v| read(&v.to_string()));
            match (old, value, member.object_value()) {
                (Some(old), _, _) if old == *value => {}
                (_, Value::Object(wanted), Some(object)) => set_members(&object, wanted),
                _ => member.set_value(input(value)),
            }
        }
    }
    Ok(root.to_string())
}

/// The value of the member at `path` of a JSON text with comments; `None` without one, and for a text that is not JSON.
pub fn member(text: &str, path: &[&str]) -> Option<Value> {
    let (_, object, last) = holder(text, path, false).ok()??;
    read(&object.get(last)?.value()?.to_string())
}

/// Sets members of an object whose values are others; a list that begins with the wanted one is left as the
/// user has gone on with it.
fn set_members(object: &CstObject, wanted: &serde_json::Map<String, Value>) {
    for (name, value) in wanted {
        let Some(member) = object.get(name) else {
            object.append(name, input(value));
            continue;
        };
        let old = member.value().and_then(|v| read(&v.to_string()));
        let goes_on = match (&old, value) {
            (Some(Value::Array(old)), Value::Array(wanted)) => old.starts_with(wanted),
            _ => old.as_ref() == Some(value),
        };
        if !goes_on {
            member.set_value(input(value));
        }
    }
}

/// A JSON text with comments, the object in it that holds the member at `path`, and the name of that member.
/// Objects on the way are made if `is_made`; without, `None` where the member is not there.
fn holder<'p>(
    text: &str,
    path: &[&'p str],
    is_made: bool,
) -> Result<Option<(CstRootNode, CstObject, &'p str)>, String> {
    let root =
        CstRootNode::parse(if text.trim().is_empty() { "{}\n" } else { text }, &ParseOptions::default())
            .map_err(|e| format!("not valid JSON: {e}"))?;
    let mut object = root.object_value_or_create().ok_or("not a JSON object")?;
    let (last, folders) = path.split_last().ok_or("no path")?;
    for name in folders {
        if object.get(name).is_none() && !is_made {
            return Ok(None);
        }
        object = object.object_value_or_create(name).ok_or(format!("{name} is no object"))?;
    }
    Ok((object.get(last).is_some() || is_made).then_some((root, object, *last)))
}

/// Puts one entry of ours into the list at `path`, in the place of one that is there already, or takes
/// it out. Everything else stays as it is.
///
/// # Errors
/// As [`json_member`].
pub fn json_list_entry(
    text: &str,
    path: &[&str],
    is_ours: fn(&Value) -> bool,
    entry: Option<&Value>,
) -> Result<String, String> {
    let Some((root, object, last)) = holder(text, path, entry.is_some())? else { return Ok(text.to_owned()) };
    let list = object.array_value_or_create(last).ok_or(format!("{last} is no list"))?;
    let old = list.elements().into_iter().find(|e| read(&e.to_string()).is_some_and(|v| is_ours(&v)));
    match (old, entry) {
        (Some(old), Some(entry)) if read(&old.to_string()).as_ref() == Some(entry) => {
            return Ok(text.to_owned());
        }
        (Some(old), _) => old.remove(),
        (None, None) => return Ok(text.to_owned()),
        (None, Some(_)) => {}
    }
    if let Some(entry) = entry {
        list.append(input(entry));
    }
    Ok(root.to_string())
}

/// Whether a text is blank, or JSON without any value.
fn holds_nothing(text: &str) -> bool {
    fn is_empty(value: &Value) -> bool {
        match value {
            Value::Object(map) => map.values().all(is_empty),
            Value::Array(list) => list.iter().all(is_empty),
            _ => false,
        }
    }
    text.trim().is_empty() || serde_json::from_str(text).is_ok_and(|v| is_empty(&v))
}

fn read(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(b) => CstInputValue::Bool(*b),
        Value::Number(n) => CstInputValue::Number(n.to_string()),
        Value::String(s) => CstInputValue::String(s.clone()),
        Value::Array(list) => CstInputValue::Array(list.iter().map(input).collect()),
        Value::Object(map) => CstInputValue::Object(map.iter().map(|(k, v)| (k.clone(), input(v))).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(before: &str, value: Option<Value>, after: &str) {
        assert_eq!(json_member(before, &["servers", "indexd"], value.as_ref()).unwrap(), after);
    }

    #[test]
    fn a_member_is_set_and_the_rest_stays() {
        let entry = || Some(json!({"command": "ctl"}));
        check(
            "",
            entry(),
            "{\n  \"servers\": {\n    \"indexd\": {\n      \"command\": \"ctl\"\n    }\n  }\n}\n",
        );
        let kept = "{\n\t// mine\n\t\"servers\": {\n\t\t\"other\": {\"command\": \"x\"}, // why\n\t},\n\t\"a\": 1\n}\n";
        let with = json_member(kept, &["servers", "indexd"], entry().as_ref()).unwrap();
        for part in ["// mine", "// why", "\"other\": {\"command\": \"x\"}", "\"a\": 1", "\t\t\"indexd\": {"]
        {
            assert!(with.contains(part), "{part} is not in {with}");
        }
        check(&with, entry(), &with);
        let without = json_member(&with, &["servers", "indexd"], None).unwrap();
        assert!(!without.contains("indexd") && without.contains("// why"), "{without}");
        check("{}", None, "{}");
    }

    #[test]
    fn what_the_user_added_to_our_entry_stays() {
        let entry = || Some(json!({"command": "ctl", "args": ["mcp"]}));
        let own = "{\"servers\": {\"indexd\": {\"command\": \"old\", \"args\": [\"mcp\", \"--structured\"], \
                   \"env\": {\"A\": \"1\"} /* mine */}}}";
        check(own, entry(), &own.replace("old", "ctl"));
        check("{\"servers\": {\"indexd\": 3}}", Some(json!(4)), "{\"servers\": {\"indexd\": 4}}");
    }

    #[test]
    fn a_file_that_is_none_of_ours_to_write_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let (root, elsewhere) = (dir.path().join("repo"), dir.path().join("bashrc"));
        std::fs::create_dir_all(root.join("docs")).unwrap();
        std::fs::write(&elsewhere, "alias x=y\n").unwrap();
        std::fs::write(root.join("read-only"), "x\n").unwrap();
        let mut mode = std::fs::metadata(root.join("read-only")).unwrap().permissions();
        mode.set_readonly(true);
        std::fs::set_permissions(root.join("read-only"), mode).unwrap();
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&elsewhere, root.join("CLAUDE.md")).unwrap();
            std::os::unix::fs::symlink(dir.path(), root.join(".github")).unwrap();
            std::os::unix::fs::symlink(dir.path().join("none"), root.join("dangling")).unwrap();
            std::os::unix::fs::symlink("docs/inside.md", root.join("inside")).unwrap();
            std::fs::write(root.join("docs/inside.md"), "a\n").unwrap();
            let fifo = std::process::Command::new("mkfifo").arg(root.join("pipe")).status();
            assert!(fifo.is_ok_and(|s| s.success()));
            let add = |file: &str| Edit::within(&root, file, |text| Ok(format!("{text}more\n")));
            for file in ["CLAUDE.md", ".github/copilot.md", "dangling", "read-only", "pipe", "docs"] {
                assert!(add(file).is_err(), "{file}");
            }
            add("inside").unwrap().write().unwrap();
            assert_eq!(std::fs::read_to_string(root.join("docs/inside.md")).unwrap(), "a\nmore\n");
            assert!(root.join("inside").symlink_metadata().unwrap().is_symlink());
        }
        assert_eq!(std::fs::read_to_string(&elsewhere).unwrap(), "alias x=y\n");
    }

    #[test]
    fn lines_end_as_those_of_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        for (before, after) in [("a\r\nb\r\n", "a\r\nb\r\nmore\r\n"), ("a\r\nb\n", "a\r\nb\nmore\n")] {
            std::fs::write(&path, before).unwrap();
            Edit::of(path.clone(), |text| Ok(format!("{text}more\n"))).unwrap().write().unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), after);
        }
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for text in ["{", "[]", "{\"servers\": 3}"] {
            assert!(json_member(text, &["servers", "indexd"], Some(&json!(1))).is_err(), "{text}");
        }
    }

    #[test]
    fn a_difference_shows_what_changes() {
        let edit = Edit {
            path: PathBuf::from("/f"),
            before: Some("a\nb\nc\nd\ne\n".to_owned()),
            after: "a\nb\nc\nd\nx\ne\n".to_owned(),
        };
        let shown = diff(&edit, Style::plain(80));
        assert_eq!(shown, "--- /f\n+++ /f\n@@ -2,4 +2,5 @@\n b\n c\n d\n+x\n e\n");
        let new = Edit { path: PathBuf::from("/f"), before: None, after: "x\n".to_owned() };
        assert_eq!(diff(&new, Style::plain(80)), "--- /dev/null\n+++ /f\n@@ -0,0 +1,1 @@\n+x\n");
    }

    #[test]
    fn a_file_that_holds_nothing_any_more_goes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        for (before, after, stays) in [
            ("{\"a\": {\"b\": 1}}", "{\"a\": {}}\n", false),
            ("x\n", "\n", false),
            ("{\"a\": {\"b\": 1}, \"c\": []}", "{\"a\": {\"d\": null}}", true),
            ("{\"a\": 1}", "{ // mine\n}", true),
        ] {
            std::fs::write(&path, before).unwrap();
            let edit = Edit { path: path.clone(), before: Some(before.to_owned()), after: after.to_owned() };
            edit.write().unwrap();
            assert_eq!(path.exists(), stays, "{before} {after}");
            let shown = diff(&edit, Style::plain(80));
            assert_eq!(shown.contains("+++ /dev/null\n@@ -1,1 +0,0 @@\n-"), !stays, "{shown}");
        }
    }
}
