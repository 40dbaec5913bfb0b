//! `hybz::recover`: exactly the good blocks of randomly damaged files come out, and no other byte.

mod damages;
mod leftovers;
mod mended;
mod steps;

use hybz::recover::{Block, Found, Hole, Recovered, Rejoiner, Remark, recover};
use hybz::{Error, Settings};

/// Everything that is found in a file.
struct Everything {
    /// The bits where blocks begin, and their texts.
    blocks: Vec<(u64, Vec<u8>)>,
    /// A `.bz2` of these texts.
    rejoined: Vec<u8>,
    holes: Vec<Hole>,
    remarks: Vec<Remark>,
    summary: Recovered,
}

fn everything(file: &[u8], settings: &Settings) -> Everything {
    let (mut blocks, mut holes, mut remarks) = (Vec::new(), Vec::new(), Vec::new());
    let mut rejoiner = Rejoiner::new(Vec::new());
    let file = file.to_vec();
    let mut take = |block: Block| -> Result<(), Error> {
        let mut text = Vec::new();
        block.write_text(&mut text)?;
        blocks.push((block.bits.start, text));
        rejoiner.push(&block)
    };
    let summary = recover(&file, settings, None, |found| {
        match found {
            Found::Block(block) => take(block)?,
            Found::Hole(hole) => holes.push(hole),
            Found::Remark(remark) => remarks.push(remark),
            other => panic!("{other:?}"),
        }
        Ok(())
    });
    let summary = summary.unwrap();
    let rejoined = rejoiner.finish().unwrap();
    assert_eq!((summary.blocks, summary.holes), (blocks.len() as u64, holes.len() as u64));
    Everything { blocks, rejoined, holes, remarks, summary }
}
