//! The output of `-h` and `--help`, made from the table of flags: `-h` prints those of daily use, `--help` all of them
//! in groups, both in the width of the terminal. (clap's own help moves all texts of a group under their flags if one
//! of these is long.)

use clap::{Arg, ArgAction, Command};
use hybz_files::terminal::{width, wrap};

/// The flags of `-h`.
const DAILY: &str = "decompress compress test list stdout output keep force recursive 1 9 threads quiet verbose help \
                     version";

/// A heading and the flags under it.
pub type Group = (&'static str, &'static [&'static str]);

pub const GROUPS: [Group; 10] = [
    ("What is done", &["compress", "decompress", "test", "list", "recover", "bench", "measure"]),
    ("Files", &["stdout", "output", "output_dir", "suffix", "keep", "rm", "force", "no_sync", "no_sparse"]),
    (
        "Many files",
        &["recursive", "cross_file_systems", "filelist", "null", "exclude", "resume", "fail_fast", "keep_going"],
    ),
    ("Compressing", &["1", "9", "small", "format", "block_size", "stream_size", "verify", "perturb", "perturb_seed"]),
    ("Decompressing, and parts of files", &["ranges", "split", "lines", "ignore_trailing_garbage"]),
    ("Indexes", &["index"]),
    ("Threads, memory, GPUs", &["threads", "memory", "gpu", "gpu_required", "gpu_pipeline"]),
    ("Messages", &["quiet", "verbose", "progress", "json", "against"]),
    ("One file on many machines", &["plan", "shard", "plan_file", "join"]),
    ("About hybz", &["help", "version", "man", "completions"]),
];

/// Flags of these groups that are only in the manual page.
pub const MANUAL_ONLY: [&str; 3] = ["keep_going", "perturb_seed", "gpu_pipeline"];

const AFTER: [&str; 3] = [
    "Without files, hybz reads standard input and writes standard output; the file name - means standard input. A \
     program name that contains unzip or hybunz decompresses, and one that contains zcat or hybcat decompresses to \
     standard output. One that contains bzip2recover does what that program does.",
    "The variables BZIP2, BZIP and HYBZ may hold flags, which come before those typed. HYBZ_THREADS is the number of \
     threads where no flag gives one.",
    "Exit codes: 0 success, 1 something could not be read, written or understood, 2 damaged data, 3 a defect in hybz.",
];

/// The longest line, however wide the terminal is.
const MAX_COLUMNS: usize = 120;
/// Texts begin in this column, or on a line of their own if the flag is longer.
const TEXT: usize = 26;

pub fn text(command: &Command, all: bool, columns: usize) -> String {
    let columns = columns.clamp(TEXT + 14, MAX_COLUMNS);
    let mut text = String::new();
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    wrap(&format!("{about}."), 0, 0, columns, &mut text);
    text += "\nUsage: hybz [flags and input files in any order]\n";
    if !all {
        text.push('\n');
        DAILY.split(' ').for_each(|id| flag(command, id, columns, &mut text));
        return text;
    }
    for (title, ids) in GROUPS {
        text += &format!("\n{title}:\n");
        let shown = ids.iter().filter(|id| !MANUAL_ONLY.contains(id));
        shown.for_each(|id| flag(command, id, columns, &mut text));
    }
    for paragraph in AFTER {
        text.push('\n');
        wrap(paragraph, 0, 0, columns, &mut text);
    }
    text
}

fn flag(command: &Command, id: &str, columns: usize, text: &mut String) {
    let Some(arg) = command.get_arguments().find(|arg| arg.get_id() == id) else { return };
    let spelling = spelling(arg);
    *text += &spelling;
    let mut at = width(&spelling);
    if at + 2 > TEXT {
        text.push('\n');
        at = 0;
    }
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let aliases: Vec<String> =
        arg.get_visible_short_aliases().unwrap_or_default().iter().map(char::to_string).collect();
    let aliases = if aliases.is_empty() { String::new() } else { format!(" (also -{})", aliases.join(", -")) };
    wrap(&format!("{help}{aliases}"), at, TEXT, columns, text);
}

/// A flag as it is typed, such as `  -p, --threads <N>`.
fn spelling(arg: &Arg) -> String {
    let short = arg.get_short().map(|short| format!("-{short}"));
    let long = arg.get_long().map(|long| format!("--{long}"));
    let names = match (short, long) {
        (Some(short), Some(long)) => format!("  {short}, {long}"),
        (Some(short), None) => format!("  {short}"),
        (None, long) => format!("      {}", long.unwrap_or_default()),
    };
    let takes_value = matches!(arg.get_action(), ArgAction::Set | ArgAction::Append);
    let value = arg.get_value_names().and_then(<[_]>::first).filter(|_| takes_value);
    match value {
        Some(value) if arg.is_require_equals_set() => format!("{names}[=<{value}>]"),
        Some(value) => format!("{names} <{value}>"),
        None => names,
    }
}

#[cfg(test)]
mod tests {
    use super::super::flags::Flags;
    use super::*;
    use clap::CommandFactory;

    /// Every flag that is not hidden is in one group, and every name in a list is a flag.
    #[test]
    fn each_flag_has_its_place() {
        let command = Flags::command();
        let shown = command.get_arguments().filter(|arg| !arg.is_hide_set() && !arg.is_positional());
        let mut shown: Vec<&str> = shown.map(|arg| arg.get_id().as_str()).collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, ids)| ids.iter().copied()).collect();
        shown.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, shown);
        assert!(DAILY.split(' ').chain(MANUAL_ONLY).all(|id| grouped.contains(&id)));
    }
}
