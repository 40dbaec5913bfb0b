//! Sets that are made here, from fixed seeds: the same bytes on every machine. Most stand in for sets of the theses
//! that cannot be had, at their number of strings; `datasets.toml` says for each what it stands for.

/// A pseudo-random generator (a congruential one; D. Knuth's MMIX has its constants).
pub struct Random(pub u64);

impl Random {
    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.draw() as usize % n
    }

    /// A number below `n`, small ones more often: the larger `power`, the more.
    fn skewed(&mut self, n: usize, power: i32) -> usize {
        let part = self.draw() as f64 / (1u64 << 31) as f64;
        (part.powi(power) * n as f64) as usize
    }
}

type Make = fn(usize) -> Vec<u8>;

const MADE: [(&str, Make); 10] = [
    ("artificial-2", |max| lines(1_000_000, max, |_, line| line.resize(line.len() + 101, b'A'))),
    ("artificial-4", |max| lines(10_000_000, max, skewed_letters)),
    ("artificial-5", |max| lines(1_000_000, max, |random, line| line.resize(line.len() + 1 + random.below(100), b'A'))),
    ("dictcalls", |max| lines(100_187, max, opcodes)),
    ("random-strings", |max| lines(1_000_000, max, |random, line| line.extend((0..100).map(|_| random_byte(random))))),
    ("words", words),
    ("url", |max| lines(10_000_000, max, url)),
    ("genome", |max| lines(31_623_000, max, |random, line| line.extend((0..9).map(|_| b"acgt"[random.below(4)])))),
    ("sentences", |max| lines(1_800_000, max, sentence)),
    ("pc-filelist", file_list),
];

/// The bytes of a set that is made here, at least its first `max` and at most some lines more. `None` for other sets.
pub fn text(name: &str, max: usize) -> Option<Vec<u8>> {
    MADE.iter().find(|(known, _)| *known == name).map(|(_, make)| make(max))
}

/// At most `count` lines, until there are `max` bytes.
fn lines(count: usize, max: usize, add: impl Fn(&mut Random, &mut Vec<u8>)) -> Vec<u8> {
    let (mut random, mut text) = (Random(1), Vec::new());
    for _ in 0..count {
        if text.len() >= max {
            break;
        }
        add(&mut random, &mut text);
        text.push(b'\n');
    }
    text
}

/// A text's lines, without their ends.
pub fn split(text: &[u8]) -> Vec<&[u8]> {
    text.strip_suffix(b"\n").unwrap_or(text).split(|&byte| byte == b'\n').collect()
}

pub fn joined<S: AsRef<[u8]>>(lines: &[S]) -> Vec<u8> {
    let mut text = Vec::new();
    for line in lines {
        text.extend_from_slice(line.as_ref());
        text.push(b'\n');
    }
    text
}

fn shuffle<T>(items: &mut [T]) {
    let mut random = Random(1);
    for last in (1..items.len()).rev() {
        items.swap(last, random.below(last + 1));
    }
}

/// Letters a to i, of which `a` makes up six sevenths, and 16 on average: ties as long as his.
fn skewed_letters(random: &mut Random, line: &mut Vec<u8>) {
    loop {
        let mut letter = b'a';
        while letter < b'i' && random.below(7) == 0 {
            letter += 1;
        }
        line.push(letter);
        if random.below(16) == 0 {
            break;
        }
    }
}

fn opcodes(random: &mut Random, line: &mut Vec<u8>) {
    const OPCODES: [&str; 24] = [
        "mov", "push", "call", "lea", "add", "cmp", "jne", "je", "xor", "sub", "pop", "test", "and", "jmp", "ret",
        "shl", "imul", "or", "movzx", "inc", "sete", "cdq", "neg", "nop",
    ];
    for number in 0..3 + random.below(5) {
        if number > 0 {
            line.push(b' ');
        }
        line.extend_from_slice(OPCODES[random.skewed(OPCODES.len(), 2)].as_bytes());
    }
}

/// Any byte but NUL and the end of a line.
fn random_byte(random: &mut Random) -> u8 {
    match random.below(254) as u8 {
        byte @ 0..9 => byte + 1,
        byte => byte + 2,
    }
}

/// Adds the name with this number: one to four syllables.
fn name(number: u64, text: &mut Vec<u8>) {
    const STARTS: [&str; 16] = ["s", "c", "p", "m", "t", "b", "r", "d", "st", "l", "tr", "f", "pr", "n", "g", "h"];
    const VOWELS: [&str; 8] = ["e", "a", "i", "o", "u", "ea", "io", "y"];
    const ENDS: [&str; 8] = ["", "", "r", "n", "s", "l", "ng", "t"];
    let mut random = Random(number ^ 0x9e37_79b9_7f4a_7c15);
    random.draw();
    for _ in 0..=1 + random.skewed(3, 2) {
        for parts in [&STARTS[..], &VOWELS, &ENDS] {
            text.extend_from_slice(parts[random.skewed(parts.len(), 2)].as_bytes());
        }
    }
}

/// 10 million different words in random order: one or two names and a suffix, and some long ones of five names.
fn words(max: usize) -> Vec<u8> {
    const SUFFIXES: [&str; 8] = ["", "s", "ed", "ing", "er", "ly", "ness", "ers"];
    const WORDS: usize = 10_000_000;
    let drawn = lines(WORDS * 2, max, |random, line| {
        let names = if random.below(4000) == 0 { 5 + random.below(4) } else { 1 + random.below(2) };
        let numbers = if names > 2 { 4 } else { 400_000 };
        (0..names).for_each(|_| name(random.skewed(numbers, 2) as u64, line));
        line.extend_from_slice(SUFFIXES[random.skewed(SUFFIXES.len(), 2)].as_bytes());
    });
    let mut words = split(&drawn);
    words.sort_unstable();
    words.dedup();
    shuffle(&mut words);
    words.truncate(WORDS);
    joined(&words)
}

/// Walks down a tree of names with many children; those with small numbers are taken more often.
fn walk(random: &mut Random, line: &mut Vec<u8>, from: u64, depth: usize, children: usize) -> u64 {
    (0..depth).fold(from, |parent, _| {
        line.push(b'/');
        let child = parent.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1 + random.skewed(children, 3) as u64);
        name(child, line);
        child
    })
}

fn url(random: &mut Random, line: &mut Vec<u8>) {
    line.extend_from_slice(b"http://www.");
    let host = random.skewed(100_000, 4) as u64;
    name(host, line);
    line.extend_from_slice([".com", ".org", ".edu", ".co.uk"][(host % 4) as usize].as_bytes());
    let depth = random.skewed(5, 2);
    walk(random, line, host, depth, 40);
    match random.below(50) {
        0 => drop(walk(random, line, host, 8 + depth * 6, 2)),
        1..16 => line.extend_from_slice(b"/index.html"),
        _ => (),
    }
}

/// The same two million paths on five nodes, in random order.
fn file_list(max: usize) -> Vec<u8> {
    const FILES: usize = 2_000_000;
    let drawn = lines(FILES * 5 / 4, max / 5, |random, line| {
        let depth = 3 + random.skewed(18, 2);
        let folder = walk(random, line, 7, depth, 6);
        line.push(b'/');
        name(folder % 64, line);
        line.extend_from_slice(format!("-{:05}", random.below(8192)).as_bytes());
        line.extend_from_slice([".c", ".h", ".html", ".png", ".so.1", ".py", ""][(folder % 7) as usize].as_bytes());
    });
    let mut paths = split(&drawn);
    paths.sort_unstable();
    paths.dedup();
    shuffle(&mut paths);
    paths.truncate(FILES);
    let mut lines: Vec<Vec<u8>> = (1..=5)
        .flat_map(|node| paths.iter().map(move |path| [format!("node{node}").as_bytes(), path].concat()))
        .collect();
    shuffle(&mut lines);
    joined(&lines)
}

/// Words by falling frequency; the first ones come from few.
fn sentence(random: &mut Random, line: &mut Vec<u8>) {
    for number in 0..2 + random.below(24) {
        if number > 0 {
            line.push(b' ');
        }
        let vocabulary = if number < 3 { 600 } else { 20_000 };
        let word = random.skewed(vocabulary, 4);
        match ["the", "and", "of", "to", "he", "a", "in", "it", "was", "that"].get(word) {
            Some(word) => line.extend_from_slice(word.as_bytes()),
            None => name(word as u64, line),
        }
    }
    line.push(b'.');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_made_up_to_a_length_and_their_strings_have_no_nulls() {
        for (set, _) in MADE {
            let text = text(set, 50_000).expect("a set");
            assert!(text.ends_with(b"\n") && !text.contains(&0), "{set}");
            assert!((25_000..60_000).contains(&text.len()), "{set}: {}", text.len());
        }
        assert_eq!(text("artificial-2", 1).expect("a set").len(), 102);
        assert_eq!(text("enwik8", 1), None);
    }
}
