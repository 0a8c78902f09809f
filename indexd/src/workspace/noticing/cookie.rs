//! Freshness: proof that the watcher has caught up.
//!
//! A cookie is a file made in a folder of the daemon's own, watched by the same watcher as the tree.
//! The system queues events in order, so when the cookie's own event comes back, every change made
//! before the cookie has been noticed. Only a cookie made after a request arrived proves anything to
//! that request; requests that arrive together share one. Nothing is written into the repository.

use super::clock::Clock;
use crate::workspace::status::Freshness;
use crossbeam_channel::Sender;
use indexd_proto::workspace::Failure;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The answer to a waiting request: the freshness of the index, or the failure of a workspace that has none.
pub type Answer = Result<Freshness, Failure>;

/// A request that waits until every change made before it is in the index.
pub struct Waiter {
    /// Time at which the request came in.
    pub arrived: Instant,
    /// Takes the answer; the request may have ended.
    pub reply: Sender<Answer>,
}

struct Cookie {
    path: PathBuf,
    made: Instant,
}

/// The waiting requests and the pending cookies.
pub struct Cookies {
    dir: PathBuf,
    n_made: u64,
    under_way: Vec<Cookie>,
    waiters: Vec<Waiter>,
}

impl Cookies {
    /// Uses `dir`, which must exist and belong to this user alone.
    pub fn new(dir: PathBuf) -> Self {
        Self { dir, n_made: 0, under_way: Vec::new(), waiters: Vec::new() }
    }

    /// The folder to watch.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Adds a request.
    pub fn wait(&mut self, waiter: Waiter) {
        self.waiters.push(waiter);
    }

    /// Returns true if a request waits.
    pub fn is_wanted(&self) -> bool {
        !self.waiters.is_empty()
    }

    /// Makes a cookie if a waiting request is not covered by a pending one.
    ///
    /// # Errors
    /// The file cannot be made; no request is covered then.
    pub fn make(&mut self, clock: &Clock) -> std::io::Result<()> {
        let covered = self.under_way.iter().map(|c| c.made).max();
        if !self.waiters.iter().any(|w| covered.is_none_or(|made| w.arrived > made)) {
            return Ok(());
        }
        self.n_made += 1;
        let path = self.dir.join(format!("c{}", self.n_made));
        // The time is taken before the file is made: what counts is that both come after the request.
        let made = clock.now();
        indexd_os::faults::before("create", &path.to_string_lossy())?;
        File::create(&path)?;
        self.under_way.push(Cookie { path, made });
        Ok(())
    }

    /// Handles a noticed path below the folder. If it is a cookie, returns its creation time, up to which
    /// every change has now been noticed.
    pub fn returned(&mut self, path: &Path) -> Option<Instant> {
        let at = self.under_way.iter().position(|c| c.path == path)?;
        let made = self.under_way[at].made;
        // Earlier cookies are covered by this one.
        for cookie in self.under_way.extract_if(.., |c| c.made <= made) {
            let _ = fs::remove_file(&cookie.path);
        }
        Some(made)
    }

    /// When the oldest cookie under way has been waited for long enough.
    pub fn due(&self, patience: Duration) -> Option<Instant> {
        self.under_way.iter().map(|c| c.made + patience).min()
    }

    /// Removes the cookies that are pending.
    pub fn give_up(&mut self) {
        for cookie in self.under_way.drain(..) {
            let _ = fs::remove_file(&cookie.path);
        }
    }

    /// Answers every request that arrived at `until` or before.
    pub fn answer(&mut self, until: Instant, answer: &Answer) {
        for waiter in self.waiters.extract_if(.., |w| w.arrived <= until) {
            // A request that has ended does not receive it.
            let _ = waiter.reply.send(answer.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use indexd_proto::workspace::How;

    fn fresh() -> Answer {
        Ok(Freshness { fresh: true, generation: 1, pending: 0, how: How::Cookie })
    }

    fn waiter() -> (Waiter, crossbeam_channel::Receiver<Answer>) {
        let (reply, answer) = crossbeam_channel::bounded(1);
        (Waiter { arrived: Instant::now(), reply }, answer)
    }

    #[test]
    fn only_a_cookie_made_after_the_request_counts() {
        let tmp = tempfile::tempdir().unwrap();
        let mut cookies = Cookies::new(tmp.path().to_owned());
        let (first, first_answer) = waiter();
        let (second, second_answer) = waiter();
        cookies.wait(first);
        cookies.wait(second);
        cookies.make(&Clock::System).unwrap();
        cookies.make(&Clock::System).unwrap();
        assert_eq!(fs::read_dir(tmp.path()).unwrap().count(), 1, "requests that arrive together share one");
        std::thread::sleep(Duration::from_millis(1));
        let (late, late_answer) = waiter();
        cookies.wait(late);
        cookies.make(&Clock::System).unwrap();

        let until = cookies.returned(&tmp.path().join("c1")).unwrap();
        cookies.answer(until, &fresh());
        assert!(first_answer.try_recv().is_ok() && second_answer.try_recv().is_ok());
        assert!(late_answer.try_recv().is_err(), "its cookie is still under way");
        assert_eq!(cookies.returned(&tmp.path().join("other")), None);
        let until = cookies.returned(&tmp.path().join("c2")).unwrap();
        cookies.answer(until, &fresh());
        assert!(late_answer.try_recv().is_ok());
        assert_eq!(fs::read_dir(tmp.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_later_cookie_covers_the_earlier_ones() {
        let tmp = tempfile::tempdir().unwrap();
        let mut cookies = Cookies::new(tmp.path().to_owned());
        for _ in 0..2 {
            cookies.wait(waiter().0);
            cookies.make(&Clock::System).unwrap();
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(cookies.due(Duration::ZERO).is_some());
        cookies.returned(&tmp.path().join("c2")).unwrap();
        assert_eq!(cookies.due(Duration::ZERO), None);
    }
}
