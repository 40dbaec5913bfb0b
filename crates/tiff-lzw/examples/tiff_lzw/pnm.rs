//! Binary PGM and PPM files of 8 bits (P5, P6).

use super::tiff::{Image, Trouble, area};

/// The image in a file.
pub fn read(file: &[u8]) -> Result<Image, Trouble> {
    let mut rest = file;
    let samples = match word(&mut rest) {
        b"P5" => 1,
        b"P6" => 3,
        _ => return Err("neither P5 nor P6".into()),
    };
    let mut number = || -> Result<usize, Trouble> { Ok(std::str::from_utf8(word(&mut rest))?.parse()?) };
    let (width, height, max) = (number()?, number()?, number()?);
    if max != 255 {
        return Err(format!("samples up to {max}, not 255").into());
    }
    let pixels = rest.get(1..=area(width, height, samples)?).ok_or("the file is too short")?;
    Ok(Image { width, height, samples, pixels: pixels.to_vec() })
}

/// The next word; blanks and comments in front of it are skipped.
fn word<'a>(rest: &mut &'a [u8]) -> &'a [u8] {
    loop {
        *rest = rest.trim_ascii_start();
        if !rest.starts_with(b"#") {
            break;
        }
        let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        *rest = &rest[end..];
    }
    let (word, after) = rest.split_at(rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len()));
    *rest = after;
    word
}

/// The file of an image.
pub fn write(image: &Image) -> Vec<u8> {
    let Image { width, height, samples, pixels } = image;
    let head = format!("P{}\n{width} {height}\n255\n", if *samples == 1 { 5 } else { 6 });
    [head.as_bytes(), pixels].concat()
}
