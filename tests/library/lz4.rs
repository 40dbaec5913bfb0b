//! LZ4 frames through the library's public interface, compared with `lz4_flex` and, if it is installed, the command
//! `lz4`.

use crate::texts::text;
use crate::{ours, shapes, skip};
use hybz::internals::Flaw;
use hybz::internals::formats::hbz::MAGIC as HBZ_MAGIC;
use hybz::internals::formats::lz4::{Index, LEGACY_MAGIC, MAGIC};
use hybz::lz4::Frame;
use hybz::{Error, Formats, Pool, Settings};
use lz4_flex::frame::{BlockMode, BlockSize, FrameDecoder, FrameEncoder, FrameInfo};
use proptest::collection::vec;
use proptest::prelude::*;
use std::io::{self, Read, Write};
use std::num::NonZeroUsize;
use std::process::{Command, Stdio};

/// Every named input: all edges, and all shapes in one or two lengths.
fn inputs() -> Vec<(&'static str, Vec<u8>)> {
    let edges = shapes::EDGES.iter().map(|edge| (edge.name, (edge.make)()));
    let lens = [1, 200_000];
    let shapes = shapes::SHAPES.iter().flat_map(|shape| lens.map(|len| (shape.name, (shape.make)(len))));
    edges.chain(shapes).filter(|(_, text)| text.len() < 1 << 20).collect()
}

fn compress(text: &[u8], frame: Frame) -> Vec<u8> {
    hybz::compress(text, &Settings::new().encoding(frame)).unwrap()
}

fn decompress(coded: &[u8]) -> Result<Vec<u8>, Error> {
    hybz::decompress(coded, &Settings::new())
}

fn flex(coded: &[u8]) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    FrameDecoder::new(coded).read_to_end(&mut text)?;
    Ok(text)
}

/// `lz4` with these flags, or nothing if it is missing. Standard error is discarded.
fn lz4(flags: &[&str], input: &[u8]) -> Option<(bool, Vec<u8>)> {
    let command =
        Command::new("lz4").args(flags).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let Ok(mut child) = command else {
        skip::skip(skip::Need::Peers, "lz4 is not installed");
        return None;
    };
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        // Errors do not matter: `lz4` may end before it has read everything.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Some((output.status.success(), output.stdout))
}

/// The damage that the error reports.
fn flaw(error: &Error) -> Option<Flaw> {
    match error {
        Error::Data { damage, .. } => Some(damage.flaw()),
        _ => None,
    }
}

#[test]
fn what_hybz_writes() {
    for (name, text) in inputs() {
        for level in [1, 2, 3, 9, 12] {
            let coded = compress(&text, Frame::new().level(level));
            assert!(decompress(&coded).unwrap() == text, "{name} {level}");
            assert!(flex(&coded).unwrap() == text, "{name} {level}");
            let Some((good, read)) = lz4(&["-dc"], &coded) else { continue };
            assert!(good && read == text, "{name} {level}");
        }
    }
}

#[test]
fn what_lz4_writes() {
    let mut all = Vec::new();
    for block in ["-B4", "-B5", "-B6", "-B7"] {
        for linked in ["-BD", "-BI"] {
            for sums in [&[][..], &["-BX"], &["--no-frame-crc"], &["-BX", "--no-frame-crc"]] {
                all.push([&["-c", block, linked], sums].concat());
            }
        }
    }
    all.extend([vec!["-c", "-l"], vec!["-c", "-9"], vec!["-c", "-12", "-BD"], vec!["-c", "--fast=9"]]);
    let texts = [shapes::words(700_000), vec![], b"x".to_vec(), vec![0; 10_000_000]];
    for flags in &all {
        for text in &texts {
            let Some((_, coded)) = lz4(flags, text) else { return };
            assert!(decompress(&coded).unwrap() == *text, "{flags:?} {}", text.len());
        }
    }
    for (name, text) in inputs() {
        for flags in [&["-c", "-BD", "-B4"][..], &["-c", "-l"], &["-c"]] {
            let Some((_, coded)) = lz4(flags, &text) else { return };
            assert!(decompress(&coded).unwrap() == text, "{name} {flags:?}");
        }
    }
}

/// The length in the header is too small by one, and the header's checksum is right.
#[test]
fn a_wrong_text_length() {
    let text = shapes::words(300_000);
    let mut wrong = by_flex(&text, FrameInfo::new().content_size(Some(300_000)));
    wrong[6] -= 1;
    wrong[14] = (twox_hash::XxHash32::oneshot(0, &wrong[4..14]) >> 8) as u8;
    let error = decompress(&wrong).unwrap_err();
    assert!(flaw(&error) == Some(Flaw::Lz4TextLength { stated: 299_999, found: 300_000 }), "{error}");
}

fn by_flex(text: &[u8], info: FrameInfo) -> Vec<u8> {
    let mut encoder = FrameEncoder::with_frame_info(info, Vec::new());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// All flags that `lz4_flex` writes.
fn infos(len: u64) -> Vec<FrameInfo> {
    let mut infos = Vec::new();
    for mode in [BlockMode::Independent, BlockMode::Linked] {
        for size in [BlockSize::Max64KB, BlockSize::Max256KB, BlockSize::Max1MB, BlockSize::Max4MB] {
            for bits in 0..8 {
                infos.push(
                    FrameInfo::new()
                        .block_mode(mode)
                        .block_size(size)
                        .block_checksums(bits & 1 > 0)
                        .content_checksum(bits & 2 > 0)
                        .content_size((bits & 4 > 0).then_some(len)),
                );
            }
        }
    }
    infos
}

/// A legacy frame, which `lz4_flex` reads and does not write.
fn legacy(text: &[u8]) -> Vec<u8> {
    let mut coded = LEGACY_MAGIC.to_vec();
    for text in text.chunks(8 << 20) {
        let block = lz4_flex::block::compress(text);
        coded.extend((block.len() as u32).to_le_bytes());
        coded.extend(block);
    }
    coded
}

#[test]
fn legacy_frames_of_any_length() {
    for len in [700_000, 17_000_000] {
        let text = shapes::words(len);
        let coded = legacy(&text);
        assert!(flex(&coded).unwrap() == text);
        assert!(decompress(&coded).unwrap() == text);
    }
}

/// Frames of all kinds one after the other, with skippable ones between them, read in pieces of any size.
#[test]
fn many_frames() {
    let text = shapes::words(100_000);
    let mut coded = b"\x50\x2a\x4d\x18\x03\0\0\0abc".to_vec();
    let mut all = Vec::new();
    // lz4 1.9.4 loses its place after frames that have checksums of blocks but none of the text: it reads only the
    // first of two such frames that it wrote itself (`-B4 -BX --no-frame-crc`). It is not run on such frames.
    let (mut for_lz4, mut read_by_lz4) = (coded.clone(), Vec::new());
    let frames = infos(100_000).into_iter().map(|info| by_flex(&text, info));
    for (number, frame) in [legacy(&text)].into_iter().chain(frames).enumerate() {
        let frame = [&frame[..], b"\x5f\x2a\x4d\x18\0\0\0\0"].concat();
        coded.extend_from_slice(&frame);
        all.extend_from_slice(&text);
        if number == 0 || frame[4] & 0x14 != 0x10 {
            for_lz4.extend_from_slice(&frame);
            read_by_lz4.extend_from_slice(&text);
        }
    }
    for (coded, all) in [(&mut coded, &mut all), (&mut for_lz4, &mut read_by_lz4)] {
        coded.extend(compress(&text, Frame::new()));
        all.extend_from_slice(&text);
    }
    assert!(decompress(&coded).unwrap() == all);
    for chunk in [1, 2, 3, 7, 4096] {
        assert!(hybz::decompress(&coded, &Settings::new().scan_chunk(chunk)).unwrap() == all, "{chunk}");
    }
    let one = Settings::new().pool(&Pool::builder().threads(NonZeroUsize::MIN).memory(1).build());
    assert!(hybz::decompress(&coded, &one).unwrap() == all);
    assert!(ours::decompress_written(&coded, 1001, &Settings::new()) == (Ok(()), all.clone()));
    assert_eq!((all.len(), read_by_lz4.len()), (6_600_000, 5_000_000));
    if let Some((good, read)) = lz4(&["-dc"], &for_lz4) {
        assert!(good && read == read_by_lz4, "{good} {}", read.len());
    }
    // Only skippable frames: no text, as for lz4.
    assert!(decompress(&coded[..11]).unwrap().is_empty());
    // Skippable frames and other data after them, as in files of parallel zstd.
    let other = [&coded[..11], &[0x28, 0xb5, 0x2f, 0xfd, 4, 0, 1, 0, 0]].concat();
    for settings in [Settings::new(), Settings::new().trailing_garbage(false)] {
        assert!(matches!(hybz::decompress(&other, &settings), Err(hybz::Error::NotBzip2)));
    }
}

/// A decoder of a single frame, of several blocks, does not consume the bytes after the frame.
#[test]
fn the_first_frame() {
    let text = shapes::words(700_000);
    for info in infos(700_000) {
        let coded = [by_flex(&text, info), b"what follows".to_vec()].concat();
        let mut rest = &coded[..];
        let mut read = Vec::new();
        hybz::bufread::BzDecoder::new(&mut rest).read_to_end(&mut read).unwrap();
        assert!(read == text);
        assert_eq!(rest, b"what follows");
    }
}

#[test]
fn what_follows() {
    let text = shapes::words(100_000);
    let coded = compress(&text, Frame::new());
    let strict = Settings::new().trailing_garbage(false);
    for garbage in [&b"garbage"[..], b"B", b"\x04", b"\x04\x22\x4d", b"BZh9", &HBZ_MAGIC] {
        let both = [&coded, garbage].concat();
        assert!(decompress(&both).unwrap() == text);
        let error = hybz::decompress(&both, &strict).unwrap_err();
        assert!(matches!(error, Error::TrailingGarbage { offset } if offset as usize == coded.len()), "{error}");
    }
    // An LZ4 frame after a bzip2 stream is garbage, as it is for bzip2.
    let bz2 = hybz::compress(&text, &Settings::new()).unwrap();
    assert!(decompress(&[&bz2[..], &coded].concat()).unwrap() == text);
    assert!(matches!(hybz::decompress(&coded, &Settings::new().formats(Formats::Bzip2)), Err(Error::NotBzip2)));
}

/// Data in no format of ours are "not a bzip2 file", whatever the first byte is.
#[test]
fn other_files() {
    for bytes in [&b"Plain text"[..], b"P", b"\x04", b"\x02abcdef", b"\x04\x22\x4d\x19aaaa", b"Q*M", b"\x04\x22a"] {
        let error = decompress(bytes).unwrap_err();
        let cut = matches!(error, Error::Truncated { bit_offset: 8, .. }) && bytes == b"\x04";
        assert!(cut || matches!(error, Error::NotBzip2), "{bytes:?} {error}");
    }
}

#[test]
fn headers_that_are_refused() {
    let field = |of: &'static str| Flaw::Lz4Field(of);
    for (flags, sizes, fields, wrong) in [
        (0x00, 0x40, &[][..], field("version of the frame")),
        (0x80, 0x40, &[], field("version of the frame")),
        (0x42, 0x40, &[], field("reserved bit of the frame")),
        (0x40, 0x41, &[], field("reserved bit of the frame")),
        (0x40, 0xc0, &[], field("reserved bit of the frame")),
        (0x40, 0x30, &[], field("block size of the frame")),
        (0x41, 0x40, &[1, 2, 0, 0], Flaw::Lz4Dictionary(513)),
        (0x49, 0x40, &[9, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0], Flaw::Lz4Dictionary(513)),
    ] {
        let mut coded = [&MAGIC[..], &[flags, sizes], fields].concat();
        coded.push((twox_hash::XxHash32::oneshot(0, &coded[4..]) >> 8) as u8);
        coded.extend([0; 4]);
        assert_eq!(flaw(&decompress(&coded).unwrap_err()), Some(wrong));
    }
}

/// Legacy frames end where their bytes end, or where a magic follows; lz4's result for each input is in brackets.
#[test]
fn legacy_frames() {
    let magic = b"\x02\x21\x4c\x18";
    let with = |rest: &[u8]| decompress(&[magic, rest].concat());
    assert_eq!(with(b"").unwrap(), b"");
    assert_eq!(with(b"\x02\0\0\0\x10a").unwrap(), b"a");
    assert_eq!(with(b"\x02\0\0\0\x10a\x02\x21\x4c\x18\x02\0\0\0\x10b").unwrap(), b"ab");
    // [Error 52, 54, 53]
    assert!(matches!(with(b"\0"), Err(Error::Truncated { bit_offset: 40, .. })));
    assert!(matches!(flaw(&with(b"\0\0\0\0").unwrap_err()), Some(Flaw::Lz4Block)));
    assert!(matches!(with(b"\x02\0\0\0\x10"), Err(Error::Truncated { .. })));
    for rest in
        [&b""[..], b"\0", b"\0\0\0\0", b"\x02\0\0\0\x10", b"\x02\0\0\0\x10a", b"\x01\0\0\0\x10", b"\x02\0\0\0\x10ab"]
    {
        let coded = [magic, rest].concat();
        let Some((good, text)) = lz4(&["-dc"], &coded) else { return };
        assert_eq!(good, decompress(&coded).is_ok(), "{rest:?}");
        if good {
            assert_eq!(decompress(&coded).unwrap(), text);
        }
    }
}

/// Small files, cut at every byte, and with each bit flipped. hybz refuses whatever lz4 refuses, except that bytes
/// after the last frame are garbage for hybz and an error for lz4.
#[test]
fn damage() {
    let text = shapes::words(800);
    let mut files = vec![compress(&text, Frame::new()), compress(&text, Frame::new().index(false))];
    let info = FrameInfo::new().block_checksums(true).content_checksum(true).content_size(Some(800));
    files.push(by_flex(&text, info.clone().block_mode(BlockMode::Linked)));
    files.push(by_flex(&text, info));
    files.push(legacy(&text));
    let strict = Settings::new().trailing_garbage(false);
    for (number, coded) in files.iter().enumerate() {
        for end in 1..coded.len() {
            let ours = hybz::decompress(&coded[..end], &strict);
            if end % 16 == 3
                && let Some((good, read)) = lz4(&["-dc"], &coded[..end])
            {
                assert_eq!(ours.is_ok(), good, "{number}, cut at {end}");
                assert!(ours.is_err() || ours.unwrap() == read);
            } else {
                assert!(ours.is_err() || number == 0 || number == 4, "{number}, cut at {end}");
            }
        }
        for bit in 0..coded.len() * 8 {
            let mut wrong = coded.clone();
            wrong[bit / 8] ^= 1 << (bit % 8);
            let ours = hybz::decompress(&wrong, &strict);
            if bit % 64 == 5
                && let Some((good, read)) = lz4(&["-dc"], &wrong)
            {
                assert_eq!(ours.is_ok(), good, "{number}, bit {bit}: {ours:?}");
                assert!(ours.is_err() || ours.unwrap() == read);
            } else if number < 4 {
                assert!(ours.is_err() || ours.unwrap() == text, "{number}, bit {bit}");
            }
        }
    }
}

/// False lengths cost no memory and no time.
#[test]
fn hostile_lengths() {
    let header = &compress(b"", Frame::new())[..7];
    let with = |rest: &[u8]| decompress(&[header, rest].concat());
    assert!(
        matches!(with(&[0xff; 4]), Err(Error::Data { damage, .. }) if matches!(damage.flaw(), Flaw::Lz4Length { .. }))
    );
    assert!(matches!(flaw(&with(&[1, 0, 1, 0]).unwrap_err()), Some(Flaw::Lz4Length { len: 65_537, .. })));
    assert!(matches!(with(&[0, 0, 1, 0]), Err(Error::Truncated { .. })));
    // A match whose length has 508 bytes of 255: more text than a block may have.
    let bomb = [&[0x01, 0x02, 0, 0][..], &[0x1f, b'a', 1, 0], &[255; 508], &[0x00]].concat();
    assert!(matches!(flaw(&with(&bomb).unwrap_err()), Some(Flaw::Lz4Block)));
    // A million blocks without text.
    let empty = [header, &[0, 0, 0, 0x80].repeat(1_000_000), &[0, 0, 0, 0, 0x05, 0x5d, 0xcc, 0x02]].concat();
    assert!(decompress(&empty).unwrap().is_empty());
    // A skippable frame that is longer than the file.
    assert!(matches!(decompress(b"\x50\x2a\x4d\x18\xff\xff\xff\xffabc"), Err(Error::Truncated { .. })));
}

/// Text before the damage is written, and the block is named.
#[test]
fn the_damaged_block_is_named() {
    let text = shapes::words(1_000_000);
    for mode in [BlockMode::Independent, BlockMode::Linked] {
        let info = FrameInfo::new().block_mode(mode).block_size(BlockSize::Max64KB).block_checksums(true);
        let mut coded = by_flex(&text, info);
        let mut at = 7;
        for _ in 0..9 {
            at += 8 + (u32::from_le_bytes(coded[at..at + 4].try_into().unwrap()) & !(1 << 31)) as usize;
        }
        coded[at + 100] ^= 1;
        let mut read = Vec::new();
        let error = hybz::read::MultiBzDecoder::new(&coded[..]).read_to_end(&mut read).unwrap_err();
        let error = error.downcast::<Error>().unwrap();
        let Error::Data { block, bit_offset, damage } = error else { panic!("{error}") };
        assert!(matches!(damage.flaw(), Flaw::Lz4Checksum { part: "block", .. }), "{damage}");
        assert_eq!((block, bit_offset), (10, at as u64 * 8));
        assert!(read == text[..9 << 16]);
    }
}

/// The index after a frame, which ends with its length and a magic.
fn index_of(coded: &[u8]) -> Index {
    let len = u32::from_le_bytes(coded[coded.len() - 8..][..4].try_into().unwrap());
    Index::parse(&coded[coded.len() - len as usize..]).expect("an index")
}

#[test]
fn lengths_that_are_stated() {
    let text = shapes::words(3_000_000);
    let stated = compress(&text, Frame::new().text_len(3_000_000));
    let unknown = compress(&text, Frame::new());
    assert_eq!(stated.len(), unknown.len() + 8);
    // These are the bytes that `lz4 -B4` of version 1.9.4 writes.
    assert!(stated[4] == 0x6c && unknown.starts_with(&[0x04, 0x22, 0x4d, 0x18, 0x64, 0x40, 0xa7]));
    for other in [2_999_999, 3_000_001, 1] {
        let error = hybz::compress(&text, &Settings::new().encoding(Frame::new().text_len(other))).unwrap_err();
        assert!(matches!(error, Error::TextLength { stated, found: 3_000_000 } if stated == other));
    }
    for coded in [stated, unknown] {
        assert!(flex(&coded).unwrap() == text);
        assert_eq!(index_of(&coded).blocks.iter().map(|&(_, len)| len).sum::<u32>(), 3_000_000);
    }
}

/// Blocks end where a writer was flushed, and the index lists them.
#[test]
fn flushes() {
    let text = shapes::words(200_000);
    let mut encoder = hybz::write::BzEncoder::with_settings(Vec::new(), &Settings::new().encoding(Frame::new()));
    for sip in text.chunks(30_001) {
        encoder.write_all(sip).unwrap();
        encoder.flush().unwrap();
    }
    let coded = encoder.finish().unwrap();
    assert!(decompress(&coded).unwrap() == text);
    assert!(flex(&coded).unwrap() == text);
    assert_eq!(index_of(&coded).blocks.len(), 7);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn there_and_back(text in text(4, 10), level in 0..14_u8, index in any::<bool>(), chunk in 1..5000_usize) {
        let coded = compress(&text, Frame::new().level(level).index(index));
        prop_assert!(hybz::decompress(&coded, &Settings::new().scan_chunk(chunk)).unwrap() == text);
        prop_assert!(flex(&coded).unwrap() == text);
    }

    #[test]
    fn anything(bytes in vec(any::<u8>(), 0..300), which in 0..4_usize) {
        let linked = [4, 0x22, 0x4d, 0x18, 0x40, 0x40, 0xc0];
        let head: [&[u8]; 4] = [&MAGIC, &LEGACY_MAGIC, &linked, b"P*M\x18"];
        let _ = decompress(&[head[which], &bytes].concat());
    }
}
