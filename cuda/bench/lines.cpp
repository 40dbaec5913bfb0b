// lines.cpp: compares hybz_lane_lines on shapes of lines with the standard library's sort; measures its device time on
// files.
#include "common.hpp"
#include <random>
#include <string_view>

namespace hybz {

namespace {

using Bytes = std::string;

// The sorted lines of each range.
std::vector<Bytes> expected_lines(const std::vector<Bytes> &ranges, char end, uint32_t flags) {
    std::vector<Bytes> all;
    for (const Bytes &range : ranges) {
        std::vector<std::string_view> lines;
        for (size_t from = 0; from < range.size();) {
            const size_t to = range.find(end, from);
            lines.push_back(std::string_view(range).substr(from, to - from));
            from = to + 1;
        }
        // char is signed: compare as unsigned, as char_traits does.
        std::sort(lines.begin(), lines.end());
        if (flags & HYBZ_LINES_UNIQUE) lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
        if (flags & HYBZ_LINES_REVERSE) std::reverse(lines.begin(), lines.end());
        Bytes sorted;
        for (const std::string_view line : lines) (sorted += line) += end;
        all.push_back(std::move(sorted));
    }
    return all;
}

struct LinesLane : Lane {
    Pinned<uint8_t> text, sorted;
    std::vector<uint32_t> lengths;
    hybz_lines_report lines{};
    LinesLane(uint32_t ranges, uint32_t length)
        : Lane(ranges, length, HYBZ_LINES), text(size_t(ranges) * length + 1), sorted(size_t(ranges) * length + 1),
          lengths(ranges) {}
    int run(const std::vector<Bytes> &ranges, char end, uint32_t flags) {
        std::vector<uint32_t> given;
        size_t at = 0;
        for (const Bytes &range : ranges) {
            memcpy(text.memory + at, range.data(), range.size());
            at += range.size();
            given.push_back(uint32_t(range.size()));
        }
        sorted.spoil();
        lines = {};
        return hybz_lane_lines(lane, uint32_t(ranges.size()), given.data(), text.memory, uint8_t(end), flags,
                               sorted.memory, lengths.data(), kTimeout, &lines);
    }
};

int compare(const LinesLane &lane, const std::vector<Bytes> &want, const char *name, uint32_t flags) {
    size_t at = 0;
    for (size_t r = 0; r < want.size(); r++) {
        if (lane.lengths[r] != want[r].size() || memcmp(lane.sorted.memory + at, want[r].data(), want[r].size())) {
            printf("WRONG %s, range %zu of %zu, flags %u\n", name, r, want.size(), flags);
            return 1;
        }
        at += want[r].size();
    }
    return 0;
}

struct LineShape {
    const char *name;
    Bytes text;
};

std::vector<LineShape> line_shapes(uint32_t length) {
    std::mt19937 random(7);
    const auto below = [&](uint32_t n) { return uint32_t(random() % n); };
    std::vector<LineShape> all = {{"one empty line", "\n"}, {"one line", "hello\n"}, {"two", "b\na\n"}};
    const auto add = [&](const char *name, auto line) {
        Bytes text;
        while (text.size() < length) (text += line()) += '\n';
        all.push_back({name, std::move(text)});
    };
    // Nearly all lines must have at least six bytes, because a lane takes a limited number of lines.
    const auto letters = [&](uint32_t count, uint32_t alphabet) {
        Bytes line;
        for (uint32_t i = 0; i < count; i++) line += char('a' + below(alphabet));
        return line;
    };
    add("words", [&] { return letters(6 + below(12), 4); });
    add("two letters", [&] { return letters(8 + below(9), 2); });
    add("all alike", [&] { return Bytes("the same line"); });
    add("few", [&] { return letters(7, 1) + letters(1, 3); });
    add("prefixes of each other", [&] { return letters(below(70), 1); });
    add("with NULs", [&] {
        Bytes line = "prefix";
        for (uint32_t i = below(12); i > 0; i--) line += char(below(2));
        return line;
    });
    add("any bytes", [&] {
        Bytes line;
        for (uint32_t i = 8 + below(20); i > 0; i--)
            if (const char byte = char(below(256)); byte != '\n') line += byte;
        return line;
    });
    add("paths", [&] { return "/usr/share/doc/a-long-name/" + letters(2, 3) + "/" + letters(60, 1) + letters(3, 3); });
    add("long tie, then one byte", [&] { return Bytes(700, 'x') + letters(1, 3); });
    // Groups of about as many lines as one step sorts; their lines differ before, at and after the end of the bytes
    // that one step compares.
    Bytes head, tail;
    add("small groups", [&] {
        if (below(14) == 0 || head.empty()) {
            head = letters(12, 26);
            const uint32_t tails[] = {0, 20, 505, 512, 700};
            tail = letters(tails[below(5)], 1);
        }
        Bytes line = head + tail.substr(0, below(8) ? tail.size() : below(uint32_t(tail.size()) + 1));
        for (uint32_t i = below(3); i > 0; i--) line += char(below(3) ? 'a' + below(2) : 0);
        return line;
    });
    add("empty ones among others", [&] { return below(3) ? letters(20, 2) : Bytes(); });
    add("numbers", [&] { return std::to_string(100000 + below(800000)); });
    add("carriage returns", [&] { return letters(6 + below(3), 2) + "\r"; });
    add("one line", [&] { return letters(length, 26); });
    return all;
}

int check_ranges(LinesLane &lane, const LineShape &shape, const std::vector<Bytes> &ranges, char end, int *runs) {
    int wrong = 0;
    for (const uint32_t flags : {0, HYBZ_LINES_REVERSE, HYBZ_LINES_UNIQUE, HYBZ_LINES_REVERSE | HYBZ_LINES_UNIQUE}) {
        must(lane.run(ranges, end, flags), shape.name);
        wrong += compare(lane, expected_lines(ranges, end, flags), shape.name, flags);
        ++*runs;
    }
    return wrong;
}

// In device memory: one range.
int check_on_device(LinesLane &lane, const LineShape &shape) {
    const size_t size = shape.text.size();
    DeviceBytes text(size), sorted(size);
    copy(text.memory, shape.text.data(), size, cudaMemcpyHostToDevice);
    must(hybz_lane_lines_on_device(lane.lane, uint32_t(size), text.memory, '\n', 0, sorted.memory, lane.lengths.data(),
                                   kTimeout, nullptr),
         shape.name);
    lane.sorted.spoil();
    copy(lane.sorted.memory, sorted.memory, size, cudaMemcpyDeviceToHost);
    return compare(lane, expected_lines({shape.text}, '\n', 0), shape.name, 0);
}

// Parts that are sorted and kept on the device, then two ranges made of pieces of them: the lines up to `middle`, which
// come first in every part, and the others, with lines from the host before them.
int check_kept(LinesLane &lane, const LineShape &shape) {
    const Bytes middle = "m", host[2] = {"aa host line\n", "zz a host line\nn\n"};
    uint8_t *kept = nullptr;
    const size_t size = shape.text.size();
    must(hybz_device_alloc(0, 2 * size, reinterpret_cast<void **>(&kept)), "malloc");
    const Bytes sorted = expected_lines({shape.text}, '\n', 0)[0];
    size_t cut = 0;
    while (cut < size && sorted.compare(cut, sorted.find('\n', cut) - cut, middle) < 0)
        cut = sorted.find('\n', cut) + 1;
    for (int part = 0; part < 2; part++)
        must(hybz_lane_lines_keep(lane.lane, uint32_t(size), reinterpret_cast<const uint8_t *>(shape.text.data()),
                                  '\n', kept + part * size, kTimeout, nullptr),
             shape.name);
    const Bytes ranges[2] = {host[0] + sorted.substr(0, cut) + sorted.substr(0, cut),
                             host[1] + sorted.substr(cut) + sorted.substr(cut)};
    const size_t rest = size - cut;
    const hybz_slice slices[4] = {{kept, cut}, {kept + size, cut}, {kept + cut, rest}, {kept + size + cut, rest}};
    const uint32_t lengths[2] = {uint32_t(ranges[0].size()), uint32_t(ranges[1].size())};
    const uint32_t host_lengths[2] = {uint32_t(host[0].size()), uint32_t(host[1].size())}, counts[2] = {2, 2};
    memcpy(lane.text.memory, (host[0] + host[1]).data(), host[0].size() + host[1].size());
    int wrong = 0;
    for (const uint32_t flags : {0, HYBZ_LINES_REVERSE}) {
        lane.sorted.spoil();
        must(hybz_lane_lines_gather(lane.lane, 2, lengths, host_lengths, lane.text.memory, counts, slices, '\n', flags,
                                    lane.sorted.memory, lane.lengths.data(), kTimeout, nullptr),
             shape.name);
        wrong += compare(lane, expected_lines({ranges[0], ranges[1]}, '\n', flags), shape.name, flags);
    }
    const uint32_t too_few[2] = {1, 2};
    if (hybz_lane_lines_gather(lane.lane, 2, lengths, host_lengths, lane.text.memory, too_few, slices, '\n', 0,
                               lane.sorted.memory, lane.lengths.data(), kTimeout, nullptr) != HYBZ_ARGUMENT)
        printf("WRONG %s: a slice is missing, and it is not refused\n", shape.name), wrong++;
    must(hybz_device_free(0, kept), "free");
    return wrong;
}

int check_refused() {
    int wrong = 0;
    LinesLane lane(2, 600);
    const auto check = [&](const char *name, const std::vector<Bytes> &ranges) {
        if (lane.run(ranges, '\n', 0) != HYBZ_ARGUMENT) printf("WRONG %s: not refused\n", name), wrong++;
    };
    check("no end", {"abc"});
    check("an empty range", {"a\n", ""});
    check("a range that ends in a line", {"a\nb", "c\n"});
    check("three ranges", {"a\n", "b\n", "c\n"});
    check("too long", {Bytes(1200, 'a') + "\n"});
    check("too many lines", {Bytes(600, '\n')});
    return wrong;
}

// Codes must tie few lines of words: with plain characters, of which a key holds five, nearly all lines would tie.
int check_codes(LinesLane &lane, const std::vector<LineShape> &all) {
    for (const LineShape &shape : all) {
        if (shape.name != std::string_view("words")) continue;
        must(lane.run({shape.text}, '\n', 0), shape.name);
        if (lane.lines.tied * 2 <= lane.lines.lines) return 0;
        printf("WRONG codes: %u of %u lines are tied\n", lane.lines.tied, lane.lines.lines);
    }
    return 1;
}

// The sum of the lines' hashes, which does not depend on their order; and whether they ascend.
std::pair<size_t, bool> sum_of_lines(std::string_view text) {
    size_t sum = 0;
    bool ascending = true;
    std::string_view before;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        sum += std::hash<std::string_view>()(line);
        ascending &= before <= line;
        before = line;
        text.remove_prefix(std::min(text.size(), line.size() + 1));
    }
    return {sum, ascending};
}

// Compares each range's sum of lines, and checks its order: a std::sort of 30 million lines takes half a minute.
int compare_sums(const LinesLane &lane, const std::vector<Bytes> &parts) {
    const char *sorted = reinterpret_cast<const char *>(lane.sorted.memory);
    for (size_t r = 0; r < parts.size(); r++) {
        const std::pair want(sum_of_lines(parts[r]).first, true);
        if (lane.lengths[r] != parts[r].size() || sum_of_lines({sorted, parts[r].size()}) != want) {
            printf("WRONG range %zu of %zu\n", r, parts.size());
            return 1;
        }
        sorted += parts[r].size();
    }
    return 0;
}

} // namespace

int check_lines(uint32_t max_length) {
    const uint32_t length = std::min(max_length, 3000000u);
    int wrong = check_refused(), runs = 0;
    const std::vector<LineShape> all = line_shapes(length);
    LinesLane lane(5, longest(all) + 100);
    if (length >= 1000) wrong += check_codes(lane, all);
    for (const LineShape &shape : all) {
        const int before = wrong;
        wrong += check_ranges(lane, shape, {shape.text}, '\n', &runs);
        wrong += check_on_device(lane, shape);
        wrong += check_kept(lane, shape);
        // Five ranges of different shapes; and lines that end with NUL and contain '\n'.
        const LineShape &other = all[(&shape - all.data() + 3) % all.size()];
        wrong += check_ranges(lane, shape, {"\n", shape.text, "z\na\n", other.text, shape.text}, '\n', &runs);
        Bytes zeros = shape.text;
        for (char &byte : zeros) byte = byte == '\n' ? '\0' : byte == '\0' ? '\n' : byte;
        wrong += check_ranges(lane, shape, {zeros}, '\0', &runs);
        if (wrong != before) printf("%s: %d wrong\n", shape.name, wrong - before);
    }
    printf("%zu shapes of lines, %d runs, %d wrong\n", all.size(), runs, wrong);
    return wrong != 0;
}

int time_lines(const char *path, uint32_t ranges, uint32_t flags) {
    const Bytes text = read_file<Bytes>(path, ~size_t(0));
    if (text.empty() || text.back() != '\n') {
        printf("%s has no lines\n", path);
        return 1;
    }
    std::vector<Bytes> parts;
    for (size_t from = 0; from < text.size();) {
        const size_t at = std::min(text.size() - 1, from + text.size() / ranges);
        const size_t to = text.find('\n', at) + 1;
        parts.push_back(text.substr(from, to - from));
        from = to;
    }
    size_t longest = 0;
    for (const Bytes &part : parts) longest = std::max(longest, part.size());
    LinesLane lane(uint32_t(parts.size()), uint32_t(longest));
    // Results with lines left out or reversed are compared with a sort of the standard library.
    const bool whole = !(flags & (HYBZ_LINES_UNIQUE | HYBZ_LINES_REVERSE));
    std::vector<Bytes> want;
    if (!whole) want = expected_lines(parts, '\n', flags);
    printf("%s: %zu bytes, %zu ranges, flags %u\n"
           "  lines    tied  rounds  again | ms: up  find  keys  sort  settle  rounds  place  copy  down | "
           "device GB/s, ps a line\n",
           path, text.size(), parts.size(), flags);
    for (int round = 0; round < 3; round++) {
        must(lane.run(parts, '\n', flags), "lines");
        if (round == 0 && (whole ? compare_sums(lane, parts) : compare(lane, want, path, flags))) return 1;
        const hybz_lines_report &r = lane.lines;
        const double device = r.find_ms + r.keys_ms + r.sort_ms + r.settle_ms + r.rounds_ms + r.place_ms + r.copy_ms;
        printf("%9u %7u %3u %9llu | %.2f %.2f %.2f %.2f %.2f %.2f %.2f %.2f %.2f | %.2f %.0f\n", r.lines, r.tied,
               r.rounds, static_cast<unsigned long long>(r.sorted_again), r.upload_ms, r.find_ms, r.keys_ms, r.sort_ms,
               r.settle_ms, r.rounds_ms, r.place_ms, r.copy_ms, r.download_ms, double(r.bytes) / device / 1e6,
               device * 1e9 / r.lines);
    }
    return 0;
}

} // namespace hybz
