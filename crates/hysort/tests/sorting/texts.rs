//! Texts of all shapes, for the library and for the command.

use hybz_testkit::shapes::Rng;

/// Lines that a closure makes for these numbers.
fn lines<T>(numbers: impl Iterator<Item = T>, line: impl FnMut(T) -> String) -> Vec<u8> {
    numbers.map(line).flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect()
}

/// Named texts, each with its reason.
pub fn texts() -> Vec<(&'static str, Vec<u8>)> {
    let mut rng = Rng(41);
    let prefix = "/usr/share/a/rather/long/folder/that/all/of/them/are/in/".repeat(2);
    let mut lens: Vec<usize> = (0..3000).collect();
    (1..lens.len()).for_each(|i| lens.swap(i, rng.below(i + 1)));
    let long = |byte: u8, len: usize| vec![byte; len];
    vec![
        ("empty", Vec::new()),
        ("one end", b"\n".to_vec()),
        ("one line", b"one line\n".to_vec()),
        ("no last end", b"b\na\nc".to_vec()),
        ("no end at all", b"nothing ends this".to_vec()),
        ("empty lines only", vec![b'\n'; 1000]),
        ("empty lines", b"\n\n\nb\n\na\n\n".to_vec()),
        ("NULs", b"a\0b\na\0\na\n\0\n\0\0\n\n".repeat(50)),
        ("carriage returns", b"b\r\na\r\na\n\r\n".repeat(50)),
        ("all bytes", (0..=255).rev().flat_map(|byte| [byte, b'\n']).collect()),
        ("lines of one byte", (0..100_000).flat_map(|_| [rng.below(256) as u8, b'\n']).collect()),
        ("a million equal lines", b"the same\n".repeat(1_000_000)),
        ("equal lines but one", [b"the same\n".repeat(50_000), b"another\nthe same\n".to_vec()].concat()),
        ("few different lines", lines(0..300_000, |_| ["alpha", "beta ", "gamma"][rng.below(3)].to_owned())),
        ("prefixes of each other", lines(lens.iter(), |&len| "a".repeat(len))),
        ("long common prefixes", lines(0..40_000, |_| format!("{prefix}{}", rng.next_u64() % 20_000))),
        ("periodic lines", lines(0..5_000, |number| "abc".repeat(number % 90))),
        ("one very long line", [&b"b\na\n"[..], &long(b'x', 3 << 20), b"\nc\n"].concat()),
        ("a long line without its end", long(b'z', 2_000_000)),
        ("long lines", lines(0..12, |_| format!("{}{}", "y".repeat(300_000), rng.below(4)))),
        ("sorted", lines(0..200_000, |number| format!("{number:07}"))),
        ("sorted backwards", lines((0..200_000).rev(), |number| format!("{number:07}"))),
        ("random lines", {
            let line = |_| (0..rng.below(12)).map(|_| rng.below(256) as u8).chain([b'\n']).collect::<Vec<u8>>();
            (0..400_000).flat_map(line).collect()
        }),
    ]
}
