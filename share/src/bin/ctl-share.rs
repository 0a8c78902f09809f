//! The program `ctl-share`, which `ctl` becomes for `ctl share`.

fn main() -> std::process::ExitCode {
    ctlclient::ctl_share(indexd_share::command::share)
}
