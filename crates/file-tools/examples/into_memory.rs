//! Writes into a file in memory, by `write` and by several threads into a mapping: what each gives on this machine.
//!
//! ```text
//! cargo run --release -p hybz-files --example into_memory -- [DIRECTORY [GB [PRODUCERS [ROUNDS]]]]
//! ```
//!
//! Texts of 900,000 bytes come in order from PRODUCERS threads (12), which fill new buffers. Each line is a way, with
//! the medians of the rounds (3), in which the ways alternate: GB/s, and processor time in ns a byte for everything.

// The parts of the package that this needs, with what is not public: how the work is divided.
#[allow(dead_code, unused_imports)]
#[path = "../src/file.rs"]
mod file;
#[allow(dead_code)]
#[path = "../src/mapped/mod.rs"]
mod mapped;
#[allow(dead_code, unused_imports, unused_macros)]
#[path = "../src/system/mod.rs"]
mod system;

use crossbeam_channel::{Receiver, bounded};
use mapped::{MappedFile, Shape};
use rustix::fs::{Mode, OFlags, open};
use rustix::time::{ClockId, clock_gettime};
use std::fs::File;
use std::io::{self, Write};
use std::thread;
use std::time::Instant;

const TEXT: usize = 900_000;

/// How the texts get into the file.
#[derive(Clone, Copy)]
enum Way {
    /// They do not.
    Nothing,
    Write,
    Mapped {
        threads: usize,
        /// The length of windows of huge pages, or 0.
        huge: u64,
        reserve: bool,
    },
}

fn main() -> io::Result<()> {
    let mut words = std::env::args().skip(1);
    let directory = words.next().unwrap_or_else(|| "/dev/shm".to_owned());
    let mut number = |usual: usize| words.next().map_or(usual, |word| word.parse().expect("a number"));
    let (gigabytes, producers, rounds) = (number(2), number(12), number(3));
    let texts = gigabytes * 1_000_000_000 / TEXT;
    let mut ways = vec![("nothing".to_owned(), Way::Nothing), ("write".to_owned(), Way::Write)];
    for (pages, huge, reserve) in
        [("huge pages", mapped::LONG, true), ("fallocate", 0, true), ("small pages", 0, false)]
    {
        for threads in [1, 2, 3, 4, 6, 8, 12] {
            ways.push((format!("mapped, {threads} threads, {pages}"), Way::Mapped { threads, huge, reserve }));
        }
    }
    let mut found = vec![Vec::new(); ways.len()];
    for _ in 0..rounds {
        for ((_, way), found) in ways.iter().zip(&mut found) {
            found.push(one(&directory, *way, texts, producers)?);
        }
    }
    for ((name, _), mut found) in ways.into_iter().zip(found) {
        let mut median = |of: fn(&(f64, f64)) -> f64| {
            found.sort_by(|a, b| of(a).total_cmp(&of(b)));
            of(&found[found.len() / 2])
        };
        println!("{:6.2} GB/s {:6.3} ns/B  {name}", median(|found| found.0), median(|found| found.1));
    }
    Ok(())
}

/// GB/s, and ns of processor time a byte.
fn one(directory: &str, way: Way, texts: usize, producers: usize) -> io::Result<(f64, f64)> {
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file: File = open(directory, flags, Mode::RUSR | Mode::WUSR)?.into();
    let (started, before) = (Instant::now(), processor_time());
    thread::scope(|scope| {
        let made: Vec<Receiver<Vec<u8>>> = (0..producers)
            .map(|producer| {
                let (sender, receiver) = bounded(2);
                let texts = (producer..texts).step_by(producers);
                scope.spawn(move || texts.into_iter().try_for_each(|number| sender.send(vec![number as u8 | 1; TEXT])));
                receiver
            })
            .collect();
        let texts = (0..texts).map(|number| made[number % producers].recv().expect("a text"));
        write(&file, way, texts)
    })?;
    let (seconds, bytes) = (started.elapsed().as_secs_f64(), (texts * TEXT) as f64);
    let expected = if matches!(way, Way::Nothing) { 0 } else { texts * TEXT };
    assert_eq!(file.metadata()?.len(), expected as u64);
    Ok((bytes / 1e9 / seconds, (processor_time() - before) * 1e9 / bytes))
}

fn write(mut file: &File, way: Way, mut texts: impl Iterator<Item = Vec<u8>>) -> io::Result<()> {
    match way {
        Way::Nothing => texts.for_each(drop),
        Way::Write => texts.try_for_each(|text| file.write_all(&text))?,
        Way::Mapped { threads, huge, reserve } => {
            let shape = Shape { reserve, ..Shape::of(threads, huge) };
            let mut mapped = MappedFile::with(file, 0, shape).ok_or(io::ErrorKind::Unsupported)?;
            let whole = 0..TEXT;
            texts.try_for_each(|text| mapped.give(text, vec![whole.clone()]))?;
            mapped.finish()?;
        }
    }
    Ok(())
}

fn processor_time() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
