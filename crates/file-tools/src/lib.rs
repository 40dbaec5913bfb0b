#![doc = include_str!("../README.md")]

pub mod acl;
pub mod atomic_file;
pub mod attributes;
pub mod directory;
pub mod file;
mod huge_pages;
pub mod last_mode;
pub mod memory;
pub mod pipe;
pub mod process;
pub mod quote;
pub mod signals;
pub mod slots;
pub mod startup;
pub mod stdout;
mod system;
pub mod temporary;
pub mod terminal;
pub mod tree;
