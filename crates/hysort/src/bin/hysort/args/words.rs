//! The words of a command line, read as getopt_long of the GNU C library reads them, with its messages: flags and files
//! in any order, clusters of letters, values attached or apart, beginnings of long names, `--`.
//!
//! clap describes the flags and does not read them, because users of sort would notice: it drops the `=` of `-o=x`,
//! and calls a common prefix of two flags unknown.

use super::table::index_in_gnu;
use crate::failure::Failure;
use crate::names::in_plain_quotes;
use clap::error::{ContextKind, ContextValue};
use clap::{Arg, ArgAction, Command};
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::mem::take;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// A flag, which may be a part of a word, with its value if it takes one; or a file.
#[derive(Debug, PartialEq, Eq)]
pub enum Word {
    Flag {
        /// Its id in clap.
        id: String,
        /// Its letter, if it has one.
        letter: Option<u8>,
        /// Its name as typed: `-S`, or `--buffer-size` in full.
        typed: String,
        value: Option<OsString>,
    },
    File(OsString),
}

/// Reads words from the first to the last. An error ends the reading.
pub struct Words<'a> {
    command: &'a Command,
    words: VecDeque<OsString>,
    /// The rest of a cluster of letters; `typed` is the whole cluster with its dash.
    cluster: VecDeque<u8>,
    typed: OsString,
    /// All that follows are files.
    only_files: bool,
    /// The first file ends the flags (POSIXLY_CORRECT).
    flags_first: bool,
}

/// Whether a flag takes a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    /// A value only after `=`.
    Optional,
    Value,
}

impl<'a> Words<'a> {
    pub fn new(command: &'a Command, words: impl Iterator<Item = OsString>, flags_first: bool) -> Words<'a> {
        let (cluster, typed) = Default::default();
        Words { command, words: words.collect(), cluster, typed, only_files: false, flags_first }
    }

    /// The next word; nothing at the end.
    pub fn next(&mut self) -> Result<Option<Word>, Failure> {
        if let Some(letter) = self.cluster.pop_front() {
            return self.letter(letter).map(Some);
        }
        let Some(word) = self.words.pop_front() else { return Ok(None) };
        match word.as_bytes() {
            _ if self.only_files => Ok(Some(Word::File(word))),
            b"--" => {
                self.only_files = true;
                self.next()
            }
            [b'-', b'-', long @ ..] => self.long(long).map(Some),
            [b'-', letters @ ..] if !letters.is_empty() => {
                (self.cluster, self.typed) = (letters.to_vec().into(), word.clone());
                self.next()
            }
            _ => {
                self.only_files = self.flags_first;
                Ok(Some(Word::File(word)))
            }
        }
    }

    fn letter(&mut self, byte: u8) -> Result<Word, Failure> {
        let letter = char::from(byte);
        let Some(arg) = self.command.get_arguments().find(|arg| arg.get_short() == Some(letter)) else {
            let nearest = self.nearest(&self.typed, Some(letter));
            let letter = in_plain_quotes(OsStr::from_bytes(&[byte]));
            return Err(Failure::usage([b"invalid option -- ", &letter[..], nearest.as_bytes()].concat()));
        };
        let value = match takes(arg) {
            Takes::Value if !self.cluster.is_empty() => Some(OsString::from_vec(take(&mut self.cluster).into())),
            Takes::Value => self.following(format!("option requires an argument -- '{letter}'"))?,
            Takes::Optional | Takes::Nothing => None,
        };
        Ok(Word::Flag { id: arg.get_id().to_string(), letter: Some(byte), typed: format!("-{letter}"), value })
    }

    /// The next word, as a value. Without one, `why` is the message.
    fn following(&mut self, why: String) -> Result<Option<OsString>, Failure> {
        self.words.pop_front().map(Some).ok_or_else(|| Failure::usage(why))
    }

    fn long(&mut self, word: &[u8]) -> Result<Word, Failure> {
        let at = word.iter().position(|&byte| byte == b'=');
        let (name, value) = word.split_at(at.unwrap_or(word.len()));
        let value = value.strip_prefix(b"=").map(|value| OsStr::from_bytes(value).to_owned());
        let arg = self.named(name, word)?;
        let long = arg.get_long().unwrap_or_default();
        let value = match (takes(arg), value) {
            (Takes::Nothing, Some(_)) => {
                return Err(Failure::usage(format!("option '--{long}' doesn't allow an argument")));
            }
            (Takes::Value, None) => self.following(format!("option '--{long}' requires an argument"))?,
            (_, value) => value,
        };
        let letter = arg.get_short().map(|letter| letter as u8);
        Ok(Word::Flag { id: arg.get_id().to_string(), letter, typed: format!("--{long}"), value })
    }

    /// The flag of this long name, or the only one that begins with it.
    ///
    /// An abbreviation that GNU sort knows means the same here: hysort's own flags count only if none of GNU's matches.
    fn named(&self, name: &[u8], word: &[u8]) -> Result<&'a Arg, Failure> {
        let long = |arg: &&Arg| arg.get_long().is_some_and(|long| long.as_bytes().starts_with(name));
        let in_gnu = |arg: &&Arg| arg.get_long().and_then(index_in_gnu);
        let mut begin: Vec<&Arg> = self.command.get_arguments().filter(long).collect();
        if begin.iter().any(|arg| in_gnu(arg).is_some()) {
            begin.retain(|arg| in_gnu(arg).is_some());
            begin.sort_by_key(in_gnu);
        }
        let exact = begin.iter().find(|arg| arg.get_long().is_some_and(|long| long.as_bytes() == name));
        match (&begin[..], exact) {
            (_, Some(arg)) | ([arg], None) => Ok(arg),
            ([], None) => {
                let nearest = self.nearest(OsStr::from_bytes(&[b"--", word].concat()), None);
                Err(Failure::usage([b"unrecognized option ", &shown(word)[..], nearest.as_bytes()].concat()))
            }
            (all, None) => {
                let names = all.iter().filter_map(|arg| arg.get_long()).map(|long| format!(" '--{long}'"));
                let names: String = names.collect();
                let why = format!(" is ambiguous; possibilities:{names}");
                Err(Failure::usage([b"option ", &shown(word)[..], why.as_bytes()].concat()))
            }
        }
    }

    /// What follows the message about an unknown flag if the user may have meant another: a long one typed with one
    /// dash, one that clap finds similar, or a letter in the other case.
    fn nearest(&self, typed: &OsStr, letter: Option<char>) -> String {
        let shown = || self.command.get_arguments().filter(|arg| !arg.is_hide_set());
        let word = typed.to_string_lossy();
        let name = word.trim_start_matches('-').split('=').next().unwrap_or_default();
        let mut found = shown().filter_map(Arg::get_long).find(|long| *long == name).map(|long| format!("--{long}"));
        if let (None, Some(letter)) = (&found, letter) {
            let other =
                if letter.is_ascii_lowercase() { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() };
            found = shown().any(|arg| arg.get_short() == Some(other)).then(|| format!("-{other}"));
        } else if found.is_none() {
            let error = self.command.clone().try_get_matches_from([OsStr::new("hysort"), typed]).err();
            found = error.and_then(|error| match error.get(ContextKind::SuggestedArg) {
                Some(ContextValue::String(flag)) => Some(flag.clone()),
                _ => None,
            });
            found = found.filter(|flag| shown().any(|arg| arg.get_long() == flag.strip_prefix("--")));
        }
        found.map(|flag| format!("; did you mean '{flag}'?")).unwrap_or_default()
    }
}

fn takes(arg: &Arg) -> Takes {
    match arg.get_action() {
        ArgAction::Set | ArgAction::Append if arg.is_require_equals_set() => Takes::Optional,
        ArgAction::Set | ArgAction::Append => Takes::Value,
        _ => Takes::Nothing,
    }
}

/// A word after its two dashes, as messages show it.
fn shown(word: &[u8]) -> Vec<u8> {
    in_plain_quotes(OsStr::from_bytes(&[b"--", word].concat()))
}
