//! Tests of ALL, the format of Funasaka's tables (`all.rs`): decoding undoes encoding, and damage is refused or read
//! without a panic.

use crate::all::{Counts, KINDS, STRIP, decode, encode};
use hybz_testkit::shapes::{self, Rng};

fn strips() -> Vec<(Vec<u8>, Vec<u8>, Counts)> {
    let mut strips = Vec::new();
    for shape in shapes::SHAPES {
        for len in [0, 1, 31, 33, 3000, STRIP] {
            let text = (shape.make)(len);
            let mut counts = Counts::default();
            strips.push((encode(&text, &mut counts), text, counts));
        }
    }
    strips
}

/// Writes the strips for `bench all` of `cuda/bench/` to the file that `HYBZ_ALL_CASES` names.
#[test]
fn all_cases_for_the_kernels() {
    let (mut all, mut file) = (Counts::default(), Vec::new());
    for (coded, text, counts) in strips() {
        let mut found = vec![0; text.len()];
        assert_eq!(decode(&coded, &mut found), Some(()));
        assert!(found == text);
        assert_eq!(counts.bytes.iter().sum::<u64>(), text.len() as u64);
        all.add_all(&counts);
        file.extend((coded.len() as u32).to_le_bytes());
        file.extend((text.len() as u32).to_le_bytes());
        file.extend(coded);
        file.extend(text);
    }
    for (kind, words) in KINDS.iter().zip(all.words) {
        assert!(words > 10, "{words} {kind}");
    }
    if let Some(path) = std::env::var_os("HYBZ_ALL_CASES") {
        std::fs::write(path, file).unwrap();
    }
}

#[test]
fn damaged_strips() {
    let mut rng = Rng(1);
    for (coded, text, _) in strips() {
        let mut found = vec![0; text.len() + 1];
        assert_eq!(decode(&coded, &mut found), None);
        if !text.is_empty() {
            assert_eq!(decode(&coded, &mut found[..text.len() - 1]), None);
            assert_eq!(decode(&coded[..rng.below(coded.len())], &mut found[..text.len()]), None);
            for _ in 0..20 {
                let mut spoilt = coded.clone();
                spoilt[rng.below(coded.len())] = rng.below(256) as u8;
                let _ = decode(&spoilt, &mut found[..text.len()]);
            }
        }
    }
}
