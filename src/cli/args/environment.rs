//! Flags in environment variables, which come before those of the command line.

use clap::Command;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// The variables, in the order in which they are read.
const VARIABLES: [&str; 3] = ["BZIP2", "BZIP", "HYBZ"];

/// What the variables hold.
#[derive(Default)]
pub struct Environment {
    pub flags: Vec<OsString>,
    /// A remark for each word that is ignored.
    pub ignored_words: Vec<String>,
}

impl Environment {
    /// Reads the variables. A word that is neither a flag of `command` nor the value of one is ignored: builds set
    /// `BZIP2=pbzip2` to name a program, and bzip2 would take that for a file, compress it and delete it.
    pub fn read(command: &Command, variable: impl Fn(&str) -> Option<OsString>) -> Environment {
        let mut environment = Environment::default();
        for name in VARIABLES {
            let Some(value) = variable(name) else { continue };
            let mut value_follows = false;
            for word in value.as_bytes().split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()) {
                let is_flag = word[0] == b'-' && word != b"-" && word != b"--";
                if is_flag || value_follows {
                    environment.flags.push(OsString::from_vec(word.to_vec()));
                } else {
                    let word = String::from_utf8_lossy(word);
                    let remark = format!("`{word}' in the environment variable {name} is no flag: ignored");
                    environment.ignored_words.push(remark);
                }
                value_follows = is_flag && takes_next_word(command, word);
            }
        }
        environment
    }
}

/// Whether `word` is a flag whose value is the next word.
fn takes_next_word(command: &Command, word: &[u8]) -> bool {
    let word = String::from_utf8_lossy(word);
    let mut with_value = command.get_arguments().filter(|arg| !arg.is_positional() && arg.get_action().takes_values());
    with_value.any(|arg| match word.strip_prefix("--") {
        Some(long) => arg.get_long() == Some(long),
        None => arg.get_short_and_visible_aliases().unwrap_or_default().iter().any(|short| word.ends_with(*short)),
    })
}

#[cfg(test)]
mod tests {
    use super::super::flags::Flags;
    use super::*;
    use clap::CommandFactory;

    fn read(variables: &[(&str, &str)]) -> (Vec<String>, usize) {
        let value = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
        let found = Environment::read(&Flags::command(), value);
        let flags = found.flags.into_iter().map(|flag| flag.into_string().expect("UTF-8")).collect();
        (flags, found.ignored_words.len())
    }

    #[test]
    fn words_of_variables() {
        assert_eq!(read(&[]), (vec![], 0));
        let flags = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        let (found, ignored) = read(&[("HYBZ", " -9  -p 2\t--gpu none x"), ("BZIP2", "pbzip2"), ("BZIP", "-kp - --")]);
        // `-` is the value of -p here, and clap will refuse it.
        assert_eq!(found, flags(&["-kp", "-", "-9", "-p", "2", "--gpu", "none"]));
        assert_eq!(ignored, 3);
        assert_eq!(
            read(&[("BZIP", "-p2 file --threads=2 file -o name")]).0,
            flags(&["-p2", "--threads=2", "-o", "name"])
        );
    }
}
