//! The tables and figures of chapters 4 and 5 of A. Deshpande's thesis (IIIT Hyderabad, 2014). Chapter 3 is the package
//! `dither`.

mod depth;
mod device;
mod speed;
mod stations;
mod strings;

use theses_common::datasets::each;
use theses_common::{Item, number};

/// The block sizes of the tables.
const SIZES: [usize; 3] = [900_000, 4_500_000, 9_000_000];
/// The intervals of perturbation in bytes, and the thesis's name for each.
const INTERVALS: [(u32, &str); 4] = [(0, "0"), (10_000, "0.01%"), (1000, "0.1%"), (100, "1%")];

pub const ITEMS: &[Item] = &[
    Item { name: "4.2", what: "sorting lines: words url genome sentences pc-filelist random", make: strings::sets },
    Item { name: "figure-4.6", what: "the same, as ratios to other sorts", make: strings::sets },
    Item { name: "4.3", what: "single lines leave, or stay", make: strings::singles },
    Item { name: "4.4", what: "numbers of groups of as many bits as needed, or 32", make: strings::numbers },
    Item { name: "4.5", what: "another device", make: strings::device },
    Item { name: "figure-4.7", what: "by common bytes, up to BYTES", make: ties },
    Item {
        name: "5.1",
        what: "time and size by block size and perturbation",
        make: |sets| each(sets, speed::by_size_and_perturbation),
    },
    Item { name: "5.2", what: "speed by number of cores", make: |sets| each(sets, stations::by_number) },
    Item { name: "5.3", what: "the same, without and with GPUs", make: |sets| each(sets, stations::by_number) },
    Item { name: "figure-5.2", what: "the depth of comparisons", make: |sets| each(sets, depth::depths) },
    Item {
        name: "figure-5.5",
        what: "rounds of a sort in fixed steps, and by doubling",
        make: |sets| each(sets, depth::rounds),
    },
    Item { name: "figure-5.7", what: "decompression by block size", make: |sets| each(sets, speed::decompression) },
    Item {
        name: "speed",
        what: "SET SIZE [K [EVERY]]: one block size beside libsais, perturbed after every K bytes",
        make: speed,
    },
];

fn ties(arguments: &[&str]) {
    strings::ties(arguments.first().map_or(2048, |most| number(most)));
}

fn speed(arguments: &[&str]) {
    let [set, size, rest @ ..] = arguments else { theses_common::fail("speed SET SIZE [K [EVERY]]") };
    let interval = rest.first().map_or(0, |k| number(k));
    let every = rest.get(1).map_or(1, |n| number(n)).max(1);
    each(&[*set], |set, text| speed::beside_libsais(set, text, number(size), interval, every));
}
