//! Sorting: the bytes of `LC_ALL=C sort`, whatever the lines are, in whatever pieces they come, whoever sorts them.

mod keys;
mod long;
mod texts;

use hybz_testkit::shapes::{self, Rng};
use hybz_testkit::skip::{self, Need};
use hysort::{self as sort, Disorder, Error, Limits, Order, Pool, Report, Sorter};
use std::num::NonZeroUsize;
use std::sync::OnceLock;
use texts::texts;

fn pool() -> &'static Pool {
    static POOL: OnceLock<Pool> = OnceLock::new();
    POOL.get_or_init(|| sort::pool().threads(NonZeroUsize::new(2).expect("two")).build())
}

/// What [`Order`] says, as the plain twin needs it.
#[derive(Clone, Copy, Debug)]
struct Flags {
    end: u8,
    reverse: bool,
    unique: bool,
}

impl Flags {
    fn all() -> impl Iterator<Item = Flags> {
        (0..8).map(|n| Flags { end: if n & 1 == 0 { b'\n' } else { 0 }, reverse: n & 2 != 0, unique: n & 4 != 0 })
    }

    fn order(self) -> Order {
        Order::new().end(self.end).reverse(self.reverse).unique(self.unique)
    }

    /// The lines of a text, without their ends.
    fn lines(self, text: &[u8]) -> Vec<&[u8]> {
        let mut lines: Vec<&[u8]> = text.split(|&byte| byte == self.end).collect();
        lines.pop_if(|last| last.is_empty());
        lines
    }

    /// The plain twin: `slice::sort`.
    fn plain(self, text: &[u8]) -> Vec<u8> {
        let mut lines = self.lines(text);
        lines.sort();
        if self.reverse {
            lines.reverse();
        }
        if self.unique {
            lines.dedup();
        }
        lines.iter().flat_map(|line| [line, &[self.end][..]].concat()).collect()
    }

    /// The same for the numbers.
    fn plain_numbers<S: AsRef<[u8]>>(self, strings: &[S]) -> Vec<u64> {
        let mut numbers: Vec<u64> = (0..strings.len() as u64).collect();
        let get = |number: u64| strings[number as usize].as_ref();
        match self.reverse {
            true => numbers.sort_by(|&a, &b| get(b).cmp(get(a))),
            false => numbers.sort_by(|&a, &b| get(a).cmp(get(b))),
        }
        if self.unique {
            numbers.dedup_by(|b, a| get(*a) == get(*b));
        }
        numbers
    }
}

/// Sorts text that comes in pieces of these sizes.
fn in_pieces(
    mut sorter: Sorter,
    mut text: &[u8],
    owned: bool,
    mut size: impl FnMut() -> usize,
) -> Result<(Vec<u8>, Report), Error> {
    while !text.is_empty() {
        let (piece, rest) = text.split_at(size().clamp(1, text.len()));
        if owned {
            sorter.push_owned(piece.to_vec())?
        } else {
            sorter.push(piece)?
        };
        text = rest;
    }
    let mut out = Vec::new();
    let report = sorter.write_to(&mut out)?;
    assert_eq!(report.bytes_written, out.len() as u64);
    Ok((out, report))
}

/// Named texts, and the shapes of the codec's tests.
fn all_texts() -> Vec<(&'static str, Vec<u8>)> {
    texts().into_iter().chain(shaped_texts()).collect()
}

/// A shape whose spaces become line ends.
fn lines_of(shape: &str, len: usize) -> Vec<u8> {
    (shapes::shape(shape).make)(len).iter().map(|&byte| if byte == b' ' { b'\n' } else { byte }).collect()
}

/// The shapes of the codec's tests, as lines.
fn shaped_texts() -> Vec<(&'static str, Vec<u8>)> {
    let mut texts: Vec<_> = shapes::SHAPES.iter().map(|shape| (shape.name, (shape.make)(30_000))).collect();
    texts.extend(["words", "records", "five_letters", "random"].map(|name| (name, lines_of(name, 2_500_000))));
    texts.extend(shapes::EDGES.iter().map(|edge| (edge.name, (edge.make)())));
    texts
}

/// Sorted, in pieces, through files, numbered, checked, merged from sorted parts.
#[test]
fn every_text_in_every_order() {
    for (name, text) in all_texts() {
        for (flags, memory) in Flags::all().zip([4096, 1 << 16, 1 << 20, 1, 1 << 18, 1 << 14, 1 << 20, 1 << 17]) {
            let (order, lines, expected) = (flags.order(), flags.lines(&text), flags.plain(&text));
            let what = format!("{name}, {flags:?}");
            assert!(sort::sorted(&text, &order, pool()).expect("it is sorted") == expected, "{what}");
            let plain = flags.plain_numbers(&lines);
            assert!(sort::lines(&text, &order, pool()).unwrap() == plain, "{what}");
            assert!(sort::strings(&lines, &order, pool()).unwrap() == plain, "{what}");

            // Small limits are slow.
            let some = &text[..text.len().min(memory as usize * 100 + 20_000)];
            let (out, _) = in_pieces(Sorter::new(&order, limits(memory), pool()), some, false, || 70_000).unwrap();
            assert!(out == flags.plain(some), "{what}");

            let wrong = lines.windows(2).position(|pair| match flags.reverse {
                false => pair[0] > pair[1] || flags.unique && pair[0] == pair[1],
                true => pair[0] < pair[1] || flags.unique && pair[0] == pair[1],
            });
            let check = |text: &[u8]| sort::check(text, &order).expect("memory can be read");
            let found = check(&text).map(|Disorder { number, line, .. }| (number, line));
            assert!(found == wrong.map(|at| (at as u64 + 2, lines[at + 1].to_vec())), "{what}");
            assert_eq!(check(&expected), None);

            for parts in [1, 2, 7].into_iter().filter(|_| text.len() < 1_000_000) {
                let part = |lines: &[&[u8]]| flags.plain(&[&lines.join(&flags.end)[..], &[flags.end]].concat());
                let sources: Vec<_> = lines.chunks(lines.len().div_ceil(parts).max(1)).map(part).collect();
                let mut out = Vec::new();
                sort::merge(sources.iter().map(|source| &source[..]).collect(), &order, &mut out).unwrap();
                assert!(out == expected, "{what}");
            }
        }
    }
    // Strings may contain the byte that ends lines.
    let strings = ["b\n\0", "b\n", "b", "", "b\n\0"];
    assert_eq!(sort::strings(&strings, &Order::new(), pool()).unwrap(), [3, 2, 1, 0, 4]);
}

#[test]
fn files_end_lines() {
    let mut sorter = Sorter::new(&Order::new(), Limits::new(), pool());
    for file in [&b"c"[..], b"", b"b\n", b"a", b""] {
        sorter.push(file).expect("it takes all");
        sorter.end_of_file().expect("it takes all");
    }
    let mut out = Vec::new();
    let report = sorter.write_to(&mut out).expect("it is sorted");
    assert_eq!((&out[..], report.lines, report.lines_written), (&b"a\nb\nc\n"[..], 3, 3));
}

/// Limits with files that have no name.
fn limits(memory: u64) -> Limits {
    Limits::new().memory(memory).temporary(tempfile::tempfile)
}

/// Announcing a text changes only when its lines are grouped by range, and not the output.
#[test]
fn what_is_expected_does_not_matter() {
    let mut rng = Rng(43);
    let text: Vec<u8> =
        (0..700_000).flat_map(|_| format!("/a/common/beginning/{}\n", rng.below(1 << 40)).into_bytes()).collect();
    let flags = Flags { end: b'\n', reverse: true, unique: true };
    let sorted = flags.plain(&text);
    let near = |text: &[u8], at: u64| {
        let rest = text.get(at as usize..).unwrap_or_default();
        Some(rest[..rest.len().min(8192)].to_vec())
    };
    let other = b"other lines\n".repeat(10_000);
    let all = text.len() as u64;
    type Look<'a> = Box<dyn FnMut(u64) -> Option<Vec<u8>> + 'a>;
    let looks: [(&str, u64, u64, Look<'_>, bool); 8] = [
        ("as it is", all, u64::MAX, Box::new(|at| near(&text, at)), false),
        ("within limits", all, 64 << 20, Box::new(|at| near(&text, at)), false),
        ("more than was said", 17 << 20, 48 << 20, Box::new(|at| near(&text, at)), true),
        ("too much for the limits", all, 16 << 20, Box::new(|at| near(&text, at)), true),
        ("others", all, u64::MAX, Box::new(|at| near(&other, at)), false),
        ("nothing", all, u64::MAX, Box::new(|_| Some(Vec::new())), false),
        ("no answer", all, u64::MAX, Box::new(|_| None), false),
        ("no answer in the end", all, u64::MAX, Box::new(|at| (at > 0).then(|| vec![b'\n'; 100])), false),
    ];
    for (name, bytes, memory, look, spills) in looks {
        let mut sorter = Sorter::new(&flags.order(), limits(memory), pool());
        sorter.expect(bytes, look);
        let (out, report) = in_pieces(sorter, &text, false, || 1 << 20).unwrap();
        assert!(out == sorted, "{name}");
        assert_eq!(report.spilled > 0, spills, "{name}: {report:?}");
    }
}

#[test]
fn a_temporary_file_that_fails_is_an_error() {
    use std::io::{Error as IoError, ErrorKind};
    let text = (shapes::shape("random").make)(1_000_000);
    let refuse = || Err(IoError::from(ErrorKind::StorageFull));
    let is_told = |limits: Limits| {
        let sorter = Sorter::new(&Order::new(), limits.memory(1 << 16), pool());
        let error = in_pieces(sorter, &text, false, || text.len()).expect_err("there is no room");
        assert!(matches!(&error, Error::Temporary(error) if error.kind() == ErrorKind::StorageFull), "{error:?}");
    };
    is_told(Limits::new().temporary(refuse));
    let full = || std::fs::OpenOptions::new().read(true).write(true).open("/dev/full");
    if full().is_err() {
        return skip::skip_part(Need::System, "there is no /dev/full");
    }
    is_told(Limits::new().temporary(full));
}

/// Several sorters at once with a small, fixed budget: slow, but never stuck.
#[test]
fn the_smallest_budget() {
    let text = lines_of("words", 800_000);
    let flags = Flags { end: b'\n', reverse: false, unique: false };
    let plain = flags.plain(&text);
    for memory in [1, 1 << 20] {
        let pool = sort::pool().threads(NonZeroUsize::new(2).expect("two")).memory(memory).build();
        std::thread::scope(|scope| {
            for limits in [Limits::new(), limits(1 << 30), limits(1 << 20), Limits::new().memory(1)] {
                let (pool, text, plain) = (&pool, &text, &plain);
                scope.spawn(move || {
                    let sorter = Sorter::new(&flags.order(), limits, pool);
                    assert!(in_pieces(sorter, text, false, || text.len()).unwrap().0 == *plain);
                });
            }
        });
    }
}
