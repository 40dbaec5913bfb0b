//! The tables of chapters 4 and 5 of S. Funasaka's thesis (Hiroshima, 2018). A SET may also be `identical`, `random` or
//! `dna`, which are made here.

mod all;
#[cfg(test)]
mod all_tests;
mod tables;

use theses_common::Item;

pub const ITEMS: &[Item] = &[
    Item { name: "4.3", what: "LZW: compression", make: tables::lzw_compression },
    Item { name: "4.4", what: "the same", make: tables::lzw_compression },
    Item { name: "4.5", what: "the same", make: tables::lzw_compression },
    Item { name: "4.8", what: "LZW: decompression", make: tables::lzw_decompression },
    Item { name: "4.9", what: "LZW: loading", make: tables::lzw_loading },
    Item { name: "5.3", what: "ALL, a format for GPUs: sizes, beside LZ4", make: tables::all_sizes },
    Item { name: "5.4", what: "ALL: decompression", make: tables::all_decompression },
    Item { name: "5.5", what: "ALL: its words", make: tables::all_words },
    Item { name: "5.6", what: "ALL: loading", make: tables::all_loading },
    Item { name: "cases", what: "FILE [SET..]: strips of ALL for `bench all` of cuda/bench", make: cases },
];

fn cases(arguments: &[&str]) {
    let [file, sets @ ..] = arguments else { theses_common::fail("cases FILE [SET..]") };
    tables::cases(file, sets);
}
