//! Times and sizes on one core: Table 5.1, Figure 5.7, and a comparison with libsais alone.

use crate::{INTERVALS, SIZES};
use hybz::internals::formats::hbz::StreamHeader;
use hybz::internals::formats::hbz::{decode::HbzDecoder, encode::HbzEncoder};
use libsais::BwtConstruction;
use std::time::{Duration, Instant};

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
    let (mut encoder, mut decoder) = (HbzEncoder::new(), HbzDecoder::new());
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

/// Table 5.1: seconds.
///
/// The thesis's "BWC on the CPU" is everything but the sort: here it is `other_steps`, the time of coding minus the
/// time of libsais. `GPU_sort` is the sort alone, `all_cores_and_GPU` the whole; both are `-` without a device.
pub fn by_size_and_perturbation(set: &str, text: &[u8]) {
    println!("set,block,perturbed,seconds,of_it_BWT,other_steps,bytes,GPU_sort,all_cores_and_GPU");
    for size in SIZES {
        for (interval, name) in INTERVALS {
            let t = measure(text, size, interval, 1, Libsais::Sort);
            // libsais sorted the whole text; the encoder sorts fewer rows, since phrases replace some text.
            let sort = t.sort.as_secs_f64() * t.rows as f64 / t.text as f64;
            let all = t.encode.as_secs_f64();
            let device = crate::device::seconds(text, size, interval);
            let device = device.map_or("-,-".to_owned(), |[sort, all]| format!("{sort:.3},{all:.3}"));
            println!("{set},{size},{name},{all:.2},{sort:.2},{:.2},{},{device}", (all - sort).max(0.0), t.coded);
        }
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
            let device = crate::device::decoding_seconds(text, size, interval);
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
