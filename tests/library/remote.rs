//! To read text of a `.bz2` on a server, exactly the bytes of the blocks with that text are fetched.

#[path = "../../examples/remote.rs"]
#[allow(clippy::duplicate_mod)]
pub mod example;

use example::{get, serve};
use hybz::{Error, Level, Settings, index::Index, seek::Plan};
use hybz_testkit::shapes;
use std::sync::atomic::Ordering;

#[test]
fn the_example() {
    example::main().unwrap();
}

#[test]
fn exactly_the_blocks_bytes() {
    let settings = Settings::new().level(Level::FASTEST);
    let (text, zeros) = (shapes::random(500_000), vec![0; 3_000_000]);
    let mut file = hybz::compress(&text, &settings).unwrap();
    file.extend(hybz::compress(&zeros, &settings).unwrap());
    file.extend(hybz::compress(&text, &settings).unwrap());
    let text = [&text[..], &zeros, &text].concat();
    let index = Index::build(&file[..], &settings).unwrap();
    let blocks: Vec<_> = index.iter().map(Result::unwrap).collect();
    let (server, served) = serve(vec![("file", file)]).unwrap();
    let len = text.len() as u64;
    for (from, to) in [(0, 1), (0, 0), (7, 3), (99_000, 310_000), (499_999, 500_001), (1_000_000, 1_000_010)]
        .into_iter()
        .chain([(3_400_000, len), (0, len), (len - 1, len + 9), (len, len + 1), (len + 5, u64::MAX)])
    {
        let plan = Plan::new(&index, from..to).unwrap();
        served.store(0, Ordering::SeqCst);
        let pieces: Vec<_> = plan.ranges().iter().map(|range| get(server, "file", Some(range)).unwrap()).collect();
        let expected = &text[from.min(len) as usize..to.min(len).max(from.min(len)) as usize];
        assert!(plan.decode(&pieces, &settings).unwrap() == expected, "{from}..{to}");
        // Every byte that has a bit of a wanted block is fetched once.
        let wanted =
            blocks.iter().filter(|block| block.text_offset < to.min(len) && from < block.text_offset + block.text_len);
        let wanted = wanted.filter(|_| from < to);
        let mut bytes: Vec<u64> = wanted.flat_map(|block| block.bit_offset / 8..block.end_bit.div_ceil(8)).collect();
        bytes.dedup();
        assert_eq!(served.load(Ordering::SeqCst), bytes.len() as u64, "{from}..{to}");
        assert!(plan.ranges().iter().cloned().flatten().eq(bytes), "{from}..{to}");
        assert!(plan.ranges().windows(2).all(|pair| pair[0].end < pair[1].start));
    }
}

#[test]
fn pieces_that_do_not_fit() {
    let settings = Settings::new().level(Level::FASTEST);
    let file = hybz::compress(&shapes::random(300_000), &settings).unwrap();
    let plan = Plan::new(&Index::build(&file[..], &settings).unwrap(), 0..300_000).unwrap();
    assert_eq!(plan.ranges().len(), 1);
    let piece = &file[plan.ranges()[0].start as usize..];
    assert!(plan.decode(&[piece], &settings).is_ok());
    assert!(matches!(plan.decode(&[&piece[..piece.len() / 2]], &settings), Err(Error::Truncated { .. })));
    assert!(matches!(plan.decode(&[&[][..]; 0], &settings), Err(Error::Truncated { block: 1, .. })));
    assert!(matches!(plan.decode(&[&file[..]], &settings), Err(Error::ForeignIndex { bit_offset: 32 })));
    let mut damaged = piece.to_vec();
    damaged[5000] ^= 1;
    assert!(matches!(plan.decode(&[damaged], &settings), Err(Error::Data { .. })));
}
