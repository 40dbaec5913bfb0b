//! `--record`: records of a fixed length.

use crate::place::Place;
use hybz_testkit::shapes::Rng;

/// Records of 12 bytes, many of which have the same number, and any bytes.
fn records(count: usize) -> Vec<[u8; 12]> {
    let mut rng = Rng(71);
    let byte = |rng: &mut Rng| [b'\n', 0, 192, 193, rng.below(256) as u8][rng.below(5)];
    (0..count).map(|_| std::array::from_fn(|_| byte(&mut rng))).collect()
}

fn number(record: &[u8; 12]) -> i32 {
    i32::from_le_bytes(record[4..8].try_into().expect("four"))
}

#[test]
fn sorted_merged_and_checked() {
    let mut all = records(50_000);
    let place = Place::with(&[("a", all.as_flattened())]);
    let sorted = |flags: &str| {
        let run = place.shell(&format!("$SORT --record=12 {flags} a")).silent(0);
        let piped = place.shell(&format!("cat a | $SORT --record 12 -S1M -T . {flags}")).silent(0);
        assert!(run.stdout == piped.stdout, "{flags}: with little memory");
        place.shell(&format!("$SORT --record=12 {flags} -o b a; $SORT --record=12 -c {flags} b")).silent(0);
        let merged = place.shell(&format!("$SORT --record=12 -m {flags} b b b --batch-size=2")).silent(0);
        if flags.contains("-u") {
            assert!(merged.stdout == run.stdout, "{flags}: merged");
        } else {
            assert_eq!(merged.stdout.len(), 3 * run.stdout.len(), "{flags}: merged");
        }
        run.stdout
    };
    let mut stable = all.clone();
    stable.sort_by_key(|record| std::cmp::Reverse(number(record)));
    assert!(sorted("-s -k1.5,1.8lsr") == stable.as_flattened());
    stable.dedup_by_key(|record| number(record));
    assert!(sorted("-u -k1.5,1.8rls") == stable.as_flattened());
    all.sort_by(|a, b| (b[4..8].cmp(&a[4..8])).then(a.cmp(b)));
    assert!(sorted("-k1.5,1.8r") == all.as_flattened());
    all.sort();
    assert!(sorted("") == all.as_flattened());
    all.dedup();
    assert!(sorted("-u") == all.as_flattened());
    all.reverse();
    assert!(sorted("-u -r") == all.as_flattened());
}

#[test]
fn messages() {
    let place = Place::with(&[("a", b"bbbbaaaa"), ("b", b"aaaabbbbccc"), ("c d", b"x")]);
    for (script, code, message) in [
        ("$SORT --record=4 -c a", 1, "hysort: a:2: disorder: the record at byte 4\n"),
        ("$SORT --record=4 -C a", 1, ""),
        ("$SORT --record=4 a b", 2, "hysort: read failed: b: the record at byte 8 has 3 of 4 bytes\n"),
        ("$SORT --record=4 -c b", 2, "hysort: read failed: b: the record at byte 8 has 3 of 4 bytes\n"),
        ("$SORT --record=4 -m a b", 2, "hysort: read failed: b: the record at byte 8 has 3 of 4 bytes\n"),
        ("cat c* | $SORT --record=4", 2, "hysort: read failed: -: the record at byte 0 has 1 of 4 bytes\n"),
        ("$SORT --record=0 a", 2, "hysort: a record has at least one byte\n"),
        ("$SORT --record=4x a", 2, "hysort: invalid suffix in --record argument '4x'\n"),
        ("$SORT --record=x a", 2, "hysort: invalid --record argument 'x'\n"),
        ("$SORT --record=4 -z a", 2, "hysort: --record and -z cannot be used together\n"),
        ("$SORT --debug --record=4 a", 2, "hysort: --record and --debug cannot be used together\n"),
        ("$SORT -t, --record=4 a", 2, "hysort: --record and -t cannot be used together\n"),
        ("$SORT -k1.5 --record=4 a", 2, "hysort: a key has byte 5 of a record of 4 bytes\n"),
        ("$SORT -k1ln --record=4 a", 2, "hysort: options '-nl' are incompatible\n"),
        (
            "$SORT -k2 --record=4 a",
            2,
            "hysort: a record of a fixed length has one field: 1.5,1.8 are its bytes 5 to 8\n",
        ),
        ("$SORT -k1l a", 2, "hysort: stray character in field spec: invalid field specification '1l'\n"),
    ] {
        let run = place.shell(script);
        assert_eq!((run.code, &*run.stderr), (code, message), "{script}");
        assert!(run.stdout.is_empty(), "{script}");
    }
    assert_eq!(place.shell("$SORT --record=4 a").silent(0).stdout, b"aaaabbbb");
    assert_eq!(place.shell("$SORT --record=4 -r /dev/null").silent(0).stdout, b"");
    // Text in columns: the options of lines are there, too.
    assert_eq!(place.shell("printf ' 9 10 -1b' | $SORT --record=3 -n").silent(0).stdout, b"-1b 9 10 ");
}
