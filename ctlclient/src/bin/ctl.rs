//! The program `ctl`; see the library beside it.

fn main() -> std::process::ExitCode {
    ctlclient::ctl()
}
