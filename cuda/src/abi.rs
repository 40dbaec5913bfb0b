//! The interface to the CUDA code, as `hybz.h` and `limits.h` describe it: `bindings.rs`, a module of the build script,
//! makes these declarations from them.
#![allow(missing_docs, non_camel_case_types, non_snake_case, unused_parens, dead_code)]
#![allow(unsafe_code)] // declares functions, and makes structures that are all zeros
#![allow(clippy::too_many_arguments, clippy::cast_lossless, clippy::identity_op, clippy::manual_div_ceil)]

include!(concat!(env!("OUT_DIR"), "/hybz.rs"));
