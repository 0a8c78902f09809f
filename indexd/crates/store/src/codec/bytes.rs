//! Variable-length integers (LEB128).

/// Appends `x`, seven bits a byte, least significant first.
pub(crate) fn put(out: &mut Vec<u8>, mut x: u64) {
    while x >= 0x80 {
        out.push(x as u8 | 0x80);
        x >>= 7;
    }
    out.push(x as u8);
}

/// Appends the difference of two 32-bit numbers; small magnitudes are short.
pub(crate) fn put_delta(out: &mut Vec<u8>, x: u32, from: u32) {
    let delta = i64::from(x) - i64::from(from);
    put(out, ((delta << 1) ^ (delta >> 63)) as u64);
}

/// Reads values written by the functions above. Every method returns `None` on invalid bytes.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Creates a reader at the first byte.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// Returns true if everything is read.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The bytes not read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.bytes
    }

    /// One byte.
    #[inline]
    pub fn byte(&mut self) -> Option<u8> {
        let (&b, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(b)
    }

    /// An integer.
    #[inline]
    pub fn u64(&mut self) -> Option<u64> {
        let mut x = 0;
        for shift in (0..64).step_by(7) {
            let b = self.byte()?;
            x |= u64::from(b & 0x7f) << shift;
            if b < 0x80 {
                return Some(x);
            }
        }
        None
    }

    /// An integer that fits in 32 bits.
    #[inline]
    pub fn u32(&mut self) -> Option<u32> {
        if let Some((&b, rest)) = self.bytes.split_first()
            && b < 0x80
        {
            self.bytes = rest;
            return Some(u32::from(b));
        }
        self.u64()?.try_into().ok()
    }

    /// A 32-bit number written as a difference from `from`.
    #[inline]
    pub fn delta(&mut self, from: u32) -> Option<u32> {
        let x = self.u64()?;
        let delta = (x >> 1) as i64 ^ -((x & 1) as i64);
        delta.checked_add(i64::from(from))?.try_into().ok()
    }

    /// `n` bytes.
    pub fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (a, rest) = self.bytes.split_at_checked(n)?;
        self.bytes = rest;
        Some(a)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn reads_back_what_was_written(xs: Vec<u64>, ds: Vec<(u32, u32)>) {
            let mut out = Vec::new();
            xs.iter().for_each(|x| put(&mut out, *x));
            ds.iter().for_each(|(x, from)| put_delta(&mut out, *x, *from));
            let mut r = Reader::new(&out);
            for x in xs {
                prop_assert_eq!(r.u64(), Some(x));
            }
            for (x, from) in ds {
                prop_assert_eq!(r.delta(from), Some(x));
            }
            prop_assert!(r.is_empty() && r.byte().is_none());
        }

        #[test]
        fn refuses_garbage_without_panic(bytes: Vec<u8>) {
            let mut r = Reader::new(&bytes);
            while r.u64().is_some() && r.delta(7).is_some() {}
        }
    }
}
