//! `--resume`: what is there and right is left out.

use super::batch::{all, all_compressed, same, tree};
use super::rows;
use crate::place::{Place, compressed, decompressed, text};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::thread::sleep;
use std::time::Duration;

rows! {
    "`--resume`" | "bad flag" | "what is there and right is left out; what is not right is an error, or replaced with \
     `-f`" => resumed;
    "`--resume` with a journal that is lost, cut or garbage" | "-" | "the same" => journals;
}

fn remove_journal(files: &mut BTreeMap<Vec<u8>, Vec<u8>>) -> Option<Vec<u8>> {
    files.remove(&b".hybz-journal"[..])
}

/// Inode and times of each result: what is made again has others.
fn marks(place: &Place, top: &str) -> BTreeMap<Vec<u8>, (u64, i64, i64)> {
    let mark = |name: &Vec<u8>| {
        let found = fs::metadata(place.path(top).join(OsStr::from_bytes(name))).expect("metadata");
        (found.ino(), found.ctime(), found.ctime_nsec())
    };
    all(place, top).into_keys().filter(|name| name.ends_with(b".bz2")).map(|name| (name.clone(), mark(&name))).collect()
}

#[test]
fn resumed() {
    let place = tree();
    let before = all(&place, "tree");
    // Sources that are removed.
    place.hybz(&["-qrk", "tree"]).silent(0);
    place.shell("rm tree/one.bz2").silent(0);
    let made = marks(&place, "tree");
    place
        .hybz(&["-r", "--resume", "tree"])
        .says(0, "1 file compressed")
        .says(0, "8 skipped (4 already compressed, 4 complete before)");
    same(all(&place, "tree"), all_compressed(&before));
    assert!(made.iter().all(|(name, mark)| marks(&place, "tree")[name] == *mark));
    // Back, with sources that are kept; of the results one is cut, one longer, one has another byte, one is foreign.
    place.hybz(&["-qrdk", "tree"]).silent(0);
    assert_eq!(
        place.hybz(&["-rdk", "--resume", "tree"]).stderr,
        "hybz: 0 files decompressed, 0 bytes to 0; 10 skipped (5 without a suffix of compressed files, 5 complete \
         before)\n"
    );
    let wrong = [
        ("tree/one", text(99)),
        ("tree/a b/*", [text(12_100), b"x".to_vec()].concat()),
        ("tree/a b/two\nlines", [&b"x"[..], &text(3100)[1..]].concat()),
    ];
    for (name, bytes) in &wrong {
        place.put(name, bytes);
    }
    let run = place.hybz(&["-rd", "--resume", "tree"]).says(1, "2 complete before").says(1, "3 errors");
    for (name, bytes) in &wrong {
        assert!(
            run.stderr.contains(&format!("Output file {name} already exists, and is not that of the input file.")),
            "{run:?}"
        );
        assert!(place.get(name) == *bytes && place.has(format!("{name}.bz2")));
    }
    assert!(!place.has("tree/a b/deeper/-dash.bz2"), "its result was right");
    place.hybz(&["-rdf", "--resume", "tree"]).says(0, "3 files decompressed");
    let mut after = all(&place, "tree");
    remove_journal(&mut after);
    same(after, before);
    // A name that is typed; a result that is a directory, or damaged.
    place.put("a", b"hello\n");
    place.put("a.bz2", &compressed(b"hello\n"));
    place.hybz(&["--resume", "a"]).says(0, "1 skipped (1 complete before)");
    assert_eq!(place.names(), ["a.bz2", "tree"]);
    place.shell("echo hello > a; truncate -s 20 a.bz2; hybz --resume a").says(1, "is not that of the input file.");
    place.shell("rm a.bz2; mkdir a.bz2; hybz --resume a").says(1, "Output file a.bz2 already exists.");
    assert!(place.has("a"));
}

#[test]
fn journals() {
    let place = tree();
    let before = all(&place, "tree");
    sleep(Duration::from_millis(250)); // what changed just now is not noted
    let again = |place: &Place| place.hybz(&["-r", "--resume", "--output-dir", "out", "tree"]);
    again(&place).says(0, "5 files compressed");
    let journal = place.get("out/.hybz-journal");
    assert!(journal.len() == 16 + 5 * 8 && journal.starts_with(b"hybz journal 1\n\0"), "{}", journal.len());
    let made = marks(&place, "out");
    again(&place).says(0, "hybz: 0 files compressed, 0 bytes to 0; 5 skipped (5 complete before)\n");
    assert_eq!(place.get("out/.hybz-journal"), journal);
    // Lost, cut, too long, garbage: each is compared again, and noted again.
    let cut = journal[..journal.len() - 3].to_vec();
    let garbage = [&journal[..16], &[0xaa; 40]].concat();
    for bytes in [&[][..], &journal[..16], &cut, &garbage] {
        place.put("out/.hybz-journal", bytes);
        again(&place).says(0, "5 complete before");
        let healed = place.get("out/.hybz-journal");
        assert!((healed.len() - 16).is_multiple_of(8));
        assert!(journal[16..].chunks(8).all(|record| healed[16..].chunks(8).any(|other| other == record)));
        assert_eq!(marks(&place, "out"), made);
    }
    // Something else of that name is left alone.
    for bytes in [&b"x"[..], b"something else, and long enough"] {
        place.put("out/.hybz-journal", bytes);
        again(&place).says(0, "The journal out/.hybz-journal cannot be used: it is something else.");
        assert_eq!(place.get("out/.hybz-journal"), bytes);
    }
    place.shell("rm out/.hybz-journal; ln -s ../tree/one out/.hybz-journal").silent(0);
    again(&place).says(0, "cannot be used: ");
    same(all(&place, "tree"), before.clone());
    place.shell("rm out/.hybz-journal; mkfifo out/.hybz-journal").silent(0);
    again(&place).says(0, "cannot be used: ");
    // A source that changed: its old result is not right, whatever the journal says.
    place.put("out/.hybz-journal-kept", &journal);
    place.shell("rm out/.hybz-journal; mv out/.hybz-journal-kept out/.hybz-journal; echo new >> tree/one").silent(0);
    again(&place).says(1, "out/tree/one.bz2 already exists, and is not that of the input file.").says(1, "4 complete");
    place.hybz(&["-rf", "--resume", "--output-dir", "out", "tree"]).says(0, "1 file compressed");
    assert_eq!(decompressed(&place.get("out/tree/one.bz2")), place.get("tree/one"));
    // With sources kept beside their results it is in the directory that is walked, and it is no operand.
    place.hybz(&["-rk", "--resume", "tree"]).says(0, "5 files compressed");
    assert!(place.has("tree/.hybz-journal"));
    place.hybz(&["-rk", "--resume", "tree"]).says(0, "0 files compressed").says(0, "5 complete before");
    // No journal says that a source may go: the result is compared first.
    let bad = compressed(b"another text");
    place.put("tree/one.bz2", &bad);
    place.hybz(&["-r", "--resume", "tree"]).says(1, "tree/one.bz2 already exists, and is not");
    assert!(place.has("tree/one") && !place.has("tree/a b/deeper/-dash"));
}
