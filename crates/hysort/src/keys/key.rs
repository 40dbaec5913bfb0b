//! One key of a line: where it is, and how it is compared.

use super::by::By;
use super::number::{is_blank, split_while};
use std::fmt;
use std::str::FromStr;

/// A part of a line, and how it is compared: `-k` of sort.
///
/// ```
/// use hysort::Key;
/// let second: Key = "2,2nr".parse().unwrap();
/// assert!("0".parse::<Key>().is_err());
/// # drop(second);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Key {
    /// How many fields and bytes to skip.
    pub(super) fields: usize,
    pub(super) bytes: usize,
    pub(super) end: End,
    pub(super) options: Options,
    /// The closure that makes it, if it is not a part of the line.
    by: Option<By>,
}

/// Where a key ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum End {
    #[default]
    Line,
    /// At the end of this field, from 1.
    Field(usize),
    /// This many bytes after the beginning of a field, from 0.
    Byte(usize, usize),
}

/// What is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    #[default]
    Text,
    Number,
    General,
    Human,
    Month,
    Version,
}

/// The options of a key, or of all keys that have none of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    letters: u16,
    /// Whether there is a `b` where the key begins, and where it ends.
    pub(super) skip_blanks: [bool; 2],
}

/// All letters of options, in the order of messages.
const LETTERS: &[u8] = b"bdfghiMnRrV";

/// Why a specification of a key is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyError {
    /// It cannot be read: why.
    Syntax(&'static str),
    /// A number is missing: the message, and the text in its place.
    Count(&'static str, Vec<u8>),
    /// Options that contradict each other.
    Incompatible(String),
    /// An option that sort has, and this library does not.
    Unsupported(char),
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyError::Syntax(why) => f.write_str(why),
            KeyError::Count(why, text) => {
                write!(f, "{why}: invalid count at start of '{}'", String::from_utf8_lossy(text))
            }
            KeyError::Incompatible(letters) => write!(f, "options '-{letters}' are incompatible"),
            KeyError::Unsupported(letter) => write!(f, "option '{letter}' is not supported"),
        }
    }
}

impl std::error::Error for KeyError {}

impl Options {
    /// No options.
    pub fn new() -> Options {
        Options::default()
    }

    /// Adds the option of a letter of `sort`: `b d f g h i M n r V`. Returns `None` if there is no such letter.
    pub fn with(self, letter: u8) -> Option<Options> {
        let bit = LETTERS.iter().position(|&other| other == letter)?;
        let skip_blanks = if letter == b'b' { [true; 2] } else { self.skip_blanks };
        Some(Options { letters: self.letters | 1 << bit, skip_blanks })
    }

    /// Whether it has the option of this letter.
    pub fn has(&self, letter: u8) -> bool {
        LETTERS.iter().position(|&other| other == letter).is_some_and(|bit| self.letters >> bit & 1 == 1)
    }

    /// Whether it has no option but `r`.
    pub fn is_plain(&self) -> bool {
        self.without_reverse() == Options::new()
    }

    fn without_reverse(&self) -> Options {
        Options { letters: self.letters & !Options::new().with(b'r').map_or(0, |r| r.letters), ..*self }
    }

    pub(super) fn kind(&self) -> Kind {
        const KINDS: [(u8, Kind); 5] = [
            (b'n', Kind::Number),
            (b'g', Kind::General),
            (b'h', Kind::Human),
            (b'M', Kind::Month),
            (b'V', Kind::Version),
        ];
        KINDS.iter().find(|(letter, _)| self.has(*letter)).map_or(Kind::Text, |(_, kind)| *kind)
    }

    /// Whether this byte counts.
    pub(super) fn keeps(&self, byte: u8) -> bool {
        if self.has(b'd') {
            byte.is_ascii_alphanumeric() || is_blank(byte)
        } else {
            !self.has(b'i') || (32..127).contains(&byte)
        }
    }

    /// The byte that this one is compared as.
    pub(super) fn folded(&self, byte: u8) -> u8 {
        if self.has(b'f') { byte.to_ascii_uppercase() } else { byte }
    }

    /// Checks that its letters are supported and do not contradict each other.
    ///
    /// # Errors
    /// [`KeyError::Incompatible`] and [`KeyError::Unsupported`].
    pub fn check(&self) -> Result<(), KeyError> {
        let kinds = b"nghM".iter().filter(|&&letter| self.has(letter)).count();
        let others = b"VRdi".iter().any(|&letter| self.has(letter));
        if kinds + usize::from(others) > 1 {
            // -d includes -i.
            let hidden = if self.has(b'd') { &b"bri"[..] } else { b"br" };
            let shown = |letter: &u8| self.has(*letter) && !hidden.contains(letter);
            return Err(KeyError::Incompatible(LETTERS.iter().copied().filter(shown).map(char::from).collect()));
        }
        if self.has(b'R') { Err(KeyError::Unsupported('R')) } else { Ok(()) }
    }
}

impl Key {
    /// The whole line.
    pub fn line(options: Options) -> Key {
        Key { options, ..Key::default() }
    }

    /// The fields from `first` to `last`, counted from 1.
    pub fn fields(first: usize, last: usize, options: Options) -> Key {
        Key { fields: first.saturating_sub(1), end: End::Field(last.max(1)), options, ..Key::default() }
    }

    /// The key is what the closure appends to a vector for a line, which it gets without its end. Keys are compared as
    /// unsigned bytes; a prefix comes before longer keys.
    ///
    /// Such keys are in numeric order if unsigned integers are written by `to_be_bytes`, and signed ones also after
    /// flipping their highest bit (`(n ^ i64::MIN).to_be_bytes()`). Integers of all lines must have the same length.
    ///
    /// The closure runs on several threads, once or more for each line, and should give the same key each time. If it
    /// panics, sorting ends with [`Error::KeyPanicked`](crate::Error::KeyPanicked).
    ///
    /// ```
    /// use hysort::{Key, Keys, Order, sorted};
    /// let last_letter_first = Key::by(|line, key| key.extend(line.iter().rev()));
    /// let keys = Keys::new([last_letter_first], &Order::new());
    /// let pool = hysort::pool().build();
    /// assert_eq!(sorted(b"to\nbe\nor\nnot\n", &keys, &pool)?, b"be\nto\nor\nnot\n");
    /// # Ok::<(), hysort::Error>(())
    /// ```
    pub fn by(closure: impl Fn(&[u8], &mut Vec<u8>) + Send + Sync + 'static) -> Key {
        Key { by: Some(By::new(closure)), ..Key::default() }
    }

    pub(super) fn by_closure(&self) -> Option<&By> {
        self.by.as_ref()
    }

    /// Reverses the order, as the option `r` does.
    pub fn reverse(mut self) -> Key {
        self.options = self.options.with(b'r').unwrap_or(self.options);
        self
    }

    /// Its options.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Takes the options of all keys, if it has none of its own, as in `sort -n -k 2`.
    pub fn or_options(mut self, global: &Options) -> Key {
        if self.options == Options::new() && self.by.is_none() {
            self.options = *global;
        }
        self
    }

    /// The key in a line.
    pub(super) fn find<'a>(&self, line: &'a [u8], separator: Option<u8>) -> &'a [u8] {
        let (start, end) = self.ends(line, separator);
        &line[start..end.max(start)]
    }

    /// Where the key begins and ends in a line. Its end may come first: then the key is empty.
    pub(super) fn ends(&self, line: &[u8], separator: Option<u8>) -> (usize, usize) {
        let start = self.start(line, separator);
        let end = match self.end {
            End::Line => line.len(),
            End::Field(1) if separator.is_some() => {
                separator.and_then(|separator| line.iter().position(|&byte| byte == separator)).unwrap_or(line.len())
            }
            End::Field(number) => {
                let last = skip_fields(line, number - 1, separator);
                last + field_len(&line[last..], separator)
            }
            End::Byte(fields, bytes) => {
                let mut at = skip_fields(line, fields, separator);
                if self.options.skip_blanks[1] {
                    at += split_while(&line[at..], is_blank).0.len();
                }
                at.saturating_add(bytes).min(line.len())
            }
        };
        (start, end)
    }

    fn start(&self, line: &[u8], separator: Option<u8>) -> usize {
        let mut at = skip_fields(line, self.fields, separator);
        if self.options.skip_blanks[0] {
            at += split_while(&line[at..], is_blank).0.len();
        }
        at.saturating_add(self.bytes).min(line.len())
    }
}

/// The length of the field at the start of a text, without what separates it from the next one.
fn field_len(text: &[u8], separator: Option<u8>) -> usize {
    match separator {
        Some(separator) => text.iter().position(|&byte| byte == separator).unwrap_or(text.len()),
        None => {
            let (blanks, rest) = split_while(text, is_blank);
            blanks.len() + split_while(rest, |byte| !is_blank(byte)).0.len()
        }
    }
}

/// Where the field after `count` fields begins.
fn skip_fields(line: &[u8], count: usize, separator: Option<u8>) -> usize {
    let mut at = 0;
    for _ in 0..count {
        if at >= line.len() {
            break;
        }
        at += field_len(&line[at..], separator);
        at += usize::from(separator.is_some() && at < line.len());
    }
    at
}

impl FromStr for Key {
    type Err = KeyError;

    /// Reads `F[.C][OPTIONS][,F[.C][OPTIONS]]`.
    fn from_str(text: &str) -> Result<Key, KeyError> {
        Key::from_bytes(text.as_bytes())
    }
}

impl Key {
    /// Reads a specification, which need not be UTF-8.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn from_bytes(text: &[u8]) -> Result<Key, KeyError> {
        let mut key = Key::default();
        let (field, mut rest) = count(text, "invalid number at field start")?;
        key.fields = field.checked_sub(1).ok_or(KeyError::Syntax("field number is zero"))?;
        if let Some(after) = rest.strip_prefix(b".") {
            let (byte, after) = count(after, "invalid number after '.'")?;
            key.bytes = byte.checked_sub(1).ok_or(KeyError::Syntax("character offset is zero"))?;
            rest = after;
        }
        rest = key.take_options(rest, 0);
        if let Some(after) = rest.strip_prefix(b",") {
            let (field, after) = count(after, "invalid number after ','")?;
            let field = if field == 0 { return Err(KeyError::Syntax("field number is zero")) } else { field };
            key.end = End::Field(field);
            rest = after;
            if let Some(after) = rest.strip_prefix(b".") {
                let (bytes, after) = count(after, "invalid number after '.'")?;
                if bytes > 0 {
                    key.end = End::Byte(field - 1, bytes);
                }
                rest = after;
            }
            rest = key.take_options(rest, 1);
        }
        if rest.is_empty() { Ok(key) } else { Err(KeyError::Syntax("stray character in field spec")) }
    }

    /// Reads the letters after one of the two positions. Returns the text after them.
    fn take_options<'a>(&mut self, text: &'a [u8], place: usize) -> &'a [u8] {
        let mut rest = text;
        while let Some((&letter, after)) = rest.split_first()
            && let Some(options) = self.options.with(letter)
        {
            let before = self.options.skip_blanks;
            self.options = options;
            if letter == b'b' {
                self.options.skip_blanks = before;
                self.options.skip_blanks[place] = true;
            }
            rest = after;
        }
        rest
    }
}

/// The number at the beginning of a text, or the maximum if it is too large, and the rest.
fn count<'a>(text: &'a [u8], why: &'static str) -> Result<(usize, &'a [u8]), KeyError> {
    let (digits, rest) = split_while(text, |byte| byte.is_ascii_digit());
    if digits.is_empty() {
        return Err(KeyError::Count(why, text.to_vec()));
    }
    let number =
        digits.iter().try_fold(0_usize, |number, digit| number.checked_mul(10)?.checked_add(usize::from(digit - b'0')));
    Ok((number.unwrap_or(usize::MAX), rest))
}
