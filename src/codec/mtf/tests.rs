//! Both directions, by every kernel that this CPU has, against the definition.

use super::super::encode::{KERNELS, MtfSymbols};
use super::*;
use crate::formats::bzip2::header::MAX_SYMBOLS;
use hybz_testkit::shapes::{EDGES, Rng, SHAPES};

/// The definition: a list, searched from the front.
fn naive(last: &[u8], used: &[u8]) -> Vec<u16> {
    let (mut list, mut symbols, mut zeros) = (used.to_vec(), Vec::new(), 0usize);
    let write_zeros = |zeros: usize, symbols: &mut Vec<u16>| {
        let digits = zeros + 1;
        symbols.extend((0..digits.ilog2()).map(|i| (digits >> i & 1) as u16));
    };
    for &byte in last {
        let place = list.iter().position(|&b| b == byte).unwrap();
        list[..=place].rotate_right(1);
        if place == 0 {
            zeros += 1;
        } else {
            write_zeros(std::mem::take(&mut zeros), &mut symbols);
            symbols.push(place as u16 + 1);
        }
    }
    write_zeros(zeros, &mut symbols);
    symbols.push(list.len() as u16 + 1);
    symbols
}

fn kernels() -> Vec<DecodeKernel> {
    let mut kernels = vec![DecodeKernel::Portable];
    #[cfg(target_arch = "x86_64")]
    {
        let more = [DecodeKernel::Sse, DecodeKernel::Avx2, DecodeKernel::Vbmi];
        kernels.extend(more.into_iter().take(DecodeKernel::best() as usize));
    }
    #[cfg(target_arch = "aarch64")]
    kernels.push(DecodeKernel::Neon);
    kernels
}

fn decoder(kernel: DecodeKernel, used: &[u8], limit: u32) -> MtfDecoder {
    let mut decoder = MtfDecoder { kernel, ..MtfDecoder::new(100) };
    decoder.begin(used, limit);
    decoder
}

fn check(made: &mut MtfSymbols, last: &[u8], what: &str) {
    let used: Vec<u8> = (0..=255).filter(|byte| last.contains(byte)).collect();
    let symbols = naive(last, &used);
    let mut frequencies = [0; MAX_SYMBOLS];
    symbols.iter().for_each(|&symbol| frequencies[usize::from(symbol)] += 1);
    for kernel in KERNELS.iter().filter(|kernel| (kernel.is_supported)()) {
        (kernel.encode)(made, last);
        assert!(made.as_slice() == symbols, "{what}, {} bytes, {}", last.len(), kernel.name);
        assert!(made.frequencies == frequencies, "{what}, {} bytes, {}: frequencies", last.len(), kernel.name);
        assert_eq!(made.alphabet, used.len() + 2);
        assert!((0..=255).all(|byte| made.used[usize::from(byte)] == used.contains(&byte)));
    }
    for kernel in kernels() {
        let mut decoder = decoder(kernel, &used, 900_000);
        for piece in symbols[..symbols.len() - 1].chunks(77) {
            let bytes = |&s: &u16| if s < 255 { vec![s as u8] } else { vec![255, (s - 255) as u8] };
            decoder.push(&piece.iter().flat_map(bytes).collect::<Vec<_>>()).unwrap();
        }
        let (runs, len) = decoder.finish();
        let run = |two: &[u32]| vec![two[0] as u8; (two[1] as usize >> 8) - (two[0] as usize >> 8)];
        assert!(runs.windows(2).flat_map(run).eq(last.iter().copied()), "{what}, {} bytes, {kernel:?}", last.len());
        assert_eq!(len, last.len());
    }
}

/// A column with these ranks, then all letters, so that each is used.
fn with_ranks(letters: usize, ranks: impl IntoIterator<Item = usize>) -> Vec<u8> {
    let mut list: Vec<u8> = (0..=255).take(letters).collect();
    let first_after = |rank: usize| {
        list[..=rank].rotate_right(1);
        list[0]
    };
    let mut column: Vec<u8> = ranks.into_iter().map(first_after).collect();
    column.extend(list);
    column
}

#[test]
fn shapes_and_edges() {
    let mut made = MtfSymbols::default();
    for edge in EDGES.iter().filter(|edge| edge.name != "empty") {
        check(&mut made, &(edge.make)(), edge.name);
    }
    for shape in SHAPES {
        for len in (1..140).chain([1000, 200_003]) {
            check(&mut made, &(shape.make)(len), shape.name);
        }
    }
}

#[test]
fn every_rank_and_alphabet() {
    let (mut made, mut rng) = (MtfSymbols::default(), Rng(8));
    for letters in 1..=256 {
        let first = rng.below(257 - letters);
        let last: Vec<u8> = (0..3000).map(|_| (first + rng.below(letters)) as u8).collect();
        check(&mut made, &last, "letters");
        check(&mut made, &with_ranks(letters, (0..letters).chain((0..letters).rev())), "all ranks");
        let near = std::iter::repeat_with(|| {
            let most = rng.below(letters);
            rng.below(1 + most)
        });
        check(&mut made, &with_ranks(letters, near.take(3000)), "near ranks");
    }
    // More heads than a clock of 16 bits counts.
    for letters in [2, 40, 256] {
        let last: Vec<u8> = (0..300_000).map(|_| rng.below(letters) as u8).collect();
        check(&mut made, &last, "many heads");
    }
}

#[test]
fn every_short_zero_run() {
    let mut made = MtfSymbols::default();
    for zeros in (0..300).chain([1000, 4095, 65_535, 65_536, 70_000, 262_142, 262_143]) {
        check(&mut made, &[vec![1, 2], vec![2; zeros], vec![1]].concat(), "zeros");
        check(&mut made, &vec![7; zeros + 1], "zeros only");
        let far_and_zeros = [vec![19; 9], vec![0; zeros], vec![29; 9], vec![0; zeros], vec![40]].concat();
        check(&mut made, &with_ranks(64, far_and_zeros), "far ranks and zeros");
    }
}

#[test]
fn too_long_blocks_are_refused() {
    for kernel in kernels() {
        let far = |digits| [[20u8; 63 - 23].as_slice(), &[1; 54][..digits]].concat();
        let many = [vec![1; 19], vec![1; 40], vec![0; 64], vec![1; 3000], vec![2; 1001]];
        for symbols in many.into_iter().chain([far(15), far(31), far(54), far(54).repeat(4)]) {
            assert_eq!(decoder(kernel, &[1, 2, 3], 1000).push(&symbols), Err(Irregular));
        }
        let mut decoder = decoder(kernel, &[1, 2, 3], 1000);
        assert_eq!(decoder.push(&[2; 1000]), Ok(()));
        assert_eq!(decoder.push(&[2]), Err(Irregular));
    }
}
