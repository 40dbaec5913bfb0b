//! The tables and figures of chapter 4 of B. Ching's thesis (Cal Poly, 2014). A SET may also be `identical`, `random`
//! or `dna`, which are made here.

mod device;
mod factors;
mod linked;
mod profiles;

use theses_common::datasets::each_or_made;
use theses_common::{Item, number, peers};

pub const ITEMS: &[Item] = &[
    Item { name: "4.1", what: "suffix arrays", make: factors::suffix_arrays },
    Item { name: "4.2", what: "exact LZ77 factors, and cut ones", make: factors::factorization },
    Item { name: "figure-4.1", what: "table 4.1: the column of ratios", make: factors::suffix_arrays },
    Item { name: "figure-4.2", what: "the profile of the suffix sort", make: profiles::sort },
    Item {
        name: "figure-4.3",
        what: "nearest smaller values by the size of chunks",
        make: |sets| each_or_made(sets, |_, text| peers::kernels("ansv", text)),
    },
    Item { name: "figure-4.4", what: "time and factors by the number of divisions", make: profiles::divisions },
    Item { name: "figure-4.5", what: "the share of suffix array, nearest values and factors", make: profiles::steps },
    Item { name: "divisions", what: "N [SET..]: factors cut at the ends of N divisions", make: divisions },
];

fn divisions(arguments: &[&str]) {
    let [count, sets @ ..] = arguments else { theses_common::fail("divisions N [SET..]") };
    factors::divisions(number(count), sets);
}
