//! The tables and figures of chapter 4 of B. Ching's thesis (Cal Poly, 2014). A SET may also be `identical`, `random` or
//! `dna`, which are made here.

mod device;
mod factors;

use theses_common::{Item, number};

pub const ITEMS: &[Item] = &[
    Item { name: "4.1", what: "suffix arrays", make: factors::suffix_arrays },
    Item { name: "4.2", what: "exact LZ77 factors, and cut ones", make: factors::factorization },
    Item { name: "figure-4.3", what: "the share of each step, and factors by divisions", make: factors::figures },
    Item { name: "figure-4.4", what: "the same", make: factors::figures },
    Item { name: "figure-4.5", what: "the same", make: factors::figures },
    Item { name: "divisions", what: "N [SET..]: factors cut at the ends of N divisions", make: divisions },
];

fn divisions(arguments: &[&str]) {
    let [count, sets @ ..] = arguments else { theses_common::fail("divisions N [SET..]") };
    factors::divisions(number(count), sets);
}
