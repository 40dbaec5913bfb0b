//! `--debug`: after each line, its keys are underlined, as GNU sort does it.

use crate::args::Plan;
use hysort::Key;
use std::io::{self, Write};
use std::ops::Range;

/// Takes sorted lines, and passes them on with lines that mark their keys.
#[derive(Debug)]
pub struct Marked<W> {
    out: W,
    end: u8,
    separator: Option<u8>,
    keys: Vec<Key>,
    /// Whether lines with equal keys are compared as a whole, which is marked, too.
    whole: bool,
    line: Vec<u8>,
}

impl<W: Write> Marked<W> {
    pub fn new(plan: &Plan, out: W) -> Marked<W> {
        let keys = plan.effective_keys();
        let whole = keys.is_empty() || !(plan.stable || plan.unique);
        Marked { out, end: plan.end(), separator: plan.separator, keys, whole, line: Vec::new() }
    }

    fn end_line(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        let shown: Vec<u8> = line.iter().map(|&byte| if byte == b'\t' { b'>' } else { byte }).collect();
        self.out.write_all(&shown)?;
        self.out.write_all(b"\n")?;
        for key in &self.keys {
            mark(&mut self.out, &line, key.marked(&line, self.separator))?;
        }
        if self.whole {
            mark(&mut self.out, &line, 0..line.len())?;
        }
        self.line = line;
        self.line.clear();
        Ok(())
    }
}

/// The columns that a text takes. A control character takes none, but for tabs, which are shown as `>`.
fn width(text: &[u8]) -> usize {
    text.iter().filter(|byte| !byte.is_ascii_control() || **byte == b'\t').count()
}

fn mark(out: &mut impl Write, line: &[u8], range: Range<usize>) -> io::Result<()> {
    let (before, len) = (width(&line[..range.start]), width(&line[range]));
    let mark = if len == 0 { "^ no match for key".to_owned() } else { "_".repeat(len) };
    writeln!(out, "{}{mark}", " ".repeat(before))
}

impl<W: Write> Write for Marked<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let end = self.end;
        for part in bytes.split_inclusive(|&byte| byte == end) {
            match part.strip_suffix(&[end]) {
                Some(last) => {
                    self.line.extend_from_slice(last);
                    self.end_line()?;
                }
                None => self.line.extend_from_slice(part),
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
