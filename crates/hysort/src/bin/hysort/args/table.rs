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
const FLAGS: [(&str, &str); 35] = [
    ("-r, --reverse", "Sort in descending order."),
    ("-u, --unique", "Of equal lines, write one (with -c: lines must ascend strictly)."),
    ("-z, --zero-terminated", "A zero byte ends a line, not a newline."),
    (
        "-s, --stable",
        "Keep lines with equal keys in the order in which they came.\n\nWithout it they are sorted by their \
         bytes.",
    ),
    (
        "-k, --key KEY",
        "Sort by a part of each line; it can be given several times.\n\nKEY is F[.C][OPTIONS][,F[.C][OPTIONS]]: \
         from byte C of field F up to byte C of another field, or to the end of that field or of the line. Both \
         count from 1. OPTIONS are the letters of the flags b, d, f, g, h, i, M, n, r and V, for this key alone.",
    ),
    (
        "-t, --field-separator BYTE",
        "BYTE separates fields.\n\nWithout it a field begins with the blanks that separate it from the one before.",
    ),
    ("-n, --numeric-sort", "Compare keys, or lines, as numbers."),
    ("-g, --general-numeric-sort", "Compare as numbers such as 1e-3, 0x1p3 and inf."),
    ("-h, --human-numeric-sort", "Compare as numbers with units: 900, 2K, 1G."),
    ("-M, --month-sort", "Compare as names of months: other text, then JAN to DEC."),
    ("-V, --version-sort", "Compare as versions: a-1.9, a-1.10."),
    (
        "--sort WORD",
        "Compare as WORD says: general-numeric (-g), human-numeric (-h), month (-M), numeric (-n), version (-V).",
    ),
    ("-f, --ignore-case", "Compare lower case letters as upper case."),
    ("-b, --ignore-leading-blanks", "Ignore blanks at the start of keys."),
    ("-d, --dictionary-order", "Compare blanks, letters and digits only."),
    ("-i, --ignore-nonprinting", "Compare printable bytes only."),
    (
        "-c, --check [=HOW]",
        "Check that the input is sorted; do not sort.\n\nThe first line that is out of order is printed to \
         standard error, and the exit code is 1. HOW is diagnose-first (the default), or quiet or silent, which \
         are -C. There may be one input file.",
    ),
    ("-C", "The same as -c, and print nothing."),
    ("-m, --merge", "Merge files that are sorted; do not sort.\n\nIt takes little memory and begins to write at once."),
    (
        "-o, --output FILE",
        "Write to FILE, which may be an input file.\n\nFILE appears, or is replaced, when the result is complete: \
         until then the old file is as it was, whatever ends hysort. The new file has mode, owner and access \
         control list of the old one, and a symbolic link stays. A device or FIFO is written to as it is.",
    ),
    ("--files0-from FILE", "Read the names of the input files from FILE (-: standard input); a zero byte ends each."),
    (
        "-T, --temporary-directory DIR",
        "Put temporary files into DIR, not TMPDIR or /tmp.\n\nIt can be given several times; files then go to all \
         of them in turn. They have no names, so nothing is left of them, whatever ends hysort.",
    ),
    (
        "-S, --buffer-size SIZE",
        "Use SIZE of memory (default: half of what there is).\n\nWhat does not fit goes to temporary files. There \
         is what the machine has, or the container, or what limits of the process (ulimit) allow.",
    ),
    (
        "--parallel N",
        "Use N threads (default: one for each core).\n\nBy default hysort uses as many threads as CPU affinity and \
         the container's CPU quota allow. Without this flag, the variable HYBZ_THREADS may give N (0: the \
         default). The result does not depend on N.",
    ),
    (
        "--batch-size N",
        "With -m, read at most N files at once.\n\nMore are merged in several steps. By default there are as many \
         as the process may have open.",
    ),
    ("--compress-program PROG", "Accepted, without effect: temporary files are not compressed, and a remark says so."),
    (
        "--gpu LIST",
        "Work on these GPUs, too (default: the first).\n\nLIST is as in hybz; with --gpu-required all help by \
         default. A GPU is started when that is worth it: with a gigabyte and more. It gains most on 2 to 16 GB of \
         short lines in regular files.",
    ),
    ("--no-gpu", "The same as --gpu none."),
    ("--gpu-required", "Fail if a GPU is missing, and start it with the first range."),
    (
        "--no-sync",
        "Do not wait for the disk before FILE of -o is replaced.\n\nA power cut may then lose both the old file \
         and the new one.",
    ),
    ("-v, --verbose", "Print what was done: lines, bytes, time, and a table of stations."),
    (
        "--progress",
        "Show progress even if standard error is not a terminal.\n\nOn a terminal it appears after one second.",
    ),
    ("--no-progress", "Never show progress."),
    ("--help", "Print this help."),
    ("--version", "Print version and licence."),
];

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
    // These are refused, the first only if a key takes it.
    let refused = [("-R, --random-sort", ""), ("--random-source FILE", ""), ("--debug", "")];
    Command::new("hysort")
        .version(VERSION)
        .about("Sorts lines by their bytes on every core, as LC_ALL=C sort does.")
        .disable_help_flag(true)
        .disable_version_flag(true)
        .arg(Arg::new("files").num_args(0..).value_name("FILE").value_hint(ValueHint::FilePath).hide(true))
        .args(FLAGS.iter().map(arg))
        .args(FOR_PACKAGERS.iter().map(|row| arg(row).help_heading("For packagers")))
        .args(refused.iter().map(|row| arg(row).hide(true)))
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
fn arg((flag, help): &(&'static str, &'static str)) -> Arg {
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
        Some((short, _)) => arg.help(short.trim_end_matches('.').replace('\n', " ")).long_help(*help),
        None => arg.help(help.trim_end_matches('.')),
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
