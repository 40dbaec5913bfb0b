// tuned.hpp: the tuned constants of the sort, and the measurements behind them.
//
// The sorted order does not depend on any of them. The times are device time on an H200 in ps a byte (linux: 224 blocks
// of 900 kB of a source tarball); the linux row in batch.cu has the best values.
#pragma once

namespace hybz {

// The number of bits of the first sort's keys, block id included; each 8 bits cost one pass of the radix sort. 48 bits
// instead of 56 save 9 ps of sort and cost 20 in the rounds: linux 258 instead of 247.
constexpr int kSortBits = 56;

// Steps of doubling that a round takes from one snapshot of the ranks: 3 steps multiply depths by up to 8. Linux takes
// 269 with one step, 249 with two, 247 with three.
constexpr int kSteps = 3;

// Groups of up to this many tied rotations are sorted in shared memory (refine.cu), larger ones by CUB. With 128,
// refine.cu takes 78 ps a rotation instead of 86 (linux, first round), but CUB's larger share costs the same again.
// With CUB for all groups (raw keys, one step) linux takes 407 instead of 324.
constexpr int kSmallBits = 8;
constexpr unsigned kSmall = 1u << kSmallBits;

// The number of CTAs of refine.cu that must fit on a multiprocessor together. With 3, registers spill (228 bytes when
// this was measured), and a rotation still takes 86 ps; with 2, nothing spills, and it takes 101; with 4, 86.
constexpr int kRefineCtas = 3;

} // namespace hybz
