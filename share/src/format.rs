//! The objects of a store, and the limits that hold for them.

use crate::{Result, ShareError};
use indexd_proto::share::{Piece, Sketch};
use serde::{Deserialize, Serialize};

/// Version of the objects; part of their path and of each of them.
pub const FORMAT: u32 = 1;
/// Layers of a state at most, and pieces of all of them.
pub const LAYERS_MAX: usize = 64;
const PIECES_MAX: usize = 65_536;
/// Bytes of a state as an object, and of its JSON.
pub const STATE_BYTES_MAX: u64 = 16 << 20;
const STATE_RAW_MAX: usize = 64 << 20;
/// Bytes of the rows of all layers at most.
const ROWS_BYTES_MAX: u64 = 128 << 30;
/// Level of zstd.
const LEVEL: i32 = 3;

/// Characters of the id of a commit.
const COMMIT_LEN: usize = 40;

/// The name of an object with these bytes.
pub fn name_of(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// A published index.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// [`FORMAT`].
    pub format: u32,
    /// The commit that the tree was at; none without a repository of git.
    pub commit: Option<String>,
    /// Number of files of the tree, and a sample of them.
    pub sketch: Sketch,
    /// Lowest first.
    pub layers: Vec<Vec<Piece>>,
}

impl State {
    /// Bytes of the objects of all pieces.
    pub fn stored(&self) -> u64 {
        self.pieces().map(|piece| piece.stored).sum()
    }

    /// The name of the state in its repository: its commit, or, without one, a hash of its pieces.
    pub fn name(&self) -> String {
        self.commit.clone().unwrap_or_else(|| self.sum()[..COMMIT_LEN].to_owned())
    }

    /// A hash of its pieces.
    pub fn sum(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        for piece in self.pieces() {
            hasher.update(piece.name.as_bytes());
        }
        hasher.finalize().to_hex().to_string()
    }

    /// The pieces of all layers.
    pub fn pieces(&self) -> impl Iterator<Item = &Piece> {
        self.layers.iter().flatten()
    }

    /// The object.
    ///
    /// # Errors
    /// [`ShareError::Damaged`] when it is larger than it may be.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let json = serde_json::to_vec(self).map_err(|e| ShareError::Damaged(e.to_string()))?;
        let object = compress(&json).map_err(|e| ShareError::Damaged(e.to_string()))?;
        let fits = object.len() as u64 <= STATE_BYTES_MAX && json.len() <= STATE_RAW_MAX && self.is_sound();
        fits.then_some(object).ok_or_else(|| ShareError::Damaged("the index is too large".to_owned()))
    }

    /// Reads an object. `None` for other bytes, and for a state with impossible numbers.
    pub fn decode(object: &[u8]) -> Option<Self> {
        let state: Self = serde_json::from_slice(&decompress(object, STATE_RAW_MAX)?).ok()?;
        state.is_sound().then_some(state)
    }

    fn is_sound(&self) -> bool {
        let raw = self.pieces().fold(0_u64, |sum, piece| sum.saturating_add(piece.raw));
        self.format == FORMAT
            && (1..=LAYERS_MAX).contains(&self.layers.len())
            && self.pieces().count() <= PIECES_MAX
            && self.pieces().all(Piece::is_sound)
            && raw <= ROWS_BYTES_MAX
            && self.commit.as_deref().is_none_or(is_commit)
            && self.sketch.is_sound()
    }
}

/// True if a text is the id of a commit.
pub fn is_commit(text: &str) -> bool {
    text.len() == COMMIT_LEN && text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'a'..=b'f'))
}

/// Compresses an object.
pub fn compress(raw: &[u8]) -> std::io::Result<Vec<u8>> {
    zstd::bulk::compress(raw, LEVEL)
}

/// The largest window of a frame, as a power of two: what [`compress`] makes has less.
const WINDOW_LOG_MAX: u32 = 24;

/// Undoes [`compress`], for at most `max` bytes; `None` for other bytes and for more.
pub fn decompress(object: &[u8], max: usize) -> Option<Vec<u8>> {
    let mut decoder = zstd::stream::read::Decoder::with_buffer(object).ok()?.single_frame();
    decoder.window_log_max(WINDOW_LOG_MAX).ok()?;
    let mut raw = Vec::new();
    let mut limited = std::io::Read::take(&mut decoder, max as u64 + 1);
    std::io::Read::read_to_end(&mut limited, &mut raw).ok()?;
    (raw.len() <= max && decoder.finish().is_empty()).then_some(raw)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn state() -> State {
        let piece = |i: u8| Piece { name: name_of(&[i]), stored: 900, raw: 1_000 };
        State {
            format: FORMAT,
            commit: Some("0123456789abcdef0123456789abcdef01234567".to_owned()),
            sketch: Sketch { n_files: 2, least: vec![1, 2] },
            layers: vec![vec![piece(0), piece(1)], vec![piece(2)]],
        }
    }

    #[test]
    fn a_state_reads_back() {
        assert_eq!(State::decode(&state().encode().unwrap()), Some(state()));
        assert_eq!(state().stored(), 2_700);
    }

    #[test]
    fn a_state_that_says_what_cannot_be_is_none() {
        type Harm = fn(&mut State);
        let harms: [(&str, Harm); 8] = [
            ("another format", |s| s.format = 2),
            ("a name that leads elsewhere", |s| s.layers[0][0].name = format!("../../{}", "a".repeat(58))),
            ("a commit that leads elsewhere", |s| {
                s.commit = Some("../../../../../../../../../../../../../x".into())
            }),
            ("an object larger than its rows", |s| s.layers[0][0].stored = 1 << 40),
            ("a piece larger than there are", |s| s.layers[0][0].raw = 1 << 40),
            ("no layers", |s| s.layers.clear()),
            ("too many layers", |s| s.layers = vec![Vec::new(); LAYERS_MAX + 1]),
            ("a sample that is none", |s| s.sketch.least = vec![2, 1]),
        ];
        for (what, harm) in harms {
            let mut harmed = state();
            harm(&mut harmed);
            let json = serde_json::to_vec(&harmed).unwrap();
            assert_eq!(State::decode(&compress(&json).unwrap()), None, "{what}");
            assert!(harmed.encode().is_err(), "{what}");
        }
    }

    #[test]
    fn a_frame_gives_no_more_than_it_may() {
        let frame = compress(&vec![7; 1 << 20]).unwrap();
        assert!(frame.len() < 1_000);
        assert_eq!(decompress(&frame, 1 << 20).map(|raw| raw.len()), Some(1 << 20));
        assert_eq!(decompress(&frame, (1 << 20) - 1), None, "more than was said");
        assert_eq!(decompress(&frame[..frame.len() - 1], 1 << 20), None, "cut");
        assert_eq!(decompress(&[&frame[..], b"x"].concat(), 1 << 20), None, "something behind it");
    }

    proptest! {
        #[test]
        fn any_bytes_are_no_state(bytes: Vec<u8>) {
            prop_assert!(State::decode(&bytes).is_none());
            prop_assert!(State::decode(&compress(&bytes).unwrap()).is_none());
        }
    }
}
