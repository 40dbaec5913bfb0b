//! Times and sizes: table 5.1, figures 5.6 and 5.7, and a comparison with libsais alone.

use crate::perturbed::perturbed;
use crate::{INTERVALS, SIZES, bzip2_sort, device};
use hybz::internals::formats::hbz::StreamHeader;
use hybz::internals::formats::hbz::{decode::HbzDecoder, encode::HbzEncoder};
use libsais::BwtConstruction;
use std::time::{Duration, Instant};
use theses_common::peers::Place;

/// The time of one core for some blocks, and their sizes.
#[derive(Default)]
struct Times {
    text: usize,
    coded: usize,
    rows: u64,
    /// The time of libsais's BWT of the text itself, and of its inverse.
    sort: Duration,
    unsort: Duration,
    encode: Duration,
    decode: Duration,
}

impl Times {
    fn speed(&self, time: Duration) -> f64 {
        self.text as f64 / 1e6 / time.as_secs_f64()
    }
}

/// The parts of libsais that are measured on the same blocks.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Libsais {
    Nothing,
    Sort,
    Inverse,
}

fn measure(text: &[u8], size: usize, interval: u32, every: usize, libsais: Libsais) -> Times {
    let stream = StreamHeader { block_size: size as u32, interval, seed: 0, entry_log: 15 };
    let (mut encoder, mut decoder) = (HbzEncoder::default(), HbzDecoder::new());
    let mut times = Times::default();
    let (mut suffixes, mut vector) = (vec![0i32; size + 10_000], vec![0i32; size + 1]);
    for block in text.chunks(size).step_by(every) {
        if libsais >= Libsais::Sort {
            let mut column = block.to_vec();
            let start = Instant::now();
            let bwt = BwtConstruction::replace_text(&mut column)
                .with_borrowed_temporary_array_buffer(&mut suffixes)
                .single_threaded()
                .run()
                .expect("memory");
            times.sort += start.elapsed();
            if libsais == Libsais::Inverse {
                let start = Instant::now();
                let vector = &mut vector[..block.len() + 1];
                let back = bwt.unbwt().with_borrowed_temporary_array_buffer(vector).single_threaded().run();
                times.unsort += start.elapsed();
                assert!(back.expect("memory").as_slice() == block);
            }
        }
        let start = Instant::now();
        let (header, payload) = encoder.encode(block, 0, &stream);
        times.encode += start.elapsed();
        times.text += block.len();
        times.coded += payload.len() + 44;
        times.rows += u64::from(header.rows);
        let payload = payload.into();
        let start = Instant::now();
        let back = decoder.decode(stream, header, payload).expect("a good block");
        times.decode += start.elapsed();
        assert!(back.plain(&mut Vec::new()) == Some(block));
    }
    times
}

/// Seconds and bytes of the command `bzip2 -9`, which has one thread. `None` if there is no such command.
fn by_bzip2(text: &[u8]) -> Option<(f64, usize)> {
    let place = Place::make();
    place.write("text", text);
    let seconds = place.run(&["bzip2", "-9c"], "text", "coded")?;
    Some((seconds, place.read("coded").len()))
}

/// The seconds of bzip2's sort of all blocks, and the number of blocks on which its first sort gives up.
pub fn bzip2_sort(text: &[u8], size: usize, interval: u32) -> (f64, usize) {
    let times = text.chunks(size).map(|block| bzip2_sort::time(&perturbed(block, interval)));
    times.fold((0.0, 0), |(sum, count), (time, gave_up)| (sum + time.as_secs_f64(), count + usize::from(gave_up)))
}

/// Table 5.1: seconds and bytes.
///
/// On one core: `bzip2` has bzip2's sort and, for its other steps, those of hybz; `seconds` is hybz. The thesis has the
/// same bytes in both columns; here they are those of `.hbz`. With a device: its sort alone, and all by each division
/// of the work (`-` without a device).
pub fn by_size_and_perturbation(set: &str, text: &[u8]) {
    match by_bzip2(text) {
        Some((seconds, bytes)) => println!("# bzip2 -9: {seconds:.2} seconds, {bytes} bytes"),
        None => println!("# there is no command `bzip2'"),
    }
    let pipelines = device::PIPELINES.map(|offload| format!("GPU_{offload:?}")).join(",");
    println!(
        "set,block,perturbed,bzip2,bzip2_sort,blocks_given_up,seconds,of_it_BWT,other_steps,bytes,GPU_sort,{pipelines}"
    );
    for size in SIZES {
        for (interval, name) in INTERVALS {
            let t = measure(text, size, interval, 1, Libsais::Sort);
            // libsais sorted the whole text; the encoder sorts fewer rows, since phrases replace some text.
            let sort = t.sort.as_secs_f64() * t.rows as f64 / t.text as f64;
            let all = t.encode.as_secs_f64();
            let other = (all - sort).max(0.0);
            let (theirs, given_up) = bzip2_sort(text, size, interval);
            let device = [device::sorting_seconds(text, size, interval)]
                .into_iter()
                .chain(device::PIPELINES.map(|offload| device::compressing_seconds(text, size, interval, offload)));
            let device: Vec<String> = device.map(or_dash).collect();
            println!(
                "{set},{size},{name},{:.2},{theirs:.2},{given_up},{all:.2},{sort:.2},{other:.2},{},{}",
                theirs + other,
                t.coded,
                device.join(",")
            );
        }
    }
}

pub fn or_dash(seconds: Option<f64>) -> String {
    seconds.map_or("-".to_owned(), |seconds| format!("{seconds:.3}"))
}

/// Figure 5.6: blocks of 9 MB perturbed by 0.1 % beside the command `bzip2 -9`, and beside bzip2 with such blocks.
pub fn beside_bzip2(set: &str, text: &[u8]) {
    let (size, interval) = (SIZES[2], INTERVALS[2].0);
    let Some((theirs, their_bytes)) = by_bzip2(text) else {
        return println!("# there is no command `bzip2'");
    };
    let t = measure(text, size, interval, 1, Libsais::Sort);
    let ours = t.encode.as_secs_f64();
    let other = ours - t.sort.as_secs_f64() * t.rows as f64 / t.text as f64;
    let large = bzip2_sort(text, size, 0).0 + other.max(0.0);
    let smaller = 100.0 * (1.0 - t.coded as f64 / their_bytes as f64);
    println!("set,by,seconds,bzip2_seconds,times_as_fast,bzip2_9M_seconds,times_as_fast,smaller_%");
    let device = device::PIPELINES.map(|offload| device::compressing_seconds(text, size, interval, offload));
    let names = device::PIPELINES.map(|offload| format!("GPU_{offload:?}"));
    for (name, seconds) in names.into_iter().zip(device).chain([("one_core".to_owned(), Some(ours))]) {
        let times = [theirs, large].map(|peer| seconds.map(|seconds| peer / seconds));
        println!(
            "{set},{name},{},{theirs:.2},{},{large:.2},{},{smaller:.1}",
            or_dash(seconds),
            or_dash(times[0]),
            or_dash(times[1])
        );
    }
}

/// Figure 5.7: MB/s of text, for decoding and for libsais's inverse BWT alone, on one core; and for all cores and GPUs,
/// from memory to memory.
pub fn decompression(set: &str, text: &[u8]) {
    println!("set,block,perturbed,decode_MB/s,libsais_inverse_alone_MB/s,all_cores_and_GPU_MB/s");
    for size in SIZES.into_iter().chain([64 << 20]) {
        for (interval, name) in [INTERVALS[0], INTERVALS[2]] {
            let t = measure(text, size, interval, 1, if interval == 0 { Libsais::Inverse } else { Libsais::Nothing });
            let libsais = if interval == 0 { format!("{:.1}", t.speed(t.unsort)) } else { "-".to_owned() };
            let device = device::decoding_seconds(text, size, interval);
            let device = device.map_or("-".to_owned(), |seconds| format!("{:.0}", text.len() as f64 / 1e6 / seconds));
            println!("{set},{size},{name},{:.1},{libsais},{device}", t.speed(t.decode));
        }
    }
}

/// One block size, and libsais alone, on every `every`-th block.
pub fn beside_libsais(set: &str, text: &[u8], size: usize, interval: u32, every: usize) {
    let t = measure(text, size, interval, every, Libsais::Inverse);
    println!("set,block,bytes,coded,rows_per_byte,BWT_MB/s,coding_MB/s,decoding_MB/s,libsais_inverse_MB/s");
    let rows = t.rows as f64 / t.text as f64;
    let speeds = [t.sort, t.encode, t.decode, t.unsort].map(|time| format!("{:.1}", t.speed(time)));
    println!("{set},{size},{},{},{rows:.3},{}", t.text, t.coded, speeds.join(","));
}
