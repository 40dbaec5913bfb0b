//! Flags in environment variables, which come before those of the command line.

use clap::{Arg, Command};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// The variables, in the order in which they are read.
const VARIABLES: [&str; 3] = ["BZIP2", "BZIP", "HYBZ"];

/// The contents of the variables.
#[derive(Default)]
pub struct Environment {
    pub flags: Vec<OsString>,
    /// The variable that each word comes from.
    pub variables: Vec<&'static str>,
    /// How many words each flag takes: 2 if its value is a word of its own.
    pub lengths: Vec<usize>,
    /// A remark for each ignored word.
    pub ignored_words: Vec<String>,
}

impl Environment {
    /// Reads the variables. A word that is neither a flag of `command` nor a flag's value is ignored: some builds set
    /// `BZIP2=pbzip2` to name a program, and bzip2 would take `pbzip2` for a file, compress it and delete it.
    pub fn read(command: &Command, variable: impl Fn(&str) -> Option<OsString>) -> Environment {
        let mut environment = Environment::default();
        for name in VARIABLES {
            let Some(value) = variable(name) else { continue };
            let mut value_follows = false;
            for word in value.as_bytes().split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()) {
                let is_flag = word[0] == b'-' && word != b"-" && word != b"--";
                if is_flag || value_follows {
                    environment.flags.push(OsString::from_vec(word.to_vec()));
                    environment.variables.push(name);
                    match environment.lengths.last_mut().filter(|_| value_follows) {
                        Some(length) => *length += 1,
                        None => environment.lengths.push(1),
                    }
                } else {
                    let word = String::from_utf8_lossy(word);
                    let remark = format!("`{word}' in the environment variable {name} is not a flag: ignored");
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
    with_value(command).any(|arg| match word.strip_prefix("--") {
        Some(long) => arg.get_long() == Some(long),
        None => arg.get_short_and_visible_aliases().unwrap_or_default().iter().any(|short| word.ends_with(*short)),
    })
}

fn with_value(command: &Command) -> impl Iterator<Item = &Arg> {
    let has_value = |arg: &&Arg| arg.get_action().takes_values() && !arg.is_require_equals_set();
    command.get_arguments().filter(|arg| !arg.is_positional()).filter(has_value)
}

/// How often `-q` occurs among `words`, which clap has refused.
pub fn quietness<'a>(command: &Command, words: impl Iterator<Item = &'a OsString> + Clone) -> u8 {
    let long = words.clone().filter(|word| *word == "--quiet").count();
    u8::try_from(count(command, words, 'q') + long).unwrap_or(u8::MAX)
}

/// How often the short flag `short` occurs among `words`.
pub fn count<'a>(command: &Command, words: impl Iterator<Item = &'a OsString>, short: char) -> usize {
    let takes_value = |letter| {
        with_value(command).any(|arg| arg.get_short_and_visible_aliases().unwrap_or_default().contains(&letter))
    };
    let count = words.map(|word| {
        let word = word.to_string_lossy();
        match word.strip_prefix('-') {
            Some(cluster) if !cluster.starts_with('-') => {
                cluster.chars().take_while(|&letter| !takes_value(letter)).filter(|&letter| letter == short).count()
            }
            _ => 0,
        }
    });
    count.sum()
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
    fn quiet_words() {
        for (line, count) in
            [("", 0), ("-q", 1), ("-qq -Z", 2), ("-vqZq", 2), ("--quiet -q", 2), ("-oqq -pq", 0), ("qq --qq", 0)]
        {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            assert_eq!(quietness(&Flags::command(), words.iter()), count, "{line}");
        }
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
