//! The flags about the program itself.

use super::choices::Shell;
use clap::{ArgAction, Args, ValueHint};
use std::ffi::OsString;

pub const VERSION: &str =
    concat!(env!("CARGO_PKG_VERSION"), "\na bzip2-compatible block-sorting file compressor\n", "MIT OR Apache-2.0");

/// What was typed of these flags.
#[derive(Debug, Args)]
#[group(skip)]
pub struct AboutFlags {
    /// Print the flags of daily use (--help: all flags; --man: all about them).
    #[arg(short, long, action = ArgAction::HelpShort)]
    help: (),

    /// Print version and licence.
    ///
    /// -L and --license mean the same.
    #[arg(short = 'V', visible_short_alias = 'L', long, visible_alias = "license", action = ArgAction::Version)]
    version: (),

    /// Print the manual page hybz(1), as roff.
    #[arg(long)]
    pub man: bool,

    /// Print the completions for SHELL.
    ///
    /// They complete the flags of hybz, hybunz and hybcat.
    #[arg(long, value_name = "SHELL")]
    pub completions: Option<Shell>,

    /// Install hybz below DIR, such as /usr/local: the command, its manual page and its completions.
    ///
    /// They are DIR/bin/hybz, its links hybunz and hybcat, and files in DIR/share. What is there already and was not
    /// put there by this flag is never replaced: then nothing is installed, unless -f is given. Each file gets its name
    /// when it is complete. DIR/share/hybz/installed has their names and checksums, by which a newer hybz knows its
    /// older files and replaces them. With -v there is a line for each file.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub install_to: Option<OsString>,

    /// With --install-to, also install links named bzip2, bunzip2, bzcat and bzip2recover.
    #[arg(long)]
    pub bzip2_names: bool,
}
