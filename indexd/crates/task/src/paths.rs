//! What a path says about a file, where no index tells it.

/// The folder part; empty at the root.
pub fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(dir, _)| dir)
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn stem(path: &str) -> &str {
    let name = name(path);
    name.split_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem })
}

fn extension(path: &str) -> &str {
    name(path).rsplit_once('.').map_or("", |(_, e)| e)
}

fn has_folder(path: &str, folders: &[&str]) -> bool {
    folder(path).split('/').any(|f| folders.contains(&f))
}

/// Whether it is a test by its name or folder.
pub fn is_test(path: &str) -> bool {
    let stem = name(path).rsplit_once('.').map_or(name(path), |(s, _)| s);
    stem.ends_with("_test")
        || stem.starts_with("test_")
        || stem.ends_with(".test")
        || stem.ends_with(".spec")
        || stem == "conftest"
        || has_folder(path, &["tests", "test", "testdata", "__tests__", "spec", "testing"])
}

/// Whether it is prose.
pub fn is_doc(path: &str) -> bool {
    matches!(extension(path), "md" | "rst" | "txt" | "adoc" | "html")
        || (extension(path).is_empty()
            && matches!(name(path), "LICENSE" | "README" | "CHANGES" | "NEWS" | "AUTHORS"))
}

/// Whether others wrote it or a program did: copies, lock files, generated code.
pub fn is_foreign(path: &str) -> bool {
    let name = name(path);
    has_folder(path, &["vendor", "node_modules", "third_party", "site-packages", "dist", "_vendor"])
        || matches!(
            name,
            "go.sum"
                | "package-lock.json"
                | "yarn.lock"
                | "poetry.lock"
                | "Cargo.lock"
                | "uv.lock"
                | "pnpm-lock.yaml"
        )
        || name.contains(".min.")
        || name.ends_with(".pb.go")
        || name.ends_with("_pb2.py")
        || matches!(extension(name), "svg" | "po" | "csv" | "snap" | "ipynb")
}

/// Whether it concerns configuration or the command line.
pub fn is_config(path: &str) -> bool {
    let by_name = matches!(
        stem(path),
        "config"
            | "conf"
            | "settings"
            | "options"
            | "flags"
            | "cli"
            | "cmd"
            | "main"
            | "__main__"
            | "cmdline"
            | "default_settings"
            | "global_settings"
            | "pyproject"
            | "setup"
    );
    by_name
        || matches!(extension(path), "toml" | "yaml" | "yml" | "ini" | "cfg")
        || has_folder(path, &["config", "commands"])
        || path.starts_with("cmd/")
}

/// Whether a file is a secret by its name; such a file is never shown.
pub fn is_sensitive(path: &str) -> bool {
    let name = name(path);
    let is_env = name == ".env"
        || name.starts_with(".env.") && !matches!(name, ".env.example" | ".env.sample" | ".env.template");
    is_env
        || name.starts_with("id_rsa")
        || name.starts_with("id_ed25519")
        || name.starts_with("id_ecdsa")
        || matches!(
            name,
            ".netrc" | ".pgpass" | ".npmrc" | ".pypirc" | "credentials" | "kubeconfig" | ".htpasswd"
        )
        || matches!(
            extension(name),
            "pem" | "key" | "p12" | "pfx" | "jks" | "keystore" | "kdbx" | "tfvars" | "ppk"
        )
}

/// The mark of a comment up to the end of its line; empty where there is none.
pub fn comment(path: &str) -> &'static str {
    match extension(path) {
        "go" | "mod" | "js" | "ts" | "tsx" | "jsx" | "rs" | "java" | "c" | "h" | "cc" | "cpp" | "hpp"
        | "cs" | "kt" | "swift" | "scala" | "proto" | "php" => "// ",
        "py" | "pyi" | "rb" | "sh" | "toml" | "yaml" | "yml" | "ini" | "cfg" | "tf" | "mk" => "# ",
        "sql" | "lua" => "-- ",
        _ => "",
    }
}

/// The hint of a fence.
pub fn hint(path: &str) -> &str {
    match (name(path), extension(path)) {
        ("go.mod", _) => "go.mod",
        ("Makefile" | "makefile", _) => "makefile",
        ("Dockerfile", _) => "dockerfile",
        (_, e) => match e {
            "py" | "pyi" => "python",
            "js" | "mjs" | "cjs" | "jsx" => "javascript",
            "ts" => "typescript",
            "tsx" => "typescriptreact",
            "rs" => "rust",
            "rb" => "ruby",
            "md" => "markdown",
            "yml" | "yaml" => "yaml",
            "sh" | "bash" => "shellscript",
            "cc" | "cpp" | "hpp" | "h" => "cpp",
            "cs" => "csharp",
            "kt" => "kotlin",
            "cfg" | "ini" => "ini",
            "tf" | "hcl" => "terraform",
            "txt" => "",
            e if e.chars().all(|c| c.is_ascii_alphanumeric()) => e,
            _ => "",
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_say_what_a_file_is() {
        for (path, test, doc, config, sensitive) in [
            ("a/retry.go", false, false, false, false),
            ("a/retry_test.go", true, false, false, false),
            ("tests/x.py", true, false, false, false),
            ("README.md", false, true, false, false),
            ("cmd/gh/main.go", false, false, true, false),
            ("pkg/settings.py", false, false, true, false),
            (".env", false, false, false, true),
            (".env.example", false, false, false, false),
            ("deploy/server.pem", false, false, false, true),
        ] {
            let found = (is_test(path), is_doc(path), is_config(path), is_sensitive(path));
            assert_eq!(found, (test, doc, config, sensitive), "{path}");
        }
        assert_eq!(
            (hint("a.py"), hint("x/Makefile"), hint("a.zig"), hint("LICENSE")),
            ("python", "makefile", "zig", "")
        );
    }
}
