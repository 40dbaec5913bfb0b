//! Sorts a table by a closure and by a specification: `cargo run --release -p hysort --example keys < TABLE`. The
//! longest names come first; lines with names of the same length are in the order of their second field, a number.
//! Without a table on stdin, a small one is sorted.

use hysort::{Key, KeySorter, Keys, Limits, Order};
use std::error::Error;
use std::io::{self, IsTerminal, Read, Write};

fn main() -> Result<(), Box<dyn Error>> {
    // A closure appends bytes, which are compared as such: so a number begins with its highest byte.
    let length = Key::by(|line, key| {
        let name = line.split(|&byte| byte == b'\t').next().unwrap_or_default();
        key.extend_from_slice(&(name.len() as u64).to_be_bytes());
    });
    let number: Key = "2,2n".parse()?;
    // Lines that are equal in both stay in the order in which they came.
    let keys = Keys::new([length.reverse(), number], &Order::new()).separator(Some(b'\t')).stable(true);

    let pool = hysort::pool().build();
    let mut sorter = KeySorter::new(&keys, Limits::new(), &pool);
    if io::stdin().is_terminal() {
        sorter.push(b"fig\t7\npear\t10\nplum\t9\napple\t3\n")?;
    }
    let mut buffer = vec![0; 1 << 18];
    while !io::stdin().is_terminal() {
        let n = io::stdin().read(&mut buffer)?;
        if n == 0 {
            break;
        }
        sorter.push(&buffer[..n])?;
    }
    let mut out = io::stdout().lock();
    sorter.write_to(&mut out)?;
    Ok(out.flush()?)
}
