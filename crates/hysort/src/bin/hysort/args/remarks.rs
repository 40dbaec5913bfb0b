//! What `--debug` says about keys that may not be what the user meant, in GNU sort's words.

use super::plan::Plan;
use hysort::{Key, Options};
use std::io::{self, Write};

/// What is asked of the keys, and what they say of numbers.
struct Remarks<'a> {
    plan: &'a Plan,
    said: Vec<String>,
    /// Options of all keys that no key has.
    unused: Vec<u8>,
    has_numbers: bool,
    /// Keys of numbers that may go on in the next field: of -n or -h, and of -g.
    spans: [bool; 2],
}

/// Prints all of it on stderr.
pub fn print_remarks(plan: &Plan) {
    let text: String = remarks(plan).iter().map(|remark| format!("hysort: {remark}\n")).collect();
    // If stderr fails, there is nowhere to report it.
    let _ = io::stderr().write_all(text.as_bytes());
}

/// All that is said, line by line.
fn remarks(plan: &Plan) -> Vec<String> {
    let order = "text ordering performed using simple byte comparison".to_owned();
    let unused = in_use(&plan.options);
    let mut remarks = Remarks { plan, said: vec![order], unused, has_numbers: false, spans: [false; 2] };
    for (at, key) in plan.effective_keys().iter().enumerate() {
        remarks.on_key(at + 1, key);
    }
    remarks.on_numbers();
    remarks.on_options();
    remarks.said
}

/// The letters of options that have an effect, `b` in lower case where a key begins, in upper case where it ends.
fn in_use(options: &Options) -> Vec<u8> {
    let mut letters: Vec<u8> = b"dfghiMnRrV".iter().copied().filter(|&letter| options.has(letter)).collect();
    letters.retain(|&letter| letter != b'i' || !options.has(b'd'));
    letters.extend(b"bB".iter().zip(options.skips_blanks()).filter(|(_, is_set)| *is_set).map(|(letter, _)| letter));
    letters
}

impl Remarks<'_> {
    fn say(&mut self, text: impl Into<String>) {
        self.said.push(text.into());
    }

    fn on_key(&mut self, number: usize, key: &Key) {
        let letters = in_use(key.options());
        let has = |all: &[u8]| letters.iter().any(|letter| all.contains(letter));
        let ((field, byte), last) = (key.first(), key.last());
        let is_only_global = self.plan.keys.is_empty();
        let has_no_width = last.is_some_and(|(last, _)| last < field);
        if has_no_width {
            self.say(format!("key {number} has zero width and will be ignored"));
        }
        let is_number = has(b"ngh");
        let in_first_field = last.is_some_and(|(last, bytes)| last == 0 && bytes > 0);
        let by_blanks = self.plan.separator.is_none() && !in_first_field && !is_only_global;
        let counts_blanks = !has(b"b") && (byte > 0 || !is_number && !has(b"M"));
        let counts_blanks = counts_blanks || !has(b"B") && last.is_some_and(|(_, bytes)| bytes > 0);
        if by_blanks && counts_blanks && !has_no_width {
            self.say(format!("leading blanks are significant in key {number}; consider also specifying 'b'"));
        }
        self.has_numbers |= is_number;
        if is_number && !is_only_global && last.is_none_or(|(last, _)| field < last) {
            self.say(format!("key {number} is numeric and spans multiple fields"));
            self.spans[usize::from(has(b"g"))] = true;
        }
        self.unused.retain(|letter| !letters.contains(letter));
    }

    fn on_numbers(&mut self) {
        let [plain, general] = self.spans;
        let part = match self.plan.separator {
            Some(b'.') if plain || general => "a decimal point",
            Some(b'-') if plain || general => "a minus sign",
            Some(b'+') if general => "a plus sign",
            _ => "",
        };
        if !part.is_empty() {
            let separator = char::from(self.plan.separator.unwrap_or_default());
            self.say(format!("field separator '{separator}' is treated as {part} in numbers"));
        }
        if self.has_numbers && part != "a decimal point" {
            let note = if self.plan.separator == Some(b'.') { "" } else { "note " };
            self.say(format!("{note}numbers use '.' as a decimal point in this locale"));
        }
    }

    fn on_options(&mut self) {
        let is_last_resort = !(self.plan.stable || self.plan.unique);
        let has_keys = !self.plan.effective_keys().is_empty();
        let reverse_is_unused = self.unused.contains(&b'r') && has_keys;
        let is_shown = |letter: u8| match letter {
            b'b' => self.unused.contains(&b'b') || self.unused.contains(&b'B'),
            b'r' => reverse_is_unused && !is_last_resort,
            letter => self.unused.contains(&letter),
        };
        let shown: String = b"bdfghiMnRrV".iter().copied().filter(|&letter| is_shown(letter)).map(char::from).collect();
        match shown.len() {
            0 => {}
            1 => self.say(format!("option '-{shown}' is ignored")),
            _ => self.say(format!("options '-{shown}' are ignored")),
        }
        if reverse_is_unused && is_last_resort {
            self.say("option '-r' only applies to last-resort comparison");
        }
    }
}
