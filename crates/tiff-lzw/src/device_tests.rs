//! Tests strips for the kernels, and the kernels themselves if there is a device.

use super::device::{DeviceStrips, outcome};
use super::strip::MAX_CODES;
use super::tests::strip_of;
use super::{StripDecoder, StripEncoder, plain};
use hybz::internals::Flaw;
use hybz_gpu::StripFound;
use hybz_testkit::shapes::{Rng, SHAPES};
use hybz_testkit::skip::{Need, skip};

/// Codes, the wanted length of text, and the result of a core that decodes them.
struct Case {
    coded: Vec<u8>,
    wanted: usize,
    text: Vec<u8>,
    outcome: Result<(), Flaw>,
}

impl Case {
    fn new(coded: Vec<u8>, wanted: usize) -> Case {
        let (mut text, outcome) = plain::strip(&coded, wanted);
        text.truncate(wanted);
        let mut found = vec![0; wanted];
        assert_eq!(StripDecoder::new().decode_strip(&coded, &mut found), outcome);
        assert!(found.starts_with(&text));
        Case { coded, wanted, text, outcome }
    }

    fn found(&self) -> StripFound {
        let (status, code, known) = match self.outcome {
            Ok(()) => (0, 0, 0),
            Err(Flaw::LzwStart) => (1, 0, 0),
            Err(Flaw::LzwCode { code, end }) => (2, code.into(), end),
            Err(Flaw::LzwTable) => (3, 0, 0),
            Err(Flaw::LzwLength { found, .. }) => (4, found as u32, 0),
            Err(other) => panic!("no strip is damaged like this: {other}"),
        };
        StripFound { status, code, known }
    }
}

/// Random valid codes: long chains, runs, and tables that are not cleared when they are full.
fn codes(rng: &mut Rng, round: usize) -> Vec<u8> {
    let count = rng.below(if round.is_multiple_of(3) { MAX_CODES + 20 } else { 500 });
    let newest = 1 + rng.below(40);
    let mut code = |number: usize| {
        let known = number.min(4096 - 258);
        if known == 0 || rng.below(6) == 0 {
            return rng.below(256) as u32;
        }
        let known = if round & 2 == 0 { rng.below(known) } else { known - 1 - rng.below(known.min(newest)) };
        258 + known as u32
    };
    let codes: Vec<u32> = (0..count).map(&mut code).collect();
    strip_of(codes.into_iter().chain([257].into_iter().take(rng.below(2))), round % 2 == 1)
}

/// Strips in both orders of bits: any codes; tables that are full; changes, cuts and other lengths of text; noise.
fn more_cases(rng: &mut Rng, rounds: usize, cases: &mut Vec<Case>) {
    for round in 0..rounds {
        let coded = codes(rng, round);
        cases.extend([1 << 16, 1 << 18, rng.below(3000)].map(|wanted| Case::new(coded.clone(), wanted)));
    }
    for old in [false, true] {
        for count in [3836, 3837, 3838, 3840, 4862, 4863, 4900, 5200] {
            let codes = (0..count).map(|number| number * 7 % 251);
            cases.push(Case::new(strip_of(codes.chain([257]), old), count as usize));
        }
        let code = |number| if number % 3 > 0 { 258 + number / 2 } else { number % 256 };
        let coded = strip_of((0..3500_u32).map(code), old);
        let wanted = plain::strip(&coded, 1 << 20).0.len();
        for round in 0..5 * rounds {
            let mut spoilt = coded.clone();
            for _ in 0..=round % 2 {
                let at = rng.below(coded.len());
                spoilt[at] = if rng.below(8) > 0 { rng.below(256) as u8 } else { 255 };
            }
            cases.push(Case::new(spoilt, wanted));
        }
        let cuts = (0..20).chain((20..coded.len()).step_by(4920 / rounds));
        cases.extend(cuts.map(|cut| Case::new(coded[..cut].to_vec(), wanted)));
        cases.extend([0, 1, wanted - 1, wanted + 1].map(|wanted| Case::new(coded.clone(), wanted)));
    }
    for round in 0..4 * rounds {
        let (len, mask) = (2 + rng.below(if round % 4 > 0 { 100 } else { 9000 }), [0x7f, 0x11][rng.below(2)]);
        let mut noise: Vec<u8> = (0..len).map(|_| rng.below(256) as u8 & mask).collect();
        noise[0] = if round % 2 == 1 { 0x80 } else { 0 };
        noise[1] = if round % 2 == 1 { noise[1] & 0x7f } else { noise[1] | 1 };
        cases.push(Case::new(noise, rng.below(20_000)));
    }
    cases.extend([0, 255].map(|byte| Case::new(vec![byte; 5000], 100)));
    let clears: Vec<u8> = [0x80, 0x40, 0x20, 0x10, 0x08, 0x04, 0x02, 0x01, 0].repeat(600);
    cases.push(Case::new(clears, 10));
}

/// Strips of all shapes: whole, cut, and with one change; and those above.
fn cases() -> Vec<Case> {
    let (mut cases, mut rng) = (Vec::new(), Rng(1));
    let mut below = |n: usize| rng.below(n.max(1));
    for shape in SHAPES {
        for len in [0, 1, 33, 3000, 40_000] {
            let mut coded = Vec::new();
            StripEncoder::new().encode(&(shape.make)(len), &mut coded);
            cases.push(Case::new(coded.clone(), len));
            cases.push(Case::new(coded.clone(), len + 1));
            cases.push(Case::new(coded[..below(coded.len())].to_vec(), len));
            for _ in 0..4 {
                let mut spoilt = coded.clone();
                spoilt[below(coded.len())] ^= 1 << below(8);
                cases.push(Case::new(spoilt, len));
            }
        }
    }
    more_cases(&mut rng, 24, &mut cases);
    cases
}

/// Writes strips for `bench lzw FILE` of `cuda/bench/` to the file named by `HYBZ_LZW_CASES`. For each strip: six
/// numbers (bytes of codes, of text wanted, of text present, and what a device must find), the codes, and the text.
#[test]
fn lzw_cases_for_the_kernels() {
    let cases = cases();
    for case in &cases {
        assert_eq!(outcome(case.found(), case.wanted), Ok(case.outcome));
    }
    let kinds = [0, 1, 2, 3, 4].map(|kind| cases.iter().filter(|case| case.found().status == kind).count());
    assert!(kinds.iter().all(|count| *count > 5), "{kinds:?}");
    let Some(path) = std::env::var_os("HYBZ_LZW_CASES") else { return };
    let mut file = Vec::new();
    for case in &cases {
        let StripFound { status, code, known } = case.found();
        let sizes = [case.coded.len(), case.wanted, case.text.len()].map(|size| size as u32);
        sizes.iter().chain(&[status, code, known]).for_each(|number| file.extend(number.to_le_bytes()));
        file.extend_from_slice(&case.coded);
        file.extend_from_slice(&case.text);
    }
    std::fs::write(path, file).unwrap();
}

#[test]
fn gpu_decodes_strips_as_a_core_does() {
    let mut device = match DeviceStrips::open("0", 2000, 16 << 20, 64 << 20) {
        Ok(device) => device,
        Err(why) => return skip(Need::Gpu, &format!("no device: {why}")),
    };
    let cases = cases();
    for batch in [&cases[..], &cases[..7]] {
        let strips: Vec<(&[u8], usize)> = batch.iter().map(|case| (&case.coded[..], case.wanted)).collect();
        let found = device.decode(&strips).unwrap();
        assert_eq!(found.len(), batch.len());
        for (case, found) in batch.iter().zip(found) {
            assert!(found == case.outcome.map(|()| case.text.clone()), "{found:?}");
        }
    }
    device.undo_differences(3, 1000).unwrap();
    let strips: Vec<(&[u8], usize)> = cases.iter().map(|case| (&case.coded[..], case.wanted)).collect();
    for (case, found) in cases.iter().zip(device.decode(&strips).unwrap()) {
        let mut text = case.text.clone();
        for row in text.chunks_mut(3000) {
            (3..row.len()).for_each(|at| row[at] = row[at].wrapping_add(row[at - 3]));
        }
        assert!(found == case.outcome.map(|()| text), "{found:?}");
    }
}
