//! What the packages say of themselves, without building any; `scripts/package.sh --test` does that.

use serde_json::Value;
use std::fs;
use std::path::Path;

fn read(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    fs::read_to_string(root.join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

#[test]
fn versions_and_licences_agree() {
    let workspace: toml::Table = read("Cargo.toml").parse().unwrap();
    let package = &workspace["workspace"]["package"];
    let npm: Value = serde_json::from_str(&read("packaging/npm/package.json")).unwrap();
    assert_eq!(npm["version"].as_str(), package["version"].as_str());
    assert_eq!(npm["license"].as_str(), package["license"].as_str());
    for program in ["ctl", "indexd"] {
        assert_eq!(npm["bin"][program].as_str(), Some(format!("bin/{program}").as_str()));
    }
    assert!(read("scripts/wheel.py").contains("License-Expression: MIT OR Apache-2.0"));
    let control = read("packaging/debian/control");
    for field in
        ["Package: indexd", "Version: @VERSION@", "Architecture: @ARCH@", "Depends: @NEEDS@", "Description: "]
    {
        assert!(control.contains(field), "{field}");
    }
}

/// A field that nobody can follow is left out.
#[test]
fn no_manifest_names_an_address_that_is_none() {
    for path in [
        "packaging/npm/package.json",
        "packaging/debian/control",
        "editors/vscode/package.json",
        "editors/emacs/indexd.el",
        "scripts/wheel.py",
        "Cargo.toml",
    ] {
        assert!(!read(path).contains("example.invalid"), "{path}");
    }
}

/// A wheel of small stand-ins for the programs, installed and used; `scripts/package.sh --test` does it with
/// the programs themselves.
#[test]
fn a_wheel_is_installed_with_its_programs_manuals_and_licences() {
    let dir = tempfile::tempdir().unwrap();
    let at = |path: &str| dir.path().join(path);
    for (path, text) in [
        ("bin/ctl", "#!/bin/sh\necho ran \"$1\"\n"),
        ("share/man/man1/ctl.1", ".TH CTL 1\n"),
        ("share/doc/indexd/LICENSE-MIT", "MIT\n"),
        ("share/doc/indexd/LICENSE-APACHE", "Apache\n"),
        ("share/doc/indexd/THIRD-PARTY.txt", "others\n"),
        ("README.md", "# indexd\n"),
    ] {
        fs::create_dir_all(at(path).parent().unwrap()).unwrap();
        fs::write(at(path), text).unwrap();
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let run = |program: &Path, args: &[&str]| {
        let run = std::process::Command::new(program).args(args).current_dir(dir.path()).output().unwrap();
        assert!(run.status.success(), "{args:?}: {}", String::from_utf8_lossy(&run.stderr));
        String::from_utf8(run.stdout).unwrap()
    };
    let write = || run(&root.join("scripts/wheel.py"), &[".", "1.2.3", "2.17", "README.md", "."]);
    let file = write().trim().to_owned();
    let bytes = fs::read(at(&file)).unwrap();
    write();
    assert_eq!(fs::read(at(&file)).unwrap(), bytes, "the same input gives the same bytes");
    run(Path::new("python3"), &["-m", "venv", "env"]);
    run(&at("env/bin/pip"), &["install", "--quiet", "--no-index", "--disable-pip-version-check", &file]);
    assert_eq!(run(&at("env/bin/ctl"), &["pack"]), "ran pack\n");
    assert!(at("env/share/man/man1/ctl.1").is_file());
    let shown = run(&at("env/bin/pip"), &["show", "--files", "--disable-pip-version-check", "indexd"]);
    for said in ["Version: 1.2.3", "licenses/THIRD-PARTY.txt", "bin/ctl"] {
        assert!(shown.contains(said), "{shown}");
    }
}

#[test]
fn the_units_are_those_that_ctl_installs() {
    let service = read("packaging/systemd/indexd.service");
    let own = read("ctlclient/src/commands/service.rs");
    for line in service.lines().filter(|l| l.contains('=') && !l.starts_with("ExecStart")) {
        assert!(own.contains(line), "{line} is not what `ctl service install` writes");
    }
    let socket = read("packaging/systemd/indexd.socket");
    assert!(socket.contains("ListenStream=%t/indexd/s\nSocketMode=0600\nDirectoryMode=0700\n"), "{socket}");
}
