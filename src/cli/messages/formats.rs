//! The parts of the command's messages about formats. Everything else about formats is in the library's table.

use hybz::internals::formats::{Blocks, IndexKind};
use hybz::{Damage, Format, Formats};
use hybz_files::quote::shown;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// The number of bytes that `-dcf` examines: the longest magic that a format that is not hybz's own may have.
pub const COPY_HEAD_LEN: usize = 4;

/// The number of first bytes that are enough to recognise every format, including those of other programs.
pub const HEAD_LEN: usize = 262;

/// A format that hybz does not read, and the commands that do.
pub struct Foreign {
    pub name: &'static str,
    pub decompress: String,
    pub test: String,
    pub list: String,
}

/// The format of data that begin with `head`, if hybz does not read that format.
pub fn foreign(head: &[u8]) -> Option<Foreign> {
    let (name, commands) = match head {
        [b'P', b'K', 3, 4, ..] => ("zip", ["unzip", "unzip -t", "unzip -l"].map(str::to_owned)),
        [b'7', b'z', 0xbc, 0xaf, 0x27, 0x1c, ..] => ("7z", ["7z x", "7z t", "7z l"].map(str::to_owned)),
        [0x5d, 0, 0, ..] => ("lzma", ["xz -d", "xz -t", "xz -t"].map(str::to_owned)),
        _ if head.get(257..262) == Some(b"ustar") => ("tar", ["tar -xf", "tar -tf", "tar -tf"].map(str::to_owned)),
        _ => {
            let name = Format::of(head).filter(|&format| !Formats::All.include(format))?.name();
            (name, ["-d", "-t", "-l"].map(|flag| format!("{name} {flag}")))
        }
    };
    let [decompress, test, list] = commands;
    Some(Foreign { name, decompress, test, list })
}

/// The format of a good file that has no streams. Only skippable frames may stand alone; every other file needs a
/// stream to be good.
pub const WITHOUT_STREAMS: Format = Format::Lz4;

/// The format of data that begin with `head`, if hybz reads that format and the data cannot be a `.bz2`.
pub fn other_than_bzip2(head: &[u8]) -> Option<Format> {
    Formats::All.of(head).filter(|&format| format != Format::Bzip2)
}

pub fn native() -> String {
    let usual = |format: Format| format.suffixes().first().map(|(suffix, _)| *suffix);
    Format::all_read().filter(|format| format.is_native()).filter_map(usual).collect::<Vec<_>>().join(" and ")
}

/// The message about a file in which this format was found.
pub fn found(format: Format) -> String {
    match format.suffixes() {
        [(suffix, _), ..] if format.is_native() => format!("has {suffix} streams"),
        _ => format!("is {}", format.file()),
    }
}

pub fn no_index(format: Format, name: &OsStr) -> Vec<u8> {
    let why = match format {
        Format::Lz4 => " has LZ4 frames, which contain their own indexes".to_owned(),
        _ => match format.index() {
            IndexKind::Within(_) => format!(" {}, which contain their own indexes", found(format)),
            _ => format!(" {}, which has no blocks", found(format)),
        },
    };
    [shown(name).as_bytes(), why.as_bytes(), b": no index is written"].concat()
}

/// Whether the damage is in a format whose blocks `has` accepts.
pub fn is_of(damage: &Damage, has: impl Fn(Blocks) -> bool) -> bool {
    damage.format().is_some_and(|format| has(format.blocks()))
}
