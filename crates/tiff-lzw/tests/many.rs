//! Many strips at once, on the cores of a pool.

use hybz::internals::Flaw;
use hybz::{Error, Pool};
use hybz_tiff_lzw::{decode_strips, encode_strips};
use proptest::collection::vec;
use proptest::prelude::*;
use std::num::NonZeroUsize;

/// Any bytes, few different ones, and runs.
fn text() -> impl Strategy<Value = Vec<u8>> {
    let runs = vec((any::<u8>(), 1..3000_usize), 0..20);
    let runs = runs.prop_map(|runs| runs.iter().flat_map(|&(byte, len)| std::iter::repeat_n(byte, len)).collect());
    prop_oneof![vec(any::<u8>(), 0..3000), vec(0..3_u8, 0..9000), runs]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn strips_there_and_back(texts in vec(text(), 0..40), threads in 1..4usize) {
        let threads = NonZeroUsize::new(threads).unwrap();
        let pool = Pool::builder().threads(threads).memory(50_000).build();
        let coded: Vec<_> = encode_strips(&pool, texts.clone()).map(Result::unwrap).collect();
        let strips = coded.into_iter().zip(texts.iter().map(Vec::len));
        let found: Vec<_> = decode_strips(&pool, strips).map(Result::unwrap).collect();
        prop_assert!(found == texts);
    }
}

/// A damaged strip is an error with its number, and those after it are decoded.
#[test]
fn one_strip_is_damaged() {
    let pool = Pool::builder().build();
    let texts: Vec<Vec<u8>> = (0..20u8).map(|byte| vec![byte; 5000]).collect();
    let mut coded: Vec<_> = encode_strips(&pool, texts.clone()).map(Result::unwrap).collect();
    coded[7] = vec![0x80, 0x7f, 0xff, 0xff];
    let found = decode_strips(&pool, coded.into_iter().map(|coded| (coded, 5000)));
    for (number, (found, text)) in found.zip(&texts).enumerate() {
        match found {
            Ok(found) => assert!(found == *text && number != 7),
            Err(Error::Data { block: 8, damage, .. }) => {
                assert!(number == 7 && matches!(damage.flaw(), Flaw::LzwCode { .. }), "{number}: {damage}");
            }
            Err(error) => panic!("{number}: {error}"),
        }
    }
    assert_eq!(pool.summary().stations.iter().map(|station| station.blocks).sum::<u64>(), 40);
}
