//! Caches bounded by bytes: of decoded blobs here, of packs in the daemon.

use lru::LruCache;
use std::hash::Hash;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

/// An LRU cache bounded by bytes and by entries.
pub struct Cache<K: Hash + Eq, V: ?Sized> {
    inner: Mutex<Inner<K, V>>,
    bytes_max: usize,
}

struct Inner<K: Hash + Eq, V: ?Sized> {
    lru: LruCache<K, (Arc<V>, usize)>,
    bytes: usize,
}

impl<K: Hash + Eq, V: ?Sized> Cache<K, V> {
    /// An empty cache.
    pub fn new(bytes_max: usize, entries_max: NonZeroUsize) -> Self {
        let lru = LruCache::sparse(entries_max);
        Self { inner: Mutex::new(Inner { lru, bytes: 0 }), bytes_max }
    }

    /// The value under `key`.
    pub fn get(&self, key: &K) -> Option<Arc<V>> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.lru.get(key).map(|(v, _)| Arc::clone(v))
    }

    /// Forgets all values.
    pub fn clear(&self) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.lru.clear();
        inner.bytes = 0;
    }

    /// Keeps a value of about `bytes` bytes; one larger than the whole cache is not kept.
    pub fn put(&self, key: K, value: Arc<V>, bytes: usize) {
        if bytes > self.bytes_max {
            return;
        }
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.bytes += bytes;
        if let Some((_, (_, old))) = inner.lru.push(key, (value, bytes)) {
            inner.bytes -= old;
        }
        while inner.bytes > self.bytes_max
            && let Some((_, (_, bytes))) = inner.lru.pop_lru()
        {
            inner.bytes -= bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forgets_what_was_not_used_for_longest() {
        let cache: Cache<u32, str> = Cache::new(10, NonZeroUsize::MAX);
        for (k, bytes) in [(1, 4), (2, 4), (1, 4), (3, 11)] {
            cache.put(k, Arc::from("x"), bytes);
        }
        assert!(cache.get(&1).is_some() && cache.get(&2).is_some() && cache.get(&3).is_none());
        cache.get(&1);
        cache.put(4, Arc::from("y"), 4);
        assert_eq!([1, 2, 4].map(|k| cache.get(&k).is_some()), [true, false, true]);
        cache.put(4, Arc::from("y"), 2);
        assert_eq!(cache.inner.lock().unwrap().bytes, 6);
        cache.clear();
        cache.put(5, Arc::from("z"), 10);
        assert_eq!([1, 4, 5].map(|k| cache.get(&k).is_some()), [false, false, true]);
    }
}
