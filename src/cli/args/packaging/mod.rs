//! The files that packagers install with the program: the manual page and shell completions.
//!
//! The options of the manual page and the completions for zsh and fish are made from the flags; the test below makes
//! them again and compares. The completions for bash are written by hand: clap_complete's offer no files for the first
//! word, and do not know that bash splits words at `=`. All of these are kept as files, so the program does not
//! contain the code that makes them (216 kB), and packagers who cross-compile need not run it. After a change to a
//! flag, this command writes the files again:
//!
//! ```sh
//! HYBZ_GENERATE=1 cargo test --bin hybz packaging
//! ```

use super::choices::Shell;

pub const MANUAL_PAGE: &str = include_str!("hybz.1");

pub fn completions(shell: Shell) -> &'static str {
    match shell {
        Shell::Bash => include_str!("hybz.bash"),
        Shell::Zsh => include_str!("hybz.zsh"),
        Shell::Fish => include_str!("hybz.fish"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::flags::Flags;
    use super::super::help::{GROUPS, MANUAL_ONLY};
    use super::*;
    use clap::{Arg, Command, CommandFactory};
    use clap_complete::shells::{Fish, Zsh};
    use clap_complete::{Generator, generate};
    use clap_mangen::Man;
    use std::path::Path;
    use std::{env, fs};

    #[test]
    fn files_are_up_to_date() {
        up_to_date("hybz.1", MANUAL_PAGE, &manual_page());
        up_to_date("hybz.zsh", completions(Shell::Zsh), &zsh());
        up_to_date("hybz.fish", completions(Shell::Fish), &fish());
        let mut suffixes = hybz::Format::all_read().flat_map(hybz::Format::suffixes);
        assert!(suffixes.all(|(suffix, _)| completions(Shell::Bash).contains(&format!("*{suffix}"))));
    }

    fn up_to_date(file: &str, kept: &str, made: &str) {
        if env::var_os("HYBZ_GENERATE").is_some() {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli/args/packaging");
            fs::write(folder.join(file), made).expect("the file can be written");
        } else {
            assert!(kept == made, "{file} is out of date: HYBZ_GENERATE=1 cargo test --bin hybz packaging");
        }
    }

    /// Replaces the text between `before` and `after`.
    fn between(text: &str, before: &str, new: &str, after: &str) -> String {
        let (head, rest) = text.split_once(before).expect(before);
        let (_, tail) = rest.split_once(after).expect(after);
        [head, before, new, after, tail].concat()
    }

    fn manual_page() -> String {
        // clap keeps the full stops of a text of several paragraphs, and drops the full stop of a single paragraph.
        let heading = |id: &str| GROUPS.iter().find(|(_, ids)| ids.contains(&id)).map(|(title, _)| *title);
        let command = Flags::command().mut_args(|arg| {
            let title = heading(arg.get_id().as_str());
            arg.help_heading(title)
        });
        let command = command.mut_args(|arg| match (arg.get_long_help(), arg.get_help()) {
            (None, Some(help)) => {
                let sentence = format!("{help}.");
                arg.long_help(sentence)
            }
            _ => arg,
        });
        let mut options = Vec::new();
        Man::new(command).render_options_section(&mut options).expect("memory can be written");
        let options = String::from_utf8(options).expect("help texts are UTF-8");
        let page = between(MANUAL_PAGE, "\"hybz ", env!("CARGO_PKG_VERSION"), "\" \"User Commands\"");
        // One section with a part for each group.
        between(&page, ".SH OPTIONS\n", &options.replace(".SH ", ".SS "), ".SS Reports\n")
    }

    /// The command without the flags that do nothing or are only for experiments.
    fn command() -> Command {
        let digit = |id: &str| id.len() == 1;
        // Another flag names it in overrides_with, so clap must know it.
        let overridden = |arg: &Arg| arg.get_id() == "no_gpu";
        let rare = |arg: &Arg| MANUAL_ONLY.contains(&arg.get_id().as_str());
        let shown = Flags::command();
        let known =
            |arg: &&Arg| arg.is_positional() || digit(arg.get_id().as_str()) || !arg.is_hide_set() || overridden(arg);
        let shown = shown.get_arguments().filter(known).cloned().map(|arg| match arg.get_id().to_string() {
            id if arg.get_help().is_none() && digit(&id) => arg.help(format!("Use blocks of {id}00 kB")),
            _ if rare(&arg) => arg.hide(true),
            _ => arg,
        });
        Command::new("hybz").version("").disable_help_flag(true).disable_version_flag(true).args(shown)
    }

    fn completions_for_hybz(shell: impl Generator) -> String {
        let mut bytes = Vec::new();
        generate(shell, &mut command(), "hybz", &mut bytes);
        String::from_utf8(bytes).expect("help texts are UTF-8")
    }

    fn replaced(text: &str, from: &str, to: &str) -> String {
        assert!(text.contains(from), "{from:?} is not in the completions");
        text.replace(from, to)
    }

    fn zsh() -> String {
        let text = replaced(&completions_for_hybz(Zsh), "#compdef hybz\n", "#compdef hybz hybunz hybcat\n");
        replaced(&text, "compdef _hybz hybz\n", "compdef _hybz hybz hybunz hybcat\n")
    }

    fn fish() -> String {
        completions_for_hybz(Fish) + "complete -c hybunz -w hybz\ncomplete -c hybcat -w hybz\n"
    }
}
