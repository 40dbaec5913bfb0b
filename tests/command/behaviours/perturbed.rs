//! Perturbed text in a `.bz2`: other programs output the inserted bytes, hybz removes them.

use super::rows;
use crate::place::{Place, compressed, installed_for_part, noise, text};

rows! {
    "`--perturb K --format=bz2`, from files and pipes, levels, threads" | "bad flag" | "a `.bz2` that every bzip2 \
     decodes to a text with a byte after every K, and hybz to the text; a sentence says so" => round_trips;
    "`-t`, `-l`, `--verify=file`, `--resume`, a copy after another file" | "-" | "as of any `.bz2`" => read_as_a_whole;
    "`--recover`, `--split`, `--index` of it" | "no such flags" | "a sentence; rc 1" => refused;
    "a wrong level digit in its mark" | "not noticed" | "an error; rc 2; no text" => damage;
}

/// The remark about what other programs output.
const SENTENCE: &str = "hybz: --perturb: other programs decode this .bz2 to a text with one more byte after every";

/// The text without the last of every `k + 1` bytes.
fn without_inserted(text: &[u8], k: usize) -> Vec<u8> {
    text.chunks(k + 1).flat_map(|part| &part[..part.len().min(k)]).copied().collect()
}

fn round_trips() {
    let plain = [text(350_000), noise(50_000), vec![b'r'; 400_000]].concat();
    let place = Place::with(&[("a", &plain)]);
    for (level, k, bytes, threads) in [
        ("-1", "1000", 1000, "1"),
        ("-2", "1", 1, "2"),
        ("-3", "0.1%", 1000, "17"),
        ("-4", "77", 77, "2"),
        ("-5", "0.01%", 10_000, "1"),
        ("-6", "2", 2, "17"),
        ("-7", "1%", 100, "1"),
        ("-8", "500", 500, "2"),
        ("-9", "500000", 500_000, "2"),
    ] {
        let flags = ["--format=bz2", "--perturb", k, level, "-p", threads];
        let run = place.hybz(&[&flags[..], &["-kf", "a"]].concat());
        assert!(run.code == 0 && run.stderr.starts_with(SENTENCE), "{}", run.stderr);
        assert!(place.hybz_with_input(&[&flags[..], &["-q"]].concat(), &plain).silent(0).stdout == place.get("a.bz2"));
        let piped = format!("cat a.bz2 | hybz -p{threads} -dc | cmp - a");
        place.shell(&format!("hybz -p{threads} -dc a.bz2 | cmp - a; {piped}")).silent(0);
        place.shell("tail -c +589 a.bz2 | hybz -dc > seen; cat a.bz2 | hybz -s -dc | cmp - a").silent(0);
        assert!(place.called("bzcat").arg("a.bz2").output().expect("hybz as bzcat").stdout == place.get("seen"));
        assert!(without_inserted(&place.get("seen"), bytes) == plain);
        assert_eq!(place.get("seen").len(), plain.len() + plain.len() / bytes);
        for peer in ["bzip2 -dc", "lbzip2 -dc", "pbzip2 -dc", "7z", "busybox bzip2 -dc", "python3"] {
            let program = peer.split(' ').next().unwrap();
            let line = match program {
                "python3" => {
                    "python3 -c 'import bz2; open(\"3\", \"wb\").write(bz2.open(\"a.bz2\").read())'; cmp 3 seen"
                }
                "7z" => "7z x -so -tbzip2 a.bz2 2> /dev/null | cmp - seen",
                _ => &format!("{peer} < a.bz2 | cmp - seen"),
            };
            if installed_for_part(program) {
                place.shell(line).silent(0);
            }
        }
    }
}

/// 600 kB, perturbed after every 1000 bytes, as `p.bz2`.
fn perturbed() -> Place {
    let plain = text(600_000);
    let place = Place::with(&[("p", &plain), ("q.bz2", &compressed(b"before\n"))]);
    place.shell("hybz -qk -2 --format=bz2 --perturb=1000 --verify=file p").silent(0);
    place
}

fn read_as_a_whole() {
    let place = perturbed();
    place.hybz(&["-t", "p.bz2"]).silent(0);
    assert!(place.hybz(&["-l", "p.bz2"]).silent(0).out().contains(" 600000 "));
    place.shell("cat q.bz2 p.bz2 p.bz2 | hybz -dc | cmp - <(echo before; cat p p)").silent(0);
    place
        .shell(
            "hybz -dc --ranges 100@300000,10@599990,7@5 p.bz2 > r; (tail -c +300001 p | head -c 100; tail -c 10 p; \
        tail -c +6 p | head -c 7) | cmp - r",
        )
        .silent(0);
    place
        .shell("mkdir d; cp p d; hybz -qrk --format=bz2 --perturb=9 d; hybz -qrk --resume --format=bz2 --perturb=9 d")
        .silent(0);
    place.shell("mv p p2; hybz -d p.bz2; cmp p p2").silent(0);
}

fn refused() {
    let place = perturbed();
    for flags in ["--recover p.bz2", "-dc --split 2/3 p.bz2"] {
        let args: Vec<&str> = flags.split(' ').collect();
        place.hybz(&args).says(1, "Input file p.bz2 is perturbed: it can only be decoded from its beginning.");
    }
    place.hybz(&["-t", "--index", "p.bz2"]).says(1, "p.bz2.bzi is not written: the text is perturbed.");
    for (flags, text) in [
        ("--index", "--index and --perturb cannot be used together."),
        ("--stream-size=1M", "--stream-size and --perturb cannot be used together."),
        ("--block-size=1M", "--format=bz2 and --block-size cannot be used together."),
    ] {
        place.hybz(&["--format=bz2", "--perturb=9", flags, "p"]).says(1, text);
    }
    place.hybz(&["--perturb-seed=9", "p"]).says(1, "--perturb-seed works only with --perturb.\n");
    assert_eq!(place.names(), ["p", "p.bz2", "q.bz2"]);
}

fn damage() {
    let place = perturbed();
    let good = place.get("p.bz2");
    for stream in [0, 17, 18, 41] {
        let mut wrong = good.clone();
        let digit = &mut wrong[14 * stream + 3];
        *digit = if *digit == b'9' { b'1' } else { *digit + 1 };
        place.put("wrong.bz2", &wrong);
        let run = place.hybz(&["-dc", "wrong.bz2"]).says(2, "the mark of a perturbed text is wrong");
        assert!(run.stdout.is_empty(), "{stream}");
    }
}
