//! The tables of chapters 4 and 5 of Shunji Funasaka's thesis (Hiroshima, 2018). A SET of chapter 4 may also be
//! `identical`, `random` or `dna`, and one of chapter 5 an image of `images.rs`: they are made here.

mod all;
mod all_tables;
mod images;
mod tables;

use theses_common::Item;

pub const ITEMS: &[Item] = &[
    Item { name: "4.3", what: "LZW: compression", make: tables::lzw_compression },
    Item { name: "4.4", what: "the same", make: tables::lzw_compression },
    Item { name: "4.5", what: "the same", make: tables::lzw_compression },
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
