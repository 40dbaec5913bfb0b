//! The CRC by tables, eight bytes a step ("slicing by 8"; Kounavis and Berry, ISCC 2005): for processors without
//! carry-less multiplication, and for the bytes that it leaves over. The tables take 8 kB.

/// `TABLES[n][byte]`: what `byte` adds to the CRC if `n` bytes follow it.
static TABLES: [[u32; 256]; 8] = {
    let mut tables = [[0; 256]; 8];
    let mut n = 0;
    while n < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = if n == 0 { (byte as u32) << 24 } else { tables[n - 1][byte] };
            tables[n][byte] = super::times_x(before, 8);
            byte += 1;
        }
        n += 1;
    }
    tables
};

/// The register `crc` after `bytes`.
pub fn update(crc: u32, bytes: &[u8]) -> u32 {
    let (eights, rest) = bytes.as_chunks::<8>();
    let add = |n: usize, byte: u8| TABLES[n][usize::from(byte)];
    let crc = eights.iter().fold(crc, |crc, &[a, b, c, d, e, f, g, h]| {
        let [w, x, y, z] = crc.to_be_bytes();
        let first = add(7, a ^ w) ^ add(6, b ^ x) ^ add(5, c ^ y) ^ add(4, d ^ z);
        first ^ add(3, e) ^ add(2, f) ^ add(1, g) ^ add(0, h)
    });
    rest.iter().fold(crc, |crc, byte| crc << 8 ^ add(0, (crc >> 24) as u8 ^ byte))
}
