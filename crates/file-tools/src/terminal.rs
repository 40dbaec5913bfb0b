//! The width of a terminal, and texts that are made to fit it.

use rustix::termios::tcgetwinsize;
use std::os::fd::AsFd;

/// The columns assumed for a terminal that does not report its width, and for anything that is not a terminal.
pub const USUAL_COLUMNS: usize = 80;

/// The current number of columns of the terminal `fd`.
pub fn columns(fd: impl AsFd) -> usize {
    match tcgetwinsize(fd) {
        Ok(size) if size.ws_col > 0 => usize::from(size.ws_col),
        _ => USUAL_COLUMNS,
    }
}

/// The maximum number of columns that `text` takes. Every character from U+1100 on counts as wide: narrow ones among
/// them leave columns free, and none takes more than two.
pub fn width(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

fn columns_of(char: char) -> usize {
    if char < '\u{1100}' { 1 } else { 2 }
}

/// `text` in at most `max` columns. If it is longer, its middle is left out.
pub fn middle_out(text: &str, max: usize) -> String {
    const GAP: &str = "...";
    if width(text) <= max {
        return text.to_owned();
    }
    if max <= GAP.len() {
        return GAP[..max].to_owned();
    }
    let tail = (max - GAP.len()) / 2;
    let head = max - GAP.len() - tail;
    let mut start = text.len();
    let mut taken = 0;
    for (at, char) in text.char_indices().rev() {
        taken += columns_of(char);
        if taken > tail {
            break;
        }
        start = at;
    }
    let mut taken = 0;
    let fits = |char: &char| {
        taken += columns_of(*char);
        taken <= head
    };
    let beginning: String = text.chars().take_while(fits).collect();
    beginning + GAP + &text[start..]
}

/// Appends `text` in lines of at most `columns`, each after `indent` blanks. The first line goes on from column `at`.
pub fn wrap(text: &str, at: usize, indent: usize, columns: usize, to: &mut String) {
    let mut column = at;
    for word in text.split_whitespace() {
        let len = width(word);
        if column > indent && column + 1 + len > columns {
            to.push('\n');
            column = 0;
        }
        if column < indent {
            to.extend(std::iter::repeat_n(' ', indent - column));
            column = indent;
        } else if column > indent {
            to.push(' ');
            column += 1;
        }
        to.push_str(word);
        column += len;
    }
    to.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_left_out() {
        for (text, max, short) in [
            ("linux.tar", 9, "linux.tar"),
            ("linux.tar", 8, "lin...ar"),
            ("linux.tar", 4, "l..."),
            ("linux.tar", 3, "..."),
            ("linux.tar", 0, ""),
            ("été.tar.bz2", 9, "été...bz2"),
            ("日本語の名前.tar", 10, "日本...tar"),
        ] {
            assert_eq!(middle_out(text, max), short);
            assert!(width(short) <= max);
        }
    }

    #[test]
    fn lines_are_wrapped() {
        let wrapped = |text, at, indent, columns| {
            let mut to = String::new();
            wrap(text, at, indent, columns, &mut to);
            to
        };
        assert_eq!(wrapped("one two three", 0, 0, 7), "one two\nthree\n");
        assert_eq!(wrapped("one two three", 2, 4, 11), "  one two\n    three\n");
        assert_eq!(wrapped("one two", 4, 4, 80), "one two\n");
        assert_eq!(wrapped("a-word-that-is-too-long b", 6, 4, 9), "\n    a-word-that-is-too-long\n    b\n");
        assert_eq!(wrapped("", 0, 0, 7), "\n");
    }
}
