//! The coding of one large block: what a `.hbz` stream holds instead of bzip2's blocks. `docs/FORMAT.md` tells it for readers
//! of other languages.
//!
//! ```text
//! text -> perturbation -> phrases -> BWT -> ranks, zero runs -> tokens -> tANS states -> payload
//! ```
//!
//! | step | file | instead of bzip2's |
//! |---|---|---|
//! | a byte dropped in after every k | `perturb` | nothing |
//! | bytes that stand for frequent strings | `phrases` | run-length coding |
//! | BWT of the text and a sentinel, with entry points | here, libsais | BWT of rotations, one origin |
//! | move-to-front, zero runs | `mtf` | the same code |
//! | far ranks in classes; 26 tokens | `token` | 258 symbols |
//! | up to 16 tables, groups of 32 tokens | `choose` | 6 tables, groups of 50 |
//! | asymmetric numeral systems | `ans` | Huffman codes |
//!
//! A block's last column is coded in segments of 65,536 rows, each of which can be decoded alone: so one block is decoded
//! by several stations, or by one with its data in the nearest cache. What a segment cannot know is the move-to-front list
//! that it starts with; it is decoded as if that were 0, 1, 2.. and its bytes are looked up later (`decode`).
//!
//! # What was measured, and what was not taken
//!
//! Three blocks of 9 MB of the Linux tarball, against bzip2's own coding of the same last columns (6 tables, groups of 50):
//!
//! | | size |
//! |---|---|
//! | 16 tables, groups of 32, Huffman codes | -0.4 % |
//! | the same with ANS (taken) | -1.8 % |
//! | .. and the table chosen by the class of the token before, 3 / 9 classes | -2.2 / -2.4 % |
//! | rank and run length in one Huffman code | -1.4 % |
//! | adaptive binary models of both, three mixed: 40 million binary decisions for the 27 MB, one after the other | -3.8 % |
//! | without run-length step 1 | -0.07 % |
//! | words and blanks as phrases (taken) | -0.4 % |
//! | pairs of bytes as phrases, again and again | +0.2 %, but a third fewer rows |
//! | other rules than move-to-front | 0 to -0.7 %, nothing once the tables adapt |

pub(crate) mod ans;
pub(crate) mod choose;
pub mod decode;
pub mod encode;
pub(crate) mod perturb;
pub(crate) mod phrases;
#[cfg(test)]
mod tests;
pub(crate) mod token;

/// Rows of a segment, as a power of two.
pub const SEGMENT_LOG: u32 = 16;
/// Tokens for which one table is chosen.
pub const GROUP: usize = 32;
/// The most tables of a block.
pub const MOST_TABLES: usize = 16;
