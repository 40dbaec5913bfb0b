//! The flags `-1` to `-9`. clap's derive would make nine fields; here they are one number, the last level that was
//! typed.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};

const DIGITS: [&str; 9] = ["1", "2", "3", "4", "5", "6", "7", "8", "9"];

/// Which of `-1` to `-9` was typed last, if any.
#[derive(Clone, Copy, Debug)]
pub struct LevelFlags(pub Option<u8>);

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
