//! The flags, as clap describes them: for `--help`, the manual page and completions. How they are read is in `words`.
//!
//! A flag's text here is what users read about it: its first sentence in `--help`, all of it in the manual page.

use crate::failure::Failure;
use clap::{Arg, ArgAction, Command, ValueHint};
use hybz_files::quote::for_terminal;
use hybz_files::terminal::{USUAL_COLUMNS, width, wrap};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

const VERSION: &str =
    concat!(env!("CARGO_PKG_VERSION"), "\nsorts lines by their bytes, on every core\nMIT OR Apache-2.0");
const AFTER_HELP: [&str; 3] = [
    "Without files, or where a file is -, hysort reads standard input. Lines are sorted by their keys and then by \
     their bytes, whatever the locale is: what comes out is what LC_ALL=C sort writes.",
    "SIZE is a number of KiB, or of the unit that follows: b (bytes), K (1024), M, G, T, P, E, or % of the memory.",
    "The variable TMPDIR names the directory of temporary files. Exit codes: 0 success, 1 lines are out of order (-c, \
     -C), 2 trouble.",
];

/// The long names of GNU sort's flags, in the order of its messages.
const GNU: &str = "ignore-leading-blanks check compress-program debug dictionary-order ignore-case files0-from \
     general-numeric-sort ignore-nonprinting key merge month-sort numeric-sort human-numeric-sort version-sort \
     random-sort random-source sort output reverse stable batch-size buffer-size field-separator \
     temporary-directory unique zero-terminated parallel help version";

/// The flags, as `--help` shows them, and their texts.
fn flags() -> impl Iterator<Item = (&'static str, String)> {
    include_str!("flags.txt").split("# ").skip(1).map(|flag| {
        let (name, text) = flag.split_once('\n').unwrap_or_default();
        let paragraph = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        (name, text.trim_end().split("\n\n").map(paragraph).collect::<Vec<_>>().join("\n\n"))
    })
}

const FOR_PACKAGERS: [(&str, &str); 2] = [
    ("--man", "Print the manual page hysort(1), as roff."),
    ("--completions SHELL", "Print the completions for SHELL: bash, zsh or fish."),
];

/// The index of a long name among GNU sort's; `None` if GNU sort has no such flag.
pub fn index_in_gnu(long: &str) -> Option<usize> {
    GNU.split(' ').position(|name| name == long)
}

/// The message that explains hysort's order to users who ask for another.
pub fn refused(typed: &OsStr) -> Failure {
    let why = match typed.as_bytes() {
        b"-R" | b"--random-source" => ": hysort has no random order; use sort or shuf",
        _ => "; use sort",
    };
    let typed = for_terminal(typed, true);
    Failure::usage([typed.as_bytes(), b" is not supported", why.as_bytes()].concat())
}

/// The flags of hysort.
pub fn command() -> Command {
    // These flags are refused, the first only if a key takes it.
    let refused = ["-R, --random-sort", "--random-source FILE", "--debug"];
    Command::new("hysort")
        .version(VERSION)
        .about("Sorts lines by their bytes on every core, as LC_ALL=C sort does.")
        .disable_help_flag(true)
        .disable_version_flag(true)
        .arg(Arg::new("files").num_args(0..).value_name("FILE").value_hint(ValueHint::FilePath).hide(true))
        .args(flags().map(|(flag, help)| arg(flag, help)))
        .args(FOR_PACKAGERS.map(|(flag, help)| arg(flag, help.to_owned()).help_heading("For packagers")))
        .args(refused.map(|flag| arg(flag, String::new()).hide(true)))
}

/// The text of `--help` in lines of at most `columns`. (clap breaks lines only if a feature asks the terminal.)
pub fn help(command: &Command, columns: usize) -> String {
    const TEXT: usize = 26;
    let columns = columns.clamp(TEXT + 14, USUAL_COLUMNS);
    let mut text = String::new();
    wrap(&command.get_about().map(ToString::to_string).unwrap_or_default(), 0, 0, columns, &mut text);
    text += "\nUsage: hysort [flags and files in any order]\n";
    let mut heading = "";
    for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
        let of_arg = arg.get_help_heading().unwrap_or("Options");
        if heading != of_arg {
            heading = of_arg;
            text += &format!("\n{of_arg}:\n");
        }
        let short = arg.get_short().filter(|_| arg.get_long().is_some());
        let blanks = if arg.get_long().is_some() { "      " } else { "  " };
        let flag = short.map_or(format!("{blanks}{arg}"), |short| format!("  -{short}, {arg}"));
        text += &flag;
        let mut at = width(&flag);
        if at + 2 > TEXT {
            text.push('\n');
            at = 0;
        }
        wrap(&arg.get_help().map(ToString::to_string).unwrap_or_default(), at, TEXT, columns, &mut text);
    }
    for paragraph in AFTER_HELP {
        text.push('\n');
        wrap(paragraph, 0, 0, columns, &mut text);
    }
    text
}

/// A flag of a row. The first paragraph of its text is the short help.
fn arg(flag: &'static str, help: String) -> Arg {
    let mut arg = Arg::new("quiet-check"); // the only flag without a long name
    for word in flag.split_ascii_whitespace() {
        let word = word.trim_end_matches(',');
        arg = if let Some(long) = word.strip_prefix("--") {
            arg.id(long).long(long).action(ArgAction::SetTrue)
        } else if let Some(letter) = word.strip_prefix('-') {
            letter.chars().fold(arg, Arg::short).action(ArgAction::SetTrue)
        } else {
            let name = word.trim_matches(['[', '=', ']']);
            let hint = match name {
                "FILE" => ValueHint::FilePath,
                "DIR" => ValueHint::DirPath,
                _ => ValueHint::Unknown,
            };
            let is_optional = name != word;
            let arg = arg.action(ArgAction::Set).value_name(name).value_hint(hint).require_equals(is_optional);
            if is_optional { arg.num_args(0..=1) } else { arg.num_args(1) }
        };
    }
    match help.split_once("\n\n") {
        Some((short, _)) => arg.help(short.trim_end_matches('.').to_owned()).long_help(help),
        None => arg.help(help.trim_end_matches('.').to_owned()),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn clap_agrees() {
        super::command().debug_assert();
    }

    #[test]
    fn help_fits_the_terminal() {
        let mut command = super::command();
        command.build();
        for (columns, most) in [(60, 60), (80, 80), (137, 80)] {
            let text = super::help(&command, columns);
            let widest = text.lines().map(super::width).max();
            assert!(widest <= Some(most), "{widest:?} of {columns}: {text}");
        }
    }

    #[test]
    fn every_flag_of_gnu_is_known() {
        let command = super::command();
        for name in super::GNU.split(' ') {
            assert!(command.get_arguments().any(|arg| arg.get_long() == Some(name)), "{name}");
        }
    }
}
