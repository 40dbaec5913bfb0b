//! The tables of chapters 4 and 5 of Shunji Funasaka's thesis (Hiroshima, 2018). A SET may also be an image of
//! `images.rs`: they are made here.

mod all;
mod all_tables;
mod images;
mod tables;

use theses_common::{Item, peers};

/// The bytes of his grey images of chapter 4: 4,096 x 3,072.
const GREY: usize = 4096 * 3072;

pub const ITEMS: &[Item] = &[
    Item { name: "4.3", what: "LZW: compression on cores, and on a GPU by steps", make: lzw_on_both },
    Item {
        name: "4.4",
        what: "LZW: from a GPU's memory to a disk, compressed there or on cores",
        make: tables::lzw_saving,
    },
    Item { name: "4.5", what: "LZW: 1 to 64 pictures at once: the GPU's rows of 4.3", make: lzw_on_both },
    Item { name: "4.8", what: "LZW: decompression", make: tables::lzw_decompression },
    Item { name: "4.9", what: "LZW: loading", make: tables::lzw_loading },
    Item { name: "5.2", what: "ALL, a format for GPUs: the data sets", make: all_tables::sets },
    Item { name: "5.3", what: "ALL: sizes, beside LZ4", make: all_tables::sizes },
    Item { name: "5.4", what: "ALL: decompression", make: all_tables::decompression },
    Item { name: "5.5", what: "ALL: its codes", make: all_tables::codes },
    Item { name: "5.6", what: "ALL: loading", make: all_tables::loading },
    Item {
        name: "all",
        what: "FOLDER [SET..]: writes SET.all, for `bench all` of cuda/bench",
        make: all_tables::write,
    },
    Item { name: "unall", what: "FILE.all: decodes it to stdout", make: all_tables::unpack },
];

fn lzw_on_both(sets: &[&str]) {
    tables::lzw_compression(sets);
    tables::each(sets, |_, text| peers::kernels("lzw", text));
}
