//! Memory and time are bounded, whatever the input is: bombs, and blocks and garbage without end.
//!
//! There is one test in this file, because it measures the peak memory of the whole process.

mod ours;

use hybz::{Error, LargeBlocks, Settings};
use hybz_testkit::crafted::block::{Block, Table};
use hybz_testkit::crafted::{self, bits::Bits, cases};
use hybz_testkit::memory::{forget_peak, peak};
use hybz_testkit::program;
use std::io::{self, Read, Write};

/// Counts the bytes that are written, and drops them.
#[derive(Default)]
struct Count(u64);

impl Write for Count {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.0 += buf.len() as u64;
        Ok(buf.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs `body`, which may take less than `limit` MB.
fn check(what: &str, limit: u64, body: impl FnOnce()) {
    forget_peak();
    let start = std::time::Instant::now();
    body();
    let peak = peak();
    eprintln!("{what}: {peak:?} MB, {:?}", start.elapsed());
    assert!(peak.is_none_or(|peak| peak < limit), "{what}: {peak:?} MB of memory");
}

#[test]
fn memory_is_bounded() {
    if peak().is_none() {
        hybz_testkit::skip::skip_part(hybz_testkit::skip::Need::System, "no /proc states the peak memory");
    }
    let pool = ours::pool(2);
    let settings = Settings::new().pool(&pool);
    long_texts(&settings);
    long_inputs(&settings);
    endless_inputs(&settings);
}

/// Much text from few bytes.
fn long_texts(settings: &Settings) {
    let file = cases::bomb(60);
    check("2.8 GB out of 60 blocks of 45 bytes", 128, || {
        let mut decoder = hybz::write::MultiBzDecoder::with_settings(Count::default(), settings);
        decoder.write_all(&file).expect("a right file");
        assert_eq!(decoder.finish().expect("a right file").0, 60 * 46_620_000);
    });
    let stream = cases::nested_bombs(3000);
    let (file, text) = (stream.bytes(), stream.text());
    drop(stream);
    check("3,000 bombs nested in one block's data", 256, || {
        assert!(ours::decompress(&file, settings).as_ref() == Ok(&text));
    });
    check("the same, fed so slowly that the stations decode all of them", 100, || {
        let (verdict, out) = ours::decompress_read(Drip(&file), 1 << 16, settings);
        assert!(verdict == Ok(()) && out == text);
    });
    let file = cases::bomb(2000);
    check("a reader that takes little of 93 GB", 128, || {
        let mut decoder = hybz::read::MultiBzDecoder::with_settings(&file[..], settings);
        let mut some = vec![0; 100_000];
        for _ in 0..1000 {
            decoder.read_exact(&mut some).expect("a right file");
        }
        assert!(some.iter().all(|&byte| byte == 0xff));
    });
}

fn long_inputs(settings: &Settings) {
    check("1 GB of zeros to compress", 128, || {
        let mut encoder = hybz::read::BzEncoder::with_settings(io::repeat(0).take(1_000_000_000), settings);
        let written = io::copy(&mut encoder, &mut io::sink()).expect("nothing that could fail");
        assert!(written < 1000, "{written} bytes");
    });
    check("30 MB of noise to compress, in small pieces", 192, || {
        let settings = settings.clone().level(ours::level(1));
        let noise = crafted::noise(1, 1 << 20);
        let mut encoder = hybz::write::BzEncoder::with_settings(Count::default(), &settings);
        for piece in noise.chunks(1000).cycle().take(30_000) {
            encoder.write_all(piece).expect("nothing that could fail");
        }
        encoder.finish().expect("nothing that could fail");
    });
    let large = settings.clone().encoding(LargeBlocks::try_new(1 << 20).expect("more than 1 KiB"));
    for settings in [settings, &large] {
        let file = ours::compress(b"", settings).repeat(500_000);
        check("500,000 streams without text", 128, || {
            let mut decoder = hybz::read::MultiBzDecoder::with_settings(&file[..], settings);
            assert_eq!(io::copy(&mut decoder, &mut io::sink()).expect("a right file"), 0);
        });
    }
}

fn endless_inputs(settings: &Settings) {
    check("garbage without end after a stream", 64, || {
        let good = ours::compress(b"good", settings);
        let mut decoder = hybz::read::MultiBzDecoder::with_settings(good.chain(io::repeat(0)), settings);
        let mut text = Vec::new();
        decoder.read_to_end(&mut text).expect("garbage is ignored");
        assert_eq!(text, b"good");
    });
    check("garbage without end", 64, || {
        let mut decoder = hybz::read::MultiBzDecoder::with_settings(io::repeat(b'B'), settings);
        let error = decoder.read(&mut [0; 10]).expect_err("not a file");
        assert_eq!(ours::io_refusal(&error), program::Refusal::NotBzip2);
    });
    check("false magics without end in a block", 256, || {
        // Magics after a valid block's header: all of them are data of the block, until it is too long or ends.
        let header = Block::of_text(&crafted::noise(1, 300)).spare_selectors(32_000).header();
        let mut start = Bits::of(b"BZh9");
        start.extend(&header);
        start.align(false);
        let magics = Magics(0).take(100_000_000);
        let mut decoder = hybz::read::MultiBzDecoder::with_settings(start.bytes().chain(magics), settings);
        let error = decoder.read(&mut [0; 10]).expect_err("damaged");
        assert_eq!(ours::io_refusal(&error), program::Refusal::Data);
    });
    check("a code length that wanders without end", 400, || {
        let block = Block::of_text(b"abc");
        let deltas = Bits::drawn(&"1011".repeat(64));
        let tables = vec![Table { start: 10, deltas, lengths: vec![5; 5] }];
        let mut start = Bits::of(b"BZh9");
        let mut block = block.tables(tables);
        block.table_count = 2;
        start.extend(&block.header());
        // The block is cut back to a whole byte, after which the repeated byte continues the same deltas up and down.
        let start = start.slice(0, start.len() / 8 * 8);
        let phase = start.slice(start.len() - 8, start.len()).bytes()[0];
        let mut decoder = hybz::read::MultiBzDecoder::with_settings(start.bytes().chain(io::repeat(phase)), settings);
        let error = decoder.read(&mut [0; 10]).expect_err("it has no end");
        let error = error.get_ref().and_then(|error| error.downcast_ref());
        assert!(matches!(error, Some(Error::BlockTooLarge { block: 1, .. })), "{error:?}");
    });
}

/// A slow reader: returns 60 bytes at a time, after half a millisecond.
struct Drip<'a>(&'a [u8]);

impl Read for Drip<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        std::thread::sleep(std::time::Duration::from_micros(500));
        let n = buf.len().min(60);
        self.0.read(&mut buf[..n])
    }
}

/// An endless reader of block magics, back to back.
struct Magics(usize);

impl Read for Magics {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        for byte in &mut *buf {
            *byte = [0x31, 0x41, 0x59, 0x26, 0x53, 0x59][self.0 % 6];
            self.0 += 1;
        }
        Ok(buf.len())
    }
}
