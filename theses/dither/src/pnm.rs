//! Reads PGM and PPM files: P2, P3, P5 and P6, with comments, and with samples of one or two bytes.
//!
//! Samples are scaled to 0 to 255, to the nearest. Colours become grey by 0.299 red + 0.587 green + 0.114 blue, of the
//! samples as they are in the file, rounded once. A header can claim any size: memory is allocated as the pixels come,
//! so a false header costs no more than the pixels that exist.

use crate::picture::Picture;
use std::fmt;
use std::io::{self, BufRead, Read};

/// The maximum number of pixels of a picture: 64 Gi. The number in a file is bounded by its length.
pub const MAX_PIXELS: usize = 1 << 36;

/// A file that could not be read.
#[derive(Debug)]
pub enum ReadError {
    /// It could not be read.
    Io(io::Error),
    /// It is none of the formats.
    Format,
    /// An invalid header: what was expected there.
    Header(&'static str),
    /// More than [`MAX_PIXELS`] pixels, or more than memory holds.
    TooLarge,
    /// It ends before its last pixel.
    Short,
    /// A sample that is larger than the header's maximum, or is not a number.
    Sample,
    /// Something follows the last pixel.
    Trailing,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Io(error) => error.fmt(f),
            ReadError::Format => f.write_str("not a PGM or PPM file (P2, P3, P5, P6)"),
            ReadError::Header(wanted) => write!(f, "damaged header: {wanted} expected"),
            ReadError::TooLarge => f.write_str("too many pixels"),
            ReadError::Short => f.write_str("the file ends before its last pixel"),
            ReadError::Sample => f.write_str("a sample is not a number from 0 to what the header says"),
            ReadError::Trailing => f.write_str("something follows the last pixel"),
        }
    }
}

impl std::error::Error for ReadError {}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => ReadError::Short,
            io::ErrorKind::OutOfMemory => ReadError::TooLarge,
            _ => ReadError::Io(error),
        }
    }
}

/// The content of the header.
struct Header {
    width: usize,
    height: usize,
    max: u32,
    channels: usize,
    binary: bool,
}

/// Reads a picture, to the end of the input.
///
/// # Errors
/// If it is not a picture, is damaged, or has data after it.
pub fn read(mut input: impl BufRead) -> Result<Picture, ReadError> {
    let header = header(&mut input)?;
    let count = header.width.checked_mul(header.height).filter(|&count| count <= MAX_PIXELS);
    let count = count.ok_or(ReadError::TooLarge)?;
    let pixels = match header.binary {
        true if header.max == 255 && header.channels == 1 => bytes(&mut input, count)?,
        true => binary(&mut input, &header, count)?,
        false => text(&mut input, &header, count)?,
    };
    if !header.binary {
        while skip_blank(&mut input)?.is_some_and(|byte| byte.is_ascii_whitespace()) {}
    }
    if !input.fill_buf()?.is_empty() {
        return Err(ReadError::Trailing);
    }
    Picture::new(header.width, header.height, pixels).ok_or(ReadError::Short)
}

fn header(input: &mut impl BufRead) -> Result<Header, ReadError> {
    let mut magic = [0; 2];
    input.read_exact(&mut magic).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => ReadError::Format,
        _ => error.into(),
    })?;
    let (channels, binary) = match &magic {
        b"P2" => (1, false),
        b"P3" => (3, false),
        b"P5" => (1, true),
        b"P6" => (3, true),
        _ => return Err(ReadError::Format),
    };
    let mut numbers = [0; 3];
    for (number, wanted) in numbers.iter_mut().zip(["the width", "the height", "the largest sample"]) {
        // White space, or a comment, before each number.
        let before = skip_blank(input)?;
        if !before.is_some_and(|byte| byte.is_ascii_whitespace()) {
            return Err(if before.is_none() { ReadError::Short } else { ReadError::Header("white space") });
        }
        *number = decimal(input)?.map_err(|()| ReadError::Header(wanted))?;
    }
    let [width, height, max] = numbers;
    if !(1..=65_535).contains(&max) {
        return Err(ReadError::Header("a largest sample of 1 to 65535"));
    }
    // One byte of white space before the pixels, which may end a comment.
    if binary && !skip_blank(input)?.is_some_and(|byte| byte.is_ascii_whitespace()) {
        return Err(ReadError::Header("white space"));
    }
    let number = |number: u64| usize::try_from(number).map_err(|_| ReadError::TooLarge);
    Ok(Header { width: number(width)?, height: number(height)?, max: max as u32, channels, binary })
}

/// The next byte, without taking it.
fn peek(input: &mut impl BufRead) -> io::Result<Option<u8>> {
    loop {
        match input.fill_buf() {
            Ok(bytes) => return Ok(bytes.first().copied()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Takes one byte of white space, or a comment with the end of its line, and returns it; any other byte is returned
/// and not taken.
fn skip_blank(input: &mut impl BufRead) -> io::Result<Option<u8>> {
    let next = peek(input)?;
    match next {
        Some(b'#') => {
            let mut last = None;
            while let Some(byte) = peek(input)? {
                input.consume(1);
                last = Some(byte);
                if byte == b'\n' || byte == b'\r' {
                    break;
                }
            }
            // A comment at the end of the file has no end of line.
            return Ok(last.filter(|byte| byte.is_ascii_whitespace()));
        }
        Some(byte) if byte.is_ascii_whitespace() => input.consume(1),
        _ => {}
    }
    Ok(next)
}

/// Takes any white space and comments, then a number; `Err` if there is none, or one of more than 18 digits.
fn decimal(input: &mut impl BufRead) -> Result<Result<u64, ()>, ReadError> {
    while peek(input)?.is_some_and(|byte| byte.is_ascii_whitespace() || byte == b'#') {
        skip_blank(input)?;
    }
    let (mut number, mut digits) = (0, 0);
    while let Some(byte) = peek(input)?.filter(u8::is_ascii_digit) {
        input.consume(1);
        (number, digits) = (number * 10 + u64::from(byte - b'0'), digits + 1);
        if digits > 18 {
            return Ok(Err(()));
        }
    }
    match digits {
        0 if peek(input)?.is_none() => Err(ReadError::Short),
        0 => Ok(Err(())),
        _ => Ok(Ok(number)),
    }
}

/// The pixels as they are.
fn bytes(input: &mut impl BufRead, count: usize) -> Result<Vec<u8>, ReadError> {
    let mut pixels = Vec::new();
    input.take(count as u64).read_to_end(&mut pixels)?;
    Ok(pixels) // with too few pixels there is no picture
}

fn binary(input: &mut impl BufRead, header: &Header, count: usize) -> Result<Vec<u8>, ReadError> {
    /// Pixels at a time.
    const SOME: usize = 16 << 10;
    let sample = if header.max > 255 { 2 } else { 1 };
    let size = sample * header.channels;
    let mut buffer = vec![0; SOME.min(count) * size];
    let mut pixels = Vec::new();
    while pixels.len() < count {
        let some = SOME.min(count - pixels.len());
        let bytes = &mut buffer[..some * size];
        input.read_exact(bytes)?;
        make_room(&mut pixels, some)?;
        for pixel in bytes.chunks_exact(size) {
            let mut samples = [0; 3];
            for (to, from) in samples.iter_mut().zip(pixel.chunks_exact(sample)) {
                *to = from.iter().fold(0, |sum, &byte| sum << 8 | u32::from(byte));
            }
            pixels.push(header.grey(&samples[..header.channels])?);
        }
    }
    Ok(pixels)
}

fn text(input: &mut impl BufRead, header: &Header, count: usize) -> Result<Vec<u8>, ReadError> {
    let mut pixels = Vec::new();
    while pixels.len() < count {
        let mut samples = [0; 3];
        for to in &mut samples[..header.channels] {
            // `12#` is a number and a comment; `12a` is none.
            let number = decimal(input)?.map_err(|()| ReadError::Sample)?;
            let ends = peek(input)?.is_none_or(|byte| byte.is_ascii_whitespace() || byte == b'#');
            *to = u32::try_from(number).ok().filter(|_| ends).ok_or(ReadError::Sample)?;
        }
        make_room(&mut pixels, 1)?;
        pixels.push(header.grey(&samples[..header.channels])?);
    }
    Ok(pixels)
}

fn make_room(pixels: &mut Vec<u8>, more: usize) -> Result<(), ReadError> {
    pixels.try_reserve(more).map_err(|_| ReadError::TooLarge)
}

impl Header {
    /// 0 to 255.
    fn grey(&self, samples: &[u32]) -> Result<u8, ReadError> {
        if samples.iter().any(|&sample| sample > self.max) {
            return Err(ReadError::Sample);
        }
        let weighted = match *samples {
            [red, green, blue] => u64::from(red) * 299 + u64::from(green) * 587 + u64::from(blue) * 114,
            _ => samples.iter().map(|&sample| u64::from(sample) * 1000).sum(),
        };
        let whole = 1000 * u64::from(self.max);
        Ok(((weighted * 255 + whole / 2) / whole) as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pixels(file: &[u8]) -> Result<Vec<u8>, String> {
        read(file).map(|picture| picture.pixels().to_vec()).map_err(|error| error.to_string())
    }

    #[test]
    fn the_four_formats() {
        assert_eq!(pixels(b"P5 2 2 255 \x00\x01\xfe\xff"), Ok(vec![0, 1, 254, 255]));
        assert_eq!(pixels(b"P2\n2 2\n255\n0 1\n254 255\n"), Ok(vec![0, 1, 254, 255]));
        assert_eq!(pixels(b"P6 1 2 255 \xff\x00\x00\x00\xff\x00"), Ok(vec![76, 150]));
        assert_eq!(pixels(b"P3 1 2 255 255 0 0  0 0 255"), Ok(vec![76, 29]));
    }

    #[test]
    fn other_largest_samples() {
        assert_eq!(pixels(b"P5 3 1 1 \x00\x01\x00"), Ok(vec![0, 255, 0]));
        assert_eq!(pixels(b"P5 3 1 4 \x00\x01\x02"), Ok(vec![0, 64, 128]));
        assert_eq!(pixels(b"P5 2 1 65535 \xff\xff\x80\x00"), Ok(vec![255, 128]));
        assert_eq!(pixels(b"P5 1 1 256 \x01\x00"), Ok(vec![255]));
        assert_eq!(pixels(b"P6 1 1 65535 \xff\xff\xff\xff\xff\xff"), Ok(vec![255]));
        assert_eq!(pixels(b"P2 2 1 65535 65535 32768"), Ok(vec![255, 128]));
    }

    #[test]
    fn comments() {
        let file = b"P5#one\n # two\n2#three\n#four\n1 #five\r255#six\n\x07\x08";
        assert_eq!(pixels(file), Ok(vec![7, 8]));
        assert_eq!(pixels(b"P2 2 1 9 9 # nine\n#\n0#zero\n# the end"), Ok(vec![255, 0]));
        // The byte after the white space is a pixel, whatever it looks like.
        assert_eq!(pixels(b"P5 2 1 255\n#\n"), Ok(vec![b'#', b'\n']));
    }

    #[test]
    fn nothing_to_see() {
        assert_eq!(pixels(b"P5 0 0 255\n"), Ok(vec![]));
        assert_eq!(pixels(b"P2 5 0 255"), Ok(vec![]));
    }

    #[test]
    fn damaged_files() {
        for (file, error) in [
            (&b""[..], "not a PGM or PPM file (P2, P3, P5, P6)"),
            (b"P", "not a PGM or PPM file (P2, P3, P5, P6)"),
            (b"P4 1 1 ", "not a PGM or PPM file (P2, P3, P5, P6)"),
            (b"P5", "the file ends before its last pixel"),
            (b"P51 1 255 x", "damaged header: white space expected"),
            (b"P5 1", "the file ends before its last pixel"),
            (b"P5 x 1 255 x", "damaged header: the width expected"),
            (b"P5 1 -1 255 x", "damaged header: the height expected"),
            (b"P5 1 1 0 x", "damaged header: a largest sample of 1 to 65535 expected"),
            (b"P5 1 1 65536 xx", "damaged header: a largest sample of 1 to 65535 expected"),
            (b"P5 1 1 255x", "damaged header: white space expected"),
            (b"P5 1 1 255", "damaged header: white space expected"),
            (b"P5 1 1 255#", "damaged header: white space expected"),
            (b"P5 1 1 255 ", "the file ends before its last pixel"),
            (b"P5 2 1 256 \0\0\0", "the file ends before its last pixel"),
            (b"P5 1 1 255 xy", "something follows the last pixel"),
            (b"P5 1 1 4 \x05", "a sample is not a number from 0 to what the header says"),
            (b"P2 1 1 4 5", "a sample is not a number from 0 to what the header says"),
            (b"P2 1 1 255 1a", "a sample is not a number from 0 to what the header says"),
            (b"P2 1 1 255 1 2", "something follows the last pixel"),
            (b"P2 1 1 255 99999999999", "a sample is not a number from 0 to what the header says"),
            (b"P5 4294967296 4294967296 255 x", "too many pixels"),
            (b"P5 1000000 1000000 255 x", "too many pixels"),
            (b"P5 18446744073709551616 1 255 x", "damaged header: the width expected"),
            (b"P5 999999999999999999 999999999999999999 255 x", "too many pixels"),
            (b"P5 65536 65536 255 x", "the file ends before its last pixel"),
            (b"P6 65536 65536 65535 x", "the file ends before its last pixel"),
            (b"P2 65536 65536 65535 7", "the file ends before its last pixel"),
        ] {
            let text = String::from_utf8_lossy(file);
            assert_eq!(pixels(file), Err(error.to_owned()), "{text}");
        }
    }
}
