//! The coding of one large block of a `.hbz` stream. `docs/FORMAT.md` specifies it for readers in any language.
//!
//! ```text
//! text -> perturbation -> codes -> BWT -> ranks, zero runs -> tokens -> tANS states -> payload
//! ```
//!
//! | step | module | what bzip2 has instead |
//! |---|---|---|
//! | a byte inserted after every k bytes | `perturb` | nothing |
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
//! segment does not know is the move-to-front list at its beginning. It is decoded as if that list were 0, 1, 2, ...,
//! and its bytes are looked up later (`vector`).
//!
//! # Measurements of this design and of others
//!
//! Three blocks of 9 MB of the Linux tarball, against bzip2's own coding of the same last columns (6 tables, groups of
//! 50):
//!
//! | | size |
//! |---|---|
//! | 16 tables, groups of 32, Huffman codes | -0.4 % |
//! | the same with ANS (used) | -1.8 % |
//! | rank and run length in one Huffman code | -1.4 % |
//! | adaptive binary models of both, three mixed: 40 million successive binary decisions for the 27 MB | -3.8 % |
//! | without run-length step 1 | -0.07 % |
//! | words and blanks as phrases (used) | -0.4 % |
//! | pairs of bytes as phrases, repeatedly | +0.2 %, but a third fewer rows |
//! | other rules than move-to-front | 0 to -0.7 %, nothing once the tables adapt |
//!
//! Three other blocks, against what is marked as used above, which is 7.9 % below `bzip2 -9`:
//!
//! | | size |
//! |---|---|
//! | codes ordered so that similar letters are neighbours, phrases after their first letters (used) | -0.5 % |
//! | the same in the order of a shortest tour by what comes before each code | +0.5 % |
//! | words also cut at `_`, words of two letters (used) | -0.3, -0.1 % |
//! | words together with the blank after them | +0.3 % |
//! | 1,000 or 4,000 words as codes of two bytes | -0.4, -0.9 %, which their list uses up |
//! | the text backwards | +0.3 % |
//! | the table chosen by the class of the previous token, too: 3, 5, 6 classes (6 used) | -0.30, -0.43, -0.47 % |
//! | the same by the classes of the two previous tokens, 3 x 3 | -0.62 %, 144 tables |
//! | a byte's own last run length and next rank as context, 32 tables for 4,096 contexts, no selectors | -0.4 % |
//! | three adaptive distributions mixed, by averages and last ranks, segments of 2^16 rows | -0.7 % |
//! | the same in segments of 2^17 and of 2^18 rows | -1.1, -1.3 % |
//!
//! (The adaptive distributions would take twice the time per token, and fewer and longer segments. With the codes in
//! the order described above they are 0.4 % ahead of the tables by class.) In total the size is 9.14 % below `bzip2 -9`
//! on the 203 MB, and decoding is no slower than before these changes.

pub(crate) mod ans;
pub(crate) mod choose;
mod compact;
pub mod decode;
pub(crate) mod dictionary;
pub mod encode;
mod expand;
mod payload;
pub(crate) mod perturb;
mod replace;
mod segment;
#[cfg(test)]
pub(crate) mod steps;
pub(crate) mod tally;
#[cfg(test)]
mod tests;
mod text_check;
pub(crate) mod token;
mod vector;
mod vectors;
mod verify;
mod words;
