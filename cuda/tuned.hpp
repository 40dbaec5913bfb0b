// tuned.hpp: the tuned constants of the sort, and the measurements behind them.
//
// The sorted order does not depend on any of them. The times are device time on an H200 in ps a byte (linux: 224 blocks
// of 900 kB of a source tarball); the linux row in batch.cu has the best values.
#pragma once
#include <cstdint>

namespace hybz {

// The number of bits of the first sort's keys, block id included. CUB's radix sort takes one pass for each 8 bits.
// Where first.cu continues with text, 48 bits instead of 56 save 10 ps in keys and passes, and cost 6 in groups and
// rounds (linux). Where it does not, they save 9 and cost 20, so the hybrid pipeline's sample and lines keep 56. The
// sample sort of rotations takes as long with all bits of a key that do not count its symbols.
constexpr int kSortBits = 56, kShortSortBits = 48, kLongSortBits = 57;

// The numbers of CTAs that must fit on a multiprocessor together, of sample_sort.cu's distribution and of ranges.cu:
// with 2, 3 and 4 distribution took 19.9, 18.6 and 18.1; with 3, 4 and 5 the groups took 76.0, 73.1 and 75.2 (linux).
constexpr int kDistributeCtas = 4, kSortCtas = 4;

// Steps, of 7 bytes each, in which first.cu and ranges.cu compare text. With 3, 4 and 5 linux takes 160, 160 and 161 in
// all, dickens 80, 82 and 84, nci 309, 307 and 304 (ranges.cu).
constexpr uint32_t kTextSteps = 4;

// The number of CTAs of first.cu that must fit on a multiprocessor together: with 3, 4, 5 and 6 it took 69.9, 59.5,
// 59.1 and 64.6.
constexpr int kFirstCtas = 5;

// Steps of doubling that a round takes from one snapshot of the ranks: 3 steps multiply depths by up to 8. Linux takes
// 269 with one step, 249 with two, 247 with three.
constexpr int kSteps = 3;

// Groups of up to this many tied rotations are sorted in shared memory (refine.cu), larger ones by CUB. With 128,
// refine.cu takes 78 ps a rotation instead of 86 (linux, first round), but CUB's larger share of the work costs as
// much as that saves. With CUB for all groups (raw keys, one step) linux takes 407 instead of 324.
constexpr int kSmallBits = 8;
constexpr unsigned kSmall = 1u << kSmallBits;

// The number of CTAs of refine.cu that must fit on a multiprocessor together: small rounds of linux take 25.6 with 3,
// 22.2 with 4, and 22.6 with 5.
constexpr int kRefineCtas = 4;

} // namespace hybz
