//! The CRC by tables, eight bytes a step ("slicing by 8"; Kounavis and Berry, ISCC 2005): for processors without
//! carry-less multiplication. The tables take 8 kB.

/// The polynomial.
const POLYNOMIAL: u32 = 0x04c1_1db7;

/// `TABLES[n][byte]`: what `byte` adds to the CRC if `n` bytes follow it.
static TABLES: [[u32; 256]; 8] = {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let (mut crc, mut bit) = ((byte as u32) << 24, 0);
        while bit < 8 {
            crc = if crc >> 31 == 1 { crc << 1 ^ POLYNOMIAL } else { crc << 1 };
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut n = 1;
    while n < 8 {
        let mut byte = 0;
        while byte < 256 {
            let crc = tables[n - 1][byte];
            tables[n][byte] = crc << 8 ^ tables[0][(crc >> 24) as usize];
            byte += 1;
        }
        n += 1;
    }
    tables
};

/// Computes the CRC of bytes that come in pieces.
#[derive(Clone, Copy, Debug)]
pub struct Crc(u32);

impl Crc {
    /// Starts with no bytes.
    pub fn new() -> Self {
        Crc(u32::MAX)
    }

    /// Adds the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        let (eights, rest) = bytes.as_chunks::<8>();
        let add = |n: usize, byte: u8| TABLES[n][usize::from(byte)];
        self.0 = eights.iter().fold(self.0, |crc, &[a, b, c, d, e, f, g, h]| {
            let [w, x, y, z] = crc.to_be_bytes();
            let first = add(7, a ^ w) ^ add(6, b ^ x) ^ add(5, c ^ y) ^ add(4, d ^ z);
            first ^ add(3, e) ^ add(2, f) ^ add(1, g) ^ add(0, h)
        });
        self.0 = rest.iter().fold(self.0, |crc, byte| crc << 8 ^ add(0, (crc >> 24) as u8 ^ byte));
    }

    /// The CRC of all bytes so far.
    pub fn finish(&self) -> u32 {
        !self.0
    }
}

impl Default for Crc {
    fn default() -> Self {
        Self::new()
    }
}
