//! The program `ctl-more`, which `ctl` becomes for commands that need large libraries.

fn main() -> std::process::ExitCode {
    ctlclient::ctl_more()
}
