//! What differs between the systems: each system's folder has every function, constant and macro of this module, with
//! the same name and meaning, and nothing else in the package asks which system it is.
//!
//! Linux is where all of it is tested. The code for macOS is compiled and linked for it, and was never run.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub use linux::*;

#[cfg(target_os = "macos")]
mod macos;
#[cfg(target_os = "macos")]
pub use macos::*;

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
compile_error!("hybz-files is written for Linux and macOS");
