//! A set of strings: the lines of a text.

/// The strings of a text, a line each.
pub struct Strings<'a> {
    text: &'a [u8],
    /// The first byte of each string, and the length of the text.
    begin: Vec<u32>,
}

impl<'a> Strings<'a> {
    /// `text` has less than 4 GiB and ends with `\n`.
    pub fn new(text: &'a [u8]) -> Strings<'a> {
        let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at as u32 + 1);
        Strings { text, begin: std::iter::once(0).chain(ends).collect() }
    }

    pub fn len(&self) -> usize {
        self.begin.len() - 1
    }

    pub fn get(&self, string: u32) -> &'a [u8] {
        let at = string as usize;
        &self.text[self.begin[at] as usize..self.begin[at + 1] as usize - 1]
    }

    /// Eight bytes of a string from `from` on, the first one topmost, with zeros after its end.
    pub fn eight(&self, string: u32, from: usize) -> u64 {
        let rest = self.get(string).get(from..).unwrap_or_default();
        let bytes = rest.first_chunk().copied().unwrap_or_else(|| {
            let mut bytes = [0; 8];
            bytes[..rest.len()].copy_from_slice(rest);
            bytes
        });
        u64::from_be_bytes(bytes)
    }
}
