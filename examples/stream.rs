//! Copies stdin to stdout through an encoder or a decoder.
//!
//! ```sh
//! cargo run --release --example stream -- compress   <file     >file.bz2
//! cargo run --release --example stream -- decompress <file.bz2 >file
//! cargo run --release --example stream               # some text of its own, there and back, through all adapters
//! ```

use hybz::{Level, bufread, read, write};
use std::error::Error;
use std::io::{self, BufRead, Read, Write};

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("compress") => {
            // An encoder that is written to. `finish` reports errors, which a drop could not.
            let mut encoder = write::BzEncoder::new(io::stdout().lock(), Level::BEST);
            io::copy(&mut io::stdin().lock(), &mut encoder)?;
            encoder.finish()?.flush()?;
        }
        Some("decompress") => {
            // A decoder that is read from. Files of several streams are common: pbzip2 writes them.
            let mut decoder = read::MultiBzDecoder::new(io::stdin().lock());
            let mut stdout = io::stdout().lock();
            io::copy(&mut decoder, &mut stdout)?;
            stdout.flush()?;
            eprintln!("{} streams", decoder.summary().streams);
        }
        Some(other) => return Err(format!("compress or decompress, not {other}").into()),
        None => own_text()?,
    }
    Ok(())
}

/// Shows the uses of the adapters, with a text of our own.
fn own_text() -> Result<(), Box<dyn Error>> {
    let text = "to be or not to be, that is the question\n".repeat(50_000);

    // Reading: text is read from the inner reader and comes out compressed, or the other way round.
    let mut coded = Vec::new();
    read::BzEncoder::new(text.as_bytes(), Level::BEST).read_to_end(&mut coded)?;
    let round_trip = read::BzDecoder::new(read::BzEncoder::new(text.as_bytes(), Level::FASTEST));
    assert_eq!(io::read_to_string(round_trip)?, text);

    // Writing: the result goes to the inner writer.
    let mut encoder = write::BzEncoder::new(write::BzDecoder::new(Vec::new()), Level::BEST);
    encoder.write_all(text.as_bytes())?;
    assert!(encoder.finish()?.finish()? == text.as_bytes());

    // Two consecutive streams, and then other data. `BzDecoder` takes the first stream and nothing after it.
    let input = [&coded[..], &coded, b"something else\n"].concat();
    let mut rest = &input[..];
    for _ in 0..2 {
        assert_eq!(io::read_to_string(bufread::BzDecoder::new(&mut rest))?, text);
    }
    let mut line = String::new();
    rest.read_line(&mut line)?;
    assert_eq!(line, "something else\n");
    // `MultiBzDecoder` takes all streams.
    let mut all = String::new();
    read::MultiBzDecoder::new(&input[..]).read_to_string(&mut all)?;
    assert_eq!(all.len(), 2 * text.len());

    // A cut file is an error, however often one asks.
    let mut decoder = read::MultiBzDecoder::new(&coded[..coded.len() - 1]);
    for _ in 0..2 {
        let error = io::copy(&mut decoder, &mut io::sink()).expect_err("its end is missing");
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
    println!("{} bytes of text, {} bytes compressed, there and back", text.len(), coded.len());
    Ok(())
}
