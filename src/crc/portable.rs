//! The CRC by tables, 16 bytes a step ("slicing by 16"; Kounavis and Berry, ISCC 2005): for processors without
//! carry-less multiplication, and for the bytes that it leaves over. The tables take 16 kB. The register is kept with
//! its bytes reversed, so that words of the text are loaded as they are.

type Tables = [[u32; 256]; 16];

/// `TABLES[n][byte]`: what `byte` adds to the CRC if `n` bytes follow it, bytes reversed.
#[cfg(not(target_arch = "wasm32"))]
static TABLES: Tables = tables();
/// Made at the first use: stored, they would be a quarter of the npm package.
#[cfg(target_arch = "wasm32")]
static TABLES: std::sync::LazyLock<Tables> = std::sync::LazyLock::new(tables);

const fn tables() -> Tables {
    let mut tables = [[0; 256]; 16];
    let mut n = 0;
    while n < 16 {
        let mut byte = 0;
        while byte < 256 {
            let before = if n == 0 { (byte as u32) << 24 } else { u32::swap_bytes(tables[n - 1][byte]) };
            tables[n][byte] = super::times_x(before, 8).swap_bytes();
            byte += 1;
        }
        n += 1;
    }
    tables
}

/// The register `crc` after `bytes`.
pub fn update(crc: u32, bytes: &[u8]) -> u32 {
    let tables: &Tables = &TABLES;
    let (chunks, rest) = bytes.as_chunks::<16>();
    let add = |n: usize, word: u32| {
        let [a, b, c, d] = word.to_le_bytes().map(usize::from);
        tables[n + 3][a] ^ tables[n + 2][b] ^ tables[n + 1][c] ^ tables[n][d]
    };
    let crc = chunks.iter().fold(crc.swap_bytes(), |crc, chunk| {
        let [w, x, y, z] = std::array::from_fn(|i| u32::from_le_bytes(std::array::from_fn(|b| chunk[4 * i + b])));
        add(8, x) ^ add(4, y) ^ add(0, z) ^ add(12, w ^ crc)
    });
    rest.iter().fold(crc, |crc, byte| crc >> 8 ^ tables[0][usize::from(crc as u8 ^ byte)]).swap_bytes()
}
