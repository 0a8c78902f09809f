//! Services of the operating system beyond plain files: reading beneath a root without being led out of it,
//! listing folders, the boot id, kinds of file systems, free space, core dumps, releasing memory, an
//! inherited socket, ends by a fault.
//!
//! Nearly everything is safe code over `rustix`. Linux has the full implementation; other systems have the
//! plain equivalents where they exist and report where they do not.

#[cfg(unix)]
mod activation;
mod beneath;
pub mod ends;
pub mod faults;
mod limits;
mod listing;
mod memory;
mod process;

#[cfg(unix)]
pub use activation::passed_socket;
pub use beneath::{FileStat, ReadError, Root};
pub use limits::{boot_id, bytes_free, has_reachable_layers, is_kernel_file_system, is_of_kind};
pub use listing::{EntryKind, Folder};
pub use memory::{give_back_memory, private_bytes};
pub use process::{address_space, forbid_core_dumps, inherit_nothing, open_own, own_uid, raise_open_files};
