//! Each structure of `cuda/hybz.h` has the same fields at the same places on both sides.

use super::*;
use crate::gpu::SegmentForDevice;
use std::ffi::CStr;
use std::mem::offset_of;

/// Structure, field, first byte, bytes. The field without a name is the whole structure.
type Place = (String, String, usize, usize);

/// The fields of Rust's structures, under their names in C. A structure whose fields are not all listed does not
/// compile.
macro_rules! places {
    ($($theirs:literal $ours:ident { $($field:ident $(= $name:literal)?),+ $(,)? })+) => {{
        let mut places: Vec<Place> = Vec::new();
        $(
            let bytes_of = |$ours { $($field),+ }: &$ours| [$(size_of_val($field)),+];
            // SAFETY: all of these are numbers, pointers and arrays of numbers: any bits will do.
            let sizes = bytes_of(&unsafe { std::mem::zeroed::<$ours>() });
            let names = [$([stringify!($field), $($name)?].last().unwrap().to_string()),+];
            let starts = [$(offset_of!($ours, $field)),+];
            for ((name, start), bytes) in names.into_iter().zip(starts).zip(sizes) {
                places.push(($theirs.to_owned(), name, start, bytes));
            }
            places.push(($theirs.to_owned(), String::new(), 0, size_of::<$ours>()));
        )+
        places
    }};
}

fn ours() -> Vec<Place> {
    places! {
        "hybz_round" Round { small, large, resolved, small_ms, large_ms, commit_ms }
        "hybz_report" Report {
            bytes, table_ms, upload_ms, keys_ms, sort_ms, group_ms, download_ms, thirds_ms, mtf_ms, tables_ms, bits_ms,
            symbols_ms, columns_ms, walk_ms, vector_ms, tied_small, tied_large, rounds, round,
        }
        "hybz_coded" CodedByDevice { origin, symbols, tables, bits, at, used, lengths }
        "hybz_block" BlockForDevice {
            at, first_bit, end_bit, selectors_at, selectors, origin, limit, symbols, tables, used, lengths,
        }
        "hybz_decoded" DecodedByDevice { odd, end_bit, rows, at }
        "hybz_segment" SegmentForDevice { at, bytes, tokens }
        "hybz_large" LargeForDevice { rows, base, entry_log, selectors, segments_at, entries_at, shares_at, list }
        "hybz_tokens" TokensByDevice { used, tokens, selectors, step }
        "hybz_tally" Tally { tokens, moves }
        "hybz_prices" Prices { tokens, selectors }
        "hybz_shares" SharesForDevice { tokens, selectors }
        "hybz_coded_segment" CodedSegment { bits, tokens }
        "hybz_lines_report" LinesReport {
            bytes, sorted_again, lines, tied, rounds, upload_ms, find_ms, keys_ms, sort_ms, settle_ms, rounds_ms,
            place_ms, copy_ms, download_ms,
        }
        "hybz_slice" Slice { text, length }
        "hybz_factor" FactorByDevice { source, len = "length" }
        "hybz_factor_counts" FactorCounts { factors, runs }
        "hybz_factor_report" FactorReport {
            bytes, rounds, table_ms, upload_ms, sort_ms, neighbours_ms, longest_ms, path_ms, runs_ms,
        }
        "hybz_lz4_block" Lz4ForDevice { from, to, coded, length, plain, unused }
        "hybz_lzw_strip" StripForDevice { from, to, coded, length }
        "hybz_lzw_found" StripFound { status, code, known }
        "hybz_limits" Limits {
            min_length, max_length, max_wide_length, max_blocks, max_rounds, max_symbols, max_tables, group, max_code,
            max_rows, max_groups, max_large, max_entry_log, max_lz4, max_lzw,
        }
    }
}

fn theirs() -> Vec<Place> {
    let mut count = 0;
    // SAFETY: it writes the number of fields, and returns so many of static lifetime.
    let fields = unsafe { std::slice::from_raw_parts(hybz_fields(&mut count), count as usize) };
    // SAFETY: names are literals.
    let text = |name: *const c_char| unsafe { CStr::from_ptr(name) }.to_str().unwrap().to_owned();
    let place = |field: &Field| (text(field.structure), text(field.name), field.at as usize, field.bytes as usize);
    fields.iter().map(place).collect()
}

#[test]
fn both_sides_declare_the_same_fields() {
    let (ours, theirs) = (ours(), theirs());
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours, theirs);
    }
    assert_eq!(ours.len(), theirs.len());
}
