//! The pieces of published indexes in local files: each is a block of rows as one zstd frame, named by the
//! hash of the frame. Another process fetches and publishes them.

use crate::workspace::threads::pool;
use indexd_proto::share::{Piece, is_object_name};
use indexd_store::{Blocks, Snapshot, StoreError};
use rayon::prelude::*;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::sync_channel;
use std::thread::Scope;

/// Level of zstd. Half of the rows are texts and facts that are compressed already.
const LEVEL: i32 = 3;
/// Pieces of a layer that are unpacked ahead of the reader.
const AHEAD: usize = 2;
/// Bytes of the rows of a piece that is unpacked ahead: eight times what most have.
const AHEAD_BYTES_MAX: u64 = 32 << 20;
/// Bytes of rows of all layers that are read together, one piece of each.
const TOGETHER_BYTES_MAX: u64 = 320 << 20;
/// Blocks that are packed together.
const BATCH: usize = 8;
/// A layer larger than this part (1/2) of the rows below it is not worth one, and neither is a state whose upper
/// layers are. It becomes a new lowest layer, which costs one full push and makes pulls small again.
const LAYER_PART: u64 = 2;

/// The layers of a published index, lowest first, whose pieces are in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layers {
    /// The folder of the files.
    pub folder: PathBuf,
    /// The pieces of each layer in order.
    pub pieces: Vec<Vec<Piece>>,
}

/// Bytes of the rows of the largest piece of a layer.
fn largest(pieces: &[Piece]) -> u64 {
    pieces.iter().map(|piece| piece.raw).max().unwrap_or_default()
}

type Cancelled<'a> = &'a (dyn Fn() -> bool + Sync);

impl Layers {
    /// Returns true if no name of a piece leads out of the folder, and the pieces that are in memory together do
    /// not take the machine's.
    pub fn are_sound(&self) -> bool {
        let is_sound = |piece: &Piece| is_object_name(&piece.name) && piece.is_sound();
        self.pieces.iter().flatten().all(is_sound)
            && self.pieces.iter().map(|layer| largest(layer)).sum::<u64>() <= TOGETHER_BYTES_MAX
    }

    /// The blocks of each layer. A thread for each of them unpacks ahead of the reader.
    pub fn blocks<'s>(&'s self, scope: &'s Scope<'s, '_>, cancelled: Cancelled<'s>) -> Vec<Blocks<'s>> {
        let blocks = |pieces: &'s Vec<Piece>| {
            let ahead = if largest(pieces) <= AHEAD_BYTES_MAX { AHEAD } else { 0 };
            let (sender, receiver) = sync_channel(ahead);
            scope.spawn(move || {
                // The reader has ended when it takes no more.
                let _ = pieces.iter().try_for_each(|piece| sender.send(self.unpack(piece, cancelled)));
            });
            Box::new(move || receiver.recv().ok().transpose()) as Blocks<'s>
        };
        self.pieces.iter().map(blocks).collect()
    }

    fn unpack(&self, piece: &Piece, cancelled: Cancelled) -> Result<Vec<u8>, StoreError> {
        if cancelled() {
            return Err(StoreError::Busy("stopping"));
        }
        let frame = fs::read(self.folder.join(&piece.name))?;
        let block = zstd::bulk::decompress(&frame, usize::try_from(piece.raw).unwrap_or_default());
        let damaged = || StoreError::Corrupt(format!("piece {}", piece.name));
        block.ok().filter(|block| block.len() as u64 == piece.raw).ok_or_else(damaged)
    }

    /// Removes the files of the pieces.
    pub fn remove(&self) {
        for piece in self.pieces.iter().flatten() {
            let _ = fs::remove_file(self.folder.join(&piece.name));
        }
    }

    /// Packs the rows of an index that differ from these layers into further pieces of the folder. Returns
    /// them, and true if they are a layer above these. They hold all rows when the layers are not worth one.
    ///
    /// # Errors
    /// [`StoreError::Io`] or [`StoreError::Full`] from the system, [`StoreError::Corrupt`] for a damaged row,
    /// [`StoreError::Busy`] when `cancelled` says so.
    pub fn pack_above(
        &self,
        snapshot: &Snapshot,
        cancelled: Cancelled,
    ) -> Result<(Vec<Piece>, bool), StoreError> {
        let raw = |layers: &[Vec<Piece>]| layers.iter().flatten().map(|piece| piece.raw).sum::<u64>();
        if let Some((lowest, above)) = self.pieces.split_first() {
            let room = (raw(std::slice::from_ref(lowest)) / LAYER_PART).saturating_sub(raw(above));
            let layer =
                std::thread::scope(|s| self.pack(snapshot, self.blocks(s, cancelled), room, cancelled));
            match layer {
                Ok(Some(layer)) => return Ok((layer, true)),
                // A fetched piece is damaged: all rows are packed.
                Ok(None) | Err(StoreError::Corrupt(_)) => {}
                Err(e) => return Err(e),
            }
        }
        let all = self.pack(snapshot, Vec::new(), u64::MAX, cancelled)?;
        Ok((all.unwrap_or_default(), false))
    }

    /// Packs the rows that the layers `below` have not; `None` when there are more bytes than `bytes_max`.
    fn pack(
        &self,
        snapshot: &Snapshot,
        below: Vec<Blocks>,
        bytes_max: u64,
        cancelled: Cancelled,
    ) -> Result<Option<Vec<Piece>>, StoreError> {
        let (mut pieces, mut batch, mut bytes) = (Vec::new(), Vec::new(), 0);
        let mut pack = |batch: &mut Vec<Vec<u8>>| -> io::Result<()> {
            let blocks = std::mem::take(batch);
            let packed = pool().install(|| blocks.par_iter().map(|block| self.write(block)).collect());
            let packed: io::Result<Vec<Piece>> = packed;
            pieces.extend(packed?);
            Ok(())
        };
        let is_whole = snapshot.write_rows(below, &mut |block| {
            if cancelled() {
                return Err(StoreError::Busy("stopping"));
            }
            bytes += block.len() as u64;
            batch.push(block);
            if batch.len() == BATCH {
                pack(&mut batch)?;
            }
            Ok(bytes <= bytes_max)
        })?;
        pack(&mut batch)?;
        Ok(is_whole.then_some(pieces))
    }

    fn write(&self, block: &[u8]) -> io::Result<Piece> {
        let frame = zstd::bulk::compress(block, LEVEL)?;
        let name = blake3::hash(&frame).to_hex().to_string();
        fs::write(self.folder.join(&name), &frame)?;
        Ok(Piece { name, stored: frame.len() as u64, raw: block.len() as u64 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_that_take_the_memory_together_are_refused() {
        let layers = |n: usize, raw: u64| {
            let piece = Piece { name: "0".repeat(64), stored: 1_000, raw };
            Layers { folder: "rows".into(), pieces: vec![vec![piece]; n] }
        };
        assert!(layers(1, 261 << 20).are_sound(), "one large row");
        assert!(layers(64, 5 << 20).are_sound(), "as many layers as there may be");
        assert!(!layers(2, 261 << 20).are_sound());
        assert!(!layers(64, 6 << 20).are_sound());
    }
}
