//! Sorts the lines of a file, or of stdin, with the library: `cargo run --release -p hysort --example sort [FILE
//! [MEGABYTES]] > SORTED`. With a number of megabytes, what does not fit in that memory goes through a temporary file.

use hysort::{Limits, Order, Sorter};
use std::error::Error;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};

/// A file that vanishes when it is closed. (A file without any name would be better still: `O_TMPFILE`.)
fn temporary() -> io::Result<File> {
    let path = std::env::temp_dir().join(format!("sort.{}", std::process::id()));
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
    std::fs::remove_file(path)?;
    Ok(file)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut file: Box<dyn Read> = match arguments.next() {
        Some(path) => Box::new(File::open(path)?),
        None => Box::new(io::stdin()),
    };
    let limits = match arguments.next() {
        Some(megabytes) => Limits::new().memory(megabytes.parse::<u64>()? << 20).temporary(temporary),
        None => Limits::new(),
    };
    let pool = hysort::pool().build();
    let mut sorter = Sorter::new(&Order::new(), limits, &pool);
    let mut buffer = vec![0; 1 << 18];
    loop {
        let n = file.read(&mut buffer)?;
        if n == 0 {
            break;
        }
        sorter.push(&buffer[..n])?;
    }
    let mut out = io::stdout().lock();
    let report = sorter.write_to(&mut out)?;
    out.flush()?;
    eprintln!("{} lines, {} bytes through a temporary file", report.lines, report.spilled);
    Ok(())
}
