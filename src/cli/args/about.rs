//! The flags about the program itself.

use super::choices::Shell;
use clap::{ArgAction, Args};

pub const VERSION: &str =
    concat!(env!("CARGO_PKG_VERSION"), "\na bzip2-compatible block-sorting file compressor\n", "MIT OR Apache-2.0");

/// bzip2's first line of `--version` and `--help`. Under bzip2's names it comes first, because programs parse it.
pub const BZIP2_LINE: &str = "bzip2, a block-sorting file compressor.  Version 1.0.8, 13-Jul-2019.\n";

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
}
