//! The coding of one large block of a `.hbz` stream. `docs/FORMAT.md` specifies it for readers in any language.
//!
//! ```text
//! text -> perturbation -> codes -> BWT -> ranks, zero runs -> tokens -> tANS states -> payload
//! ```
//!
//! | step | module | what bzip2 has instead |
//! |---|---|---|
//! | a byte inserted after every k bytes | `codec::perturb` | nothing |
//! | codes, some of which stand for frequent strings | `dictionary`, `words`, `replace`, `expand` | run-length coding |
//! | BWT of the text and a sentinel, with entry points | `encode` (libsais), `vector` | BWT of rotations, one origin |
//! | move-to-front, zero runs | `mtf` | the same code |
//! | far ranks in ranges; 26 tokens | `token` | 258 symbols |
//! | up to 16 x 6 tables, by the selector of 32 tokens and by the previous token | `choose` | 6 tables, groups of 50 |
//! | asymmetric numeral systems | `ans` | Huffman codes |
//!
//! `payload` reads the parts of a payload, and `segment` decodes its segments; `encode` and `decode` do all steps.
//!
//! The last column of a block is coded in segments of 65,536 rows, which can be decoded independently: so several
//! stations can decode one block, or one station can decode it with its data in the nearest cache. The one thing that a
//! segment does not know is the move-to-front list at its beginning. The segment is decoded as if that list were 0, 1,
//! 2, ..., and its bytes are looked up later (`vector`).
//!
//! docs/ALGORITHMS.md ("What was tried and did not pay") has the sizes that this design and its alternatives gave.

pub(crate) mod ans;
mod choose;
mod compact;
pub mod decode;
pub(crate) mod dictionary;
pub mod encode;
mod expand;
mod payload;
mod replace;
pub mod sample;
mod segment;
pub(crate) mod tally;
mod text_check;
pub(crate) mod token;
mod vector;
mod vectors;
mod verify;
mod words;
