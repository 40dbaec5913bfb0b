//! Lines of real files: the bytes of `LC_ALL=C sort`. With `HYBZ_WHOLE=1` sets are sorted whole, otherwise only a short
//! part of each.

use crate::place::{Place, gnu_sort, same};
use crate::skip::{Need, skip_part};

/// The part of a set that is sorted without `HYBZ_WHOLE`.
const LEN: usize = 2_000_000;

/// A name, and a script that prints the lines, or nothing where its files are missing.
const SETS: [(&str, &str); 10] = [
    ("word lists", "find /usr/share/dict -type f -not -name 'README*' -exec cat {} + | shuf --random-source=/dev/zero"),
    ("paths", "find /usr /etc -xdev 2>/dev/null"),
    ("package names", "apt-cache pkgnames 2>/dev/null || grep -h ^Package: /var/lib/dpkg/status"),
    ("source lines", "find $ROOT/src $ROOT/cuda $ROOT/tests -type f -exec cat {} +"),
    ("bible-kjv", "bible -f gen1:1-rev22:21 2>/dev/null"),
    (
        "DNA",
        "awk 'BEGIN { srand(4); for (i = 0; i < 3e5; i++) { s = \"\"; for (k = 0; k < 60; k++) s = s \
        substr(\"ACGT\", 1 + int(4 * rand()), 1); print s } }'",
    ),
    ("random bytes", "openssl enc -aes-128-ctr -nosalt -pass pass:lines -in /dev/zero 2>/dev/null | head -c 32000000"),
    ("logs", "find /var/log -type f -readable -size -9000k -exec cat {} + 2>/dev/null"),
    ("numbers", "seq 1 7 30000000 | shuf --random-source=/dev/zero"),
    ("equal lines", "yes 'ten million equal lines' | head -n 10000000"),
];

#[test]
fn ten_sets() {
    if !gnu_sort() {
        return;
    }
    let whole = std::env::var_os("HYBZ_WHOLE").is_some();
    let place = Place::with(&[]);
    for (name, script) in SETS {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
        let mut text = place.shell(&format!("ROOT={root}; {{ {script}; }} 2>/dev/null")).stdout;
        text.truncate(if whole { usize::MAX } else { LEN });
        if text.is_empty() {
            skip_part(Need::System, &format!("there are no {name}"));
            continue;
        }
        let lines = text.iter().filter(|&&byte| byte == b'\n').count();
        for flags in ["", "-u", "-r", "-s", "-z", "-S 4M -T ."] {
            let run = same(&[("a", &text)], &format!("$SORT {flags} a"));
            assert_eq!((run.code, &*run.stderr), (0, ""), "{name} {flags}");
        }
        println!("{name}: {} bytes, {lines} lines", text.len());
    }
}
