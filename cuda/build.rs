//! The build script: declares the interface of the CUDA code to Rust, and with the feature `cuda` compiles that code.

mod bindings;
#[cfg(feature = "cuda")]
mod kernels;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=bindings.rs");
    declare();
    #[cfg(feature = "cuda")]
    kernels::build();
}

/// Writes the declarations, for src/abi.rs.
fn declare() {
    let headers = ["limits.h", "hybz.h"].map(|header| {
        println!("cargo::rerun-if-changed={header}");
        std::fs::read_to_string(header).unwrap_or_else(|error| panic!("{header}: {error}"))
    });
    let out = std::path::PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    std::fs::write(out.join("hybz.rs"), bindings::bindings(&headers.concat())).expect("a writable folder");
}
