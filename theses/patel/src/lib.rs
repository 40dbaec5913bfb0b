//! The tables and figures of chapter 4 of R. A. Patel's thesis (UC Davis, 2012).

mod libbz2;
mod steps;

use theses_common::Item;
use theses_common::datasets::each;

pub const ITEMS: &[Item] = &[
    Item {
        name: "4.1",
        what: "the steps of compression, on a core and on a GPU",
        make: |sets| each(sets, steps::compression),
    },
    Item { name: "4.2", what: "the steps of decompression", make: |sets| each(sets, steps::decompression) },
];
