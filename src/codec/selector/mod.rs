//! Several tables for one block: which of them codes which group of 50 symbols.

pub mod encode;
