//! Stations that are slow, fail, panic, shuffle, keep silent, retire or report good blocks as bad: the bytes and the
//! errors stay the same, there is no deadlock, and the work that others had to do for them is counted.

mod squares;

use crate::{faults, ours, program, reference, shapes};
use faults::{Company, Fault, One, USUAL, quiet, watched};
use hybz::internals::Flaw;
use hybz::internals::block::DecodeError;
use hybz::internals::codec::decoder::Decoder;
use hybz::internals::codec::encoder::Encoder;
use hybz::internals::tasks::{DECODE, DecodeBlock, ENCODE, EncodeBlock};
use hybz::schedule::{Accepts, Class, Core, Expected, Job, Station, StationError, Task, WorkerGroup};
use hybz::{Error, Level, Pool, PoolBuilder, Settings, Verify};
use std::num::NonZeroUsize;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Does jobs and answers as `fault` prescribes. (The types do not allow a job to be completed with another's result.)
fn one() -> One {
    let (mut encoder, mut decoder) = (Encoder::new(), Decoder::new());
    Box::new(move |job, fault| {
        if let Some(job) = job.of::<EncodeBlock>() {
            let block = encoder.encode(&job.task().text);
            job.complete(block);
        } else if let Some(job) = job.of::<DecodeBlock>() {
            let DecodeBlock { data, start, end } = job.task();
            let block = match fault {
                Fault::SaysDamaged => Err(Flaw::Code.into()),
                Fault::SaysCut => Err(DecodeError::OutOfData),
                _ => decoder.decode(data, *start, *end, 900_000),
            };
            job.complete(block);
        }
    })
}

/// Adds a fake station to a pool.
fn with_fake(builder: PoolBuilder, fault: Fault, most: usize, jobs: &Arc<AtomicUsize>) -> PoolBuilder {
    faults::with_fake(builder, Accepts::Everything, (fault, most), jobs, one)
}

fn pool_of(fault: Fault, most: usize, company: Company) -> Pool {
    let jobs = Arc::default();
    let builder = match company {
        Company::Cpu => Pool::builder().threads(NonZeroUsize::new(2).expect("two")),
        _ => Pool::builder().without_cpu(),
    };
    let fakes = if matches!(company, Company::Twins) { 3 } else { 1 };
    (0..fakes).fold(builder, |builder, _| with_fake(builder, fault, most, &jobs)).build()
}

const BLOCKS: usize = 6;

/// A text of six blocks at level 1, and its file.
fn sample() -> &'static (Vec<u8>, Vec<u8>) {
    static SAMPLE: OnceLock<(Vec<u8>, Vec<u8>)> = OnceLock::new();
    SAMPLE.get_or_init(|| {
        let mut text = shapes::words(99_981 * BLOCKS + 40_000);
        text.dedup(); // without runs each block is 99,981 bytes of text
        text.truncate(99_981 * BLOCKS - 5000);
        let file = reference::compress(1, &text);
        (text, file)
    })
}

fn settings(pool: &Pool) -> Settings {
    Settings::new().level(Level::FASTEST).pool(pool)
}

/// Checks that both directions, in all three ways, give the right bytes with such a pool.
fn survives(fault: Fault, most: usize, company: Company) {
    watched(format!("{fault:?}, batches of {most}, {company:?}"), move || {
        let (text, file) = sample();
        let pool = pool_of(fault, most, company);
        assert!(ours::compress(text, &settings(&pool)) == *file, "compressed");
        let verified = settings(&pool).verify(Verify::All);
        assert!(ours::compress(text, &verified) == *file, "compressed and verified");
        let pool = pool_of(fault, most, company);
        let (verdict, out) = ours::decompress_written(file, 50_000, &settings(&pool));
        assert_eq!(verdict, Ok(()));
        assert!(out == *text, "decompressed");
        // The same pool is used again: a station's earlier faults must not matter.
        assert!(ours::compress_read(&text[..], 1 << 16, &settings(&pool)) == *file, "compressed by the same pool");
        let (verdict, out) = ours::decompress_read(&file[..], 1 << 16, &settings(&pool));
        assert_eq!(verdict, Ok(()));
        assert!(out == *text, "decompressed by the same pool");
    });
}

#[test]
fn every_fault_in_every_company() {
    quiet();
    let outside = [Fault::NamePanics, Fault::MostPanics, Fault::DropPanics];
    for fault in USUAL.into_iter().chain([Fault::SaysDamaged, Fault::SaysCut]).chain(outside) {
        for (most, company) in [(1, Company::Alone), (4, Company::Alone), (100, Company::Twins), (3, Company::Cpu)] {
            survives(fault, most, company);
        }
    }
}

#[test]
fn a_fault_at_every_job() {
    quiet();
    for job in 0..=BLOCKS {
        let companies = [Company::Alone, Company::Twins, Company::Cpu];
        for (n, fault) in [Fault::Fail(job), Fault::Panic(job), Fault::Retire(job)].into_iter().enumerate() {
            survives(fault, 1 + job % 3, companies[(n + job) % 3]);
        }
    }
}

/// Pools whose stations cannot start, have one direction or outnumber blocks and cores, and pools without any.
#[test]
fn odd_pools() {
    quiet();
    let empty = || Pool::builder().without_cpu();
    let of_classes = |classes| {
        let accepts = Accepts::Only(classes);
        faults::with_fake(empty(), accepts, (Fault::None, 2), &Arc::default(), one).build()
    };
    for (what, pool) in [
        ("refused", empty().station(Accepts::Everything, || Err("no such device".into())).build()),
        ("panicked", empty().station(Accepts::Everything, || panic!("no such device")).build()),
        ("empty", empty().build()),
        ("fine", with_fake(empty(), Fault::None, 1, &Arc::default()).build()),
        ("encode", of_classes(&[ENCODE])),
        ("decode", of_classes(&[DECODE])),
        ("neither", of_classes(&[])),
        ("1", ours::pool(1)),
        ("3", ours::pool(3)),
        ("16", ours::pool(16)),
        ("256", ours::pool(256)),
    ] {
        watched(what.into(), move || {
            let (text, file) = sample();
            assert!(ours::compress_written(text, 4096, &settings(&pool)) == *file, "compressed");
            assert!(ours::decompress(file, &settings(&pool)).as_ref() == Ok(text), "decompressed");
        });
    }
}

/// A memory budget of one byte: the work is slow, but never stuck.
#[test]
fn the_smallest_budget() {
    quiet();
    for fault in [Fault::None, Fault::PanicAlways, Fault::Silent] {
        watched(format!("{fault:?}"), move || {
            let (text, file) = sample();
            let pool = with_fake(Pool::builder().without_cpu().memory(1), fault, 4, &Arc::default()).build();
            assert!(ours::compress_written(text, 1000, &settings(&pool)) == *file, "compressed");
            let verified = settings(&pool).verify(Verify::All);
            assert!(ours::compress_read(&text[..], 7777, &verified) == *file, "compressed and verified");
            let (verdict, out) = ours::decompress_read(ours::Sips(&file[..], 999), 1000, &settings(&pool));
            assert!(verdict == Ok(()) && out == *text, "decompressed");
        });
    }
}

/// Many streams at once through one pool with a bad station in it.
#[test]
fn many_streams_at_once() {
    quiet();
    for fault in [Fault::Slow, Fault::PanicAfterReply, Fault::Retire(4)] {
        watched(format!("{fault:?}"), move || {
            let (text, file) = sample();
            let pool = pool_of(fault, 3, Company::Twins);
            std::thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| assert!(ours::compress_written(text, 7777, &settings(&pool)) == *file));
                    scope.spawn(|| assert!(ours::decompress(file, &settings(&pool)).as_ref() == Ok(text)));
                }
            });
        });
    }
}

/// The CPU codec does the work that a station fails to do; it is counted as a fallback of that station.
#[test]
fn fallbacks_are_counted() {
    quiet();
    for (fault, most, expected) in [
        (Fault::None, 1, 0),
        (Fault::Shuffle, 4, 0),
        (Fault::Silent, 1, BLOCKS),
        (Fault::FailAlways, 1, BLOCKS),
        (Fault::PanicAlways, 4, BLOCKS),
        (Fault::Panic(3), 1, 1),
        (Fault::PanicAfterReply, 1, 0),
        (Fault::Half, 1, BLOCKS.div_ceil(2)),
    ] {
        watched(format!("{fault:?}"), move || {
            let (text, file) = sample();
            let pool = pool_of(fault, most, Company::Alone);
            assert!(ours::compress(text, &settings(&pool)) == *file);
            let summary = pool.summary();
            assert_eq!(summary.stations.len(), 1);
            assert_eq!(summary.stations[0].fallbacks, expected as u64, "{fault:?}");
            assert_eq!(summary.stations[0].blocks, BLOCKS as u64);
            assert_eq!(summary.stations[0].retired, None);
        });
    }
    watched("retired".into(), || {
        let (text, file) = sample();
        let pool = pool_of(Fault::Retire(2), 1, Company::Alone);
        assert!(ours::compress(text, &settings(&pool)) == *file);
        assert_eq!(pool.summary().stations[0].retired.as_deref(), Some("it is told to"));
    });
}

/// A file with an error in block k: for every k the same error and the same blocks before it, whatever the stations do.
#[test]
fn errors_are_the_same_for_all_stations() {
    quiet();
    let (text, file) = sample();
    let next = |from: u64| hybz::push::find_block(file, from);
    let starts: Vec<u64> = std::iter::successors(next(0), |&start| next(start + 1)).collect();
    assert_eq!(starts.len(), BLOCKS);
    for (block, &start) in starts.iter().enumerate() {
        let mut broken = file.clone();
        let crc_bit = start + 48;
        broken[crc_bit as usize / 8] ^= 0x80 >> (crc_bit % 8);
        for (fault, company) in
            [(Fault::None, Company::Cpu), (Fault::PanicAlways, Company::Alone), (Fault::Shuffle, Company::Twins)]
        {
            let broken = broken.clone();
            watched(format!("block {block}, {fault:?}"), move || {
                let pool = pool_of(fault, 3, company);
                let (verdict, out) = ours::decompress_written(&broken, 40_000, &settings(&pool));
                assert_eq!(verdict, Err(program::Refusal::Data));
                let whole = 99_981 * block;
                assert!(out == text[..whole], "{} bytes before block {block}", out.len());
                match hybz::decompress(&broken, &settings(&pool)) {
                    Err(Error::Data { block: said, bit_offset, .. }) => {
                        assert_eq!((said, bit_offset), (block as u64 + 1, start));
                    }
                    other => panic!("{:?}", other.map(|text| text.len())),
                }
            });
        }
    }
}

/// Encoders and decoders that are dropped half-way, with stations at work: nothing hangs, and the pool goes on.
#[test]
fn streams_dropped_half_way() {
    use std::io::{Read, Write};
    quiet();
    watched("dropped".into(), || {
        let (text, file) = sample();
        let pool = pool_of(Fault::Slow, 2, Company::Twins);
        for _ in 0..3 {
            let mut decoder = hybz::read::MultiBzDecoder::with_settings(&file[..], &settings(&pool));
            decoder.read_exact(&mut [0; 1000]).expect("a right file");
            drop(decoder);
            let mut decoder = hybz::write::MultiBzDecoder::with_settings(std::io::sink(), &settings(&pool));
            decoder.write_all(&file[..file.len() / 2]).expect("a right file so far");
            drop(decoder);
            let mut encoder = hybz::read::BzEncoder::with_settings(&text[..], &settings(&pool));
            encoder.read_exact(&mut [0; 10]).expect("at least a header");
            drop(encoder);
        }
        assert!(ours::compress(text, &settings(&pool)) == *file);
    });
}
