//! `.Z` files are read as by gzip and ncompress, in files and pipes; data that both programs refuse are refused.

use crate::place::{Place, Run, installed, noise, run_with_input, text};

/// Codes of nine bits, least significant bit first, after a header with these flags.
fn nine(flags: u8, codes: &[u32]) -> Vec<u8> {
    let bits: Vec<u32> = codes.iter().flat_map(|code| (0..9).map(move |i| code >> i & 1)).collect();
    let byte = |byte: &[u32]| byte.iter().enumerate().map(|(i, bit)| (*bit as u8) << i).sum::<u8>();
    [0x1f, 0x9d, flags].into_iter().chain(bits.chunks(8).map(byte)).collect()
}

fn by(program: &str, file: &[u8]) -> Run {
    run_with_input(Place::new().command(program).arg("-dc"), file)
}

fn ours(file: &[u8]) -> Run {
    Place::new().hybz_with_input(&["-dc"], file)
}

/// hybz decodes a file as gzip and ncompress do: the same text, and success or failure alike. (When ncompress meets an
/// error, it discards text that it has not written.)
fn same(file: &[u8], context: &str) -> bool {
    let ours = ours(file);
    assert!(ours.code == 0 || ours.code == 2, "{context}: {ours:?}");
    let gzip = by("gzip", file);
    // gzip warns of meaningless flags with exit code 2.
    assert_eq!(ours.code == 0, gzip.code != 1, "{context}: {ours:?} {gzip:?}");
    assert!(ours.stdout == gzip.stdout, "{context}");
    if installed("compress") {
        let ncompress = by("compress", file);
        assert_eq!(ours.code == 0, ncompress.code == 0, "{context}: {ours:?} {ncompress:?}");
        assert!(ours.code != 0 || ours.stdout == ncompress.stdout, "{context}");
    }
    ours.code == 0
}

const CLEAR: u32 = 256;
/// Padding fills the rest of a group of eight codes; its value does not matter.
const PAD: u32 = 511;

#[test]
fn shapes_as_gzip_and_ncompress_read_them() {
    if !installed("gzip") {
        return;
    }
    let (a, b) = (97, 98);
    for (name, file, good) in [
        ("a header alone", nine(0x90, &[]), true),
        ("the same without block mode", nine(0x10, &[]), true),
        ("17 bits", nine(0x91, &[a]), false),
        ("31 bits", nine(0x9f, &[a]), false),
        ("flags that mean nothing", nine(0xf0, &[a]), true),
        ("a code beyond the table first", nine(0x90, &[257]), false),
        ("a clear first", nine(0x90, &[CLEAR, a]), false),
        ("its own string", nine(0x90, &[a, 257, 258]), true),
        ("a code beyond the table", nine(0x90, &[a, 258]), false),
        ("a clear in the middle of a group", nine(0x90, &[a, b, CLEAR, PAD, PAD, PAD, PAD, PAD, 99, 257]), true),
        (
            "two clears",
            nine(0x90, &[a, b, CLEAR, PAD, PAD, PAD, PAD, PAD, CLEAR, PAD, PAD, PAD, PAD, PAD, PAD, PAD, a, 257]),
            true,
        ),
        ("a code of the old table after a clear", nine(0x90, &[a, b, CLEAR, PAD, PAD, PAD, PAD, PAD, 257]), false),
        ("an end in the padding", nine(0x90, &[a, b, CLEAR, PAD]), true),
        ("code 256 without block mode", nine(0x10, &[a, CLEAR, 257]), true),
        ("a code beyond the table without block mode", nine(0x10, &[a, 257]), false),
        ("9 bits", nine(0x89, &[a, b, 257, 99]), true),
        ("an end within a code", [nine(0x90, &[a, b]), vec![]].concat()[..5].to_vec(), true),
    ] {
        assert_eq!(same(&file, name), good, "{name}");
    }
    // A partial header cannot be compared: gzip knows other formats that begin like this.
    for (file, text) in
        [(&b"\x1f"[..], "is not a bzip2 file."), (b"\x1f\x8b\x08", "is not a bzip2 file: it is gzip data")]
    {
        ours(file).says(2, text);
    }
    ours(b"\x1f\x9d").says(2, "Compressed file ends unexpectedly");
    // gzip and ncompress read uninitialised memory here.
    for bits in 0..9 {
        ours(&nine(0x80 | bits, &[a, 257, 257])).says(2, "but only 9 to 16 are known");
    }
}

#[test]
fn what_ncompress_writes() {
    if !installed("compress") || !installed("gzip") {
        return;
    }
    for plain in
        [&b""[..], b"a", &text(1_000_000), &noise(300_000), &[0; 3_000_000], &[text(400_000), noise(400_000)].concat()]
    {
        // Files of 9 bits are wrong if they have more than 256 codes: no program reads them, not even ncompress.
        for bits in 10..=16 {
            let place = Place::with(&[("a", plain)]);
            place.shell(&format!("compress -f -b {bits} -c a > a.Z")).silent(0);
            assert!(place.hybz(&["-dc", "a.Z"]).silent(0).stdout == plain, "{bits} {}", plain.len());
            place.hybz(&["-t", "a.Z"]).silent(0);
            if bits == 16 && !plain.is_empty() {
                let coded = place.get("a.Z");
                for end in [4, 5, 100, coded.len() / 2, coded.len() - 1] {
                    same(&coded[..end.min(coded.len())], &format!("cut at {end}"));
                }
            }
        }
    }
    let place = Place::with(&[("a", &text(100_000))]);
    place.shell("compress -b 9 -c a > a.Z").silent(0);
    place.hybz(&["-dc", "a.Z"]).says(2, "the table of codes is full, and is not cleared");
    assert_eq!(by("gzip", &place.get("a.Z")).code, 1);
}

/// Text is written before more input arrives.
#[test]
fn text_comes_as_soon_as_it_can() {
    let place = Place::with(&[("a.Z", &nine(0x90, &[104, 101, 108, 108, 111, 32, 119, 111, 114, 108, 100]))]);
    // After the header, eight codes take nine bytes.
    let run = place.shell(
        "mkfifo in out; hybz -dc < in > out & exec 3> in 4< out; head -c 12 a.Z >&3; \
         timeout 20 head -c 8 <&4; tail -c +13 a.Z >&3; exec 3>&-; cat <&4; wait",
    );
    assert_eq!(run.silent(0).out(), "hello world");
}
