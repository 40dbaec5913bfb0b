//! What the command, tests, benches and other packages of this repository use and nobody else should: it may change
//! with every version. (Feature `internals`.)
#![allow(missing_docs)]

pub use crate::flaw::Flaw;
pub use crate::read_at::Sequential;

/// The damage that a block has.
pub fn damage(flaw: Flaw) -> crate::Damage {
    crate::error::Damage(flaw)
}

/// The error for a block that begins at `bit_offset` and is damaged.
pub fn damaged(block: u64, bit_offset: u64, flaw: Flaw) -> crate::Error {
    crate::Error::damaged(block, bit_offset, flaw)
}

pub mod bits {
    pub use crate::bits::*;
}
pub mod block {
    pub use crate::block::*;
    pub use crate::error::DecodeError;
}
pub mod codec {
    pub use crate::codec::*;
}
pub mod crc {
    pub use crate::crc::*;
}
pub mod flow {
    pub use crate::flow::here::run_here;
    pub use crate::flow::reading::LONG_FILE;
}
pub mod formats {
    pub use crate::format::{Blocks, IndexKind};
    pub mod bzip2 {
        pub use crate::formats::bzip2::header::*;
    }
    pub mod hbz {
        pub use crate::formats::hbz::codec::*;
        pub use crate::formats::hbz::header::*;
    }
    pub mod lz4 {
        pub use crate::formats::lz4::header::{Header, LEGACY_MAGIC, MAGIC, checksum};
        pub use crate::formats::lz4::index::Index;
        pub use crate::formats::lz4::walk::{Ending, FramePart, Walker};
    }
    pub mod lzw {
        pub use crate::formats::lzw::header::*;
        pub mod copy {
            pub use crate::formats::lzw::copy::*;
        }
        pub mod plain {
            pub use crate::formats::lzw::plain::*;
        }
    }
}
/// Access to devices: what stations of GPUs are made of, here and in hysort.
pub mod gpu {
    pub use crate::station::gpu::Offload;
    pub use hybz_gpu::*;
}
pub mod recover {
    pub use crate::recover::marks::{MagicKind, Mark, Marks};
}
/// The tasks of all formats, for tests of stations.
pub mod tasks {
    pub use crate::formats::bzip2::stream::tasks::*;
    pub use crate::formats::hbz::stream::tasks::*;
    pub use crate::formats::lz4::stream::tasks::*;
    pub use crate::formats::lzw::stream::tasks::*;
}
