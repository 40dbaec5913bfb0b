//! The tables and figures of chapter 4 of R. A. Patel's thesis (UC Davis, 2012).

mod libbz2;
mod links;
mod steps;
mod ties;

use theses_common::datasets::each;
use theses_common::{Item, peers};

/// His blocks.
const BLOCK: usize = 1_000_000;

pub const ITEMS: &[Item] = &[
    Item {
        name: "4.1",
        what: "the steps of compression: libbz2, a core, a GPU",
        make: |sets| each(sets, steps::compression),
    },
    Item { name: "4.2", what: "the steps of decompression", make: |sets| each(sets, steps::decompression) },
    Item {
        name: "4.3",
        what: "the reverse transform by threads, by doubling and by splitters",
        make: |sets| kernels(sets, "reverse"),
    },
    Item {
        name: "figure-4.1",
        what: "the links on which it pays to compress before sending",
        make: |sets| each(sets, links::pays),
    },
    Item { name: "figure-4.3", what: "ties of suffixes, and of words", make: |sets| each(sets, ties::lengths) },
    Item {
        name: "figure-4.4",
        what: "move-to-front by lists, on a GPU and on a core",
        make: |sets| kernels(sets, "mtf"),
    },
    Item {
        name: "figure-4.5",
        what: "the same, by the bytes of a list in shared memory",
        make: |sets| kernels(sets, "mtf"),
    },
    Item {
        name: "figure-4.6",
        what: "the same: the columns of the reverse direction",
        make: |sets| kernels(sets, "mtf"),
    },
    Item { name: "figure-4.7", what: "histogram, tree and coding", make: |sets| kernels(sets, "huffman") },
];

/// The theses' kernels on the first of his blocks of each set.
fn kernels(sets: &[&str], mode: &str) {
    each(sets, |_, text| peers::kernels(mode, &text[..text.len().min(BLOCK)]));
}
