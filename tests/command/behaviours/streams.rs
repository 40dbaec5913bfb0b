//! Files of many streams. bzip2 writes one stream.

use super::rows;
use crate::place::{Place, compressed, installed_for_part, noise, text};

rows! {
    "`--stream-size`, from files and pipes, any threads" | "one stream" | "streams, each bzip2's bytes for its text"
        => streams_of_a_size;
    "`--stream-size --lines`" | "one stream" | "each stream has whole lines" => streams_of_lines;
    "`--stream-size --index`, `--verify=file`, `--rm`, `--resume`" | "no streams" | "as with one stream"
        => streams_with_others;
    "`--stream-size` of endless input" | "no streams" | "bounded memory" => streams_in_bounded_memory;
    "flags that do not go with these" | "-" | "a sentence; rc 1; nothing is written" => nonsense;
}

/// 600 kB of lines, of which some have a CR, some are long and one is empty.
pub fn lines() -> Vec<u8> {
    let mut lines = Vec::new();
    for number in 0..400 {
        lines.extend(format!("{number} ").bytes());
        lines.extend(&text(if number % 100 == 7 { 60_000 } else { 13 * (number % 90) })[..]);
        lines.extend(&b"\r\n\n"[number % 2..2 + usize::from(number % 13 == 0)]);
    }
    lines.extend(b"the last");
    lines
}

fn streams_of_a_size() {
    let whole = [text(450_000), noise(100_000), vec![b'r'; 300_000]].concat();
    for (level, size, bytes) in [(1, "100k", 100_000), (9, "7777", 7777), (3, "1G", 1 << 30), (1, "99981", 99_981)] {
        let place = Place::with(&[("a", &whole)]);
        let expected: Vec<u8> =
            whole.chunks(bytes).flat_map(|part| place.hybz_with_input(&[&format!("-{level}")], part).stdout).collect();
        for more in ["-p1", "-p2", "-s", "--verify"] {
            if more == "-s" && level > 2 {
                continue;
            }
            let run = place.hybz(&[more, &format!("-{level}"), "--stream-size", size, "-c", "a"]).silent(0);
            assert!(run.stdout == expected, "{level} {size} {more}");
            let piped = place.hybz_with_input(&[more, &format!("-{level}"), "--stream-size", size], &whole).silent(0);
            assert!(piped.stdout == expected, "{level} {size} {more}");
        }
        place.put("streams.bz2", &expected);
        place.shell("hybz -dc streams.bz2 | cmp - a").silent(0);
        for peer in ["bzip2", "lbzip2", "pbzip2"] {
            if installed_for_part(peer) {
                place.shell(&format!("{peer} -dc streams.bz2 | cmp - a")).silent(0);
            }
        }
    }
    let place = Place::with(&[("empty", b"")]);
    place.shell("hybz -c --stream-size=1 empty | cmp - <(hybz -c empty)").silent(0);
    // A named file gives the same result.
    place.put("b", &whole);
    place.shell("hybz --stream-size 100k b && hybz -dc b.bz2 | wc -c | grep -x 850000 && test ! -e b").silent(0);
}

fn streams_of_lines() {
    let whole = lines();
    for (size, bytes) in [("1", 1), ("500", 500), ("20k", 20_000), ("150k", 150_000), ("1M", 1_000_000)] {
        let place = Place::with(&[("a", &whole)]);
        place.hybz(&["-1k", "--index", "--lines", "--stream-size", size, "a"]).silent(0);
        let index = place.hybz(&["-lv", "a.bz2"]).silent(0).out();
        // The text length of each stream, summed over its blocks.
        let mut streams: Vec<usize> = Vec::new();
        for row in index.lines().skip(1) {
            let fields: Vec<&str> = row.split_whitespace().collect();
            let [_, stream, _, _, _, length, ..] = fields[..] else { continue };
            let (Ok(stream), Ok(length)) = (stream.parse::<usize>(), length.parse::<usize>()) else { continue };
            streams.resize(streams.len().max(stream), 0);
            streams[stream - 1] += length;
        }
        assert_eq!(streams.iter().sum::<usize>(), whole.len(), "{size}");
        let mut at = 0;
        for (number, length) in streams.iter().enumerate() {
            let stream = &whole[at..at + length];
            at += length;
            let is_last = number + 1 == streams.len();
            assert!(is_last || stream.len() >= bytes && stream.ends_with(b"\n"), "{size} {number}");
            // The stream ends at the first possible line end.
            let before = &stream[(bytes - 1).min(stream.len() - 1)..stream.len() - 1];
            assert!(!before.contains(&b'\n'), "{size} {number}");
        }
        assert!(size == "1M" || streams.len() > 3);
        place.shell("hybz -dc a.bz2 | cmp - a").silent(0);
    }
    // One stream alone, by its position.
    let place = Place::with(&[("a", &whole)]);
    place.shell("hybz -k --index --lines --stream-size=100k a").silent(0);
    let third = place.offsets("a.bz2").lines().nth(2).and_then(|line| line.split(',').next()?.parse::<u64>().ok());
    let run = place.hybz(&["--split", &format!("1@{}", third.expect("a bit") / 8), "a.bz2"]);
    let second = run.silent(0).stdout;
    assert!(second.len() >= 100_000 && second.ends_with(b"\n"));
    assert!(whole.windows(second.len()).any(|window| window == second));
}

fn streams_with_others() {
    let place = Place::with(&[("a", &lines())]);
    place
        .shell("hybz -1k --index --stream-size=50k a; cp a b; hybz -t --index=made a.bz2; cmp made a.bz2.bzi")
        .silent(0);
    place.shell("hybz -dc --ranges 1000@333333 a.bz2 | cmp - <(tail -c +333334 a | head -c 1000)").silent(0);
    place.shell("hybz -1 --verify=file --rm --stream-size=50k -o c.bz2 b && cmp c.bz2 a.bz2 && test ! -e b").silent(0);
    place
        .shell("mkdir d && cp a d && hybz -rkq --stream-size=50k d && hybz -rkq --resume --stream-size=50k d")
        .silent(0);
    let run = place.hybz(&["-1vkf", "--stream-size=50k", "a"]);
    assert!(run.code == 0 && run.stderr.contains(" in, "), "{run:?}");
}

fn streams_in_bounded_memory() {
    for size in ["1k", "100k --lines", "1G", "1T --lines"] {
        let place = Place::new();
        let run = place.shell(&format!(
            "mkfifo out; hybz -p2 --stream-size={size} < <(yes yes) > out & pid=$!; exec 3< out; sleep 1; \
             awk '/VmHWM/ {{ print $2 }}' /proc/$pid/status; kill -KILL $pid"
        ));
        if !std::path::Path::new("/proc/self/status").exists() {
            return;
        }
        let peak: u64 = run.out().trim().parse().unwrap_or_else(|_| panic!("{run:?}"));
        assert!((1000..60_000).contains(&peak), "{size}: {peak} kB");
    }
}

fn nonsense() {
    let place = Place::with(&[("a", b"hello\n"), ("b.bz2", &compressed(b"hello\n"))]);
    place.refuses(&[
        ("--lines a", "--lines works only with --ranges, --split and --stream-size."),
        ("--stream-size 1k --format=hbz a", "--format=hbz and --stream-size cannot be used together."),
        ("--stream-size 0 a", "--stream-size"),
        ("--stream-size x a", "--stream-size"),
        ("--stream-size 1k --shard 0 --plan-file p a -o x", "--stream-size and --shard cannot be used together."),
    ]);
    place.refuses_each(
        "--stream-size 1k {} a",
        "--stream-size and {}",
        &["--block-size 1M", "--perturb 5", "--plan 1"],
    );
}
