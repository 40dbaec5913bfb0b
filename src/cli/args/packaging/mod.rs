//! What packagers install beside the program: the manual page and shell completions.
//!
//! The test below makes them from the flags and compares them with the files here. Because they are kept as files, the
//! program does not contain the code that makes them (216 kB), and packagers who build for another machine need not run
//! it. After a change of a flag or of `page.1.in`, this command writes the files again:
//!
//! ```sh
//! HYBZ_GENERATE=1 cargo test --bin hybz packaging
//! ```

use super::flags::Shell;

/// The manual page hybz(1), as roff.
pub const MANUAL_PAGE: &str = include_str!("hybz.1");

/// The completions for hybz, hybunz and hybcat.
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
    use super::*;
    use clap::{Command, CommandFactory};
    use clap_complete::shells::{Bash, Fish, Zsh};
    use clap_complete::{Generator, generate};
    use clap_mangen::Man;
    use std::path::Path;
    use std::{env, fs};

    #[test]
    fn files_are_up_to_date() {
        up_to_date("hybz.1", MANUAL_PAGE, &manual_page());
        for (shell, file, made) in
            [(Shell::Bash, "hybz.bash", bash()), (Shell::Zsh, "hybz.zsh", zsh()), (Shell::Fish, "hybz.fish", fish())]
        {
            up_to_date(file, completions(shell), &made);
        }
    }

    fn up_to_date(file: &str, kept: &str, made: &str) {
        if env::var_os("HYBZ_GENERATE").is_some() {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/cli/args/packaging");
            fs::write(folder.join(file), made).expect("the file can be written");
        } else {
            assert!(kept == made, "{file} is out of date: HYBZ_GENERATE=1 cargo test --bin hybz packaging");
        }
    }

    /// `page.1.in`, with the options in their place.
    fn manual_page() -> String {
        // A text of several paragraphs keeps its full stops, one of a single paragraph has lost its own.
        let command = Flags::command().mut_args(|arg| match (arg.get_long_help(), arg.get_help()) {
            (None, Some(help)) => {
                let sentence = format!("{help}.");
                arg.long_help(sentence)
            }
            _ => arg,
        });
        let mut options = Vec::new();
        Man::new(command).render_options_section(&mut options).expect("memory can be written");
        let options = String::from_utf8(options).expect("help texts are UTF-8");
        include_str!("page.1.in").replace("@VERSION@", env!("CARGO_PKG_VERSION")).replace("@OPTIONS@\n", &options)
    }

    /// The command without the flags that do nothing, or are for experiments only.
    fn command() -> Command {
        let digit = |id: &str| id.len() == 1;
        let shown = Flags::command();
        let shown = shown
            .get_arguments()
            .filter(|arg| arg.is_positional() || digit(arg.get_id().as_str()) || !arg.is_hide_set());
        let shown = shown.cloned().map(|arg| match arg.get_id().to_string() {
            id if arg.get_help().is_none() && digit(&id) => arg.help(format!("Use blocks of {id}00 kB")),
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

    fn bash() -> String {
        replaced(&completions_for_hybz(Bash), "-o default hybz\n", "-o default hybz hybunz hybcat\n")
    }

    fn zsh() -> String {
        let text = replaced(&completions_for_hybz(Zsh), "#compdef hybz\n", "#compdef hybz hybunz hybcat\n");
        replaced(&text, "compdef _hybz hybz\n", "compdef _hybz hybz hybunz hybcat\n")
    }

    fn fish() -> String {
        completions_for_hybz(Fish) + "complete -c hybunz -w hybz\ncomplete -c hybcat -w hybz\n"
    }
}
