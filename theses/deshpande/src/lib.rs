//! The tables and figures of chapters 4 and 5 of A. Deshpande's thesis (IIIT Hyderabad, 2014). Chapter 3 is the package
//! `dither`.

mod bzip2_sort;
mod depth;
mod device;
mod lines;
mod msd;
mod perturbed;
mod rounds;
mod speed;
mod stations;
mod strings;
mod suffixes;
mod ties;

use theses_common::datasets::each;
use theses_common::{Item, number};

/// The block sizes of the tables.
const SIZES: [usize; 3] = [900_000, 4_500_000, 9_000_000];
/// The intervals of perturbation in bytes, and the thesis's name for each.
const INTERVALS: [(u32, &str); 4] = [(0, "0"), (10_000, "0.01%"), (1000, "0.1%"), (100, "1%")];

pub const ITEMS: &[Item] = &[
    Item { name: "4.1", what: "ten sets of strings and the lengths of their ties", make: strings::ties },
    Item { name: "4.2", what: "sorting the sets, by steps", make: strings::sets },
    Item { name: "4.3", what: "single strings leave, or stay", make: strings::variants },
    Item { name: "4.4", what: "numbers of segments of as few bytes as needed, or of 4", make: strings::variants },
    Item { name: "4.5", what: "another device: 4.2 on it", make: strings::sets },
    Item { name: "figure-4.3", what: "a device's sort of [COUNT] keys of 1 to 16 bytes", make: strings::keys },
    Item { name: "figure-4.4", what: "expected and achieved times: columns of 4.2", make: strings::sets },
    Item { name: "figure-4.5", what: "the share of primitives: a column of 4.2", make: strings::sets },
    Item { name: "figure-4.6", what: "other sorts on a core", make: strings::cores },
    Item { name: "figure-4.7", what: "every k-th character, or each k times", make: strings::deviations },
    Item {
        name: "5.1",
        what: "time and size by block size and perturbation",
        make: |sets| each(sets, speed::by_size_and_perturbation),
    },
    Item {
        name: "5.2",
        what: "9 MB perturbed by 0.1 %: cores, without and with GPUs",
        make: |sets| each(sets, stations::large_system),
    },
    Item { name: "5.3", what: "the same with few cores", make: |sets| each(sets, stations::small_system) },
    Item {
        name: "figure-5.2",
        what: "steps of his sort by length, and its parts, on a core",
        make: |sets| each(sets, depth::schemes),
    },
    Item {
        name: "5.2.3",
        what: "the hybrid shape beside the resident one and the cores, by block size",
        make: |sets| each(sets, stations::by_shape),
    },
    Item {
        name: "figure-5.5",
        what: "sorting depths, and sorts and merge by block size",
        make: |sets| each(sets, depth::by_depth),
    },
    Item { name: "figure-5.6", what: "9 MB and 0.1 % beside bzip2", make: |sets| each(sets, speed::beside_bzip2) },
    Item { name: "figure-5.7", what: "decompression by block size", make: |sets| each(sets, speed::decompression) },
    Item {
        name: "speed",
        what: "SET SIZE [K [EVERY]]: one block size beside libsais, perturbed after every K bytes",
        make: speed,
    },
];

fn speed(arguments: &[&str]) {
    let [set, size, rest @ ..] = arguments else { theses_common::fail("speed SET SIZE [K [EVERY]]") };
    let interval = rest.first().map_or(0, |k| number(k));
    let every = rest.get(1).map_or(1, |n| number(n)).max(1);
    each(&[*set], |set, text| speed::beside_libsais(set, text, number(size), interval, every));
}
