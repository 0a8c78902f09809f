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
    let control = read("packaging/debian/control");
    for field in [
        "Package: indexd",
        "Version: @VERSION@",
        "Architecture: @ARCH@",
        "libc6 (>= @GLIBC@)",
        "Description: ",
    ] {
        assert!(control.contains(field), "{field}");
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
