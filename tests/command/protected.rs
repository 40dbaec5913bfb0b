//! Links and files of other users in a directory such as /tmp: the kernel alone decides whether hybz may write through
//! them.

use crate::faults::shim;
use crate::place::{Place, Run, compressed, root, run, text};
use crate::skip::{Need, skip_part};

const EXISTS: (i32, &str) = (1, "already exists.");
const DENIED: (i32, &str) = (1, "Permission denied.\n");
/// The link is removed, and its target stays.
const REPLACED: (i32, &str) = (0, "");

/// The flags that name a file to write, and what happens to a link (%) whose target may not be written.
const WRITERS: [(&str, (i32, &str)); 12] = [
    ("-k a -o %", EXISTS),
    ("-kf a -o %", REPLACED),
    ("-dk b.bz2 -o %", EXISTS),
    ("-t --json=% b.bz2", DENIED),
    ("-t --index=% b.bz2", EXISTS),
    ("-tf --index=% b.bz2", REPLACED),
    ("-l --index=% b.bz2", EXISTS),
    ("--join=plan part.0 part.1 -o %", EXISTS),
    ("-f --join=plan part.0 part.1 -o %", REPLACED),
    ("--shard=1 --plan-file=plan a -o %", EXISTS),
    ("-f --shard=1 --plan-file=plan a -o %", REPLACED),
    ("-q --recover b.bz2 -o %", EXISTS),
];

fn place() -> Place {
    let plain = text(150_000);
    let place = Place::with(&[("a", &plain), ("b.bz2", &compressed(&plain)), ("victim", b"")]);
    place.shell("hybz -1 --plan 1 a > plan; for n in 0 1; do hybz --shard=$n --plan-file=plan a -o part.$n; done");
    place
}

/// Tries each of [`WRITERS`] with a link to a file and with a dangling link. `prepare` puts it at `name`.
fn try_each(name: &str, prepare: impl Fn(&Place, &str), call: impl Fn(&Place, &[&str]) -> Run) {
    let place = place();
    for (line, (code, says)) in WRITERS {
        for target in ["victim", "missing"] {
            prepare(&place, target);
            let args = line.replace('%', name);
            let found = call(&place, &args.split(' ').collect::<Vec<_>>());
            assert!(found.code == code && found.stderr.contains(says), "{args}: {found:?}");
            assert!(place.get("victim").is_empty() && !place.has("missing"), "{args}: {target}");
            let is_link = place.path(name).symlink_metadata().is_ok_and(|found| found.is_symlink());
            assert_eq!(is_link, code != 0, "{args}: {target}");
        }
    }
}

#[test]
fn links_are_left_to_the_kernel() {
    let Some(shim) = shim() else { return };
    let prepare = |place: &Place, target: &str| {
        place.shell(&format!("rm -f link; ln -s {target} link")).silent(0);
    };
    try_each("link", prepare, |place, args| {
        run(place.called("hybz").args(args).env("LD_PRELOAD", shim).env("FAULT", "protected"))
    });
    // Of these outputs, only a report follows links, if the kernel allows it.
    let place = place();
    prepare(&place, "victim");
    place.hybz(&["-t", "--json=link", "b.bz2"]).silent(0);
    assert!(place.get("victim").starts_with(b"{\"schema\":1,"));
}

/// The same with the kernel's rules for links and for regular files, as root in a sticky directory.
#[test]
fn sticky_directories() {
    let is_on = |name: &str| {
        let value = std::fs::read_to_string(format!("/proc/sys/fs/{name}")).unwrap_or_default();
        let is_on = root() && value.trim().parse().unwrap_or(0) > 0;
        if !is_on {
            skip_part(Need::System, &format!("fs.{name} is off, or this is not root"));
        }
        is_on
    };
    let make = "rm -rf sticky; mkdir sticky; chmod 1777 sticky";
    if is_on("protected_symlinks") {
        let prepare = |place: &Place, target: &str| {
            let line = format!("{make}; ln -s ../{target} sticky/link; chown -h 12345 sticky/link");
            place.shell(&line).silent(0);
        };
        try_each("sticky/link", prepare, |place, args| place.hybz(args));
    }
    if is_on("protected_regular") {
        let place = place();
        place.shell(&format!("{make}; : > sticky/file; chown 12345 sticky/file")).silent(0);
        place.hybz(&["-t", "--json=sticky/file", "b.bz2"]).says(DENIED.0, DENIED.1);
        assert!(place.get("sticky/file").is_empty());
    }
}
