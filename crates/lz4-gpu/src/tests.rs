//! Compares `Decoder`, on a fake device and on a real one, with the decoders of the cores.
#![allow(unsafe_code)]

use super::sequence::tests::decode as decode_plainly;
use super::{Decoder, Error, Layout};
use hybz::internals::Flaw;
use hybz::internals::formats::lz4::{Index, checksum};
use hybz::lz4::Frame;
use hybz::{Error as FrameError, Settings};
use hybz_gpu::{Coded, DeviceBytes, DeviceError, DeviceLane, LaneSize, Lz4ForDevice, MAX_LZ4};
use hybz_testkit::shapes;
use hybz_testkit::skip::{Need, skip};
use lz4_flex::frame::{BlockMode, BlockSize, FrameEncoder, FrameInfo};
use std::io::Write;
use std::slice;
use std::time::Duration;

/// A fake device in host memory that does what the kernel does, one block after the other with the plain twin. It takes
/// a limited number of blocks at once.
struct Pretended(usize);

impl DeviceLane for Pretended {
    fn size(&self) -> LaneSize {
        LaneSize { max_blocks: self.0, max_length: 0 }
    }

    unsafe fn decode_lz4(
        &mut self,
        coded: Coded<'_>,
        blocks: &[Lz4ForDevice],
        text: (u64, u64),
        damaged: &mut [u32],
        _: Duration,
    ) -> Result<(), DeviceError> {
        assert!(blocks.len() <= self.0 && blocks.len() == damaged.len());
        // SAFETY: the addresses come from `Memory`.
        let (coded, text) = unsafe {
            let coded = match coded {
                Coded::Device(at, len) => slice::from_raw_parts(at as *const u8, len as usize),
                Coded::Host(bytes, staging) => {
                    slice::from_raw_parts_mut(staging as *mut u8, bytes.len()).copy_from_slice(bytes);
                    bytes
                }
            };
            (coded, slice::from_raw_parts_mut(text.0 as *mut u8, text.1 as usize))
        };
        for (block, damaged) in blocks.iter().zip(damaged) {
            assert!(block.length <= MAX_LZ4);
            let coded = &coded[block.from as usize..][..block.coded as usize];
            let text = &mut text[block.to as usize..][..block.length as usize];
            let right = if block.plain != 0 {
                text.copy_from_slice(coded);
                true
            } else {
                decode_plainly(coded, text)
            };
            *damaged = u32::from(!right);
        }
        Ok(())
    }
}

/// Memory of the device with this number.
struct Memory(Vec<u8>, i32);

// SAFETY: the vector is borrowed while its address is in use.
unsafe impl DeviceBytes for Memory {
    fn ordinal(&self) -> i32 {
        self.1
    }

    fn bytes(&self) -> u64 {
        self.0.len() as u64
    }

    fn settle(&mut self) -> Result<u64, DeviceError> {
        Ok(self.0.as_mut_ptr() as u64)
    }
}

fn zeros(len: u64) -> Memory {
    Memory(vec![0; len as usize], 0)
}

fn words(len: usize) -> Vec<u8> {
    (shapes::SHAPES.iter().find(|shape| shape.name == "words").unwrap().make)(len)
}

fn by_flex(text: &[u8], info: &FrameInfo) -> Vec<u8> {
    let mut encoder = FrameEncoder::with_frame_info(info.clone(), Vec::new());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn compress(text: &[u8], frame: Frame) -> Vec<u8> {
    hybz::compress(text, &Settings::new().encoding(frame)).unwrap()
}

/// Decodes from host memory and from device memory.
fn decode(coded: &[u8], at_once: usize) -> Result<Vec<u8>, Error> {
    let layout = Layout::read(coded)?;
    assert_eq!(layout.coded_len(), coded.len() as u64);
    let mut decoder = Decoder::on(Box::new(Pretended(at_once)), 0);
    let (mut staging, mut text) = (zeros(layout.coded_len()), zeros(layout.text_len()));
    decoder.load(coded, &layout, &mut staging, &mut text)?;
    assert!(staging.0 == coded || layout.blocks() == 0);
    let mut again = zeros(layout.text_len());
    decoder.decode(&mut staging, &layout, &mut again)?;
    assert!(again.0 == text.0);
    Ok(text.0)
}

fn refused(coded: &[u8]) -> Error {
    match decode(coded, 9) {
        Ok(text) => panic!("it is {} bytes of text", text.len()),
        Err(error) => error,
    }
}

/// Settings for every kind of independent frame that `lz4_flex` writes.
fn infos(len: u64) -> Vec<FrameInfo> {
    let sizes = [BlockSize::Max64KB, BlockSize::Max256KB, BlockSize::Max1MB, BlockSize::Max4MB];
    let all = sizes.into_iter().flat_map(|size| (0..8).map(move |bits| (size, bits)));
    all.map(|(size, bits)| {
        FrameInfo::new()
            .block_mode(BlockMode::Independent)
            .block_size(size)
            .block_checksums(bits & 1 > 0)
            .content_checksum(bits & 2 > 0)
            .content_size((bits & 4 > 0).then_some(len))
    })
    .collect()
}

#[test]
fn frames_of_all_kinds() {
    let text = words(1_300_000);
    let mut many = b"\x50\x2a\x4d\x18\x03\0\0\0abc".to_vec();
    let mut all = Vec::new();
    for info in infos(1_300_000) {
        let coded = by_flex(&text, &info);
        let layout = Layout::read(&coded).unwrap();
        assert_eq!(layout.text_len(), 1_300_000);
        layout.check_blocks(&coded).unwrap();
        assert!(decode(&coded, 1000).unwrap() == text, "{info:?}");
        if format!("{info:?}").contains("64KB") {
            many.extend(coded);
            many.extend(b"\x5f\x2a\x4d\x18\0\0\0\0");
            all.extend_from_slice(&text);
        }
    }
    for frame in [Frame::new(), Frame::new().index(false), Frame::new().level(9)] {
        let coded = compress(&text, frame);
        assert!(decode(&coded, 1000).unwrap() == text, "{frame:?}");
        many.extend(coded);
        all.extend_from_slice(&text);
    }
    assert!(!all.is_empty());
    // Consecutive frames with and without an index, in parts of a few blocks.
    for at_once in [7, 100_000] {
        assert!(decode(&many, at_once).unwrap() == all);
    }
    let shapes = shapes::SHAPES.iter().flat_map(|shape| [1, 100_000].map(|len| (shape.make)(len)));
    for text in shapes.chain([Vec::new(), vec![7; 70_000]]) {
        for frame in [Frame::new(), Frame::new().index(false)] {
            assert!(decode(&compress(&text, frame), 9).unwrap() == text);
        }
    }
}

/// A writer may end a block wherever it likes.
#[test]
fn short_blocks() {
    let text = words(200_000);
    let info = FrameInfo::new().block_mode(BlockMode::Independent).block_size(BlockSize::Max64KB);
    let mut theirs = FrameEncoder::with_frame_info(info, Vec::new());
    let settings = Settings::new().encoding(Frame::new());
    let mut ours = hybz::write::BzEncoder::with_settings(Vec::new(), &settings);
    for sip in text.chunks(30_001) {
        theirs.write_all(sip).unwrap();
        theirs.flush().unwrap();
        ours.write_all(sip).unwrap();
        ours.flush().unwrap();
    }
    for coded in [theirs.finish().unwrap(), ours.finish().unwrap()] {
        assert_eq!(Layout::read(&coded).unwrap().blocks(), 7);
        assert!(decode(&coded, 3).unwrap() == text);
    }
}

#[test]
fn what_is_for_the_cores() {
    let linked = by_flex(&words(200_000), &FrameInfo::new().block_mode(BlockMode::Linked));
    let second = [&compress(b"first", Frame::new())[..], &linked].concat();
    for (coded, at) in [(&linked, 0), (&second, second.len() - linked.len())] {
        let error = refused(coded);
        assert!(matches!(error, Error::Linked { offset } if offset as usize == at), "{error:?}");
        assert!(error.to_string().contains("on the cores"));
    }
    let legacy = b"\x02\x21\x4c\x18\x02\0\0\0\x10a";
    assert!(matches!(decode(legacy, 9), Err(Error::Legacy { offset: 0 })));
    let mut dictionary = vec![0x04, 0x22, 0x4d, 0x18, 0x61, 0x40, 7, 0, 0, 0];
    dictionary.push((checksum(&dictionary[4..]) >> 8) as u8);
    assert_eq!(flaw_of(&refused(&dictionary)).1, Flaw::Lz4Dictionary(7));
}

/// The block that is damaged, from 1, and how.
#[track_caller]
fn flaw_of(error: &Error) -> (u64, Flaw) {
    let Error::Frame(FrameError::Data { block, damage, .. }) = error else { panic!("{error:?}") };
    (*block, damage.flaw())
}

/// The device refuses what the cores refuse, apart from checksums of the text, and reports the same block and bit. (The
/// cores find a wrong checksum when they come to the block. A device first reads the layout, and finds damaged blocks
/// last.)
fn same_place(ours: &FrameError, theirs: &FrameError, what: &str) {
    let is_placed = match (ours, theirs) {
        (FrameError::Data { damage, .. }, FrameError::Data { damage: other, .. }) => damage == other,
        (FrameError::Truncated { .. }, FrameError::Truncated { .. }) => true,
        (FrameError::TrailingGarbage { .. }, FrameError::TrailingGarbage { .. }) => true,
        _ => false,
    };
    assert!(!is_placed || format!("{ours:?}") == format!("{theirs:?}"), "{what}: {ours:?}, {theirs:?}");
}

#[test]
fn damage() {
    let text = words(1500);
    let info = FrameInfo::new().block_mode(BlockMode::Independent).block_checksums(true).content_size(Some(1500));
    let files = [by_flex(&text, &info), compress(&text, Frame::new()), compress(&text, Frame::new().index(false))];
    for (number, coded) in files.iter().enumerate() {
        for end in 0..coded.len() {
            let whole = number == 1 && files[2].len() == end;
            assert_eq!(decode(&coded[..end], 9).is_ok(), whole, "{number}, cut at {end}");
        }
        for bit in 0..coded.len() * 8 {
            let mut wrong = coded.clone();
            wrong[bit / 8] ^= 1 << (bit % 8);
            let on_cores = hybz::decompress(&wrong, &Settings::new().trailing_garbage(false));
            let checked = Layout::read(&wrong).and_then(|layout| layout.check_blocks(&wrong));
            match (checked.and_then(|()| decode(&wrong, 9)), on_cores) {
                (Ok(read), Ok(right)) => assert!(read == right, "{number}, bit {bit}"),
                // A wrong checksum of the text, or a wrong length that results from a changed flag.
                (Ok(_), Err(error)) => {
                    let FrameError::Data { damage, .. } = &error else { panic!("{number}, bit {bit}: {error}") };
                    let of_text = matches!(damage.flaw(), Flaw::Lz4Checksum { part: "text", .. });
                    assert!(of_text, "{number}, bit {bit}: {error}");
                }
                (Err(Error::Frame(ours)), Err(theirs)) => same_place(&ours, &theirs, &format!("{number}, bit {bit}")),
                (Err(_), Err(_)) => {}
                // A false index, which the cores do not read.
                (Err(error), Ok(_)) => assert!(number == 1 && bit / 8 >= files[2].len(), "{number}, {bit}: {error}"),
            }
        }
    }
    let text = words(500_000);
    let coded = by_flex(&text, &info.content_size(None).block_size(BlockSize::Max64KB));
    let layout = Layout::read(&coded).unwrap();
    let block = layout.of_device()[4];
    let mut wrong = coded.clone();
    wrong[block.from as usize + 50] ^= 1;
    let error = layout.check_blocks(&wrong).unwrap_err();
    let Error::Frame(FrameError::Data { block: 5, bit_offset, damage }) = error else { panic!("{error:?}") };
    assert_eq!(bit_offset, (block.from - 4) * 8);
    assert!(matches!(damage.flaw(), Flaw::Lz4Checksum { part: "block", .. }), "{damage:?}");
    // The device gets bytes that differ from those of the layout: a distance of 0.
    wrong[block.from as usize..][..block.coded as usize].fill(0);
    let mut decoder = Decoder::on(Box::new(Pretended(3)), 0);
    let error = decoder.load(&wrong, &layout, &mut zeros(layout.coded_len()), &mut zeros(500_000)).unwrap_err();
    assert_eq!(flaw_of(&error), (5, Flaw::Lz4Block));
}

/// A frame, and the same frame before its index.
fn with_index(text: &[u8]) -> (Vec<u8>, Vec<u8>) {
    (compress(text, Frame::new().index(false)), compress(text, Frame::new()))
}

/// Makes the checksum of an index right.
fn seal(index: &mut [u8]) {
    let end = index.len() - 12;
    let sum = checksum(&index[..end]);
    index[end..end + 4].copy_from_slice(&sum.to_le_bytes());
}

/// The checksum finds each wrong bit in an index. If the checksum is made right, the index or a block is refused, or
/// the text is right. The cores read the frame in any case.
#[test]
fn a_damaged_index() {
    let text = words(200_000);
    let (frame, coded) = with_index(&text);
    let mut refused = 0;
    for bit in (frame.len() + 8) * 8..coded.len() * 8 {
        let mut wrong = coded.clone();
        wrong[bit / 8] ^= 1 << (bit % 8);
        assert!(Index::parse(&wrong[frame.len()..]).is_err(), "{bit}");
        assert!(hybz::decompress(&wrong, &Settings::new()).unwrap() == text);
        seal(&mut wrong[frame.len()..]);
        match decode(&wrong, 9) {
            Ok(found) => assert!(found == text, "{bit}"),
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 500, "{refused}");
    for end in 0..coded.len() - frame.len() {
        assert!(Index::parse(&coded[frame.len()..][..end]).is_err(), "{end}");
    }
}

/// An index of another version is not used, whatever it says: the lengths of texts come from the blocks.
#[test]
fn an_index_of_another_version() {
    let text = words(200_000);
    let (frame, mut coded) = with_index(&text);
    for version in [0, 1, 3, 255] {
        coded[frame.len() + 12] = version;
        coded[frame.len() + 16..][..40].fill(version);
        seal(&mut coded[frame.len()..]);
        assert!(!Index::claims(&coded[frame.len()..]));
        assert!(decode(&coded, 9).unwrap() == text);
        assert!(hybz::decompress(&coded, &Settings::new()).unwrap() == text);
    }
}

/// False indexes whose own checksum is right.
#[test]
fn an_index_that_lies() {
    let text = words(300_000);
    let (frame, coded) = with_index(&text);
    // magic 4, length 4, head 32; then offset 8, length of the text 4.
    let entry = |n: usize| frame.len() + 40 + n * 12;
    let lie = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut wrong = coded.clone();
        change(&mut wrong);
        seal(&mut wrong[frame.len()..]);
        refused(&wrong)
    };
    assert!(decode(&coded, 9).unwrap() == text);
    // A block that begins a byte later; two lengths of text that make the same sum; another frame's length.
    let later = lie(&|bytes| bytes[entry(2)] ^= 1);
    assert!(matches!(later, Error::Frame(FrameError::BadIndex(_))), "{later:?}");
    let lengths = lie(&|bytes| {
        bytes[entry(1) + 8..][..4].copy_from_slice(&65_535_u32.to_le_bytes());
        bytes[entry(4) + 8] += 1;
    });
    assert_eq!(flaw_of(&lengths), (2, Flaw::Lz4Block));
    let other = lie(&|bytes| bytes[frame.len() + 32] ^= 1);
    assert!(matches!(other, Error::Frame(FrameError::BadIndex(_))), "{other:?}");
}

#[test]
fn memory_that_does_not_fit() {
    let text = words(100_000);
    let coded = compress(&text, Frame::new());
    let layout = Layout::read(&coded).unwrap();
    let mut decoder = Decoder::on(Box::new(Pretended(9)), 0);
    let mut staging = zeros(layout.coded_len());
    let error = decoder.load(&coded, &layout, &mut staging, &mut zeros(99_999)).unwrap_err();
    assert!(matches!(error, Error::Room { needed: 100_000, found: 99_999 }), "{error:?}");
    let error = decoder.load(&coded, &layout, &mut zeros(5), &mut zeros(100_000)).unwrap_err();
    assert!(matches!(error, Error::Room { found: 5, .. }), "{error:?}");
    let error = decoder.load(&coded[1..], &layout, &mut staging, &mut zeros(100_000)).unwrap_err();
    assert!(matches!(error, Error::Short { .. }), "{error:?}");
    let error = decoder.load(&coded, &layout, &mut staging, &mut Memory(vec![0; 100_000], 1)).unwrap_err();
    assert!(matches!(error, Error::OtherDevice { decoder: 0, memory: 1 }), "{error:?}");
    for bytes in [&b"text"[..], b"", b"\x04\x22\x4d\x19abcd"] {
        assert!(matches!(decode(bytes, 9), Err(Error::NotLz4)), "{bytes:?}");
    }
    assert!(matches!(decode(b"\x04\x22", 9), Err(Error::Frame(FrameError::Truncated { .. }))));
    let error = decode(&[&coded[..], b"garbage"].concat(), 9).unwrap_err();
    assert!(
        matches!(error, Error::Frame(FrameError::TrailingGarbage { offset }) if offset as usize == coded.len()),
        "{error:?}"
    );
}

#[test]
fn no_device() {
    match Decoder::open("4000", 10) {
        Err(Error::Device(error)) => println!("{error}"),
        other => panic!("{other:?}"),
    }
}

/// On a real device: all frames, from host and device memory, and damaged blocks between good ones.
#[test]
fn gpu_decodes_frames() {
    match hybz_gpu::devices() {
        Err(reason) => skip(Need::Gpu, &reason),
        #[cfg(feature = "cuda")]
        Ok(_) => on_a_device(),
        #[cfg(not(feature = "cuda"))]
        Ok(_) => unreachable!("no backend has devices"),
    }
}

#[cfg(feature = "cuda")]
fn on_a_device() {
    use hybz_gpu::{from_device, to_device};
    let mut decoder = Decoder::open("0", 500).unwrap();
    let text = words(10_000_000);
    let mut files: Vec<_> = infos(text.len() as u64).iter().map(|info| by_flex(&text, info)).collect();
    files.extend([Frame::new(), Frame::new().level(9).index(false)].map(|frame| compress(&text, frame)));
    for coded in &files {
        let layout = Layout::read(coded).unwrap();
        let mut staging = to_device(0, &vec![0; coded.len()]);
        let mut loaded = to_device(0, &vec![0; text.len() + 100]);
        decoder.load(coded, &layout, &mut staging, &mut loaded).unwrap();
        let loaded = from_device(&loaded);
        assert!(loaded[..text.len()] == text && loaded[text.len()..] == [0; 100]);
        let mut decoded = to_device(0, &vec![0; text.len()]);
        decoder.decode(&mut staging, &layout, &mut decoded.slice_mut(..)).unwrap();
        assert!(from_device(&decoded) == text);
    }
    // The bytes differ from those of the layout: results are right exactly where the twin's are, and nothing else is
    // written.
    let coded = compress(&text[..4_000_000], Frame::new());
    let layout = Layout::read(&coded).unwrap();
    for seed in 0..200_usize {
        let mut wrong = coded.clone();
        for n in 0..1 + seed % 5 {
            let block = layout.of_device()[(seed * 7 + n) % layout.blocks()];
            wrong[block.from as usize + seed * 7919 % block.coded as usize] ^= 1 << (seed % 8);
        }
        let right = layout.of_device().iter().position(|block| {
            let mut room = vec![0; block.length as usize];
            let bytes = &wrong[block.from as usize..][..block.coded as usize];
            block.plain == 0 && !decode_plainly(bytes, &mut room)
        });
        let mut loaded = to_device(0, &vec![9; 4_000_100]);
        let error = decoder.load(&wrong, &layout, &mut to_device(0, &wrong), &mut loaded).err();
        let named = error.map(|error| match error {
            Error::Frame(FrameError::Data { block, damage, .. }) if damage.flaw() == Flaw::Lz4Block => {
                block as usize - 1
            }
            other => panic!("{other}"),
        });
        assert_eq!(named, right);
        assert!(from_device(&loaded)[4_000_000..] == [9; 100]);
    }
}
