//! The steps of bzip2, each in the plainest way: slow, and so simple that mistakes are unlikely.
//!
//! They encode the crafted blocks, and give the text to which each must decode.

/// CRC-32/BZIP2, bit by bit.
pub fn crc(text: &[u8]) -> u32 {
    let mut crc = !0u32;
    for &byte in text {
        crc ^= u32::from(byte) << 24;
        for _ in 0..8 {
            crc = if crc >> 31 == 1 { crc << 1 ^ 0x04c1_1db7 } else { crc << 1 };
        }
    }
    !crc
}

/// Run-length step: a run of 4 to 255 equal bytes becomes four of them and the count of the rest.
pub fn run_length(text: &[u8]) -> Vec<u8> {
    let mut block = Vec::new();
    for run in text.chunk_by(|a, b| a == b).flat_map(|run| run.chunks(255)) {
        block.extend_from_slice(&run[..run.len().min(4)]);
        if run.len() >= 4 {
            block.push((run.len() - 4) as u8);
        }
    }
    block
}

/// Undoes [`run_length`]; `None` where bzip2 1.0.8 refuses: four equal bytes at the end, and no count.
pub fn undo_run_length(block: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    let mut bytes = block.iter().copied();
    let (mut last, mut run) = (None, 0);
    while let Some(byte) = bytes.next() {
        run = if last == Some(byte) { run + 1 } else { 1 };
        last = Some(byte);
        text.push(byte);
        if run == 4 {
            let count = bytes.next()?;
            text.extend(std::iter::repeat_n(byte, count.into()));
            (last, run) = (None, 0);
        }
    }
    Some(text)
}

/// Sorts all rotations of `block`. Returns the last column, and the row of the block itself.
pub fn bwt(block: &[u8]) -> (Vec<u8>, u32) {
    let n = block.len();
    let mut rows: Vec<usize> = (0..n).collect();
    rows.sort_by(|&a, &b| {
        let rotation = |i: usize| block[i..].iter().chain(&block[..i]);
        rotation(a).cmp(rotation(b))
    });
    let column = rows.iter().map(|&i| block[(i + n - 1) % n]).collect();
    (column, rows.iter().position(|&i| i == 0).unwrap_or(0) as u32)
}

/// Follows a last column from row `origin` for as many steps as it has rows, whatever cycles its permutation has.
pub fn undo_bwt(column: &[u8], origin: u32) -> Vec<u8> {
    let mut next: Vec<usize> = (0..column.len()).collect();
    next.sort_by_key(|&i| column[i]); // stable: equal bytes keep their order
    let mut row = origin as usize;
    let mut block = Vec::with_capacity(column.len());
    for _ in 0..column.len() {
        row = next[row];
        block.push(column[row]);
    }
    block
}

/// The bytes that occur, in order.
pub fn used(column: &[u8]) -> Vec<u8> {
    let mut seen = [false; 256];
    for &byte in column {
        seen[usize::from(byte)] = true;
    }
    (0..=255).filter(|&byte| seen[usize::from(byte)]).collect()
}

/// A run of `n` zero positions as a number in the digits 1 (RUNA = 0) and 2 (RUNB = 1), lowest digit first.
pub fn zero_run(mut n: u64) -> Vec<u16> {
    let mut symbols = Vec::new();
    while n > 0 {
        symbols.push(((n - 1) % 2) as u16);
        n = (n - 1) / 2;
    }
    symbols
}

/// Move-to-front and zero runs: the symbols of a block, including the end-of-block symbol.
pub fn symbols(column: &[u8], map: &[u8]) -> Vec<u16> {
    let mut front = map.to_vec();
    let mut symbols = Vec::new();
    let mut zeros = 0;
    for byte in column {
        let at = front.iter().position(|b| b == byte).expect("a byte that the map does not name");
        if at == 0 {
            zeros += 1;
            continue;
        }
        symbols.extend(zero_run(zeros));
        zeros = 0;
        front[..=at].rotate_right(1);
        symbols.push(at as u16 + 1);
    }
    symbols.extend(zero_run(zeros));
    symbols.push(map.len() as u16 + 1);
    symbols
}

/// Undoes [`symbols`], up to the end-of-block symbol.
pub fn undo_symbols(symbols: &[u16], map: &[u8]) -> Vec<u8> {
    let mut front = map.to_vec();
    let mut column = Vec::new();
    let mut weight = 1usize;
    for &symbol in symbols {
        if symbol < 2 {
            column.extend(std::iter::repeat_n(front[0], weight << symbol));
            weight *= 2;
            continue;
        }
        weight = 1;
        if usize::from(symbol) == map.len() + 1 {
            break;
        }
        front[..usize::from(symbol)].rotate_right(1);
        column.push(front[0]);
    }
    column
}

/// The positions before `len` at which a randomised block (bzip2 0.9.0 and older) has its lowest bit flipped.
pub fn randomised_positions(len: usize) -> Vec<usize> {
    let mut positions = Vec::new();
    let mut start = 0;
    for step in super::randomise::STEPS.iter().cycle() {
        let at = start + usize::from(*step) - 2;
        if at >= len {
            return positions;
        }
        positions.push(at);
        start += usize::from(*step);
    }
    positions
}

/// Randomises a block, or undoes the randomisation.
pub fn randomise(block: &mut [u8]) {
    for at in randomised_positions(block.len()) {
        block[at] ^= 1;
    }
}

/// Undoes all steps: returns the text of a block with this last column and origin. `None` if bzip2 refuses the block.
pub fn text(column: &[u8], origin: u32, randomised: bool) -> Option<Vec<u8>> {
    if origin as usize >= column.len() {
        return None;
    }
    let mut block = undo_bwt(column, origin);
    if randomised {
        randomise(&mut block);
    }
    undo_run_length(&block)
}
