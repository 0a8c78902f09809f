//! JSON Schemas of the wire types, generated from them.

use crate::call::Method;
use crate::{error, printed, request, rpc, workspace};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;
use std::collections::BTreeMap;

/// Every published schema: file name without `.json`, and the document.
pub fn all() -> BTreeMap<String, Value> {
    let mut out = BTreeMap::new();
    for method in Method::ALL {
        let [mut params, result] = method.schemas();
        add_correlation(&mut params.1);
        out.extend([params, result]);
    }
    macro_rules! add {
        ($($name:literal => $ty:ty),* $(,)?) => {
            out.extend([$(document::<$ty>($name.to_owned())),*])
        };
    }
    add! {
        "pack-request" => request::Request,
        "context-pack" => indexd_api::pack::Pack,
        "error" => error::ErrorObject,
        "progress.params" => rpc::ProgressParams,
        "chunk.params" => rpc::ChunkParams,
        "cancel.params" => rpc::CancelParams,
        "ctl.error" => printed::Printed<printed::Failed>,
        "ctl.message" => printed::Printed<printed::Message>,
        "ctl.pack-record" => printed::Printed<printed::PackRecord>,
        "ctl.version" => printed::Printed<printed::Version>,
        "ctl.here" => printed::Printed<printed::Here>,
        "ctl.doctor" => printed::Printed<printed::Doctor>,
        "ctl.service-status" => printed::Printed<printed::ServiceStatus>,
        "ctl.file-changes" => printed::Printed<printed::FileChanges>,
        "ctl.share-push" => printed::Printed<printed::SharePush>,
        "ctl.share-pull" => printed::Printed<printed::SharePull>,
        "ctl.share-status" => printed::Printed<printed::ShareStatus>,
        "ctl.share-gc" => printed::Printed<printed::ShareGc>,
        "ctl.workspace" => printed::Printed<workspace::WorkspaceStatus>,
        "ctl.workspace-removed" => printed::Printed<workspace::RemoveResult>,
    }
    out
}

/// The member that the parameters of every method may have.
fn add_correlation(schema: &mut Value) {
    let member = serde_json::json!({
        "description": "The client's own id for its logs and ours: 1 to 64 of the characters `A-Z a-z 0-9 - _ . :`.",
        "type": ["string", "null"],
        "default": null,
    });
    if let Some(object) = schema.as_object_mut() {
        let properties = object.entry("properties").or_insert_with(|| serde_json::json!({}));
        properties["correlationId"] = member;
    }
}

/// The schema of a type, which says its name.
pub(crate) fn document<T: JsonSchema>(name: String) -> (String, Value) {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    if let Some(object) = schema.as_object_mut() {
        object.insert("$id".to_owned(), Value::String(format!("indexd:{name}")));
    }
    (name, schema)
}

/// The name under which the schema of a method's parameters (or result) is published.
pub fn file_of(method: Method, half: &str) -> String {
    let name = method.name();
    let base = match name.split_once('.') {
        Some((family @ ("graph" | "export"), _)) => family,
        _ => name,
    };
    format!("{base}.{half}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// `UPDATE_SCHEMA=1 cargo test -p indexd-proto` writes what this test compares.
    #[test]
    fn the_published_files_are_current() {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema");
        let update = std::env::var_os("UPDATE_SCHEMA").is_some();
        let mut expected = Vec::new();
        for (name, schema) in all() {
            let path = dir.join(format!("{name}.json"));
            let text = format!("{schema:#}\n");
            if update {
                std::fs::create_dir_all(&dir).unwrap();
                std::fs::write(&path, &text).unwrap();
            }
            let on_disk = std::fs::read_to_string(&path).unwrap_or_default();
            assert!(
                on_disk == text,
                "{} is stale: run UPDATE_SCHEMA=1 cargo test -p indexd-proto",
                path.display()
            );
            expected.push(path);
        }
        for entry in std::fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            assert!(expected.contains(&path), "{} has no type", path.display());
        }
    }

    /// The requests of PROTOCOL.md, which must be ones.
    #[test]
    fn the_documented_requests_are_understood() {
        let text = include_str!("../PROTOCOL.md");
        let mut seen = std::collections::BTreeSet::new();
        for line in text.lines().filter(|l| l.starts_with(r#"{"jsonrpc":"2.0""#) && l.contains("\"method\""))
        {
            let request =
                crate::rpc::Incoming::parse(line.as_bytes()).unwrap_or_else(|e| panic!("{line}: {}", e.1));
            if request.id.is_none() {
                serde_json::from_str::<rpc::CancelParams>(request.params).unwrap();
                continue;
            }
            let params = serde_json::from_str(request.params).unwrap();
            let call = crate::Call::parse(&request.method, params).unwrap_or_else(|e| panic!("{line}: {e}"));
            seen.insert(call.method().name());
        }
        let all: std::collections::BTreeSet<_> = Method::ALL.iter().map(|m| m.name()).collect();
        assert_eq!(seen, all, "every method has an example");
    }

    #[test]
    fn the_documented_codes_are_the_list() {
        let text = include_str!("../PROTOCOL.md");
        for c in error::ErrorCode::ALL {
            let row = format!("| `{}` | {} | {} | {} |", c.name(), c.number(), c.exit(), c.meaning());
            assert!(text.contains(&row), "PROTOCOL.md lacks {row}");
        }
    }
}
