//! Links the library that unwinds the stack into `ctl` where that can be: it starts for every request,
//! and to find, map and relocate a shared library is a good part of a start.

use std::env;
use std::path::Path;
use std::process::Command;

/// The static library of GCC that unwinds.
const LIBRARY: &str = "gcc_eh";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |key: &str| env::var(format!("CARGO_CFG_TARGET_{key}")).unwrap_or_default();
    let is_gnu_linux = target("OS") == "linux" && target("ENV") == "gnu";
    let is_native = env::var("HOST") == env::var("TARGET");
    let is_static = target("FEATURE").split(',').any(|f| f == "crt-static");
    if is_gnu_linux && is_native && !is_static && linker_has(&format!("lib{LIBRARY}.a")) {
        println!("cargo::rustc-link-lib=static:-bundle={LIBRARY}");
    }
}

/// Whether the program that links knows where a file is: it prints the path, or else the bare name.
fn linker_has(file: &str) -> bool {
    let linker = env::var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into());
    let printed = Command::new(linker).arg(format!("-print-file-name={file}")).output();
    printed.is_ok_and(|out| {
        let path = String::from_utf8_lossy(&out.stdout);
        let path = Path::new(path.trim());
        path.is_absolute() && path.is_file()
    })
}
