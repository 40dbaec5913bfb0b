//! Files of many streams, and ranges for readers. bzip2 writes one stream, and reads from the beginning.

use super::rows;
use crate::place::{Place, compressed, installed_for_part, noise, text};

rows! {
    "`--stream-size`, from files and pipes, any threads" | "one stream" | "streams, each bzip2's bytes for its text"
        => streams_of_a_size;
    "`--stream-size --split-lines`" | "one stream" | "each stream has whole lines" => streams_of_lines;
    "`--stream-size --index`, `--verify=file`, `--rm`, `--resume`" | "no streams" | "as with one stream"
        => streams_with_others;
    "`--stream-size` of endless input" | "no streams" | "bounded memory" => streams_in_bounded_memory;
    "`--plan-ranges` with an index, without, of many streams" | "no ranges" | "ranges that end where blocks do"
        => ranges_for_readers;
    "`--ranges --lines` of what `--plan-ranges` prints" | "no ranges" | "each line once" => lines_of_ranges;
    "`--plan-ranges` of other files, damage, foreign indexes" | "no ranges" | "a sentence; rc 1, or 2 for damage"
        => wrong_files;
    "flags that do not go with these" | "-" | "a sentence; rc 1; nothing is written" => nonsense;
}

/// 600 kB of lines, some with CR, an empty one, some long.
fn lines() -> Vec<u8> {
    let mut lines = Vec::new();
    for number in 0..400 {
        lines.extend(format!("{number} ").bytes());
        lines.extend(&text(if number % 100 == 7 { 60_000 } else { 13 * (number % 90) })[..]);
        lines.extend(&b"\r\n\n"[number % 2..2 + usize::from(number % 13 == 0)]);
    }
    lines.extend(b"the last");
    lines
}

#[test]
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

#[test]
fn streams_of_lines() {
    let whole = lines();
    for (size, bytes) in [("1", 1), ("500", 500), ("20k", 20_000), ("150k", 150_000), ("1M", 1_000_000)] {
        let place = Place::with(&[("a", &whole)]);
        place.hybz(&["-1k", "--index", "--split-lines", "--stream-size", size, "a"]).silent(0);
        let index = place.hybz(&["-lv", "a.bz2"]).silent(0).out();
        // The text of each stream, by its blocks.
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
            // It ends at the first possible line end.
            let before = &stream[(bytes - 1).min(stream.len() - 1)..stream.len() - 1];
            assert!(!before.contains(&b'\n'), "{size} {number}");
        }
        assert!(size == "1M" || streams.len() > 3);
        place.shell("hybz -dc a.bz2 | cmp - a").silent(0);
    }
    // One stream alone, by its position.
    let place = Place::with(&[("a", &whole)]);
    place.shell("hybz -k --index --split-lines --stream-size=100k a").silent(0);
    let run = place.shell(
        "text=$(hybz -lv a.bz2 | awk '$2 == 2 { print $5; exit }'); \
         bit=$(hybz --plan-ranges=1 a.bz2 | awk -v text=$text '$2 == text { print $5 }'); \
         hybz -dc --at $((bit / 8 - 4)) --streams 1 a.bz2",
    );
    let second = run.silent(0).stdout;
    assert!(second.len() >= 100_000 && second.ends_with(b"\n"));
    assert!(whole.windows(second.len()).any(|window| window == second));
}

#[test]
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

#[test]
fn streams_in_bounded_memory() {
    for size in ["1k", "100k --split-lines", "1G", "1T --split-lines"] {
        let place = Place::new();
        let run = place.shell(&format!(
            "mkfifo out; hybz -p2 --stream-size={size} < <(yes yes) > out & pid=$!; exec 3< out; sleep 1; \
             awk '/VmHWM/ {{ print $2 }}' /proc/$pid/status; exec 3<&-; wait $pid"
        ));
        if !std::path::Path::new("/proc/self/status").exists() {
            return;
        }
        let peak: u64 = run.out().trim().parse().unwrap_or_else(|_| panic!("{run:?}"));
        assert!((1000..200_000).contains(&peak), "{size}: {peak} kB");
    }
}

/// The fields of each line.
fn fields(list: &str) -> Vec<Vec<String>> {
    let rows = list.lines().filter(|line| !line.starts_with('#'));
    rows.map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

#[test]
fn ranges_for_readers() {
    let (one, two) = (text(450_000), noise(150_000));
    let streams = [compressed(&one), compressed(b""), compressed(&two)].concat();
    for (size, count) in [("1", 7), ("150k", 4), ("1G", 1)] {
        let place = Place::with(&[("a.bz2", &streams), ("plain", &[&one[..], &two].concat())]);
        let decoded = place.hybz(&["--plan-ranges", size, "a.bz2"]).silent(0).out();
        place.shell("hybz -t --index a.bz2").silent(0);
        assert_eq!(place.hybz(&["--plan-ranges", size, "a.bz2"]).silent(0).out(), decoded);
        place.shell(&format!("mv a.bz2.bzi i; hybz --plan-ranges={size} --index=i -o list a.bz2")).silent(0);
        assert_eq!(String::from_utf8(place.get("list")).unwrap(), decoded);
        place.shell(&format!("hybz -dp1 --plan-ranges={size} a.bz2 | cmp - list")).silent(0);
        assert!(decoded.starts_with(&format!("#hybz-ranges-1\t{}\t600000\n#number\t", streams.len())), "{decoded}");

        let ranges = fields(&decoded);
        assert_eq!(ranges.len(), count, "{decoded}");
        let (mut end, mut blocks, mut lines) = (0, 0, 0);
        let mut whole = Vec::new();
        for (number, range) in ranges.iter().enumerate() {
            let number_at = |at: usize| range[at].parse::<u64>().unwrap();
            assert_eq!((number_at(0), number_at(1)), (number as u64, end));
            let at = (number_at(1) as usize, (number_at(1) + number_at(2)) as usize);
            assert_eq!(number_at(6), lines);
            let plain = &place.get("plain")[at.0..at.1];
            lines += plain.iter().filter(|byte| **byte == b'\n').count() as u64;
            end += number_at(2);
            blocks += number_at(3);
            // Its blocks are between its bits: the first begins with a magic, and after the last comes the next block
            // or an end.
            let magic = |bit: u64| {
                let bits = |bit: u64| u64::from(streams[bit as usize / 8] >> (7 - bit % 8) & 1);
                (bit..bit + 48).fold(0, |word, bit| word << 1 | bits(bit))
            };
            assert_eq!(magic(number_at(4)), 0x3141_5926_5359);
            assert!([0x3141_5926_5359, 0x1772_4538_5090].contains(&magic(number_at(5))));
            let part = place.hybz(&["-dc", "--ranges", &format!("{}@{}", range[2], range[1]), "a.bz2"]).silent(0);
            assert!(part.stdout == plain);
            whole.extend(part.stdout);
        }
        assert!(whole == place.get("plain") && blocks == 7);
    }
    // An index without line counts.
    let place = Place::with(&[("a.bz2", &streams)]);
    place.shell("hybz -t --index=o --index-format=offsets a.bz2").silent(0);
    let list = place.hybz(&["--plan-ranges=150k", "--index=o", "a.bz2"]).silent(0).out();
    assert!(fields(&list).iter().all(|range| range[6] == "-") && list.lines().count() == 6, "{list}");
    let place = Place::with(&[("a.bz2", &compressed(b""))]);
    assert!(fields(&place.hybz(&["--plan-ranges=1", "a.bz2"]).silent(0).out()).is_empty());
    // A list that cannot be written is reported before anything is decoded.
    let place = Place::with(&[("a.bz2", &streams[..streams.len() - 9]), ("list", b"old")]);
    place
        .hybz(&["--plan-ranges=1", "-o", "list", "a.bz2"])
        .says(1, "Output file list already exists. -f overwrites it.\n");
    assert_eq!(place.get("list"), b"old");
    assert_eq!(place.hybz(&["--plan-ranges=1", "-fo", "list", "a.bz2"]).code, 2);
    assert_eq!((place.get("list"), place.names().len()), (b"old".to_vec(), 2));
}

#[test]
fn lines_of_ranges() {
    let whole = lines();
    let place = Place::with(&[("a", &whole)]);
    for flags in ["-1", "-1 --stream-size=7k", "-1 --stream-size=30k --split-lines"] {
        place.shell(&format!("hybz {flags} -kf --index a")).silent(0);
        for size in ["1", "100k", "250k"] {
            let ranges = fields(&place.hybz(&["--plan-ranges", size, "a.bz2"]).silent(0).out());
            assert!(ranges.len() > 1);
            let mut all = Vec::new();
            for range in &ranges {
                let range = format!("{}@{}", range[2], range[1]);
                all.extend(place.hybz(&["-dc", "--lines", "--ranges", &range, "a.bz2"]).silent(0).stdout);
            }
            assert!(all == whole, "{flags} {size}");
        }
    }
}

#[test]
fn wrong_files() {
    let coded = compressed(&text(450_000));
    let mut damaged = coded.clone();
    damaged[coded.len() / 2] ^= 1;
    let place = Place::with(&[("a.bz2", &coded), ("damaged", &damaged), ("cut", &coded[..coded.len() - 20])]);
    place.put("text", &text(1000));
    place.put("nothing", b"");
    place.shell("hybz -c --block-size 1M text > large; hybz -t --index=other --index-format=bzi damaged; true");
    place.shell("hybz -c1 text > b.bz2; hybz -t --index=other b.bz2; cp other a.bz2.bzi").silent(0);
    for (line, code, says) in [
        ("damaged", 2, "hybz: damaged: data integrity (CRC) error in data"),
        ("cut", 2, "hybz: cut: file ends unexpectedly"),
        ("text", 2, "hybz: text: bad magic number"),
        ("nothing", 2, "hybz: nothing: file ends unexpectedly: it is empty"),
        ("large", 1, "hybz: Input file large has .hbz streams: --plan-ranges is about .bz2."),
        ("none", 1, "hybz: Can't open input file none: No such file or directory."),
        (".", 1, "Input file . is not a file on a disk: --plan-ranges cannot seek in it."),
        ("--index=other a.bz2", 1, "hybz: Index other: the index belongs to another file"),
        ("--index=none a.bz2", 1, "hybz: Can't open input file none"),
        ("-o a.bz2 a.bz2", 1, "Output file a.bz2 is an input file."),
    ] {
        let words: Vec<&str> = ["--plan-ranges=1", "-f"].into_iter().chain(line.split(' ')).collect();
        let run = place.hybz(&words);
        assert!(run.stdout.is_empty(), "{line}");
        run.says(code, says);
    }
    // The index next to it belongs to another file.
    let run = place.hybz(&["--plan-ranges=100k", "a.bz2"]);
    assert_eq!(fields(&run.out()).len(), 3);
    run.says(0, "hybz: Index a.bz2.bzi: the index belongs to another file");
}

#[test]
fn nonsense() {
    let place = Place::with(&[("a", b"hello\n"), ("b.bz2", &compressed(b"hello\n"))]);
    let before = place.files();
    for (line, says) in [
        ("--split-lines a", "--split-lines is about --stream-size."),
        ("--stream-size 0 a", "--stream-size"),
        ("--stream-size x a", "--stream-size"),
        ("--stream-size 1k -d b.bz2", "--stream-size and -d cannot be used together."),
        ("--stream-size 1k -t b.bz2", "--stream-size and -t cannot be used together."),
        ("--stream-size 1k -l b.bz2", "--stream-size and -l cannot be used together."),
        ("--stream-size 1k --block-size 1M a", "--stream-size and --block-size cannot be used together."),
        ("--stream-size 1k --perturb 5 a", "--stream-size and --perturb cannot be used together."),
        ("--stream-size 1k --plan 1 a", "--stream-size and --plan cannot be used together."),
        ("--stream-size 1k --plan-ranges 1 b.bz2", "--stream-size and --plan-ranges cannot be used together."),
        ("--stream-size 1k --shard 0 --plan-file p a -o x", "--stream-size and --shard cannot be used together."),
        ("--stream-size 1k --recover b.bz2", "--stream-size and --recover cannot be used together."),
        ("--plan-ranges 1", "--plan-ranges wants one file."),
        ("--plan-ranges 1 b.bz2 b.bz2", "--plan-ranges wants one file."),
        ("--plan-ranges 0 b.bz2", "--plan-ranges"),
        ("--plan-ranges 1 --plan 1 b.bz2", "Only one of --plan, --plan-ranges, --shard and --join can be used."),
        ("--plan-ranges 1 -z b.bz2", "--plan-ranges and -z cannot be used together."),
        ("--plan-ranges 1 -t b.bz2", "--plan-ranges and -t cannot be used together."),
        ("--plan-ranges 1 -l b.bz2", "--plan-ranges and -l cannot be used together."),
        ("--plan-ranges 1 --ranges 1@0 b.bz2", "--plan-ranges and --ranges cannot be used together."),
        ("--plan-ranges 1 --lines b.bz2", "--lines is about --ranges and --split."),
        ("--plan-ranges 1 --verify b.bz2", "--plan-ranges and --verify cannot be used together."),
        (
            "--plan-ranges 1 --index --index-format=bzi b.bz2",
            "--plan-ranges and --index-format cannot be used together.",
        ),
        ("--plan-ranges 1 --plan-file p b.bz2", "--plan-file is about --shard and --join=streams."),
    ] {
        let run = place.hybz(&line.split(' ').collect::<Vec<_>>());
        assert!(run.stdout.is_empty() && run.stderr.lines().count() == 1, "{line}: {run:?}");
        run.says(1, says);
        assert!(place.files() == before, "{line}");
    }
}
