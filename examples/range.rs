//! Reads a range of the text of a `.hbz` file: only the blocks that contain some of it are decoded.
//!
//! ```sh
//! cargo run --release --example range -- file.hbz 1000000 1000100 # these bytes of the text, to stdout
//! cargo run --release --example range                             # the same with a text of its own
//! ```

use hybz::hbz::List;
use hybz::{LargeBlocks, Settings};
use std::error::Error;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [] => own_text(),
        [name, from, to] => {
            let mut file = File::open(name)?;
            // The list is read from the end of the file: keep it for further ranges.
            let list = List::read(&mut file)?;
            io::stdout().write_all(&list.read_range(&mut file, from.parse()?..to.parse()?)?)?;
            Ok(())
        }
        _ => Err("three arguments: file, first byte, the byte after the last".into()),
    }
}

/// A reader that counts, to show how little is read.
struct Counted<R>(R, u64);

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = self.0.read(buf)?;
        self.1 += n as u64;
        Ok(n)
    }
}

impl<R: Seek> Seek for Counted<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

fn own_text() -> Result<(), Box<dyn Error>> {
    let text: String = (0..200_000).map(|i| format!("record {i}, with the number {}\n", i * 7919 % 100_003)).collect();
    // Blocks of 256 KiB: larger ones compress better, smaller ones are read sooner.
    let blocks = LargeBlocks::try_new(256 << 10).ok_or("1 KiB to 1 GiB")?;
    let file = hybz::compress(text.as_bytes(), &Settings::new().encoding(blocks))?;

    let mut input = Counted(Cursor::new(&file), 0);
    let list = List::read(&mut input)?;
    assert!(list.is_complete() && list.text_len() == text.len() as u64);
    let listed = input.1;
    let range = 1_000_000..1_000_100;
    let part = list.read_range(&mut input, range.clone())?;
    assert_eq!(part, text.as_bytes()[range.start as usize..range.end as usize]);
    println!(
        "{} bytes of text in {} blocks, {} bytes: {listed} bytes read for the list, {} for the range",
        text.len(),
        list.blocks().len(),
        file.len(),
        input.1 - listed
    );
    assert!(input.1 < file.len() as u64 / 10, "one block of {}", list.blocks().len());
    Ok(())
}
