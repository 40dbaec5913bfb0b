//! The files that packagers install with the program: the manual page and shell completions. The test below generates
//! them from the flags, and they are kept as files. After a change to a flag or to `page.1.in`, this command writes
//! them again:
//!
//! ```sh
//! HYBZ_GENERATE=1 cargo test -p hysort packaging
//! ```

/// The manual page hysort(1), as roff.
pub const MANUAL_PAGE: &str = include_str!("packaging/hysort.1");

/// The completions for a shell, if there are any.
pub fn completions(shell: &str) -> Option<&'static str> {
    match shell {
        "bash" => Some(include_str!("packaging/hysort.bash")),
        "zsh" => Some(include_str!("packaging/hysort.zsh")),
        "fish" => Some(include_str!("packaging/hysort.fish")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::command;
    use clap::Command;
    use clap_complete::shells::{Bash, Fish, Zsh};
    use clap_complete::{Generator, generate};
    use clap_mangen::Man;
    use std::path::Path;
    use std::{env, fs};

    #[test]
    fn packaging_is_up_to_date() {
        up_to_date("hysort.1", MANUAL_PAGE, &manual_page());
        up_to_date("hysort.bash", completions("bash").unwrap_or_default(), &made(Bash));
        up_to_date("hysort.zsh", completions("zsh").unwrap_or_default(), &made(Zsh));
        up_to_date("hysort.fish", completions("fish").unwrap_or_default(), &made(Fish));
    }

    fn up_to_date(file: &str, kept: &str, made: &str) {
        if env::var_os("HYBZ_GENERATE").is_some() {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/bin/hysort/packaging");
            fs::write(folder.join(file), made).expect("the file can be written");
        } else {
            assert!(kept == made, "{file} is out of date: HYBZ_GENERATE=1 cargo test -p hysort packaging");
        }
    }

    fn manual_page() -> String {
        // A text of several paragraphs keeps its full stops, one of a single paragraph has lost its own.
        let command = command().mut_args(|arg| match (arg.get_long_help(), arg.get_help()) {
            (None, Some(help)) => {
                let sentence = format!("{help}.");
                arg.long_help(sentence)
            }
            _ => arg,
        });
        let mut options = Vec::new();
        Man::new(command).render_options_section(&mut options).expect("memory can be written");
        let options = String::from_utf8(options).expect("help texts are UTF-8");
        let page = include_str!("packaging/page.1.in");
        page.replace("@VERSION@", env!("CARGO_PKG_VERSION")).replace("@OPTIONS@\n", &options)
    }

    fn made(shell: impl Generator) -> String {
        let flags = command();
        let shown = flags.get_arguments().filter(|arg| arg.is_positional() || !arg.is_hide_set()).cloned();
        let command = Command::new("hysort").disable_help_flag(true).disable_version_flag(true);
        let mut bytes = Vec::new();
        generate(shell, &mut command.args(shown), "hysort", &mut bytes);
        String::from_utf8(bytes).expect("help texts are UTF-8")
    }
}
