//! Flag values that are one of a few words.

use clap::ValueEnum;

/// Which part of the work on a block GPUs do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GpuPipeline {
    /// GPUs do everything
    Resident,
    /// GPUs sort, and CPU cores do the rest
    Bwt,
    /// GPUs sort two lists, and CPU cores merge them and do the rest
    Hybrid,
}

/// The format to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// bzip2's format
    Bz2,
    /// Large blocks
    Hbz,
    /// LZ4 frames
    Lz4,
}

/// The extent of verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Verified {
    /// Each block
    Blocks,
    /// Each block, and the files as they are on the disk
    File,
    /// Nothing, not even what a GPU made
    None,
}

/// How the good blocks of a damaged file are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Recovery {
    /// Their text
    #[default]
    Text,
    /// Their text, with zeros where text is lost
    Fill,
    /// A valid .bz2
    Bz2,
    /// A .bz2 of each
    Split,
}

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProgressFormat {
    /// A bar, or lines
    Text,
    /// Nothing
    Never,
}

/// Formats of indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum IndexFormat {
    /// The format of docs/INDEX.md
    Bzi,
    /// Lines of BITS,BYTES
    Offsets,
}

/// Shells for which there are completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
}
