//! Baseline TIFF files of 8-bit samples, grey or RGB, in strips or tiles that are LZW-coded, or not coded at all. All
//! cores code the strips; the package `tiff` reads and writes the tags that locate them.

use ::tiff::ColorType;
use ::tiff::decoder::{ChunkType, Decoder};
use ::tiff::encoder::TiffEncoder;
use ::tiff::tags::Tag;
use hybz::Pool;
use hybz_tiff_lzw::{decode_strips, encode_strips};
use std::io::Cursor;

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
    /// The columns and rows of a piece.
    fn size(self, width: usize, height: usize) -> (usize, usize) {
        match self {
            Layout::Strips(rows) => (width, rows.min(height)),
            Layout::Tiles(columns, rows) => (columns, rows),
        }
    }

    /// The pieces, in the order of the file.
    fn pieces(self, width: usize, height: usize) -> Vec<Piece> {
        let (columns, rows) = self.size(width, height);
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

/// The file of an image.
pub fn write(image: &Image, coding: Coding, pool: &Pool) -> Result<Vec<u8>, Trouble> {
    let pieces = coding.layout.pieces(image.width, image.height);
    let coded = encode_strips(pool, pieces.iter().map(|piece| piece.cut(image, coding.differences)));
    file([image.width, image.height, image.samples], coding, coded.collect::<Result<_, _>>()?)
}

/// The file of an image of this width, height and number of samples, whose pieces are coded.
pub fn file([width, height, samples]: [usize; 3], coding: Coding, pieces: Vec<Vec<u8>>) -> Result<Vec<u8>, Trouble> {
    let mut file = Cursor::new(Vec::new());
    let mut tiff = TiffEncoder::new(&mut file)?;
    let mut fields = tiff.image_directory()?;
    let (mut offsets, mut lengths) = (Vec::new(), Vec::new());
    for coded in pieces {
        lengths.push(u32::try_from(coded.len())?);
        offsets.push(u32::try_from(fields.write_data(&coded[..])?)?);
    }
    fields.write_tag(Tag::ImageWidth, u32::try_from(width)?)?;
    fields.write_tag(Tag::ImageLength, u32::try_from(height)?)?;
    fields.write_tag(Tag::BitsPerSample, &[8_u16; 3][..samples])?;
    fields.write_tag(Tag::Compression, 5_u16)?;
    fields.write_tag(Tag::PhotometricInterpretation, if samples == 1 { 1_u16 } else { 2 })?;
    fields.write_tag(Tag::SamplesPerPixel, samples as u16)?;
    fields.write_tag(Tag::PlanarConfiguration, 1_u16)?;
    fields.write_tag(Tag::Predictor, if coding.differences { 2_u16 } else { 1 })?;
    let (columns, rows) = coding.layout.size(width, height);
    if let Layout::Strips(_) = coding.layout {
        fields.write_tag(Tag::RowsPerStrip, u32::try_from(rows)?)?;
        fields.write_tag(Tag::StripOffsets, &offsets[..])?;
        fields.write_tag(Tag::StripByteCounts, &lengths[..])?;
    } else {
        fields.write_tag(Tag::TileWidth, u32::try_from(columns)?)?;
        fields.write_tag(Tag::TileLength, u32::try_from(rows)?)?;
        fields.write_tag(Tag::TileOffsets, &offsets[..])?;
        fields.write_tag(Tag::TileByteCounts, &lengths[..])?;
    }
    fields.finish()?;
    Ok(file.into_inner())
}

/// Decodes strips, each of which has its codes and its number of bytes. Given numbers of samples and pixels, the rows
/// hold differences, which are undone.
pub type Decode<'a> = &'a dyn Fn(&[(&[u8], usize)], Option<(usize, usize)>) -> Result<Vec<Vec<u8>>, Trouble>;

/// Decodes strips on all cores.
pub fn on_cores(
    pool: &Pool,
    strips: &[(&[u8], usize)],
    differences: Option<(usize, usize)>,
) -> Result<Vec<Vec<u8>>, Trouble> {
    let strips = strips.iter().map(|(coded, len)| (coded.to_vec(), *len));
    Ok(undone(decode_strips(pool, strips).collect::<Result<_, _>>()?, differences))
}

/// Undoes differences.
fn undone(mut texts: Vec<Vec<u8>>, differences: Option<(usize, usize)>) -> Vec<Vec<u8>> {
    if let Some((samples, pixels)) = differences {
        for row in texts.iter_mut().flat_map(|text| text.chunks_mut(samples * pixels)) {
            for at in samples..row.len() {
                row[at] = row[at].wrapping_add(row[at - samples]);
            }
        }
    }
    texts
}

/// The image in a file, and how it is held.
pub fn read(file: &[u8], decode: Decode<'_>) -> Result<(Image, Coding), Trouble> {
    let mut fields = Decoder::new(Cursor::new(file))?;
    let (width, height) = fields.dimensions()?;
    let (width, height) = (width as usize, height as usize);
    let samples = match fields.colortype()? {
        ColorType::Gray(8) => 1,
        ColorType::RGB(8) => 3,
        _ => 0,
    };
    let mut value = |tag| fields.find_tag_unsigned::<u16>(tag).map(|value| value.unwrap_or(1));
    let (compression, differences) = (value(Tag::Compression)?, value(Tag::Predictor)? == 2);
    let usual = value(Tag::PlanarConfiguration)? == 1 && value(Tag::FillOrder)? == 1;
    if !usual || samples == 0 || ![1, 5].contains(&compression) {
        return Err("not an image of 8-bit grey or RGB in one plane, coded by LZW or not at all".into());
    }
    let pixels = area(width, height, samples)?;
    let (columns, rows) = fields.chunk_dimensions();
    let (columns, rows) = (columns as usize, rows as usize);
    let (layout, offsets, lengths) = match fields.get_chunk_type() {
        ChunkType::Strip => (Layout::Strips(rows), Tag::StripOffsets, Tag::StripByteCounts),
        ChunkType::Tile => (Layout::Tiles(columns, rows), Tag::TileOffsets, Tag::TileByteCounts),
    };
    let (offsets, lengths) = (fields.get_tag_u64_vec(offsets)?, fields.get_tag_u64_vec(lengths)?);
    let (columns, rows) = layout.size(width, height);
    area(columns, rows, samples)?;
    let count = width.div_ceil(columns) * height.div_ceil(rows);
    if offsets.len() != count || lengths.len() != count {
        return Err(format!("{} pieces, where {count} make the image", offsets.len()).into());
    }
    let pieces = layout.pieces(width, height);
    let coded = |(at, len): (&u64, &u64)| file.get(*at as usize..)?.get(..*len as usize);
    let coded: Option<Vec<&[u8]>> = offsets.iter().zip(&lengths).map(coded).collect();
    let strips = coded.ok_or("a piece is cut")?.into_iter().zip(&pieces);
    let strips: Vec<_> = strips.map(|(coded, piece)| (coded, piece.len(samples))).collect();
    let differences_of = differences.then_some((samples, columns));
    let texts = if compression == 1 {
        let plain = strips.iter().map(|(bytes, len)| bytes.get(..*len).map(<[u8]>::to_vec));
        undone(plain.collect::<Option<_>>().ok_or("a piece is too short")?, differences_of)
    } else {
        decode(&strips, differences_of)?
    };
    let mut image = Image { width, height, samples, pixels: vec![0; pixels] };
    pieces.iter().zip(texts).for_each(|(piece, text)| piece.paste(&mut image, &text));
    Ok((image, Coding { layout, differences }))
}
