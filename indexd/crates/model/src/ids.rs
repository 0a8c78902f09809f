//! Identities. Dense handles (`*Doc`) are valid inside one snapshot only: they never order
//! anything, never leave a snapshot and never reach an output. Everything else survives rebuilds.

use std::fmt;

/// Declares numbers that identify things.
macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident,)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, bitcode::Encode, bitcode::Decode)]
        pub struct $name(pub u32);

        impl $name {
            /// The absent handle.
            pub const NONE: Self = Self(u32::MAX);

            /// Returns `None` for the absent handle.
            pub fn some(self) -> Option<Self> {
                (self != Self::NONE).then_some(self)
            }

            /// The handle as an array index.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}
pub(crate) use handles;

handles! {
    /// Dense handle of a file within one snapshot.
    FileDoc,
    /// Dense handle of a chunk within one snapshot.
    ChunkDoc,
    /// Dense handle of a definition (or of a whole file, as its module) within one snapshot. A save
    /// keeps the handle of a definition as long as its file still has a definition with the same
    /// descriptor and ordinal.
    DefDoc,
}

/// BLAKE3 hash of a file's bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, bitcode::Encode, bitcode::Decode)]
pub struct ContentHash(pub [u8; 32]);

impl ContentHash {
    /// Hashes `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }
}

/// Returns lower-case hexadecimal digits, two for each byte.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes.iter().flat_map(|b| [b >> 4, b & 15]).map(|d| char::from(DIGITS[usize::from(d)])).collect()
}

impl fmt::Display for ContentHash {
    /// Writes `b3:` and 64 hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b3:{}", hex(&self.0))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Identity of a chunk: 128 bits of BLAKE3 over (path, enclosing descriptor, normalised text,
/// ordinal among equals), so that an edit elsewhere in the file does not rename it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChunkUid(pub [u8; 16]);

impl ChunkUid {
    /// Computes the identity of a chunk.
    ///
    /// `descriptor` is the descriptor of the enclosing definition (empty between definitions),
    /// `text` the exact chunk text: trailing blanks of lines and the kind of line end do not count.
    /// `ordinal` counts chunks of the file with equal descriptor and text before this one.
    pub fn of(path: &str, descriptor: &str, text: &str, ordinal: u32) -> Self {
        let mut h = blake3::Hasher::new();
        for part in [path, descriptor] {
            h.update(&(part.len() as u32).to_le_bytes());
            h.update(part.as_bytes());
        }
        h.update(&ordinal.to_le_bytes());
        for line in text.split_terminator('\n') {
            h.update(line.trim_end().as_bytes());
            h.update(b"\n");
        }
        let mut id = [0; 16];
        id.copy_from_slice(&h.finalize().as_bytes()[..16]);
        Self(id)
    }
}

impl fmt::Display for ChunkUid {
    /// Writes `b3:` and 32 hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b3:{}", hex(&self.0))
    }
}

impl fmt::Debug for ChunkUid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Identity of a symbol: `scip:` and a SCIP symbol string, independent of place and build.
/// The grammar is that of `scip.proto` (sourcegraph/scip), `Symbol`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SymbolId(pub String);

impl fmt::Display for SymbolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
