//! Tests strips for the kernels, and the kernels themselves if there is a device.

use super::device::{DeviceStrips, outcome};
use super::{StripDecoder, StripEncoder, plain};
use crate::flaw::Flaw;
use crate::gpu::StripFound;
use hybz_testkit::shapes::SHAPES;
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

/// Strips of all shapes: whole, cut, and with one change.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut state = 1u64;
    let mut below = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n.max(1)
    };
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
    cases
}

/// Writes strips for `bench lzw FILE cases` of `cuda/bench/` to the file named by `HYBZ_LZW_CASES`. For each strip: six
/// numbers (bytes of codes, of text wanted, of text present, and what a device must find), the codes, and the text.
#[test]
fn lzw_cases_for_the_kernels() {
    let cases = cases();
    for case in &cases {
        assert_eq!(outcome(case.found(), case.wanted), Ok(case.outcome));
    }
    let kinds = [0, 1, 2, 4].map(|kind| cases.iter().filter(|case| case.found().status == kind).count());
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
