// layout.cu: where each field of the structures of hybz.h is, for the test that Rust declares them alike: two fields of
// one type that changed places would otherwise be found by nothing but wrong results.
#include "hybz.h"

namespace {

#define FIELD(type, name) {#type, #name, offsetof(struct type, name), sizeof(type::name)}
#define WHOLE(type) {#type, "", 0, sizeof(struct type)}

const hybz_field kFields[] = {
    FIELD(hybz_round, small), FIELD(hybz_round, large), FIELD(hybz_round, resolved), FIELD(hybz_round, small_ms),
    FIELD(hybz_round, large_ms), FIELD(hybz_round, commit_ms), WHOLE(hybz_round),
    FIELD(hybz_report, bytes), FIELD(hybz_report, table_ms), FIELD(hybz_report, upload_ms),
    FIELD(hybz_report, keys_ms), FIELD(hybz_report, sort_ms), FIELD(hybz_report, group_ms),
    FIELD(hybz_report, download_ms), FIELD(hybz_report, thirds_ms), FIELD(hybz_report, mtf_ms),
    FIELD(hybz_report, tables_ms), FIELD(hybz_report, bits_ms), FIELD(hybz_report, symbols_ms),
    FIELD(hybz_report, columns_ms), FIELD(hybz_report, walk_ms), FIELD(hybz_report, vector_ms),
    FIELD(hybz_report, tied_small), FIELD(hybz_report, tied_large), FIELD(hybz_report, rounds),
    FIELD(hybz_report, round), WHOLE(hybz_report),
    FIELD(hybz_coded, origin), FIELD(hybz_coded, symbols), FIELD(hybz_coded, tables), FIELD(hybz_coded, bits),
    FIELD(hybz_coded, at), FIELD(hybz_coded, used), FIELD(hybz_coded, lengths), WHOLE(hybz_coded),
    FIELD(hybz_block, at), FIELD(hybz_block, first_bit), FIELD(hybz_block, end_bit), FIELD(hybz_block, selectors_at),
    FIELD(hybz_block, selectors), FIELD(hybz_block, origin), FIELD(hybz_block, limit), FIELD(hybz_block, symbols),
    FIELD(hybz_block, tables), FIELD(hybz_block, used), FIELD(hybz_block, lengths), WHOLE(hybz_block),
    FIELD(hybz_decoded, odd), FIELD(hybz_decoded, end_bit), FIELD(hybz_decoded, rows), FIELD(hybz_decoded, at),
    WHOLE(hybz_decoded),
    FIELD(hybz_segment, at), FIELD(hybz_segment, bytes), FIELD(hybz_segment, tokens), WHOLE(hybz_segment),
    FIELD(hybz_large, rows), FIELD(hybz_large, base), FIELD(hybz_large, entry_log), FIELD(hybz_large, selectors),
    FIELD(hybz_large, segments_at), FIELD(hybz_large, entries_at), FIELD(hybz_large, shares_at),
    FIELD(hybz_large, list), WHOLE(hybz_large),
    FIELD(hybz_tokens, used), FIELD(hybz_tokens, tokens), FIELD(hybz_tokens, selectors), FIELD(hybz_tokens, step),
    WHOLE(hybz_tokens),
    FIELD(hybz_tally, tokens), FIELD(hybz_tally, moves), WHOLE(hybz_tally),
    FIELD(hybz_prices, tokens), FIELD(hybz_prices, selectors), WHOLE(hybz_prices),
    FIELD(hybz_shares, tokens), FIELD(hybz_shares, selectors), WHOLE(hybz_shares),
    FIELD(hybz_coded_segment, bits), FIELD(hybz_coded_segment, tokens), WHOLE(hybz_coded_segment),
    FIELD(hybz_lines_report, bytes), FIELD(hybz_lines_report, sorted_again), FIELD(hybz_lines_report, lines),
    FIELD(hybz_lines_report, tied), FIELD(hybz_lines_report, rounds), FIELD(hybz_lines_report, upload_ms),
    FIELD(hybz_lines_report, find_ms), FIELD(hybz_lines_report, keys_ms), FIELD(hybz_lines_report, sort_ms),
    FIELD(hybz_lines_report, settle_ms), FIELD(hybz_lines_report, rounds_ms), FIELD(hybz_lines_report, place_ms),
    FIELD(hybz_lines_report, copy_ms), FIELD(hybz_lines_report, download_ms), WHOLE(hybz_lines_report),
    FIELD(hybz_slice, text), FIELD(hybz_slice, length), WHOLE(hybz_slice),
    FIELD(hybz_factor, source), FIELD(hybz_factor, length), WHOLE(hybz_factor),
    FIELD(hybz_factor_counts, factors), FIELD(hybz_factor_counts, runs), WHOLE(hybz_factor_counts),
    FIELD(hybz_factor_report, bytes), FIELD(hybz_factor_report, rounds), FIELD(hybz_factor_report, table_ms),
    FIELD(hybz_factor_report, upload_ms), FIELD(hybz_factor_report, sort_ms), FIELD(hybz_factor_report, neighbours_ms),
    FIELD(hybz_factor_report, longest_ms), FIELD(hybz_factor_report, path_ms), FIELD(hybz_factor_report, runs_ms),
    WHOLE(hybz_factor_report),
    FIELD(hybz_lz4_block, from), FIELD(hybz_lz4_block, to), FIELD(hybz_lz4_block, coded),
    FIELD(hybz_lz4_block, length), FIELD(hybz_lz4_block, plain), FIELD(hybz_lz4_block, unused), WHOLE(hybz_lz4_block),
    FIELD(hybz_lzw_strip, from), FIELD(hybz_lzw_strip, to), FIELD(hybz_lzw_strip, coded),
    FIELD(hybz_lzw_strip, length), WHOLE(hybz_lzw_strip),
    FIELD(hybz_lzw_found, status), FIELD(hybz_lzw_found, code), FIELD(hybz_lzw_found, known), WHOLE(hybz_lzw_found),
    FIELD(hybz_limits, min_length), FIELD(hybz_limits, max_length), FIELD(hybz_limits, max_wide_length),
    FIELD(hybz_limits, max_blocks), FIELD(hybz_limits, max_rounds), FIELD(hybz_limits, max_symbols),
    FIELD(hybz_limits, max_tables), FIELD(hybz_limits, group), FIELD(hybz_limits, max_code),
    FIELD(hybz_limits, max_rows), FIELD(hybz_limits, max_groups), FIELD(hybz_limits, max_large),
    FIELD(hybz_limits, max_entry_log), FIELD(hybz_limits, max_lz4), FIELD(hybz_limits, max_lzw), WHOLE(hybz_limits),
};

} // namespace

extern "C" const hybz_field *hybz_fields(uint64_t *count) {
    *count = sizeof kFields / sizeof *kFields;
    return kFields;
}
