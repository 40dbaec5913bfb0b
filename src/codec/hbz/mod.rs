//! The coding of one large block: what a `.hbz` stream holds instead of bzip2's blocks. `docs/FORMAT.md` tells it for
//! readers of other languages.
//!
//! ```text
//! text -> perturbation -> codes -> BWT -> ranks, zero runs -> tokens -> tANS states -> payload
//! ```
//!
//! | step | file | instead of bzip2's |
//! |---|---|---|
//! | a byte dropped in after every k | `perturb` | nothing |
//! | codes, some of which stand for frequent strings | `dictionary`, `words`, `replace` | run-length coding |
//! | BWT of the text and a sentinel, with entry points | here, libsais | BWT of rotations, one origin |
//! | move-to-front, zero runs | `mtf` | the same code |
//! | far ranks in classes; 26 tokens | `token` | 258 symbols |
//! | up to 16 times 6 tables, by group of 32 tokens and by the token before | `choose` | 6 tables, groups of 50 |
//! | asymmetric numeral systems | `ans` | Huffman codes |
//!
//! A block's last column is coded in segments of 65,536 rows, each of which can be decoded alone: so one block is
//! decoded by several stations, or by one with its data in the nearest cache. What a segment cannot know is the
//! move-to-front list that it starts with; it is decoded as if that were 0, 1, 2.. and its bytes are looked up later
//! (`decode`).
//!
//! # What was measured, and what was not taken
//!
//! Three blocks of 9 MB of the Linux tarball, against bzip2's own coding of the same last columns (6 tables, groups of
//! 50):
//!
//! | | size |
//! |---|---|
//! | 16 tables, groups of 32, Huffman codes | -0.4 % |
//! | the same with ANS (taken) | -1.8 % |
//! | rank and run length in one Huffman code | -1.4 % |
//! | adaptive binary models of both, three mixed: 40 million binary decisions for the 27 MB, one after the other | -3.8 % |
//! | without run-length step 1 | -0.07 % |
//! | words and blanks as phrases (taken) | -0.4 % |
//! | pairs of bytes as phrases, again and again | +0.2 %, but a third fewer rows |
//! | other rules than move-to-front | 0 to -0.7 %, nothing once the tables adapt |
//!
//! And against what was taken of these, other three blocks, where everything is 7.9 % below `bzip2 -9`:
//!
//! | | size |
//! |---|---|
//! | codes in an order that puts like to like, phrases behind their first letters (taken) | -0.5 % |
//! | .. in the order of a shortest tour by what comes before each code | +0.5 % |
//! | words cut at `_` too, words of two letters (taken) | -0.3, -0.1 % |
//! | words with the blank behind them | +0.3 % |
//! | 1,000 or 4,000 words as codes of two bytes | -0.4, -0.9 %, which their list costs again |
//! | the text backwards | +0.3 % |
//! | the table chosen by the class of the token before, too: 3, 5, 6 classes (6 taken) | -0.30, -0.43, -0.47 % |
//! | .. by the classes of two tokens before, 3 x 3 | -0.62 %, 144 tables |
//! | a byte's own last run length and next rank as context, 32 tables for 4,096 contexts, no selectors | -0.4 % |
//! | three adaptive distributions mixed, contexts of averages and last ranks, segments of 2^16 / 2^17 / 2^18 rows | -0.7 / -1.1 / -1.3 % |
//!
//! (The last one would take twice the time for a token, and fewer and longer segments; with the rows in the new order
//! it is 0.4 % ahead of the tables by class.) In all 9.14 % below `bzip2 -9` on the 203 MB, and decoding no slower than
//! before.

pub(crate) mod ans;
pub(crate) mod choose;
pub mod decode;
pub(crate) mod dictionary;
pub mod encode;
pub(crate) mod perturb;
mod replace;
#[cfg(test)]
mod tests;
pub(crate) mod token;
mod words;
