//! Reads the dependencies of a project from its manifest. Names are those used in code.

use toml::{Table, Value};

/// Before the name of a dependency in [`crate::outline::Outline::modules`].
pub const NEEDS: &str = "needs:";

/// Distributions of Python whose modules have another name.
const MODULES: [(&str, &str); 22] = [
    ("attrs", "attr"),
    ("beautifulsoup4", "bs4"),
    ("gitpython", "git"),
    ("grpcio", "grpc"),
    ("mysqlclient", "mysqldb"),
    ("opencv_python", "cv2"),
    ("pillow", "pil"),
    ("protobuf", "google"),
    ("psycopg2_binary", "psycopg2"),
    ("pycryptodome", "crypto"),
    ("pyjwt", "jwt"),
    ("pymongo", "bson"),
    ("pyopenssl", "openssl"),
    ("pyserial", "serial"),
    ("python_dateutil", "dateutil"),
    ("python_dotenv", "dotenv"),
    ("python_slugify", "slugify"),
    ("pyyaml", "yaml"),
    ("pyzmq", "zmq"),
    ("scikit_image", "skimage"),
    ("scikit_learn", "sklearn"),
    ("setuptools", "pkg_resources"),
];

/// Returns the dependencies that a manifest in TOML names, each with its place: `path:DIR` for a folder,
/// `shared` for the place that the workspace states, else empty. An empty list for broken ones.
pub(super) fn of_toml(manifest: &str, text: &str) -> Vec<(String, String)> {
    if !matches!(manifest, "Cargo.toml" | "pyproject.toml" | "Pipfile") {
        return Vec::new();
    }
    let Ok(root) = toml::from_str::<Table>(text) else { return Vec::new() };
    match manifest {
        "Cargo.toml" => cargo(&root),
        _ => python(&root),
    }
}

fn at<'t>(table: &'t Table, path: &[&str]) -> Option<&'t Value> {
    let (first, rest) = path.split_first()?;
    let value = table.get(*first)?;
    if rest.is_empty() { Some(value) } else { at(value.as_table()?, rest) }
}

fn tables(value: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
    value.and_then(Value::as_table).into_iter().flatten()
}

fn cargo(root: &Table) -> Vec<(String, String)> {
    let mut out = Vec::new();
    let mut add = |before: &str, all: Option<&Value>| {
        for (name, value) in tables(all) {
            let text = |key: &str| value.get(key).and_then(Value::as_str);
            let is_shared = value.get("workspace").and_then(Value::as_bool) == Some(true);
            let place = match text("path") {
                Some(path) => format!("path:{path}"),
                None if is_shared => "shared".to_owned(),
                None => String::new(),
            };
            out.push((format!("{before}{}", name.replace('-', "_")), place));
        }
    };
    let kinds = ["dependencies", "dev-dependencies", "build-dependencies"];
    for kind in kinds {
        add(NEEDS, root.get(kind));
        tables(root.get("target")).for_each(|(_, target)| add(NEEDS, target.get(kind)));
    }
    add("shared:", at(root, &["workspace", kinds[0]]));
    tables(root.get("patch")).for_each(|(_, patched)| add("patch:", Some(patched)));
    targets(root, &mut out);
    out
}

/// Where the roots of crates lie that do not lie where they are looked for: `target:lib`, `target:root`. The name of
/// the library is `target:name` where it is not that of the package, and `edition` says 2015 where paths of imports
/// begin at the root.
fn targets(root: &Table, out: &mut Vec<(String, String)>) {
    let path = |target: &Value| target.get("path").and_then(Value::as_str).map(str::to_owned);
    out.extend(root.get("lib").and_then(path).map(|p| ("target:lib".to_owned(), p)));
    let name = at(root, &["lib", "name"]).and_then(Value::as_str);
    out.extend(name.map(|n| ("target:name".to_owned(), n.replace('-', "_"))));
    let edition = at(root, &["package", "edition"]);
    if root.contains_key("package") && edition.is_none_or(|e| e.as_str() == Some("2015")) {
        out.push(("edition".to_owned(), "2015".to_owned()));
    }
    for kind in ["bin", "test", "bench", "example"] {
        let all = root.get(kind).and_then(Value::as_array).into_iter().flatten();
        out.extend(all.filter_map(path).map(|p| ("target:root".to_owned(), p)));
    }
    out.extend(
        at(root, &["package", "build"])
            .and_then(Value::as_str)
            .map(|p| ("target:root".to_owned(), p.to_owned())),
    );
}

fn python(root: &Table) -> Vec<(String, String)> {
    let mut out = Vec::new();
    let mut listed = |all: Option<&Value>| {
        let all = all.and_then(Value::as_array).into_iter().flatten();
        all.filter_map(Value::as_str).for_each(|line| add_requirement(line, &mut out));
    };
    listed(at(root, &["project", "dependencies"]));
    listed(at(root, &["tool", "uv", "dev-dependencies"]));
    let groups = [["project", "optional-dependencies"], ["tool", "pdm"]];
    groups.iter().for_each(|path| tables(at(root, path)).for_each(|(_, group)| listed(Some(group))));
    tables(root.get("dependency-groups")).for_each(|(_, group)| listed(Some(group)));
    let mut keyed = |all: Option<&Value>| {
        let is_elsewhere = |value: &Value| value.get("path").is_none();
        let names = tables(all).filter(|(name, value)| *name != "python" && is_elsewhere(value));
        names.for_each(|(name, _)| add_requirement(name, &mut out));
    };
    for kind in ["dependencies", "dev-dependencies"] {
        keyed(at(root, &["tool", "poetry", kind]));
    }
    tables(at(root, &["tool", "poetry", "group"])).for_each(|(_, group)| keyed(group.get("dependencies")));
    ["packages", "dev-packages"].iter().for_each(|kind| keyed(root.get(*kind)));
    out
}

/// The dependencies of a list of requirements, one a line.
pub fn of_requirements(text: &str) -> Vec<(String, String)> {
    let mut out = Vec::new();
    text.lines().filter(|l| !l.starts_with('-')).for_each(|l| add_requirement(l, &mut out));
    out
}

/// The dependencies in `setup.cfg`: of `install_requires` and its kind, and of all extras.
pub(super) fn of_setup(text: &str) -> Vec<(String, String)> {
    let mut out = Vec::new();
    let (mut section, mut key) = ("", "");
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix('[') {
            (section, key) = (rest.split(']').next().unwrap_or(""), "");
            continue;
        }
        let mut value = line;
        if !line.starts_with([' ', '\t']) {
            (key, value) = line.split_once('=').unwrap_or(("", ""));
        }
        let is_asked = section == "options.extras_require" && !key.is_empty()
            || section == "options" && key.trim_end().ends_with("_requires")
            || section == "options" && key.trim() == "tests_require";
        if is_asked {
            value.split(';').take(1).for_each(|v| add_requirement(v, &mut out));
        }
    }
    out
}

/// `requests[socks] >= 2; python_version < "4"`.
fn add_requirement(line: &str, out: &mut Vec<(String, String)>) {
    let line = line.trim();
    let end = line.find(|c: char| !c.is_ascii_alphanumeric() && !"._-".contains(c)).unwrap_or(line.len());
    let is_link = line[end..].starts_with([':', '/', '\\']);
    if end > 0 && !is_link {
        out.extend(modules_of(&line[..end]).map(|name| (format!("{NEEDS}{name}"), String::new())));
    }
}

/// The names of modules that a distribution of Python may have, in small letters.
pub fn modules_of(distribution: &str) -> impl Iterator<Item = String> {
    let name = distribution.to_ascii_lowercase().replace(['-', '.'], "_");
    let other = MODULES.iter().find(|m| m.0 == name).map(|m| m.1.to_owned());
    std::iter::once(name).chain(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(got: Vec<(String, String)>, expect: &[(&str, &str)]) {
        let got: Vec<(&str, &str)> = got.iter().map(|(a, b)| (&**a, &**b)).collect();
        assert_eq!(got, expect);
    }

    #[test]
    fn manifests_name_dependencies() {
        check(
            of_toml(
                "Cargo.toml",
                "[dependencies]\na-b = \"1\"\nc = { path = \"../c\" }\nd.workspace = true\n\
                 [target.'cfg(unix)'.dev-dependencies.e]\ngit = \"x\"\n\
                 [workspace.dependencies]\nd = { path = \"d\" }\n[patch.crates-io]\nf = { path = \"f\" }\n",
            ),
            &[
                ("needs:a_b", ""),
                ("needs:c", "path:../c"),
                ("needs:d", "shared"),
                ("needs:e", ""),
                ("shared:d", "path:d"),
                ("patch:f", "path:f"),
            ],
        );
        check(
            of_toml(
                "pyproject.toml",
                "[project]\ndependencies = [\n  \"Requests[socks]>=2\",\n  'PyYAML ; x',\n]\n\
                 [project.optional-dependencies]\nt = [\"pytest-cov\"]\n[dependency-groups]\ndev = [\"a\", {include-group = \"b\"}]\n\
                 [tool.poetry.dependencies]\npython = \"3\"\nflask = \"*\"\nown = { path = \"../own\" }\n\
                 [tool.poetry.group.dev.dependencies]\nblack = \"1\"\n",
            ),
            &[
                ("needs:requests", ""),
                ("needs:pyyaml", ""),
                ("needs:yaml", ""),
                ("needs:pytest_cov", ""),
                ("needs:a", ""),
                ("needs:flask", ""),
                ("needs:black", ""),
            ],
        );
        check(of_toml("Pipfile", "[packages]\nredis = \"*\"\n"), &[("needs:redis", "")]);
        check(of_toml("Cargo.toml", "[dependencies\na = 1"), &[]);
        check(of_toml("other.toml", "[dependencies]\na = \"1\""), &[]);
        check(
            of_requirements(
                "# a\n-r base.txt\n-e .\nflask==1.0  # b\nurl-lib @ https://x\nhttps://x/y\n./local\n",
            ),
            &[("needs:flask", ""), ("needs:url_lib", "")],
        );
        check(
            of_setup(
                "[metadata]\nname = x\n[options]\npackages = find:\ninstall_requires =\n    a>1\n    b\n[options.extras_require]\nt =\n  c\nd = e\n",
            ),
            &[("needs:a", ""), ("needs:b", ""), ("needs:c", ""), ("needs:e", "")],
        );
    }
}
