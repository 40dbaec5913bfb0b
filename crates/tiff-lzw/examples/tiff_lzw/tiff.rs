//! Baseline TIFF files of 8-bit samples, grey or RGB, in strips or tiles that are LZW-coded, or not coded at all. All
//! cores code the strips; the rest of this file deals with their positions.

use hybz::Pool;
use hybz_tiff_lzw::{decode_strips, encode_strips};

/// An error, in words.
pub type Trouble = Box<dyn std::error::Error>;

/// Rows of pixels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    pub width: usize,
    pub height: usize,
    /// The number of bytes of a pixel: 1 or 3.
    pub samples: usize,
    pub pixels: Vec<u8>,
}

/// How an image is cut into pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Strips of this number of rows.
    Strips(usize),
    /// Tiles of this number of columns and rows, multiples of 16. Tiles at the edges are padded.
    Tiles(usize, usize),
}

/// How a file holds its image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coding {
    pub layout: Layout,
    /// Whether pixels are stored as the difference from the one before them (predictor 2).
    pub differences: bool,
}

/// The maximum number of bytes of an image: a header's claim takes no memory beyond this.
const MAX_PIXELS: usize = 1 << 30;

/// The number of bytes of an image.
pub fn area(width: usize, height: usize, samples: usize) -> Result<usize, Trouble> {
    let bytes = width.checked_mul(height).and_then(|pixels| pixels.checked_mul(samples));
    bytes.filter(|bytes| (1..=MAX_PIXELS).contains(bytes)).ok_or_else(|| "no image of this size".into())
}

/// A piece: its rectangle of the image, and its number of columns in the file.
struct Piece {
    x: usize,
    y: usize,
    width: usize,
    height: usize,
    /// The piece's columns in the file.
    columns: usize,
    rows: usize,
}

impl Layout {
    /// The number of pieces.
    fn count(self, width: usize, height: usize) -> usize {
        match self {
            Layout::Strips(rows) => height.div_ceil(rows),
            Layout::Tiles(columns, rows) => width.div_ceil(columns) * height.div_ceil(rows),
        }
    }

    /// The pieces, in the order of the file.
    fn pieces(self, width: usize, height: usize) -> Vec<Piece> {
        let (columns, rows) = match self {
            Layout::Strips(rows) => (width, rows.min(height)),
            Layout::Tiles(columns, rows) => (columns, rows),
        };
        let at = |y: usize| (0..width).step_by(columns).map(move |x| (x, y));
        let piece = |(x, y): (usize, usize)| {
            let (width, height) = (columns.min(width - x), rows.min(height - y));
            // The last strip has only the remaining rows.
            let rows = if let Layout::Strips(_) = self { height } else { rows };
            Piece { x, y, width, height, columns, rows }
        };
        (0..height).step_by(rows).flat_map(at).map(piece).collect()
    }
}

impl Piece {
    fn len(&self, samples: usize) -> usize {
        self.columns * self.rows * samples
    }

    /// Cuts the piece out of an image. Padding repeats the last pixel and the last row.
    fn cut(&self, image: &Image, differences: bool) -> Vec<u8> {
        let samples = image.samples;
        let mut bytes = Vec::with_capacity(self.len(samples));
        for row in 0..self.rows {
            let from = ((self.y + row.min(self.height - 1)) * image.width + self.x) * samples;
            bytes.extend_from_slice(&image.pixels[from..from + self.width * samples]);
            for _ in self.width..self.columns {
                bytes.extend_from_within(bytes.len() - samples..);
            }
        }
        if differences {
            for row in bytes.chunks_mut(self.columns * samples) {
                for at in (samples..row.len()).rev() {
                    row[at] = row[at].wrapping_sub(row[at - samples]);
                }
            }
        }
        bytes
    }

    /// Puts the piece into an image.
    fn paste(&self, image: &mut Image, bytes: &[u8]) {
        let samples = image.samples;
        for (row, bytes) in bytes.chunks(self.columns * samples).enumerate().take(self.height) {
            let to = ((self.y + row) * image.width + self.x) * samples;
            image.pixels[to..to + self.width * samples].copy_from_slice(&bytes[..self.width * samples]);
        }
    }
}

const WIDTH: u16 = 256;
const HEIGHT: u16 = 257;
const BITS: u16 = 258;
const COMPRESSION: u16 = 259;
const PHOTOMETRIC: u16 = 262;
const FILL_ORDER: u16 = 266;
const STRIP_OFFSETS: u16 = 273;
const SAMPLES: u16 = 277;
const ROWS_PER_STRIP: u16 = 278;
const STRIP_LENGTHS: u16 = 279;
const PLANES: u16 = 284;
const PREDICTOR: u16 = 317;
const TILE_WIDTH: u16 = 322;
const TILE_HEIGHT: u16 = 323;
const TILE_OFFSETS: u16 = 324;
const TILE_LENGTHS: u16 = 325;

/// The file of an image.
pub fn write(image: &Image, coding: Coding, pool: &Pool) -> Result<Vec<u8>, Trouble> {
    let Coding { layout, differences } = coding;
    let pieces = layout.pieces(image.width, image.height);
    let mut file = b"II*\0\0\0\0\0".to_vec();
    let (mut offsets, mut lengths) = (Vec::new(), Vec::new());
    for coded in encode_strips(pool, pieces.iter().map(|piece| piece.cut(image, differences))) {
        let coded = coded?;
        offsets.push(u32::try_from(file.len())?);
        lengths.push(u32::try_from(coded.len())?);
        file.extend(coded);
    }
    let short = |value: usize| -> Result<Vec<u32>, Trouble> { Ok(vec![u32::try_from(value)?]) };
    let mut fields = vec![
        (WIDTH, 4, short(image.width)?),
        (HEIGHT, 4, short(image.height)?),
        (BITS, 3, vec![8; image.samples]),
        (COMPRESSION, 3, vec![5]),
        (PHOTOMETRIC, 3, vec![if image.samples == 1 { 1 } else { 2 }]),
        (SAMPLES, 3, short(image.samples)?),
        (PLANES, 3, vec![1]),
    ];
    if differences {
        fields.push((PREDICTOR, 3, vec![2]));
    }
    match layout {
        Layout::Strips(rows) => fields.extend([
            (STRIP_OFFSETS, 4, offsets),
            (ROWS_PER_STRIP, 4, short(rows.min(image.height))?),
            (STRIP_LENGTHS, 4, lengths),
        ]),
        Layout::Tiles(columns, rows) => fields.extend([
            (TILE_WIDTH, 4, short(columns)?),
            (TILE_HEIGHT, 4, short(rows)?),
            (TILE_OFFSETS, 4, offsets),
            (TILE_LENGTHS, 4, lengths),
        ]),
    }
    fields.sort();
    directory(&mut file, &fields)?;
    Ok(file)
}

/// Appends a directory of fields, each with its type (3: two bytes, 4: four), and points at it.
fn directory(file: &mut Vec<u8>, fields: &[(u16, u16, Vec<u32>)]) -> Result<(), Trouble> {
    let mut entries = Vec::new();
    for (tag, kind, values) in fields {
        let mut bytes: Vec<u8> = match kind {
            3 => values.iter().flat_map(|value| (*value as u16).to_le_bytes()).collect(),
            _ => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
        };
        if bytes.len() > 4 {
            file.resize(file.len().next_multiple_of(2), 0);
            let at = u32::try_from(file.len())?;
            file.append(&mut bytes);
            bytes = at.to_le_bytes().to_vec();
        }
        bytes.resize(4, 0);
        entries.extend(tag.to_le_bytes().into_iter().chain(kind.to_le_bytes()));
        entries.extend((values.len() as u32).to_le_bytes().into_iter().chain(bytes));
    }
    file.resize(file.len().next_multiple_of(2), 0);
    let at = u32::try_from(file.len())?;
    file[4..8].copy_from_slice(&at.to_le_bytes());
    file.extend((fields.len() as u16).to_le_bytes().into_iter().chain(entries).chain([0; 4]));
    Ok(())
}

/// The first directory of a file.
struct Directory<'a> {
    file: &'a [u8],
    big_endian: bool,
    entries: &'a [u8],
}

impl<'a> Directory<'a> {
    fn open(file: &'a [u8]) -> Result<Directory<'a>, Trouble> {
        let big_endian = match file.get(..4) {
            Some(b"II*\0") => false,
            Some(b"MM\0*") => true,
            _ => return Err("not a TIFF file".into()),
        };
        let mut directory = Directory { file, big_endian, entries: &[] };
        let at = directory.number(4, 4)?;
        let len = 12 * directory.number(at, 2)?;
        directory.entries = file.get(at + 2..).and_then(|rest| rest.get(..len)).ok_or("the directory is cut")?;
        Ok(directory)
    }

    /// A number of 1, 2 or 4 bytes.
    fn number(&self, at: usize, len: usize) -> Result<usize, Trouble> {
        let bytes = self.file.get(at..).and_then(|rest| rest.get(..len)).ok_or("a field is cut")?;
        let append = |number: usize, byte: &u8| number << 8 | usize::from(*byte);
        let number = if self.big_endian { bytes.iter().fold(0, append) } else { bytes.iter().rev().fold(0, append) };
        Ok(number)
    }

    /// The values of a field; none if the field is missing.
    fn values(&self, tag: u16) -> Result<Vec<usize>, Trouble> {
        let base = self.entries.as_ptr() as usize - self.file.as_ptr() as usize;
        for at in (base..base + self.entries.len()).step_by(12) {
            if self.number(at, 2)? == usize::from(tag) {
                let len = match self.number(at + 2, 2)? {
                    1 => 1,
                    3 => 2,
                    4 => 4,
                    kind => return Err(format!("field {tag} is of type {kind}").into()),
                };
                let count = self.number(at + 4, 4)?;
                if count > self.file.len() / len {
                    return Err(format!("field {tag} is cut").into());
                }
                let from = if count * len <= 4 { at + 8 } else { self.number(at + 8, 4)? };
                return (0..count).map(|i| self.number(from + i * len, len)).collect();
            }
        }
        Ok(Vec::new())
    }

    fn value(&self, tag: u16, otherwise: usize) -> Result<usize, Trouble> {
        Ok(self.values(tag)?.first().copied().unwrap_or(otherwise))
    }
}

/// Decodes strips, each of which has its codes and its number of bytes. Their rows hold differences if there are these
/// numbers of samples and pixels, and are returned without.
pub type Decode<'a> = &'a dyn Fn(&[(&[u8], usize)], Option<(usize, usize)>) -> Result<Vec<Vec<u8>>, Trouble>;

/// Decodes strips on all cores.
pub fn on_cores(
    pool: &Pool,
    strips: &[(&[u8], usize)],
    differences: Option<(usize, usize)>,
) -> Result<Vec<Vec<u8>>, Trouble> {
    let strips = strips.iter().map(|(coded, len)| (coded.to_vec(), *len));
    let mut texts = decode_strips(pool, strips).collect::<Result<Vec<_>, _>>()?;
    if let Some((samples, pixels)) = differences {
        texts.iter_mut().for_each(|text| undo_differences(text, samples, pixels));
    }
    Ok(texts)
}

fn undo_differences(text: &mut [u8], samples: usize, pixels: usize) {
    for row in text.chunks_mut(samples * pixels) {
        for at in samples..row.len() {
            row[at] = row[at].wrapping_add(row[at - samples]);
        }
    }
}

/// The image in a file, and how it is held.
pub fn read(file: &[u8], decode: Decode<'_>) -> Result<(Image, Coding), Trouble> {
    let fields = Directory::open(file)?;
    let (width, height) = (fields.value(WIDTH, 0)?, fields.value(HEIGHT, 0)?);
    let samples = fields.value(SAMPLES, 1)?;
    let pixels = area(width, height, samples)?;
    let compression = fields.value(COMPRESSION, 1)?;
    let differences = fields.value(PREDICTOR, 1)? == 2;
    let usual = [(PLANES, 1), (FILL_ORDER, 1)].iter().all(|&(tag, is)| fields.value(tag, is).is_ok_and(|v| v == is));
    let eight = fields.values(BITS)?.iter().all(|bits| *bits == 8) && !fields.values(BITS)?.is_empty();
    if !usual || !eight || ![1, 3].contains(&samples) || ![1, 5].contains(&compression) {
        return Err("not an image of 8-bit grey or RGB in one plane, coded by LZW or not at all".into());
    }
    let tiled = !fields.values(TILE_OFFSETS)?.is_empty();
    let (layout, offsets, lengths) = match tiled {
        true => {
            let layout = Layout::Tiles(fields.value(TILE_WIDTH, 0)?, fields.value(TILE_HEIGHT, 0)?);
            (layout, fields.values(TILE_OFFSETS)?, fields.values(TILE_LENGTHS)?)
        }
        false => {
            let layout = Layout::Strips(fields.value(ROWS_PER_STRIP, height)?);
            (layout, fields.values(STRIP_OFFSETS)?, fields.values(STRIP_LENGTHS)?)
        }
    };
    match layout {
        Layout::Strips(rows) if rows > 0 => {}
        Layout::Tiles(columns, rows) if area(columns, rows, samples).is_ok() => {}
        _ => return Err("pieces of no size".into()),
    }
    let count = layout.count(width, height);
    if offsets.len() != count || lengths.len() != count {
        return Err(format!("{} pieces, where {count} make the image", offsets.len()).into());
    }
    let pieces = layout.pieces(width, height);
    let coded = |(at, len): (&usize, &usize)| file.get(*at..).and_then(|rest| rest.get(..*len));
    let coded: Option<Vec<&[u8]>> = offsets.iter().zip(&lengths).map(coded).collect();
    let coded = coded.ok_or("a piece is cut")?;
    let mut image = Image { width, height, samples, pixels: vec![0; pixels] };
    if compression == 1 {
        for (piece, bytes) in pieces.iter().zip(coded) {
            let mut bytes = bytes.get(..piece.len(samples)).ok_or("a piece is too short")?.to_vec();
            if differences {
                undo_differences(&mut bytes, samples, piece.columns);
            }
            piece.paste(&mut image, &bytes);
        }
    } else {
        let strips: Vec<_> = pieces.iter().zip(&coded).map(|(piece, coded)| (*coded, piece.len(samples))).collect();
        let differences = differences.then(|| (samples, pieces[0].columns));
        for (piece, bytes) in pieces.iter().zip(decode(&strips, differences)?) {
            piece.paste(&mut image, &bytes);
        }
    }
    Ok((image, Coding { layout, differences }))
}
