//! Sources of a packing whose content comes later, by `context.offer`.
//!
//! A packing waits for all of its sources at once, and for each no longer than that one may take. The moment
//! at which a content came decides, not the one at which it is looked at, so a source that comes too late
//! for itself never rides on the time of another. An offer may come before the packing that asks for it.

use super::backend::Cancel;
use super::dispatch::busy;
use indexd_proto::error::ErrorObject;
use indexd_proto::limits::{HANDLE_BYTES_MAX, SOURCE_WAIT_MS_DEFAULT, SOURCE_WAIT_MS_MAX};
use indexd_proto::sources::{OfferParams, OfferedSource};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Offers that are held before a packing asks for them; the oldest make room.
const HELD_MAX: usize = 256;
/// Bytes of all offers that are held.
const HELD_BYTES_MAX: usize = 16 << 20;
/// Bytes of the other sources of all packings that wait; one alone may have more.
const WAITING_BYTES_MAX: usize = 64 << 20;
/// Time between two looks whether the packing is still wanted.
const LOOK: Duration = Duration::from_millis(20);

/// Offers that came and were not taken yet.
#[derive(Default)]
pub struct Offers {
    state: Mutex<State>,
    came: Condvar,
}

#[derive(Default)]
struct State {
    held: VecDeque<Offer>,
    /// How many packings wait for a name.
    awaited: BTreeMap<String, usize>,
    /// Bytes that those hold meanwhile.
    waiting_bytes: usize,
}

struct Offer {
    handle: String,
    given: Result<String, String>,
    at: Instant,
}

impl Offer {
    fn len(&self) -> usize {
        self.given.as_ref().map_or_else(String::len, String::len)
    }
}

impl Offers {
    /// Takes an offer, in the place of an older one of its name. Says whether a packing waits for it.
    ///
    /// # Errors
    /// `POC_E_INVALID_REQUEST` for a name that is none, and for both or neither of content and failure.
    pub fn put(&self, p: OfferParams) -> Result<bool, ErrorObject> {
        check(&p.handle)?;
        let given = match (p.content, p.failure) {
            (Some(content), None) => Ok(content),
            (None, Some(failure)) => Err(failure),
            _ => return Err(ErrorObject::invalid("an offer has either content or failure")),
        };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.held.retain(|o| o.handle != p.handle);
        let is_awaited = state.awaited.contains_key(&p.handle);
        state.held.push_back(Offer { handle: p.handle, given, at: Instant::now() });
        let bytes = |held: &VecDeque<Offer>| held.iter().map(Offer::len).sum::<usize>();
        while state.held.len() > HELD_MAX || bytes(&state.held) > HELD_BYTES_MAX {
            state.held.pop_front();
        }
        self.came.notify_all();
        Ok(is_awaited)
    }

    /// Fills in the sources whose content comes later; one that did not come in its time has a failure.
    ///
    /// # Errors
    /// `POC_E_INVALID_REQUEST` for a name or time that is none; `POC_E_BUSY` when those that wait hold too
    /// much; cancelled.
    pub fn fill(&self, sources: &mut [OfferedSource], cancel: &Cancel) -> Result<(), ErrorObject> {
        let mut open = open(sources)?;
        let own_bytes = sources.iter().filter_map(|s| s.content.as_ref()).map(String::len).sum::<usize>();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.waiting_bytes > 0 && state.waiting_bytes + own_bytes > WAITING_BYTES_MAX {
            return Err(busy("packings that wait for their sources hold too much".to_owned()));
        }
        state.waiting_bytes += own_bytes;
        for (_, handle, ..) in &open {
            *state.awaited.entry(handle.clone()).or_default() += 1;
        }
        let names: Vec<String> = open.iter().map(|o| o.1.clone()).collect();
        while !cancel.is_cancelled() && !open.is_empty() {
            let now = Instant::now();
            open.retain(|(i, handle, until, limit)| {
                let at = state.held.iter().position(|o| o.handle == *handle);
                let offer = at.and_then(|at| state.held.remove(at));
                let given = match offer {
                    Some(offer) if offer.at <= *until => offer.given,
                    None if now < *until => return true,
                    _ => Err(format!("it took more than {limit} ms")),
                };
                match given {
                    Ok(content) => sources[*i].content = Some(content),
                    Err(why) => sources[*i].failure = Some(why),
                }
                false
            });
            let Some(next) = open.iter().map(|o| o.2).min() else { break };
            let time = next.saturating_duration_since(now).clamp(Duration::from_millis(1), LOOK);
            state = self.came.wait_timeout(state, time).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.waiting_bytes -= own_bytes;
        for name in &names {
            if let Some(n) = state.awaited.get_mut(name) {
                *n -= 1;
            }
        }
        state.awaited.retain(|_, n| *n > 0);
        cancel.check()
    }
}

/// The sources that come later: position, name, moment until which each is waited for, its milliseconds.
fn open(sources: &[OfferedSource]) -> Result<Vec<(usize, String, Instant, u64)>, ErrorObject> {
    let started = Instant::now();
    let mut open = Vec::new();
    for (i, source) in sources.iter().enumerate() {
        let Some(handle) = &source.handle else { continue };
        check(handle)?;
        if source.content.is_some() || source.failure.is_some() {
            return Err(ErrorObject::invalid("a source with a handle has no content or failure of its own"));
        }
        let limit = source.timeout_ms.unwrap_or(SOURCE_WAIT_MS_DEFAULT);
        if limit > SOURCE_WAIT_MS_MAX {
            return Err(ErrorObject::invalid("a source is waited for 60,000 ms at most"));
        }
        open.push((i, handle.clone(), started + Duration::from_millis(limit), limit));
    }
    Ok(open)
}

fn check(handle: &str) -> Result<(), ErrorObject> {
    match handle.len() {
        1..=HANDLE_BYTES_MAX => Ok(()),
        _ => Err(ErrorObject::invalid("a handle has 1 to 64 bytes")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use indexd_proto::error::ErrorCode;

    fn offer(handle: &str, content: &str) -> OfferParams {
        OfferParams { handle: handle.to_owned(), content: Some(content.to_owned()), failure: None }
    }

    fn source(handle: &str, timeout_ms: u64) -> OfferedSource {
        OfferedSource {
            handle: Some(handle.to_owned()),
            timeout_ms: Some(timeout_ms),
            ..OfferedSource::default()
        }
    }

    /// What each source came to.
    fn filled(offers: &Offers, sources: &[(&str, u64)]) -> Vec<Result<String, String>> {
        let mut sources: Vec<OfferedSource> = sources.iter().map(|(h, ms)| source(h, *ms)).collect();
        offers.fill(&mut sources, &Cancel::default()).unwrap();
        sources.into_iter().map(|s| s.content.ok_or_else(|| s.failure.unwrap())).collect()
    }

    #[test]
    fn a_source_may_come_before_while_and_too_late() {
        let offers = Offers::default();
        assert!(!offers.put(offer("early", "e")).unwrap(), "nobody waits yet");
        let failed = OfferParams {
            handle: "failed".to_owned(),
            failure: Some("exit 1".to_owned()),
            ..OfferParams::default()
        };
        offers.put(failed).unwrap();
        let got = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                filled(&offers, &[("early", 60_000), ("later", 60_000), ("never", 1), ("failed", 60_000)])
            });
            // An offer that is awaited is the proof that the packing waits.
            while !offers.put(offer("later", "l")).unwrap() {
                std::thread::yield_now();
                if waiting.is_finished() {
                    break;
                }
            }
            waiting.join().unwrap()
        });
        let late = Err("it took more than 1 ms".to_owned());
        assert_eq!(got, [Ok("e".to_owned()), Ok("l".to_owned()), late, Err("exit 1".to_owned())]);
        assert_eq!(filled(&offers, &[("early", 0)]), [Err("it took more than 0 ms".to_owned())]);
    }

    #[test]
    fn a_source_that_is_late_does_not_ride_on_the_time_of_another() {
        let offers = Offers::default();
        let got = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| filled(&offers, &[("slow", 60_000), ("quick", 1)]));
            let is_awaited = |name: &str| offers.state.lock().unwrap().awaited.contains_key(name);
            while !is_awaited("slow") {
                std::thread::yield_now();
            }
            std::thread::sleep(Duration::from_millis(50));
            offers.put(offer("quick", "q")).unwrap();
            offers.put(offer("slow", "s")).unwrap();
            waiting.join().unwrap()
        });
        assert_eq!(got, [Ok("s".to_owned()), Err("it took more than 1 ms".to_owned())]);
    }

    #[test]
    fn what_is_held_is_bounded() {
        let offers = Offers::default();
        for i in 0..HELD_MAX + 5 {
            offers.put(offer(&format!("{i}"), "x")).unwrap();
        }
        let big = "x".repeat(HELD_BYTES_MAX / 2 + 1);
        assert_eq!(offers.state.lock().unwrap().held.len(), HELD_MAX);
        offers.put(offer("a", &big)).unwrap();
        offers.put(offer("b", &big)).unwrap();
        let held: Vec<String> = offers.state.lock().unwrap().held.iter().map(|o| o.handle.clone()).collect();
        assert_eq!(held, ["b"]);
    }

    #[test]
    fn what_waits_is_bounded() {
        let offers = Offers::default();
        let asked = |bytes: usize| {
            let text = OfferedSource { content: Some("x".repeat(bytes)), ..OfferedSource::default() };
            offers.fill(&mut [text, source("later", 20_000)], &Cancel::default())
        };
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| asked(WAITING_BYTES_MAX + 1));
            while offers.state.lock().unwrap().awaited.is_empty() {
                std::thread::yield_now();
            }
            assert_eq!(asked(1).unwrap_err().data.code, ErrorCode::Busy);
            offers.put(offer("later", "l")).unwrap();
            assert!(waiting.join().unwrap().is_ok());
        });
        assert_eq!(offers.state.lock().unwrap().waiting_bytes, 0);
    }

    #[test]
    fn what_is_no_offer_is_refused() {
        let offers = Offers::default();
        let empty = |handle: &str| OfferParams { handle: handle.to_owned(), ..OfferParams::default() };
        for bad in [offer("", "x"), offer(&"h".repeat(65), "x"), empty("a")] {
            assert_eq!(offers.put(bad).unwrap_err().data.code, ErrorCode::InvalidRequest);
        }
        let mut long = [source("a", SOURCE_WAIT_MS_MAX + 1)];
        assert!(offers.fill(&mut long, &Cancel::default()).is_err());
        let mut both = [OfferedSource { content: Some(String::new()), ..source("a", 1) }];
        assert!(offers.fill(&mut both, &Cancel::default()).is_err());
    }

    #[test]
    fn a_packing_that_waits_can_be_withdrawn() {
        let (offers, cancel) = (Offers::default(), Cancel::default());
        cancel.cancel();
        let mut sources = [source("never", 60_000)];
        assert_eq!(offers.fill(&mut sources, &cancel).unwrap_err().data.code, ErrorCode::Cancelled);
        assert!(offers.state.lock().unwrap().awaited.is_empty());
    }
}
