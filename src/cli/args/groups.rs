//! Flags that belong together: those about the program itself, and `-1` to `-9`.

use super::choices::Shell;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};

pub const VERSION: &str =
    concat!(env!("CARGO_PKG_VERSION"), "\na bzip2-compatible block-sorting file compressor\n", "MIT OR Apache-2.0");

/// bzip2's first line of `--version` and `--help`. Under bzip2's names it comes first, because programs parse it.
pub const BZIP2_LINE: &str = "bzip2, a block-sorting file compressor.  Version 1.0.8, 13-Jul-2019.\n";

/// What was typed of these flags.
#[derive(Clone, Debug, Default, Args)]
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

/// Which of `-1` to `-9` was typed last, if any. (clap's derive would make nine fields.)
#[derive(Clone, Copy, Debug, Default)]
pub struct LevelFlags(pub Option<u8>);

const DIGITS: [&str; 9] = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];

impl Args for LevelFlags {
    fn augment_args(command: Command) -> Command {
        command.args(DIGITS.map(|digit| {
            let arg = Arg::new(digit).short(digit.chars().next()).action(ArgAction::SetTrue).overrides_with_all(DIGITS);
            match digit {
                "1" => arg.long("fast").help("Use blocks of 100 kB (-2 to -8: of 200 to 800 kB)"),
                "9" => arg.long("best").help("Use blocks of 900 kB (default)"),
                _ => arg.hide(true),
            }
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for LevelFlags {
    fn from_arg_matches(typed: &ArgMatches) -> Result<Self, Error> {
        Ok(LevelFlags((1..).zip(DIGITS).find(|(_, digit)| typed.get_flag(digit)).map(|(level, _)| level)))
    }

    fn update_from_arg_matches(&mut self, typed: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(typed)?;
        Ok(())
    }
}
