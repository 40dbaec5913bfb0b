//! Makes texts from short recipes, so that a fuzzer's few hundred bytes reach the limits of blocks, long runs and
//! periods.

/// The length of the longest text.
const MAX_LEN: usize = 110_000;

/// The level and the text of a recipe. Its first byte chooses the level. After that, each byte below 0xF0 stands for
/// itself. The others are commands, followed by numbers: 0xF0 to 0xF3 repeat the last byte, 0xF4 to 0xF7 repeat the
/// last few bytes as a word, 0xF8 copies from further back, 0xF9 fills up to about a block's limit, 0xFA escapes any
/// byte.
pub fn cooked(recipe: &[u8]) -> (u8, Vec<u8>) {
    let mut bytes = recipe.iter().copied();
    // Mostly level 1, whose blocks are small.
    let first = bytes.next().unwrap_or(0);
    let level = if first < 224 { 1 } else { first % 9 + 1 };
    let mut text: Vec<u8> = Vec::new();
    while let Some(byte) = bytes.next() {
        let mut number = || usize::from(bytes.next().unwrap_or(0));
        match byte {
            0xf0..=0xf3 => {
                let last = text.last().copied().unwrap_or(0);
                let times = number() << (2 * (byte - 0xf0));
                text.resize((text.len() + times).min(MAX_LEN), last);
            }
            0xf4..=0xf7 => {
                let word = text[text.len().saturating_sub(number())..].to_vec();
                let times = number() << (2 * (byte - 0xf4));
                for _ in 0..times {
                    if text.len() + word.len() > MAX_LEN {
                        break;
                    }
                    text.extend_from_slice(&word);
                }
            }
            0xf8 => {
                let back = number() << 8 | number();
                let start = text.len().saturating_sub(back);
                let end = (start + number()).min(text.len());
                text.extend_from_within(start..end);
            }
            0xf9 => {
                let upto = 99_981 - 128 + number();
                let alphabet = number() as u8 | 1;
                let mut x = text.len() as u32 | 1;
                while text.len() < upto {
                    x ^= x << 13;
                    x ^= x >> 17;
                    x ^= x << 5;
                    text.push((x >> 8) as u8 % alphabet);
                }
            }
            0xfa => text.push(number() as u8),
            literal => text.push(literal),
        }
        text.truncate(MAX_LEN);
    }
    (level, text)
}
