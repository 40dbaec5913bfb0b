//! Flag values that are one of a few words, and `-1` to `-9`.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches, ValueEnum};

/// The part that GPUs do of the work on a block.
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

/// Shells for which there are completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Shell {
    Bash,
    Zsh,
    Fish,
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
