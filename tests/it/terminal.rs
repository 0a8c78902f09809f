//! A terminal that a program runs on: its screen as a person sees it, and what was typed.

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};
use std::fs::File;
use std::io::{Read, Write};
use std::num::NonZero;
use std::os::unix::ffi::OsStrExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const LINES: NonZero<u16> = NonZero::new(24).unwrap();
const COLUMNS: NonZero<u16> = NonZero::new(80).unwrap();

/// A terminal of 80 columns and 24 lines.
pub struct Terminal {
    ours: File,
    /// The end of the program; kept open, so that its settings can be read after its end.
    theirs: File,
    seen: Arc<Mutex<Seen>>,
}

struct Seen {
    parser: vt100::Parser,
    bytes: Vec<u8>,
}

impl Terminal {
    pub fn new() -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap();
        let theirs = File::options()
            .read(true)
            .write(true)
            .open(std::ffi::OsStr::from_bytes(name.to_bytes()))
            .unwrap();
        tcsetwinsize(&ours, Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let ours = File::from(ours);
        let seen =
            Arc::new(Mutex::new(Seen { parser: vt100::Parser::new(LINES, COLUMNS, 0), bytes: Vec::new() }));
        let (mut reader, to) = (ours.try_clone().unwrap(), Arc::clone(&seen));
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(n) = reader.read(&mut buffer) {
                let mut seen = to.lock().unwrap();
                seen.parser.process(&buffer[..n]);
                seen.bytes.extend_from_slice(&buffer[..n]);
            }
        });
        Self { ours, theirs, seen }
    }

    /// Runs a command in a session of its own on this terminal, with its standard output in a pipe.
    pub fn spawn(&self, command: &Command) -> Child {
        let mut session = Command::new("setsid");
        session.arg("--ctty").arg(command.get_program()).args(command.get_args()).env_clear();
        session.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        session.env("TERM", "xterm-256color").current_dir(command.get_current_dir().unwrap());
        session.stdin(self.theirs.try_clone().unwrap()).stderr(self.theirs.try_clone().unwrap());
        session.stdout(Stdio::piped()).spawn().unwrap()
    }

    /// What a command writes to this terminal, once it has ended.
    pub fn written_by(&self, command: &mut Command) -> Vec<u8> {
        let before = self.bytes().len();
        command.env("TERM", "xterm-256color").stdin(Stdio::null());
        command.stdout(self.theirs.try_clone().unwrap()).stderr(self.theirs.try_clone().unwrap());
        command.status().unwrap();
        // The end of what was written comes after it.
        let mark = b"<end of it>";
        (&self.theirs).write_all(mark).unwrap();
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            let bytes = self.bytes();
            if let Some(at) = bytes[before..].windows(mark.len()).position(|w| w == mark) {
                return bytes[before..before + at].to_vec();
            }
            assert!(Instant::now() < end, "nothing is written");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub fn type_in(&mut self, keys: &str) {
        self.ours.write_all(keys.as_bytes()).unwrap();
    }

    /// What a person sees.
    pub fn screen(&self) -> String {
        self.seen.lock().unwrap().parser.screen().contents()
    }

    /// Whether any letter has a colour.
    pub fn has_colors(&self) -> bool {
        let seen = self.seen.lock().unwrap();
        let cells = (0..24).flat_map(|row| (0..80).map(move |column| (row, column)));
        cells
            .filter_map(|(row, column)| seen.parser.screen().cell(row, column))
            .any(|cell| cell.fgcolor() != vt100::Color::Default || cell.bgcolor() != vt100::Color::Default)
    }

    /// Whether the screen is the one of before, with a cursor.
    pub fn is_given_back(&self) -> bool {
        let seen = self.seen.lock().unwrap();
        !seen.parser.screen().alternate_screen() && !seen.parser.screen().hide_cursor()
    }

    /// Everything that was written to it.
    pub fn bytes(&self) -> Vec<u8> {
        self.seen.lock().unwrap().bytes.clone()
    }

    /// How lines are read and written.
    pub fn settings(&self) -> Termios {
        tcgetattr(&self.theirs).unwrap()
    }

    pub fn until(&self, what: &str, condition: impl Fn(&str) -> bool) {
        let end = Instant::now() + Duration::from_secs(30);
        while !condition(&self.screen()) {
            assert!(Instant::now() < end, "{what}:\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Waits for the end of a program; what it printed.
pub fn ended(mut child: Child) -> (ExitStatus, String) {
    let mut printed = String::new();
    child.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
    (child.wait().unwrap(), printed)
}
