//! The names that `--filelist` gives, one after another: the whole list is never in memory.

use crate::cli::files::stdin;
use crate::cli::messages::Failure;
use hybz_files::file;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

pub struct List {
    name: OsString,
    reader: BufReader<File>,
    end: u8,
    failed: bool,
}

/// The maximum length of a name: no file system has longer ones.
const MAX_NAME: u64 = 1 << 20;

impl List {
    /// Opens the list `file`, or stdin if that is `-`. Names end with a zero byte if `null`, else with a line end.
    pub fn open(file: &OsStr, null: bool) -> Result<List, Failure> {
        let (name, opened) = if file == "-" { (OsStr::new("(stdin)"), stdin()) } else { (file, File::open(file)) };
        let name = name.to_owned();
        let refused = |e: &io::Error| Failure::cannot("read the list", &name, e);
        let file = opened.map_err(|e| refused(&e))?;
        if file.metadata().is_ok_and(|found| found.is_dir()) {
            return Err(refused(&file::is_a_directory()));
        }
        Ok(List { name, reader: BufReader::new(file), end: if null { 0 } else { b'\n' }, failed: false })
    }

    /// Whether the list has ended, as far as can be told without waiting: a pipe that is still open has not. (Empty
    /// names may be left.)
    pub fn is_at_end(&mut self) -> bool {
        let mut list = [PollFd::new(self.reader.get_ref(), PollFlags::IN)];
        let at_once = Some(&Timespec { tv_sec: 0, tv_nsec: 0 });
        let comes = !self.reader.buffer().is_empty() || poll(&mut list, at_once).is_ok_and(|ready| ready > 0);
        self.failed || comes && self.reader.fill_buf().is_ok_and(|rest| rest.iter().all(|byte| *byte == self.end))
    }

    pub fn next(&mut self) -> Option<Result<PathBuf, Failure>> {
        while !self.failed {
            let mut name = Vec::new();
            let limit = MAX_NAME + 1;
            match self.reader.by_ref().take(limit).read_until(self.end, &mut name) {
                Ok(0) => return None,
                Ok(n) if n as u64 == limit && name.last() != Some(&self.end) => {
                    self.failed = true;
                    let text = " has a name of more than a million bytes: the rest of the list is not read.";
                    return Some(Err(Failure::about(1, "The list ", &self.name, text)));
                }
                Ok(_) => {}
                Err(e) => {
                    self.failed = true;
                    return Some(Err(Failure::cannot("read the list", &self.name, &e)));
                }
            }
            if name.last() == Some(&self.end) {
                name.pop();
            }
            if name.contains(&0) {
                self.failed = true;
                let text = " has a name with a zero byte in it: is it for --null?";
                return Some(Err(Failure::about(1, "The list ", &self.name, text)));
            }
            if !name.is_empty() {
                return Some(Ok(OsString::from_vec(name).into()));
            }
        }
        None
    }
}
