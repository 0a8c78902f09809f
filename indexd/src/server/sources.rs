//! `context.pack`: what a client offers as sources of the packer. What it only names is read from the
//! index; secrets are replaced in both; a source that gives nothing says why and costs itself alone.

use crate::config::Config;
use indexd_model::{FileRoles, IndexView, Lines, RepoPath};
use indexd_pack::template::Template;
use indexd_proto::error::{ErrorCode, ErrorObject};
use indexd_proto::limits::TEMPLATE_BYTES_MAX;
use indexd_proto::request::lay_over;
use indexd_proto::sources::{OfferedSource, SourceType};
use indexd_rim::sources::Settings;
use serde_json::{Map, Value};

/// Sources of one request.
const SOURCES_MAX: usize = 1_000;

/// Fills in the content of what is offered, or why there is none.
///
/// # Errors
/// `POC_E_INVALID_REQUEST` for more sources than there may be.
pub fn collect(
    view: &dyn IndexView,
    offered: &mut [OfferedSource],
    redacts: bool,
) -> Result<(), ErrorObject> {
    if offered.len() > SOURCES_MAX {
        let message = format!("{} sources are offered; {SOURCES_MAX} are taken", offered.len());
        return Err(ErrorObject::invalid(message));
    }
    for source in offered.iter_mut().filter(|s| s.failure.is_none()) {
        match content(view, source) {
            Ok(text) if redacts => source.content = Some(indexd_secrets::redact(&text).0.into_owned()),
            Ok(text) => source.content = Some(text),
            Err(why) => source.failure = Some(why),
        }
    }
    for source in offered.iter_mut() {
        source.file_path = source.file_path.take().filter(|path| RepoPath::is_valid(path));
    }
    Ok(())
}

/// The text of a source: its own, or that of the lines it names.
fn content(view: &dyn IndexView, offered: &OfferedSource) -> Result<String, String> {
    let file = match &offered.file_path {
        Some(path) if !RepoPath::is_valid(path) => {
            return Err("its path is not relative to the root".to_owned());
        }
        Some(path) => view.file_by_path(path),
        None => None,
    };
    let is_named = |path: &String| is_secret(path, offered.content.as_deref());
    if file.is_some_and(|f| view.file(f).roles.has(FileRoles::SENSITIVE))
        || offered.file_path.as_ref().is_some_and(is_named)
    {
        return Err("the name of its file says that it holds secrets".to_owned());
    }
    if let Some(content) = &offered.content {
        return Ok(content.clone());
    }
    if matches!(offered.source_type, SourceType::ToolResult | SourceType::OpenFile) {
        return Err("it has no content".to_owned());
    }
    let file = file.ok_or_else(|| "its file is not in the index".to_owned())?;
    let (text, lines) = (view.text(file), view.lines(file));
    let Some(range) = offered.line_range else { return Ok(text.to_string()) };
    let end = range.end.min(lines.n_lines());
    if range.start == 0 || range.start > end {
        return Err("its file has no such lines".to_owned());
    }
    Ok(text[lines.lines_span(Lines { start: range.start, end }).range()].to_owned())
}

/// Whether a file is secret by its name, also one that the index leaves out, as it often does `.env`.
fn is_secret(path: &str, content: Option<&str>) -> bool {
    match content {
        Some(content) => indexd_lang::roles::is_sensitive(path, content.as_bytes()),
        None => indexd_lang::roles::is_sensitive_name(path),
    }
}

/// The template of a request.
///
/// # Errors
/// `POC_E_INVALID_REQUEST` for one that is too long or cannot be read.
pub fn template(asked: Option<&str>) -> Result<Option<Template>, ErrorObject> {
    let Some(text) = asked else { return Ok(None) };
    if text.len() > TEMPLATE_BYTES_MAX {
        return Err(ErrorObject::invalid("the template is longer than 64 KiB"));
    }
    Ok(Some(Template::new(text)?))
}

/// The settings of a request over the configured ones; priorities that are not named keep theirs.
///
/// # Errors
/// `POC_E_NOT_SUPPORTED` for unknown members and wrong values.
pub fn settings(asked: Option<Map<String, Value>>, config: &Config) -> Result<Settings, ErrorObject> {
    let refused = |what: String| ErrorObject::new(ErrorCode::NotSupported, format!("settings: {what}"));
    let mut members = serde_json::to_value(&config.packer).unwrap_or_default();
    lay_over(&mut members, Value::Object(asked.unwrap_or_default()));
    let settings: Settings = serde_json::from_value(members).map_err(|e| refused(e.to_string()))?;
    let weights = [settings.relevance_weight, settings.recency_weight, settings.source_weight];
    if weights.iter().any(|w| !w.is_finite() || *w < 0.0) || weights.iter().sum::<f64>() <= 0.0 {
        return Err(refused("weights are 0 or more, and one of them is above 0".to_owned()));
    }
    if settings.max_chunk_tokens == 0 || settings.min_chunk_tokens > settings.max_chunk_tokens {
        return Err(refused(
            "chunks have 1 token or more, and the maximum is not below the minimum".to_owned(),
        ));
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(asked: Value) -> Result<Settings, String> {
        settings(asked.as_object().cloned(), &Config::default()).map_err(|e| e.message)
    }

    #[test]
    fn settings_are_laid_over_the_defaults() {
        assert_eq!(read(json!({})), Ok(Settings::default()));
        let some = read(json!({"recencyWeight": 0.0, "priorities": {"reference": 500}})).unwrap();
        let p = some.priorities;
        assert_eq!([p.tool_result, p.open_file, p.search_result, p.reference], [100, 80, 60, 500]);
        assert_eq!((some.relevance_weight, some.recency_weight), (0.5, 0.0));
        for (asked, says) in [
            (json!({"weight": 1}), "unknown field"),
            (json!({"relevanceWeight": 0, "recencyWeight": 0, "sourceWeight": 0}), "weights"),
            (json!({"relevanceWeight": -1}), "weights"),
            (json!({"maxChunkTokens": 10}), "chunks"),
        ] {
            assert!(read(asked).unwrap_err().contains(says), "{says}");
        }
    }

    #[test]
    fn a_file_that_is_secret_by_its_name_gives_nothing_though_it_is_offered() {
        for path in [".env", "deploy/.env.production", "home/id_rsa"] {
            assert!(is_secret(path, Some("KEY=x")) && is_secret(path, None), "{path}");
        }
        assert!(!is_secret("src/env.py", Some("KEY=x")));
    }
}
