//! Conventions of paths: the language of a file and its part in the repository.
//!
//! The rules are conventions that someone new to the repository would expect. They read only the path inside
//! the workspace, so moving a checkout changes nothing.

use crate::lists::holds;
use crate::path::{dir_of, extension_of, file_name_of, stem_of};
use crate::{FileRoles, Language};

/// The language of a file by its path.
pub fn language(path: &str) -> Language {
    let name = file_name_of(path);
    match name {
        "go.mod" => return Language::GoMod,
        "go.work" => return Language::GoWork,
        "Makefile" | "makefile" | "GNUmakefile" => return Language::Make,
        "Pipfile" => return Language::Toml,
        ".editorconfig" | ".gitconfig" | ".gitmodules" | ".coveragerc" | ".flake8" | ".pylintrc" => {
            return Language::Ini;
        }
        _ => {}
    }
    Language::of_ending(extension_of(name))
}

/// The roles according to the path alone.
pub fn path_roles(path: &str, language: Language) -> FileRoles {
    let name = file_name_of(path);
    let mut roles = FileRoles::default();
    let mut set = |is: bool, role: FileRoles| {
        if is {
            roles = roles.with(role);
        }
    };
    set(is_test(path, name, language), FileRoles::TEST);
    set(is_generated_name(name), FileRoles::GENERATED);
    set(folders(path).any(is_vendor_folder), FileRoles::VENDORED);
    set(is_config(path, name, language), FileRoles::CONFIG);
    set(is_doc(path, name, language), FileRoles::DOC);
    set(is_manifest(name), FileRoles::MANIFEST);
    set(is_sensitive_name(path), FileRoles::SENSITIVE);
    set(is_example(path, name, language), FileRoles::EXAMPLE);
    roles
}

fn folders(path: &str) -> impl Iterator<Item = &str> {
    dir_of(path).split('/')
}

/// Returns true if a path is below a folder, or is the folder.
fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn is_test(path: &str, name: &str, language: Language) -> bool {
    let stem = stem_of(name);
    match language {
        Language::Go => stem.ends_with("_test") || folders(path).any(|f| f == "testdata"),
        Language::Python => {
            stem.starts_with("test_")
                || stem.ends_with("_test")
                || matches!(stem, "conftest" | "tests")
                // Inside a package, `test` is a module of tools for tests.
                || (stem == "test" && folders(path).all(str::is_empty))
                || in_test_folder(path)
        }
        _ => {
            let marked = |s: &str| matches!(s, "test" | "spec" | "tests" | "unittest" | "unittests");
            stem.rsplit_once('.').is_some_and(|(_, last)| marked(last))
                || stem.rsplit_once('_').is_some_and(|(_, last)| marked(last))
                || stem.starts_with("test_")
                || is_test_class(stem)
                || in_test_folder(path)
                || in_test_sources(path)
        }
    }
}

/// Names of files after the class in them: `ParserTest`, `ParserTests`, `ParserSpec`, `TestParser`, but not
/// `Latest` or `ABTest`.
fn is_test_class(stem: &str) -> bool {
    let is_small = |c: char| c.is_lowercase() || c.is_ascii_digit();
    let ends = |word: &str| stem.strip_suffix(word).is_some_and(|s| s.ends_with(is_small));
    let begins = |word: &str| stem.strip_prefix(word).is_some_and(|s| s.starts_with(char::is_uppercase));
    ["Test", "Tests", "TestCase", "Spec", "Specs"].into_iter().any(ends) || begins("Test")
}

/// Gradle's and Maven's folders of sources: `src/test`, `src/androidTest`, `src/testFixtures`.
fn in_test_sources(path: &str) -> bool {
    let mut is_below_src = false;
    folders(path).any(|f| {
        let is_test = f == "test" || f.ends_with("Test") || f == "testFixtures";
        std::mem::replace(&mut is_below_src, f == "src") && is_test
    })
}

/// `tests` anywhere; `test` at the root only, since packages of that name hold test *tools*.
fn in_test_folder(path: &str) -> bool {
    folders(path)
        .enumerate()
        .any(|(i, f)| matches!(f, "tests" | "testdata" | "__tests__" | "spec") || (i == 0 && f == "test"))
}

fn is_vendor_folder(folder: &str) -> bool {
    const NAMES: &str = "vendor _vendor vendored third_party third-party \
        thirdparty 3rdparty 3rd-party 3rd_party node_modules bower_components site-packages Godeps";
    holds(NAMES, folder)
}

fn is_generated_name(name: &str) -> bool {
    const ENDS: &str = ".pb.go _pb2.py _pb2.pyi _pb2_grpc.py .min.js .min.css .js.map .css.map .lock";
    const LOCKS: &str = "go.sum go.work.sum package-lock.json npm-shrinkwrap.json pnpm-lock.yaml bun.lockb";
    ENDS.split_ascii_whitespace().any(|end| name.ends_with(end)) || holds(LOCKS, name)
}

fn is_config(path: &str, name: &str, language: Language) -> bool {
    use Language::{GoMod, GoWork, Ini, Json, Make, Toml, Yaml};
    matches!(language, GoMod | GoWork | Ini | Json | Make | Toml | Yaml)
        || name.starts_with('.')
        || name.starts_with("Dockerfile")
        || name.ends_with(".dockerfile")
        || matches!(
            name,
            "CMakeLists.txt" | "Jenkinsfile" | "Procfile" | "Vagrantfile" | "CODEOWNERS" | "justfile"
        )
        || matches!(extension_of(name), "tf" | "gradle" | "cmake" | "bazel" | "bzl" | "nix" | "env")
        || folders(path).next().is_some_and(|f| matches!(f, ".github" | ".gitlab" | ".circleci"))
}

fn is_doc(path: &str, name: &str, language: Language) -> bool {
    if language == Language::Markdown || matches!(extension_of(name), "rst" | "adoc" | "asciidoc") {
        return true;
    }
    let is_prose = language == Language::Text && matches!(extension_of(name), "" | "txt" | "html");
    const KNOWN: &str = "readme changelog changes history license licence contributing authors notice news";
    let stem = stem_of(name).to_ascii_lowercase();
    is_prose && (holds(KNOWN, &stem) || folders(path).any(|f| matches!(f, "doc" | "docs" | "documentation")))
}

fn is_manifest(name: &str) -> bool {
    const NAMES: &str = "go.mod go.work pyproject.toml setup.py setup.cfg Pipfile environment.yml \
        package.json Cargo.toml pom.xml build.gradle build.gradle.kts settings.gradle Gemfile composer.json \
        CMakeLists.txt deno.json";
    holds(NAMES, name) || (name.starts_with("requirements") && name.ends_with(".txt"))
}

fn is_example(path: &str, name: &str, language: Language) -> bool {
    let in_folder = folders(path).any(|f| {
        matches!(
            f,
            "example" | "examples" | "_example" | "_examples" | "demo" | "demos" | "sample" | "samples"
        )
    });
    in_folder || (language == Language::Go && name.starts_with("example_") && name.ends_with("_test.go"))
}

/// Returns true if a path is in a folder of test data that does not contain `from`: nothing outside such a
/// folder imports a file in it by a name alone.
pub fn is_foreign_data(path: &str, from: &str) -> bool {
    const DATA: &str = "fixture fixtures __fixtures__ testdata test-data test_data testfixtures test-fixtures \
        test_fixtures";
    let is_test =
        |f: &str| f.eq_ignore_ascii_case("test") || f.ends_with("Test") || matches!(f, "tests" | "spec");
    let (mut start, mut is_in_test) = (0, false);
    let (mut outer, mut before) = ("", "");
    for folder in folders(path) {
        // A folder of packages has the name of a package.
        if outer == "src" && matches!(folder, "java" | "kotlin" | "scala" | "groovy") {
            return false;
        }
        (outer, before) = (before, folder);
        let end = start + folder.len();
        let is_data = holds(DATA, &folder.to_ascii_lowercase())
            || is_in_test && matches!(folder, "resources" | "data" | "mocks" | "stubs");
        if is_data && !is_below(from, &path[..end]) {
            return true;
        }
        is_in_test |= is_test(folder);
        start = end + 1;
    }
    false
}

/// Returns true if a path is in a folder of tests, examples or documents that does not contain `from`.
pub fn is_aside(path: &str, from: &str) -> bool {
    let (mut start, mut is_aside) = (0, false);
    for folder in folders(path) {
        let end = start + folder.len();
        let is_named = in_test_folder(&path[..end + 1])
            || is_vendor_folder(folder)
            || holds(
                "example examples _example _examples demo demos sample samples doc docs benchmarks",
                folder,
            );
        is_aside |= is_named && !is_below(from, &path[..end]);
        start = end + 1;
    }
    is_aside
}

/// Returns true if a file is a secret by its name: never read into chunks, only listed.
pub fn is_sensitive_name(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let name = file_name_of(&lower);
    if let Some(rest) = name.strip_prefix(".env") {
        let harmless = |ext: &str| matches!(ext, "example" | "sample" | "template" | "dist" | "defaults");
        return rest.is_empty() || (rest.starts_with('.') && !rest.rsplit('.').next().is_some_and(harmless));
    }
    const NAMES: &str = "credentials id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk id_ed25519_sk .netrc \
        _netrc .pgpass .my.cnf .htpasswd .npmrc .pypirc .git-credentials .vault-token kubeconfig \
        credentials.json secrets.yml secrets.yaml secrets.toml";
    const PATHS: [&str; 3] = [".aws/credentials", ".docker/config.json", ".kube/config"];
    let at_end =
        |tail: &str| lower == tail || lower.strip_suffix(tail).is_some_and(|rest| rest.ends_with('/'));
    holds(NAMES, name)
        || name == "secrets.json"
        || holds("pem key p12 pfx jks keystore kdbx ppk ovpn tfstate tfvars", extension_of(name))
        || name.contains(".tfstate.")
        || name.ends_with(".tfvars.json")
        || (name.starts_with("service-account") && name.ends_with(".json"))
        || PATHS.iter().any(|tail| at_end(tail))
}

/// Returns true if a file is a secret by its name whatever its content, so that it need not be read.
pub fn is_sensitive_unread(path: &str) -> bool {
    is_sensitive_name(path) && !extension_of(path).eq_ignore_ascii_case("pem")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, expect: &[FileRoles]) {
        let all = expect.iter().fold(FileRoles::default(), |a, r| a.with(*r));
        assert_eq!(path_roles(path, language(path)), all, "{path}");
    }

    #[test]
    fn paths_give_roles() {
        use FileRoles as R;
        check("net/http/server.go", &[]);
        check("net/http/server_test.go", &[R::TEST]);
        check("testing/testing.go", &[]);
        check("django/test/client.py", &[]);
        check("test/client.py", &[R::TEST]);
        check("a/tests/helpers.py", &[R::TEST]);
        check("pkg/test_x.py", &[R::TEST]);
        check("web/app.spec.ts", &[R::TEST]);
        check("core/src/test/java/a/Helper.java", &[R::TEST]);
        check("app/src/androidTest/kotlin/A.kt", &[R::TEST]);
        check("core/src/main/java/test/Runner.java", &[]);
        check("a/ParserTest.java", &[R::TEST]);
        check("a/TestParser.java", &[R::TEST]);
        check("a/Latest.java", &[]);
        check("a/ABTest.java", &[]);
        check("a/Testing.java", &[]);
        check("Tests/ParserTests.swift", &[R::TEST]);
        check("a/ParserSpec.scala", &[R::TEST]);
        check("base/file_unittest.cc", &[R::TEST]);
        check("src/test_parser.c", &[R::TEST]);
        check("vendor/x/y.go", &[R::VENDORED]);
        check("3rd-party/tbb/tbb.h", &[R::VENDORED]);
        check("pip/_vendor/requests/api.py", &[R::VENDORED]);
        check("api/v1/types.pb.go", &[R::GENERATED]);
        check("Cargo.lock", &[R::GENERATED]);
        check("go.sum", &[R::GENERATED]);
        check("go.mod", &[R::CONFIG, R::MANIFEST]);
        check("pyproject.toml", &[R::CONFIG, R::MANIFEST]);
        check("setup.py", &[R::MANIFEST]);
        check("requirements-dev.txt", &[R::MANIFEST]);
        check(".github/workflows/ci.yml", &[R::CONFIG]);
        check("Dockerfile", &[R::CONFIG]);
        check("README.md", &[R::DOC]);
        check("docs/ref/models.txt", &[R::DOC]);
        check("LICENSE", &[R::DOC]);
        check("examples/a/main.go", &[R::EXAMPLE]);
        check("net/example_dial_test.go", &[R::TEST, R::EXAMPLE]);
        check(".env", &[R::CONFIG, R::SENSITIVE]);
    }

    #[test]
    fn data_of_tests_is_for_what_lies_beside_it() {
        for (path, from, expect) in [
            ("tests/fixtures/p/requests/__init__.py", "app/main.py", true),
            ("tests/fixtures/p/requests/__init__.py", "tests/test_a.py", true),
            ("tests/fixtures/p/requests/__init__.py", "tests/fixtures/p/run.py", false),
            ("src/test/resources/org/slf4j/Logger.java", "src/main/java/a/B.java", true),
            ("src/androidTest/resources/A.kt", "src/main/A.kt", true),
            ("src/main/resources/A.java", "src/main/java/B.java", false),
            ("src/test/java/a/mocks/B.java", "src/test/java/a/CTest.java", false),
            ("src/test/java/a/fixtures/B.java", "src/test/java/a/CTest.java", false),
            ("fixtures/p/src/test/java/a/B.java", "src/test/java/a/CTest.java", true),
            ("tests/mocks/a.py", "tests/b.py", true),
            ("compiler/testData/a.kt", "compiler/src/b.kt", true),
            ("fixtures.py", "a.py", false),
            ("fixtures/a.py", "fixtures2/a.py", true),
        ] {
            assert_eq!(is_foreign_data(path, from), expect, "{path} {from}");
        }
        for (path, from, expect) in [
            ("examples/yaml/nodes.py", "app/main.py", true),
            ("examples/yaml/nodes.py", "examples/b.py", false),
            ("a/tests/helpers.py", "a/main.py", true),
            ("a/tests/helpers.py", "a/tests/unit/b.py", false),
            ("src/a.py", "b.py", false),
        ] {
            assert_eq!(is_aside(path, from), expect, "{path} {from}");
        }
    }

    #[test]
    fn secrets_are_known_by_name() {
        for path in [
            ".env",
            "a/.env.local",
            "x/server.PEM",
            "id_rsa",
            "deploy/id_ed25519",
            ".npmrc",
            "home/.aws/credentials",
            ".kube/config",
            "kubeconfig",
            "prod.tfstate",
            "prod.tfstate.backup",
            "a.tfvars",
            "service-account-x.json",
            "credentials.json",
            "gcloud/credentials",
            "config/secrets.yaml",
            "x.ovpn",
            "store.jks",
        ] {
            assert!(is_sensitive_name(path), "{path}");
        }
        for path in [
            ".env.example",
            ".env.local.sample",
            "environment.py",
            "keys.go",
            "id_rsa.pub",
            "aws/credentials.py",
            "config",
            "my.kube/config",
            "tfstate.go",
            "secrets.py",
            "credentials.json.md",
        ] {
            assert!(!is_sensitive_name(path), "{path}");
        }
    }
}
